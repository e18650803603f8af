"""Checking a candidate against a baseline: the gate for continuous integration."""

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
    others_of,
    read_baseline,
    write_baseline,
)
from dumbbell_check.comparison import CellResult, Comparison
from dumbbell_check.judging import FIRST, Judgement, Verdict, overall
from dumbbell_check.kept_packets import how_to_update
from dumbbell_check.of_results import kept_results
from dumbbell_check.sides import BASELINE, CANDIDATE, Kept, Side

if TYPE_CHECKING:
    from dumbbell.catalog.check_suite import CheckSuite

MOST_SEED = 2**40


@dataclass(frozen=True)
class CheckResults:
    """Result of `dumbbell_check.check`. `directory` has the runs; None if they were not to be kept."""

    candidate: str
    baseline: str
    suite: str
    cells: tuple[CellResult, ...]
    directory: Path | None = None
    only_packets: bool = False
    """True if only packet logs were compared."""
    remarks: tuple[str, ...] = ()
    """Sentences about the whole check: transports that differ, rules that were not judged."""

    @property
    def verdict(self) -> Verdict:
        """Return the answer: `worse`, `not resolved`, `better` or `same`; the gravest of the cells."""
        return overall([cell.verdict for cell in self.cells])

    @property
    def identical(self) -> bool:
        """Return whether all packet logs of both sides are equal byte for byte."""
        return all(cell.identical for cell in self.cells if cell.compares_packets)

    def markdown(self) -> str:
        """Return the check as Markdown, for a step summary or a comment."""
        from dumbbell_check.written import markdown_text

        return markdown_text(self.cells, self._answer(), self.remarks)

    def junit(self, strict: bool = False) -> str:
        """Return the check as JUnit XML: a test case for each quantity; with `strict` unresolved ones are failures."""
        from dumbbell_check.written import junit_text

        return junit_text(self.cells, self.candidate, strict)

    def annotations(self) -> list[str]:
        """Return the workflow commands that annotate a run of GitHub Actions."""
        from dumbbell_check.written import annotation_lines

        return annotation_lines(self.cells, self.candidate)

    def as_json(self) -> dict[str, object]:
        """Return all of it as JSON values."""
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
        """Return the check as `dumbbell check` prints it: the answer, a table of what changed, and notes."""
        from dumbbell.present.tables import terminal
        from dumbbell_check.written import LEGEND, notes, table

        changed = table(self.cells, everything=False)
        parts = [self._answer()]
        parts += terminal.render(changed).splitlines() if changed.rows else []
        return [*parts, *notes(self.cells), *self.remarks, *([LEGEND] if changed.rows else [])]

    def _answer(self) -> str:
        """Return the answer in one sentence."""
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
        candidate: a scheme (`cubic`, `./libmine.so`, `mine.py`, `scheme.toml`, `new=./libmine.so`, or a
            `dumbbell.Scheme`), a baseline file, or a results directory.
        against: the baseline, in one of the same forms; unless given `NAME.baseline.toml`, which `update_baseline`
            writes.
        suite: `quick`, `full` or a TOML file. With a results directory it is the experiment of the results.
        cells: only these cells of the suite; all of them unless given.
        seed: what every draw of the paths follows from; that of the baseline file, else 1.
        most_runs: most runs of each side in a cell, instead of the suite's numbers.
        identical: only see whether packet logs are equal: four runs of each cell, and no more.
        cost: also compare what the controllers cost for each ACK.
        backend: `sim`, or `emu` for real packets.
        jobs: processes; one per processor unless given.
        out: a directory that keeps the runs; unless given they are removed.
        command: the words of the command line that this call comes from; recorded.

    Raises:
        dumbbell.Error: something that cannot be run, or a baseline that fails or was made in other cells, in one line.
        KeyboardInterrupt: by Ctrl-C.
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
        compared = replace(request.suite, safety=()) if identical else request.suite
        with _directory(out) as folder, interruptible(), Pool(progress.clock) as pool:
            how = Execution(jobs=jobs, command=command, pool=pool)
            keeps_files = out is not None
            comparison = Comparison(
                compared, request.sides, folder, how, request.seed, progress, keeps_files=keeps_files
            )
            found = comparison.compare()
            if cost:
                progress.doing("measuring what the controllers cost")
                found.append(_cost(*request.sides))
    given = {side.name: side.given for side in request.sides}
    kept = None if out is None else Path(out)
    remarks = (*comparison.remarks, *([] if identical else request.remarks))
    return CheckResults(given[CANDIDATE], given[BASELINE], request.suite.name, tuple(found), kept, identical, remarks)


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
    """Run a candidate over a suite and write what it shows as a baseline file; return the file.

    The arguments are those of `check`. The file must end in `.toml`; unless given it is `NAME.baseline.toml`. With
    `cells` the others that it has stay.

    Raises:
        dumbbell.Error: something that cannot be run, a run that fails, or a file that cannot be written.
        KeyboardInterrupt: by Ctrl-C.
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
        chosen = _chosen_suite(_whole_suite(str(suite)), cells, None, backend)
        side = _side(CANDIDATE, candidate, _runs_programs(backend))
        if side.scheme is None:
            raise UserError(f"{side.given}: is no scheme: a baseline is written of one that runs")
        others = target if target.exists() and names_of(cells) else None
        if others is not None and seed is None:
            seed = read_baseline(others)[2]
        number = 1 if seed is None else _checked_seed(seed)
        made = Kept({}, str(target), __version__, side.given, side.transport)
        if others is not None:
            made = others_of(others, made, chosen.name, number)
        with _directory(None) as folder, interruptible(), Pool(progress.clock) as pool:
            how = Execution(jobs=jobs, command=command, pool=pool)
            comparison = Comparison(chosen, [side], folder, how, number, progress)
            made = made.with_cells(comparison.observe(), comparison.kept_rules(), comparison.first_packets())
        write_baseline(target, made, chosen.name, number)
    return target


def _cost(baseline: Side, candidate: Side) -> CellResult:
    """Return what the candidate's controller costs for each ACK beside that of the baseline.

    Raises:
        UserError: a side does not run, or has no controller that is simulated.
    """
    for side in (candidate, baseline):
        if side.scheme is None:
            raise UserError(f"{side.given} does not run", argument="cost", fix="name two schemes")
    assert candidate.scheme is not None
    assert baseline.scheme is not None
    found = cost_beside(candidate.scheme, baseline.scheme)
    metric = JudgedMetric("cost", "cost", "cost of an ACK", found.unit, higher=False, relative=found.threshold)
    before = found.baseline.least(found.unit)
    row = Judgement(
        metric,
        found.verdict,
        before,
        found.candidate.least(found.unit),
        len(found.baseline.of(found.unit)),
        difference=(found.ratio - 1.0) * before,
        effect=metric.effect(before),
        low=(found.low - 1.0) * before,
        high=(found.high - 1.0) * before,
    )
    experiment = ExperimentFile(
        name="cost", title="The controllers are told again what they were told in a run of 20 s"
    )
    return CellResult(CheckCell("cost", experiment, ()), (row,), identical=False)


@dataclass(frozen=True)
class _Request:
    """Arguments of a check, with their names looked up."""

    suite: CheckSuite
    sides: tuple[Side, Side]
    seed: int
    remarks: tuple[str, ...] = ()
    """Sentences about what is not judged."""

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
            UserError: an unknown name, or a value that is not allowed.
        """
        given = {BASELINE: _named_baseline(candidate) if against is None else against, CANDIDATE: candidate}
        folders = {name: found for name, text in given.items() if (found := _results(text)) is not None}
        if folders:
            return cls._with_results(given, folders, cells, seed, most_runs, backend)
        whole = _whole_suite(str(suite))
        chosen = _chosen_suite(whole, cells, most_runs, backend)
        sides, seeds = [], set()
        can_run_programs = _runs_programs(backend)
        for name, text in given.items():
            if not isinstance(text, Scheme) and is_baseline(str(text)):
                kept, made_by, own_seed = read_baseline(Path(text))
                if made_by != chosen.name:
                    remedy = f"{argument('suite')} {made_by}"
                    raise UserError(f"{text}: is of the suite `{made_by}`, not `{chosen.name}`", fix=remedy)
                missing = [cell.name for cell in chosen.cells if cell.name not in kept.cells]
                if missing:
                    raise UserError(f"{text}: has no cell {listed(missing)}: write it again with {how_to_update()}")
                seeds.add(own_seed)
                sides.append(Side(name, str(text), kept=kept))
            else:
                sides.append(_side(name, text, can_run_programs))
        number = seeds.pop() if seeds else 1
        if seeds or (seed is not None and seed != number and any(side.kept for side in sides)):
            problem = f"the baseline file has the seed {number}: its runs met the draws of that seed"
            raise UserError(problem, argument="seed")
        baseline, tested = sides
        remarks = _about_rules(chosen, cells, tested) if whole.safety else ()
        return cls(chosen, (baseline, tested), number if seed is None else _checked_seed(seed), tuple(remarks))

    @classmethod
    def _with_results(
        cls,
        given: dict[str, str | Scheme | PathLike[str]],
        folders: dict[str, tuple[Path, str]],
        cells: Names,
        seed: int | None,
        most_runs: int | None,
        backend: str | None,
    ) -> _Request:
        """Return the request with results of before on a side or on both: their experiment is the suite."""
        for name, value in (("seed", seed), ("most_runs", most_runs), ("backend", backend)):
            if value is not None:
                raise UserError("not with a results directory, whose experiment is repeated as it is", argument=name)
        sides = {name: None if name in folders else _side(name, text) for name, text in given.items()}
        named = next((side.scheme.name for side in sides.values() if side is not None and side.scheme), "")
        chosen = None
        for name, (folder, scheme) in folders.items():
            kept, suite = kept_results(folder, scheme or named)
            sides[name] = Side(name, f"{kept.scheme} of {folder}", kept=kept)
            if chosen is not None and [each.name for each in chosen.cells] != [each.name for each in suite.cells]:
                raise UserError(f"{folder}: has other paths than {chosen.file}: compare them with `dumbbell diff`")
            chosen = suite
        assert chosen is not None
        baseline, tested = sides[BASELINE], sides[CANDIDATE]
        assert baseline is not None
        assert tested is not None
        return cls(chosen.only(names_of(cells)), (baseline, tested), 1)


