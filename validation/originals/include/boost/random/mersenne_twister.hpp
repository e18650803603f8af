// Stands in for Boost's header: genericCC names this type, and its Copa draws nothing from it.
#pragma once
#include <random>
namespace boost {
namespace random {
using mt19937 = std::mt19937;
}
} // namespace boost
