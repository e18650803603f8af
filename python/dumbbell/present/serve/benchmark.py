"""A benchmark as the explorer shows it: verdicts, its experiments, and the scorecard of RFC 9743."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from dumbbell.catalog.membership import CHARTS
from dumbbell.present.serve.runs_table import Place
from dumbbell.results.analysis.summary import Estimate
from dumbbell.results.directory import MISSING
from dumbbell.results.judging.ccperf_line import ccperf_line
from dumbbell.results.judging.checks import contradictions
from dumbbell.results.judging.competition import Harm, Match, axis_of, matches, surroundings
from dumbbell.results.judging.criteria import Criterion, Evidence, Fact, load
from dumbbell.results.judging.direction import Metric, metric
from dumbbell.results.judging.facts import look
from dumbbell.results.judging.measured import MeasuredBenchmark, MeasuredCell, MeasuredExperiment, MeasuredRun, estimate
from dumbbell.results.judging.verdicts import DELAY, Judgement, judgements
from dumbbell.results.numbers import value_of

if TYPE_CHECKING:
    from dumbbell.results.benchmark_results import Benchmark, Part

Entry = dict[str, object]

_BETTER = {1: "more", -1: "less", 0: "neutral"}
_USED, _WAITED = metric("network", "utilization"), metric("flow", "self_inflicted_delay_p95_ms")
_TIMES = ("mean_s", "p95_s", "p99_s")


def benchmark_places(benchmark: Benchmark) -> list[Place]:
    """Return the results directories of the experiments, each with the name of the experiment."""
    return [Place(f"d{number}", part.name, part.results) for number, part in enumerate(benchmark.parts, 1)]


class BenchmarkDocument:
    """All judgements of a benchmark as JSON."""

    def __init__(self, benchmark: Benchmark) -> None:
        """Read the statistics of every run.

        Raises:
            UserError: a cell is none of its experiment.
        """
        self.measured = MeasuredBenchmark(benchmark)
        self.verdicts = list(judgements(self.measured))
        self._places = {found.name: f"d{found.number}" for found in self.measured.experiments}

    def content(self) -> Entry:
        """Return what `data/benchmark.json` says."""
        measured = self.measured
        runs = [run for found in measured.experiments for run in found.all_runs]
        simulated_s = sum(
            found.experiment.duration_s * sum(run.good for run in found.all_runs) for found in measured.experiments
        )
        criteria = load()
        return {
            "schemes": measured.titles,
            "examined": list(measured.examined),
            "baselines": list(measured.benchmark.baselines),
            "quick": measured.benchmark.quick,
            "command": measured.benchmark.command,
            "runs": len(runs),
            "cells": sum(len(found.cells) for found in measured.experiments),
            "simulated_s": simulated_s,
            "overall": _overall(measured),
            "verdicts": [self._verdict(each) for each in self.verdicts],
            "experiments": [self._experiment(found) for found in measured.experiments],
            "source": criteria.source,
            "criteria": [self._criterion(each) for each in criteria.criteria],
        }

    def _verdict(self, each: Judgement) -> Entry:
        return (
            each.as_json()
            | {"title": each.title, "directory": self._places[each.experiment]}
            | {"metric": _metric(each.metric)}
        )

    def _experiment(self, found: MeasuredExperiment) -> Entry:
        experiment = found.experiment
        numbers = list(dict.fromkeys((found.headline, DELAY)))
        return {
            "directory": self._places[found.name],
            "name": found.name,
            "title": found.title,
            "group": found.membership.group,
            "text": found.membership.text,
            "labels": found.labels,
            "cells": len(found.cells),
            "runs": len(found.all_runs),
            "varied": [axis for axis in found.axes if len(found.cells) > 1],
            "numbers": [_over_cells(found, each) for each in numbers],
            "charts": [CHARTS[kind] for kind in found.membership.figures if kind in CHARTS],
            "bad": [
                _run(run) | {"status": run.content["status"], "reason": run.content["reason"] or MISSING}
                for run in found.unsuccessful
            ],
            "contradictions": [_run(each.run) | {"text": each.text} for each in contradictions(found)],
            "matches": [_match(found, each) for each in matches(found)],
            "completions": [made for cell in found.cells if (made := _completions(found, cell)) is not None],
            "again": f"dumbbell run experiments/{found.name}/experiment.toml --out NEW",
            "shipped": shlex.join(["dumbbell", "run", found.name, "--schemes", ",".join(experiment.labels)]),
            "commands": [self._commands(found, cell) for cell in found.cells],
        }

    def _commands(self, found: MeasuredExperiment, cell: MeasuredCell) -> Entry:
        """What repeats a cell for the schemes under test, in ccperf's command line too where it has them."""
        examined = [label for label in found.labels if label in self.measured.examined]
        words = ["dumbbell", "run", f"experiments/{found.name}/experiment.toml", "--cell", cell.name]
        again = shlex.join([*words, "--schemes", ",".join(examined or found.labels), "--out", "NEW"])
        ccperf = [line for label in examined if (line := ccperf_line(found, cell, label))]
        return {"label": cell.label(found.axes), "again": again, "ccperf": ccperf}

    def _criterion(self, criterion: Criterion) -> Entry:
        found = [(each, self.measured.find(each.experiment)) for each in criterion.evidence]
        return {
            **{key: getattr(criterion, key) for key in ("section", "title", "strength", "show", "not_here")},
            "missing": [each.experiment for each, experiment in found if experiment is None],
            "facts": [self._fact(fact) for fact in criterion.facts],
            "evidence": [self._evidence(each, experiment) for each, experiment in found if experiment is not None],
        }

    def _fact(self, fact: Fact) -> Entry:
        sights = []
        for scheme in self.measured.examined:
            sight = look(self.measured, fact, scheme)
            seen = [
                {"directory": self._places[found.name], "path": cell.name, "label": cell.label(found.axes)}
                for found, cell in sight.seen
            ]
            sights.append({"scheme": scheme, "looked": sight.looked, "seen": seen})
        return {"name": fact.name, "rule": fact.rule, "sights": sights}

    def _evidence(self, evidence: Evidence, found: MeasuredExperiment) -> Entry:
        return {
            "directory": self._places[found.name],
            "matches": evidence.matrix,
            "numbers": [_over_cells(found, found.judged(each)) for each in evidence.metrics],
        }


