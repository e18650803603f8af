"""Campaigns over time: figures and tables of every path, by round and by hour of day."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy

from dumbbell.base.conventions import Convention
from dumbbell.base.digits import decimal
from dumbbell.present.model.content import ReportModel
from dumbbell.present.model.figure_metrics import FigureMetric, main_metric
from dumbbell.present.model.words.wording import NO_DATA
from dumbbell.present.plots import Stroke, TimedAxis, TimedLine, TimedPanel, over_time_figure, scheme_strokes
from dumbbell.present.tables import Field, Table
from dumbbell.results.analysis.findings.words import listing
from dumbbell.results.analysis.over_time import Period, hour_of_day, periods, started_s, stretch
from dumbbell.results.clocks import LEGEND, clocks_text

if TYPE_CHECKING:
    from dumbbell.contract.run import RunTable

KINDS = {"over-time": "every round", "by-hour": "each hour of the day (UTC): medians and quartiles"}
"""Figures of a campaign on a path: throughput, delay and loss."""

IN_WORDS = {kind: f"Throughput, delay and loss of {periods}" for kind, periods in KINDS.items()}


def caption(convention: Convention) -> str:
    """Return the caption of the figures."""
    metrics = listing([metric.title for metric in convention.metrics])
    return (
        f"Over time: {metrics} ({convention.label}) of every round, and their medians by the hour of day (UTC) in "
        "which runs began, with the quartiles as bars."
    )


_MOST_STRETCHES = 12  # rows of a scheme
_UNITS = (("s", 1.0, 300.0), ("min", 60.0, 3 * 3600.0), ("h", 3600.0, 3 * 86400.0), ("days", 86400.0, float("inf")))
_QUARTILES = "Medians with the quartiles, interpolated linearly between runs."


class OverTime:
    """Figures and tables of a campaign over time; empty for other experiments."""

    def __init__(self, model: ReportModel) -> None:
        self.model = model
        self._metrics = [main_metric(metric, model.convention) for metric in model.convention.metrics]

    def draw(self, kind: str, path: str, name: str) -> str:
        """Return one of the figures as SVG; empty if no run of the path counts."""
        periods_by_scheme = self.periods(kind, path)
        if not periods_by_scheme:
            return ""
        strokes = scheme_strokes([self.model.styles[scheme.name] for scheme in self.model.schemes])
        looks = {scheme.name: stroke for scheme, stroke in zip(self.model.schemes, strokes, strict=True)}
        axis, place = self._by_hour() if kind == "by-hour" else self._since(periods_by_scheme)
        panels = [
            TimedPanel(
                metric.axis,
                [
                    self._line(scheme, looks[scheme], scheme_periods, metric, place)
                    for scheme, scheme_periods in periods_by_scheme.items()
                ],
            )
            for metric in self._metrics
        ]
        return over_time_figure(name, axis, panels)

    def periods(self, kind: str, path: str) -> dict[str, list[Period]]:
        """Return the drawn periods by scheme, in the order of the report."""
        return self._group_periods(path, hour_of_day if kind == "by-hour" else _round)

    def _group_periods(self, path: str, number: Callable[[RunTable], int | None]) -> dict[str, list[Period]]:
        if self.model.every_s is None:
            return {}
        periods_by_scheme = periods((run.content for run in self.model.of(path)), number, self.model.convention.keys)
        return {
            scheme.name: periods_by_scheme[scheme.name]
            for scheme in self.model.schemes
            if scheme.name in periods_by_scheme
        }

    def _by_hour(self) -> tuple[TimedAxis, Callable[[Period], float]]:
        axis = TimedAxis("Hour of day (UTC)", (-0.5, 23.5), 1.0, range(0, 24, 3))
        return axis, lambda period: float(period.number)

    def _since(self, periods_by_scheme: dict[str, list[Period]]) -> tuple[TimedAxis, Callable[[Period], float]]:
        """Return an axis of the time since the first run that counts, and the place of a period on it.

        The unit suits the length of the campaign.
        """
        every_s = self.model.every_s or 1.0
        moments = [period.at_s for scheme_periods in periods_by_scheme.values() for period in scheme_periods]
        first, last = min(moments), max(moments)
        unit, factor = next((name, seconds) for name, seconds, longest_s in _UNITS if last - first <= longest_s)
        air = max(0.02 * (last - first), 0.5 * every_s if last == first else 0.0) / factor
        axis = TimedAxis(f"Time since the first run ({unit})", (-air, (last - first) / factor + air), every_s / factor)
        return axis, lambda period: (period.at_s - first) / factor

    def _line(
        self,
        scheme: str,
        stroke: Stroke,
        scheme_periods: Sequence[Period],
        metric: FigureMetric,
        place: Callable[[Period], float],
    ) -> TimedLine:
        """Return the line of one scheme, interrupted where periods are missing."""
        rows: list[tuple[float, float, float, float]] = []
        for period, following in pairwise([*scheme_periods, None]):
            assert period is not None
            spread = period.metrics.get(metric.key)
            values = (spread.median, spread.low, spread.high) if spread else (float("nan"),) * 3
            median, low, high = (metric.factor * value for value in values)
            rows.append((place(period), median, low, high))
            if following is not None and following.number > period.number + 1:
                between = (place(period) + place(following)) / 2
                rows.append((between, *(float("nan"),) * 3))
        columns = numpy.array(rows).T
        return TimedLine(self.model.scheme_title(scheme), stroke, *columns)

    def tables(self, path: str) -> list[tuple[str, Table]]:
        """Return the tables with their headings."""
        rounds = max((run.number for run in self.model.of(path)), default=0)
        together = stretch(rounds, _MOST_STRETCHES)
        by_round = self._group_periods(path, partial(_stretch, together))
        if not by_round:
            return []
        began = {number: _moment(self._first_s(path, number, together)) for number in range(-(-rounds // together))}

        def stretch_field(period: Period) -> Field:
            first = period.number * together + 1
            last = min(first + together - 1, rounds)
            return Field(f"{first}" if first == last else f"{first} to {last}", began[period.number], period.number)

        def hour_field(period: Period) -> Field:
            return Field(f"{period.number:02}:00", sort=period.number)

        by_hour = self._group_periods(path, hour_of_day)
        rounds_caption = f"{_QUARTILES} Rounds with the moment (UTC) at which the first of their runs began."
        hours_caption = f"{_QUARTILES} Hours are those (UTC) in which runs began."
        return [
            ("Over time, by round", self._table(by_round, "rounds", stretch_field, rounds_caption)),
            ("Over time, by hour of day", self._table(by_hour, "hour", hour_field, hours_caption)),
        ]

    def _first_s(self, path: str, number: int, together: int) -> float | None:
        moments = (
            started_s(run.content)
            for run in self.model.of(path)
            if run.good and _stretch(together, run.content) == number
        )
        return min((moment for moment in moments if moment is not None), default=None)

    def _table(
        self, periods_by_scheme: dict[str, list[Period]], head: str, name: Callable[[Period], Field], caption: str
    ) -> Table:
        rows = [
            (
                Field(self.model.scheme_title(scheme), scheme=scheme),
                name(period),
                Field(str(period.runs), sort=period.runs),
                *(self._field(period, metric) for metric in self._metrics),
            )
            for scheme, scheme_periods in periods_by_scheme.items()
            for period in scheme_periods
        ]
        if any(
            spread.clocks
            for scheme_periods in periods_by_scheme.values()
            for period in scheme_periods
            for spread in period.metrics.values()
        ):
            caption += f" {LEGEND}"
        columns = ("scheme", head, "# runs", *(metric.axis for metric in self._metrics))
        return Table(caption, (), columns, tuple(rows), "ll")

    def _field(self, period: Period, metric: FigureMetric) -> Field:
        def number(value: float) -> str:
            return decimal(metric.factor * value, metric.digits)

        spread = period.metrics.get(metric.key)
        if spread is None:
            return Field(NO_DATA)
        quartiles = "" if spread.count == 1 else f"{number(spread.low)} to {number(spread.high)}"
        note = "\n".join(filter(None, (quartiles, clocks_text(spread.clocks, number))))
        return Field(number(spread.median), note, spread.median)


def _round(run: RunTable) -> int:
    return int(run["run"])


def _stretch(together: int, run: RunTable) -> int:
    return (_round(run) - 1) // together


def _moment(moment_s: float | None) -> str:
    return "" if moment_s is None else f"{numpy.datetime64(int(moment_s), 's')}".replace("T", " ")
