// Copa of mvfst (facebook/mvfst@979f26a, quic/congestion_control/Copa.cpp) as a plug-in.
//
// The calls are those of mvfst's connection: a loss, then the ACK that revealed it. The latest RTT is that of the newest
// packet, without the receiver's delay taken off, as `updateRtt` has it; the smoothed one is the transport's. The pacing rate
// is the burst per interval of `calculatePacingRate`, in which mvfst counts whole packets. A packet counts as its payload.

#include <dumbbell.h>

#include <algorithm>
#include <memory>

#include <quic/congestion_control/CongestionControlFunctions.h>
#include <quic/congestion_control/Copa.h>

namespace {

quic::TimePoint moment(uint64_t ns) { return quic::TimePoint(std::chrono::nanoseconds(ns)); }

std::chrono::microseconds microseconds(uint64_t ns) { return std::chrono::microseconds(ns / 1000); }

// What mvfst's pacer would do with a new window.
struct Pacer : quic::Pacer {
    const quic::QuicConnectionStateBase &connection;
    quic::PacingRate rate;

    explicit Pacer(const quic::QuicConnectionStateBase &of) : connection(of) {}

    void refreshPacingRate(uint64_t window_bytes, std::chrono::microseconds rtt) override
    {
        rate = quic::calculatePacingRate(connection, window_bytes, connection.transportSettings.minCwndInMss, rtt);
    }

    void onPacketsLoss() override {}
};

struct Flow {
    quic::QuicConnectionStateBase connection;
    Pacer *pacer = nullptr;
    std::unique_ptr<quic::Copa> controller;
    bool bursts = false;
};

void *create(const dumbbell_controller *, const dumbbell_start *start, const dumbbell_value *values, const char **)
{
    Flow *flow = new Flow;
    quic::QuicConnectionStateBase &connection = flow->connection;
    connection.udpSendPacketLen = start->mss_bytes;
    connection.transportSettings.initCwndInMss = start->initial_window_bytes / start->mss_bytes;
    connection.transportSettings.copaDeltaParam = values[0].number;
    connection.transportSettings.copaUseRttStanding = values[1].number != 0;
    flow->bursts = values[2].number != 0;
    connection.pacer = std::make_unique<Pacer>(connection);
    flow->pacer = static_cast<Pacer *>(connection.pacer.get());
    flow->controller = std::make_unique<quic::Copa>(connection);
    return flow;
}

void destroy(void *state) { delete static_cast<Flow *>(state); }

void on_ack(void *state, const dumbbell_ack *event)
{
    Flow *flow = static_cast<Flow *>(state);
    auto &losses = flow->connection.lossState;
    losses.inflightBytes = event->in_flight_bytes;
    losses.srtt = microseconds(event->srtt_ns);
    losses.rttvar = microseconds(event->rttvar_ns);
    losses.mrtt = microseconds(event->min_rtt_ns);
    if (event->rtt_ns != DUMBBELL_NONE)
        losses.lrtt = microseconds(event->rtt_ns);
    quic::AckEvent ack;
    ack.ackTime = moment(event->now_ns);
    ack.ackedBytes = event->acked_bytes;
    for (size_t i = 0; i < event->packet_count; i++)
        ack.ackedPackets.push_back(event->packets[i].number);
    if (!ack.ackedPackets.empty())
        ack.largestNewlyAckedPacket = ack.ackedPackets.back();
    flow->controller->onPacketAckOrLoss(&ack, nullptr);
}

void on_loss(void *state, const dumbbell_loss *event)
{
    Flow *flow = static_cast<Flow *>(state);
    flow->connection.lossState.inflightBytes = event->in_flight_bytes;
    quic::LossEvent loss;
    loss.largestLostPacketNum = event->packets[event->packet_count - 1].number;
    loss.lostBytes = event->lost_bytes;
    loss.lostPackets = static_cast<uint32_t>(event->packet_count);
    flow->controller->onPacketAckOrLoss(nullptr, &loss);
}

// A retransmission timeout, which mvfst does not have, counts as persistent congestion.
void on_timeout(void *state, const dumbbell_timeout *event)
{
    Flow *flow = static_cast<Flow *>(state);
    flow->connection.lossState.inflightBytes = 0;
    quic::LossEvent loss;
    loss.largestLostPacketNum = event->next_number - 1;
    loss.lostBytes = event->in_flight_before_bytes;
    loss.persistentCongestion = true;
    flow->controller->onPacketAckOrLoss(nullptr, &loss);
}

void control(const void *state, dumbbell_control *control)
{
    const Flow *flow = static_cast<const Flow *>(state);
    const quic::PacingRate &rate = flow->pacer->rate;
    const uint64_t burst_bytes = rate.burstSize * flow->connection.udpSendPacketLen;
    control->window_bytes = static_cast<double>(flow->controller->getCongestionWindow());
    if (rate.interval.count() == 0)
        return;
    const double interval_us = static_cast<double>(rate.interval.count());
    control->pacing_bps = std::clamp(8e6 * static_cast<double>(burst_bytes) / interval_us, 1.0, 1e12);
    control->burst_bytes = flow->bursts ? burst_bytes : 0;
}

const dumbbell_parameter parameters[] = {
    {"delta", "1/packet", "copaDeltaParam.", DUMBBELL_NUMBER, 0.05, 0.001, 10, nullptr},
    {"use_rtt_standing", nullptr, "copaUseRttStanding.", DUMBBELL_FLAG, 0, 0, 1, nullptr},
    {"bursts", nullptr, "Packets leave in the bursts of mvfst's pacer.", DUMBBELL_FLAG, 0, 0, 1, nullptr},
};

dumbbell_controller describe()
{
    dumbbell_controller controller = {};
    controller.name = "original";
    controller.summary = "Copa of mvfst, its own code";
    controller.parameters = parameters;
    controller.parameter_count = sizeof parameters / sizeof parameters[0];
    controller.create = create;
    controller.destroy = destroy;
    controller.on_ack = on_ack;
    controller.control = control;
    controller.on_loss = on_loss;
    controller.on_timeout = on_timeout;
    return controller;
}

const dumbbell_controller copa = describe();

} // namespace

DUMBBELL_PLUGIN(&copa)
