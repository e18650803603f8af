"""Figures for comparisons of video calls, by scenario, from packets, and from the frames of browser or encoder."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable
from dataclasses import dataclass

import numpy
from numpy.typing import NDArray

from validation.agreement import with_sign

SCORED_S = 30.0  # from the first packet of media on
SETTLED_S = 10.0
MEDIA_BYTES = 300  # smaller packets set up the call
QUEUED_MS = 120.0  # a packet that took longer is late: it has met the queue of a drop
DROP_S, RETURN_S = 10.0, 20.0  # in `drop-5-1-5mbps`
DARK_S, LIGHT_S = 12.0, 17.0  # in `outage-5s`
END_S = 32.0

NEVER = math.inf
ABSENT = math.nan

Times = NDArray[numpy.float64]


@dataclass(frozen=True)
class Call:
    """One flow of one run. Times in s since the run's start, sizes in bytes of IP, delays in ms."""

    send_times: Times
    sent_bytes: Times
    arrival_times: Times
    arrived_bytes: Times
    delay: Times
    drop_times: Times
    freezes: float = ABSENT
    frozen_s: float = ABSENT

    @property
    def start(self) -> float:
        """Return the time of the first media packet, s."""
        media = self.send_times[self.sent_bytes > MEDIA_BYTES]
        return float(media[0]) if len(media) else NEVER

    @property
    def end(self) -> float:
        """Return the end of the averages, s."""
        return min(self.start + SCORED_S, END_S)

    def rate(self, start: float, end: float) -> float:
        """Return the rate of IP that arrived from `start` to `end`, Mbit/s."""
        is_within = (self.arrival_times >= start) & (self.arrival_times < end)
        return float(self.arrived_bytes[is_within].sum()) * 8e-6 / (end - start)

    def delay_at(self, share: float) -> float:
        """Return the one-way delay that this share of the scored packets does not exceed, ms."""
        is_counted = (self.arrival_times >= self.start) & (self.arrival_times < self.end)
        return float(numpy.quantile(self.delay[is_counted], share)) if is_counted.any() else ABSENT

    def queued_after(self, instant: float, before: float) -> float:
        """Return the time from `instant` until the queue is gone, s: the last late packet before 1 s without any."""
        late = self.arrival_times[
            (self.arrival_times >= instant) & (self.arrival_times < before) & (self.delay > QUEUED_MS)
        ]
        if not len(late):
            return 0.0
        breaks = numpy.flatnonzero(numpy.diff(late) > 1.0)
        return float(late[breaks[0]] if len(breaks) else late[-1]) - instant

    def reaches(self, mbps: float, since: float, span: float = 1.0) -> float:
        """Return the time from `since` to the end of the first `span` seconds with this rate, s."""
        for tenth in range(round((END_S - since - span) * 10) + 1):
            start = since + tenth / 10
            if self.rate(start, start + span) >= mbps:
                return start + span - since
        return NEVER

    def loss_percent(self) -> float:
        """Return the dropped packets in percent of those dropped or delivered."""
        total = len(self.drop_times) + len(self.arrival_times)
        return 100.0 * len(self.drop_times) / total if total else ABSENT

    def drops(self, start: float, end: float) -> float:
        """Return the number of packets dropped from `start` to `end`."""
        return float(((self.drop_times >= start) & (self.drop_times < end)).sum())

    def sent_per_s(self, start: float, end: float) -> float:
        """Return the number of packets sent per second from `start` to `end`."""
        return float(((self.send_times >= start) & (self.send_times < end)).sum()) / (end - start)


@dataclass(frozen=True)
class Figure:
    """A row of a table. Values differ if further apart than `share` of Chromium's and `least` of their unit."""

    name: str
    value: Callable[[list[Call]], float]
    share: float
    least: float
    decimals: int = 2

    def text(self, value: float) -> str:
        """Return a value in the form of a table."""
        if math.isnan(value):
            return "-"
        return "never" if math.isinf(value) else f"{value:.{self.decimals}f}"

    def agrees(self, own_values: list[float], real: list[float]) -> bool:
        """Return True if the ranges nearly overlap; the simulated one lacks its ends, or one odd seed would decide."""
        return gap(usual(own_values), real) <= max(self.share * middle(real), self.least)

    def difference(self, own_values: list[float], real: list[float]) -> str:
        """Return median minus median; that of rates in percent."""
        own_middle, other = middle(own_values), middle(real)
        if math.isinf(own_middle) or math.isinf(other):
            return "-"
        if self.name.endswith("Mbit/s") and other:
            return f"{with_sign(100.0 * (own_middle / other - 1.0))} %"
        text = f"{own_middle - other:+.{self.decimals}f}"
        return text if float(text) else text[1:]


def of_first(value: Callable[[Call], float]) -> Callable[[list[Call]], float]:
    """Return the figure of the run's only call."""
    return lambda calls: value(calls[0])


def rate(name: str, value: Callable[[Call], float]) -> Figure:
    """Return a rate: 10 % are allowed, because repetitions of the browser differ as much."""
    return Figure(name, of_first(value), 0.10, 0.1)


def delay(name: str, value: Callable[[Call], float], share: float = 0.20) -> Figure:
    """Return a delay: repetitions differ more than those of a rate."""
    return Figure(name, of_first(value), share, 5.0, decimals=0)


def seconds(name: str, value: Callable[[Call], float]) -> Figure:
    """Return a duration."""
    return Figure(name, of_first(value), 0.25, 0.5, decimals=1)


