"""Comparison of two sides over the cells of a suite, with no more runs than necessary."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING

from dumbbell.base.backend import SIMULATION
from dumbbell.base.errors import UserError, argument
from dumbbell.catalog.check_suite import CheckCell, CheckSuite, JudgedMetric, rule_name
from dumbbell.execution.batches import in_batches
from dumbbell.execution.perform import Execution, perform_apart
from dumbbell.execution.trust import trusted_member
from dumbbell.execution.until import Enough
from dumbbell.results import ResultsDirectory
from dumbbell.results.analysis.findings.conduct import accusations
from dumbbell.results.analysis.summary import Repetitions
from dumbbell_check.baseline import cell_digest, is_same_digest
from dumbbell_check.first_difference import FirstDifference, SentLog, first_difference, parting, sends
from dumbbell_check.judging import FIRST, Judgement, Verdict, judge, looks, overall
from dumbbell_check.kept_packets import MOST_PACKETS, how_to_update
from dumbbell_check.safety import SideFigures, cell_of, figures_by_rule, judgements
from dumbbell_check.sides import (
    BASELINE,
    CANDIDATE,
    KeptCell,
    KeptRule,
    Observations,
    Side,
    first_seed,
    more_seed,
)
from dumbbell_conformance.plans import PlannedCase, bounded, first_plan

if TYPE_CHECKING:
    from dumbbell.base.progress import Progress
    from dumbbell.catalog.path import PathModel
    from dumbbell.catalog.scheme import Scheme
    from dumbbell.experiment import Experiment

LOGGED, NUDGED, MORE, EXPLAINED, SAFETY = "logged", "nudged", "more", "explained", "safety"
"""Folders of a check: the first runs, with packet logs; equal runs on paths that are 1 ns longer; further runs; one
run with a full log for the first difference of the sides; and the runs of the safety rules."""
_NUDGE_MS = 1e-6
"""Change of a path for the test for chaos, ms: 1 ns, the smallest possible one."""
_LOGS = {LOGGED: "packets", NUDGED: "none", MORE: "none", EXPLAINED: "full"}
_NUMBERS_ONLY = (NUDGED, MORE)
"""Parts whose files are not read. Their runs are made in batches if possible, which is faster."""
_MOST_EXPLAINED = 3
KEPT = 28
"""Number of runs of a cell in a baseline, unless the cell has fewer."""


@dataclass(frozen=True)
class Chaos:
    """Effect of the smallest change of the path on a side, for the most affected quantity, in wanted effects."""

    side: str
    metric: str
    moved: float
    unit: str
    effects: float


def most_moved(
    side: str, metrics: Sequence[JudgedMetric], plain: Observations, after_nudge: Observations
) -> Chaos | None:
    """Return the quantity that the smallest change of the path moves most, if by more than its wanted effect."""
    candidates = []
    for metric in metrics:
        before, after = plain.of(metric), after_nudge.of(metric)
        moves = [after[seed] - before[seed] for seed in before if seed in after]
        if not moves:
            continue
        rms_move = math.sqrt(fmean(move * move for move in moves))
        effect = metric.effect(fmean(before.values()))
        if rms_move > effect > 0.0:
            candidates.append(Chaos(side, metric.title, rms_move, metric.unit, rms_move / effect))
    return max(candidates, key=lambda chaos: chaos.effects, default=None)


@dataclass(frozen=True)
class CellResult:
    """Result of a check in one cell."""

    cell: CheckCell
    judgements: tuple[Judgement, ...]
    identical: bool
    chaos: Chaos | None = None
    difference: FirstDifference | None = None
    failures: tuple[str, ...] = ()
    conduct: tuple[str, ...] = ()
    """Suspicious behaviour in the first runs of the candidate, but not in those of the baseline."""

    @property
    def is_rule(self) -> bool:
        """True if the cell is a safety rule."""
        return any(row.rule for row in self.judgements)

    @property
    def compares_packets(self) -> bool:
        """True if the packets of both sides are compared, as for all cells except safety rules and costs."""
        return bool(self.cell.metrics)

    @property
    def verdict(self) -> Verdict:
        """Verdict of the cell: the most severe of its rows."""
        return "worse" if self.failures else overall([row.verdict for row in self.judgements])


@dataclass
class ComparedCell:
    """A cell during the comparison."""

    cell: CheckCell
    sides: Mapping[str, Side]
    rows: int
    most_runs: int
    parts: dict[str, ResultsDirectory] = field(default_factory=dict)
    observations: dict[tuple[str, str], Observations] = field(default_factory=dict)
    """Observations of each part and side, so far."""

    def look(self) -> None:
        """Read the runs of all parts that were made since the last call."""
        for part, results in self.parts.items():
            for name, side in self.sides.items():
                if side.kept_runs is None:
                    self.observations.setdefault((part, name), Observations()).take(results, name, self.cell.metrics)

    def observed(self, name: str, *parts: str) -> Observations:
        """Return the observations of a side in the given parts."""
        kept_runs = self.sides[name].kept_runs
        if kept_runs is not None:
            return kept_runs.cells[self.cell.name].observations
        return Observations.merge(self.observations[part, name] for part in parts if (part, name) in self.observations)

    @property
    def identical(self) -> bool:
        """True if every first run of both sides has an equal packet log."""
        first, second = (self.observed(name, LOGGED).logs for name in (BASELINE, CANDIDATE))
        common = [seed for seed in second if seed in first]
        return bool(common) and all(is_same_digest(first[seed], second[seed]) for seed in common)

    @property
    def is_repeatable(self) -> bool:
        """True if runs can be repeated exactly, so that the first differing packet has a cause."""
        return LOGGED in self.parts and self.parts[LOGGED].experiment.capabilities.repeatable

    def first_differing_run(self) -> int:
        """Return the number of the first run with different packet logs; 1 if there is none."""
        first, second = (self.observed(name, LOGGED).logs for name in (BASELINE, CANDIDATE))
        runs = sorted({run.run: run.seed for run in self.parts[LOGGED].planned()}.items())
        return next((number for number, seed in runs if first.get(seed) != second.get(seed)), 1)

    @cached_property
    def chaos(self) -> Chaos | None:
        """Side and quantity that 1 ns of path moves most; None if none moves by its wanted effect."""
        nudged_names = [name for name in self.sides if (NUDGED, name) in self.observations]
        effects = [
            most_moved(name, self.cell.metrics, *(self.observations[part, name] for part in (LOGGED, NUDGED)))
            for name in nudged_names
        ]
        return max(filter(None, effects), key=lambda chaos: chaos.effects, default=None)

    def conduct(self) -> tuple[str, ...]:
        """Return suspicious behaviour in the first runs of the candidate, but not in those of the baseline."""
        if self.identical or LOGGED not in self.parts:
            return ()
        before, after = (self._accusations(name) for name in (BASELINE, CANDIDATE))
        return tuple(text for kind, text in after.items() if kind not in before)

    def _accusations(self, name: str) -> dict[str, str]:
        """Return suspicious behaviour in the first runs of a side, by the rule for conduct."""
        results = self.parts[LOGGED]
        group = Repetitions(self.cell.name, name)
        for run in results.planned():
            if run.scheme == name:
                group.add(results.readable(run))
        return {doubt.kind: doubt.text for doubt in accusations(group)}

    def judgements(self) -> list[Judgement]:
        """Return the judgements from all runs so far."""
        before, after = (self.observed(name, LOGGED, MORE) for name in (BASELINE, CANDIDATE))
        return [
            judge(
                metric,
                before.of(metric),
                after.of(metric),
                can_pair=self.chaos is None,
                rows=self.rows,
                most_runs=self.most_runs,
                fair=self.fair,
            )
            for metric in self.cell.metrics
        ]

    @property
    def fair(self) -> float:
        """Share of the flows under test if every flow got an equal share, %."""
        flows = self.cell.experiment.flow
        return 100.0 * sum(not flow.scheme for flow in flows) / len(flows) if flows else 100.0


@dataclass(frozen=True)
class _Sequential:
    """Rule for the number of further runs of each cell."""

    cells: Mapping[Path, ComparedCell]

    def missing(self, results: ResultsDirectory) -> tuple[int, list[str]]:
        """Return the total number of further runs until the next look, and the quantities that are not resolved."""
        had, cell = results.experiment.runs, self.cells.get(results.directory)
        if cell is None:
            return had, []
        cell.parts[MORE] = results
        cell.look()
        open_rows = [row.metric.title for row in cell.judgements() if row.verdict == "not resolved"]
        next_count = next((count - FIRST for count in looks(cell.most_runs) if count - FIRST > had), had)
        if not open_rows or next_count == had:
            return had, []
        return next_count, [f"{title} in {cell.cell.name}" for title in open_rows]


class Comparison:
    """A check in progress, in its own directory."""

    def __init__(
        self,
        suite: CheckSuite,
        sides: Sequence[Side],
        folder: Path,
        execution: Execution,
        seed: int,
        progress: Progress,
        rows: int | None = None,
        keeps_files: bool = False,
    ) -> None:
        """Prepare the comparison. `folder` exists and is empty; `execution` has the number of processes.

        With `keeps_files` every run keeps its files for later use. `rows` is the number of quantities for the
        probability of a false alarm: by default those of the suite; another number if the suite is a part of a larger
        one.
        """
        self.sides = {side.name: side for side in sides}
        self._folder, self._keeps_files = folder, keeps_files
        self._how = execution
        self._seed = seed
        self._progress = progress
        self.remarks = list(_about_transports(self.sides))
        """Sentences about the whole check: different transports, and the reason why the first packet is not named."""
        self._running = [side for side in sides if side.kept_runs is None]
        self._rules = suite.safety
        every = rows or sum(len(cell.metrics) for cell in suite.cells)
        self.cells = [ComparedCell(cell, self.sides, every, self._most_runs(cell)) for cell in suite.cells]

    def _most_runs(self, cell: CheckCell) -> int:
        """Return the maximum number of runs of each side, limited by the number of kept runs."""
        kept_counts = [
            side.kept_runs.cells[cell.name].observations.runs
            for side in self.sides.values()
            if side.kept_runs is not None
        ]
        return min([cell.most_runs, *kept_counts])

    def compare(self) -> list[CellResult]:
        """Make the necessary runs, and return the results of the cells.

        Raises:
            UserError: If a run of the baseline failed.
            KeyboardInterrupt: If the check was interrupted.
        """
        self._require_same_cells()
        if self._running and self.cells:
            self._make([(LOGGED, cell, self.experiment(cell, LOGGED)) for cell in self.cells[:1]])
            if len(self._failures(self.cells[0])) == self.cells[0].parts[LOGGED].experiment.runs:
                return [self._result(self.cells[0])]  # the candidate does not run, so other cells would fail, too
            self._make([(LOGGED, cell, self.experiment(cell, LOGGED)) for cell in self.cells[1:]])
            differing = [cell for cell in self.cells if not cell.identical and not self._failures(cell)]
            more = [cell for cell in differing if cell.most_runs > FIRST and not cell.cell.as_kept]
            repeatable = [cell for cell in more if cell.is_repeatable]
            self._make(
                [(NUDGED, cell, on_longer_paths(self.experiment(cell, NUDGED))) for cell in repeatable]
                + [(MORE, cell, self.experiment(cell, MORE)) for cell in more],
                _Sequential({self._folder_of(MORE, cell): cell for cell in more}),
            )
        return [*self._explained([self._result(cell) for cell in self.cells]), *self._safety_results()]

    def kept_rules(self) -> dict[str, KeptRule]:
        """Make the runs of the safety rules; return the figures of the running side, by rule.

        Raises:
            UserError: If a run failed.
            KeyboardInterrupt: If the check was interrupted.
        """
        (side,) = self._running
        digests = self.rule_digests()
        return {name: KeptRule(sides_[side.name].figures, digests[name]) for name, sides_ in self.rules().items()}

    def rules(self) -> dict[str, dict[str, SideFigures]]:
        """Make the runs of the safety rules; return the figures of the running sides, by rule and side.

        Raises:
            UserError: If a run of the baseline failed.
            KeyboardInterrupt: If the check was interrupted.
        """
        return figures_by_rule(self._rules, self._schemes, self._folder / SAFETY, self._perform_rules, self._progress)

    def rule_digests(self) -> dict[str, str]:
        """Return a digest of everything that determines the figures of each rule, except the schemes under test."""
        plans = {
            rule_name(case): first_plan(case, self._schemes, SIMULATION, self._folder).experiment
            for case in self._rules
        }
        return {name: cell_digest(experiment, *experiment.labels) for name, experiment in plans.items()}

    def _perform_rules(self, plans: Sequence[PlannedCase]) -> Sequence[ResultsDirectory]:
        return self._perform([(plan.folder, plan.experiment) for plan in plans], None)

    def _safety_results(self) -> list[CellResult]:
        """Return the results of the safety rules for a running candidate."""
        if not self._rules or not self._judges_rules:
            return []
        kept_runs = self.sides[BASELINE].kept_runs
        figures = self.rules()
        results = []
        for case in self._rules:
            sides = figures[rule_name(case)]
            before = sides[BASELINE] if kept_runs is None else SideFigures(kept_runs.rules[rule_name(case)].figures)
            if rows := judgements(case, before, sides[CANDIDATE]):
                results.append(CellResult(cell_of(case), tuple(rows), identical=False))
        return results

    def observe(self) -> dict[str, KeptCell]:
        """Make the runs of each cell for a baseline; return the observations of the running side, by cell.

        Raises:
            UserError: If a run failed.
            KeyboardInterrupt: If the check was interrupted.
        """
        (side,) = self._running
        self._make([(LOGGED, cell, self.experiment(cell, LOGGED)) for cell in self.cells])
        more = [(MORE, cell, self.experiment(cell, MORE, min(cell.most_runs, KEPT) - FIRST)) for cell in self.cells]
        self._make([part for part in more if part[1].most_runs > FIRST])
        for cell in self.cells:
            for failure in self._failures(cell):
                raise UserError(f"{side.text}: cell `{cell.cell.name}`: {failure}")
        kept_cells = {}
        for cell in self.cells:
            experiment = cell.parts[LOGGED].experiment
            (path,) = experiment.paths
            digest = cell_digest(experiment, *experiment.labels)
            kept_cells[cell.cell.name] = KeptCell(path, digest, cell.observed(side.name, LOGGED, MORE))
        return kept_cells

    def first_packets(self) -> dict[str, SentLog]:
        """Make the first run of each cell with a full log; return the sent packets, by cell.

        Raises:
            UserError: If a run failed.
            KeyboardInterrupt: If the check was interrupted.
        """
        (side,) = self._running
        cells = [cell for cell in self.cells if cell.is_repeatable]
        self._make([(EXPLAINED, cell, self.experiment(cell, EXPLAINED, 1)) for cell in cells])
        packets = {}
        for cell in cells:
            part = cell.parts[EXPLAINED]
            (run,) = [run for run in part.planned() if run.scheme == side.name]
            packets[cell.cell.name] = sends(part.folder(run))
        return packets

    def _folder_of(self, part: str, cell: ComparedCell) -> Path:
        return self._folder / part / cell.cell.name

    def experiment(self, cell: ComparedCell, part: str, runs: int | None = None) -> Experiment:
        """Return the experiment of a part of a cell, for the running sides."""
        schemes = self._schemes
        file = replace(cell.cell.experiment, log=_LOGS[part])
        if cell.cell.as_kept:
            file = replace(file, runs=runs or file.runs)
        else:
            first_look = looks(cell.most_runs)[1] - FIRST if part == MORE else FIRST
            seed = more_seed(self._seed) if part == MORE else first_seed(self._seed)
            file = bounded(replace(file, runs=runs or first_look, seed=seed, random_order=True))
        experiment = trusted_member(file, list(schemes), schemes)
        return in_batches(experiment) if part in _NUMBERS_ONLY and not self._keeps_files else experiment

    def _require_same_cells(self) -> None:
        """Raise an error if kept runs were made in other cells than those of the suite."""
        all_kept = [side.kept_runs for side in self.sides.values() if side.kept_runs is not None]
        for cell in self.cells if all_kept else ():
            digests = {kept_runs.cells[cell.cell.name].digest for kept_runs in all_kept}
            if self._running:
                experiment = self.experiment(cell, LOGGED)
                digests.add(cell_digest(experiment, *experiment.labels))
            self._require_same(cell.cell.name, digests)
        for kept_runs in all_kept if self._judges_rules else ():
            for name, digest in self.rule_digests().items():
                rule = kept_runs.rules.get(name)
                self._require_same(name, {digest, rule.digest if rule else ""})

    @property
    def _judges_rules(self) -> bool:
        """True if the candidate runs: kept runs cannot be judged by a rule."""
        return self.sides[CANDIDATE].kept_runs is None

    @property
    def _schemes(self) -> dict[str, Scheme]:
        """Schemes of the running sides, under the names of the sides."""
        return {side.name: side.as_run for side in self._running}

    def _require_same(self, name: str, digests: set[str]) -> None:
        if len(digests) > 1:
            kept_runs = next(side.kept_runs for side in self.sides.values() if side.kept_runs is not None)
            raise UserError(
                f"{kept_runs.source}: cell `{name}`: its runs were made on another path or with other settings than "
                f"the suite has: write it again with {how_to_update()}"
            )

    def _make(self, planned_parts: Sequence[tuple[str, ComparedCell, Experiment]], until: Enough | None = None) -> None:
        """Make the runs of parts of cells."""
        if not planned_parts:
            return

        places = [(self._folder_of(part, cell), experiment) for part, cell, experiment in planned_parts]
        for (part, cell, _), place in zip(planned_parts, places, strict=True):
            cell.parts[part] = ResultsDirectory(*place)
        parts = self._perform(places, until)
        for (part, cell, _), results in zip(planned_parts, parts, strict=True):
            cell.parts[part] = results
            cell.look()

    def _perform(self, places: Sequence[tuple[Path, Experiment]], until: Enough | None) -> Sequence[ResultsDirectory]:
        """Make the runs of experiments, each in its folder."""
        parts, outcome = perform_apart(places, replace(self._how, until=until), self._progress)
        if outcome.interrupted:
            raise KeyboardInterrupt(outcome.full)
        for run, reason in outcome.failed:
            if run.scheme == BASELINE:
                raise UserError(f"baseline {self.sides[BASELINE].text}: {run.label}: {reason}")
        return parts

    def _failures(self, cell: ComparedCell) -> tuple[str, ...]:
        return tuple(cell.observed(CANDIDATE, LOGGED, NUDGED, MORE).failures)

    def _result(self, cell: ComparedCell) -> CellResult:
        rows = cell.judgements()
        if cell.identical:
            rows = [replace(row, verdict="same", reason="all packet logs are equal") for row in rows]
        failures = self._failures(cell)
        return CellResult(cell.cell, tuple(rows), cell.identical, cell.chaos, None, failures, cell.conduct())

    def _explained(self, results: list[CellResult]) -> list[CellResult]:
        """Return the results. Those that differ most get the first differing packet, if it can be named."""
        cells = {cell.cell.name: cell for cell in self.cells}
        cells_to_explain = [
            cells[result.cell.name]
            for result in sorted(results, key=lambda result: -max(row.size for row in result.judgements))
            if not (result.identical or result.failures)
        ][:_MOST_EXPLAINED]
        if not cells_to_explain:
            return results
        if reason := self._why_unexplained(cells_to_explain):
            self.remarks.append(f"The first packet that differs is not named: {reason}.")
            return results
        kept_runs = self.sides[BASELINE].kept_runs
        numbers = {cell.cell.name: 1 if kept_runs else cell.first_differing_run() for cell in cells_to_explain}
        self._make(
            [(EXPLAINED, cell, self.experiment(cell, EXPLAINED, numbers[cell.cell.name])) for cell in cells_to_explain]
        )
        differences = {}
        for cell in cells_to_explain:
            name, part = cell.cell.name, cell.parts[EXPLAINED]
            folders = {run.scheme: part.folder(run) for run in part.planned() if run.run == numbers[name]}
            if kept_runs is None:
                differences[name] = first_difference(name, numbers[name], folders[BASELINE], folders[CANDIDATE])
            elif not isinstance(kept_runs.packets, str) and name in kept_runs.packets:
                before = kept_runs.packets[name]
                differences[name] = parting(name, 1, before, sends(folders[CANDIDATE]).first(len(before)))
        if later := [name for name in numbers if differences.get(name) is None]:
            self.remarks.append(
                f"The first {MOST_PACKETS} packets of the first run, which the baseline file keeps, do not differ in "
                f"{', '.join(later)}: "
                f"{argument('against')} the other version itself names the first packet that differs."
            )
        return [replace(result, difference=differences.get(result.cell.name)) for result in results]

    def _why_unexplained(self, cells: Sequence[ComparedCell]) -> str:
        """Return the reason why the first differing packet cannot be named; empty if it can."""
        if self.sides[CANDIDATE].kept_runs is not None:
            return "the candidate does not run: its results are of before"
        if not all(cell.is_repeatable for cell in cells):
            return "no two runs with real packets have the same packets"
        kept_runs = self.sides[BASELINE].kept_runs
        return kept_runs.packets if kept_runs is not None and isinstance(kept_runs.packets, str) else ""


def _about_transports(sides: Mapping[str, Side]) -> Iterator[str]:
    """Yield a sentence if the sides have different transports: so differences may not come from the controller."""
    transport_of = {name: side.transport for name, side in sides.items() if side.transport}
    if len(set(transport_of.values())) > 1:
        before, after = transport_of[BASELINE], transport_of[CANDIDATE]
        yield f"The transports differ, not only the controllers: baseline: {before}; candidate: {after}."


def on_longer_paths(experiment: Experiment) -> Experiment:
    """Return the experiment with the first delay of each path 1 ns longer."""
    paths = {name: longer(path) for name, path in experiment.paths.items()}
    cells = {name: replace(cell, path=paths[name]) for name, cell in experiment.cells.items()}
    return replace(experiment, paths=paths, cells=cells)


def longer(path: PathModel) -> PathModel:
    """Return the path with its first delay 1 ns longer."""
    ack, data = list(path.ack), list(path.data)
    for elements in (ack, data):
        for place, element in enumerate(elements):
            if element.get("kind") == "delay" and "delay_ms" in element:
                elements[place] = element | {"delay_ms": float(element["delay_ms"]) + _NUDGE_MS}
                return replace(path, ack=ack, data=data)
    return path
