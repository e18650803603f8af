"""The link of mahimahi as its log shows it: its delivery opportunities, and the departure time of each packet."""

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
    """Return the opportunities of one period as the times of a trace; None if the log has no period.

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
            period_counts = counts[:length]
            offsets = np.repeat(np.arange(length), period_counts)
            # a trace ends with its last opportunity, and its times count from the opportunity before the first
            shift = length - int(offsets[-1])
            return [float(offset + shift) for offset in offsets]
    return None


def departures(arrivals_ms: Sequence[float], sizes: Sequence[int], opportunities_ms: Sequence[float]) -> list[float]:
    """Return the times at which packets leave mm-link's queue, in the order of arrival, without packets that stay.

    Times count in whole milliseconds, as mm-link has them: an opportunity at the instant of an arrival has passed.
    """
    departures_ms: list[float] = []
    count, index, remaining, last = len(opportunities_ms), 0, 0, float("-inf")
    for arrival, size in zip(arrivals_ms, sizes, strict=True):
        arrived_ms = float(int(arrival))
        if arrived_ms >= last:  # the queue was empty: the rest of an opportunity is lost
            remaining = 0
            while index < count and opportunities_ms[index] <= arrived_ms:
                index += 1
        needed_bytes = size + HEADER_BYTES
        while needed_bytes > remaining:
            if index == count:
                return departures_ms
            needed_bytes -= remaining
            remaining, last = OPPORTUNITY_BYTES, opportunities_ms[index]
            index += 1
        remaining -= needed_bytes
        departures_ms.append(last)
    return departures_ms
