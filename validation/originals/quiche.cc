// Prague of Chromium (google/quiche@f44fa9f, `PragueSender` on `TcpCubicSenderBytes`) as a plug-in.
//
// The calls are those of quiche's `QuicSentPacketManager`: one event for an ACK with its losses and its counts of ECN. The RTTs
// are those of quiche's `RttStats`. While the controller is in recovery, `CanSend` (PRR) says whether one more packet may leave.
// A packet counts as its payload; windows are packets of 1460 bytes (`kDefaultTCPMSS`).

#include <dumbbell.h>

#include <algorithm>

#include "quiche/quic/core/congestion_control/prague_sender.h"

namespace {

// `quic_max_congestion_window`, a flag.
const quic::QuicPacketCount MOST_PACKETS = 2000;

quic::QuicTime::Delta duration(uint64_t ns) { return quic::QuicTime::Delta::FromMicroseconds(static_cast<int64_t>(ns / 1000)); }

quic::QuicTime moment(uint64_t ns) { return quic::QuicTime::Zero() + duration(ns); }

quic::QuicPacketNumber number(const dumbbell_packet &packet) { return quic::QuicPacketNumber(packet.number); }

// A packet that had been declared lost counts nothing when it arrives after all.
quic::QuicPacketLength length(const dumbbell_packet &packet)
{
    return packet.was_lost ? 0 : static_cast<quic::QuicPacketLength>(packet.bytes);
}

quic::LostPacketVector losses(const dumbbell_packet *packets, size_t count)
{
    quic::LostPacketVector lost;
    for (size_t i = 0; i < count; i++)
        lost.push_back({number(packets[i]), static_cast<quic::QuicPacketLength>(packets[i].bytes)});
    return lost;
}

struct Clock : quic::QuicClock {
    uint64_t now_ns;

    explicit Clock(uint64_t ns) : now_ns(ns) {}

    quic::QuicTime Now() const override { return moment(now_ns); }
    quic::QuicTime ApproximateNow() const override { return Now(); }
    quic::QuicWallTime WallNow() const override { return quic::QuicWallTime::Zero(); }
};

struct Flow {
    Clock clock;
    quic::RttStats rtt;
    quic::QuicConnectionStats stats;
    quic::PragueSender controller;
    uint64_t mss;
    uint64_t in_flight = 0;
    /* Marks that the ACK which comes next reports. */
    uint64_t marked = 0;

