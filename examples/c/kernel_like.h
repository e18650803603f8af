/*
 * Runs a controller that is written as one of the Linux kernel, with the callback `cong_control`, in dumbbell.
 *
 * The names below are those that such a file uses; each has the meaning that the kernel gives it. A file that needs
 * more of them adds them here. At its end stands KERNEL_LIKE(ops, "summary") instead of module_init.
 *
 * What differs from the kernel: windows may be reduced by `cong_control` only (there is no `ssthresh` callback), there
 * is no idle restart, and packets of less than a full segment count by their bytes.
 */
#ifndef KERNEL_LIKE_H
#define KERNEL_LIKE_H

#include "dumbbell.h"

#include <stdlib.h>
#include <string.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int32_t s32;
typedef int64_t s64;

#define min_t(type, a, b) ((type)(a) < (type)(b) ? (type)(a) : (type)(b))
#define max_t(type, a, b) ((type)(a) > (type)(b) ? (type)(a) : (type)(b))
#define USEC_PER_SEC 1000000L
#define ICSK_CA_PRIV_SIZE 104 /* as in the kernel */
#define TCP_INFINITE_SSTHRESH 0x7fffffff

/* One structure for what are three in the kernel; the casts between them give it back. */
struct tcp_sock {
    u32 snd_cwnd;       /* packets */
    u32 snd_ssthresh;   /* packets */
    u32 mss_cache;      /* bytes */
    u32 srtt_us;        /* smoothed RTT, us, times 8 */
    u32 packets_out;    /* in flight */
    u32 delivered;      /* packets, in all */
    u32 lost_out;       /* lost by this ACK */
    u64 tcp_mstamp;     /* now, us */
    u64 sk_pacing_rate; /* bytes per second; ~0: none */
    bool in_recovery;   /* CA_Recovery or CA_Loss */
    u64 ca_priv[ICSK_CA_PRIV_SIZE / sizeof(u64)];
};

struct sock {
    struct tcp_sock tp;
};

struct rate_sample {
    s32 delivered;    /* packets over the interval; -1: no sample */
    long interval_us; /* its length */
    long rtt_us;      /* of the newest packet; -1: none */
    s32 losses;       /* packets lost by this ACK */
    u32 acked_sacked; /* packets newly acknowledged */
    u32 prior_delivered;
    u32 prior_in_flight;
    bool is_app_limited;
};

struct tcp_congestion_ops {
    const char *name;
    void (*init)(struct sock *sk);
    void (*release)(struct sock *sk);
    void (*cong_control)(struct sock *sk, u32 ack, int flag, const struct rate_sample *rs);
    u32 (*undo_cwnd)(struct sock *sk);
};

static inline struct tcp_sock *tcp_sk(struct sock *sk)
{
    return &sk->tp;
}

static inline void *inet_csk_ca(struct sock *sk)
{
    return sk->tp.ca_priv;
}

static inline u32 tcp_packets_in_flight(const struct tcp_sock *tp)
{
    return tp->packets_out;
}

/* ---- From dumbbell's events to those callbacks ------------------------------------------------------------------ */

static const struct tcp_congestion_ops *kernel_like_ops(void);

static u32 kernel_like_packets(const struct tcp_sock *tp, u64 bytes)
{
    return (u32)((bytes + tp->mss_cache / 2) / tp->mss_cache);
}

static void *kernel_like_create(const struct dumbbell_controller *self, const struct dumbbell_start *start,
                                const struct dumbbell_value *values, const char **refusal)
{
    struct sock *sk = calloc(1, sizeof *sk);
    (void)self, (void)values;
    if (sk == NULL) {
        *refusal = "there is no memory";
        return NULL;
    }
    sk->tp.mss_cache = start->mss_bytes;
    sk->tp.snd_cwnd = kernel_like_packets(&sk->tp, start->initial_window_bytes);
    sk->tp.snd_ssthresh = TCP_INFINITE_SSTHRESH;
    sk->tp.sk_pacing_rate = ~(u64)0;
    sk->tp.tcp_mstamp = start->now_ns / 1000;
    if (kernel_like_ops()->init != NULL)
        kernel_like_ops()->init(sk);
    return sk;
}

static void kernel_like_destroy(void *state)
{
    if (kernel_like_ops()->release != NULL)
        kernel_like_ops()->release(state);
    free(state);
}

