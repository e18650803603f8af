"""Comparison of the current implementation with the traces in a directory."""

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
"""Event limit of a scenario's run. A link of 2 Mbit/s needs about 2,000; traffic without control up to 170,000."""


@dataclass(frozen=True)
class Difference:
    """The first difference in a file of a scenario."""

    file: Path
    line: int
    stored: str
    now: str


def check_vectors(directory: str | PathLike[str]) -> dict[str, Difference | None]:
    """Repeat every scenario in `directory`, and return for each the first difference, or None.

    Raises:
        dumbbell.Error: the directory has no scenario, or a damaged one.
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
    stored_experiment = resolve(kept_experiment(folder))
    for scheme in stored_experiment.schemes.values():
        if scheme.is_outside:  # a check of vectors executes no foreign code
            raise UserError(
                f"{file}: scheme `{scheme.name}`: {argument('check_vectors')} repeats built-in controllers only: "
                f"`dumbbell vectors FILE --run {folder}` compares the answers of a plug-in"
            )
    experiment = _scenario(file, stored_experiment)
    check(experiment)
    with Scratch("vectors") as scratch:
        run_scenario(experiment, scratch)
        for name in (TABLE, TRACE, SCRIPT):
            first_difference = _first_difference(folder / name, scratch / name)
            if first_difference is not None:
                return first_difference
    return None


def _scenario(file: Path, stored_experiment: Experiment) -> Experiment:
    """Return the scenario named in a file. Only the scheme comes from the file, whose author may be unknown.

    Raises:
        UserError: this version lacks the scenario, or has another one of that name.
    """
    experiment_files = {experiment_file.name: experiment_file for experiment_file in catalog.vectors()}
    if stored_experiment.name not in experiment_files or len(stored_experiment.schemes) != 1:
        raise UserError(f"{file}: not a scenario with one scheme: allowed are {listed(experiment_files)}")
    experiment = scenario(experiment_files[stored_experiment.name], *stored_experiment.schemes.values())
    differs = difference(stored_experiment.table(), experiment.table())
    if differs:
        raise UserError(
            f"{file}: not the scenario `{stored_experiment.name}` of this version: write the vectors again: {differs}"
        )
    return replace(experiment, most_events_per_s=_MOST_EVENTS_PER_S)


def _first_difference(stored_file: Path, now: Path) -> Difference | None:
    try:
        old = read_text(stored_file, TEXT).splitlines()
    except FileNotFoundError:
        raise UserError(f"{stored_file}: no such file: write the vectors again") from None
    except UnicodeDecodeError:
        raise UserError(f"{stored_file}: is damaged: not UTF-8 text") from None
    lines = zip_longest(old, now.read_text(encoding="utf-8").splitlines(), fillvalue="(nothing)")
    for number, (before, after) in enumerate(lines, 1):
        if before != after:
            return Difference(stored_file, number, before, after)
    return None
