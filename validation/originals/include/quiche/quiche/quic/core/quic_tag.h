// Stands in for quiche's tags, by which a peer asks for experiments.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>
namespace quic {
using QuicTag = uint32_t;
using QuicTagVector = std::vector<QuicTag>;
inline bool ContainsQuicTag(const QuicTagVector &tags, QuicTag tag)
{
    return std::find(tags.begin(), tags.end(), tag) != tags.end();
}
} // namespace quic
