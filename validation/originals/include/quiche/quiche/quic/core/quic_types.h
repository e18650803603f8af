// Stands in for quiche's types: those that its Prague uses.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_format.h"
#include "quiche/quic/core/quic_packet_number.h"
#include "quiche/quic/core/quic_time.h"
#include "quiche/common/platform/api/quiche_export.h"

namespace quic {

using QuicByteCount = uint64_t;
using QuicPacketCount = uint64_t;
using QuicPacketLength = uint16_t;
using QuicStreamId = uint32_t;
using QuicStreamCount = uint32_t;
using QuicControlFrameId = uint32_t;

enum class Perspective { IS_SERVER, IS_CLIENT };
enum HasRetransmittableData { NO_RETRANSMITTABLE_DATA, HAS_RETRANSMITTABLE_DATA };
enum CongestionControlType { kCubicBytes, kRenoBytes, kPragueCubic };

struct AckedPacket {
    QuicPacketNumber packet_number;
    QuicPacketLength bytes_acked;
};

struct LostPacket {
    QuicPacketNumber packet_number;
    QuicPacketLength bytes_lost;
};

using AckedPacketVector = std::vector<AckedPacket>;
using LostPacketVector = std::vector<LostPacket>;

} // namespace quic