def _results(given: str | Scheme | PathLike[str]) -> tuple[Path, str] | None:
    """Return the results directory that is given, as DIR or DIR:SCHEME, and the scheme; None if there is none."""
    if isinstance(given, Scheme):
        return None
    if Path(given).is_dir():
        return Path(given), ""
    folder, _, scheme = str(given).rpartition(":")
    return (Path(folder), scheme) if folder and Path(folder).is_dir() else None


def _baseline_file(candidate: str | Scheme | PathLike[str]) -> str:
    """Return the name of a candidate's baseline file: `NAME.baseline.toml`, by its alias or the stem of its name."""
    if isinstance(candidate, Scheme):
        return f"{candidate.name}.baseline.toml"
    alias, _, target = str(candidate).partition("=")
    name = alias if target and "/" not in alias and "." not in alias else Path(candidate).stem
    return f"{name}.baseline.toml"


def _named_baseline(candidate: str | Scheme | PathLike[str]) -> str:
    """Return the baseline file of a candidate that names none.

    Raises:
        UserError: there is no such candidate, or no such file.
    """
    file = _baseline_file(candidate)
    if Path(file).is_file():
        return file
    if not isinstance(candidate, Scheme) and _results(candidate) is None and not is_baseline(str(candidate)):
        one_scheme(str(candidate))
    raise UserError(f"no baseline: name one with {argument('against')}, or write {file} with {how_to_update()}")


