// Stands in for mvfst's types of packets: their numbers.
#pragma once
#include <quic/QuicConstants.h>
#include <quic/common/Optional.h>
namespace quic {
using PacketNum = uint64_t;
enum class PacketNumberSpace : uint8_t { Initial, Handshake, AppData };
} // namespace quic
