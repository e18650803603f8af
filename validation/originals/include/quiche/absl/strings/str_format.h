// Stands in for abseil's function: quiche names it, and its Prague writes nothing with it.
#pragma once
namespace absl {
template <class... Values>
void Format(const Values &...)
{
}
} // namespace absl