def _whole_suite(name: str) -> CheckSuite:
    """Return a suite with the cells and rules of those that it includes.

    Raises:
        UserError: there is no such suite.
    """
    suites = catalog.check_suites()
    chosen = suites.find(name)
    included = [suites.find(each) for each in chosen.includes]
    own = [cell for each in included for cell in each.cells]
    rules = dict.fromkeys([case for each in included for case in each.safety] + list(chosen.safety))
    return replace(chosen, cells=(*own, *chosen.cells), safety=tuple(rules))


def _about_rules(chosen: CheckSuite, cells: Names, candidate: Side) -> Iterator[str]:
    """Yield a sentence where no rule of safety of a suite that has some is judged, with the reason."""
    if candidate.scheme is None:
        yield "No rule of safety was judged: the candidate does not run."
    elif not chosen.safety:
        reason = f"{argument('cells')} names none" if names_of(cells) else "they are simulated only"
        yield f"No rule of safety was judged: {reason}."


def _chosen_suite(whole: CheckSuite, cells: Names, most_runs: int | None, backend: str | None) -> CheckSuite:
    """Return the suite with what the arguments change.

    Raises:
        UserError: there is no such cell or backend.
    """
    chosen = whole.only(names_of(cells))
    if most_runs is not None and most_runs < FIRST:
        raise UserError(argument="most_runs", value=most_runs, allowed=f"a whole number from {FIRST}")
    made_with = None if backend is None else executing_backend(backend)
    changed = []
    for cell in chosen.cells:
        experiment = cell.experiment if made_with is None else replace(cell.experiment, backend=made_with)
        changed.append(replace(cell, experiment=experiment, most_runs=most_runs or cell.most_runs))
    is_simulated = made_with is None or not made_with.capabilities.real_packets
    return replace(chosen, cells=tuple(changed), safety=chosen.safety if is_simulated else ())


def _side(name: str, given: str | Scheme | PathLike[str], can_run_programs: bool = True) -> Side:
    """Return a side of a check whose scheme runs.

    Raises:
        UserError: there is no such scheme.
    """
    if isinstance(given, Scheme):
        return Side(name, given.name, given)
    scheme = one_scheme(str(given))
    if scheme.real and not can_run_programs:
        raise UserError(f"scheme `{given}` needs real packets", fix=f"{argument('backend')} emu")
    return Side(name, str(given), scheme)


def _runs_programs(backend: str | None) -> bool:
    """Return whether schemes that need real packets can run: not in the simulator, which is meant by None."""
    return backend is not None and executing_backend(backend).capabilities.real_packets


def _checked_seed(seed: int) -> int:
    if not 0 <= seed <= MOST_SEED:
        raise UserError(argument="seed", value=seed, allowed=f"a whole number from 0 to {MOST_SEED}")
    return seed


@contextmanager
def _directory(out: str | PathLike[str] | None) -> Iterator[Path]:
    """Yield a directory for runs: `out`, which must be unused, or one that is removed again."""
    if out is not None:
        refuse_used(Path(out))
        yield Path(out)
        return
    with Scratch("check") as folder:
        yield folder