static void kernel_like_on_ack(void *state, const struct dumbbell_ack *ack)
{
    struct sock *sk = state;
    struct tcp_sock *tp = &sk->tp;
    tp->tcp_mstamp = ack->now_ns / 1000;
    tp->srtt_us = (u32)(ack->srtt_ns / 1000) << 3;
    tp->packets_out = kernel_like_packets(tp, ack->in_flight_bytes);
    tp->delivered = kernel_like_packets(tp, ack->delivered_bytes);
    tp->lost_out = kernel_like_packets(tp, ack->lost_bytes);
    tp->in_recovery = ack->in_recovery;
    const struct rate_sample rs = {
        .delivered = ack->rate_valid ? (s32)kernel_like_packets(tp, ack->rate_delivered_bytes) : -1,
        .interval_us = ack->rate_valid ? (long)(ack->rate_interval_ns / 1000) : -1,
        .rtt_us = ack->rtt_ns == DUMBBELL_NONE ? -1 : (long)(ack->rtt_ns / 1000),
        .losses = (s32)tp->lost_out,
        .acked_sacked = kernel_like_packets(tp, ack->acked_bytes),
        .prior_delivered = ack->rate_valid ? kernel_like_packets(tp, ack->rate_prior_delivered_bytes) : 0,
        .prior_in_flight = kernel_like_packets(tp, ack->in_flight_before_bytes),
        .is_app_limited = ack->rate_valid && ack->rate_app_limited,
    };
    kernel_like_ops()->cong_control(sk, (u32)ack->delivered_bytes, 0, &rs);
}

static void kernel_like_on_timeout(void *state, const struct dumbbell_timeout *timeout)
{
    struct tcp_sock *tp = &((struct sock *)state)->tp;
    tp->tcp_mstamp = timeout->now_ns / 1000;
    tp->in_recovery = true;
    tp->snd_cwnd = 1; /* as tcp_enter_loss does; cong_control opens it again */
}

static void kernel_like_on_spurious_loss(void *state, uint64_t now_ns)
{
    struct sock *sk = state;
    sk->tp.tcp_mstamp = now_ns / 1000;
    if (kernel_like_ops()->undo_cwnd != NULL)
        sk->tp.snd_cwnd = kernel_like_ops()->undo_cwnd(sk);
}

static void kernel_like_control(const void *state, struct dumbbell_control *control)
{
    const struct tcp_sock *tp = &((const struct sock *)state)->tp;
    control->window_bytes = (double)tp->snd_cwnd * tp->mss_cache;
    if (tp->sk_pacing_rate != ~(u64)0)
        control->pacing_bps = (double)tp->sk_pacing_rate * 8.0;
}

static void kernel_like_fields(const void *state, double *values)
{
    const struct tcp_sock *tp = &((const struct sock *)state)->tp;
    values[0] = tp->snd_cwnd;
    values[1] = tp->snd_ssthresh == TCP_INFINITE_SSTHRESH ? NAN : tp->snd_ssthresh;
}

static const struct dumbbell_field kernel_like_field_list[] = {{"cwnd", "packets"}, {"ssthresh", "packets"}};

/* In the place of module_init. */
#define KERNEL_LIKE(ops, text)                                                                                            \
    static const struct tcp_congestion_ops *kernel_like_ops(void)                                                         \
    {                                                                                                                     \
        return &(ops);                                                                                                    \
    }                                                                                                                     \
    const struct dumbbell_plugin *dumbbell_plugin(void)                                                                   \
    {                                                                                                                     \
        static struct dumbbell_controller controller = {                                                                  \
            .summary = text,                                                                                              \
            .field_list = kernel_like_field_list,                                                                         \
            .field_count = 2,                                                                                             \
            .create = kernel_like_create,                                                                                 \
            .destroy = kernel_like_destroy,                                                                               \
            .on_ack = kernel_like_on_ack,                                                                                 \
            .on_timeout = kernel_like_on_timeout,                                                                         \
            .on_spurious_loss = kernel_like_on_spurious_loss,                                                             \
            .control = kernel_like_control,                                                                               \
            .fields = kernel_like_fields,                                                                                 \
        };                                                                                                                \
        controller.name = (ops).name;                                                                                     \
        DUMBBELL_DECLARE(&controller)                                                                                     \
    }

#endif
