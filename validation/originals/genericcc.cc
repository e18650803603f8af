// Copa of genericCC (venkatarun95/genericCC@d0153f8) as a plug-in: `MarkovianCC` is called as the loop of `ctcp.hh` calls it.
//
// What the loop of `ctcp.hh` does between two calls is dumbbell's transport: the profile of the scheme `copa-gcc2018` has the
// window that counts from the newest acknowledged packet, and pacing that begins anew when the window opens.
//
// The program waits for one interval before its first packet, too (`ctcp.hh:217`); here the first packet leaves at once.

#include <dumbbell.h>

#include <algorithm>
#include <cstdlib>
#include <new>

#include "markoviancc.hh"

// The loop over unacknowledged packets erases the entry that it stands on, and goes on from it (`markoviancc.cc:247`). With
// jemalloc, which the program is linked with, freed memory keeps what it held; glibc overwrites it. Freed memory is kept for
// a while here.
void operator delete(void *memory) noexcept
{
    static thread_local void *kept[256];
    static thread_local size_t next;
    std::free(kept[next]);
    kept[next] = memory;
    next = (next + 1) % 256;
}

void operator delete(void *memory, size_t) noexcept { operator delete(memory); }

namespace {

double milliseconds(uint64_t ns) { return static_cast<double>(ns) / 1e6; }

struct Flow {
    MarkovianCC controller{1.0};
    double mss;
    /* The program's clock begins when the connection is set up. */
    uint64_t began_ns;

    double now(uint64_t ns) const { return milliseconds(ns - began_ns); }

    void begin(uint64_t ns)
    {
        controller.set_timestamp(now(ns));
        controller.init();
    }
};

void *create(const dumbbell_controller *, const dumbbell_start *start, const dumbbell_value *, const char **)
{
    Flow *flow = new Flow;
    flow->mss = start->mss_bytes;
    flow->began_ns = start->now_ns;
    flow->controller.interpret_config_str("do_ss:auto:0.5");
    flow->begin(start->now_ns);
    return flow;
}

void destroy(void *state) { delete static_cast<Flow *>(state); }

void on_established(void *state, uint64_t now_ns, uint64_t rtt_ns)
{
    Flow *flow = static_cast<Flow *>(state);
    flow->began_ns = now_ns;
    flow->controller.set_min_rtt(milliseconds(rtt_ns));
    flow->begin(now_ns);
}

void on_sent(void *state, const dumbbell_sent *event)
{
    Flow *flow = static_cast<Flow *>(state);
    flow->controller.set_timestamp(flow->now(event->now_ns));
    flow->controller.onPktSent(static_cast<int>(event->number));
}

void on_ack(void *state, const dumbbell_ack *event)
{
    Flow *flow = static_cast<Flow *>(state);
    for (size_t i = 0; i < event->packet_count; i++) {
        const dumbbell_packet &packet = event->packets[i];
        flow->controller.set_timestamp(flow->now(event->now_ns));
        flow->controller.onACK(static_cast<int>(packet.number) + 1, milliseconds(packet.received_at_ns),
                               flow->now(packet.sent_at_ns));
    }
}

void on_timeout(void *state, const dumbbell_timeout *event) { static_cast<Flow *>(state)->begin(event->now_ns); }

void control(const void *state, dumbbell_control *control)
{
    Flow *flow = static_cast<Flow *>(const_cast<void *>(state));
    /* 80b516c: when the window times delta overflows an int, the window runs away */
    control->window_bytes = std::clamp(flow->controller.get_the_window() * flow->mss, flow->mss, 4294967296.0);
    double interval_ms = flow->controller.get_intersend_time();
    if (interval_ms > 0)
        control->pacing_bps = std::min(1e12, flow->mss * 8e3 / interval_ms);
}

dumbbell_controller describe()
{
    dumbbell_controller controller = {};
    controller.name = "original";
    controller.summary = "Copa of genericCC, its own code";
    controller.create = create;
    controller.destroy = destroy;
    controller.on_ack = on_ack;
    controller.control = control;
    controller.on_timeout = on_timeout;
    controller.on_sent = on_sent;
    controller.on_established = on_established;
    return controller;
}

const dumbbell_controller copa = describe();

} // namespace

DUMBBELL_PLUGIN(&copa)
