// ccperf's experiment "steady state, single flow" in htsim: one TCP flow over a dumbbell, without metrics, as the
// side-by-side peer of dumbbell's simulator. htsim is https://github.com/Broadcom/csg-htsim.
//
// Prints one JSON object: data packets sent, bytes acknowledged, and the wall time of the event loop alone.

#include "eventlist.h"
#include "network.h"
#include "pipe.h"
#include "queue.h"
#include "tcp.h"

#include <chrono>
#include <cstdio>

int main() {
    const double stop_s = 15.0;
    EventList &events = EventList::getTheEventList();
    events.setEndtime(timeFromSec(stop_s));
    Packet::set_packet_size(1500);

    const linkspeed_bps rate = speedFromMbps(100.42);
    Queue data_queue(rate, memFromPkt(173), events, nullptr), ack_queue(rate, memFromPkt(1000000), events, nullptr);
    Pipe data_pipe(timeFromMs(27), events), ack_pipe(timeFromMs(27), events);

    TcpSrc source(nullptr, nullptr, events);
    TcpSink sink;
    TcpRtxTimerScanner timers(timeFromMs(10), events);
    timers.registerTcp(source);
    source.set_ssthresh(0xffffffff);

    route_t there, back;
    for (PacketSink *hop : {(PacketSink *)&data_queue, (PacketSink *)&data_pipe, (PacketSink *)&sink})
        there.push_back(hop);
    for (PacketSink *hop : {(PacketSink *)&ack_queue, (PacketSink *)&ack_pipe, (PacketSink *)&source})
        back.push_back(hop);
    source.connect(there, back, sink, 0);

    const auto start = std::chrono::steady_clock::now();
    while (events.doNextEvent()) {
    }
    const double wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    std::printf("{\"packets_sent\": %llu, \"bytes_acked\": %llu, \"loop_wall_s\": %.6f}\n",
                (unsigned long long)source._packets_sent, (unsigned long long)source._last_acked, wall_s);
}
