/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/* Copa's default mode alone: aims at a rate of 1 / (delta * queueing delay).
 *
 * Arun and Balakrishnan, NSDI 2018, section 2, with delta = 1/2, as the scheme `copa-delay`: without the paper's mode
 * switching and with a cap on the velocity (crates/congestion/src/copa.rs). Both RTT minima are Nichols' estimate from three samples.
 *
 * Losses do not move Copa's window, so this is a cong_control: the kernel reduces nothing by itself. In the first round
 * trip of a recovery no more is sent than arrives (packet conservation); after a timeout Copa starts over from two packets.
 * Everything is paced, retransmissions too.
 */
#include "dumbbell.bpf.h"

char _license[] SEC("license") = "Dual MIT/GPL";

#define INVERSE_DELTA 2
#define MIN_WINDOW 2
#define MAX_WINDOW (1 << 19)
/* The velocity is at most 1/VELOCITY_SHARE of the window per round trip, but at least 1. */
#define VELOCITY_SHARE 10
#define ROUNDS_BEFORE_DOUBLING 3
#define PACING_GAIN 2
#define MIN_RTT_WINDOW_US 10000000
/* Windows and velocities are in packets with this many bits behind the point. */
#define POINT 20
#define PACKETS(count) ((__u64)(count) << POINT)

struct rtt_at {
	__u32 at; /* us, low 32 bits of the clock */
	__u32 rtt; /* us */
};

/* Smallest RTT of a time window, from the best sample and the best ones after it (Kathleen Nichols' estimate). */
struct windowed_min {
	struct rtt_at best[3];
};

struct copa {
	__u64 window;
	__u64 window_at_round_start;
	__u64 window_before_timeout;
	__u64 sampled_at; /* us */
	struct windowed_min min_rtt;
	struct windowed_min standing;
	__u32 velocity;         /* packets with 16 bits behind the point */
	__u32 round_end;        /* tcp_sock.delivered */
	__u32 conservation_end; /* tcp_sock.delivered */
	__u32 ssthresh;         /* what snd_ssthresh shall be: where slow start ended, packets */
	__s8 direction;         /* +1 up, -1 down, 0 not known yet */
	__u8 rounds_in_direction;
	__u8 in_slow_start : 1, conserves : 1, has_rtt : 1;
};

#define VELOCITY_POINT 16

static __always_inline void reset_min(struct windowed_min *m, struct rtt_at sample)
{
	m->best[0] = m->best[1] = m->best[2] = sample;
}

static __always_inline void push_min(struct windowed_min *m, __u32 length, struct rtt_at sample)
{
	__u32 age;

	if (sample.rtt <= m->best[0].rtt || sample.at - m->best[2].at > length) {
		reset_min(m, sample);
		return;
	}
	if (sample.rtt <= m->best[1].rtt)
		m->best[1] = m->best[2] = sample;
	else if (sample.rtt <= m->best[2].rtt)
		m->best[2] = sample;
	age = sample.at - m->best[0].at;
	if (age > length) {
		/* The best has left the window: the next ones move up, at most two steps. */
		m->best[0] = m->best[1];
		m->best[1] = m->best[2];
		m->best[2] = sample;
		if (sample.at - m->best[0].at > length) {
			m->best[0] = m->best[1];
			m->best[1] = m->best[2];
		}
	} else if (m->best[1].at == m->best[0].at && age > length / 4) {
		/* A quarter of the window without a second best: take one from the rest. */
		m->best[1] = m->best[2] = sample;
	} else if (m->best[2].at == m->best[1].at && age > length / 2) {
		m->best[2] = sample;
	}
}

static __always_inline void take_rtt(struct tcp_sock *tp, struct copa *c, __u32 rtt_us)
{
	__u64 now = tp->tcp_mstamp;
	struct rtt_at sample = { .at = now, .rtt = max_u32(rtt_us, 1) };

	/* After a long pause nothing is left of either window; the low 32 bits might not show it. */
	if (!c->has_rtt || now - c->sampled_at > MIN_RTT_WINDOW_US) {
		reset_min(&c->min_rtt, sample);
		reset_min(&c->standing, sample);
		c->has_rtt = 1;
	}
	c->sampled_at = now;
	push_min(&c->min_rtt, MIN_RTT_WINDOW_US, sample);
	push_min(&c->standing, (tp->srtt_us >> 3) / 2, sample);
}

