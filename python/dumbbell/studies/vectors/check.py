"""Whether today's implementation still gives the traces of a directory."""

import tempfile
from dataclasses import dataclass
from itertools import zip_longest
from os import PathLike
from pathlib import Path

from dumbbell.base.errors import UserError
from dumbbell.base.input_files import TEXT, read_text
from dumbbell.catalog.experiment_file import stored_plan
from dumbbell.execution.check import check
from dumbbell.experiment import resolve
from dumbbell.studies.vectors.write import EXPERIMENT, TABLE, TRACE, run_scenario


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
    return {folder.name: _check(folder) for folder in folders}


def _check(folder: Path) -> Difference | None:
    experiment = resolve(stored_plan(folder / EXPERIMENT))
    for scheme in experiment.schemes.values():
        if scheme.is_outside:  # whoever checks vectors executes nothing of theirs
            raise UserError(f"{folder / EXPERIMENT}: scheme `{scheme.name}`: allowed are built-in controllers")
    check(experiment)
    with tempfile.TemporaryDirectory(prefix="dumbbell-vectors-") as scratch:
        run_scenario(experiment, Path(scratch))
        for name in (TABLE, TRACE):
            found = _first_difference(folder / name, Path(scratch) / name)
            if found is not None:
                return found
    return None


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
