// A module of the style of the kernel's, with every callback but `cong_control`: Reno, whose callbacks check in which order
// and in which state they are called. What is wrong ends the process, which the run's failure tells.
#include <linux/module.h>
#include <linux/mm.h>
#include <linux/inet_diag.h>
#include <net/tcp.h>
#include "tcp_plain_more.h"

static int ssthresh_percent __read_mostly = 50;
module_param(ssthresh_percent, int, 0644);
MODULE_PARM_DESC(ssthresh_percent, "window after a loss, percent");
static bool quiet;
module_param(quiet, bool, 0444);
static u32 ssthresh_scale; // set when the module is loaded, of the parameter

struct plain {
    u32 acked; // packets that pkts_acked has told of the present ACK
    u32 end_seq;
    u8 state;
    bool has_sent;
};

#define MUST(x) do { if (!(x)) __builtin_trap(); } while (0)

static void plain_init(struct sock *sk)
{
    struct plain *ca = inet_csk_ca(sk);

    MUST(tcp_sk(sk)->snd_cwnd == TCP_INIT_CWND && tcp_sk(sk)->snd_ssthresh == TCP_INFINITE_SSTHRESH);
    MUST(tcp_sk(sk)->srtt_us > 0); // the connection is set up
    ca->end_seq = tcp_sk(sk)->snd_nxt;
    ca->state = TCP_CA_Open;
}

static u32 plain_ssthresh(struct sock *sk)
{
    MUST(inet_csk(sk)->icsk_ca_state == ((struct plain *)inet_csk_ca(sk))->state);
    MUST(!tcp_in_cwnd_reduction(sk)); // one reduction for each episode
    return max(tcp_snd_cwnd(tcp_sk(sk)) * ssthresh_scale / 1024, 2U);
}

static void plain_set_state(struct sock *sk, u8 new_state)
{
    struct plain *ca = inet_csk_ca(sk);

    MUST(new_state != inet_csk(sk)->icsk_ca_state && new_state <= TCP_CA_Loss);
    MUST(ca->state == inet_csk(sk)->icsk_ca_state); // told before it is changed
    ca->state = new_state;
}

static void plain_pkts_acked(struct sock *sk, const struct ack_sample *sample)
{
    struct plain *ca = inet_csk_ca(sk);

    ca->acked = sample->pkts_acked;
    MUST(sample->rtt_us == -1 || (sample->rtt_us > 1000 && sample->rtt_us < 10000000));
}

static void plain_in_ack_event(struct sock *sk, u32 flags)
{
    const struct tcp_sock *tp = tcp_sk(sk);

    MUST(!after(tp->snd_una, tp->snd_nxt));
    MUST(flags == CA_ACK_WIN_UPDATE || (flags & CA_ACK_SLOWPATH));
}

static void plain_cong_avoid(struct sock *sk, u32 ack, u32 acked)
{
    struct plain *ca = inet_csk_ca(sk);

    MUST(ack == tcp_sk(sk)->snd_una && ca->has_sent && ca->acked > 0 && acked > 0);
    MUST(!tcp_in_cwnd_reduction(sk));
    if (after(ack, ca->end_seq))
        ca->end_seq = tcp_sk(sk)->snd_nxt;
    plain_grow(sk, ack, acked);
}

static void plain_cwnd_event(struct sock *sk, enum tcp_ca_event event)
{
    struct plain *ca = inet_csk_ca(sk);

    ca->has_sent |= event == CA_EVENT_TX_START;
    if (event == CA_EVENT_TX_START)
        MUST(tcp_packets_in_flight(tcp_sk(sk)) == 0);
    if (event == CA_EVENT_COMPLETE_CWR)
        MUST(tcp_in_cwnd_reduction(sk) && tcp_snd_cwnd(tcp_sk(sk)) == tcp_sk(sk)->snd_ssthresh);
}

static struct tcp_congestion_ops plain __read_mostly = {
    .init = plain_init,
    .ssthresh = plain_ssthresh,
    .cong_avoid = plain_cong_avoid,
    .set_state = plain_set_state,
    .cwnd_event = plain_cwnd_event,
    .in_ack_event = plain_in_ack_event,
    .pkts_acked = plain_pkts_acked,
    .undo_cwnd = tcp_reno_undo_cwnd,
    .owner = THIS_MODULE,
    .name = "plain",
};

static int __init plain_register(void)
{
    BUILD_BUG_ON(sizeof(struct plain) > ICSK_CA_PRIV_SIZE);
    ssthresh_scale = 1024 * ssthresh_percent / 100;
    return tcp_register_congestion_control(&plain);
}

static void __exit plain_unregister(void)
{
    tcp_unregister_congestion_control(&plain);
}

module_init(plain_register);
module_exit(plain_unregister);
MODULE_AUTHOR("dumbbell");
MODULE_LICENSE("Dual MIT/GPL");
