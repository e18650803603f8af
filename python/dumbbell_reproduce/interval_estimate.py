"""The rate and round trip of a path, estimated from counters in intervals: iperf3's JSON and logs of `ss`."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dumbbell.base.entry import Entry
from dumbbell.results.series.run_files import FLOWS, kept_files
from dumbbell.results.series.samples import Series, read_samples
from dumbbell_reproduce.packet_estimate import PathEstimate

Numbers = NDArray[Any]

PACKET_BYTES, PAYLOAD_BYTES = 1500, 1448
"""Bytes of a full TCP packet with timestamps, and bytes of its payload. Counters count payload."""
_LEAST_INTERVALS = 4
_SPAN = 5
"""Number of intervals in the mean of a rate. iperf3 counts writes of 128 KiB, and intervals of slow links have few
writes."""
_RATE_PERCENTILE = 75.0
_FIELDS = ("transferred", "delivered")
"""Bytes handed to the kernel, and acknowledged bytes, which `ss` reports."""


def estimate_from_counters(folder: Entry) -> PathEstimate | str:
    """Return the estimate from the samples of a run, or the reason for a missing estimate."""
    samples = read_samples(kept_files(folder).get(FLOWS))
    rtts = [values for _, values in samples.get("srtt", {}).values()]
    rates = _rates_mbps(samples)
    if not rtts or not len(rates):
        return "its intervals have no RTT, or are too few"
    if not float(np.percentile(rates, _RATE_PERCENTILE)) > 0.0:
        return "nothing was sent in most of its intervals: the sender was idle"
    rtt = np.concatenate(rtts)
    least = float(rtt.min())
    lost_packets = sum(int(values[-1]) for _, values in samples.get("retransmissions", {}).values() if len(values))
    return PathEstimate(
        rate_mbps=float(np.percentile(rates, _RATE_PERCENTILE)) * PACKET_BYTES / PAYLOAD_BYTES,
        data_ms=least / 2.0,
        ack_ms=least / 2.0,
        data_bytes=PACKET_BYTES,
        wait_ms=float(rtt.max()) - least,
        calm_sent=0,
        calm_lost=0,
        lost_packets=lost_packets,
        is_round_trip=True,
    )


def _rates_mbps(samples: dict[str, dict[str, Series]]) -> Numbers:
    """Return the rates of all flows together over spans of intervals; empty with too few intervals.

    The rates come from the field with most samples.
    """
    counters = max((samples.get(name, {}) for name in _FIELDS), key=_points)
    if not counters:
        return np.zeros(0)
    ends = np.unique(np.concatenate([time_s for time_s, _ in counters.values()]))
    total: Numbers = np.zeros(len(ends))
    for time_s, values in counters.values():
        total += np.interp(ends, time_s, values)
    if len(ends) <= _LEAST_INTERVALS:
        return np.zeros(0)
    # the first interval contains the bytes that filled the sender's buffer
    total, ends = total[1:], ends[1:]
    span = min(_SPAN, len(ends) - 1)
    rates: Numbers = (total[span:] - total[:-span]) * 8e-6 / (ends[span:] - ends[:-span])
    return rates


def _points(counters: dict[str, Series]) -> int:
    return sum(len(time_s) for time_s, _ in counters.values())
