"""Pantheon's numbers of a merged log, computed plainly; no code is shared with dumbbell.

StanfordSNR/pantheon@23e738c, `src/analysis/tunnel_graph.py` defines them. Rates divide the bits of a log by the time
from its first line of the kind to the latest one, in the order of the lines. Delays are the 95th percentile by nearest
rank. Losses compare bits.
"""

from dataclasses import dataclass, field
from typing import Any


@dataclass
class Passing:
    """Lines of one kind: their bits, the time of the first line, and the latest time."""

    bits: int = 0
    first: float | None = None
    latest: float | None = None

    def add(self, time: float, size: int) -> None:
        self.bits += 8 * size
        if self.first is None:
            self.first = time
        self.latest = time if self.latest is None else max(self.latest, time)

    @property
    def span(self) -> float:
        return 0.0 if self.first is None or self.latest is None else self.latest - self.first

    @property
    def mbps(self) -> float:
        return self.bits / (1000.0 * self.span) if self.span else 0.0


@dataclass
class Flow:
    """Departures, arrivals and delays of one flow."""

    departures: Passing = field(default_factory=Passing)
    arrivals: Passing = field(default_factory=Passing)
    delays: list[float] = field(default_factory=list)

    @property
    def loss(self) -> float | None:
        return 1 - 1.0 * self.arrivals.bits / self.departures.bits if self.departures.bits else None


def nearest_rank(values: list[float], part: float) -> float | None:
    """Return a percentile by nearest rank. Python's `round` takes halves to the even number, as required."""
    return sorted(values)[round(part * (len(values) - 1))] if values else None


def analyse(text: str, runtime_s: float) -> dict[str, Any]:
    """Return `flows` (by number: `tput`, `delay`, `loss`), `all` (same keys), `capacity`, `seconds` and `valid`."""
    flows: dict[int, Flow] = {}
    total, link = Flow(), Passing()
    for line in text.splitlines():
        if line.startswith("#"):
            continue
        time, kind, size, *rest = line.split()
        if kind == "#":
            link.add(float(time), int(size))
            continue
        has_flow = len(rest) == (1 if kind == "+" else 2)
        flow = flows.setdefault(int(rest[-1]) if has_flow else 0, Flow())
        for passings in (flow, total):
            if kind == "+":
                passings.departures.add(float(time), int(size))
            else:
                passings.arrivals.add(float(time), int(size))
                passings.delays.append(float(rest[0]))
    tagged_flows = [flow for number, flow in flows.items() if number]
    seconds = total.arrivals.span / 1000.0
    have_passings = all(flow.departures.bits and flow.arrivals.bits for flow in tagged_flows)
    return {
        "flows": {number: _values(flow) for number, flow in flows.items()},
        "all": _values(total),
        "capacity": link.mbps or None,
        "seconds": seconds,
        "valid": bool(total.arrivals.bits) and have_passings and seconds >= 0.8 * runtime_s,
    }


def _values(flow: Flow) -> dict[str, float | None]:
    return {"tput": flow.arrivals.mbps, "delay": nearest_rank(flow.delays, 0.95), "loss": flow.loss}
