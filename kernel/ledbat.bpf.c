/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/* LEDBAT: keeps a fixed queueing delay of its own and yields to everybody else.
 *
 * RFC 6817 without slow start, the same as crates/congestion/src/ledbat.rs. One-way delays are the peer's TCP timestamp
 * less the one it echoes (RFC 7323; 1 ms steps): the unknown clock offset cancels in current less base delay. Without
 * timestamps, or with Linux's microsecond ones, whose unit at the peer is unknown, the RTT takes their place.
 *
 * Loss recovery is the kernel's (PRR down to half the window), so the delay rule rests during it.
 */
#include "dumbbell.bpf.h"

char _license[] SEC("license") = "Dual MIT/GPL";

#define TARGET_US 100000
#define MIN_CWND 2
#define INIT_CWND 2
#define ALLOWED_INCREASE 1
#define BASE_HISTORY 10
#define CURRENT_FILTER 4
#define BASE_SLOT_US 60000000ULL
/* Bits behind the point of a packet's fraction. */
#define FRACTION_BITS 20

struct ledbat {
	__u64 slot_began;            /* us */
	__s32 base[BASE_HISTORY];    /* smallest delay of each of the last minutes, latest first, us above origin */
	__s32 current[CURRENT_FILTER]; /* the last delays, latest first, us above origin */
	__s32 base_us;               /* smallest of base */
	__u32 origin;                /* first sample: ms of timestamps, us of RTTs */
	__u32 fraction;              /* of a packet, on top of snd_cwnd */
	__u32 largest_window;
	__u8 has_sample;
	__u8 uses_rtt;
};

static __always_inline __s32 min_s32(__s32 a, __s32 b)
{
	return a < b ? a : b;
}

/* Whether the ACK carries timestamps with ticks of 1 ms. */
static __always_inline bool has_timestamps(const struct tcp_sock *tp)
{
	if (bpf_core_field_exists(tp->tcp_usec_ts) && BPF_CORE_READ_BITFIELD(tp, tcp_usec_ts))
		return false;
	return BPF_CORE_READ_BITFIELD(tp, rx_opt.saw_tstamp);
}

static __always_inline void start_over(struct ledbat *l, __u64 now, __u32 sample, __u8 uses_rtt)
{
	int i;

	l->origin = sample;
	l->uses_rtt = uses_rtt;
	l->has_sample = 1;
	l->slot_began = now;
	l->base_us = 0;
#pragma unroll
	for (i = 0; i < BASE_HISTORY; i++)
		l->base[i] = 0;
#pragma unroll
	for (i = 0; i < CURRENT_FILTER; i++)
		l->current[i] = 0;
}

/* Makes room at the front of an array: the verifier wants every offset into it constant. */
#define SHIFT(array, length)                                 \
	do {                                                 \
		int at;                                      \
		_Pragma("unroll")                            \
		for (at = (length) - 1; at > 0; at--)        \
			(array)[at] = (array)[at - 1];       \
	} while (0)

static __always_inline __s32 smallest(const __s32 *delays, int length)
{
	__s32 found = delays[0];
	int i;

#pragma unroll
	for (i = 1; i < length; i++)
		found = min_s32(found, delays[i]);
	return found;
}

static __always_inline void update_base(struct ledbat *l, __u64 now, __s32 delay)
{
	if (now - l->slot_began > BASE_SLOT_US) {
		l->slot_began = now;
		SHIFT(l->base, BASE_HISTORY);
		l->base[0] = delay;
	} else {
		l->base[0] = min_s32(l->base[0], delay);
	}
	l->base_us = smallest(l->base, BASE_HISTORY);
}

SEC("struct_ops")
void BPF_PROG(ledbat_init, struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct ledbat *l = PRIVATE(struct ledbat, sk);

	l->fraction = 0;
	l->has_sample = 0;
	tp->snd_cwnd = INIT_CWND;
	/* For the kernel to know that this is no slow start. */
	tp->snd_ssthresh = INIT_CWND;
	l->largest_window = INIT_CWND;
}

