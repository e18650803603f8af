"""mahimahi's link, told by its log: its delivery opportunities, and when each packet should have left it."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[Any]

OPPORTUNITY_BYTES = 1504
"""Bytes that one delivery opportunity of mm-link serves; a packet costs `HEADER_BYTES` more than its size."""
HEADER_BYTES = 4
_LONGEST_PERIOD_MS = 3000
_LEAST_PERIODS = 3


def period(opportunities_ms: Numbers) -> list[float] | None:
    """Return the opportunities of one period, as the times of a trace; None if the log does not repeat itself.

    A trace that lasts longer than `_LONGEST_PERIOD_MS`, or is drawn at random, has no period here.
    """
    if len(opportunities_ms) < 2:
        return None
    times = np.rint(opportunities_ms).astype(np.int64)
    first = int(times[0])
    counts = np.bincount(times - first)
    for length in range(1, min(_LONGEST_PERIOD_MS, (len(counts) - 1) // _LEAST_PERIODS) + 1):
        # the last millisecond may have been cut off
        if np.array_equal(counts[length:-1], counts[: -length - 1]):
            one = counts[:length]
            offsets = np.repeat(np.arange(length), one)
            # the trace ends with its last opportunity: its times count from the one before the first
            shift = length - int(offsets[-1])
            return [float(each + shift) for each in offsets]
    return None


def departures(arrivals_ms: Sequence[float], sizes: Sequence[int], opportunities_ms: Sequence[float]) -> list[float]:
    """Return when each packet leaves mm-link's queue, in the order of arrival; those that do not leave are not there.

    Times count in whole milliseconds, as mm-link has them: an opportunity at the instant of an arrival has passed.
    """
    found: list[float] = []
    count, index, left, last = len(opportunities_ms), 0, 0, float("-inf")
    for arrival, size in zip(arrivals_ms, sizes, strict=True):
        arrived = float(int(arrival))
        if arrived >= last:  # nobody waits: what is left of an opportunity is lost
            left = 0
            while index < count and opportunities_ms[index] <= arrived:
                index += 1
        needed = size + HEADER_BYTES
        while needed > left:
            if index == count:
                return found
            needed -= left
            left, last = OPPORTUNITY_BYTES, opportunities_ms[index]
            index += 1
        left -= needed
        found.append(last)
    return found
