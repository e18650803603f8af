// Stands in for quiche's random numbers, of which its Prague draws none.
#pragma once
namespace quic {
class QuicRandom;
} // namespace quic