/* Whether the rate, window per standing RTT, is at or below the target rate 1 / (delta * queueing delay). */
static __always_inline bool is_below_target(const struct copa *c)
{
	__u32 standing = c->standing.best[0].rtt, min = c->min_rtt.best[0].rtt;
	__u64 queueing = standing > min ? standing - min : 0;

	/* 39 bits of window less 8, times 32 bits of delay. */
	return (c->window >> 8) * queueing <= ((__u64)INVERSE_DELTA * standing) << (POINT - 8);
}

static __always_inline void begin_round(struct tcp_sock *tp, struct copa *c)
{
	c->window_at_round_start = c->window;
	c->round_end = tp->delivered;
}

static __always_inline void turn(struct tcp_sock *tp, struct copa *c, __s8 direction)
{
	c->direction = direction;
	c->velocity = 1 << VELOCITY_POINT;
	c->rounds_in_direction = 0;
	begin_round(tp, c);
}

static __always_inline __u32 velocity_cap(const struct copa *c)
{
	return max_u32((c->window / (VELOCITY_SHARE * INVERSE_DELTA)) >> (POINT - VELOCITY_POINT), 1 << VELOCITY_POINT);
}

/* Once per round trip: the velocity doubles if the window has kept its direction for three of them. */
static __always_inline void end_round(struct tcp_sock *tp, struct copa *c)
{
	__s8 direction = c->window > c->window_at_round_start ? 1 : -1;

	if (direction == c->direction) {
		if (c->rounds_in_direction < ROUNDS_BEFORE_DOUBLING)
			c->rounds_in_direction++;
		/* MAX_WINDOW keeps the cap below half of 32 bits. */
		if (c->rounds_in_direction >= ROUNDS_BEFORE_DOUBLING && c->velocity < velocity_cap(c))
			c->velocity *= 2;
	} else {
		c->velocity = 1 << VELOCITY_POINT;
		c->rounds_in_direction = 1;
	}
	c->direction = direction;
	begin_round(tp, c);
}

static __always_inline void move_window(struct tcp_sock *tp, struct copa *c, __s8 direction, __u32 acked)
{
	__u64 change;

	c->velocity = min_u32(c->velocity, velocity_cap(c));
	/* acked * velocity / (delta * window): 16 + 32 + 1 + 10 + 4 bits at most. */
	change = ((__u64)min_u32(acked, 0xffff) * c->velocity * INVERSE_DELTA) << (10 + POINT - VELOCITY_POINT);
	change /= c->window >> (POINT - 10);
	if (direction > 0)
		c->window += change;
	else
		c->window = c->window > change ? c->window - change : 0;
	if (c->window < PACKETS(MIN_WINDOW))
		c->window = PACKETS(MIN_WINDOW);
	if (c->window > PACKETS(MAX_WINDOW))
		c->window = PACKETS(MAX_WINDOW);
}

static __always_inline void update_window(struct tcp_sock *tp, struct copa *c, const struct rate_sample *rs)
{
	bool below_target = is_below_target(c), may_grow = is_cwnd_limited(tp);
	__s8 direction = below_target ? 1 : -1;

	if (c->in_slow_start) {
		if (below_target) {
			if (may_grow && c->window < PACKETS(MAX_WINDOW))
				c->window += PACKETS(rs->acked_sacked);
			return;
		}
		c->in_slow_start = 0;
		c->ssthresh = c->window >> POINT;
		turn(tp, c, -1);
	} else if (!before(rs->prior_delivered, c->round_end)) {
		end_round(tp, c);
	}
	/* A velocity gained one way must not be spent the other way. */
	if (direction != c->direction && c->velocity > 1 << VELOCITY_POINT)
		turn(tp, c, direction);
	if (below_target && !may_grow)
		return;
	move_window(tp, c, direction, rs->acked_sacked);
}

/* Two windows per standing RTT: fast enough for the window to limit, not the pacer. */
static __always_inline void pace(struct sock *sk, const struct copa *c)
{
	struct tcp_sock *tp = tcp_sk(sk);
	/* 39 bits of window less 10, 14 of segment size and 20 of us per second. */
	__u64 rate = PACING_GAIN * (c->window >> 10) * (tp->mss_cache & 0xffff);

	rate = ((rate >> (POINT - 14)) * 1000000 / c->standing.best[0].rtt) >> 4;
	if (rate == 0)
		rate = 1;
	sk->sk_pacing_rate = rate < sk->sk_max_pacing_rate ? rate : sk->sk_max_pacing_rate;
}

