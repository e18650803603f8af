/*
 * Calls a controller of the Linux kernel as Linux would, by what dumbbell's transport reports. `dumbbell plugin kernel FILE`
 * compiles this together with the file.
 *
 * States and their order follow Linux v6.12, net/ipv4/tcp_input.c: Disorder while something is acknowledged beyond a hole,
 * Recovery from the first loss of an episode and CWR from the first mark until everything sent before has arrived, Loss
 * from a timeout on. On the way into an episode `ssthresh` gives the window; the transport lets the flight shrink to it
 * (proportional rate reduction, as Linux); at the end the window is ssthresh, and CA_EVENT_COMPLETE_CWR is told. Outside of
 * Recovery and CWR `cong_avoid` is called for each ACK that moves the cumulative point. A file with `cong_control` sets its
 * window itself, episodes included, for which the transport has to have `recovery = "immediate"`.
 *
 * `skb_marked_lost` is called for each lost packet, before `ssthresh`; a timeout marks all that is outstanding, oldest first.
 * A packet remembers, as in the kernel, whether the sender was application-limited when it was sent: because the application
 * had nothing to send, or because the file said so (`tp->app_limited`, as BBR does in PROBE_RTT).
 *
 * What differs from the kernel: losses are told before the ACK that revealed them (`ssthresh` is called before its
 * `pkts_acked`); snd_cwnd is ssthresh during an episode, not what the reduction allows at the moment; a packet of less than
 * a full segment counts by its bytes; there are no socket buffers, TCP small queues and F-RTO, segmentation offload is but the
 * bursts of a controller that paces, and a loss that a tail loss probe repairs is no CA_EVENT_TLP_RECOVERY.
 */
#include "dumbbell_kernel.h"

#include "dumbbell.h"

#define MOST_PARAMETERS 32

/* Packets of which the adapter remembers what they were sent with; of older ones less is told. A power of two. */
#define MOST_SENT 65536

/* Clocks begin here: many files use 0 for "not set". */
#define BEGIN_NS (1000 * (u64)NSEC_PER_SEC)

_Thread_local u64 dumbbell_now_ns = BEGIN_NS;
static _Thread_local u64 *random_state;

/* A packet that was sent, in the place of its number modulo MOST_SENT. */
struct sent {
    u64 number_and_one; /* 0: none */
    u64 at_us;
    u32 in_flight, bytes;
    u32 delivered, delivered_ce, lost;
    bool app_limited, outstanding;
};

/* A flow. */
struct flow {
    struct tcp_sock tp; /* first: a flow is its socket */
    u64 random;
    u64 min_rtt_ns;
    u64 last_sent_ns;
    u32 initial_cwnd;
    u32 lost_by_ack; /* since the last ACK */
    u32 own_limit;   /* delivered count until which the file itself limits the sender; 0: not */
    u64 oldest;      /* all packets of lower numbers are settled */
    u64 next;        /* number of the next packet */
    struct sent *sent;
    bool begun; /* its `init` was called */
};

static struct tcp_congestion_ops *registered;
static unsigned flows;

/* ---- What the file calls --------------------------------------------------------------------------------------- */

/* Marsaglia's xorshift64*. */
u32 dumbbell_random(void)
{
    u64 x = *random_state;

    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    *random_state = x;
    return (u32)((x * 2685821657736338717ULL) >> 32);
}

/* The first file that registers one is the one that was asked for. */
int tcp_register_congestion_control(struct tcp_congestion_ops *ops)
{
    if (registered == NULL)
        registered = ops;
    return 0;
}

u32 tcp_slow_start(struct tcp_sock *tp, u32 acked)
{
    u32 room = tp->snd_ssthresh - tp->snd_cwnd;
    u32 used = min(acked, room);

    tcp_snd_cwnd_set(tp, min(tp->snd_cwnd + used, tp->snd_cwnd_clamp));
    return acked - used;
}

void tcp_cong_avoid_ai(struct tcp_sock *tp, u32 w, u32 acked)
{
    u32 cwnd = tp->snd_cwnd, more;

    w = max(w, 1U);
    if (tp->snd_cwnd_cnt >= w) { /* saved up while w was larger */
        tp->snd_cwnd_cnt = 0;
        cwnd++;
    }
    tp->snd_cwnd_cnt += acked;
    more = tp->snd_cwnd_cnt / w;
    tp->snd_cwnd_cnt -= more * w;
    tcp_snd_cwnd_set(tp, min(cwnd + more, tp->snd_cwnd_clamp));
}

