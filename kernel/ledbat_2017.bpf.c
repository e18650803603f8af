/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/* The module TCP-LEDBAT of 2017 with its defects: one segment in flight, from the second ACK on.
 *
 * silviov/TCP-LEDBAT@4e30e77, src/tcp_ledbat.c, as far as it has an effect. The window would be moved by the remainder of a
 * division by one, which is zero; and "no ACK for more than a round trip" compares jiffies with microseconds the wrong way
 * round, so that every ACK but the first sets the window to one segment. A benchmark of it is repeated with this.
 */
#include "dumbbell.bpf.h"

char _license[] SEC("license") = "Dual MIT/GPL";

struct module {
	__u8 started; /* after init */
	__u8 has_acks;
};

SEC("struct_ops")
void BPF_PROG(module_init, struct sock *sk)
{
	struct module *m = PRIVATE(struct module, sk);

	m->started = 1;
	m->has_acks = 0;
}

SEC("struct_ops")
void BPF_PROG(module_pkts_acked, struct sock *sk, const struct ack_sample *sample)
{
	struct module *m = PRIVATE(struct module, sk);

	if (m->started && m->has_acks)
		tcp_sk(sk)->snd_cwnd = 1;
	m->has_acks = m->started;
}

SEC("struct_ops")
void BPF_PROG(module_cong_avoid, struct sock *sk, __u32 ack, __u32 acked)
{
}

SEC("struct_ops")
__u32 BPF_PROG(module_ssthresh, struct sock *sk)
{
	return max_u32(tcp_sk(sk)->snd_cwnd >> 1, 2);
}

SEC("struct_ops")
__u32 BPF_PROG(module_undo_cwnd, struct sock *sk)
{
	return tcp_reno_undo_cwnd(sk);
}

SEC(".struct_ops.link")
struct tcp_congestion_ops bpf_ledbat_2017 = {
	.init = (void *)module_init,
	.ssthresh = (void *)module_ssthresh,
	.undo_cwnd = (void *)module_undo_cwnd,
	.cong_avoid = (void *)module_cong_avoid,
	.pkts_acked = (void *)module_pkts_acked,
	.flags = TCP_CONG_NON_RESTRICTED,
	.name = "bpf_ledbat_2017",
};
