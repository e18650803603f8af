// Stands in for quiche's counters: those that its Prague counts.
#pragma once
#include "quiche/quic/core/quic_types.h"
namespace quic {
struct QuicConnectionStats {
    QuicPacketCount slowstart_packets_sent = 0, slowstart_packets_lost = 0;
    QuicByteCount slowstart_bytes_lost = 0;
    uint32_t tcp_loss_events = 0;
};
} // namespace quic
