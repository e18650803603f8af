/*
 * A controller written as for the Linux kernel: it sends at the largest delivery rate of the last ten round trips, with
 * every eighth round trip a quarter faster to find more, and keeps at most two bandwidth-delay products in flight.
 *
 *     dumbbell plugin kernel steady.c
 *     dumbbell run --schemes ./steady.toml --path default
 */
#include <linux/module.h>
#include <net/tcp.h>

#define ROUNDS 10
#define BW_UNIT 1000000ULL /* rates are kept in millionths of packets per us */

static unsigned int probe_gain = 125;
module_param(probe_gain, uint, 0644);
MODULE_PARM_DESC(probe_gain, "pacing in every eighth round trip, percent of the largest rate");

struct steady {
    u64 bw[ROUNDS]; /* largest rate of each of the last round trips */
    u32 min_rtt_us;
    u32 next_round; /* a round trip ends when so many packets are delivered */
    u16 round;
};

static u64 steady_bandwidth(const struct steady *ca)
{
    u64 most = 0;

    for (int i = 0; i < ROUNDS; i++)
        most = max(most, ca->bw[i]);
    return most;
}

static void steady_init(struct sock *sk)
{
    struct steady *ca = inet_csk_ca(sk);

    memset(ca, 0, sizeof(*ca));
    ca->min_rtt_us = U32_MAX;
    cmpxchg(&sk->sk_pacing_status, SK_PACING_NONE, SK_PACING_NEEDED);
}

static void steady_main(struct sock *sk, u32 ack, int flag, const struct rate_sample *rs)
{
    struct tcp_sock *tp = tcp_sk(sk);
    struct steady *ca = inet_csk_ca(sk);
    u64 bw, gain;

    if (rs->rtt_us > 0)
        ca->min_rtt_us = min_t(u32, ca->min_rtt_us, rs->rtt_us);
    if (rs->delivered <= 0 || rs->interval_us <= 0)
        return;
    if (!before(rs->prior_delivered, ca->next_round)) {
        ca->next_round = tp->delivered;
        ca->round++;
        ca->bw[ca->round % ROUNDS] = 0;
    }
    bw = (u64)rs->delivered * BW_UNIT / (u64)rs->interval_us;
    if (!rs->is_app_limited || bw > steady_bandwidth(ca))
        ca->bw[ca->round % ROUNDS] = max(ca->bw[ca->round % ROUNDS], bw);

    bw = steady_bandwidth(ca);
    /* Faster at the start and every eighth round trip, slower in the one after it. */
    gain = ca->round < 8 ? 200 : ca->round % 8 == 0 ? probe_gain : ca->round % 8 == 1 ? 75 : 100;
    WRITE_ONCE(sk->sk_pacing_rate, max_t(u64, bw * tp->mss_cache * USEC_PER_SEC / BW_UNIT * gain / 100, 1000));
    tcp_snd_cwnd_set(tp, max_t(u32, 2 * bw * ca->min_rtt_us / BW_UNIT, 4));
}

static u32 steady_ssthresh(struct sock *sk)
{
    return tcp_sk(sk)->snd_ssthresh;
}

static u32 steady_undo_cwnd(struct sock *sk)
{
    return tcp_snd_cwnd(tcp_sk(sk));
}

static struct tcp_congestion_ops steady __read_mostly = {
    .name = "steady",
    .owner = THIS_MODULE,
    .init = steady_init,
    .ssthresh = steady_ssthresh,
    .cong_control = steady_main,
    .undo_cwnd = steady_undo_cwnd,
};

static int __init steady_register(void)
{
    BUILD_BUG_ON(sizeof(struct steady) > ICSK_CA_PRIV_SIZE);
    return tcp_register_congestion_control(&steady);
}

static void __exit steady_unregister(void)
{
    tcp_unregister_congestion_control(&steady);
}

module_init(steady_register);
module_exit(steady_unregister);
MODULE_LICENSE("Dual MIT/GPL");
