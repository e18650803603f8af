// Stands in for mvfst's event of a loss: what Copa reads of it.
#pragma once
#include <quic/state/OutstandingPacket.h>
namespace quic {
struct LossEvent {
    Optional<PacketNum> largestLostPacketNum;
    uint64_t lostBytes = 0;
    uint32_t lostPackets = 0;
    bool persistentCongestion = false;
};
} // namespace quic
