"""Check of a candidate against a baseline: the gate for continuous integration."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from dumbbell import catalog
from dumbbell.api.selection import one_scheme
from dumbbell.base.backend import executing_backend
from dumbbell.base.errors import UserError, argument, listed
from dumbbell.base.interrupts import interruptible
from dumbbell.base.progress import Progress
from dumbbell.base.scratch import Scratch
from dumbbell.base.version import __version__
from dumbbell.catalog.check_suite import CheckCell, JudgedMetric
from dumbbell.catalog.experiment_file import ExperimentFile
from dumbbell.catalog.run_request import Names, names_of
from dumbbell.catalog.scheme import Scheme
from dumbbell.execution.perform import Execution
from dumbbell.execution.pool import Pool
from dumbbell.formats.staging import refuse_used
from dumbbell.studies.cost import cost_beside
from dumbbell_check.baseline import (
    is_baseline,
    previous_runs,
    read_baseline,
    write_baseline,
)
from dumbbell_check.comparison import CellResult, Comparison
from dumbbell_check.judging import FIRST, Judgement, Verdict, overall
from dumbbell_check.kept_packets import how_to_update
from dumbbell_check.of_results import kept_results
from dumbbell_check.sides import BASELINE, CANDIDATE, KeptRuns, Side

if TYPE_CHECKING:
    from dumbbell.catalog.check_suite import CheckSuite

MOST_SEED = 2**40


@dataclass(frozen=True)
class CheckResults:
    """Result of `dumbbell_check.check`. `directory` contains the runs; None if they were not kept."""

    candidate: str
    baseline: str
    suite: str
    cells: tuple[CellResult, ...]
    directory: Path | None = None
    only_packets: bool = False
    """True if only packet logs were compared."""
    remarks: tuple[str, ...] = ()
    """Sentences about the whole check: different transports, safety rules that were not judged."""

    @property
    def verdict(self) -> Verdict:
        """Verdict of the check: `worse`, `not resolved`, `better` or `same`, the most severe of the cells."""
        return overall([cell.verdict for cell in self.cells])

    @property
    def identical(self) -> bool:
        """True if all packet logs of both sides are equal byte for byte."""
        return all(cell.identical for cell in self.cells if cell.compares_packets)

    def markdown(self) -> str:
        """Return the check as Markdown, for a step summary or a comment."""
        from dumbbell_check.written import markdown_text

        return markdown_text(self.cells, self._answer(), self.remarks)

    def junit(self, strict: bool = False) -> str:
        """Return the check as JUnit XML: a test case for each quantity.

        With `strict` unresolved quantities are failures.
        """
        from dumbbell_check.written import junit_text

        return junit_text(self.cells, self.candidate, strict)

    def annotations(self) -> list[str]:
        """Return the workflow commands that annotate a run of GitHub Actions."""
        from dumbbell_check.written import annotation_lines

        return annotation_lines(self.cells, self.candidate)

    def as_json(self) -> dict[str, object]:
        """Return the whole check as JSON values."""
        from dumbbell_check.written import as_json

        head = {
            "verdict": self.verdict,
            "identical": self.identical,
            "candidate": self.candidate,
            "baseline": self.baseline,
            "suite": self.suite,
            "remarks": list(self.remarks),
        }
        return head | {"cells": as_json(self.cells)}

    def lines(self) -> list[str]:
        """Return the output of `dumbbell check`: the verdict, a table of the changes, and notes."""
        from dumbbell.present.tables import terminal
        from dumbbell_check.written import LEGEND, notes, table

        changes = table(self.cells, with_equal=False)
        parts = [self._answer()]
        parts += terminal.render(changes).splitlines() if changes.rows else []
        return [*parts, *notes(self.cells), *self.remarks, *([LEGEND] if changes.rows else [])]

    def _answer(self) -> str:
        """Return the verdict in one sentence."""
        from dumbbell_check.written import headline, packets_headline

        sentence = packets_headline if self.only_packets else headline
        return sentence(self.cells, self.candidate, self.baseline)


def check(
    candidate: str | Scheme | PathLike[str],
    *,
    against: str | Scheme | PathLike[str] | None = None,
    suite: str | PathLike[str] = "quick",
    cells: Names = (),
    seed: int | None = None,
    most_runs: int | None = None,
    identical: bool = False,
    cost: bool = False,
    backend: str | None = None,
    jobs: int | None = None,
    out: str | PathLike[str] | None = None,
    command: Sequence[str] = (),
) -> CheckResults:
    """Compare a candidate with a baseline: same, better, worse or not resolved, by paired runs over common draws.

    Args:
        candidate: Scheme (`cubic`, `./libmine.so`, `mine.py`, `scheme.toml`, `new=./libmine.so`, or a
            `dumbbell.Scheme`), a baseline file, or a results directory.
        against: Baseline, in one of these forms. Default: `NAME.baseline.toml`, which `update_baseline`
            writes.
        suite: `quick`, `full` or a TOML file. For a results directory the suite is the experiment of the results.
        cells: Names of the only cells of the suite to compare. Default: all cells.
        seed: Seed of all draws of the paths. Default: the seed of the baseline file, else 1.
        most_runs: Maximum number of runs of each side in a cell, instead of the suite's numbers.
        identical: True to compare only packet logs, with four runs of each cell.
        cost: True to compare the controllers' cost for each ACK, too.
        backend: `sim`, or `emu` for real packets.
        jobs: Number of processes. Default: one per CPU.
        out: Directory that keeps the runs. Default: the runs are removed.
        command: Words of the command line of this call, for the record.

    Raises:
        dumbbell.Error: If a side cannot be run, or if the baseline fails or was made in other cells.
        KeyboardInterrupt: On Ctrl-C.
    """
    with Progress() as progress:
        progress.doing("reading the suite")
        if identical and cost:
            raise UserError(f"not with {argument('identical')}, which only looks at packet logs", argument="cost")
        if identical and most_runs is not None:
            problem = f"not with {argument('identical')}, which makes four runs of each cell"
            raise UserError(problem, argument="most_runs")
        most_runs = FIRST if identical else most_runs
        request = _Request.of(candidate, against, suite, cells, seed, most_runs, backend)
        compared_suite = replace(request.suite, safety=()) if identical else request.suite
        with _directory(out) as folder, interruptible(), Pool(progress.clock) as pool:
            execution = Execution(jobs=jobs, command=command, pool=pool)
            keeps_files = out is not None
            comparison = Comparison(
                compared_suite, request.sides, folder, execution, request.seed, progress, keeps_files=keeps_files
            )
            results = comparison.compare()
            if cost:
                progress.doing("measuring what the controllers cost")
                results.append(_cost(*request.sides))
    names = {side.name: side.text for side in request.sides}
    directory = None if out is None else Path(out)
    remarks = (*comparison.remarks, *([] if identical else request.remarks))
    return CheckResults(
        names[CANDIDATE], names[BASELINE], request.suite.name, tuple(results), directory, identical, remarks
    )


def update_baseline(
    candidate: str | Scheme | PathLike[str],
    file: str | PathLike[str] | None = None,
    *,
    suite: str | PathLike[str] = "quick",
    cells: Names = (),
    seed: int | None = None,
    backend: str | None = None,
    jobs: int | None = None,
    command: Sequence[str] = (),
) -> Path:
    """Run a candidate over a suite, and write the results as a baseline file; return the file.

    The arguments are those of `check`. The file must end in `.toml`; default: `NAME.baseline.toml`. With
    `cells` the file's other cells stay.

    Raises:
        dumbbell.Error: If the candidate cannot be run, a run fails, or the file cannot be written.
        KeyboardInterrupt: On Ctrl-C.
    """
    target = Path(file or _baseline_file(candidate))
    if target.suffix != ".toml":
        raise UserError(f"{target}: a baseline file ends in .toml")
    if target.is_dir() or not target.absolute().parent.is_dir():
        raise UserError(f"{target}: cannot be written: it is a directory, or there is none to write it to")
    if target.exists() and not is_baseline(str(target)):
        raise UserError(f"{target}: is no baseline file: choose another one")
    with Progress() as progress:
        progress.doing("reading the suite")
        chosen_suite = _chosen_suite(_whole_suite(str(suite)), cells, None, backend)
        side = _side(CANDIDATE, candidate, _runs_programs(backend))
        if side.scheme is None:
            raise UserError(f"{side.text}: is no scheme: a baseline is written of one that runs")
        file_to_update = target if target.exists() and names_of(cells) else None
        if file_to_update is not None and seed is None:
            seed = read_baseline(file_to_update)[2]
        number = 1 if seed is None else _checked_seed(seed)
        runs = KeptRuns({}, str(target), __version__, side.text, side.transport)
        if file_to_update is not None:
            runs = previous_runs(file_to_update, runs, chosen_suite.name, number)
        with _directory(None) as folder, interruptible(), Pool(progress.clock) as pool:
            execution = Execution(jobs=jobs, command=command, pool=pool)
            comparison = Comparison(chosen_suite, [side], folder, execution, number, progress)
            runs = runs.with_cells(comparison.observe(), comparison.kept_rules(), comparison.first_packets())
        write_baseline(target, runs, chosen_suite.name, number)
    return target


def _cost(baseline: Side, candidate: Side) -> CellResult:
    """Return the cost of the candidate's controller for each ACK, compared with the baseline's.

    Raises:
        UserError: If a side does not run, or has no simulated controller.
    """
    for side in (candidate, baseline):
        if side.scheme is None:
            raise UserError(f"{side.text} does not run", argument="cost", fix="name two schemes")
    assert candidate.scheme is not None
    assert baseline.scheme is not None
    cost = cost_beside(candidate.scheme, baseline.scheme)
    metric = JudgedMetric("cost", "cost", "cost of an ACK", cost.unit, higher=False, relative=cost.threshold)
    before = cost.baseline.least(cost.unit)
    row = Judgement(
        metric,
        cost.verdict,
        before,
        cost.candidate.least(cost.unit),
        len(cost.baseline.of(cost.unit)),
        difference=(cost.ratio - 1.0) * before,
        effect=metric.effect(before),
        low=(cost.low - 1.0) * before,
        high=(cost.high - 1.0) * before,
    )
    experiment = ExperimentFile(
        name="cost", title="The controllers are told again what they were told in a run of 20 s"
    )
    return CellResult(CheckCell("cost", experiment, ()), (row,), identical=False)


@dataclass(frozen=True)
class _Request:
    """Arguments of a check with resolved names."""

    suite: CheckSuite
    sides: tuple[Side, Side]
    seed: int
    remarks: tuple[str, ...] = ()
    """Sentences about omitted judgements."""

    @classmethod
    def of(
        cls,
        candidate: str | Scheme | PathLike[str],
        against: str | Scheme | PathLike[str] | None,
        suite: str | PathLike[str],
        cells: Names,
        seed: int | None,
        most_runs: int | None,
        backend: str | None,
    ) -> _Request:
        """Return the request.

        Raises:
            UserError: If a name is unknown, or a value is not allowed.
        """
        side_texts = {BASELINE: _named_baseline(candidate) if against is None else against, CANDIDATE: candidate}
        folders = {name: folder for name, text in side_texts.items() if (folder := _results(text)) is not None}
        if folders:
            return cls._with_results(side_texts, folders, cells, seed, most_runs, backend)
        whole_suite = _whole_suite(str(suite))
        chosen_suite = _chosen_suite(whole_suite, cells, most_runs, backend)
        sides, seeds = [], set()
        can_run_programs = _runs_programs(backend)
        for name, text in side_texts.items():
            if not isinstance(text, Scheme) and is_baseline(str(text)):
                kept_runs, made_by, own_seed = read_baseline(Path(text))
                if made_by != chosen_suite.name:
                    remedy = f"{argument('suite')} {made_by}"
                    raise UserError(f"{text}: is of the suite `{made_by}`, not `{chosen_suite.name}`", fix=remedy)
                missing = [cell.name for cell in chosen_suite.cells if cell.name not in kept_runs.cells]
                if missing:
                    raise UserError(f"{text}: has no cell {listed(missing)}: write it again with {how_to_update()}")
                seeds.add(own_seed)
                sides.append(Side(name, str(text), kept_runs=kept_runs))
            else:
                sides.append(_side(name, text, can_run_programs))
        number = seeds.pop() if seeds else 1
        if seeds or (seed is not None and seed != number and any(side.kept_runs for side in sides)):
            problem = f"the baseline file has the seed {number}: its runs met the draws of that seed"
            raise UserError(problem, argument="seed")
        baseline, candidate_side = sides
        remarks = _about_rules(chosen_suite, cells, candidate_side) if whole_suite.safety else ()
        return cls(
            chosen_suite, (baseline, candidate_side), number if seed is None else _checked_seed(seed), tuple(remarks)
        )

    @classmethod
    def _with_results(
        cls,
        side_texts: dict[str, str | Scheme | PathLike[str]],
        folders: dict[str, tuple[Path, str]],
        cells: Names,
        seed: int | None,
        most_runs: int | None,
        backend: str | None,
    ) -> _Request:
        """Return the request if one or both sides are earlier results: their experiment is the suite."""
        for name, value in (("seed", seed), ("most_runs", most_runs), ("backend", backend)):
            if value is not None:
                raise UserError("not with a results directory, whose experiment is repeated as it is", argument=name)
        sides = {name: None if name in folders else _side(name, text) for name, text in side_texts.items()}
        scheme_name = next((side.scheme.name for side in sides.values() if side is not None and side.scheme), "")
        chosen_suite = None
        for name, (folder, scheme) in folders.items():
            kept_runs, suite = kept_results(folder, scheme or scheme_name)
            sides[name] = Side(name, f"{kept_runs.scheme} of {folder}", kept_runs=kept_runs)
            if chosen_suite is not None and [cell.name for cell in chosen_suite.cells] != [
                cell.name for cell in suite.cells
            ]:
                raise UserError(
                    f"{folder}: has other paths than {chosen_suite.file}: compare them with `dumbbell diff`"
                )
            chosen_suite = suite
        assert chosen_suite is not None
        baseline, candidate_side = sides[BASELINE], sides[CANDIDATE]
        assert baseline is not None
        assert candidate_side is not None
        return cls(chosen_suite.only(names_of(cells)), (baseline, candidate_side), 1)


def _results(text: str | Scheme | PathLike[str]) -> tuple[Path, str] | None:
    """Return the results directory and the scheme of a side, given as DIR or DIR:SCHEME; None for other sides."""
    if isinstance(text, Scheme):
        return None
    if Path(text).is_dir():
        return Path(text), ""
    folder, _, scheme = str(text).rpartition(":")
    return (Path(folder), scheme) if folder and Path(folder).is_dir() else None


def _baseline_file(candidate: str | Scheme | PathLike[str]) -> str:
    """Return the name of a candidate's baseline file, `NAME.baseline.toml`, from its alias or its file's stem."""
    if isinstance(candidate, Scheme):
        return f"{candidate.name}.baseline.toml"
    alias, _, target = str(candidate).partition("=")
    name = alias if target and "/" not in alias and "." not in alias else Path(candidate).stem
    return f"{name}.baseline.toml"


def _named_baseline(candidate: str | Scheme | PathLike[str]) -> str:
    """Return the default baseline file of a candidate.

    Raises:
        UserError: If there is no such candidate, or no such file.
    """
    file = _baseline_file(candidate)
    if Path(file).is_file():
        return file
    if not isinstance(candidate, Scheme) and _results(candidate) is None and not is_baseline(str(candidate)):
        one_scheme(str(candidate))
    raise UserError(f"no baseline: name one with {argument('against')}, or write {file} with {how_to_update()}")


def _whole_suite(name: str) -> CheckSuite:
    """Return a suite with the cells and rules of all included suites.

    Raises:
        UserError: If there is no such suite.
    """
    suites = catalog.check_suites()
    named_suite = suites.find(name)
    included_suites = [suites.find(suite_name) for suite_name in named_suite.includes]
    cells = [cell for suite in included_suites for cell in suite.cells]
    rules = dict.fromkeys([case for suite in included_suites for case in suite.safety] + list(named_suite.safety))
    return replace(named_suite, cells=(*cells, *named_suite.cells), safety=tuple(rules))


def _about_rules(chosen_suite: CheckSuite, cells: Names, candidate: Side) -> Iterator[str]:
    """Yield a sentence with the reason if a suite has safety rules and none is judged."""
    if candidate.scheme is None:
        yield "No rule of safety was judged: the candidate does not run."
    elif not chosen_suite.safety:
        reason = f"{argument('cells')} names none" if names_of(cells) else "they are simulated only"
        yield f"No rule of safety was judged: {reason}."


def _chosen_suite(whole_suite: CheckSuite, cells: Names, most_runs: int | None, backend: str | None) -> CheckSuite:
    """Return the suite with the changes by the arguments.

    Raises:
        UserError: If there is no such cell or backend.
    """
    chosen_suite = whole_suite.only(names_of(cells))
    if most_runs is not None and most_runs < FIRST:
        raise UserError(argument="most_runs", value=most_runs, allowed=f"a whole number from {FIRST}")
    made_with = None if backend is None else executing_backend(backend)
    changed_cells = []
    for cell in chosen_suite.cells:
        experiment = cell.experiment if made_with is None else replace(cell.experiment, backend=made_with)
        changed_cells.append(replace(cell, experiment=experiment, most_runs=most_runs or cell.most_runs))
    is_simulated = made_with is None or not made_with.capabilities.real_packets
    return replace(chosen_suite, cells=tuple(changed_cells), safety=chosen_suite.safety if is_simulated else ())


def _side(name: str, text: str | Scheme | PathLike[str], can_run_programs: bool = True) -> Side:
    """Return a side of a check whose scheme runs.

    Raises:
        UserError: If there is no such scheme.
    """
    if isinstance(text, Scheme):
        return Side(name, text.name, text)
    scheme = one_scheme(str(text))
    if scheme.real and not can_run_programs:
        raise UserError(f"scheme `{text}` needs real packets", fix=f"{argument('backend')} emu")
    return Side(name, str(text), scheme)


def _runs_programs(backend: str | None) -> bool:
    """Return True if schemes that need real packets can run. None means the simulator, where they cannot."""
    return backend is not None and executing_backend(backend).capabilities.real_packets


def _checked_seed(seed: int) -> int:
    if not 0 <= seed <= MOST_SEED:
        raise UserError(argument="seed", value=seed, allowed=f"a whole number from 0 to {MOST_SEED}")
    return seed


@contextmanager
def _directory(out: str | PathLike[str] | None) -> Iterator[Path]:
    """Yield a directory for runs: `out`, which must be unused, or a temporary one."""
    if out is not None:
        refuse_used(Path(out))
        yield Path(out)
        return
    with Scratch("check") as folder:
        yield folder
