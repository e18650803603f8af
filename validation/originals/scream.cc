// SCReAM version 2 of its authors (EricssonResearch/scream@c8f84c3, code) as a plug-in, with the arguments that
// `scream_sender.cpp` passes: one stream, L4S, a delay target of 60 ms.
//
// The wrapper shows the program the transport's queue of frames as an RTP queue, and reports arrivals as RFC 8888 carries
// them: in 1/1024 s before the time of the report. Two things are easily done wrong, and a test holds both:
// - RTP timestamps begin near 0 with each flow, as those of `scream_sender.cpp` do: the program keeps the newest one that was
//   acknowledged, beginning at 0, and takes no step of more than 50000 ticks (`markAcked`). With timestamps that begin
//   elsewhere, for example at the start of the run, packets never count as late (`detectLoss`).
// - The CE bits of each packet are reported, or marks do nothing.
//
// What differs: the program empties its queue when a packet has waited for 200 ms, the transport's stays (`clear`); the program
// asks for a key frame after a loss, and skips a frame (`getTargetBitrate` < 0), here the encoder goes on.

#include <dumbbell.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <iostream>
#include <memory>
#include <mutex>

#define private public // the interval between two packets and what is in flight are not told otherwise
#include "RtpQueue.h"
#include "ScreamTx.h"
#undef private

namespace {

const uint32_t SSRC = 1;
const int RTP_BYTES = 12;
const uint8_t ECT1 = 1, CE = 3;
const double TICKS = 90000.0;
const uint64_t POLL_NS = 10000000;
/* scream_sender.cpp begins its clock a millisecond before it starts. */
const uint64_t LEAD_NS = 1000000;

struct Waiting {
    int bytes;
    uint16_t number;
    bool is_last;
    float written_s;
    uint32_t timestamp;
};

struct Queue : RtpQueueIface {
    std::deque<Waiting> waiting;
    int last_frame_bytes = 0;

    int clear() override { return 0; }
    int sizeOfNextRtp() override { return waiting.empty() ? -1 : waiting.front().bytes; }
    int seqNrOfNextRtp() override { return waiting.empty() ? -1 : waiting.front().number; }
    int seqNrOfLastRtp() override { return waiting.empty() ? -1 : waiting.back().number; }
    int sizeOfQueue() override { return static_cast<int>(waiting.size()); }
    float getDelay(float now_s) override { return waiting.empty() ? 0.0f : now_s - waiting.front().written_s; }
    int getSizeOfLastFrame() override { return last_frame_bytes; }
    int bytesInQueue() override
    {
        int bytes = 0;
        for (const Waiting &each : waiting)
            bytes += each.bytes;
        return bytes;
    }
};

struct Flow {
    Queue queue;
    std::unique_ptr<ScreamV2Tx> controller;
    uint64_t began_ns;
    uint64_t now_ns;
    uint16_t next_number = 0;
    int mss;
    double target_bps;
    double in_flight = 0;
    bool is_blocked = false;

    /* Time as the middle 32 bits of an NTP timestamp. */
    uint32_t ntp(uint64_t ns) const
    {
        return static_cast<uint32_t>(static_cast<uint64_t>(static_cast<double>(ns - began_ns + LEAD_NS) / 1e9 * 65536.0));
    }

