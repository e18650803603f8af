"""Conformance to drafts and RFCs: numbered cases, run and judged."""

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
from dumbbell.formats.staging import refuse_used
from dumbbell.present.tables import Table
from dumbbell.results import ResultsDirectory, write_atomically
from dumbbell_conformance import matrix
from dumbbell_conformance.checking import chosen_cases, verdicts
from dumbbell_conformance.frozen import Change, Known, changes, is_known, known_of, read_known, write_known
from dumbbell_conformance.judging import FAIL, Verdict
from dumbbell_conformance.plans import Planned
from dumbbell_conformance.vectors.run import run_scripts
from dumbbell_conformance.vectors.scripts import ScriptResult

RESULTS = "conformance.json"
"""The file with every verdict and figure, in the directory of the runs."""


@dataclass(frozen=True)
class Conformance:
    """Result of `check_conformance`: a verdict on each case with each scheme, with the figures behind it.

    A verdict is `pass`, `fail`, `not applicable` (the source is not about the scheme, or the scheme does not show what
    the case measures), or `not reached` (the scenario did not bring the scheme to where the case looks).
    """

    suite: Suite
    verdicts: tuple[Verdict, ...]
    directory: Path
    """Where its runs are, each a results directory."""
    changes: tuple[Change, ...] | None = None
    """The verdicts that are others than those that it was compared with; None if it was compared with none."""

    @property
    def good(self) -> bool:
        """Return True if no case failed; of a comparison, if no check fails that did not."""
        if self.changes is not None:
            return not any(each.is_worse for each in self.changes)
        return all(each.verdict != FAIL for each in self.verdicts)

    def freeze(self, file: str | PathLike[str]) -> None:
        """Write the verdicts to a file that `against` takes: its failures are known ones.

        Raises:
            dumbbell.Error: the file cannot be written.
        """
        write_known(Path(file), self.suite.name, self.verdicts)

    @property
    def reasons(self) -> list[str]:
        """A line for each case that was not simply passed: which figure, when, and the rule that is broken."""
        return matrix.reasons(self.verdicts)

    @property
    def counts(self) -> str:
        """Return the number of cases with each verdict, in words."""
        return matrix.counted(self.verdicts)

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
            "cases": [matrix.as_json(each) for each in self.verdicts],
            "changes": None if self.changes is None else [_change_json(each) for each in self.changes],
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
    """Runs the cases of a suite with some schemes and judges them, as `dumbbell conformance` does.

    Args:
        suite: one of `dumbbell.conformance_suites()`.
        schemes: names, TOML files, or `dumbbell.Scheme`s; unless given those that the suite names.
        cases: numbers of the only cases to run: `3`, `7a`.
        against: what the verdicts are compared with: a scheme, or a file of `Conformance.freeze`.
        backend: `sim`, or `emu` for kernel controllers and programs: only cases that packets alone show.
        jobs: processes; one per processor unless given.
        out: a new directory for the runs; unless given one below `results`.
        command: the words of the command line that this call comes from; recorded.

    Raises:
        dumbbell.Error: something that is not allowed, in one line; nothing was run.
        dumbbell.Interrupted: by Ctrl-C, SIGTERM or SIGHUP.
    """
    found = find_suite(suite)
    chosen = chosen_cases(found, names_of(cases))
    made_with = executing_backend(backend)
    tested = _schemes(found, schemes)
    known: Known | None = None
    baseline: dict[str, Scheme] = {}
    if isinstance(against, Scheme):
        baseline = {against.name: against}
    elif against is not None and is_known(str(against)):
        known = read_known(Path(against), found.name)
    elif against is not None:
        baseline = _schemes(found, str(against))
    for name in baseline:
        if name in tested:
            problem = "is one of the schemes that are compared with it"
            raise UserError(problem, argument="against", value=name, fix="give it another name")
    place = default_directory(f"conformance-{found.name}") if out is None else Path(out)
    refuse_used(place)
    how = Execution(jobs=jobs, command=command)

    with Progress() as progress, interruptible():

        def make(plans: Sequence[Planned]) -> Sequence[ResultsDirectory]:
            parts, outcome = perform_apart([(each.folder, each.experiment) for each in plans], how, progress)
            if outcome.interrupted:
                raise Interrupted(place, outcome)
            return parts

        told = verdicts(found, chosen, tested | baseline, made_with, place, make, _run_scripts, progress)
        if baseline:
            known = known_of([each for each in told if each.scheme in baseline])
        own = [each for each in told if each.scheme in tested]
        judged = Conformance(found, tuple(told), place, None if known is None else tuple(changes(own, known)))
    if place.is_dir():
        write_atomically(place / RESULTS, to_json(judged.as_json()))
    return judged


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


def _schemes(suite: Suite, given: Schemes) -> dict[str, Scheme]:
    """The schemes by name; two of one name are refused."""
    found: dict[str, Scheme] = {}
    for each in schemes_of(given) or suite.schemes:
        scheme = each if isinstance(each, Scheme) else one_scheme(str(each))
        if found.setdefault(scheme.name, scheme) != scheme:
            raise UserError(f"two schemes are called `{scheme.name}`: give one another name")
    return found
