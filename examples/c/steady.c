/*
 * A controller written as for the Linux kernel: it sends at the largest delivery rate of the last ten round trips, with
 * every eighth round trip a quarter faster to find more, and keeps at most two bandwidth-delay products in flight.
 *
 *     cc -O2 -shared -fPIC -I "$(dumbbell plugin include)" steady.c -o libsteady.so -lm
 *     dumbbell run --plugin ./libsteady.so --path default
 */
#include "kernel_like.h"

#define ROUNDS 10
#define BW_UNIT 1000000ULL /* rates are kept in millionths of packets per us */

struct steady {
    u64 bw[ROUNDS]; /* largest rate of each of the last round trips */
    u32 min_rtt_us;
    u32 next_round; /* a round trip ends when so many packets are delivered */
    u16 round;
    u8 has_sample;
};

static u64 steady_bandwidth(const struct steady *ca)
{
    u64 most = 0;
    for (int i = 0; i < ROUNDS; i++)
        most = max_t(u64, most, ca->bw[i]);
    return most;
}

static void steady_init(struct sock *sk)
{
    struct steady *ca = inet_csk_ca(sk);

    memset(ca, 0, sizeof *ca);
    ca->min_rtt_us = ~0U;
}

static void steady_main(struct sock *sk, u32 ack, int flag, const struct rate_sample *rs)
{
    struct tcp_sock *tp = tcp_sk(sk);
    struct steady *ca = inet_csk_ca(sk);
    u64 bw, gain;

    (void)ack, (void)flag;
    if (rs->rtt_us > 0)
        ca->min_rtt_us = min_t(u32, ca->min_rtt_us, rs->rtt_us);
    if (rs->delivered <= 0 || rs->interval_us <= 0)
        return;
    if ((s32)(rs->prior_delivered - ca->next_round) >= 0) {
        ca->next_round = tp->delivered;
        ca->round++;
        ca->bw[ca->round % ROUNDS] = 0;
    }
    bw = (u64)rs->delivered * BW_UNIT / (u64)rs->interval_us;
    if (!rs->is_app_limited || bw > steady_bandwidth(ca))
        ca->bw[ca->round % ROUNDS] = max_t(u64, ca->bw[ca->round % ROUNDS], bw);
    ca->has_sample = 1;

    bw = steady_bandwidth(ca);
    /* Faster at the start and every eighth round trip, slower in the one after it. */
    gain = ca->round < 8 ? 200 : ca->round % 8 == 0 ? 125 : ca->round % 8 == 1 ? 75 : 100;
    tp->sk_pacing_rate = max_t(u64, bw * tp->mss_cache * USEC_PER_SEC / BW_UNIT * gain / 100, 1000);
    tp->snd_cwnd = max_t(u32, 2 * bw * ca->min_rtt_us / BW_UNIT, 4);
}

static u32 steady_undo_cwnd(struct sock *sk)
{
    return tcp_sk(sk)->snd_cwnd;
}

static const struct tcp_congestion_ops steady = {
    .name = "steady",
    .init = steady_init,
    .cong_control = steady_main,
    .undo_cwnd = steady_undo_cwnd,
};

KERNEL_LIKE(steady, "A rate-based controller written as for the Linux kernel")