void tcp_reno_cong_avoid(struct sock *sk, u32 ack, u32 acked)
{
    struct tcp_sock *tp = tcp_sk(sk);

    if (!tcp_is_cwnd_limited(sk))
        return;
    if (tcp_in_slow_start(tp))
        acked = tcp_slow_start(tp, acked);
    if (acked != 0)
        tcp_cong_avoid_ai(tp, tp->snd_cwnd, acked);
}

u32 tcp_reno_ssthresh(struct sock *sk)
{
    return max(tcp_sk(sk)->snd_cwnd / 2, 2U);
}

u32 tcp_reno_undo_cwnd(struct sock *sk)
{
    return max(tcp_sk(sk)->snd_cwnd, tcp_sk(sk)->prior_cwnd);
}

/* Kathleen Nichols' filter: the best value of the window, the best since that one, and the best since that. `sign` is 1
 * for the largest and -1 for the smallest. */
static u32 best_of_window(struct minmax *m, u32 win, u32 t, u32 v, int sign)
{
    struct minmax_sample *s = m->s, now = {t, v};
    const s64 value = sign * (s64)v;
    u32 age;

    if (value >= sign * (s64)s[0].v || t - s[2].t > win)
        return minmax_reset(m, t, v);
    if (value >= sign * (s64)s[1].v)
        s[1] = s[2] = now;
    else if (value >= sign * (s64)s[2].v)
        s[2] = now;
    age = t - s[0].t;
    if (age > win) { /* the best is too old: the next ones move up, twice if the second is too old as well */
        s[0] = s[1], s[1] = s[2], s[2] = now;
        if (t - s[0].t > win)
            s[0] = s[1], s[1] = s[2];
    } else if (s[1].t == s[0].t && age > win / 4) {
        s[1] = s[2] = now; /* a quarter of the window without a second: take one of this quarter */
    } else if (s[2].t == s[1].t && age > win / 2) {
        s[2] = now;
    }
    return s[0].v;
}

u32 minmax_running_max(struct minmax *m, u32 win, u32 t, u32 v) { return best_of_window(m, win, t, v, 1); }
u32 minmax_running_min(struct minmax *m, u32 win, u32 t, u32 v) { return best_of_window(m, win, t, v, -1); }

/* ---- States and windows ---------------------------------------------------------------------------------------- */

#define OPS(flow) ((flow)->tp.inet_conn.icsk_ca_ops)
#define SK(flow) (&(flow)->tp.inet_conn.sk)
#define CALL(flow, callback, ...) (OPS(flow)->callback != NULL ? (void)OPS(flow)->callback(SK(flow), ##__VA_ARGS__) : (void)0)

static u32 packets(const struct flow *flow, u64 bytes)
{
    return (u32)((bytes + flow->tp.mss_cache / 2) / flow->tp.mss_cache);
}

static struct sent *sent_as(const struct flow *flow, u64 number)
{
    struct sent *sent = &flow->sent[number % MOST_SENT];

    return sent->number_and_one == number + 1 ? sent : NULL;
}

/* The packet was acknowledged, or declared lost. */
static void settle(struct flow *flow, u64 number)
{
    struct sent *sent = sent_as(flow, number);

    if (sent != NULL)
        sent->outstanding = false;
    for (; flow->oldest < flow->next; flow->oldest++) {
        sent = sent_as(flow, flow->oldest);
        if (sent != NULL && sent->outstanding)
            break;
    }
}

/* Tells that a packet was lost, as it was sent. */
static void mark_lost(struct flow *flow, const struct sent *sent)
{
    struct tcp_sock *tp = &flow->tp;
    const struct sk_buff skb = {
        .len = sent->bytes,
        .cb = {
            .sacked = TCPCB_LOST,
            .tx = {
                .in_flight = sent->in_flight,
                .delivered = sent->delivered,
                .delivered_ce = sent->delivered_ce,
                .lost = sent->lost,
                .is_app_limited = sent->app_limited,
                .first_tx_mstamp = sent->at_us,
                .delivered_mstamp = sent->at_us,
            },
        },
    };

    tp->lost++;
    flow->lost_by_ack++;
    if (tp->inet_conn.icsk_ca_ops->skb_marked_lost != NULL)
        tp->inet_conn.icsk_ca_ops->skb_marked_lost(&tp->inet_conn.sk, &skb);
}

