// Stands in for abseil's function: quiche writes a packet's number with it.
#pragma once
#include <string>
namespace absl {
template <class... Values>
std::string StrCat(const Values &...values)
{
    return (std::to_string(values) + ...);
}
} // namespace absl
