"""Claims: published results, and tolerances for their repetition. One TOML file for each result."""

from __future__ import annotations

import datetime
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from dumbbell.base.errors import UserError, listed
from dumbbell.catalog.toml_tables import TomlTable, parse_toml, read_toml

FOLDER = Path(__file__).with_name("claims")
REPETITIONS = 20
MATTERING = 40
"""Largest number of rows in the first table of the page."""
_CAUSES = 2  # of a corrected set-up
Interval = tuple[float, float]
Limits = Mapping[str, Interval]
"""Smallest and largest allowed value, by metric."""


@dataclass(frozen=True)
class Metric:
    """A number of a row.

    Attributes:
        show: Format of the value.
        published_range: The published number, or the range that the published words mean; None if there is none.
        change: True for a relative change or a difference: its range is judged as one of factors, 1 + value.
    """

    show: str
    published_range: Interval | None = None
    change: bool = False


@dataclass(frozen=True)
class Tolerance:
    """Limits that were set on a day, with their reason.

    Attributes:
        limits: Limits of simulated values, and of real packets too unless `real` differs.
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
        """Return True if both have the same limits and were set on the same day."""
        return (self.set, self.limits, self.real) == (other.set, other.limits, other.real)


@dataclass(frozen=True)
class ClaimRow:
    """One published figure. A row without a tolerance is shown, but not judged.

    Attributes:
        reason: Known reason of a difference.
        illustration: Reason why the row cannot contradict its publication; such a row has no tolerance.
        tolerances: Oldest first: the last one decides.
        published_runs: Number of runs behind the published figure; 0 if unknown.
        corrections: Causes that were changed in the set-up (kernel, sockets, pacing, qdisc, offloads, host).
        before: The simulated figure before the set-up was corrected.
        scheme: The scheme whose reliability the row shows; empty if there is none.
        matters: True if the row is in the first table of the page.
    """

    key: str
    quantity: str
    published_text: str
    metrics: Mapping[str, Metric]
    tolerances: tuple[Tolerance, ...] = ()
    reason: str = ""
    illustration: str = ""
    published_runs: int = 0
    corrections: tuple[str, ...] = ()
    before: str = ""
    scheme: str = ""
    matters: bool = False


@dataclass(frozen=True)
class Claim:
    """A published result: its source, its set-up, the contents of one repetition, and its rows."""

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
        UserError: The file is unreadable, or is no claim.
    """
    return _claim(read_toml(file, wide=True), file)


def parse(text: str, file: Path) -> Claim:
    """Return the claim in `text`, which is a version of `file`."""
    return _claim(parse_toml(text, file.name, wide=True), file)


def _claim(table: TomlTable, file: Path) -> Claim:
    claim = Claim(
        id=table.text("id"),
        title=table.text("title"),
        source=table.text("source"),
        figure=table.text("figure"),
        setup=table.text("setup"),
        repetition=table.text("repetition"),
        rows=tuple(_row(row_table) for row_table in table.tables("row", named_by="key")),
        repetitions=table.integer("repetitions", REPETITIONS, minimum=1),
        fewer=table.text("fewer", ""),
        file=file,
    )
    table.finish()
    keys = [row.key for row in claim.rows]
    twice = next((key for key in keys if keys.count(key) > 1), None)
    if twice:
        raise UserError(f"{table.source}: two rows have the key `{twice}`")
    if not keys:
        raise UserError(f"{table.source}: has no rows: needed is one at least")
    if claim.repetitions < REPETITIONS and not claim.fewer:
        raise table.fail(
            "repetitions", claim.repetitions, f"{REPETITIONS} or more, or fewer with the reason in `fewer`"
        )
    return claim


def _row(table: TomlTable) -> ClaimRow:
    metric_table = table.table("metric")
    metrics = {name: _metric(metric_table.table(name)) for name in metric_table.raw}
    if not metrics:
        raise table.fail("metric", {}, "a table with a metric at least")
    row = ClaimRow(
        key=table.text("key"),
        quantity=table.text("what"),
        published_text=table.text("published"),
        metrics=metrics,
        tolerances=tuple(_tolerance(tolerance_table, metrics) for tolerance_table in table.tables("tolerance")),
        reason=table.text("why", ""),
        illustration=table.text("illustration", ""),
        published_runs=table.integer("published_runs", minimum=1) if table.has("published_runs") else 0,
        corrections=tuple(table.texts("corrected", [])),
        before=table.text("before", ""),
        scheme=table.text("scheme", ""),
        matters=table.flag("matters", False),
    )
    table.finish()
    if row.illustration and row.tolerances:
        raise table.fail("illustration", row.illustration, "none in a row with a tolerance")
    _check_published_run(table, row)
    _check_correction(table, row)
    if row.matters and not row.scheme:
        raise table.fail("matters", row.matters, "true beside `scheme`")
    return row


def _check_published_run(table: TomlTable, row: ClaimRow) -> None:
    judged_metrics = row.tolerances[-1].limits if row.tolerances else ()
    missing = next((metric for metric in judged_metrics if row.metrics[metric].published_range is None), None)
    if row.published_runs == 1 and missing:
        raise table.fail("published_runs", 1, f"1 with a published number in each judged metric, `{missing}` too")


def _check_correction(table: TomlTable, row: ClaimRow) -> None:
    causes = {cause.strip() for cause in row.corrections} - {""}
    if (row.corrections or row.before) and len(causes) < max(_CAUSES, len(row.corrections)):
        raise table.fail("corrected", list(row.corrections), f"{_CAUSES} different causes or more, beside `before`")
    if row.corrections and not row.before.strip():
        raise table.fail("before", row.before, "the figure before the set-up was `corrected`")


def check_mattering(claims: Iterable[Claim]) -> None:
    """Check the number of rows in the first table of the page.

    Raises:
        UserError: More rows than `MATTERING`.
    """
    mattering_rows = [(claim, row) for claim in claims for row in claim.rows if row.matters]
    if len(mattering_rows) > MATTERING:
        claim, row = mattering_rows[MATTERING]
        count = len(mattering_rows)
        raise UserError(
            f"{claim.file.name}: row `{row.key}`: `matters` = true in {count} rows: allowed are {MATTERING}"
        )


def _metric(table: TomlTable) -> Metric:
    metric = Metric(table.text("show"), _published_range(table), table.flag("change", False))
    table.finish()
    return metric


def _published_range(table: TomlTable) -> Interval | None:
    """The published interval; a single number is both of its ends."""
    if not table.has("published"):
        return None
    if isinstance(table.raw["published"], list):
        return table.interval("published")
    return (table.number("published"),) * 2


def _tolerance(table: TomlTable, metrics: Collection[str]) -> Tolerance:
    tolerance = Tolerance(
        set=table.date("set"),
        limits=_limits(table, "limits", metrics),
        reason=table.text("reason"),
        real=_limits(table, "real", metrics) if table.has("real") else None,
        carried_over=table.flag("carried_over", False),
    )
    table.finish()
    if not tolerance.limits and not tolerance.real:
        raise table.fail("limits", {}, f"a table with limits of {listed(metrics)}")
    if not tolerance.reason.strip():
        raise table.fail("reason", tolerance.reason, "a text that says why")
    return tolerance


def _limits(table: TomlTable, key: str, metrics: Collection[str]) -> Limits:
    limits_table = table.table(key)
    metric_names = sorted(
        filter(limits_table.has, metrics), key=list(limits_table.raw).index
    )  # pages show them in the order of the file
    limits = {metric: limits_table.interval(metric) for metric in metric_names}
    limits_table.finish()
    return limits