/* A callback of the flow is about to be called, at `now_ns` of the run. */
static void enter(struct flow *flow, u64 now_ns)
{
    struct tcp_sock *tp = &flow->tp;

    dumbbell_now_ns = BEGIN_NS + now_ns;
    random_state = &flow->random;
    tp->tcp_clock_cache = dumbbell_now_ns;
    tp->tcp_mstamp = dumbbell_now_ns / NSEC_PER_USEC;
}

/* Linux calls it when the connection is set up, with the RTT of that. */
static void begin(struct flow *flow)
{
    if (flow->begun)
        return;
    flow->begun = true;
    flow->tp.delivered_mstamp = flow->tp.first_tx_mstamp = flow->tp.tcp_mstamp;
    CALL(flow, init);
}

static void set_state(struct flow *flow, u8 state)
{
    if (flow->tp.inet_conn.icsk_ca_state == state)
        return;
    CALL(flow, set_state, state);
    flow->tp.inet_conn.icsk_ca_state = state;
}

static bool has_own_window(const struct flow *flow)
{
    return OPS(flow)->cong_control != NULL;
}

/* Into Recovery or CWR. */
static void begin_reduction(struct flow *flow, u8 state)
{
    struct tcp_sock *tp = &flow->tp;

    tp->prior_ssthresh = state == TCP_CA_CWR ? 0 : tcp_current_ssthresh(SK(flow));
    tp->undo_marker = state == TCP_CA_CWR ? 0 : tp->snd_una;
    tp->high_seq = tp->snd_nxt;
    tp->snd_cwnd_cnt = 0;
    tp->prior_cwnd = tp->snd_cwnd;
    tp->snd_ssthresh = OPS(flow)->ssthresh(SK(flow));
    set_state(flow, state);
    if (!has_own_window(flow))
        tcp_snd_cwnd_set(tp, min(tp->snd_cwnd, tp->snd_ssthresh));
}

static void end_reduction(struct flow *flow)
{
    struct tcp_sock *tp = &flow->tp;

    if (!has_own_window(flow)) {
        if (tp->snd_ssthresh < TCP_INFINITE_SSTHRESH)
            tcp_snd_cwnd_set(tp, tp->snd_ssthresh);
        CALL(flow, cwnd_event, CA_EVENT_COMPLETE_CWR);
    }
    set_state(flow, TCP_CA_Open);
}

/* What Linux sets for all but those that pace: a fifth more than a window per round trip, twice of it in slow start. */
static void update_pacing_rate(struct flow *flow)
{
    struct tcp_sock *tp = &flow->tp;
    u64 percent = tp->snd_cwnd < tp->snd_ssthresh / 2 ? 200 : 120;
    u64 bytes = (u64)tp->mss_cache * max(tp->snd_cwnd, tp->packets_out);
    u32 srtt_us = max(tp->srtt_us >> 3, 1U);

    SK(flow)->sk_pacing_rate = min_t(u64, bytes * USEC_PER_SEC / srtt_us * percent / 100, SK(flow)->sk_max_pacing_rate);
}

/* Nothing was sent for longer than the timeout: the window shrinks towards the initial one. */
static void restart_after_idle(struct flow *flow, u64 idle_ns)
{
    struct tcp_sock *tp = &flow->tp;
    const u64 rto_ns = (u64)tp->inet_conn.icsk_rto * NSEC_PER_MSEC;
    u32 cwnd = tp->snd_cwnd;

    if (has_own_window(flow) || rto_ns == 0 || idle_ns <= rto_ns)
        return;
    CALL(flow, cwnd_event, CA_EVENT_CWND_RESTART);
    tp->snd_ssthresh = tcp_current_ssthresh(SK(flow));
    for (u64 gone = rto_ns; gone < idle_ns && cwnd > flow->initial_cwnd; gone += rto_ns)
        cwnd /= 2;
    tcp_snd_cwnd_set(tp, max(cwnd, min(tp->snd_cwnd, flow->initial_cwnd)));
}

/* ---- dumbbell's events ----------------------------------------------------------------------------------------- */

static void on_established(void *state, uint64_t now_ns, uint64_t rtt_ns)
{
    struct flow *flow = state;

    enter(flow, now_ns);
    flow->tp.srtt_us = (u32)(rtt_ns / NSEC_PER_USEC) << 3;
    minmax_reset(&flow->tp.rtt_min, tcp_jiffies32, (u32)(rtt_ns / NSEC_PER_USEC));
    begin(flow);
}

