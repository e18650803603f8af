// Stands in for abseil's durations: quiche's times can be made of them, and its Prague makes none.
#pragma once
#include <cstdint>
#include <limits>
namespace absl {
struct Duration {
    int64_t us;
    constexpr bool operator==(const Duration &) const = default;
};
constexpr Duration InfiniteDuration() { return {std::numeric_limits<int64_t>::max()}; }
constexpr Duration Microseconds(int64_t us) { return {us}; }
constexpr int64_t ToInt64Microseconds(Duration duration) { return duration.us; }
} // namespace absl