SEC("struct_ops")
void BPF_PROG(ledbat_pkts_acked, struct sock *sk, const struct ack_sample *sample)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct ledbat *l = PRIVATE(struct ledbat, sk);
	__u64 now = tp->tcp_mstamp;
	__u8 uses_rtt = !has_timestamps(tp);
	__s32 delay;
	__u32 value;

	repair(tp, l->largest_window);
	/* An ACK for nothing new echoes the timestamp of an older segment. */
	if (!sample->pkts_acked || (uses_rtt && sample->rtt_us < 0))
		return;
	value = uses_rtt ? (__u32)sample->rtt_us : tp->rx_opt.rcv_tsval - tp->rx_opt.rcv_tsecr;
	if (!l->has_sample || l->uses_rtt != uses_rtt)
		start_over(l, now, value, uses_rtt);
	delay = (__s32)(value - l->origin);
	if (!uses_rtt) {
		/* Half an hour of drift or a peer that makes its timestamps up: keep the product in range. */
		delay = delay > 2000000 ? 2000000 : delay < -2000000 ? -2000000 : delay;
		delay *= 1000;
	}
	update_base(l, now, delay);
	SHIFT(l->current, CURRENT_FILTER);
	l->current[0] = delay;
}

/* us */
static __always_inline __u32 queuing_delay(const struct ledbat *l)
{
	__s32 current = smallest(l->current, CURRENT_FILTER);

	/* The base may have been forgotten later than the current delay: never negative. */
	return current > l->base_us ? (__u32)current - (__u32)l->base_us : 0;
}

/* RFC 6817 2.4.2 */
SEC("struct_ops")
void BPF_PROG(ledbat_cong_avoid, struct sock *sk, __u32 ack, __u32 acked)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct ledbat *l = PRIVATE(struct ledbat, sk);
	__u32 queuing = queuing_delay(l);
	__u32 cwnd = max_u32(tp->snd_cwnd, 1);
	__u64 window = ((__u64)cwnd << FRACTION_BITS) + l->fraction;
	/* GAIN is 1; 64 bits: acked < 2^16, distance < 2^32 and 2^16 (the rest of 2^20 after the shift by 4). */
	__u64 per_distance = ((__u64)min_u32(acked, 0xffff) << (FRACTION_BITS - 4));
	__u64 divisor = ((__u64)TARGET_US * cwnd) >> 4;

	if (queuing <= TARGET_US) {
		window += per_distance * (TARGET_US - queuing) / divisor;
	} else {
		__u64 less = per_distance * (queuing - TARGET_US) / divisor;

		window = window > less ? window - less : 0;
	}
	/* Flight size as Linux measures it for this question: the largest of the last window. The flight right before this
	 * ACK is often smaller only because the next large segment (TSO) waits to fill up. */
	if (!BPF_CORE_READ_BITFIELD(tp, is_cwnd_limited)) {
		__u32 flight = max_u32(tp->max_packets_out, packets_in_flight(tp) + acked);
		__u64 limit = (__u64)(flight + ALLOWED_INCREASE) << FRACTION_BITS;

		if (window > limit)
			window = limit;
	}
	if (window < (__u64)MIN_CWND << FRACTION_BITS)
		window = (__u64)MIN_CWND << FRACTION_BITS;
	l->fraction = window & ((1 << FRACTION_BITS) - 1);
	set_cwnd(tp, window >> FRACTION_BITS);
	l->largest_window = max_u32(l->largest_window, tp->snd_cwnd);
	/* Never slow start, also after a timeout: growth is the delay rule's. */
	tp->snd_ssthresh = min_u32(tp->snd_ssthresh, tp->snd_cwnd);
}

SEC("struct_ops")
__u32 BPF_PROG(ledbat_ssthresh, struct sock *sk)
{
	return max_u32(tcp_sk(sk)->snd_cwnd >> 1, MIN_CWND);
}

SEC("struct_ops")
__u32 BPF_PROG(ledbat_undo_cwnd, struct sock *sk)
{
	return tcp_reno_undo_cwnd(sk);
}

SEC(".struct_ops.link")
struct tcp_congestion_ops bpf_ledbat = {
	.init = (void *)ledbat_init,
	.ssthresh = (void *)ledbat_ssthresh,
	.undo_cwnd = (void *)ledbat_undo_cwnd,
	.cong_avoid = (void *)ledbat_cong_avoid,
	.pkts_acked = (void *)ledbat_pkts_acked,
	.flags = TCP_CONG_NON_RESTRICTED,
	.name = "bpf_ledbat",
};