static void on_sent(void *state, const struct dumbbell_sent *sent)
{
    struct flow *flow = state;
    struct tcp_sock *tp = &flow->tp;
    const u64 rate = SK(flow)->sk_pacing_rate;

    enter(flow, sent->now_ns);
    begin(flow);
    if (sent->in_flight_bytes <= sent->bytes) {
        tp->packets_out = 0;
        if (flow->last_sent_ns != 0)
            restart_after_idle(flow, sent->now_ns - flow->last_sent_ns);
        CALL(flow, cwnd_event, CA_EVENT_TX_START);
    }
    flow->last_sent_ns = sent->now_ns;
    tp->lsndtime = tcp_jiffies32;
    tp->packets_out = packets(flow, sent->in_flight_bytes);
    tp->bytes_sent += sent->bytes;
    if (sent->retransmission)
        tp->total_retrans++;
    else if (!sent->filler)
        tp->snd_nxt = tp->write_seq = tp->snd_nxt + sent->bytes;
    tp->tcp_wstamp_ns = max(tp->tcp_wstamp_ns, dumbbell_now_ns);
    if (SK(flow)->sk_pacing_status != SK_PACING_NONE && rate != 0 && rate != ~0UL)
        tp->tcp_wstamp_ns += (u64)sent->bytes * NSEC_PER_SEC / rate;
    flow->sent[sent->number % MOST_SENT] = (struct sent){
        .number_and_one = sent->number + 1,
        .at_us = tp->tcp_mstamp,
        .in_flight = tp->packets_out,
        .bytes = sent->bytes,
        .delivered = tp->delivered,
        .delivered_ce = tp->delivered_ce,
        .lost = tp->lost,
        .app_limited = tp->app_limited != 0,
        .outstanding = true,
    };
    flow->next = sent->number + 1;
}

static void on_loss(void *state, const struct dumbbell_loss *loss)
{
    struct flow *flow = state;
    struct tcp_sock *tp = &flow->tp;

    enter(flow, loss->now_ns);
    begin(flow);
    tp->packets_out = packets(flow, loss->in_flight_bytes);
    for (size_t i = 0; i < loss->packet_count; i++) {
        const struct dumbbell_packet *packet = &loss->packets[i];
        const struct sent *sent = sent_as(flow, packet->number);
        const struct sent forgotten = {
            .at_us = tp->tcp_mstamp,
            .in_flight = packets(flow, packet->in_flight_at_send_bytes),
            .bytes = packet->bytes,
            .lost = tp->lost,
        };

        mark_lost(flow, sent != NULL ? sent : &forgotten);
        settle(flow, packet->number);
    }
    if (loss->new_episode && !tcp_in_cwnd_reduction(SK(flow)))
        begin_reduction(flow, TCP_CA_Recovery);
    else if (loss->new_episode)
        set_state(flow, TCP_CA_Recovery); /* from CWR: the window has been reduced */
}

static void on_ecn(void *state, const struct dumbbell_ecn *ecn)
{
    struct flow *flow = state;

    enter(flow, ecn->now_ns);
    begin(flow);
    flow->tp.delivered_ce += ecn->ce_packets;
    if (ecn->new_episode && flow->tp.inet_conn.icsk_ca_state < TCP_CA_CWR)
        begin_reduction(flow, TCP_CA_CWR);
}

static void on_timeout(void *state, const struct dumbbell_timeout *timeout)
{
    struct flow *flow = state;
    struct tcp_sock *tp = &flow->tp;

    enter(flow, timeout->now_ns);
    begin(flow);
    tp->packets_out = 0;
    for (u64 number = flow->oldest; number < flow->next; number++) {
        struct sent *sent = sent_as(flow, number);

        if (sent != NULL && sent->outstanding) {
            sent->outstanding = false;
            mark_lost(flow, sent);
        }
    }
    flow->oldest = flow->next;
    if (!timeout->repeated || tp->inet_conn.icsk_ca_state <= TCP_CA_Disorder) {
        tp->prior_ssthresh = tcp_current_ssthresh(SK(flow));
        tp->prior_cwnd = tp->snd_cwnd;
        tp->snd_ssthresh = OPS(flow)->ssthresh(SK(flow));
        CALL(flow, cwnd_event, CA_EVENT_LOSS);
    }
    tp->undo_marker = tp->snd_una;
    tp->inet_conn.icsk_retransmits++;
    tcp_snd_cwnd_set(tp, 1);
    tp->snd_cwnd_cnt = 0;
    set_state(flow, TCP_CA_Loss);
    tp->high_seq = tp->snd_nxt;
}

