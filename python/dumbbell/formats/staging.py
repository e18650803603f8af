"""Imports and exports that are written completely or not at all."""

from __future__ import annotations

import fcntl
import os
import shutil
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, cast

from dumbbell import catalog
from dumbbell.base.backend import IMPORTED
from dumbbell.base.clock import now
from dumbbell.base.errors import UserError, argument, require_text
from dumbbell.base.interrupts import Uninterrupted, interruptible
from dumbbell.base.json_text import to_json
from dumbbell.catalog.experiment_settings import LEAST_SECONDS
from dumbbell.catalog.path import PathModel
from dumbbell.catalog.scheme import Scheme
from dumbbell.core import Error
from dumbbell.experiment import Experiment, Run
from dumbbell.results import Recording, ResultsDirectory, unsuccessful, write_environment
from dumbbell.results.environment import environment
from dumbbell.results.files import publish
from dumbbell.results.kept_experiment import write_experiment

if TYPE_CHECKING:
    from dumbbell.contract.run import RunStatistics
    from dumbbell.contract.statistics import RunStats

STAGE = ".unfinished"
"""Name of the directory for incomplete output."""


@contextmanager
def staging(out: Path) -> Iterator[Path]:
    """Yield a directory that becomes `out`, which must be unused. After an error the directory is removed.

    An existing `out` stays (it may be the user's working directory), and receives the content. Errors name files
    by their final places in `out`.

    Raises:
        UserError: If another process writes to `out`.
        OSError: If the directory cannot be made.
    """
    shown_path, out = out, out.absolute()
    is_there = out.exists()
    temporary = out / STAGE if is_there else out.with_name(f".{out.name}{STAGE}")
    with interruptible(), _lock_directory(temporary, shown_path):
        try:
            yield temporary
            with Uninterrupted() as publishing:
                _publish(temporary, out, is_there)
        except BaseException as error:
            shutil.rmtree(temporary, ignore_errors=True)
            if isinstance(error, OSError):
                # errors of a full disk have no file; for a copy, the original is first
                file = error.filename2 or error.filename or shown_path
                error.filename, error.filename2 = str(file).replace(str(temporary), str(shown_path)), None
            elif isinstance(error, Error) and str(temporary) in str(error):
                raise UserError(str(error).replace(str(temporary), str(shown_path))) from None
            raise
        if publishing.was_interrupted:
            raise KeyboardInterrupt


@contextmanager
def _lock_directory(directory: Path, shown_path: Path) -> Iterator[None]:
    """Lock an empty directory for this process: a new one, or one that a killed process has left."""
    while True:
        directory.mkdir(parents=True, exist_ok=True)
        try:
            descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except FileNotFoundError:  # the previous owner has just removed the directory
            continue
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            is_the_one = os.path.samestat(
                os.fstat(descriptor), os.lstat(directory)
            )  # the directory may have been published
        except BlockingIOError:
            os.close(descriptor)
            raise UserError(f"{shown_path}: another dumbbell is writing there") from None
        except FileNotFoundError:
            is_the_one = False
        if is_the_one:
            break
        os.close(descriptor)
    try:
        for entry in directory.iterdir():
            shutil.rmtree(entry) if entry.is_dir() and not entry.is_symlink() else entry.unlink()
        yield
    finally:
        os.close(descriptor)


def _publish(directory: Path, out: Path, is_there: bool) -> None:
    """Move the content of `directory` to `out`: all of it, or none if this fails.

    Raises:
        UserError: If `out` is in use by now.
        OSError: If the file system refuses the move.
    """
    refuse_used(out)
    if not is_there:
        directory.rename(out)
        return
    moved_entries: list[Path] = []
    try:
        for entry in sorted(directory.iterdir()):
            moved_entries.append(entry.rename(out / entry.name))
        directory.rmdir()
    except OSError:
        for entry in moved_entries:
            shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
        raise