def _metric(each: Metric) -> Entry:
    return {
        "name": each.name,
        "title": each.words,
        "unit": each.unit,
        "better": _BETTER[each.better],
        "level": each.level,
        "formula": each.formula,
    }


def _run(run: MeasuredRun) -> Entry:
    return {"scheme": run.planned.scheme, "path": run.planned.path, "run": run.planned.run}


def _over_cells(found: MeasuredExperiment, each: Metric) -> Entry:
    """Return a metric of each scheme as the mean over the cells, with the lowest and the highest cell."""
    values = {label: [value for _, value in found.means_of(label, each)] for label in found.labels}
    return {
        "metric": _metric(each),
        "comparable": found.comparable(found.labels, each),
        "values": {
            label: {"mean": sum(own) / len(own), "low": min(own), "high": max(own), "cells": len(own)}
            for label, own in values.items()
            if own
        },
    }


def _overall(measured: MeasuredBenchmark) -> Entry | None:
    """Return utilisation and delay of schemes that most experiments have, over the cells that all of these ran in."""
    alone = [found for found in measured.experiments if not matches(found)]
    labels = [name for name in measured.schemes if 2 * sum(name in found.labels for found in alone) > len(alone)]
    rows: list[list[tuple[float, float]]] = []
    for found in alone:
        own = [_both(found, label) for label in labels]
        shared = set[str]().union(*own).intersection(*own)
        rows += [[each[cell.name] for each in own] for cell in found.cells if cell.name in shared]
    if not rows:
        return None
    points = []
    for label, pairs in zip(labels, zip(*rows, strict=True), strict=True):
        used, waited = (sum(values) / len(rows) for values in zip(*pairs, strict=True))
        points.append({"scheme": label, "utilization": used, "delay_ms": waited})
    return {"cells": len(rows), "points": points}


def _both(found: MeasuredExperiment, label: str) -> dict[str, tuple[float, float]]:
    """Return utilisation and self-inflicted delay by cell, where both are known."""
    used, waited = ({cell.name: value for cell, value in found.means_of(label, each)} for each in (_USED, _WAITED))
    return {name: (used[name], waited[name]) for name in used if name in waited}


def _match(found: MeasuredExperiment, each: Match) -> Entry:
    axes = [axis for axis in found.axes if axis != axis_of(found)]
    return {
        "place": each.cell.label(axes) if axes else "",
        "surroundings": list(surroundings(found, each.cell)),
        "path": each.cell.name,
        "label": each.label,
        "competitor": each.competitor,
        "numbers": each.numbers,
        "share": _estimate(each.share),
        "fair": each.fair,
        "done": [_harm(harm) for harm in each.done],
        "suffered": [_harm(harm) for harm in each.suffered],
    }


def _harm(harm: Harm) -> Entry:
    return {
        "metric": _metric(harm.metric),
        "harm": harm.harm,
        "solo": harm.solo.mean,
        "beside": harm.beside.mean,
    }


def _estimate(found: Estimate | None) -> Entry | None:
    return None if found is None else {key: value for key, value in asdict(found).items() if key != "clocks"}


def _completions(found: MeasuredExperiment, cell: MeasuredCell) -> Entry | None:
    """Return completion times over the size of transfers; None if all have one size."""
    entries = {
        label: [entry for run in cell.good(label) for entry in run.content["network"].get("completions") or []]
        for label in found.labels
    }
    sizes = sorted({entry["bytes"] for own in entries.values() for entry in own})
    if len(sizes) < 2:
        return None

    def times(label: str, key: str) -> Iterator[Entry | None]:
        for size in sizes:
            known = (value_of(entry, key) for entry in entries[label] if entry["bytes"] == size)
            yield _estimate(estimate([value for value in known if value is not None]))

    return {
        "label": cell.label(found.axes),
        "bytes": sizes,
        "times": {key: {label: list(times(label, key)) for label in found.labels} for key in _TIMES},
    }


def first_runs(benchmark: Benchmark, most: int) -> set[tuple[str, str, str]]:
    """Return (experiment, path, scheme) of at most `most` cells: experiments in turn, schemes under test first."""
    listed = [_cells(benchmark.schemes, part) for part in benchmark.parts]
    in_turn = [own[place] for place in range(max(map(len, listed), default=0)) for own in listed if place < len(own)]
    return set(in_turn[:most])


def _cells(examined: Sequence[str], part: Part) -> list[tuple[str, str, str]]:
    found = dict.fromkeys((run.path, run.scheme) for run in part.results.planned())
    return [(part.name, *each) for each in sorted(found, key=lambda each: each[1] not in examined)]