static void on_recovered(void *state, uint64_t now_ns)
{
    struct flow *flow = state;

    enter(flow, now_ns);
    if (tcp_in_cwnd_reduction(SK(flow)))
        end_reduction(flow);
}

static void on_spurious_loss(void *state, uint64_t now_ns)
{
    struct flow *flow = state;
    struct tcp_sock *tp = &flow->tp;

    enter(flow, now_ns);
    if (tp->prior_ssthresh != 0) {
        tcp_snd_cwnd_set(tp, OPS(flow)->undo_cwnd != NULL ? OPS(flow)->undo_cwnd(SK(flow)) : tcp_reno_undo_cwnd(SK(flow)));
        tp->snd_ssthresh = max(tp->snd_ssthresh, tp->prior_ssthresh);
    }
    tp->undo_marker = 0;
    set_state(flow, TCP_CA_Open);
}

/* The sample of an ACK as Linux computes it. */
static struct rate_sample sample_of(struct flow *flow, const struct dumbbell_ack *ack)
{
    struct tcp_sock *tp = &flow->tp;
    struct rate_sample rs = {
        .delivered = -1,
        .interval_us = -1,
        .rtt_us = ack->rtt_ns == DUMBBELL_NONE ? -1 : (long)(ack->rtt_ns / NSEC_PER_USEC),
        .losses = (int)flow->lost_by_ack,
        .acked_sacked = packets(flow, ack->acked_bytes),
        .prior_in_flight = packets(flow, ack->in_flight_before_bytes),
        .is_ack_delayed = ack->ack_delay_ns > 0,
    };
    const struct dumbbell_packet *newest = ack->packet_count != 0 ? &ack->packets[ack->packet_count - 1] : NULL;
    const struct sent *sent = newest != NULL ? sent_as(flow, newest->number) : NULL;

    for (size_t i = 0; i < ack->packet_count; i++)
        rs.is_ece |= ack->packets[i].ce;
    if (newest != NULL) {
        rs.tx_in_flight = packets(flow, newest->in_flight_at_send_bytes);
        rs.is_retrans = newest->retransmission;
    }
    if (sent != NULL) {
        rs.prior_lost = sent->lost;
        rs.lost = (s32)(tp->lost - sent->lost);
        rs.prior_delivered_ce = sent->delivered_ce;
        rs.delivered_ce = (s32)(tp->delivered_ce - sent->delivered_ce);
        rs.is_app_limited = sent->app_limited;
    }
    if (ack->rate_valid) {
        rs.delivered = (s32)packets(flow, ack->rate_delivered_bytes);
        rs.interval_us = (long)(ack->rate_interval_ns / NSEC_PER_USEC);
        rs.snd_interval_us = rs.rcv_interval_us = (u32)rs.interval_us;
        rs.prior_delivered = packets(flow, ack->rate_prior_delivered_bytes);
        rs.prior_mstamp = tp->tcp_mstamp - rs.interval_us;
        rs.is_app_limited |= ack->rate_app_limited;
    }
    return rs;
}

/* Whether something has arrived beyond a hole. */
static bool has_hole(const struct dumbbell_ack *ack)
{
    return ack->sent_bytes - ack->complete_bytes > ack->in_flight_bytes;
}

