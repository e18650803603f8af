// ccperf's experiment "steady state, single flow" in ns-3: one NewReno flow over a dumbbell, with flow and link
// metrics recorded, as the side-by-side peer of dumbbell's simulator. Configuration after docs/develop/speed.md.
//
// Prints one JSON object: simulated metrics, and the wall time of Simulator::Run alone.

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

#include <chrono>
#include <iostream>

using namespace ns3;

namespace {

struct Integral {
    double value = 0, sum = 0, since = 0;
    void Set(double next) {
        double now = Simulator::Now().GetSeconds();
        sum += value * (now - since);
        since = now;
        value = next;
    }
};

Integral cwnd, srtt, queueLength;
uint64_t drops = 0;

void CwndChanged(uint32_t, uint32_t bytes) { cwnd.Set(bytes / 1448.0); }
void RttChanged(Time, Time rtt) { srtt.Set(rtt.GetSeconds() * 1e3); }
void QueueChanged(uint32_t, uint32_t packets) { queueLength.Set(packets); }
void Dropped(Ptr<const QueueDiscItem>) { ++drops; }

} // namespace

int main(int argc, char *argv[]) {
    double stop = 15.0;
    CommandLine cmd(__FILE__);
    cmd.AddValue("stop", "simulated seconds", stop);
    cmd.Parse(argc, argv);

    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(TcpNewReno::GetTypeId()));
    Config::SetDefault("ns3::TcpL4Protocol::RecoveryType", TypeIdValue(TcpPrrRecovery::GetTypeId()));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(1448));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(1));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(10));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(4000000));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(4000000));

    NodeContainer nodes;
    nodes.Create(4); // source, gateway, gateway, destination
    InternetStackHelper stack;
    stack.Install(nodes);

    PointToPointHelper access, bottleneck;
    access.SetDeviceAttribute("DataRate", StringValue("10Gbps"));
    access.SetChannelAttribute("Delay", StringValue("0ms"));
    bottleneck.SetDeviceAttribute("DataRate", StringValue("100.42Mbps"));
    bottleneck.SetChannelAttribute("Delay", StringValue("27ms"));
    bottleneck.SetQueue("ns3::DropTailQueue<Packet>", "MaxSize", StringValue("1p"));

    NetDeviceContainer left = access.Install(nodes.Get(0), nodes.Get(1));
    NetDeviceContainer middle = bottleneck.Install(nodes.Get(1), nodes.Get(2));
    NetDeviceContainer right = access.Install(nodes.Get(2), nodes.Get(3));

    TrafficControlHelper fifo;
    fifo.SetRootQueueDisc("ns3::FifoQueueDisc", "MaxSize", StringValue("173p"));
    QueueDiscContainer disciplines = fifo.Install(middle);
    disciplines.Get(0)->TraceConnectWithoutContext("Drop", MakeCallback(&Dropped));
    disciplines.Get(0)->TraceConnectWithoutContext("PacketsInQueue", MakeCallback(&QueueChanged));

    Ipv4AddressHelper address("10.0.0.0", "255.255.255.0");
    address.Assign(left);
    address.NewNetwork();
    address.Assign(middle);
    address.NewNetwork();
    Ipv4InterfaceContainer last = address.Assign(right);
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();

    PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), 5000));
    ApplicationContainer sinks = sink.Install(nodes.Get(3));
    BulkSendHelper source("ns3::TcpSocketFactory", InetSocketAddress(last.GetAddress(1), 5000));
    source.SetAttribute("MaxBytes", UintegerValue(0));
    source.SetAttribute("SendSize", UintegerValue(1448));
    ApplicationContainer sources = source.Install(nodes.Get(0));
    sources.Start(Seconds(0));
    Simulator::Schedule(MilliSeconds(1), [] {
        Config::ConnectWithoutContext("/NodeList/0/$ns3::TcpL4Protocol/SocketList/*/CongestionWindow",
                                      MakeCallback(&CwndChanged));
        Config::ConnectWithoutContext("/NodeList/0/$ns3::TcpL4Protocol/SocketList/*/RTT", MakeCallback(&RttChanged));
    });

    Simulator::Stop(Seconds(stop));
    auto begin = std::chrono::steady_clock::now();
    Simulator::Run();
    double wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    cwnd.Set(0);
    srtt.Set(0);
    queueLength.Set(0);
    double received = DynamicCast<PacketSink>(sinks.Get(0))->GetTotalRx();
    std::cout << "{\"wall_s\": " << wall << ", \"throughput_mbps\": " << received * 8 / stop / 1e6
              << ", \"mean_cwnd_segments\": " << cwnd.sum / stop << ", \"mean_srtt_ms\": " << srtt.sum / stop
              << ", \"mean_queue_packets\": " << queueLength.sum / stop << ", \"drops\": " << drops << "}\n";
    Simulator::Destroy();
    return 0;
}
