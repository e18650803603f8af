/*
 * CUBIC with HyStart++ of ngtcp2 (ngtcp2/ngtcp2@f3af8b1, lib/ngtcp2_cc.c) as a plug-in.
 *
 * The calls are those of ngtcp2's connection: `congestion_event` at a loss or a mark, then `on_ack_recv`; persistent
 * congestion starts anew. What the controller reads of the delivery rate sampler (`ngtcp2_rst`) is the transport's: what was
 * delivered, when the newest packet was sent and in all, and whether the window limited the sender.
 */

#include <dumbbell.h>

#include <stdlib.h>
#include <string.h>

#include "ngtcp2_cc.h"
#include "ngtcp2_conn_stat.h"
#include "ngtcp2_log.h"
#include "ngtcp2_rst.h"

struct flow {
    ngtcp2_cc_cubic cubic;
    ngtcp2_conn_stat stat;
    ngtcp2_rst sampler;
    ngtcp2_log log;
};

static void *create(const struct dumbbell_controller *self, const struct dumbbell_start *start,
                    const struct dumbbell_value *values, const char **refusal)
{
    (void)self, (void)values, (void)refusal;
    struct flow *flow = calloc(1, sizeof *flow);
    flow->stat.cwnd = start->initial_window_bytes;
    flow->stat.ssthresh = UINT64_MAX;
    flow->stat.max_tx_udp_payload_size = start->mss_bytes;
    flow->stat.congestion_recovery_start_ts = UINT64_MAX;
    flow->stat.first_rtt_sample_ts = UINT64_MAX;
    ngtcp2_cc_cubic_init(&flow->cubic, &flow->log, &flow->stat, &flow->sampler);
    return flow;
}

static void congested(struct flow *flow, uint64_t now_ns, uint64_t sent_at_ns, uint64_t lost_bytes)
{
    ngtcp2_cc_ack ack = {.bytes_lost = lost_bytes, .largest_pkt_sent_ts = UINT64_MAX, .rtt = UINT64_MAX};
    ngtcp2_cc_cubic_cc_congestion_event(&flow->cubic.cc, &flow->stat, sent_at_ns, &ack, now_ns);
}

static void on_loss(void *state, const struct dumbbell_loss *event)
{
    struct flow *flow = state;
    flow->stat.bytes_in_flight = event->in_flight_bytes;
    congested(flow, event->now_ns, event->packets[event->packet_count - 1].sent_at_ns, event->lost_bytes);
}

static void on_ecn(void *state, const struct dumbbell_ecn *event)
{
    /* A mark is of a packet that the ACK lists, which comes after it: of one that was sent a round trip ago. */
    congested(state, event->now_ns, event->now_ns - event->srtt_ns, 0);
}

static void on_ack(void *state, const struct dumbbell_ack *event)
{
    struct flow *flow = state;
    flow->stat.bytes_in_flight = event->in_flight_bytes;
    flow->stat.smoothed_rtt = event->srtt_ns;
    flow->stat.first_rtt_sample_ts = 0;
    flow->sampler.delivered = event->delivered_bytes;
    flow->sampler.is_cwnd_limited = event->window_limited;
    flow->sampler.rs.is_app_limited = event->app_limited;
    flow->sampler.rs.delivered = event->rate_valid ? event->rate_delivered_bytes : 0;
    ngtcp2_cc_ack ack = {
        .bytes_delivered = event->acked_bytes,
        .bytes_lost = event->lost_bytes,
        .pkt_delivered = event->rate_prior_delivered_bytes,
        .largest_pkt_sent_ts = event->packets[event->packet_count - 1].sent_at_ns,
        .rtt = event->rtt_ns,
    };
    ngtcp2_cc_cubic_cc_on_ack_recv(&flow->cubic.cc, &flow->stat, &ack, event->now_ns);
}

static void on_timeout(void *state, const struct dumbbell_timeout *event)
{
    struct flow *flow = state;
    if (event->kind == DUMBBELL_PERSISTENT_CONGESTION)
        ngtcp2_cc_cubic_cc_on_persistent_congestion(&flow->cubic.cc, &flow->stat, event->now_ns);
}

static void on_spurious_loss(void *state, uint64_t now_ns)
{
    struct flow *flow = state;
    ngtcp2_cc_cubic_cc_on_spurious_congestion(&flow->cubic.cc, &flow->stat, now_ns);
}

static void control(const void *state, struct dumbbell_control *control)
{
    const struct flow *flow = state;
    control->window_bytes = (double)flow->stat.cwnd;
    /* The interval is of a byte, in 1/1024 ns; before the first RTT it stands for 1 ms, and leaves bursts to the window. */
    if (flow->stat.first_rtt_sample_ts != UINT64_MAX)
        control->pacing_bps = 8e9 * 1024 / (double)flow->stat.pacing_interval_m;
}

static const struct dumbbell_field field_list[] = {{"cwnd", "packets"}, {"css_round", ""}, {"slow_start", ""}};

static void fields(const void *state, double *values)
{
    const struct flow *flow = state;
    values[0] = (double)flow->stat.cwnd / (double)flow->stat.max_tx_udp_payload_size;
    values[1] = (double)flow->cubic.hs.css_round;
    values[2] = flow->stat.cwnd < flow->stat.ssthresh;
}

static const struct dumbbell_controller cubic = {
    .name = "original",
    .summary = "CUBIC with HyStart++ of ngtcp2, its own code",
    .field_list = field_list,
    .field_count = sizeof field_list / sizeof field_list[0],
    .create = create,
    .destroy = free,
    .on_ack = on_ack,
    .control = control,
    .fields = fields,
    .on_loss = on_loss,
    .on_timeout = on_timeout,
    .on_ecn = on_ecn,
    .on_spurious_loss = on_spurious_loss,
};

DUMBBELL_PLUGIN(&cubic)