static void on_ack(void *state, const struct dumbbell_ack *ack)
{
    struct flow *flow = state;
    struct tcp_sock *tp = &flow->tp;
    struct inet_connection_sock *icsk = &tp->inet_conn;
    struct rate_sample rs;
    u32 completed, flags;
    bool hole = has_hole(ack), advanced, marked = false;

    enter(flow, ack->now_ns);
    begin(flow);
    for (size_t i = 0; i < ack->packet_count; i++)
        marked |= ack->packets[i].ce;
    completed = (u32)ack->complete_bytes - tp->snd_una;
    advanced = completed != 0;
    tp->snd_una = (u32)ack->complete_bytes;
    tp->snd_nxt = tp->write_seq = (u32)ack->sent_bytes;
    tp->bytes_acked += completed;
    tp->srtt_us = (u32)(ack->srtt_ns / NSEC_PER_USEC) << 3;
    tp->mdev_us = tp->rttvar_us = (u32)(ack->rttvar_ns / NSEC_PER_USEC) << 2;
    icsk->icsk_rto = (u32)(ack->srtt_ns / NSEC_PER_MSEC + max_t(u64, 4 * ack->rttvar_ns / NSEC_PER_MSEC, HZ / 5));
    if (ack->min_rtt_ns != flow->min_rtt_ns)
        minmax_reset(&tp->rtt_min, tcp_jiffies32, (u32)(ack->min_rtt_ns / NSEC_PER_USEC));
    flow->min_rtt_ns = ack->min_rtt_ns;
    tp->packets_out = packets(flow, ack->in_flight_bytes);
    tp->sacked_out = hole ? packets(flow, ack->sent_bytes - ack->complete_bytes - ack->in_flight_bytes) : 0;
    tp->max_packets_out = packets(flow, ack->peak_in_flight_bytes);
    tp->is_cwnd_limited = ack->window_limited;
    tp->delivered = packets(flow, ack->delivered_bytes);
    if (ack->rate_valid)
        tp->delivered_mstamp = tp->tcp_mstamp;
    if (flow->own_limit != 0 && after(tp->delivered, flow->own_limit))
        flow->own_limit = 0;
    tp->app_limited = flow->own_limit;
    if (ack->app_limited && tp->app_limited == 0)
        tp->app_limited = max(tp->delivered + tp->packets_out, 1U);
    rs = sample_of(flow, ack);
    for (size_t i = 0; i < ack->packet_count; i++)
        settle(flow, ack->packets[i].number);
    flow->lost_by_ack = 0;
    if (advanced)
        icsk->icsk_retransmits = 0;

    if (OPS(flow)->pkts_acked != NULL) {
        const struct ack_sample sample = {
            .pkts_acked = packets(flow, completed),
            .rtt_us = (s32)rs.rtt_us,
            .in_flight = ack->packet_count != 0
                             ? packets(flow, ack->packets[ack->packet_count - 1].in_flight_at_send_bytes)
                             : 0,
        };
        OPS(flow)->pkts_acked(SK(flow), &sample);
    }
    flags = hole || marked ? CA_ACK_SLOWPATH | (marked ? CA_ACK_ECE : 0) : CA_ACK_WIN_UPDATE;
    CALL(flow, in_ack_event, flags);

    if (icsk->icsk_ca_state == TCP_CA_Loss && !before(tp->snd_una, tp->high_seq))
        set_state(flow, TCP_CA_Open);
    if (icsk->icsk_ca_state <= TCP_CA_Disorder)
        set_state(flow, hole ? TCP_CA_Disorder : TCP_CA_Open);

    if (has_own_window(flow)) {
        const u32 app_limited = tp->app_limited;

#if DUMBBELL_CONG_CONTROL == 2
        OPS(flow)->cong_control(SK(flow), &rs);
#else
        OPS(flow)->cong_control(SK(flow), tp->snd_una, 0, &rs);
#endif
        if (tp->app_limited != app_limited) /* the file says that it limits the sender itself */
            flow->own_limit = tp->app_limited;
        return;
    }
    if (!tcp_in_cwnd_reduction(SK(flow)) && advanced)
        OPS(flow)->cong_avoid(SK(flow), tp->snd_una, rs.acked_sacked);
    update_pacing_rate(flow);
}

/* Segments of a packet that segmentation offload sends as one burst: as many as the file says, or (Linux v6.12,
 * net/ipv4/tcp_output.c, tcp_tso_autosize) what leaves in a millisecond. */
static u32 burst_segments(const struct flow *flow)
{
    const struct sock *sk = SK(flow);

    if (OPS(flow)->tso_segs != NULL)
        return max(min_t(u32, OPS(flow)->tso_segs((struct sock *)sk, flow->tp.mss_cache), sk->sk_gso_max_segs), 1U);

    const u64 bytes = min_t(u64, sk->sk_pacing_rate >> sk->sk_pacing_shift, sk->sk_gso_max_size);
    const u32 least = OPS(flow)->min_tso_segs != NULL ? OPS(flow)->min_tso_segs((struct sock *)sk) : 2;

    return max((u32)(bytes / flow->tp.mss_cache), least);
}

static void control(const void *state, struct dumbbell_control *control)
{
    const struct flow *flow = state;
    const struct sock *sk = SK(flow);

    control->window_bytes = (double)flow->tp.snd_cwnd * flow->tp.mss_cache;
    if (sk->sk_pacing_status != SK_PACING_NONE && sk->sk_pacing_rate != ~0UL) {
        control->pacing_bps = (double)sk->sk_pacing_rate * 8.0;
        control->burst_bytes = (u64)burst_segments(flow) * flow->tp.mss_cache;
    }
}

