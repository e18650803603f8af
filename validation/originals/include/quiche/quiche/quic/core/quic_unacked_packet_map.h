// Stands in for quiche's packets in flight, which its Prague does not look at.
#pragma once
namespace quic {
class QuicUnackedPacketMap;
} // namespace quic
