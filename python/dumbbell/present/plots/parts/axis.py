"""Axes of figures that end with their data, and are logarithmic for data of a wide range."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator, NullLocator

from dumbbell.present.plots.parts.sheet import sheet

_AIR = 0.03  # share of the axis, at each end
_LINEAR = 2.0  # ms; a logarithmic axis is linear below
_STEPS: tuple[tuple[float, ...], ...] = (
    (1.0,),
    (1.0, 2.0, 5.0),
    (1.0, 1.5, 2.0, 3.0, 5.0, 7.0),
    tuple(1.0 + step / 2 for step in range(18)),
    tuple(1.0 + step / 5 for step in range(45)),
    tuple(1.0 + step / 10 for step in range(90)),
)
_TINY = 1e-9  # smaller values have no place on a logarithmic axis
RATE = "Mbit/s"
_FAR = 0.6  # share of the largest value: an axis need not start from 0 if all values are larger
_LONG = 100.0  # ratio of the largest to the least value above which a linear axis would press most values to its foot
_FEWEST, _MOST, _MOST_NARROW = 4, 9, 6  # ticks
_CLOSE = 0.05
"""Part of an axis below which two ticks are too close."""
_WIDTH, _NARROW = 420.0, 320.0  # points, of a figure


@dataclass(frozen=True)
class DelayAxis:
    """An axis, mostly of delays in ms: its scale, and the least and the largest value on it."""

    logarithmic: bool
    low: float
    high: float
    linear_below: float = _LINEAR
    """Value up to which a logarithmic axis is linear; 0 if all values are above 0."""

    @property
    def limits(self) -> tuple[float, float]:
        """Ends of the axis: the values with a margin."""
        if not self.logarithmic:
            air = _AIR * (self.high - self.low) or max(0.05 * abs(self.high), 0.5)
            return (self.low - air, self.high + air)
        if self.low < self.linear_below:
            air = _AIR * (self.high - self.low)
            return (self.low - min(air, 1.0), self.high * 1.05 if self.high > 0 else self.high + min(air, 1.0))
        factor = max((self.high / self.low) ** _AIR, 1.01)
        return (self.low / factor, self.high * factor)

    def apply(self, axes: Axes, upwards: bool = False) -> None:
        """Set limits, scale and ticks of the x axis of a plot (the y axis if `upwards`)."""
        set_scale, set_limits = (axes.set_yscale, axes.set_ylim) if upwards else (axes.set_xscale, axes.set_xlim)
        axis = axes.yaxis if upwards else axes.xaxis
        low, high = self.limits
        if self.logarithmic:
            if low < self.linear_below:
                set_scale("symlog", base=2, linthresh=self.linear_below, linscale=0.5)
            else:
                set_scale("log")
            axis.set_major_locator(FixedLocator(ticks(low, high, self.linear_below)))
            axis.set_minor_locator(NullLocator())
        set_limits(low, high)
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.5g}"))


@dataclass(frozen=True)
class PlaneAxis:
    """An axis of a plane: its title with the unit, and its scale; a reversed axis has low values at its end."""

    title: str
    scale: DelayAxis
    is_reversed: bool = False
    with_zero: bool = False
    """True if the axis starts from 0, unless all values are far from 0."""

    @property
    def from_zero(self) -> bool:
        """True if the axis starts from 0."""
        low, high = self.scale.low, self.scale.high
        return self.with_zero and not self.scale.logarithmic and low >= 0.0 and (low < _FAR * high or low == high)

    @property
    def label(self) -> str:
        """Title and unit, and unusual properties of the axis."""
        unusual = ["decreasing"] if self.is_reversed else []
        if self.scale.logarithmic:
            unusual.append("logarithmic")
        elif self.with_zero and not self.from_zero:
            unusual.append("not from 0")
        return ", ".join([self.title, *unusual])

    def apply(self, axes: Axes, upwards: bool = False) -> None:
        """Set limits, scale, ticks and title of the x axis of a plot (the y axis if `upwards`)."""
        self.scale.apply(axes, upwards)
        axis = axes.yaxis if upwards else axes.xaxis
        axis.set_label_text(self.label)
        if self.from_zero:
            high = self.scale.high * (1 + _AIR) or 1.0
            if upwards:
                axes.set_ylim(0.0, high)
            else:
                axes.set_xlim(0.0, high)
        if self.is_reversed:
            axis.set_inverted(True)


def value_axis(title: str, values: Iterable[float], is_reversed: bool, linear: bool = False) -> PlaneAxis:
    """Return an axis for values that are no delays.

    An axis of rates is `linear`, since a logarithmic one would press good rates together.
    """
    numbers = list(values) or [0.0, 1.0]
    low, high = min(numbers), max(numbers)
    logarithmic = not linear and low > _TINY and high > _LONG * low
    return PlaneAxis(title, DelayAxis(logarithmic, low, high, 0.0), is_reversed, with_zero=True)


def metric_axis(title: str, values: Sequence[float], unit: str) -> PlaneAxis:
    """Return an axis for the values of one metric, low ones first."""
    if unit == "ms":
        return PlaneAxis(title, delay_axis(values))
    return value_axis(title, values, is_reversed=False, linear=unit == RATE)


def spans_widely(delays_ms: Iterable[float]) -> bool:
    """Return True if these delays need a logarithmic axis, by Pantheon's rule (its plot.py, `plot_throughput_delay`).

    The rule compares the powers of two around the delays (0 for anything below 2 ms, the mirror image for negative
    delays of clocks that disagree). These are more than a factor of four apart, or on both sides of zero.
    """
    delays = list(delays_ms)
    if not delays:
        return False
    low, high = _lower(min(delays)), _upper(max(delays))
    crosses_zero = low <= -2 and high >= 2
    from_zero = low == 0 and high >= 8
    wide = low >= 2 and high > 4 * low
    return crosses_zero or from_zero or wide


def delay_axis(delays_ms: Iterable[float], logarithmic: bool | None = None) -> DelayAxis:
    """Return the axis for these delays; if `logarithmic` is None, the delays decide."""
    delays = list(delays_ms)
    kind = spans_widely(delays) if logarithmic is None else logarithmic
    return DelayAxis(kind, min(delays), max(delays)) if delays else DelayAxis(kind, 0.0, 2.0)


def ticks(low: float, high: float, linear_below: float = _LINEAR) -> list[float]:
    """Return round values for a logarithmic axis with these ends: few, but enough to read values between them."""
    if low < linear_below:
        powers = [2.0**power for power in range(1, 40)]
        candidates = [
            value for value in (*(-power for power in reversed(powers)), 0.0, *powers) if low <= value <= high
        ]
        return _thin(candidates)
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for steps in _STEPS:
        candidates = [step * 10.0**decade for decade in decades for step in steps if low <= step * 10.0**decade <= high]
        if len(candidates) >= _FEWEST:
            return _thin(_apart(candidates, math.log(high / low)))
    return [float(value) for value in MaxNLocator(_FEWEST + 1).tick_values(low, high) if low <= value <= high]


def _apart(values: Sequence[float], length: float) -> list[float]:
    """Return the values without those so close to a neighbour that their texts would touch: the rounder one stays.

    `length` is that of the logarithmic axis, as a natural logarithm.
    """
    spaced_values: list[float] = []
    for value in values:
        if not spaced_values or math.log(value / spaced_values[-1]) >= _CLOSE * length:
            spaced_values.append(value)
        elif len(f"{value:.5g}".strip("0")) < len(f"{spaced_values[-1]:.5g}".strip("0")):
            spaced_values[-1] = value
    return spaced_values


def _thin(values: Sequence[float]) -> list[float]:
    max_ticks = _MOST if sheet().width(_WIDTH) > _NARROW else _MOST_NARROW
    return list(values[:: -(-len(values) // max_ticks)] if values else values)


def _lower(least: float) -> float:
    if least < 0:
        return -_upper(-least)
    return 0.0 if least < 2 else float(2 ** math.floor(math.log2(least)))


def _upper(largest: float) -> float:
    return 2.0 if largest < 2 else float(2 ** math.ceil(math.log2(largest)))
