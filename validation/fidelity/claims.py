"""Claims: what was published, and within which tolerances a result repeats it. One TOML file for each result."""

from __future__ import annotations

import datetime
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).with_name("claims")
REPETITIONS = 20
Interval = tuple[float, float]
Limits = Mapping[str, Interval]
"""Smallest and largest value allowed, by metric."""

_CLAIM = {"id", "title", "source", "figure", "setup", "repetition", "repetitions", "fewer", "row"}
_ROW = {"key", "what", "published", "why", "illustration", "metric", "tolerance"}
_METRIC = {"show", "published"}
_TOLERANCE = {"set", "carried_over", "limits", "real", "reason"}


class ClaimError(Exception):
    """A claim's file is wrong; the message names the file, the key and the values allowed."""


@dataclass(frozen=True)
class Metric:
    """A number of a row.

    Attributes:
        show: Format of the value.
        published: The published number, or the range that the published words mean; None if there is none.
    """

    show: str
    published: Interval | None = None


@dataclass(frozen=True)
class Tolerance:
    """Limits that were set on a day, with the reason for them.

    Attributes:
        limits: Of simulated values; with real packets too, unless `real` differs.
        carried_over: True if the limits were once written together with a result.
    """

    set: datetime.date
    limits: Limits
    reason: str
    real: Limits | None = None
    carried_over: bool = False

    @property
    def with_packets(self) -> Limits:
        """The limits of values measured with real packets."""
        return self.limits if self.real is None else self.real

    def same(self, other: Tolerance) -> bool:
        """Return True if both allow the same and were set on the same day."""
        return (self.set, self.limits, self.real) == (other.set, other.limits, other.real)


@dataclass(frozen=True)
class ClaimRow:
    """One published figure. A row without a tolerance is shown, and not judged.

    Attributes:
        why: What is known of a difference.
        illustration: Why the row cannot contradict its publication; such a row has no tolerance.
        tolerances: Oldest first: the last one decides.
    """

    key: str
    what: str
    published: str
    metrics: Mapping[str, Metric]
    tolerances: tuple[Tolerance, ...] = ()
    why: str = ""
    illustration: str = ""


@dataclass(frozen=True)
class Claim:
    """A published result: where it stands, its set-up, what one repetition of it is, and its rows."""

    id: str
    title: str
    source: str
    figure: str
    setup: str
    repetition: str
    rows: tuple[ClaimRow, ...]
    repetitions: int = REPETITIONS
    fewer: str = ""
    file: Path = field(default=Path(), compare=False)

    def row(self, key: str) -> ClaimRow | None:
        """Return the row of that key, or None."""
        return next((row for row in self.rows if row.key == key), None)


def load(file: Path) -> Claim:
    """Read the file of a claim.

    Raises:
        ClaimError: The file is unreadable, or is no claim.
    """
    try:
        return parse(file.read_text(encoding="utf-8"), file)
    except OSError as error:
        raise ClaimError(f"{file}: {error.strerror}") from None


def parse(text: str, file: Path) -> Claim:
    """Return the claim that `text`, a version of `file`, states.

    Raises:
        ClaimError: The text is no claim.
    """
    try:
        found = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ClaimError(f"{file.name}: {error}") from None
    _known(found, _CLAIM, {"repetitions", "fewer"}, file.name)
    rows = tuple(_row(row, file.name) for row in found.pop("row"))
    keys = [row.key for row in rows]
    twice = next((key for key in keys if keys.count(key) > 1), None)
    if twice:
        raise ClaimError(f"{file.name}: two rows have the key `{twice}`")
    claim = Claim(**found, rows=rows, file=file)
    if claim.repetitions < 1 or (claim.repetitions < REPETITIONS and not claim.fewer):
        raise ClaimError(
            f"{file.name}: repetitions = {claim.repetitions}: expected {REPETITIONS} or more, or fewer with the reason"
            " in `fewer`"
        )
    return claim


def _known(table: Mapping[str, Any], keys: set[str], optional: set[str], where: str) -> None:
    """Check that a table has its keys and no others."""
    for key in table:
        if key not in keys:
            raise ClaimError(f"{where}: unknown key `{key}`: expected {', '.join(sorted(keys))}")
    for key in sorted(keys - optional - set(table)):
        raise ClaimError(f"{where}: `{key}` is missing")


def _row(table: dict[str, Any], name: str) -> ClaimRow:
    where = f"{name}: row `{table.get('key', '?')}`"
    _known(table, _ROW, {"why", "illustration", "tolerance"}, where)
    metrics = {key: _metric(each, f"{where}: metric `{key}`") for key, each in table.pop("metric").items()}
    tolerances = tuple(_tolerance(each, metrics, where) for each in table.pop("tolerance", ()))
    row = ClaimRow(**table, metrics=metrics, tolerances=tolerances)
    if row.illustration and row.tolerances:
        raise ClaimError(f"{where}: an illustration has a tolerance: expected one of both")
    return row


def _metric(table: dict[str, Any], where: str) -> Metric:
    _known(table, _METRIC, {"published"}, where)
    published = table.get("published")
    if published is None:
        return Metric(table["show"])
    return Metric(table["show"], _interval(published if isinstance(published, list) else [published] * 2, where))


def _tolerance(table: dict[str, Any], metrics: Mapping[str, Metric], where: str) -> Tolerance:
    where = f"{where}: tolerance"
    _known(table, _TOLERANCE, {"carried_over", "real"}, where)
    if type(table["set"]) is not datetime.date:
        raise ClaimError(f"{where}: set = {table['set']}: expected a date, for example 2026-11-28")
    if not table["reason"].strip():
        raise ClaimError(f"{where}: `reason` is empty")
    for which in ("limits", "real"):
        for metric, limits in table.get(which, {}).items():
            if metric not in metrics:
                raise ClaimError(f"{where}: {which}: unknown metric `{metric}`: expected {', '.join(metrics)}")
            table[which][metric] = _interval(limits, f"{where}: {which}: `{metric}`")
    return Tolerance(**table)


def _interval(values: list[Any], where: str) -> Interval:
    good = len(values) == 2 and all(isinstance(value, (int, float)) for value in values) and values[0] <= values[1]
    if not good:
        raise ClaimError(f"{where}: {values}: expected [smallest, largest]")
    return float(values[0]), float(values[1])
