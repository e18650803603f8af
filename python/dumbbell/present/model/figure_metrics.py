"""Metrics that figures draw: titles for axes, units, and values in runs."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING

from dumbbell.base.conventions import CONVENTIONS, CORRECTED, PANTHEON, Convention, MainMetric
from dumbbell.base.digits import decimal
from dumbbell.base.errors import UserError, capitalized, listed, nearest
from dumbbell.contract.statistics import Definition
from dumbbell.core.metrics import metric_definitions
from dumbbell.results.analysis.metric_words import metric_words
from dumbbell.results.analysis.shares import share_of
from dumbbell.results.analysis.summary import Estimate, Repetitions
from dumbbell.results.numbers import flat

if TYPE_CHECKING:
    from dumbbell.contract.run import RunTable

SHARE = "share:"
"""Before the name of a scheme: the metric is the share of the payload that its flows get in a mix."""

_LEVELS = ("network", "flow", "link")
_PERCENT = ("utilization", "_rate", "_share", "_ratio", "utilization_l4", "utilization_bw_l4", "utilization_bdp_l4")


@dataclass(frozen=True)
class FigureMetric:
    """A metric that figures can draw, with one value for each run.

    The value is that of all flows together, the mean over the flows, or that of the bottleneck. A value times `factor`
    is in the unit `unit`. `better` is `more`, `less` or `neutral`. `convention` is the label of Pantheon's convention
    if the metric belongs to it, and empty otherwise.
    """

    key: str
    title: str
    unit: str
    factor: float = 1.0
    digits: int = 2
    better: str = "neutral"
    convention: str = ""
    scheme: str = ""
    """The scheme of a share; empty for other metrics."""

    @property
    def axis(self) -> str:
        """Title, unit and convention, for axes: `Goodput (Mbit/s)`."""
        unit = f" ({self.unit})" if self.unit else ""
        return f"{capitalized(self.title)}{unit}{self._by}"

    @property
    def _by(self) -> str:
        return f", {self.convention}" if self.convention else ""

    @property
    def column(self) -> str:
        """Name of the column in tables of numbers."""
        return f"share_{self.scheme}" if self.scheme else self.key

    @property
    def is_delay(self) -> bool:
        """True if the unit is ms: the axis is then scaled like the axes of delays."""
        return self.unit == "ms"

    @property
    def is_fraction(self) -> bool:
        """True for a fraction of a whole: intervals of its mean stay within it."""
        return bool(self.scheme) or _definitions()[self.key]["fraction"]

    def text(self, value: float) -> str:
        """Return a value, in the unit that figures show, with its unit."""
        return f"{value:.{self.digits}f} {self.unit}".strip()

    def estimate_text(self, estimate: Estimate | None) -> str:
        """Return a mean in the unit that figures show, with its interval; `-` for None."""
        if estimate is None:
            return "-"

        def number(value: float) -> str:
            return decimal(value, self.digits)

        return f"{number(estimate.mean)} {estimate.bounds_text(number)}".strip()

    def value(self, run: RunTable) -> float | None:
        """Return the value of a run, given as in `show --json`, in the unit that figures show; None if it has none."""
        raw_value = self._raw(run)
        return None if raw_value is None else self.factor * raw_value

    def _raw(self, run: RunTable) -> float | None:
        if self.scheme:
            scheme_shares = [share_of(flow) for flow in run["flows"] if flow.get("scheme") == self.scheme]
            shares = [float(share) for share in scheme_shares if share is not None]
            return sum(shares) if shares else None
        network = dict(flat(run["network"]))
        if self.key in network or _definitions()[self.key]["level"] == "network":
            return network.get(self.key)
        of_flows = [value for flow in run["flows"] if (value := dict(flat(flow)).get(self.key)) is not None]
        if of_flows:
            return statistics.fmean(of_flows)
        return dict(flat(run["links"][0])).get(self.key) if run["links"] else None

    def estimate(self, group: Repetitions, runs: Sequence[RunTable]) -> Estimate | None:
        """Return mean and interval over the `runs` of a group that count, in the unit that figures show."""
        of_network = None if self.scheme else group.estimate(("network", 0, self.key))
        if of_network is None:
            values = [value for run in runs if (value := self.value(run)) is not None]
            return self.mean_of(values) if values else None
        return self._scaled(of_network)

    def mean_of(self, values: Sequence[float]) -> Estimate:
        """Return mean and interval of values in the unit that figures show."""
        return self._scaled(Estimate.of([value / self.factor for value in values], fraction=self.is_fraction))

    def _scaled(self, estimate: Estimate) -> Estimate:
        clocks = estimate.clocks
        return replace(
            estimate,
            mean=self.factor * estimate.mean,
            low=None if estimate.low is None else self.factor * estimate.low,
            high=None if estimate.high is None else self.factor * estimate.high,
            clocks=None if clocks is None else (self.factor * clocks[0], self.factor * clocks[1]),
        )


def main_metric(metric: MainMetric, convention: Convention) -> FigureMetric:
    """Return one of the three metrics of a convention."""
    better = _definitions()[metric.key]["better"]
    by = convention.label if convention is PANTHEON else ""
    return FigureMetric(metric.key, metric.title, metric.unit, metric.factor, metric.digits, better, by)


def convention_note(metrics: Sequence[FigureMetric]) -> str:
    """Return a note that names the metrics of the corrected convention. It is empty if an axis names Pantheon's."""
    titles = [metric.title for metric in metrics if metric.key in CORRECTED.keys]
    if not titles or any(metric.convention for metric in metrics):
        return ""
    return f"{' and '.join(', '.join(titles).rsplit(', ', 1))}: {CORRECTED.label}"


def find_metric(name: str, schemes: Sequence[str]) -> FigureMetric:
    """Return the metric called `name`, or the share of one of the `schemes`: `share:bbr`.

    Raises:
        UserError: No metric or scheme has this name; the message suggests the closest.
    """
    if name.startswith(SHARE):
        scheme = name.removeprefix(SHARE)
        if scheme not in schemes:
            raise UserError(f"{name}: unknown scheme `{scheme}`{nearest(scheme, schemes)}: there are {listed(schemes)}")
        return FigureMetric(name, f"share of {scheme} in the payload", "%", 100.0, 1, "neutral", scheme=scheme)
    for convention in CONVENTIONS.values():
        for main in convention.metrics:
            if main.key == name:
                return main_metric(main, convention)
    if name not in _definitions():
        raise UserError(f"unknown metric `{name}`{nearest(name, _definitions())}: `dumbbell list metrics` shows all")
    definition = _definitions()[name]
    # counters cover the whole run, unlike the time that the corrected convention counts
    scope = ", whole run" if definition["convention"] == "counter" else ""
    percent = not definition["unit"] and name.endswith(_PERCENT)
    return FigureMetric(
        name,
        f"{metric_words(name)}{scope}",
        "%" if percent else definition["unit"],
        100.0 if percent else 1.0,
        better=definition["better"],
    )


@cache
def _definitions() -> dict[str, Definition]:
    """Return the definition of each metric by its name.

    If several levels have a metric of this name, the network comes before the flows, and these before the links.
    """
    definitions: dict[str, Definition] = {}
    metrics = sorted(metric_definitions(), key=lambda metric: _LEVELS.index(metric["level"]))
    for metric in metrics:
        definitions.setdefault(metric["name"], metric)
    return definitions
