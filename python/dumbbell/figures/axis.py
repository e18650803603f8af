"""The delay axis of the summary figures: powers of two where the delays span more than a factor of four."""

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class DelayAxis:
    """Scale of a delay axis in ms; `low` and `high` are its limits in powers of two. A linear axis fits its points."""

    powers_of_two: bool
    low: float
    high: float


def delay_axis(delays_ms: Sequence[float]) -> DelayAxis:
    """The axis for these delays, by Pantheon's rule (its plot.py, `plot_throughput_delay`).

    The limits are the powers of two around the delays, with 0 for anything below 2 ms and the mirror image for negative
    delays (clocks that disagree). The scale is symmetric-logarithmic where the limits are far enough apart to need it.
    """
    if not delays_ms:
        return DelayAxis(False, 0.0, 2.0)
    low, high = _lower(min(delays_ms)), _upper(max(delays_ms))
    crosses_zero = low <= -2 and high >= 2
    from_zero = low == 0 and high >= 8
    wide = low >= 2 and high > 4 * low
    return DelayAxis(crosses_zero or from_zero or wide, low, high)


def _lower(least: float) -> float:
    if least < 0:
        return -_upper(-least)
    return 0.0 if least < 2 else float(2 ** math.floor(math.log2(least)))


def _upper(most: float) -> float:
    return 2.0 if most < 2 else float(2 ** math.ceil(math.log2(most)))
