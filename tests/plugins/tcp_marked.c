// A module of the style of BBRv3's: it sets window and pacing itself, from what its samples say of losses, and checks
// what it is told of each packet. What is wrong ends the process, which the run's failure tells.
#include <linux/module.h>
#include <net/tcp.h>
#include <trace/events/tcp.h>

static bool pause_often;
module_param(pause_often, bool, 0444);
MODULE_PARM_DESC(pause_often, "say every 50 ACKs that the file itself limits the sender");

struct marked {
    u32 lost;             // packets that skb_marked_lost has told of
    u32 told;             // of these, since the last sample
    u32 acks;
    u32 limited_until;    // delivered count until which the file said that it limits the sender
    u32 limited_samples;
    bool in_reduction;    // ssthresh was called, and no sample came since
};

#define MUST(x) do { if (!(x)) __builtin_trap(); } while (0)

static void marked_init(struct sock *sk)
{
    memset(inet_csk_ca(sk), 0, sizeof(struct marked));
    MUST(sock_net(sk)->ipv4.sysctl_tcp_min_tso_segs == 2);
    cmpxchg(&sk->sk_pacing_status, SK_PACING_NONE, SK_PACING_NEEDED);
    sk->sk_pacing_rate = 500000;
}

static void marked_lost(struct sock *sk, const struct sk_buff *skb)
{
    struct tcp_sock *tp = tcp_sk(sk);
    struct marked *ca = inet_csk_ca(sk);
    const struct tcp_skb_cb *scb = TCP_SKB_CB(skb);

    MUST(tcp_skb_pcount(skb) == 1 && skb->len > 0 && skb->len <= tp->mss_cache);
    MUST(scb->tx.in_flight >= 1 && scb->tx.in_flight < 10000);
    MUST(!tcp_skb_tx_in_flight_is_suspicious(1, scb->sacked, scb->tx.in_flight));
    // Counted before it is told; what was lost before it was sent is less.
    MUST(tp->lost == ++ca->lost && scb->tx.lost < tp->lost);
    MUST(!after(scb->tx.delivered, tp->delivered) && scb->tx.delivered_mstamp <= tp->tcp_mstamp);
    MUST(scb->tx.delivered_mstamp != 0);
    if (!pause_often)
        MUST(!scb->tx.is_app_limited);
    ca->told++;
}

static void marked_main(struct sock *sk, const struct rate_sample *rs)
{
    struct tcp_sock *tp = tcp_sk(sk);
    struct marked *ca = inet_csk_ca(sk);

    MUST(rs->losses == ca->told);
    ca->told = 0;
    ca->in_reduction = false;
    if (rs->acked_sacked > 0)
        MUST(rs->tx_in_flight >= 1 && rs->tx_in_flight < 10000);
    MUST(rs->lost >= 0 && rs->lost <= tp->lost && rs->prior_lost == tp->lost - rs->lost);
    MUST(!rs->is_ece && rs->delivered_ce == 0); // nothing marks here
    if (WARN_ONCE(rs->lost > 1000000, "%d", rs->lost))
        return;
    ca->limited_samples += rs->is_app_limited;
    if (!pause_often)
        MUST(!rs->is_app_limited);
    else if (rs->interval_us > 0 && after(rs->prior_delivered, ca->limited_until + 100))
        MUST(!rs->is_app_limited); // the mark goes with the packets that were sent under it
    if (pause_often && ++ca->acks % 50 == 0) {
        tp->app_limited = (tp->delivered + tcp_packets_in_flight(tp)) ?: 1;
        ca->limited_until = tp->app_limited;
    }
    if (pause_often && ca->acks > 500)
        MUST(ca->limited_samples > 0);
    tcp_snd_cwnd_set(tp, 60);
}

static u32 marked_ssthresh(struct sock *sk)
{
    struct marked *ca = inet_csk_ca(sk);

    MUST(ca->told > 0 && !ca->in_reduction); // the packets are marked first
    ca->in_reduction = true;
    return tcp_sk(sk)->snd_ssthresh;
}

static u32 marked_tso_segs(struct sock *sk, unsigned int mss_now)
{
    MUST(mss_now == tcp_sk(sk)->mss_cache);
    return 3;
}

static struct tcp_congestion_ops marked __read_mostly = {
    .flags = TCP_CONG_NON_RESTRICTED | TCP_CONG_WANTS_CE_EVENTS,
    .name = "marked",
    .owner = THIS_MODULE,
    .init = marked_init,
    .ssthresh = marked_ssthresh,
    .cong_control = marked_main,
    .skb_marked_lost = marked_lost,
    .tso_segs = marked_tso_segs,
};

static int __init marked_register(void)
{
    return tcp_register_congestion_control(&marked);
}

static void __exit marked_unregister(void)
{
    tcp_unregister_congestion_control(&marked);
}

module_init(marked_register);
module_exit(marked_unregister);
MODULE_LICENSE("Dual MIT/GPL");
MODULE_VERSION(__stringify(3));
