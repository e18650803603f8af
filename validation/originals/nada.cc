// NADA of its authors (cisco/ns3-rmcat@adb3f8e, model/congestion-control) as a plug-in: a report of the transport is one batch
// of feedback. The encoder and the pacer get the rate that `getBandwidth` returns, as the program's ns-3 application has it.

#include <dumbbell.h>

#include <vector>

#include "nada-controller.h"

namespace {

const uint8_t NOT_MARKED = 0, CE = 3;

struct Flow {
    rmcat::NadaController controller;
};

void *create(const dumbbell_controller *, const dumbbell_start *, const dumbbell_value *values, const char **)
{
    Flow *flow = new Flow;
    float least = static_cast<float>(values[0].number * 1e6), most = static_cast<float>(values[1].number * 1e6);
    flow->controller.reset(); // which also restores the limits, so that they come after it
    flow->controller.setMinBw(least);
    flow->controller.setInitBw(least);
    flow->controller.setMaxBw(most);
    flow->controller.setCurrentBw(least);
    return flow;
}

void destroy(void *state) { delete static_cast<Flow *>(state); }

void on_sent(void *state, const dumbbell_sent *event)
{
    static_cast<Flow *>(state)->controller.processSendPacket(event->now_ns / 1000, static_cast<uint16_t>(event->number),
                                                             event->bytes);
}

void on_ack(void *state, const dumbbell_ack *event)
{
    std::vector<rmcat::SenderBasedController::FeedbackItem> batch;
    for (size_t i = 0; i < event->packet_count; i++) {
        const dumbbell_packet &packet = event->packets[i];
        batch.push_back({static_cast<uint16_t>(packet.number), packet.received_at_ns / 1000, packet.ce ? CE : NOT_MARKED});
    }
    static_cast<Flow *>(state)->controller.processFeedbackBatch(event->now_ns / 1000, batch);
}

void control(const void *state, dumbbell_control *control)
{
    double rate = static_cast<const Flow *>(state)->controller.getBandwidth(0);
    control->window_bytes = DUMBBELL_UNLIMITED;
    control->pacing_bps = rate;
    control->media_bps = rate;
}

const dumbbell_parameter parameters[] = {
    {"min_rate_mbps", "Mbit/s", "Lowest and first rate.", DUMBBELL_NUMBER, 0.15, 0.001, 1e5, nullptr},
    {"max_rate_mbps", "Mbit/s", "Highest rate.", DUMBBELL_NUMBER, 1.5, 0.001, 1e5, nullptr},
};

dumbbell_controller describe()
{
    dumbbell_controller controller = {};
    controller.name = "original";
    controller.summary = "NADA of its authors, their own code";
    controller.parameters = parameters;
    controller.parameter_count = sizeof parameters / sizeof parameters[0];
    controller.create = create;
    controller.destroy = destroy;
    controller.on_ack = on_ack;
    controller.control = control;
    controller.on_sent = on_sent;
    return controller;
}

const dumbbell_controller nada = describe();

} // namespace

DUMBBELL_PLUGIN(&nada)
