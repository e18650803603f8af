// An agent behind a bridge in ns-3: a TCP flow on 12 Mbit/s whose window somebody outside sets every 10 ms, as the peer of
// dumbbell_gym in bench/gym.py. Each step is a line: out "time acknowledged_bytes rtt_ms window_packets", in the
// window's factor.

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

using namespace ns3;

namespace {

double window = 60;
double rttMs = 0;
uint64_t acked = 0;

class Outside : public TcpNewReno {
  public:
    static TypeId GetTypeId() {
        static TypeId id = TypeId("Outside").SetParent<TcpNewReno>().AddConstructor<Outside>();
        return id;
    }
    std::string GetName() const override { return "Outside"; }
    void IncreaseWindow(Ptr<TcpSocketState> state, uint32_t) override { Set(state); }
    void PktsAcked(Ptr<TcpSocketState> state, uint32_t segments, const Time &rtt) override {
        acked += segments * state->m_segmentSize;
        rttMs = rtt.GetSeconds() * 1e3;
        Set(state);
    }
    uint32_t GetSsThresh(Ptr<const TcpSocketState> state, uint32_t) override { return state->m_cWnd; }
    Ptr<TcpCongestionOps> Fork() override { return CopyObject<Outside>(this); }

  private:
    static void Set(Ptr<TcpSocketState> state) { state->m_cWnd = uint32_t(window * state->m_segmentSize); }
};

void Step() {
    std::printf("%.3f %llu %.3f %.2f\n", Simulator::Now().GetSeconds(), (unsigned long long)acked, rttMs, window);
    std::fflush(stdout);
    acked = 0;
    char line[64];
    if (!std::fgets(line, sizeof line, stdin)) {
        Simulator::Stop();
        return;
    }
    window = std::clamp(window * std::atof(line), 2.0, 10000.0);
    Simulator::Schedule(MilliSeconds(10), &Step);
}

} // namespace

int main() {
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(Outside::GetTypeId()));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(1448));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(1));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(4000000));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(4000000));
    NodeContainer nodes;
    nodes.Create(2);
    InternetStackHelper stack;
    stack.Install(nodes);
    PointToPointHelper link;
    link.SetDeviceAttribute("DataRate", StringValue("12Mbps"));
    link.SetChannelAttribute("Delay", StringValue("30ms"));
    link.SetQueue("ns3::DropTailQueue<Packet>", "MaxSize", StringValue("1p"));
    NetDeviceContainer devices = link.Install(nodes);
    TrafficControlHelper fifo;
    fifo.SetRootQueueDisc("ns3::FifoQueueDisc", "MaxSize", StringValue("60p"));
    fifo.Install(devices);
    Ipv4AddressHelper address("10.0.0.0", "255.255.255.0");
    Ipv4InterfaceContainer ends = address.Assign(devices);
    PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), 5000));
    sink.Install(nodes.Get(1));
    BulkSendHelper source("ns3::TcpSocketFactory", InetSocketAddress(ends.GetAddress(1), 5000));
    source.SetAttribute("MaxBytes", UintegerValue(0));
    source.SetAttribute("SendSize", UintegerValue(1448));
    source.Install(nodes.Get(0)).Start(Seconds(0));
    Simulator::Schedule(MilliSeconds(10), &Step);
    Simulator::Run();
    Simulator::Destroy();
    return 0;
}