def imported_experiment(path: PathModel, schemes: Iterable[str], duration_s: float) -> Experiment:
    """Return the experiment of traffic measured by another tool: one run of one flow for each scheme."""
    labels = tuple(schemes)
    return Experiment(
        name=path.name,
        title=path.title,
        backend=IMPORTED,
        duration_s=max(duration_s, LEAST_SECONDS),
        warmup_s=0.0,
        seed=0,
        labels=labels,
        schemes={label: imported_scheme(label) for label in labels},
        paths={path.name: path},
    )


def imported_scheme(key: str) -> Scheme:
    """Return a scheme that another tool ran, in Pantheon's style."""
    style = {"title": key, "color": "dimgray", "marker": "o"} | _styles().get(key, {})
    title, color, marker = style["title"], style["color"], style["marker"]
    return Scheme(name=key, kind="program", controller="", status="imported", title=title, color=color, marker=marker)


@cache
def _styles() -> dict[str, dict[str, str]]:
    """Return Pantheon's styles of schemes."""
    return tomllib.loads((Path(catalog.__file__).parent / "pantheon-styles.toml").read_text(encoding="utf-8"))


def refuse_used(out: Path, else_do: str = "") -> None:
    """Raise an error for a destination that is a file or a non-empty directory; `else_do` is another remedy.

    Raises:
        UserError: If `out` is in use.
    """
    require_text(argument("out"), str(out))
    if out.exists() and (not out.is_dir() or any(entry.name != STAGE for entry in out.iterdir())):
        raise UserError(f"{out}: exists already", fix=f"choose another {argument('out')}{else_do}")


def begin(
    directory: Path, experiment: Experiment, source: Path, command: list[str], facts: Mapping[str, object] | None = None
) -> ResultsDirectory:
    """Return the results directory of an import, without runs. Its environment contains `facts` and the source."""
    results = ResultsDirectory(directory, experiment)
    write_experiment(directory, experiment)
    own_environment = environment(command)
    # the measuring dumbbell is known; the origin of the logs is in the logs only
    head = {key: own_environment.pop(key) for key in ("command", "dumbbell", "commit")}
    origin = {"source": str(source.resolve()), **(facts or {})}
    write_environment(results, head | {"imported": origin, "importing_machine": own_environment})
    return results


def add_run(results: ResultsDirectory, run: Run, files: list[Path], run_statistics: RunStats, source: str) -> None:
    """Move the files of a run to their place, and write its statistics; `source` is the origin of the files."""
    folder = run_folder(results)
    for file in files:
        file.rename(folder / file.name)
    complete = {**run_statistics, "backend": IMPORTED.form, "status": "done", "reason": None, "sim_wall_s": None}
    keep_run(results, run, folder, cast("RunStatistics", complete), [f"imported from {source}"])


def add_failed(results: ResultsDirectory, run: Run, reason: str, source: str) -> None:
    """Record that `source` contains no usable run, with the reason."""
    statistics = unsuccessful(IMPORTED.form, "failed", reason)
    keep_run(results, run, run_folder(results), statistics, [f"not imported from {source}: {reason}"])


def run_folder(results: ResultsDirectory) -> Path:
    """Return a new folder for the files of the next run."""
    folder = results.unfinished.path / "run"
    folder.mkdir(parents=True)
    return folder


def keep_run(results: ResultsDirectory, run: Run, folder: Path, statistics: RunStatistics, log: list[str]) -> None:
    """Move the folder of a run to its place, with its statistics and the log of its import."""
    (folder / "log.txt").write_text("\n".join([f"{now()} {log[0]}", *log[1:]]) + "\n", encoding="utf-8")
    (folder / "stats.json").write_text(to_json(results.complete(run, statistics)), encoding="utf-8")
    publish(results.unfinished / "run", results.folder(run))


def finish(results: ResultsDirectory) -> None:
    """Complete the directory: make its database, and remove the folder for unfinished runs."""
    if results.unfinished.path.exists():
        results.unfinished.path.rmdir()
    Recording([results]).close()
