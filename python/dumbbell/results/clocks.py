"""How far the clocks of two ends may be apart: what it says of one-way delays that were measured with them.

Statistics of runs between two machines have a key `clocks`; of others there is one clock, and nothing to say.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dumbbell.base.errors import UserError
from dumbbell.results.numbers import is_number, one_way_metrics

if TYPE_CHECKING:
    from dumbbell.contract.run import RunStatistics

CLOCKS = "clocks"
"""The key of statistics."""

LEGEND = "Clocks: where the true one-way delay lies, as far as the clocks of both ends can tell."

Interval = tuple[float, float]


@dataclass(frozen=True)
class Clocks:
    """What is known of the clocks in a run.

    The true one-way delay of the data direction is what is stated, `low_ms` to `high_ms` more; that of the return
    direction, and of the data of the flows `reverse`, as much less. Differences over time are exact to `residual_us`.
    """

    low_ms: float
    high_ms: float
    reverse: tuple[int, ...] = ()
    residual_us: float | None = None
    offset_ms: float | None = None
    skew_ppm: float | None = None
    method: str = ""
    steps: int = 0
    explained: tuple[str, ...] = ()

    def shift(self, level: str, number: int, metric: str) -> Interval | None:
        """Return how much larger than stated the true value is, at least and at most; None for a value of one clock."""
        kind = one_way_metrics().get((level, metric))
        if kind not in ("data", "return"):
            return None
        there, back = (self.low_ms, self.high_ms), (-self.high_ms, -self.low_ms)
        if kind == "return":
            there, back = back, there
        if level == "network" and self.reverse:  # of flows in both directions
            return (min(there[0], back[0]), max(there[1], back[1]))
        return back if level == "flow" and number in self.reverse else there

    def interval(self, level: str, number: int, metric: str, value: float) -> Interval | None:
        """Return where the true value lies; None for a value of one clock."""
        shift = self.shift(level, number, metric)
        return None if shift is None else (value + shift[0], value + shift[1])

    def in_words(self) -> str:
        """Return everything that is known of the clocks in one line, for people."""
        parts = [f"one-way delays are {self.low_ms:+.3f} to {self.high_ms:+.3f} ms of what is stated"]
        if self.residual_us is not None:
            parts.append(f"their differences are exact to {self.residual_us:.3g} \u00b5s")
        if self.offset_ms is not None:
            parts.append(f"offset {self.offset_ms:.3f} ms")
        if self.skew_ppm is not None:
            parts.append(f"drift {self.skew_ppm:+.3f} ppm")
        if self.steps:
            parts.append(f"{self.steps} {'step' if self.steps == 1 else 'steps'} of a clock")
        return ", ".join(parts) + (f" ({self.method})" if self.method else "")


def clocks_text(interval: Interval | None, number: Callable[[float], str]) -> str:
    """Return `clocks 80.1 to 99.0`, or an empty text if there is no interval: the value is then of one clock."""
    return "" if interval is None else f"clocks {number(interval[0])} to {number(interval[1])}"


def clocks_of(run: RunStatistics) -> Clocks | None:
    """Return what a run (as in `show --json`) says of its clocks; None if it was made with one clock."""
    found = run.get("clocks")
    if found is None:
        return None
    low, high = found["uncertainty_ms"]
    return Clocks(
        low_ms=float(low),
        high_ms=float(high),
        reverse=tuple(found.get("reverse", ())),
        residual_us=found.get("residual_us"),
        offset_ms=found.get("offset_ms"),
        skew_ppm=found.get("skew_ppm"),
        method=found.get("method", ""),
        steps=len(found.get("steps", ())),
        explained=tuple(found.get("explained", ())),
    )


def check_clocks(where: str, content: Mapping[str, object]) -> None:
    """Refuse statistics whose `clocks` are of another shape.

    Raises:
        UserError: names the key and what is allowed, behind `where`.
    """
    found = content.get(CLOCKS)
    if found is None:
        return
    if not isinstance(found, dict):
        raise UserError(f"{where}: `{CLOCKS}`: allowed is a table")
    for key, (good, allowed) in _KEYS.items():
        if (key in found or key == "uncertainty_ms") and not good(found.get(key)):
            raise UserError(f"{where}: `{CLOCKS}.{key}`: allowed is {allowed}")


def mean_shift(shifts: Sequence[Interval], count: int) -> Interval | None:
    """Return how much larger than stated the true mean of `count` runs may be. Runs of one clock have no shift."""
    if not shifts:
        return None
    low, high = (sum(each) / count for each in zip(*shifts, strict=True))
    return (low, high)


def _is_finite(value: object) -> bool:
    return is_number(value) and math.isfinite(value)


def _may_be_number(value: object) -> bool:
    return value is None or _is_finite(value)


def _is_interval(value: object) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(map(_is_finite, value)) and value[0] <= value[1]


def _is_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)


def _are_flows(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(each, int) for each in value)


_KEYS: dict[str, tuple[Callable[[object], bool], str]] = {
    "uncertainty_ms": (_is_interval, "a list of two numbers, the smaller first"),
    "reverse": (_are_flows, "a list of numbers of flows"),
    "method": (lambda value: isinstance(value, str), "a text"),
    "steps": (lambda value: isinstance(value, list), "a list"),
    "explained": (_is_texts, "a list of texts"),
    "residual_us": (_may_be_number, "a number"),
    "offset_ms": (_may_be_number, "a number"),
    "skew_ppm": (_may_be_number, "a number"),
    "rtt_ms": (_may_be_number, "a number"),
}
