"""What is read from other tools, or written for them, is there completely or not at all."""

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
from dumbbell.base.interrupts import Undisturbed, interruptible
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
"""What is made is in a directory of this name until it is complete."""


@contextmanager
def staging(out: Path) -> Iterator[Path]:
    """A directory that becomes `out`, which must be unused, if nothing goes wrong, and vanishes if something does.

    If `out` is there, it stays (it may be where its user is), and gets what was made. What cannot be written is
    called as it would have been in `out`.

    Raises:
        UserError: another process makes something there.
        OSError: the directory cannot be made.
    """
    named, out = out, out.absolute()
    is_there = out.exists()
    temporary = out / STAGE if is_there else out.with_name(f".{out.name}{STAGE}")
    with interruptible(), _held(temporary, named):
        try:
            yield temporary
            with Undisturbed() as publishing:
                _publish(temporary, out, is_there)
        except BaseException as error:
            shutil.rmtree(temporary, ignore_errors=True)
            if isinstance(error, OSError):
                # a full disk says nothing of itself, and of a copy the original comes first
                file = error.filename2 or error.filename or named
                error.filename, error.filename2 = str(file).replace(str(temporary), str(named)), None
            elif isinstance(error, Error) and str(temporary) in str(error):
                raise UserError(str(error).replace(str(temporary), str(named))) from None
            raise
        if publishing.was_interrupted:
            raise KeyboardInterrupt


@contextmanager
def _held(directory: Path, named: Path) -> Iterator[None]:
    """Hold an empty directory for this process: a new one, or one that a process has left that was killed."""
    while True:
        directory.mkdir(parents=True, exist_ok=True)
        try:
            held = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except FileNotFoundError:  # whoever held it has removed it in this moment
            continue
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            is_the_one = os.path.samestat(os.fstat(held), os.lstat(directory))  # it may have been published
        except BlockingIOError:
            os.close(held)
            raise UserError(f"{named}: another dumbbell is writing there") from None
        except FileNotFoundError:
            is_the_one = False
        if is_the_one:
            break
        os.close(held)
    try:
        for entry in directory.iterdir():
            shutil.rmtree(entry) if entry.is_dir() and not entry.is_symlink() else entry.unlink()
        yield
    finally:
        os.close(held)


def _publish(made: Path, out: Path, is_there: bool) -> None:
    """Move what was made to `out`: all of it, or none if the file system refuses, or somebody has put something there.

    Raises:
        UserError: there is something in `out` by now.
        OSError: the file system refuses.
    """
    refuse_used(out)
    if not is_there:
        made.rename(out)
        return
    moved: list[Path] = []
    try:
        for entry in sorted(made.iterdir()):
            moved.append(entry.rename(out / entry.name))
        made.rmdir()
    except OSError:
        for entry in moved:
            shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
        raise


def imported_experiment(path: PathModel, schemes: Iterable[str], duration_s: float) -> Experiment:
    """The experiment of traffic that another tool measured: one run of one flow for each scheme."""
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
    """A scheme that another tool ran, drawn as Pantheon draws it."""
    style = {"title": key, "color": "dimgray", "marker": "o"} | _styles().get(key, {})
    title, color, marker = style["title"], style["color"], style["marker"]
    return Scheme(name=key, kind="program", controller="", status="imported", title=title, color=color, marker=marker)


@cache
def _styles() -> dict[str, dict[str, str]]:
    """How Pantheon draws its schemes."""
    return tomllib.loads((Path(catalog.__file__).parent / "pantheon-styles.toml").read_text(encoding="utf-8"))


def refuse_used(out: Path, else_do: str = "") -> None:
    """Refuses a destination that is a file or a directory with anything in it; `else_do` is another remedy.

    Raises:
        UserError: `out` is in use.
    """
    require_text(argument("out"), str(out))
    if out.exists() and (not out.is_dir() or any(entry.name != STAGE for entry in out.iterdir())):
        raise UserError(f"{out}: exists already", fix=f"choose another {argument('out')}{else_do}")


def begin(
    directory: Path, experiment: Experiment, source: Path, command: list[str], facts: Mapping[str, object] | None = None
) -> ResultsDirectory:
    """The results directory of an import, without runs. `facts` are kept with the source in its environment."""
    results = ResultsDirectory(directory, experiment)
    write_experiment(directory, experiment)
    here = environment(command)
    # what measured the logs is known; where they come from, only they can tell
    made = {key: here.pop(key) for key in ("command", "dumbbell", "commit")}
    imported = {"source": str(source.resolve()), **(facts or {})}
    write_environment(results, made | {"imported": imported, "importing_machine": here})
    return results


def add_run(results: ResultsDirectory, run: Run, files: list[Path], measured: RunStats, source: str) -> None:
    """Moves the files of a run, which were made from `source`, to their place and writes its statistics."""
    folder = run_folder(results)
    for file in files:
        file.rename(folder / file.name)
    made = {**measured, "backend": IMPORTED.form, "status": "done", "reason": None, "sim_wall_s": None}
    keep_run(results, run, folder, cast("RunStatistics", made), [f"imported from {source}"])


def add_failed(results: ResultsDirectory, run: Run, reason: str, source: str) -> None:
    """Writes down that there is no run to be had from `source`, and why."""
    statistics = unsuccessful(IMPORTED.form, "failed", reason)
    keep_run(results, run, run_folder(results), statistics, [f"not imported from {source}: {reason}"])


def run_folder(results: ResultsDirectory) -> Path:
    """Where the files of the next run are made."""
    folder = results.unfinished.path / "run"
    folder.mkdir(parents=True)
    return folder


def keep_run(results: ResultsDirectory, run: Run, folder: Path, statistics: RunStatistics, log: list[str]) -> None:
    """Moves the folder of a run to its place, with its statistics and what there is to say of its import."""
    (folder / "log.txt").write_text("\n".join([f"{now()} {log[0]}", *log[1:]]) + "\n", encoding="utf-8")
    (folder / "stats.json").write_text(to_json(results.complete(run, statistics)), encoding="utf-8")
    publish(results.unfinished / "run", results.folder(run))


def finish(results: ResultsDirectory) -> None:
    """Completes the directory: its database, and nothing unfinished."""
    if results.unfinished.path.exists():
        results.unfinished.path.rmdir()
    Recording([results]).close()
