// Stands in for folly's clocks, which mvfst's constants name and its Copa does not read; <algorithm> came with them.
#pragma once
#include <algorithm>
#include <chrono>
namespace folly::chrono {
using SteadyClock = std::chrono::steady_clock;
using SystemClock = std::chrono::system_clock;
} // namespace folly::chrono
