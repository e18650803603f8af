/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/* What every controller here shares: the kernel's types as far as they are used, and small arithmetic.
 *
 * The types name only the members in use; their places are found in the running kernel's BTF when the program is loaded
 * (CO-RE), so building needs no kernel headers. Bit fields are read with BPF_CORE_READ_BITFIELD, since only that moves
 * the bits as well.
 */
#ifndef DUMBBELL_BPF_H
#define DUMBBELL_BPF_H

typedef signed char __s8;
typedef unsigned char __u8;
typedef short __s16;
typedef unsigned short __u16;
typedef int __s32;
typedef unsigned int __u32;
typedef long long __s64;
typedef unsigned long long __u64;
typedef __u16 __be16;
typedef __u32 __be32;
typedef __u32 __wsum;
typedef _Bool bool;
#define true 1
#define false 0

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct sock {
	unsigned long sk_pacing_rate;     /* bytes/s */
	unsigned long sk_max_pacing_rate; /* bytes/s */
	__u32 sk_pacing_status;
};

struct inet_connection_sock {
	__u8 icsk_ca_state : 5;
	__u64 icsk_ca_priv[13]; /* 104 bytes for the controller */
};

struct tcp_options_received {
	__u32 rcv_tsval; /* the peer's clock when it sent the ACK, ms */
	__u32 rcv_tsecr; /* our clock when the segment left that the ACK answers, ms */
	__u16 saw_tstamp : 1;
};

struct tcp_sock {
	__u32 mss_cache; /* bytes */
	__u32 snd_una;
	__u32 snd_nxt;
	__u32 snd_cwnd; /* packets, like every count below */
	__u32 snd_cwnd_clamp;
	__u32 snd_ssthresh;
	__u32 prior_cwnd;
	__u32 packets_out;
	__u32 retrans_out;
	__u32 sacked_out;
	__u32 lost_out;
	__u32 max_packets_out; /* largest flight of the last window */
	__u32 delivered;
	__u32 srtt_us; /* eighths of a microsecond */
	__u64 tcp_mstamp; /* now, us */
	__u8 is_cwnd_limited : 1;
	__u8 tcp_usec_ts : 1; /* since Linux 6.7 */
	struct tcp_options_received rx_opt;
};

struct rate_sample {
	__u32 prior_delivered; /* tcp_sock.delivered when the newest acknowledged packet left */
	long rtt_us;           /* -1: none */
	__u32 acked_sacked;
};

struct ack_sample {
	__u32 pkts_acked;
	__s32 rtt_us; /* -1: none */
};

struct tcp_congestion_ops {
	__u32 (*ssthresh)(struct sock *sk);
	void (*cong_avoid)(struct sock *sk, __u32 ack, __u32 acked);
	void (*set_state)(struct sock *sk, __u8 new_state);
	void (*cwnd_event)(struct sock *sk, int event);
	void (*pkts_acked)(struct sock *sk, const struct ack_sample *sample);
	void (*cong_control)(struct sock *sk, __u32 ack, int flag, const struct rate_sample *rs);
	__u32 (*undo_cwnd)(struct sock *sk);
	void (*init)(struct sock *sk);
	__u32 flags;
	char name[16];
};

#pragma clang attribute pop

/* enum tcp_ca_state */
enum { TCP_CA_OPEN = 0, TCP_CA_RECOVERY = 3, TCP_CA_LOSS = 4 };
/* enum tcp_ca_event */
enum { CA_EVENT_TX_START = 0, CA_EVENT_CWND_RESTART = 1 };
/* sk_pacing_status */
enum { SK_PACING_NONE = 0, SK_PACING_NEEDED = 1 };
/* tcp_congestion_ops.flags: may be chosen without CAP_NET_ADMIN, and by the sysctl of any network namespace */
enum { TCP_CONG_NON_RESTRICTED = 1 };
#define TCP_INFINITE_SSTHRESH 0x7fffffff

extern void tcp_reno_cong_avoid(struct sock *sk, __u32 ack, __u32 acked) __ksym;
extern __u32 tcp_slow_start(struct tcp_sock *tp, __u32 acked) __ksym;
extern __u32 tcp_reno_ssthresh(struct sock *sk) __ksym;
extern __u32 tcp_reno_undo_cwnd(struct sock *sk) __ksym;

/* The controller's own 104 bytes of a connection. */
#define PRIVATE(type, sk)                                                                         \
	({                                                                                        \
		_Static_assert(sizeof(type) <= 104, #type " exceeds the kernel's private space"); \
		(type *)((struct inet_connection_sock *)(sk))->icsk_ca_priv;                      \
	})

static __always_inline struct tcp_sock *tcp_sk(struct sock *sk)
{
	return (struct tcp_sock *)sk;
}

static __always_inline __u32 min_u32(__u32 a, __u32 b)
{
	return a < b ? a : b;
}

static __always_inline __u32 max_u32(__u32 a, __u32 b)
{
	return a > b ? a : b;
}

/* Whether a comes before b on a counter that wraps. */
static __always_inline bool before(__u32 a, __u32 b)
{
	return (__s32)(a - b) < 0;
}

static __always_inline bool in_slow_start(const struct tcp_sock *tp)
{
	return tp->snd_cwnd < tp->snd_ssthresh;
}

static __always_inline __u32 packets_in_flight(const struct tcp_sock *tp)
{
	return tp->packets_out - tp->sacked_out - tp->lost_out + tp->retrans_out;
}

/* Whether the window, not the application, limits sending; in slow start a half-used window counts, as in Linux. */
static __always_inline bool is_cwnd_limited(const struct tcp_sock *tp)
{
	if (BPF_CORE_READ_BITFIELD(tp, is_cwnd_limited))
		return true;
	return in_slow_start(tp) && tp->snd_cwnd < 2 * tp->max_packets_out;
}

static __always_inline void set_cwnd(struct tcp_sock *tp, __u32 packets)
{
	tp->snd_cwnd = min_u32(packets, tp->snd_cwnd_clamp);
}

/* A kernel may skip a call: by its protection against recursion (before Linux 6.1), or by a patch of its maker. The kernel
 * then takes what was on the stack for the answer of ssthresh or undo_cwnd, and sends thousands of packets. No threshold and
 * no window ever exceeds the largest window that the controller has set itself, so nonsense shows. Called on every ACK, the
 * answer to a SYN included, which comes before init (largest_window is 0).
 */
static __always_inline void repair(struct tcp_sock *tp, __u32 largest_window)
{
	if (!largest_window)
		return;
	if (tp->snd_ssthresh > largest_window && tp->snd_ssthresh != TCP_INFINITE_SSTHRESH) {
		tp->snd_ssthresh = max_u32(tp->prior_cwnd >> 1, 2);
		tp->snd_cwnd = min_u32(tp->snd_cwnd, tp->snd_ssthresh);
	}
	if (tp->snd_cwnd > largest_window)
		tp->snd_cwnd = min_u32(max_u32(tp->prior_cwnd, 2), largest_window);
}

/* The largest window at the start of a connection: the threshold may be one that the kernel remembers of the peer. */
static __always_inline __u32 first_largest_window(const struct tcp_sock *tp)
{
	__u32 ssthresh = tp->snd_ssthresh == TCP_INFINITE_SSTHRESH ? 0 : tp->snd_ssthresh;

	return max_u32(tp->snd_cwnd, ssthresh);
}

#endif