/* The window that the kernel gets: Copa's, except in the first round trip of a recovery. */
static __always_inline void apply_window(struct tcp_sock *tp, struct copa *c, const struct rate_sample *rs)
{
	__u32 cwnd = max_u32(c->window >> POINT, MIN_WINDOW);

	if (c->conserves && !before(rs->prior_delivered, c->conservation_end))
		c->conserves = 0;
	if (c->conserves)
		cwnd = min_u32(cwnd, packets_in_flight(tp) + max_u32(rs->acked_sacked, 1));
	set_cwnd(tp, cwnd);
	/* Also what a skipped call left there (see repair in dumbbell.bpf.h). */
	tp->snd_ssthresh = c->ssthresh;
}

SEC("struct_ops")
void BPF_PROG(copa_init, struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct copa *c = PRIVATE(struct copa, sk);

	c->window = PACKETS(max_u32(tp->snd_cwnd, MIN_WINDOW));
	c->window_before_timeout = 0;
	c->in_slow_start = 1;
	c->conserves = 0;
	c->has_rtt = 0;
	turn(tp, c, 0);
	c->ssthresh = TCP_INFINITE_SSTHRESH;
	tp->snd_ssthresh = c->ssthresh;
	/* A pacing queue discipline (fq) below may already do it. */
	if (sk->sk_pacing_status == SK_PACING_NONE)
		sk->sk_pacing_status = SK_PACING_NEEDED;
}

SEC("struct_ops")
void BPF_PROG(copa_cong_control, struct sock *sk, __u32 ack, int flag, const struct rate_sample *rs)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct copa *c = PRIVATE(struct copa, sk);

	/* The kernel reports the answer to a SYN before it calls init. */
	if (!c->window)
		return;
	if (rs->rtt_us >= 0)
		take_rtt(tp, c, rs->rtt_us);
	if (!c->has_rtt)
		return;
	if (rs->acked_sacked)
		update_window(tp, c, rs);
	apply_window(tp, c, rs);
	pace(sk, c);
}

SEC("struct_ops")
void BPF_PROG(copa_set_state, struct sock *sk, __u8 new_state)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct copa *c = PRIVATE(struct copa, sk);

	if (new_state == TCP_CA_LOSS) {
		c->window_before_timeout = c->window;
		c->window = PACKETS(MIN_WINDOW);
		c->in_slow_start = 1;
		c->conserves = 0;
		c->ssthresh = TCP_INFINITE_SSTHRESH;
		turn(tp, c, 0);
	} else if (new_state == TCP_CA_RECOVERY) {
		c->conserves = 1;
		c->conservation_end = tp->delivered;
	} else if (new_state == TCP_CA_OPEN) {
		c->conserves = 0;
	}
}

SEC("struct_ops")
__u32 BPF_PROG(copa_ssthresh, struct sock *sk)
{
	return PRIVATE(struct copa, sk)->ssthresh;
}

/* The loss was a false alarm. A timeout is all that moved the window. */
SEC("struct_ops")
__u32 BPF_PROG(copa_undo_cwnd, struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct copa *c = PRIVATE(struct copa, sk);
	struct inet_connection_sock *icsk = (struct inet_connection_sock *)sk;

	if (BPF_CORE_READ_BITFIELD(icsk, icsk_ca_state) == TCP_CA_LOSS && c->window < c->window_before_timeout)
		c->window = c->window_before_timeout;
	c->conserves = 0;
	return max_u32(tp->snd_cwnd, c->window >> POINT);
}

SEC(".struct_ops.link")
struct tcp_congestion_ops bpf_copa_delay = {
	.init = (void *)copa_init,
	.cong_control = (void *)copa_cong_control,
	.set_state = (void *)copa_set_state,
	.ssthresh = (void *)copa_ssthresh,
	.undo_cwnd = (void *)copa_undo_cwnd,
	.flags = TCP_CONG_NON_RESTRICTED,
	.name = "bpf_copa_delay",
};
