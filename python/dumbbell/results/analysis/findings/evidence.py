"""Evidence for findings: the repetitions of an experiment, the places of its runs, and their competitors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from dumbbell.base.conventions import CONVENTIONS, Convention, MainMetric
from dumbbell.base.errors import capitalized, printable
from dumbbell.catalog.grids.flows import FlowPlan
from dumbbell.experiment import Experiment
from dumbbell.results.analysis.axis_words import axis_phrase, axis_phrases, varied_axes
from dumbbell.results.analysis.findings.conduct import CONDUCT, Doubt, accusations
from dumbbell.results.analysis.findings.means import mean_of
from dumbbell.results.analysis.findings.words import listing, name, number_of
from dumbbell.results.analysis.shares import Share, shares
from dumbbell.results.analysis.summary import MetricKey, Repetitions

if TYPE_CHECKING:
    from dumbbell.contract.run import AxisValue, RunTable


ALWAYS = -1


@dataclass(frozen=True)
class Sentence:
    """A finding. Of too many, those of the smallest `importance` stay: 1 comes before 2.

    A finding of importance `ALWAYS` always stays, and is not counted.
    """

    importance: int
    text: str


ENOUGH = 0.5
"""Minimum throughput of a scheme for comparisons of its delay, as a fraction of the path's highest throughput."""


@dataclass(frozen=True)
class Question:
    """Metric by which findings rank schemes; `sign` is -1 if more is better, 1 if less is."""

    key: MetricKey
    metric: MainMetric
    sign: float

    def superlative(self, among: str) -> str:
        """Return `most goodput` or `least p95 one-way delay`, with the compared schemes if these are not all."""
        return f"{'most' if self.sign < 0 else 'least'} {self.metric.title}{among}"

    def best(self, among: str, mean: float, schemes: Sequence[str]) -> str:
        """Return `most goodput: 9.65 Mbit/s, cubic (standing queue) and bbr`."""
        return f"{self.superlative(among)}: {number_of(self.metric)(mean)} {self.metric.unit}, {listing(schemes)}"


