"""Runs with real packets while they go on, as lines for a terminal: one for each flow, with what it had lately."""

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
"""Time over which a rate is taken: a figure that changes more often cannot be read."""
_FIRST_S = 0.15
"""The same of the first one."""
_KEPT = 12
"""Rates that a sparkline has."""
_SAYS_LITTLE = ("no", "yes")
"""Names of values that say nothing without that of their field."""


@dataclass
class _Flow:
    """A flow as it was shown until now."""

    at_s: float = 0.0
    sent_bytes: int = 0
    delivered_bytes: int = 0
    mbps: float | None = None
    is_sent: bool = False
    """True if the rate is of what was sent: what arrives at another machine is not known here."""
    delay_ms: float | None = None
    rates: deque[float] = field(default_factory=lambda: deque(maxlen=_KEPT))

    def take(self, at_s: float, flow: FlowShown) -> None:
        """Take what is shown now."""
        if delay := flow["delay_ms"]:
            self.delay_ms = float(delay["p95"])
        passed_s = at_s - self.at_s
        if passed_s < 0:  # another attempt
            self.__init__()  # type: ignore[misc]  # all begins anew
        elif passed_s >= (_LEAST_S if self.rates else _FIRST_S):
            self.is_sent = flow["delivered_bytes"] == 0
            sent, delivered = flow["sent_bytes"] - self.sent_bytes, flow["delivered_bytes"] - self.delivered_bytes
            self.mbps = max(sent if self.is_sent else delivered, 0) * 8e-6 / passed_s
            self.rates.append(self.mbps)
            self.at_s, self.sent_bytes, self.delivered_bytes = at_s, flow["sent_bytes"], flow["delivered_bytes"]


class LiveLines:
    """Makes lines of the runs that go on. `look` says which; it is asked whenever lines are."""

    def __init__(self, look: Callable[[], Iterable[LiveRun]]) -> None:
        self._look = look
        self._flows: dict[tuple[str, int], _Flow] = {}
        is_utf8 = (sys.stderr.encoding or "").lower().replace("-", "") == "utf8"
        self._has_bars = is_utf8 and sys.stderr.isatty()

    def __call__(self, width: int) -> list[str]:
        """Return lines of at most so many columns."""
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
        kept = self._flows.setdefault((key, flow["flow"]), _Flow())
        kept.take(content["at_s"], flow)
        rate = "-" if kept.mbps is None else f"{kept.mbps:.1f}"
        parts = [f"  {_name(flow):<{room}}  {rate:>7} Mbit/s{' sent' if kept.is_sent else ''}"]
        if self._has_bars:
            parts.append(sparkline(kept.rates).rjust(_KEPT))
        if kept.delay_ms is not None:
            parts.append(f"p95 {kept.delay_ms:.1f} ms")
        return "  ".join([*parts, *_state_texts(flow["state"])])


def _name(flow: FlowShown) -> str:
    return f"{flow['scheme']} {flow['flow']}"


def sparkline(values: Iterable[float]) -> str:
    """Return values as bars of text, from zero to the largest."""
    found = list(values)
    most = max(found, default=0.0)
    return "".join(_BARS[round(value / most * (len(_BARS) - 1)) if most > 0 else 0] for value in found)


def _state_texts(state: list[ValueShown]) -> list[str]:
    """Return what is said of a sender: window, pacing rate, RTT, and its phase by name."""
    found = {value["name"]: value for value in state}
    texts = []
    for name, title in (("cwnd", "cwnd"), ("pacing_rate", "pacing"), ("srtt", "srtt")):
        if name in found:
            texts.append(f"{title} {found[name]['value']:.1f} {found[name]['unit']}")
    names = [named(value) for value in state]
    return texts + [name for name in names if name and name not in _SAYS_LITTLE]


def named(value: ValueShown) -> str:
    """Return the name of a value whose unit lists them: `0 slow start, 1 avoidance`."""
    for each in value["unit"].split(", "):
        number, _, name = each.partition(" ")
        if number == f"{value['value']:g}":
            return name
    return ""


def _path_text(links: list[LinkShown]) -> str:
    """Return what is said of the link that most waits at."""
    link = max(links, key=lambda each: each["queue_bytes"], default=None)
    if link is None:
        return ""
    lost = f"{link['dropped_packets']} dropped, {link['marked_packets']} marked"
    return f"queue {link['queue_packets']} packets, {link['queue_bytes'] / 1e3:.1f} kB at {link['name']}, {lost}"
