"""A benchmark in the explorer: verdicts, its experiments, and the scorecard of RFC 9743."""

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
_UTILIZATION, _QUEUEING_DELAY = metric("network", "utilization"), metric("flow", "self_inflicted_delay_p95_ms")
_TIMES = ("mean_s", "p95_s", "p99_s")


def benchmark_places(benchmark: Benchmark) -> list[Place]:
    """Return the results directories of the experiments, each with the name of the experiment."""
    return [Place(f"d{number}", part.name, part.results) for number, part in enumerate(benchmark.parts, 1)]


class BenchmarkDocument:
    """All judgements of a benchmark as JSON."""

    def __init__(self, benchmark: Benchmark) -> None:
        """Read the statistics of every run.

        Raises:
            UserError: A cell does not belong to its experiment.
        """
        self.measured = MeasuredBenchmark(benchmark)
        self.verdicts = list(judgements(self.measured))
        self._places = {entry.name: f"d{entry.number}" for entry in self.measured.experiments}

    def content(self) -> Entry:
        """Return the content of `data/benchmark.json`."""
        benchmark = self.measured
        runs = [run for experiment in benchmark.experiments for run in experiment.all_runs]
        simulated_s = sum(
            experiment.experiment.duration_s * sum(run.good for run in experiment.all_runs)
            for experiment in benchmark.experiments
        )
        criteria = load()
        return {
            "schemes": benchmark.titles,
            "examined": list(benchmark.examined),
            "baselines": list(benchmark.benchmark.baselines),
            "quick": benchmark.benchmark.quick,
            "command": benchmark.benchmark.command,
            "runs": len(runs),
            "cells": sum(len(experiment.cells) for experiment in benchmark.experiments),
            "simulated_s": simulated_s,
            "overall": _overall(benchmark),
            "verdicts": [self._verdict(verdict) for verdict in self.verdicts],
            "experiments": [self._experiment(experiment) for experiment in benchmark.experiments],
            "source": criteria.source,
            "criteria": [self._criterion(criterion) for criterion in criteria.criteria],
        }

    def _verdict(self, judgement: Judgement) -> Entry:
        return (
            judgement.as_json()
            | {"title": judgement.title, "directory": self._places[judgement.experiment]}
            | {"metric": _metric(judgement.metric)}
        )

    def _experiment(self, member: MeasuredExperiment) -> Entry:
        experiment = member.experiment
        numbers = list(dict.fromkeys((member.headline, DELAY)))
        return {
            "directory": self._places[member.name],
            "name": member.name,
            "title": member.title,
            "group": member.membership.group,
            "text": member.membership.text,
            "labels": member.labels,
            "cells": len(member.cells),
            "runs": len(member.all_runs),
            "varied": [axis for axis in member.axes if len(member.cells) > 1],
            "numbers": [_over_cells(member, metric_of_number) for metric_of_number in numbers],
            "charts": [CHARTS[kind] for kind in member.membership.figures if kind in CHARTS],
            "bad": [
                _run(run) | {"status": run.content["status"], "reason": run.content["reason"] or MISSING}
                for run in member.unsuccessful
            ],
            "contradictions": [
                _run(contradiction.run) | {"text": contradiction.text} for contradiction in contradictions(member)
            ],
            "matches": [_match(member, match) for match in matches(member)],
            "completions": [
                completion for cell in member.cells if (completion := _completions(member, cell)) is not None
            ],
            "again": f"dumbbell run experiments/{member.name}/experiment.toml --out NEW",
            "shipped": shlex.join(["dumbbell", "run", member.name, "--schemes", ",".join(experiment.labels)]),
            "commands": [self._commands(member, cell) for cell in member.cells],
        }

    def _commands(self, member: MeasuredExperiment, cell: MeasuredCell) -> Entry:
        """Return the commands that repeat a cell for the schemes under test, also as ccperf has them if possible."""
        examined_labels = [label for label in member.labels if label in self.measured.examined]
        words = ["dumbbell", "run", f"experiments/{member.name}/experiment.toml", "--cell", cell.name]
        again = shlex.join([*words, "--schemes", ",".join(examined_labels or member.labels), "--out", "NEW"])
        ccperf = [line for label in examined_labels if (line := ccperf_line(member, cell, label))]
        return {"label": cell.label(member.axes), "again": again, "ccperf": ccperf}

    def _criterion(self, criterion: Criterion) -> Entry:
        pairs = [(evidence, self.measured.find(evidence.experiment)) for evidence in criterion.evidence]
        return {
            **{key: getattr(criterion, key) for key in ("section", "title", "strength", "show", "not_here")},
            "missing": [evidence.experiment for evidence, experiment in pairs if experiment is None],
            "facts": [self._fact(fact) for fact in criterion.facts],
            "evidence": [
                self._evidence(evidence, experiment) for evidence, experiment in pairs if experiment is not None
            ],
        }

    def _fact(self, fact: Fact) -> Entry:
        sights = []
        for scheme in self.measured.examined:
            sight = look(self.measured, fact, scheme)
            cells = [
                {"directory": self._places[experiment.name], "path": cell.name, "label": cell.label(experiment.axes)}
                for experiment, cell in sight.cells_met
            ]
            sights.append({"scheme": scheme, "looked": sight.examined_count, "seen": cells})
        return {"name": fact.name, "rule": fact.rule, "sights": sights}

    def _evidence(self, evidence: Evidence, member: MeasuredExperiment) -> Entry:
        return {
            "directory": self._places[member.name],
            "matches": evidence.matrix,
            "numbers": [_over_cells(member, member.judged(name)) for name in evidence.metrics],
        }


