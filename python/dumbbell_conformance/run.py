"""Conformance to drafts and RFCs: runs of numbered cases, and their verdicts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

from dumbbell.api.running import Interrupted
from dumbbell.api.selection import one_scheme
from dumbbell.base.backend import executing_backend
from dumbbell.base.errors import UserError
from dumbbell.base.interrupts import interruptible
from dumbbell.base.json_text import to_json
from dumbbell.base.progress import Progress
from dumbbell.catalog.conformance_cases import Suite, find_suite
from dumbbell.catalog.run_request import Names, Schemes, names_of, schemes_of
from dumbbell.catalog.scheme import Scheme
from dumbbell.execution.perform import Execution, default_directory, perform_apart
from dumbbell.execution.pool import Pool
from dumbbell.formats.staging import refuse_used
from dumbbell.present.tables import Table
from dumbbell.results import ResultsDirectory, write_atomically
from dumbbell_conformance import matrix
from dumbbell_conformance.checking import chosen_cases, verdicts
from dumbbell_conformance.frozen import Change, StoredVerdicts, changes, is_known, known_of, read_known, write_known
from dumbbell_conformance.judging import FAIL, Verdict
from dumbbell_conformance.plans import PlannedCase
from dumbbell_conformance.vectors.run import run_scripts
from dumbbell_conformance.vectors.scripts import ScriptResult

RESULTS = "conformance.json"
"""File in the directory of the runs, with all verdicts and figures."""


@dataclass(frozen=True)
class Conformance:
    """Result of `check_conformance`: a verdict on each case with each scheme, and its figures.

    A verdict is `pass`, `fail`, `not applicable` (the source is not about the scheme, or the scheme does not show what
    the case measures), or `not reached` (the scheme did not reach the window of the case).
    """

    suite: Suite
    verdicts: tuple[Verdict, ...]
    directory: Path
    """Directory of the runs, each a results directory."""
    changes: tuple[Change, ...] | None = None
    """Verdicts that differ from the stored ones; None without a comparison."""

    @property
    def good(self) -> bool:
        """True if no case failed. After a comparison: True if no check fails that did not fail before."""
        if self.changes is not None:
            return not any(change.is_worse for change in self.changes)
        return all(verdict.verdict != FAIL for verdict in self.verdicts)

    def freeze(self, file: str | PathLike[str]) -> None:
        """Write the verdicts to a file for `against`. Failures in the file are known.

        Raises:
            dumbbell.Error: the file cannot be written.
        """
        write_known(Path(file), self.suite.name, self.verdicts)

    @property
    def reasons(self) -> list[str]:
        """A line for each case that did not simply pass: figure, time, and the broken rule."""
        return matrix.reasons(self.verdicts)

    @property
    def counts(self) -> str:
        """Number of cases with each verdict, in words."""
        return matrix.counts_text(self.verdicts)

    def table(self) -> Table:
        """Return the matrix: a row for each case, a column for each scheme."""
        return matrix.matrix(self.verdicts)

    def markdown(self) -> str:
        """Return the matrix and the reasons as a part of a page."""
        return matrix.page(self.suite, self.verdicts)

    def as_json(self) -> dict[str, object]:
        """Return the object that `dumbbell conformance --json` prints."""
        return {
            "suite": self.suite.name,
            "source": self.suite.source,
            "directory": str(self.directory),
            "cases": [matrix.as_json(verdict) for verdict in self.verdicts],
            "changes": None if self.changes is None else [_change_json(change) for change in self.changes],
        }

    def __repr__(self) -> str:
        return f"<dumbbell_conformance.Conformance: {self.suite.name}: {self.counts}>"


def check_conformance(
    suite: str,
    *,
    schemes: Schemes = (),
    cases: Names = (),
    against: str | Scheme | PathLike[str] | None = None,
    backend: str = "sim",
    jobs: int | None = None,
    out: str | PathLike[str] | None = None,
    command: Sequence[str] = (),
) -> Conformance:
    """Run the cases of a suite with some schemes, and judge them, as `dumbbell conformance` does.

    Args:
        suite: one of `dumbbell.conformance_suites()`.
        schemes: names, TOML files, or `dumbbell.Scheme`s; default: the schemes of the suite.
        cases: numbers of the cases to run: `3`, `7a`; default: all.
        against: scheme, or file of `Conformance.freeze`, with which the verdicts are compared.
        backend: `sim`, or `emu` for kernel controllers and programs: only cases whose measures need packets alone.
        jobs: processes; one per CPU by default.
        out: a new directory for the runs; by default one below `results`.
        command: arguments of the calling command line, which are recorded.

    Raises:
        dumbbell.Error: invalid input, described in one line; nothing was run.
        dumbbell.Interrupted: by Ctrl-C, SIGTERM or SIGHUP.
    """
    conformance_suite = find_suite(suite)
    selected_cases = chosen_cases(conformance_suite, names_of(cases))
    made_with = executing_backend(backend)
    tested_schemes = _schemes(conformance_suite, schemes)
    stored_verdicts: StoredVerdicts | None = None
    baseline: dict[str, Scheme] = {}
    if isinstance(against, Scheme):
        baseline = {against.name: against}
    elif against is not None and is_known(str(against)):
        stored_verdicts = read_known(Path(against), conformance_suite.name)
    elif against is not None:
        baseline = _schemes(conformance_suite, str(against))
    for name in baseline:
        if name in tested_schemes:
            problem = "is one of the schemes that are compared with it"
            raise UserError(problem, argument="against", value=name, fix="give it another name")
    place = default_directory(f"conformance-{conformance_suite.name}") if out is None else Path(out)
    refuse_used(place)
    with Progress() as progress, interruptible(), Pool(progress.clock) as pool:
        execution = Execution(jobs=jobs, command=command, pool=pool)

        def make(plans: Sequence[PlannedCase]) -> Sequence[ResultsDirectory]:
            parts, outcome = perform_apart([(plan.folder, plan.experiment) for plan in plans], execution, progress)
            if outcome.interrupted:
                raise Interrupted(place, outcome)
            return parts

        all_verdicts = verdicts(
            conformance_suite, selected_cases, tested_schemes | baseline, made_with, place, make, _run_scripts, progress
        )
        if baseline:
            stored_verdicts = known_of([verdict for verdict in all_verdicts if verdict.scheme in baseline])
        tested_verdicts = [verdict for verdict in all_verdicts if verdict.scheme in tested_schemes]
        conformance = Conformance(
            conformance_suite,
            tuple(all_verdicts),
            place,
            None if stored_verdicts is None else tuple(changes(tested_verdicts, stored_verdicts)),
        )
    if place.is_dir():
        write_atomically(place / RESULTS, to_json(conformance.as_json()))
    return conformance


def _change_json(change: Change) -> dict[str, object]:
    verdict = change.verdict
    return {
        "case": verdict.case.label,
        "scheme": verdict.scheme,
        "check": change.check or None,
        "before": change.before or None,
        "now": change.now,
        "is_worse": change.is_worse,
    }


def _run_scripts(group: str, scheme: Scheme) -> Sequence[ScriptResult]:
    """Run a group of shipped scripts with the controller of a scheme."""
    return run_scripts([group], scheme)


def _schemes(suite: Suite, given_schemes: Schemes) -> dict[str, Scheme]:
    """Return the schemes by name. Two different schemes of one name are refused."""
    by_name: dict[str, Scheme] = {}
    for item in schemes_of(given_schemes) or suite.schemes:
        scheme = item if isinstance(item, Scheme) else one_scheme(str(item))
        if by_name.setdefault(scheme.name, scheme) != scheme:
            raise UserError(f"two schemes are called `{scheme.name}`: give one another name")
    return by_name