static const struct dumbbell_field field_list[] = {
    {"cwnd", "packets"},
    {"ssthresh", "packets"},
    {"ca_state", "0 open, 1 disorder, 2 cwr, 3 recovery, 4 loss"},
    {"pacing_rate", "Mbit/s"},
    /* of files whose `get_info` tells what `ss -i` shows of BBR */
    {"bw", "Mbit/s"},
    {"min_rtt", "ms"},
    {"pacing_gain", ""},
    {"cwnd_gain", ""},
    /* of BBRv3 */
    {"max_bw", "Mbit/s"},
    {"phase", "1 startup, 2 drain, 3 probe_rtt, 4 up, 5 down, 6 cruise, 7 refill"},
    {"inflight_lo", "packets"},
    {"inflight_hi", "packets"},
    {"extra_acked", "packets"},
};
#define FIELDS (sizeof field_list / sizeof field_list[0])
#define FIELDS_OF_ALL 4

static void fields(const void *state, double *values)
{
    const struct flow *flow = state;
    const struct tcp_sock *tp = &flow->tp;
    union tcp_cc_info info = {0};
    const struct tcp_bbr_info *bbr = &info.bbr;
    int attribute = 0;

    values[0] = tp->snd_cwnd;
    values[1] = tp->snd_ssthresh >= TCP_INFINITE_SSTHRESH ? NAN : tp->snd_ssthresh;
    values[2] = tp->inet_conn.icsk_ca_state;
    values[3] = SK(flow)->sk_pacing_rate == ~0UL ? NAN : SK(flow)->sk_pacing_rate * 8e-6;
    if (OPS(flow)->get_info == NULL)
        return;
    for (size_t i = FIELDS_OF_ALL; i < FIELDS; i++)
        values[i] = NAN;
    if (flow->begun)
        OPS(flow)->get_info((struct sock *)SK(flow), 1U << (INET_DIAG_BBRINFO - 1), &attribute, &info);
    if (attribute != INET_DIAG_BBRINFO)
        return;
    values[4] = (double)((u64)bbr->bbr_bw_hi << 32 | bbr->bbr_bw_lo) * 8e-6;
    values[5] = bbr->bbr_min_rtt == ~0U ? NAN : bbr->bbr_min_rtt * 1e-3;
    values[6] = bbr->bbr_pacing_gain / 256.0;
    values[7] = bbr->bbr_cwnd_gain / 256.0;
    if (bbr->bbr_version < 3)
        return;
    values[8] = (double)((u64)bbr->bbr_bw_hi_msb << 32 | bbr->bbr_bw_hi_lsb) * 8e-6;
    values[9] = bbr->bbr_phase;
    values[10] = bbr->bbr_inflight_lo == ~0U ? NAN : bbr->bbr_inflight_lo;
    values[11] = bbr->bbr_inflight_hi == ~0U ? NAN : bbr->bbr_inflight_hi;
    values[12] = bbr->bbr_extra_acked;
}

/* ---- Module parameters ----------------------------------------------------------------------------------------- */

/* The linker knows where they begin and end; without one neither name is there. */
extern const struct dumbbell_module_parameter __start_dumbbell_parameters[] __attribute__((weak));
extern const struct dumbbell_module_parameter __stop_dumbbell_parameters[] __attribute__((weak));

static struct dumbbell_parameter parameters[MOST_PARAMETERS];
static const struct dumbbell_module_parameter *places[MOST_PARAMETERS];
static size_t parameter_count;

