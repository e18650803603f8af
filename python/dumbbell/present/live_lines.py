"""Terminal lines for runs with real packets in progress: one for each flow, with its recent values."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from dumbbell.base.errors import printable

if TYPE_CHECKING:
    from dumbbell.contract.live import FlowShown, LinkShown, RunShown, ValueShown
    from dumbbell.results.live_runs import LiveRun

_BARS = "▁▂▃▄▅▆▇█"
_LEAST_S = 0.45
"""Minimum time of a rate, s: figures that change more often cannot be read."""
_FIRST_S = 0.15
"""Minimum time of the first rate of a flow, s."""
_SPARKLINE_RATES = 12
"""Number of rates in a sparkline."""
_VAGUE_NAMES = ("no", "yes")
"""State names that mean nothing without the name of their field."""


@dataclass
class _Flow:
    """Recent values of a flow."""

    at_s: float = 0.0
    sent_bytes: int = 0
    delivered_bytes: int = 0
    mbps: float | None = None
    is_sent: bool = False
    """True if the rate counts sent packets, since arrivals at another machine are unknown here."""
    delay_ms: float | None = None
    rates: deque[float] = field(default_factory=lambda: deque(maxlen=_SPARKLINE_RATES))

    def take(self, at_s: float, flow: FlowShown) -> None:
        """Update the values from the current ones in `flow`."""
        if delay := flow["delay_ms"]:
            self.delay_ms = float(delay["p95"])
        passed_s = at_s - self.at_s
        if passed_s < 0:  # a new attempt of the run
            self.__init__()  # type: ignore[misc]  # reset all fields
        elif passed_s >= (_LEAST_S if self.rates else _FIRST_S):
            self.is_sent = flow["delivered_bytes"] == 0
            sent_bytes, delivered_bytes = (
                flow["sent_bytes"] - self.sent_bytes,
                flow["delivered_bytes"] - self.delivered_bytes,
            )
            self.mbps = max(sent_bytes if self.is_sent else delivered_bytes, 0) * 8e-6 / passed_s
            self.rates.append(self.mbps)
            self.at_s, self.sent_bytes, self.delivered_bytes = at_s, flow["sent_bytes"], flow["delivered_bytes"]


class LiveLines:
    """Lines of the runs in progress; each call asks `look` for these runs."""

    def __init__(self, look: Callable[[], Iterable[LiveRun]]) -> None:
        self._look = look
        self._flows: dict[tuple[str, int], _Flow] = {}
        is_utf8 = (sys.stderr.encoding or "").lower().replace("-", "") == "utf8"
        self._has_bars = is_utf8 and sys.stderr.isatty()

    def __call__(self, width: int) -> list[str]:
        """Return the current lines, cut to `width` columns."""
        runs = list(self._look())
        self._flows = {key: flow for key, flow in self._flows.items() if any(key[0] == run.key for run in runs)}
        lines = []
        for run in runs:
            content = run.content
            if len(runs) > 1:
                lines.append(run.label)
            room = max((len(_name(flow)) for flow in content["flows"]), default=0)
            lines += [self._flow_line(run.key, content, flow, room) for flow in content["flows"]]
            if path := _path_text(content["links"]):
                lines.append(f"  {path}")
        return [printable(line)[:width] for line in lines]

    def _flow_line(self, key: str, content: RunShown, flow: FlowShown, room: int) -> str:
        recent = self._flows.setdefault((key, flow["flow"]), _Flow())
        recent.take(content["at_s"], flow)
        rate = "-" if recent.mbps is None else f"{recent.mbps:.1f}"
        parts = [f"  {_name(flow):<{room}}  {rate:>7} Mbit/s{' sent' if recent.is_sent else ''}"]
        if self._has_bars:
            parts.append(sparkline(recent.rates).rjust(_SPARKLINE_RATES))
        if recent.delay_ms is not None:
            parts.append(f"p95 {recent.delay_ms:.1f} ms")
        return "  ".join([*parts, *_state_texts(flow["state"])])


def _name(flow: FlowShown) -> str:
    return f"{flow['scheme']} {flow['flow']}"


def sparkline(values: Iterable[float]) -> str:
    """Return values as bars of text, from zero to the largest."""
    numbers = list(values)
    largest = max(numbers, default=0.0)
    return "".join(_BARS[round(value / largest * (len(_BARS) - 1)) if largest > 0 else 0] for value in numbers)


def _state_texts(state: list[ValueShown]) -> list[str]:
    """Return window, pacing rate and RTT of a sender, and its phase by name."""
    values = {value["name"]: value for value in state}
    texts = []
    for name, title in (("cwnd", "cwnd"), ("pacing_rate", "pacing"), ("srtt", "srtt")):
        if name in values:
            texts.append(f"{title} {values[name]['value']:.1f} {values[name]['unit']}")
    names = [state_name(value) for value in state]
    return texts + [name for name in names if name and name not in _VAGUE_NAMES]


def state_name(value: ValueShown) -> str:
    """Return the name of a value whose unit lists names (`0 slow start, 1 avoidance`), or an empty string."""
    for entry in value["unit"].split(", "):
        number, _, name = entry.partition(" ")
        if number == f"{value['value']:g}":
            return name
    return ""


def _path_text(links: list[LinkShown]) -> str:
    """Return a line about the link with the longest queue."""
    link = max(links, key=lambda entry: entry["queue_bytes"], default=None)
    if link is None:
        return ""
    losses = f"{link['dropped_packets']} dropped, {link['marked_packets']} marked"
    return f"queue {link['queue_packets']} packets, {link['queue_bytes'] / 1e3:.1f} kB at {link['name']}, {losses}"
