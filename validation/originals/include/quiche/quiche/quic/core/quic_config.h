// Stands in for what the peer asked for: nothing.
#pragma once
#include "quiche/quic/core/quic_tag.h"
namespace quic {
struct QuicConfig {
    bool HasReceivedConnectionOptions() const { return false; }
    QuicTagVector ReceivedConnectionOptions() const { return {}; }
};
} // namespace quic