    /* What the loop of the program asks over and over. */
    void poll()
    {
        uint32_t ssrc = SSRC;
        is_blocked = controller->isOkToTransmit(ntp(now_ns), ssrc) < 0.0f && !queue.waiting.empty();
        float target = controller->getTargetBitrate(ntp(now_ns), SSRC);
        if (target > 0.0f)
            target_bps = target;
    }
};

void *create(const dumbbell_controller *, const dumbbell_start *start, const dumbbell_value *values, const char **)
{
    Flow *flow = new Flow;
    float least = static_cast<float>(values[0].number * 1e6), first = static_cast<float>(values[1].number * 1e6);
    float most = static_cast<float>(values[2].number * 1e6);
    flow->began_ns = flow->now_ns = start->now_ns;
    flow->mss = static_cast<int>(start->mss_bytes);
    flow->target_bps = first;
    int window = static_cast<int>(first / 1000.0f * 100.0f / 8.0f);
    flow->controller = std::make_unique<ScreamV2Tx>(0.7f, 0.7f, 0.06f, window, 1.5f, 1.5f, 2.0f, 0.05f, true, 5.0f, false, false);
    flow->controller->setCwndMinLow((flow->mss + RTP_BYTES) * 2);
    flow->controller->enableRelaxedPacing(false);
    flow->controller->setReorderTime(0.03f);
    flow->controller->registerNewStream(&flow->queue, SSRC, 1.0f, least, first, most, 0.2f, false, 0.0f);
    return flow;
}

void destroy(void *state) { delete static_cast<Flow *>(state); }

void on_frame(void *state, const dumbbell_frame *event)
{
    Flow *flow = static_cast<Flow *>(state);
    flow->now_ns = event->now_ns;
    uint32_t now = flow->ntp(event->now_ns);
    uint32_t timestamp = static_cast<uint32_t>(now / 65536.0 * TICKS);
    flow->queue.last_frame_bytes = static_cast<int>(event->bytes);
    for (int left = static_cast<int>(event->bytes); left > 0;) {
        int bytes = std::min(left, flow->mss);
        left -= bytes;
        flow->queue.waiting.push_back({bytes + RTP_BYTES, flow->next_number++, left == 0, now / 65536.0f, timestamp});
        flow->controller->newMediaFrame(now, SSRC, bytes + RTP_BYTES, left == 0);
    }
    flow->poll();
}

void on_sent(void *state, const dumbbell_sent *event)
{
    Flow *flow = static_cast<Flow *>(state);
    flow->now_ns = event->now_ns;
    flow->in_flight = static_cast<double>(event->in_flight_bytes);
    if (flow->queue.waiting.empty())
        return;
    uint32_t now = flow->ntp(event->now_ns), ssrc = SSRC;
    flow->controller->isOkToTransmit(now, ssrc);
    float waited_s = flow->queue.getDelay(now / 65536.0f);
    Waiting packet = flow->queue.waiting.front();
    flow->queue.waiting.pop_front();
    flow->controller->addTransmitted(now, SSRC, packet.bytes, static_cast<uint16_t>(event->number), packet.is_last, waited_s,
                                     packet.timestamp);
    flow->poll();
}

void on_ack(void *state, const dumbbell_ack *event)
{
    Flow *flow = static_cast<Flow *>(state);
    flow->now_ns = event->now_ns;
    flow->in_flight = static_cast<double>(event->in_flight_bytes);
    const dumbbell_packet &newest = event->packets[event->packet_count - 1];
    /* The receiver's clock is one of its own, and begins before the flow. */
    auto receiver_ntp = [](uint64_t ns) { return static_cast<uint32_t>(static_cast<uint64_t>(ns / 1e9 * 65536.0)); };
    uint32_t reported = receiver_ntp(newest.received_at_ns + event->ack_delay_ns);
    for (size_t i = 0; i < event->packet_count; i++) {
        const dumbbell_packet &packet = event->packets[i];
        uint32_t age = (reported - receiver_ntp(packet.received_at_ns)) >> 6;
        bool is_last = i + 1 == event->packet_count;
        flow->controller->incomingStandardizedFeedback(flow->ntp(event->now_ns), 0, reported - (std::min(age, 0x1FFFu) << 6),
                                                       static_cast<uint16_t>(packet.number), packet.ce ? CE : ECT1, is_last);
    }
    flow->poll();
}

void on_loss(void *state, const dumbbell_loss *event)
{
    static_cast<Flow *>(state)->in_flight = static_cast<double>(event->in_flight_bytes);
}

void on_timeout(void *state, const dumbbell_timeout *) { static_cast<Flow *>(state)->in_flight = 0; }

void on_wake(void *state, uint64_t now_ns)
{
    Flow *flow = static_cast<Flow *>(state);
    flow->now_ns = now_ns;
    flow->poll();
}

void control(const void *state, dumbbell_control *control)
{
    const Flow *flow = static_cast<const Flow *>(state);
    /* The program's window is of its own count of what is in flight: it says whether the next packet may leave. */
    double window = flow->is_blocked ? flow->in_flight : flow->in_flight + 2.0 * flow->mss;
    control->window_bytes = std::max(1.0, window);
    float interval_s = flow->controller->paceInterval;
    if (interval_s > 0.0f)
        control->pacing_bps = std::min(1e12, flow->mss * 8.0 / static_cast<double>(interval_s));
    control->media_bps = std::max(1.0, flow->target_bps);
    control->wake_at_ns = flow->now_ns + POLL_NS;
}

const dumbbell_field field_list[] = {{"ref_wnd", "bytes"}, {"qdelay", "ms"}, {"qdelay_avg", "ms"}, {"jitter_scale", ""},
                                     {"loss_share", ""}, {"l4s_alpha", ""}, {"target_rate", "Mbit/s"}};

void fields(const void *state, double *values)
{
    const Flow *flow = static_cast<const Flow *>(state);
    values[0] = flow->controller->cwnd;
    values[1] = flow->controller->queueDelay * 1e3;
    values[2] = flow->controller->queueDelayAvg * 1e3;
    values[3] = flow->controller->latencyDiffCwndScale;
    values[4] = flow->controller->lossRate;
    values[5] = flow->controller->l4sAlpha;
    values[6] = flow->target_bps / 1e6;
}

const dumbbell_parameter parameters[] = {
    {"min_rate_mbps", "Mbit/s", "Lowest target bitrate.", DUMBBELL_NUMBER, 0.064, 0.001, 1e5, nullptr},
    {"start_rate_mbps", "Mbit/s", "Target bitrate before feedback.", DUMBBELL_NUMBER, 1.0, 0.001, 1e5, nullptr},
    {"max_rate_mbps", "Mbit/s", "Highest target bitrate.", DUMBBELL_NUMBER, 100.0, 0.001, 1e5, nullptr},
};

dumbbell_controller describe()
{
    dumbbell_controller controller = {};
    controller.name = "original";
    controller.summary = "SCReAM version 2 of its authors, their own code";
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
    controller.on_sent = on_sent;
    controller.on_frame = on_frame;
    controller.on_wake = on_wake;
    return controller;
}

const dumbbell_controller scream = describe();

} // namespace

DUMBBELL_PLUGIN(&scream)