static double *number_at(const struct dumbbell_module_parameter *of, double *value, bool write)
{
#define AS(type)                                                 \
    if (strcmp(of->text, #type) == 0) {                          \
        if (write)                                               \
            *(type *)of->place = (type)*value;                   \
        *value = (double)*(type *)of->place;                     \
        return value;                                            \
    }
    AS(int) AS(uint) AS(short) AS(ushort) AS(long) AS(ulong) AS(bool)
#undef AS
    return NULL; /* a text, or what the file reads itself */
}

static void list_parameters(void)
{
    for (const struct dumbbell_module_parameter *of = __start_dumbbell_parameters; of < __stop_dumbbell_parameters; of++) {
        double value = 0.0;

        if (of->place == NULL || parameter_count == MOST_PARAMETERS || number_at(of, &value, false) == NULL)
            continue;
        places[parameter_count] = of;
        parameters[parameter_count++] = (struct dumbbell_parameter){
            .name = of->name,
            .help = "A parameter of the module.",
            .kind = strcmp(of->text, "bool") == 0 ? DUMBBELL_FLAG : DUMBBELL_INTEGER,
            .preset = value,
            .least = of->text[0] == 'u' ? 0.0 : -2147483648.0,
            .most = strcmp(of->text, "bool") == 0 ? 1.0 : 4294967295.0,
        };
    }
    for (const struct dumbbell_module_parameter *of = __start_dumbbell_parameters; of < __stop_dumbbell_parameters; of++)
        for (size_t i = 0; i < parameter_count; i++)
            if (of->place == NULL && strcmp(of->name, parameters[i].name) == 0)
                parameters[i].help = of->text;
}

/* Sets the module's parameters, which all its flows share, as in the kernel; false if flows live with other ones. */
static bool set_parameters(const struct dumbbell_value *values)
{
    bool differ = false;

    for (size_t i = 0; i < parameter_count; i++) {
        double value = values[i].number, now = 0.0;

        differ |= *number_at(places[i], &now, false) != value;
    }
    if (!differ)
        return true;
    if (flows != 0)
        return false;
    for (size_t i = 0; i < parameter_count; i++) {
        double value = values[i].number;

        number_at(places[i], &value, true);
    }
    dumbbell_module_init(); /* what it computes of them */
    return true;
}

/* ---- The plug-in ----------------------------------------------------------------------------------------------- */

static void *create(const struct dumbbell_controller *self, const struct dumbbell_start *start,
                    const struct dumbbell_value *values, const char **refusal)
{
    struct flow *flow;

    if (!set_parameters(values)) {
        *refusal = "the module's parameters are the same for all flows of a run, and another flow has other ones";
        return NULL;
    }
    if (registered->ssthresh == NULL || (registered->cong_avoid == NULL && registered->cong_control == NULL)) {
        *refusal = "the module has no `ssthresh`, or neither `cong_avoid` nor `cong_control`";
        return NULL;
    }
    flow = calloc(1, sizeof *flow);
    if (flow == NULL || (flow->sent = calloc(MOST_SENT, sizeof *flow->sent)) == NULL) {
        free(flow);
        *refusal = "there is no memory";
        return NULL;
    }
    flows++;
    flow->random = start->seed | 1;
    flow->tp.mss_cache = start->mss_bytes;
    flow->initial_cwnd = packets(flow, start->initial_window_bytes);
    flow->tp.snd_cwnd = flow->initial_cwnd;
    flow->tp.snd_cwnd_clamp = ~0U;
    flow->tp.snd_ssthresh = TCP_INFINITE_SSTHRESH;
    flow->tp.reordering = 3;
    flow->tp.ecn_flags = registered->flags & TCP_CONG_NEEDS_ECN ? TCP_ECN_OK : 0;
    flow->tp.inet_conn.icsk_ca_ops = registered;
    SK(flow)->sk_pacing_rate = SK(flow)->sk_max_pacing_rate = ~0UL;
    SK(flow)->sk_pacing_shift = 10;
    SK(flow)->sk_gso_max_size = GSO_LEGACY_MAX_SIZE;
    SK(flow)->sk_gso_max_segs = 65535;
    SK(flow)->sk_state = TCP_ESTABLISHED;
    enter(flow, start->now_ns);
    minmax_reset(&flow->tp.rtt_min, tcp_jiffies32, ~0U);
    return flow;
}

static void destroy(void *state)
{
    struct flow *flow = state;

    if (flow->begun)
        CALL(flow, release);
    free(flow->sent);
    free(flow);
    flows--;
}

static struct dumbbell_controller controller = {
    .name = DUMBBELL_NAME,
    .summary = "A controller of the Linux kernel, from " DUMBBELL_FILE_NAME,
    .parameters = parameters,
    .field_list = field_list,
    .field_count = FIELDS_OF_ALL,
    .create = create,
    .destroy = destroy,
    .on_ack = on_ack,
    .control = control,
    .fields = fields,
    .on_loss = on_loss,
    .on_timeout = on_timeout,
    .on_ecn = on_ecn,
    .on_sent = on_sent,
    .on_established = on_established,
    .on_spurious_loss = on_spurious_loss,
    .on_recovered = on_recovered,
};

const struct dumbbell_plugin *dumbbell_plugin(void)
{
    static bool is_listed;

    if (!is_listed) {
        is_listed = true;
        list_parameters();
        controller.parameter_count = parameter_count;
        dumbbell_module_init();
    }
    if (registered == NULL)
        return NULL;
    if (registered->get_info != NULL)
        controller.field_count = FIELDS;
    {
        DUMBBELL_DECLARE(&controller)
    }
}
