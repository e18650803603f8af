/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/* Vegas: keeps between alpha and beta packets of its own in the queue.
 *
 * Brakmo and Peterson 1995 with the rules of Linux's tcp_vegas, the same as crates/congestion/src/vegas.rs: once per round
 * trip diff = cwnd * (rtt - base_rtt) / base_rtt, from the smallest RTT of the round and of the connection. Loss recovery
 * is the kernel's (PRR, ssthresh of Reno); Vegas rests until it is over.
 */
#include "dumbbell.bpf.h"

char _license[] SEC("license") = "Dual MIT/GPL";

#define ALPHA 2
#define BETA 4
#define GAMMA 1
#define MIN_WINDOW 2
#define MIN_SAMPLES 3
#define NO_RTT 0x7fffffff

struct vegas {
	__u32 round_end; /* sequence number whose acknowledgement ends the round */
	__u32 samples;   /* RTT samples of the round */
	__u32 min_rtt;   /* us, of the round */
	__u32 base_rtt;  /* us */
	__u32 largest_window;
	__u8 is_deciding;
};

static __always_inline void begin_round(struct tcp_sock *tp, struct vegas *v)
{
	v->round_end = tp->snd_nxt;
	v->samples = 0;
	v->min_rtt = NO_RTT;
}

static __always_inline void enable(struct tcp_sock *tp, struct vegas *v)
{
	v->is_deciding = 1;
	begin_round(tp, v);
}

SEC("struct_ops")
void BPF_PROG(vegas_init, struct sock *sk)
{
	struct vegas *v = PRIVATE(struct vegas, sk);

	v->base_rtt = NO_RTT;
	v->largest_window = first_largest_window(tcp_sk(sk));
	enable(tcp_sk(sk), v);
}

SEC("struct_ops")
void BPF_PROG(vegas_pkts_acked, struct sock *sk, const struct ack_sample *sample)
{
	struct vegas *v = PRIVATE(struct vegas, sk);
	__s32 rtt_us = sample->rtt_us;

	repair(tcp_sk(sk), v->largest_window);
	if (rtt_us < 0)
		return;
	/* At least 1: it divides. */
	v->base_rtt = min_u32(v->base_rtt, rtt_us + 1);
	v->min_rtt = min_u32(v->min_rtt, rtt_us + 1);
	v->samples++;
}

SEC("struct_ops")
void BPF_PROG(vegas_set_state, struct sock *sk, __u8 new_state)
{
	struct vegas *v = PRIVATE(struct vegas, sk);

	if (new_state == TCP_CA_OPEN)
		enable(tcp_sk(sk), v);
	else
		v->is_deciding = 0;
}

SEC("struct_ops")
void BPF_PROG(vegas_cwnd_event, struct sock *sk, int event)
{
	struct vegas *v = PRIVATE(struct vegas, sk);

	/* Sending from idle: the path may have changed. */
	if (event == CA_EVENT_TX_START || event == CA_EVENT_CWND_RESTART) {
		v->base_rtt = NO_RTT;
		enable(tcp_sk(sk), v);
	}
}

/* The decision at the end of a round with enough samples. */
static __always_inline void decide(struct tcp_sock *tp, const struct vegas *v, __u32 acked)
{
	__u32 cwnd = tp->snd_cwnd;
	__u32 rtt = v->min_rtt, base = v->base_rtt;
	__u32 queued = rtt > base ? (__u64)cwnd * (rtt - base) / base : 0;

	if (in_slow_start(tp)) {
		if (queued > GAMMA) {
			__u32 needed = (__u64)cwnd * base / rtt;

			cwnd = min_u32(cwnd, needed + 1);
			tp->snd_ssthresh = min_u32(tp->snd_ssthresh, cwnd);
		} else {
			tcp_slow_start(tp, acked);
			cwnd = tp->snd_cwnd;
		}
	} else if (queued > BETA) {
		cwnd--;
		tp->snd_ssthresh = min_u32(tp->snd_ssthresh, cwnd);
	} else if (queued < ALPHA) {
		cwnd++;
	}
	set_cwnd(tp, max_u32(cwnd, MIN_WINDOW));
	cwnd = tp->snd_cwnd;
	tp->snd_ssthresh = max_u32(tp->snd_ssthresh, (cwnd >> 1) + (cwnd >> 2));
}

SEC("struct_ops")
void BPF_PROG(vegas_cong_avoid, struct sock *sk, __u32 ack, __u32 acked)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct vegas *v = PRIVATE(struct vegas, sk);

	if (!v->is_deciding) {
		tcp_reno_cong_avoid(sk, ack, acked);
	} else if (before(v->round_end, ack)) {
		if (v->samples < MIN_SAMPLES)
			tcp_reno_cong_avoid(sk, ack, acked);
		else
			decide(tp, v, acked);
		begin_round(tp, v);
	} else if (in_slow_start(tp)) {
		tcp_slow_start(tp, acked);
	}
	v->largest_window = max_u32(v->largest_window, tp->snd_cwnd);
}

SEC("struct_ops")
__u32 BPF_PROG(vegas_ssthresh, struct sock *sk)
{
	return tcp_reno_ssthresh(sk);
}

SEC("struct_ops")
__u32 BPF_PROG(vegas_undo_cwnd, struct sock *sk)
{
	return tcp_reno_undo_cwnd(sk);
}

SEC(".struct_ops.link")
struct tcp_congestion_ops bpf_vegas = {
	.init = (void *)vegas_init,
	.ssthresh = (void *)vegas_ssthresh,
	.undo_cwnd = (void *)vegas_undo_cwnd,
	.cong_avoid = (void *)vegas_cong_avoid,
	.pkts_acked = (void *)vegas_pkts_acked,
	.set_state = (void *)vegas_set_state,
	.cwnd_event = (void *)vegas_cwnd_event,
	.flags = TCP_CONG_NON_RESTRICTED,
	.name = "bpf_vegas",
};
