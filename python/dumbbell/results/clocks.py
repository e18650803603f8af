"""Clocks of the two ends of a run, and the error of one-way delays between them.

Statistics of runs between two machines have a key `clocks`; other runs have one clock and no such error.
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
"""Key of the clocks in statistics."""

LEGEND = "Clocks: where the true one-way delay lies, as far as the clocks of both ends can tell."

Interval = tuple[float, float]


@dataclass(frozen=True)
class Clocks:
    """Knowledge about the clocks of a run.

    The true one-way delay of the data direction is the stated one plus `low_ms` to `high_ms`; that of the return
    direction, and of the data of the flows `reverse`, is as much less. Differences over time are exact to
    `residual_us`.
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
        """Return the least and the largest error of a value, true minus stated; None for a value of one clock."""
        kind = one_way_metrics().get((level, metric))
        if kind not in ("data", "return"):
            return None
        data_shift, return_shift = (self.low_ms, self.high_ms), (-self.high_ms, -self.low_ms)
        if kind == "return":
            data_shift, return_shift = return_shift, data_shift
        if level == "network" and self.reverse:  # flows in both directions
            return (min(data_shift[0], return_shift[0]), max(data_shift[1], return_shift[1]))
        return return_shift if level == "flow" and number in self.reverse else data_shift

    def interval(self, level: str, number: int, metric: str, value: float) -> Interval | None:
        """Return the interval of the true value; None for a value of one clock."""
        shift = self.shift(level, number, metric)
        return None if shift is None else (value + shift[0], value + shift[1])

    def in_words(self) -> str:
        """Return the knowledge about the clocks in one line, for people."""
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
    """Return `clocks 80.1 to 99.0`, or an empty string without an interval: one clock measured the value."""
    return "" if interval is None else f"clocks {number(interval[0])} to {number(interval[1])}"


def clocks_of(run: RunStatistics) -> Clocks | None:
    """Return the clocks of a run, given as in `show --json`; None if it was made with one clock."""
    table = run.get("clocks")
    if table is None:
        return None
    low, high = table["uncertainty_ms"]
    return Clocks(
        low_ms=float(low),
        high_ms=float(high),
        reverse=tuple(table.get("reverse", ())),
        residual_us=table.get("residual_us"),
        offset_ms=table.get("offset_ms"),
        skew_ppm=table.get("skew_ppm"),
        method=table.get("method", ""),
        steps=len(table.get("steps", ())),
        explained=tuple(table.get("explained", ())),
    )


def check_clocks(where: str, content: Mapping[str, object]) -> None:
    """Refuse statistics with malformed `clocks`.

    Raises:
        UserError: The line names the key and the allowed values, after `where`.
    """
    table = content.get(CLOCKS)
    if table is None:
        return
    if not isinstance(table, dict):
        raise UserError(f"{where}: `{CLOCKS}`: allowed is a table")
    for key, (is_valid, expectation) in _KEYS.items():
        if (key in table or key == "uncertainty_ms") and not is_valid(table.get(key)):
            raise UserError(f"{where}: `{CLOCKS}.{key}`: allowed is {expectation}")


def mean_shift(shifts: Sequence[Interval], count: int) -> Interval | None:
    """Return the least and the largest error of the true mean of `count` runs; runs of one clock have none."""
    if not shifts:
        return None
    low, high = (sum(ends) / count for ends in zip(*shifts, strict=True))
    return (low, high)


def _is_finite(value: object) -> bool:
    return is_number(value) and math.isfinite(value)


def _may_be_number(value: object) -> bool:
    return value is None or _is_finite(value)


def _is_interval(value: object) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(map(_is_finite, value)) and value[0] <= value[1]


def _is_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(entry, str) for entry in value)


def _are_flows(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(entry, int) for entry in value)


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