    explicit Flow(const dumbbell_start *start)
        : clock(start->now_ns), controller(&clock, &rtt, start->initial_window_bytes / start->mss_bytes, MOST_PACKETS, &stats),
          mss(start->mss_bytes)
    {
    }
};

void *create(const dumbbell_controller *, const dumbbell_start *start, const dumbbell_value *values, const char **)
{
    Flow *flow = new Flow(start);
    flow->controller.SetNumEmulatedConnections(static_cast<int>(values[0].number));
    flow->controller.EnableECT1();
    return flow;
}

void destroy(void *state) { delete static_cast<Flow *>(state); }

void on_established(void *state, uint64_t now_ns, uint64_t rtt_ns)
{
    static_cast<Flow *>(state)->rtt.UpdateRtt(duration(rtt_ns), duration(0), moment(now_ns));
}

void on_sent(void *state, const dumbbell_sent *event)
{
    Flow *flow = static_cast<Flow *>(state);
    flow->clock.now_ns = event->now_ns;
    flow->in_flight = event->in_flight_bytes;
    flow->controller.OnPacketSent(moment(event->now_ns), event->in_flight_bytes - event->bytes,
                                  quic::QuicPacketNumber(event->number), event->bytes, quic::HAS_RETRANSMITTABLE_DATA);
}

void on_ecn(void *state, const dumbbell_ecn *event)
{
    static_cast<Flow *>(state)->marked = event->ce_packets;
}

void on_ack(void *state, const dumbbell_ack *event)
{
    Flow *flow = static_cast<Flow *>(state);
    flow->clock.now_ns = event->now_ns;
    flow->in_flight = event->in_flight_bytes;
    bool has_rtt = event->rtt_ns != DUMBBELL_NONE &&
                   flow->rtt.UpdateRtt(duration(event->rtt_ns), duration(event->ack_delay_ns), moment(event->now_ns));
    quic::AckedPacketVector acked;
    for (size_t i = 0; i < event->packet_count; i++)
        acked.push_back({number(event->packets[i]), length(event->packets[i])});
    const quic::LostPacketVector lost = losses(event->lost, event->lost_count);
    /* The first report counts the SYN, too. */
    const uint64_t marked = std::min<uint64_t>(flow->marked, acked.size());
    flow->marked = 0;
    if (!acked.empty() || !lost.empty())
        flow->controller.OnCongestionEvent(has_rtt, event->in_flight_before_bytes, moment(event->now_ns), acked, lost,
                                           acked.size() - marked, marked);
}

void on_loss(void *state, const dumbbell_loss *event)
{
    Flow *flow = static_cast<Flow *>(state);
    flow->clock.now_ns = event->now_ns;
    flow->in_flight = event->in_flight_bytes;
    flow->controller.OnCongestionEvent(false, event->in_flight_before_bytes, moment(event->now_ns), {},
                                       losses(event->packets, event->packet_count), 0, 0);
}

void on_timeout(void *state, const dumbbell_timeout *)
{
    Flow *flow = static_cast<Flow *>(state);
    flow->in_flight = 0;
    flow->controller.OnRetransmissionTimeout(true);
}

// `CanSend` lets a packet leave while less than the window is in flight, so that the last one may exceed it.
void control(const void *state, dumbbell_control *control)
{
    Flow *flow = static_cast<Flow *>(const_cast<void *>(state));
    quic::PragueSender &controller = flow->controller;
    uint64_t most = controller.GetCongestionWindow() + flow->mss - 1;
    if (controller.InRecovery())
        most = controller.CanSend(flow->in_flight) ? flow->in_flight + flow->mss : flow->in_flight;
    control->window_bytes = static_cast<double>(std::max<uint64_t>(most, 1));
    control->pacing_bps = std::clamp(static_cast<double>(controller.PacingRate(flow->in_flight).ToBitsPerSecond()), 1.0, 1e12);
}

const dumbbell_field field_list[] = {{"cwnd", "packets"}, {"ssthresh", "packets"}};

void fields(const void *state, double *values)
{
    const quic::PragueSender &controller = static_cast<const Flow *>(state)->controller;
    values[0] = static_cast<double>(controller.GetCongestionWindow()) / quic::kDefaultTCPMSS;
    values[1] = static_cast<double>(controller.GetSlowStartThreshold()) / quic::kDefaultTCPMSS;
}

const dumbbell_parameter parameters[] = {
    {"connections", nullptr, "Connections whose aggressiveness one flow has.", DUMBBELL_INTEGER,
     quic::kDefaultNumConnections, 1, 100, nullptr},
};

dumbbell_controller describe()
{
    dumbbell_controller controller = {};
    controller.name = "original";
    controller.summary = "Prague of Chromium, its own code";
    controller.parameters = parameters;
    controller.parameter_count = sizeof parameters / sizeof parameters[0];
    controller.field_list = field_list;
    controller.field_count = sizeof field_list / sizeof field_list[0];
    controller.create = create;
    controller.destroy = destroy;
    controller.on_ack = on_ack;
    controller.control = control;
    controller.fields = fields;
    controller.on_loss = on_loss;
    controller.on_timeout = on_timeout;
    controller.on_ecn = on_ecn;
    controller.on_sent = on_sent;
    controller.on_established = on_established;
    controller.losses_with_ack = true;
    return controller;
}

const dumbbell_controller prague = describe();

} // namespace

DUMBBELL_PLUGIN(&prague)
