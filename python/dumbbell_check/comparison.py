"""Compares two sides over the cells of a suite: runs what is needed, and no more."""

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
from dumbbell_check.safety import Shown, cell_of, judgements, shown_by
from dumbbell_check.sides import (
    BASELINE,
    CANDIDATE,
    KeptCell,
    KeptRule,
    Observed,
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
"""Folders of a check: the first runs, whose packets are logged; the same on paths that are 1 ns longer; more runs; one
run with a full log where the sides first differ; and the runs of the rules of safety."""
_NUDGE_MS = 1e-6
"""1 ns: the smallest change that a path can have."""
_LOGS = {LOGGED: "packets", NUDGED: "none", MORE: "none", EXPLAINED: "full"}
_NUMBERS_ONLY = (NUDGED, MORE)
"""Parts of which no file is read: runs are made in batches where that is possible, which takes less time."""
_MOST_EXPLAINED = 3
KEPT = 28
"""Runs of a cell that a baseline keeps, unless the cell has fewer."""


@dataclass(frozen=True)
class Chaos:
    """Effect of the smallest change of the path on a side: of the quantity that moves most, in wanted effects."""

    side: str
    metric: str
    moved: float
    unit: str
    effects: float


def most_moved(side: str, metrics: Sequence[JudgedMetric], plain: Observed, nudged: Observed) -> Chaos | None:
    """Return which quantity of a side the smallest change of the path moves most, if by more than its wanted effect."""
    found = []
    for metric in metrics:
        before, after = plain.of(metric), nudged.of(metric)
        moves = [after[seed] - before[seed] for seed in before if seed in after]
        if not moves:
            continue
        moved = math.sqrt(fmean(move * move for move in moves))
        effect = metric.effect(fmean(before.values()))
        if moved > effect > 0.0:
            found.append(Chaos(side, metric.title, moved, metric.unit, moved / effect))
    return max(found, key=lambda each: each.effects, default=None)


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
    """What looks wrong in the first runs of the candidate, and not in those of the baseline."""

    @property
    def is_rule(self) -> bool:
        """Return True if it is about a rule of safety."""
        return any(row.rule for row in self.judgements)

    @property
    def compares_packets(self) -> bool:
        """Return True if the packets of both sides are compared: neither of a rule of safety nor of the cost."""
        return bool(self.cell.metrics)

    @property
    def verdict(self) -> Verdict:
        """Return the answer of the cell: the gravest of its rows."""
        return "worse" if self.failures else overall([row.verdict for row in self.judgements])


@dataclass
class ComparedCell:
    """A cell while it is compared."""

    cell: CheckCell
    sides: Mapping[str, Side]
    rows: int
    most_runs: int
    parts: dict[str, ResultsDirectory] = field(default_factory=dict)
    seen: dict[tuple[str, str], Observed] = field(default_factory=dict)
    """Runs of each part and side, as far as they have been read."""

    def look(self) -> None:
        """Read the runs of all parts that have been made since the last time."""
        for part, results in self.parts.items():
            for name, side in self.sides.items():
                if side.kept is None:
                    self.seen.setdefault((part, name), Observed()).take(results, name, self.cell.metrics)

    def observed(self, name: str, *parts: str) -> Observed:
        """Return what was seen of a side in some of the parts."""
        kept = self.sides[name].kept
        if kept is not None:
            return kept.cells[self.cell.name].seen
        return Observed.together(self.seen[part, name] for part in parts if (part, name) in self.seen)

    @property
    def identical(self) -> bool:
        """Return True if every first run of both sides has the same packet log."""
        first, second = (self.observed(name, LOGGED).logs for name in (BASELINE, CANDIDATE))
        common = [seed for seed in second if seed in first]
        return bool(common) and all(is_same_digest(first[seed], second[seed]) for seed in common)

    @property
    def is_repeatable(self) -> bool:
        """Return True if runs can be repeated exactly, so that the first packet that differs has a cause."""
        return LOGGED in self.parts and self.parts[LOGGED].experiment.capabilities.repeatable

    def first_differing_run(self) -> int:
        """Return the first run whose packet logs differ; 1 if there is none."""
        first, second = (self.observed(name, LOGGED).logs for name in (BASELINE, CANDIDATE))
        runs = sorted({run.run: run.seed for run in self.parts[LOGGED].planned()}.items())
        return next((number for number, seed in runs if first.get(seed) != second.get(seed)), 1)

    @cached_property
    def chaos(self) -> Chaos | None:
        """Return the side and quantity that 1 ns of path moves most; None if none moves by its wanted effect."""
        nudged = [name for name in self.sides if (NUDGED, name) in self.seen]
        moved = [
            most_moved(name, self.cell.metrics, *(self.seen[part, name] for part in (LOGGED, NUDGED)))
            for name in nudged
        ]
        return max(filter(None, moved), key=lambda each: each.effects, default=None)

    def conduct(self) -> tuple[str, ...]:
        """Return what looks wrong in the first runs of the candidate, and not in those of the baseline."""
        if self.identical or LOGGED not in self.parts:
            return ()
        before, after = (self._accusations(name) for name in (BASELINE, CANDIDATE))
        return tuple(text for kind, text in after.items() if kind not in before)

    def _accusations(self, name: str) -> dict[str, str]:
        """Return what looks wrong in the first runs of a side, by the rule for conduct."""
        results = self.parts[LOGGED]
        group = Repetitions(self.cell.name, name)
        for run in results.planned():
            if run.scheme == name:
                group.add(results.readable(run))
        return {doubt.kind: doubt.text for doubt in accusations(group)}

    def judgements(self) -> list[Judgement]:
        """Return what the runs that there are tell."""
        before, after = (self.observed(name, LOGGED, MORE) for name in (BASELINE, CANDIDATE))
        return [
            judge(
                metric,
                before.of(metric),
                after.of(metric),
                paired=self.chaos is None,
                rows=self.rows,
                most_runs=self.most_runs,
                fair=self.fair,
            )
            for metric in self.cell.metrics
        ]

    @property
    def fair(self) -> float:
        """Return the share of the flows under test if every flow got as much, in percent."""
        flows = self.cell.experiment.flow
        return 100.0 * sum(not flow.scheme for flow in flows) / len(flows) if flows else 100.0


@dataclass(frozen=True)
class _Sequential:
    """Decides how many more runs each cell needs."""

    cells: Mapping[Path, ComparedCell]

    def missing(self, results: ResultsDirectory) -> tuple[int, list[str]]:
        """Return the number of further runs up to the next look, and the quantities that are not resolved."""
        had, cell = results.experiment.runs, self.cells.get(results.directory)
        if cell is None:
            return had, []
        cell.parts[MORE] = results
        cell.look()
        open_rows = [row.metric.title for row in cell.judgements() if row.verdict == "not resolved"]
        wanted = next((count - FIRST for count in looks(cell.most_runs) if count - FIRST > had), had)
        if not open_rows or wanted == had:
            return had, []
        return wanted, [f"{title} in {cell.cell.name}" for title in open_rows]


class Comparison:
    """A check while it is made, in a directory of its own."""

    def __init__(
        self,
        suite: CheckSuite,
        sides: Sequence[Side],
        folder: Path,
        how: Execution,
        seed: int,
        progress: Progress,
        rows: int | None = None,
        keeps_files: bool = False,
    ) -> None:
        """The folder exists and is empty; `how` says on how many processes runs are made.

        With `keeps_files` every run keeps its files: somebody looks at them later.
        `rows` is the number of quantities among which a false alarm is as rare as promised: those of the suite, unless
        the suite is a part of a larger one.
        """
        self.sides = {side.name: side for side in sides}
        self._folder, self._keeps_files = folder, keeps_files
        self._how = how
        self._seed = seed
        self._progress = progress
        self.remarks = list(_about_transports(self.sides))
        """Sentences about the whole check: transports that differ, and why the first packet is not named."""
        self._running = [side for side in sides if side.kept is None]
        self._rules = suite.safety
        every = rows or sum(len(cell.metrics) for cell in suite.cells)
        self.cells = [ComparedCell(cell, self.sides, every, self._most_runs(cell)) for cell in suite.cells]

    def _most_runs(self, cell: CheckCell) -> int:
        """Return the most runs of each side: no more than were kept of one."""
        kept = [side.kept.cells[cell.name].seen.runs for side in self.sides.values() if side.kept is not None]
        return min([cell.most_runs, *kept])

    def compare(self) -> list[CellResult]:
        """Make the runs that are needed, and return what they tell.

        Raises:
            UserError: a run of the baseline failed.
            KeyboardInterrupt: it was interrupted.
        """
        self._require_same_cells()
        if self._running and self.cells:
            self._make([(LOGGED, cell, self.experiment(cell, LOGGED)) for cell in self.cells[:1]])
            if len(self._failures(self.cells[0])) == self.cells[0].parts[LOGGED].experiment.runs:
                return [self._result(self.cells[0])]  # it does not run: the other cells would say the same
            self._make([(LOGGED, cell, self.experiment(cell, LOGGED)) for cell in self.cells[1:]])
            differing = [cell for cell in self.cells if not cell.identical and not self._failures(cell)]
            more = [cell for cell in differing if cell.most_runs > FIRST and not cell.cell.as_kept]
            nudged = [cell for cell in more if cell.is_repeatable]
            self._make(
                [(NUDGED, cell, on_longer_paths(self.experiment(cell, NUDGED))) for cell in nudged]
                + [(MORE, cell, self.experiment(cell, MORE)) for cell in more],
                _Sequential({self._folder_of(MORE, cell): cell for cell in more}),
            )
        return [*self._explained([self._result(cell) for cell in self.cells]), *self._safety_results()]

    def kept_rules(self) -> dict[str, KeptRule]:
        """Make the runs of the rules of safety; return the figures of the side that runs, by rule.

        Raises:
            UserError: a run failed.
            KeyboardInterrupt: it was interrupted.
        """
        (side,) = self._running
        digests = self.rule_digests()
        return {name: KeptRule(shown[side.name].figures, digests[name]) for name, shown in self.rules().items()}

    def rules(self) -> dict[str, dict[str, Shown]]:
        """Make the runs of the rules of safety; return what the sides that run show, by rule and side.

        Raises:
            UserError: a run of the baseline failed.
            KeyboardInterrupt: it was interrupted.
        """
        return shown_by(self._rules, self._schemes, self._folder / SAFETY, self._perform_rules, self._progress)

    def rule_digests(self) -> dict[str, str]:
        """Return a digest of what the figures of each rule depend on beside the schemes under test."""
        plans = {
            rule_name(case): first_plan(case, self._schemes, SIMULATION, self._folder).experiment
            for case in self._rules
        }
        return {name: cell_digest(experiment, *experiment.labels) for name, experiment in plans.items()}

    def _perform_rules(self, plans: Sequence[PlannedCase]) -> Sequence[ResultsDirectory]:
        return self._perform([(each.folder, each.experiment) for each in plans], None)

    def _safety_results(self) -> list[CellResult]:
        """Return the results of the rules of safety, of a candidate that runs."""
        if not self._rules or not self._judges_rules:
            return []
        kept = self.sides[BASELINE].kept
        shown = self.rules()
        found = []
        for case in self._rules:
            sides = shown[rule_name(case)]
            before = sides[BASELINE] if kept is None else Shown(kept.rules[rule_name(case)].figures)
            if rows := judgements(case, before, sides[CANDIDATE]):
                found.append(CellResult(cell_of(case), tuple(rows), identical=False))
        return found

    def observe(self) -> dict[str, KeptCell]:
        """Make as many runs of each cell as a baseline keeps; return what was seen of the side that runs, by cell.

        Raises:
            UserError: a run failed.
            KeyboardInterrupt: it was interrupted.
        """
        (side,) = self._running
        self._make([(LOGGED, cell, self.experiment(cell, LOGGED)) for cell in self.cells])
        more = [(MORE, cell, self.experiment(cell, MORE, min(cell.most_runs, KEPT) - FIRST)) for cell in self.cells]
        self._make([each for each in more if each[1].most_runs > FIRST])
        for cell in self.cells:
            for failure in self._failures(cell):
                raise UserError(f"{side.given}: cell `{cell.cell.name}`: {failure}")
        found = {}
        for cell in self.cells:
            experiment = cell.parts[LOGGED].experiment
            (path,) = experiment.paths
            digest = cell_digest(experiment, *experiment.labels)
            found[cell.cell.name] = KeptCell(path, digest, cell.observed(side.name, LOGGED, MORE))
        return found

    def first_packets(self) -> dict[str, SentLog]:
        """Make the first run of each cell with a full log; return the packets that it sent, by cell.

        Raises:
            UserError: a run failed.
            KeyboardInterrupt: it was interrupted.
        """
        (side,) = self._running
        cells = [cell for cell in self.cells if cell.is_repeatable]
        self._make([(EXPLAINED, cell, self.experiment(cell, EXPLAINED, 1)) for cell in cells])
        found = {}
        for cell in cells:
            part = cell.parts[EXPLAINED]
            (run,) = [run for run in part.planned() if run.scheme == side.name]
            found[cell.cell.name] = sends(part.folder(run))
        return found

    def _folder_of(self, part: str, cell: ComparedCell) -> Path:
        return self._folder / part / cell.cell.name

    def experiment(self, cell: ComparedCell, part: str, runs: int | None = None) -> Experiment:
        """Return the experiment of a part of a cell, for the sides that run."""
        own = self._schemes
        file = replace(cell.cell.experiment, log=_LOGS[part])
        if cell.cell.as_kept:
            file = replace(file, runs=runs or file.runs)
        else:
            first_look = looks(cell.most_runs)[1] - FIRST if part == MORE else FIRST
            seed = more_seed(self._seed) if part == MORE else first_seed(self._seed)
            file = bounded(replace(file, runs=runs or first_look, seed=seed, random_order=True))
        experiment = trusted_member(file, list(own), own)
        return in_batches(experiment) if part in _NUMBERS_ONLY and not self._keeps_files else experiment

    def _require_same_cells(self) -> None:
        """Refuse runs of before that were made in other cells than those of the suite."""
        kept = [side.kept for side in self.sides.values() if side.kept is not None]
        for cell in self.cells if kept else ():
            digests = {each.cells[cell.cell.name].digest for each in kept}
            if self._running:
                experiment = self.experiment(cell, LOGGED)
                digests.add(cell_digest(experiment, *experiment.labels))
            self._require_same(cell.cell.name, digests)
        for each in kept if self._judges_rules else ():
            for name, digest in self.rule_digests().items():
                rule = each.rules.get(name)
                self._require_same(name, {digest, rule.digest if rule else ""})

    @property
    def _judges_rules(self) -> bool:
        """Return True if the candidate runs: what was kept of one is no side of a rule."""
        return self.sides[CANDIDATE].kept is None

    @property
    def _schemes(self) -> dict[str, Scheme]:
        """The schemes of the sides that run, under the names of the sides."""
        return {side.name: side.as_run for side in self._running}

    def _require_same(self, name: str, digests: set[str]) -> None:
        if len(digests) > 1:
            kept = next(side.kept for side in self.sides.values() if side.kept is not None)
            raise UserError(
                f"{kept.source}: cell `{name}`: its runs were made on another path or with other settings than the "
                f"suite has: write it again with {how_to_update()}"
            )

    def _make(self, planned: Sequence[tuple[str, ComparedCell, Experiment]], until: Enough | None = None) -> None:
        """Make the runs of parts of cells."""
        if not planned:
            return

        places = [(self._folder_of(part, cell), experiment) for part, cell, experiment in planned]
        for (part, cell, _), place in zip(planned, places, strict=True):
            cell.parts[part] = ResultsDirectory(*place)
        parts = self._perform(places, until)
        for (part, cell, _), results in zip(planned, parts, strict=True):
            cell.parts[part] = results
            cell.look()

    def _perform(self, places: Sequence[tuple[Path, Experiment]], until: Enough | None) -> Sequence[ResultsDirectory]:
        """Make the runs of experiments, each in its folder."""
        parts, outcome = perform_apart(places, replace(self._how, until=until), self._progress)
        if outcome.interrupted:
            raise KeyboardInterrupt(outcome.full)
        for run, reason in outcome.failed:
            if run.scheme == BASELINE:
                raise UserError(f"baseline {self.sides[BASELINE].given}: {run.label}: {reason}")
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
        """Return the results; those that differ most with the first packet that differs, if it can be named."""
        cells = {cell.cell.name: cell for cell in self.cells}
        chosen = [
            cells[result.cell.name]
            for result in sorted(results, key=lambda result: -max(row.size for row in result.judgements))
            if not (result.identical or result.failures)
        ][:_MOST_EXPLAINED]
        if not chosen:
            return results
        if reason := self._why_unexplained(chosen):
            self.remarks.append(f"The first packet that differs is not named: {reason}.")
            return results
        kept = self.sides[BASELINE].kept
        numbers = {cell.cell.name: 1 if kept else cell.first_differing_run() for cell in chosen}
        self._make([(EXPLAINED, cell, self.experiment(cell, EXPLAINED, numbers[cell.cell.name])) for cell in chosen])
        found = {}
        for cell in chosen:
            name, part = cell.cell.name, cell.parts[EXPLAINED]
            folders = {run.scheme: part.folder(run) for run in part.planned() if run.run == numbers[name]}
            if kept is None:
                found[name] = first_difference(name, numbers[name], folders[BASELINE], folders[CANDIDATE])
            elif not isinstance(kept.packets, str) and name in kept.packets:
                before = kept.packets[name]
                found[name] = parting(name, 1, before, sends(folders[CANDIDATE]).first(len(before)))
        if later := [name for name in numbers if found.get(name) is None]:
            self.remarks.append(
                f"The first {MOST_PACKETS} packets of the first run, which the baseline file keeps, do not differ in "
                f"{', '.join(later)}: "
                f"{argument('against')} the other version itself names the first packet that differs."
            )
        return [replace(result, difference=found.get(result.cell.name)) for result in results]

    def _why_unexplained(self, chosen: Sequence[ComparedCell]) -> str:
        """Return why the first packet that differs cannot be named; empty if it can."""
        if self.sides[CANDIDATE].kept is not None:
            return "the candidate does not run: its results are of before"
        if not all(cell.is_repeatable for cell in chosen):
            return "no two runs with real packets have the same packets"
        kept = self.sides[BASELINE].kept
        return kept.packets if kept is not None and isinstance(kept.packets, str) else ""


def _about_transports(sides: Mapping[str, Side]) -> Iterator[str]:
    """Yield a sentence where the sides have different transports: what differs is then not of the controller alone."""
    told = {name: side.transport for name, side in sides.items() if side.transport}
    if len(set(told.values())) > 1:
        before, after = told[BASELINE], told[CANDIDATE]
        yield f"The transports differ, not only the controllers: baseline: {before}; candidate: {after}."


def on_longer_paths(experiment: Experiment) -> Experiment:
    """Return the experiment on paths whose first delay is 1 ns longer."""
    paths = {name: longer(path) for name, path in experiment.paths.items()}
    cells = {name: replace(cell, path=paths[name]) for name, cell in experiment.cells.items()}
    return replace(experiment, paths=paths, cells=cells)


def longer(path: PathModel) -> PathModel:
    """Return the path with a first delay that is 1 ns longer."""
    ack, data = list(path.ack), list(path.data)
    for elements in (ack, data):
        for place, element in enumerate(elements):
            if element.get("kind") == "delay" and "delay_ms" in element:
                elements[place] = element | {"delay_ms": float(element["delay_ms"]) + _NUDGE_MS}
                return replace(path, ack=ack, data=data)
    return path
