// Stands in for mvfst's packet in flight: Copa logs its number.
#pragma once
#include <quic/codec/Types.h>
namespace quic {
struct OutstandingPacketWrapper {
    struct {
        struct {
            PacketNum number = 0;
            PacketNum getPacketSequenceNum() const { return number; }
        } header;
    } packet;
};
} // namespace quic