def count(name: str, value: Callable[[Call], float], least: float) -> Figure:
    """Return a number of packets or freezes."""
    return Figure(name, of_first(value), 0.25, least, decimals=0)


def freezes() -> list[Figure]:
    """Return the figures of times in which the picture stood still, by the browser's own rule."""
    return [
        count("freezes after 2 s", lambda call: call.freezes, 1.0),
        seconds("picture frozen, s", lambda call: call.frozen_s),
    ]


def jain(calls: list[Call]) -> float:
    """Return the fairness of the calls' rates while all calls go on."""
    start = max(call.start for call in calls)
    rates = [call.rate(start, END_S) for call in calls]
    squares = len(rates) * sum(rate * rate for rate in rates)
    return sum(rates) ** 2 / squares if squares else ABSENT


def of_call(index: int, value: Callable[[Call], float]) -> Callable[[list[Call]], float]:
    """Return the figure of one of several calls."""
    return lambda calls: value(calls[index]) if index < len(calls) else ABSENT


SCENARIOS: dict[str, list[Figure]] = {
    "steady-4mbps": [
        rate("mean, Mbit/s", lambda call: call.rate(call.start, call.end)),
        rate("after 10 s, Mbit/s", lambda call: call.rate(call.start + SETTLED_S, call.end)),
        seconds("first second above 80 % of the link ends, s", lambda call: call.reaches(3.2, call.start)),
        delay("delay p50, ms", lambda call: call.delay_at(0.50)),
        delay("delay p95, ms", lambda call: call.delay_at(0.95)),
        delay("delay max, ms", lambda call: call.delay_at(1.0)),
        Figure("loss, %", of_first(Call.loss_percent), 0.0, 0.2),
        *freezes(),
    ],
    "drop-5-1-5mbps": [
        rate("5 s before the drop, Mbit/s", lambda call: call.rate(DROP_S - 5.0, DROP_S)),
        seconds("queue of the drop gone, s", lambda call: call.queued_after(DROP_S, RETURN_S)),
        delay("delay max, ms", lambda call: call.delay_at(1.0)),
        count("packets dropped at 1 Mbit/s", lambda call: call.drops(DROP_S, RETURN_S), 10.0),
        rate("last 5 s at 1 Mbit/s, Mbit/s", lambda call: call.rate(RETURN_S - 5.0, RETURN_S)),
        seconds("4 Mbit/s reached after the return, s", lambda call: call.reaches(4.0, RETURN_S)),
        rate("12th second after the return, Mbit/s", lambda call: call.rate(END_S - 1.0, END_S)),
        *freezes(),
    ],
    "outage-5s": [
        rate("5 s before the outage, Mbit/s", lambda call: call.rate(DARK_S - 5.0, DARK_S)),
        count("packets sent per s in the first second of it", lambda call: call.sent_per_s(DARK_S, DARK_S + 1.0), 30.0),
        count("packets sent per s after that", lambda call: call.sent_per_s(DARK_S + 1.0, LIGHT_S), 10.0),
        count("packets dropped", lambda call: call.drops(DARK_S, LIGHT_S + 1.0), 10.0),
        seconds("queue of the outage gone, s after it", lambda call: call.queued_after(LIGHT_S, END_S)),
        rate("5 s after the outage, Mbit/s", lambda call: call.rate(LIGHT_S, LIGHT_S + 5.0)),
        seconds("first 3 s above 80 % of the link end, s after it", lambda call: call.reaches(3.2, LIGHT_S, 3.0)),
        rate("last 5 s, Mbit/s", lambda call: call.rate(END_S - 5.0, END_S)),
        *freezes(),
    ],
    "two-calls": [
        Figure("first, Mbit/s", of_call(0, lambda call: call.rate(call.start, END_S)), 0.10, 0.1),
        Figure("second, Mbit/s", of_call(1, lambda call: call.rate(call.start, END_S)), 0.10, 0.1),
        Figure("Jain's index", jain, 0.0, 0.05, decimals=3),
        delay("delay p50, ms", lambda call: call.delay_at(0.50)),
        delay("delay p95, ms", lambda call: call.delay_at(0.95)),
        Figure("loss of the first, %", of_call(0, Call.loss_percent), 0.0, 0.2),
        Figure("loss of the second, %", of_call(1, Call.loss_percent), 0.0, 0.2),
        Figure("freezes of the first after 2 s", of_call(0, lambda call: call.freezes), 0.25, 1.0, decimals=0),
        Figure("freezes of the second after 2 s", of_call(1, lambda call: call.freezes), 0.25, 1.0, decimals=0),
    ],
}


def finite_values(values: list[float]) -> list[float]:
    """Return the values that are not missing."""
    return [value for value in values if not math.isnan(value)]


def usual(values: list[float]) -> list[float]:
    """Return the middle half of the values, rounded up."""
    good = sorted(finite_values(values))
    ends = len(good) // 4
    return good[ends : len(good) - ends]


def middle(values: list[float]) -> float:
    """Return the median of the values that are not missing; 0 if there are none."""
    return statistics.median(finite_values(values) or [0.0])


def gap(own_values: list[float], real: list[float]) -> float:
    """Return the distance of the ranges; 0 if they overlap."""
    own_values, real = finite_values(own_values), finite_values(real)
    if not own_values or not real:
        return 0.0
    if max(own_values) >= min(real) and max(real) >= min(own_values):
        return 0.0
    return min(real) - max(own_values) if max(own_values) < min(real) else min(own_values) - max(real)