def _metric(entry: Metric) -> Entry:
    return {
        "name": entry.name,
        "title": entry.words,
        "unit": entry.unit,
        "better": _BETTER[entry.better],
        "level": entry.level,
        "formula": entry.formula,
    }


def _run(run: MeasuredRun) -> Entry:
    return {"scheme": run.planned.scheme, "path": run.planned.path, "run": run.planned.run}


def _over_cells(member: MeasuredExperiment, entry: Metric) -> Entry:
    """Return a metric of each scheme as the mean over the cells, with the lowest and the highest cell."""
    values = {label: [value for _, value in member.means_of(label, entry)] for label in member.labels}
    return {
        "metric": _metric(entry),
        "comparable": member.comparable(member.labels, entry),
        "values": {
            label: {
                "mean": sum(cell_values) / len(cell_values),
                "low": min(cell_values),
                "high": max(cell_values),
                "cells": len(cell_values),
            }
            for label, cell_values in values.items()
            if cell_values
        },
    }


def _overall(benchmark: MeasuredBenchmark) -> Entry | None:
    """Return utilisation and delay of the schemes that most experiments have.

    The means are over the cells in which all of these schemes ran.
    """
    alone = [experiment for experiment in benchmark.experiments if not matches(experiment)]
    labels = [
        name for name in benchmark.schemes if 2 * sum(name in experiment.labels for experiment in alone) > len(alone)
    ]
    rows: list[list[tuple[float, float]]] = []
    for experiment in alone:
        values_of_schemes = [_utilization_and_delay(experiment, label) for label in labels]
        common_cells = set[str]().union(*values_of_schemes).intersection(*values_of_schemes)
        rows += [
            [values[cell.name] for values in values_of_schemes]
            for cell in experiment.cells
            if cell.name in common_cells
        ]
    if not rows:
        return None
    points = []
    for label, pairs in zip(labels, zip(*rows, strict=True), strict=True):
        utilization, delay_ms = (sum(values) / len(rows) for values in zip(*pairs, strict=True))
        points.append({"scheme": label, "utilization": utilization, "delay_ms": delay_ms})
    return {"cells": len(rows), "points": points}


def _utilization_and_delay(member: MeasuredExperiment, label: str) -> dict[str, tuple[float, float]]:
    """Return utilisation and self-inflicted delay by cell, if both are known."""
    utilization, delay_ms = (
        {cell.name: value for cell, value in member.means_of(label, entry)} for entry in (_UTILIZATION, _QUEUEING_DELAY)
    )
    return {name: (utilization[name], delay_ms[name]) for name in utilization if name in delay_ms}


def _match(member: MeasuredExperiment, entry: Match) -> Entry:
    axes = [axis for axis in member.axes if axis != axis_of(member)]
    return {
        "place": entry.cell.label(axes) if axes else "",
        "surroundings": list(surroundings(member, entry.cell)),
        "path": entry.cell.name,
        "label": entry.label,
        "competitor": entry.competitor,
        "numbers": entry.numbers,
        "share": _estimate(entry.share),
        "fair": entry.fair,
        "done": [_harm(harm) for harm in entry.done],
        "suffered": [_harm(harm) for harm in entry.suffered],
    }


def _harm(harm: Harm) -> Entry:
    return {
        "metric": _metric(harm.metric),
        "harm": harm.harm,
        "solo": harm.solo.mean,
        "beside": harm.beside.mean,
    }


def _estimate(estimate: Estimate | None) -> Entry | None:
    return None if estimate is None else {key: value for key, value in asdict(estimate).items() if key != "clocks"}


def _completions(member: MeasuredExperiment, cell: MeasuredCell) -> Entry | None:
    """Return completion times over the size of transfers; None if all have one size."""
    entries = {
        label: [entry for run in cell.good(label) for entry in run.content["network"].get("completions") or []]
        for label in member.labels
    }
    sizes = sorted({entry["bytes"] for scheme_entries in entries.values() for entry in scheme_entries})
    if len(sizes) < 2:
        return None

    def times(label: str, key: str) -> Iterator[Entry | None]:
        for size in sizes:
            values = (value_of(entry, key) for entry in entries[label] if entry["bytes"] == size)
            yield _estimate(estimate([value for value in values if value is not None]))

    return {
        "label": cell.label(member.axes),
        "bytes": sizes,
        "times": {key: {label: list(times(label, key)) for label in member.labels} for key in _TIMES},
    }


def first_runs(benchmark: Benchmark, max_cells: int) -> set[tuple[str, str, str]]:
    """Return (experiment, path, scheme) of at most `most` cells.

    Experiments alternate; the schemes under test come first.
    """
    cells_by_experiment = [_cells(benchmark.schemes, part) for part in benchmark.parts]
    in_turn = [
        cells[place]
        for place in range(max(map(len, cells_by_experiment), default=0))
        for cells in cells_by_experiment
        if place < len(cells)
    ]
    return set(in_turn[:max_cells])


def _cells(tested_schemes: Sequence[str], part: Part) -> list[tuple[str, str, str]]:
    pairs = dict.fromkeys((run.path, run.scheme) for run in part.results.planned())
    return [(part.name, *pair) for pair in sorted(pairs, key=lambda pair: pair[1] not in tested_schemes)]