class Evidence:
    """Runs of an experiment, as in `show --json`, and their repetitions by path and scheme."""

    def __init__(
        self,
        experiment: Experiment,
        runs: Sequence[RunTable],
        groups: Mapping[tuple[str, str], Repetitions],
        states: Mapping[str, int] | None = None,
    ) -> None:
        self.experiment = experiment
        self.runs = runs
        self.states: Counter[str] = Counter((str(run["status"]) for run in runs) if states is None else states)
        """Number of runs of each status."""
        self.axes: dict[str, Mapping[str, AxisValue]] = {run["path"]: run.get("axes") or {} for run in self.runs}
        """Axis values of the cell by the name of its path; empty without a grid."""
        self.groups = [group for group in groups.values() if group.good]
        """Repetitions with at least one run that counts."""
        self._accused: dict[tuple[str, str], list[Doubt]] = {}

    @cached_property
    def mixed(self) -> list[tuple[Repetitions, list[Share]]]:
        """Groups whose flows have several schemes, each with the shares of the schemes."""
        mixes = []
        for group in self.groups:
            if not all(group.flows):
                continue
            rows = shares(group, self.shown)
            count = Counter(share.scheme for share in rows)
            # a scheme with several flows has a common row, and sometimes a row per flow
            scheme_rows = [share for share in rows if not share.single or count[share.scheme] == 1]
            if len(count) > 1:
                mixes.append((group, scheme_rows))
        return mixes

    @cached_property
    def uniform(self) -> list[Repetitions]:
        """Groups whose flows all have the same scheme."""
        return [group for group in self.groups if len({flow["scheme"] for flows in group.flows for flow in flows}) == 1]

    @cached_property
    def by_path(self) -> dict[str, list[Repetitions]]:
        """Uniform groups of each path, or cell, that has one."""
        groups_by_path: dict[str, list[Repetitions]] = {}
        for group in self.uniform:
            groups_by_path.setdefault(group.path, []).append(group)
        return groups_by_path

    @cached_property
    def shown(self) -> Convention:
        """Convention of the experiment; if the runs only have numbers of another convention, that convention."""
        for convention in (self.experiment.convention_shown, *CONVENTIONS.values()):
            key = ("network", 0, convention.throughput.key)
            if any(key in group.values for group in self.groups):
                return convention
        return self.experiment.convention_shown

    @property
    def throughput(self) -> MetricKey:
        """Metric of the throughput of all flows together."""
        return ("network", 0, self.shown.throughput.key)

    @property
    def delay(self) -> MetricKey:
        """Metric of the delay of all flows together."""
        return ("network", 0, self.shown.delay.key)

    @property
    def loss(self) -> MetricKey:
        """Metric of the loss of all flows together."""
        return ("network", 0, self.shown.loss.key)

    @property
    def questions(self) -> tuple[Question, Question]:
        """The two metrics that rank schemes: throughput and delay."""
        return Question(self.throughput, self.shown.throughput, -1.0), Question(self.delay, self.shown.delay, 1.0)

    @property
    def place_noun(self) -> str:
        """Noun for a place: `cell` in a grid, otherwise `path`."""
        return "cell" if any(self.axes.values()) else "path"

    @cached_property
    def varied(self) -> list[str]:
        """Axes of the grid with several values; the path counts as one."""
        return varied_axes([axes for axes in self.axes.values() if axes])

    def place(self, path: str, without: str = "") -> str:
        """Return the difference of this path, or cell, from the others: `base RTT 40 ms, queue 2 BDP`.

        `without` is an axis to leave out. If no axis differs, return the name of the path that the cells are made of.
        """
        axes = self.axes.get(path) or {}
        words = axis_phrases({name: axes.get(name) for name in self.varied if name != without})
        return words or str(axes.get("path", path))

    def at(self, path: str, without: str = "") -> str:
        """Return the place as a part of a sentence: `on cable`, `at base RTT 20 ms`, `beside cubic`."""
        place = self.place(path, without)
        if place.startswith(axis_phrase("scheme", "")):
            return printable(place)
        axes = self.axes.get(path) or {}
        on = "path" in self.varied or place == str(axes.get("path", path))
        return printable(f"{'on' if on else 'at'} {place}")

    @property
    def compared(self) -> list[str]:
        """Paths, or cells, in which several schemes were run by themselves."""
        return [path for path, groups in self.by_path.items() if len(groups) > 1]

    def accused(self, group: Repetitions) -> list[Doubt]:
        """Return the suspicious conduct of a group's flows."""
        place = (group.path, group.scheme)
        if place not in self._accused:
            self._accused[place] = list(accusations(group))
        return self._accused[place]

    def candidates(self, path: str) -> list[Repetitions]:
        """Return the uniform groups of a path that are compared: those without a fault that comparisons do not show.

        If no group is without such a fault, all of them are compared.
        """
        groups = self.by_path.get(path, [])
        return [group for group in groups if self._is_sound(group)] or groups

    def _is_sound(self, group: Repetitions) -> bool:
        return all(CONDUCT[doubt.kind].is_compared for doubt in self.accused(group))

    def left_out(self) -> dict[str, list[str]]:
        """Return the schemes of each path that comparisons leave out for their conduct."""
        unsound = {
            path: [group.scheme for group in groups if not self._is_sound(group)]
            for path, groups in self.by_path.items()
        }
        return {path: schemes for path, schemes in unsound.items() if schemes}

    def without(self, paths: Sequence[str]) -> str:
        """Return `without blast, ` if comparisons on the paths leave schemes out for their conduct.

        If the paths differ in these schemes, return `without 7 of 60 pairs of scheme and path, `.
        """
        omitted_names = []
        for path in paths:
            candidates = self.candidates(path)
            omitted_names.append(
                [name(group.scheme) for group in self.by_path.get(path, []) if group not in candidates]
            )
        if not any(omitted_names):
            return ""
        if all(names == omitted_names[0] for names in omitted_names):
            return f"without {listing(omitted_names[0])}, "
        pairs = sum(len(self.by_path.get(path, [])) for path in paths)
        return f"without {sum(map(len, omitted_names))} of {pairs} pairs of scheme and {self.place_noun}, "

    def mark(self, group: Repetitions) -> str:
        """Return `standing queue` for a group that has one: it is compared, with this mark."""
        return "standing queue" if any(doubt.kind == "queue" for doubt in self.accused(group)) else ""

    def marked_name(self, group: Repetitions) -> str:
        """Return the name of the group's scheme, with its mark if it has one: `cubic (standing queue)`."""
        mark = self.mark(group)
        return f"{name(group.scheme)} ({mark})" if mark else name(group.scheme)

    def rivals(self, path: str, key: MetricKey) -> list[Repetitions]:
        """Return the candidates of a path that are compared in a metric: of the delay, those that carry enough.

        The packets of a scheme that sends little wait little. A scheme carries enough if its mean throughput is at
        least half of the largest mean throughput on the path. A group of unknown throughput is compared too.
        """
        groups = self.candidates(path)
        if key != self.delay:
            return groups
        means = [mean_of(group, self.throughput) for group in groups]
        least = ENOUGH * max((mean for mean in means if mean is not None), default=0.0)
        return [group for group, mean in zip(groups, means, strict=True) if mean is None or mean >= least]

    def alone(self, text: str) -> str:
        """Return a sentence on schemes by themselves, which begins with `Alone` if there are mixes too."""
        single = all(len(flows) == 1 for group in self.uniform for flows in group.flows)
        return f"Alone, {text}" if self.mixed and single else capitalized(text)

    def among(self, paths: Iterable[str], key: MetricKey) -> str:
        """Return ` among schemes with at least half of the most goodput` if that leaves schemes out on the paths."""
        if all(len(self.rivals(path, key)) == len(self.candidates(path)) for path in paths):
            return ""
        return f" among schemes with at least half of the most {self.shown.throughput.title}"

    def comes_and_goes(self, group: Repetitions) -> bool:
        """Return True if flows of the group arrive by a rule: their number at a time is then unknown."""
        return any(plan.arrivals or plan.count != 1 for plan in self._plans(group))

    def _plans(self, group: Repetitions) -> list[FlowPlan]:
        is_known = group.path in self.experiment.paths
        return self.experiment.flow_plans(group.scheme, group.path) if is_known else []

    def one_way(self, group: Repetitions) -> bool:
        """Return True if all data of the group passes the path in its data direction, which has the first link."""
        return not any(plan.reverse or plan.enter or plan.leave for plan in self._plans(group))
