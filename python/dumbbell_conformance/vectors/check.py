"""Whether today's implementation still gives the traces of a directory."""

from dataclasses import dataclass, replace
from itertools import zip_longest
from os import PathLike
from pathlib import Path

from dumbbell import catalog
from dumbbell.base.errors import UserError, argument, listed
from dumbbell.base.input_files import TEXT, read_text
from dumbbell.base.interrupts import interruptible
from dumbbell.base.progress import Progress
from dumbbell.base.scratch import Scratch
from dumbbell.execution.check import check
from dumbbell.experiment import Experiment, resolve
from dumbbell.results.difference import difference
from dumbbell.results.kept_experiment import kept_experiment
from dumbbell_conformance.vectors.write import EXPERIMENT, SCRIPT, TABLE, TRACE, run_scenario, scenario

_MOST_EVENTS_PER_S = 500_000
"""Of a scenario's run. Its link of 2 Mbit/s takes some 2,000; traffic that nothing slows down, up to 170,000."""


@dataclass(frozen=True)
class Difference:
    """Where a file of a scenario first differs."""

    file: Path
    line: int
    stored: str
    now: str


def check_vectors(directory: str | PathLike[str]) -> dict[str, Difference | None]:
    """Repeats every scenario in `directory`: for each, the first difference, or none.

    Raises:
        dumbbell.Error: there is none in it, or one is damaged.
    """
    directory = Path(directory)
    folders = sorted(file.parent for file in directory.glob(f"*/{EXPERIMENT}")) if directory.is_dir() else []
    if not folders:
        raise UserError(f"{directory}: no vectors in it: no */{EXPERIMENT}")
    with interruptible(), Progress() as progress:
        return {folder.name: _check(folder, progress) for folder in folders}


def _check(folder: Path, progress: Progress) -> Difference | None:
    progress.doing(f"scenario {folder.name}")
    file = folder / EXPERIMENT
    stored = resolve(kept_experiment(folder))
    for scheme in stored.schemes.values():
        if scheme.is_outside:  # whoever checks vectors executes nothing of theirs
            raise UserError(
                f"{file}: scheme `{scheme.name}`: {argument('check_vectors')} repeats built-in controllers only: "
                f"`dumbbell vectors FILE --run {folder}` compares the answers of a plug-in"
            )
    experiment = _scenario(file, stored)
    check(experiment)
    with Scratch("vectors") as scratch:
        run_scenario(experiment, scratch)
        for name in (TABLE, TRACE, SCRIPT):
            found = _first_difference(folder / name, scratch / name)
            if found is not None:
                return found
    return None


def _scenario(file: Path, stored: Experiment) -> Experiment:
    """Return the scenario that a file says it is. Only its scheme is taken from it: somebody else may have made it.

    Raises:
        UserError: this version has no such scenario, or another one of that name.
    """
    experiment_files = {experiment_file.name: experiment_file for experiment_file in catalog.vectors()}
    if stored.name not in experiment_files or len(stored.schemes) != 1:
        raise UserError(f"{file}: not a scenario with one scheme: allowed are {listed(experiment_files)}")
    experiment = scenario(experiment_files[stored.name], *stored.schemes.values())
    differs = difference(stored.table(), experiment.table())
    if differs:
        raise UserError(f"{file}: not the scenario `{stored.name}` of this version: write the vectors again: {differs}")
    return replace(experiment, most_events_per_s=_MOST_EVENTS_PER_S)


def _first_difference(stored: Path, now: Path) -> Difference | None:
    try:
        old = read_text(stored, TEXT).splitlines()
    except FileNotFoundError:
        raise UserError(f"{stored}: no such file: write the vectors again") from None
    except UnicodeDecodeError:
        raise UserError(f"{stored}: is damaged: not UTF-8 text") from None
    lines = zip_longest(old, now.read_text(encoding="utf-8").splitlines(), fillvalue="(nothing)")
    for number, (before, after) in enumerate(lines, 1):
        if before != after:
            return Difference(stored, number, before, after)
    return None
