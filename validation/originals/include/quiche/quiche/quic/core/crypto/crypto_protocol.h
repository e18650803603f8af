// Stands in for the tags that quiche's CUBIC knows; no peer sends them here.
#pragma once
#include "quiche/quic/core/quic_tag.h"
namespace quic {
inline constexpr QuicTag kMIN4 = 1, kSSLR = 2, kNPRR = 3;
} // namespace quic
