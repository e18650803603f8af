// Stands in for mvfst's event of an ACK: what Copa reads of it.
#pragma once
#include <quic/congestion_control/CongestionController.h>
#include <vector>
namespace quic {
struct AckEvent {
    TimePoint ackTime;
    uint64_t ackedBytes = 0;
    Optional<PacketNum> largestNewlyAckedPacket;
    std::vector<PacketNum> ackedPackets;
};
} // namespace quic
