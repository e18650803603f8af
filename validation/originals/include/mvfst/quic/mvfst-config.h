// Stands in for the header in which mvfst chooses its containers.
#pragma once
#include <chrono>
#include <optional>
#define FOLLY_NULLABLE
namespace quic {
template <class Value>
using Optional = std::optional<Value>;
using OptionalMicros = Optional<std::chrono::microseconds>;
} // namespace quic
