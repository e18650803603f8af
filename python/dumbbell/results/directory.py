"""Results directory: its files, its finished runs, and reading them back."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import itertools
import os
import re
import shutil
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal, cast

from dumbbell.base.conventions import CONVENTIONS
from dumbbell.base.entry import Entry
from dumbbell.base.errors import UserError, argument, listed, one_line, require_text
from dumbbell.base.json_text import read_json, to_json
from dumbbell.experiment import Experiment, Run, resolve
from dumbbell.results.difference import difference
from dumbbell.results.files import is_left, locked_file, remove_left, write_atomically
from dumbbell.results.integrity import damage
from dumbbell.results.kept_experiment import KEPT, TRACES, kept_experiment, lasting_table, write_experiment
from dumbbell.results.number_store import NumberStore
from dumbbell.results.statistics import ACCEPTED, require_statistics, unsuccessful

if TYPE_CHECKING:
    from dumbbell.contract.environment import Environment
    from dumbbell.contract.run import RunStatistics, RunTable

STATISTICS = "stats.json"
MISSING = "not run: the experiment was stopped before"
RUNNING = "not run yet: the experiment is running"
NOT_YET = "not run: its round was missed, or is still to come"
"""Reason of a missing run of a campaign."""
DAMAGED: Literal["damaged"] = "damaged"
"""Status of a run with unreadable statistics; key of an unreadable environment."""
LEAST_FREE_BYTES = 16 * 2**20
LOCK = ".lock"
"""File of a results directory that its writer locks."""


class ResultsDirectory:
    """One results directory and its experiment."""

    def __init__(self, directory: Path, experiment: Experiment) -> None:
        self.directory = directory
        self.experiment = experiment
        self.root = Entry.of(directory)
        """Directory of the results, for reading files."""

    @property
    def is_written(self) -> bool:
        """True if a process holds the directory for writing at this moment."""
        try:
            lock = os.open(self.directory / LOCK, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError:
            return False
        try:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)  # released at once; writers try again meanwhile
        except OSError as error:
            return error.errno == errno.EWOULDBLOCK
        finally:
            os.close(lock)
        return False

    @cached_property
    def numbers(self) -> NumberStore:
        """Numbers of runs without directories."""
        return NumberStore(self.root)

    @property
    def unfinished(self) -> Entry:
        """Directory of runs that are not complete yet."""
        return self.root / "runs" / ".unfinished"

    def place(self, run: Run) -> str:
        """Return the directory of the files of `run`, relative to the results directory."""
        if run.former_directory != run.directory and not (self.root / run.directory).is_folder():
            former = self.root / run.former_directory / STATISTICS
            if former.is_file() and _scheme_of(former) == run.scheme:
                return run.former_directory
        return run.directory

    def planned(self) -> list[Run]:
        """Return the runs of the experiment; for results from elsewhere, the imported runs."""
        runs = self.experiment.all_runs()
        if self.experiment.capabilities.executes:
            return runs
        folders = {(run.path, run.scheme): self.folder(run).parent for run in runs}
        numbers = {key: _numbers(folder) for key, folder in folders.items()}
        imported_runs = [
            replace(run, run=number) for run in runs if run.run == 1 for number in numbers[run.path, run.scheme]
        ]
        return sorted(imported_runs, key=lambda run: run.run)

    def named(self, name: str, argument: str = "run") -> Run:
        """Return the run PATH/SCHEME/N; `argument` is the caller's argument, for messages.

        Raises:
            UserError: The run does not exist.
        """
        path, _, rest = name.partition("/")
        scheme, _, number = rest.rpartition("/")
        runs = [run for run in self.planned() if (run.path, run.scheme) == (path, scheme)]
        for run in runs:
            if str(run.run) == number:
                return run
        candidates = runs or self.experiment.repetition(1)
        raise UserError(
            "no such run", argument=argument, value=name, allowed=[f"{r.path}/{r.scheme}/{r.run}" for r in candidates]
        )

    def folder(self, run: Run) -> Entry:
        """Return the directory of the files of `run`."""
        return self.root / self.place(run)

    def statistics(self, run: Run) -> RunStatistics | None:
        """Return the contents of the run's `stats.json`, or None if it has not been run.

        Raises:
            UserError: The file is damaged; the line names the place.
        """
        file = self.folder(run) / STATISTICS
        try:
            content = read_json(file, object)
        except (FileNotFoundError, NotADirectoryError):
            return self.numbers.statistics(run) if self.experiment.keeps_numbers else None
        statistics = require_statistics(str(file), content)
        for key, expected in (("scheme", run.scheme), ("path", run.path), ("run", run.run)):
            if (value := statistics.get(key, expected)) != expected:
                raise UserError(f"{file}: is of {key} `{value}`: this is the place of {key} `{expected}`")
        return statistics

    def is_finished(self, run: Run) -> bool:
        """Return True if the run need not be repeated: it is readable, and neither failed nor invalid.

        Raises:
            UserError: It was finished, and is damaged now; the line names the fault.
        """
        statistics = self.statistics(run)
        if statistics is None or statistics["status"] not in ACCEPTED:
            return False
        if self.experiment.keeps_numbers and not self.folder(run).is_folder():
            return True
        fault = damage(self.folder(run), statistics, self.experiment.log)
        if fault is not None:
            raise UserError(f"{self.folder(run)}: {fault}")
        return True

    def runs(self) -> list[RunTable]:
        """Return every run of the experiment as in `show --json`, including missing and damaged ones."""
        return [self.readable(run) for run in self.planned()]

    def run(self, run: Run) -> RunTable:
        """Return one run as in `show --json`."""
        statistics = self.statistics(run)
        if statistics is None:
            statistics = unsuccessful(self.experiment.backend.full_name, "missing", self.why_missing)
        return self.complete(run, statistics)

    @property
    def why_missing(self) -> str:
        """Reason of missing runs."""
        return NOT_YET if self.experiment.every_s is not None else RUNNING if self.is_written else MISSING

    def readable(self, run: Run) -> RunTable:
        """Return one run as in `show --json`; damaged statistics are its reason."""
        try:
            return self.run(run)
        except UserError as error:
            problem = str(error).replace(f"{self.folder(run)}/", "")
            return self.complete(run, unsuccessful(self.experiment.backend.full_name, DAMAGED, problem))

    def complete(self, run: Run, statistics: RunStatistics) -> RunTable:
        """Return the statistics of a run with its identity. Runs that were not executed here have no seed."""
        seed = run.seed if self.experiment.capabilities.executes else None
        identity = {"scheme": run.scheme, "path": run.path, "run": run.run, "seed": seed}
        cell = self.experiment.cells.get(run.path)
        axes = {} if cell is None else cell.coordinates
        absent = {"backend": self.experiment.backend.full_name, "reason": None, "sim_wall_s": None, "events": None}
        content = {**identity, **absent, **statistics, **identity, "directory": self.place(run), "axes": axes}
        return cast("RunTable", content)

    def settled(self) -> Iterator[RunTable]:
        """Yield every run with readable statistics, good or not, as in `show --json`."""
        for run in self.planned():
            try:
                statistics = self.statistics(run)
            except UserError:
                continue
            if statistics is not None:
                yield self.complete(run, statistics)

    def shown_environment(self) -> Environment:
        """Return the contents of `environment.json`; for a damaged file, the fault as `damaged`."""
        try:
            return self.environment()
        except UserError as error:
            return {"damaged": str(error).replace(f"{self.directory}/", "")}

    def environment(self) -> Environment:
        """Return the contents of `environment.json`; empty without the file.

        Raises:
            UserError: The file is damaged; the line names the place.
        """
        file = self.root / "environment.json"
        from dumbbell.contract.environment import Environment

        try:
            return read_json(file, Environment)
        except FileNotFoundError:
            return {}


def _scheme_of(statistics: Entry) -> object:
    """Return the scheme or mix of a run's statistics; None if they are damaged."""
    try:
        return read_json(statistics, dict[str, object]).get("scheme")
    except (OSError, UserError):
        return None


def _numbers(folder: Entry) -> list[int]:
    """Return the numbers of runs with a directory, without names that no run has."""
    return sorted(int(name) for name in folder.names() if _NUMBER.fullmatch(name))


_NUMBER = re.compile("[1-9][0-9]{0,8}")


def open_results(directory: Path, convention: str | None = None) -> ResultsDirectory:
    """Return the results in `directory` for reading, shown by `convention` or as the experiment says.

    Raises:
        UserError: The directory has no results, or the convention does not exist.
    """
    require_text("directory", str(directory))
    file = Entry.of(directory) / KEPT
    try:
        is_there = directory.is_dir()
    except OSError as error:  # the name is too long
        raise UserError(f"{directory}: {one_line(error)}") from None
    if not is_there:
        raise UserError(f"{directory}: no such directory")
    if not file.is_file():
        parts = sorted(directory.glob(f"experiments/*/{KEPT}"))
        hint = f" (those of the benchmark are below it, like {parts[0].parent})" if parts else ""
        raise UserError(f"{directory}: not a results directory: there is no {KEPT} in it{hint}")
    # reading results executes nothing of them
    experiment = resolve(kept_experiment(directory))
    if convention is not None:
        if convention not in CONVENTIONS:
            raise UserError(f"convention `{convention}`: allowed are {listed(CONVENTIONS)}")
        experiment = replace(experiment, convention=convention)
    return ResultsDirectory(directory, experiment)


def prepare(directory: Path, experiment: Experiment, resume: bool) -> ResultsDirectory:
    """Prepare `directory`, which the caller holds, for the results of `experiment`; write its file only.

    Raises:
        UserError: The directory cannot be written, is full, or has other contents.
    """
    try:
        directory.mkdir(parents=True, exist_ok=True)
        if (directory / KEPT).exists():
            experiment = _continue(directory, experiment, resume)
        elif any(entry.name not in (LOCK, TRACES) and not is_left(entry.name) for entry in directory.iterdir()):
            remedy = f"choose another {argument('out')}"
            raise UserError(f"{directory}: is neither empty nor a results directory", fix=remedy)
        if shutil.disk_usage(directory).free < LEAST_FREE_BYTES:
            raise UserError(f"{directory}: less than {LEAST_FREE_BYTES // 2**20} MiB free on its disk")
        write_experiment(directory, experiment)
    except OSError as error:
        raise _unwritable(directory, error) from None
    return ResultsDirectory(directory, experiment)


def extended(results: ResultsDirectory, runs: int) -> ResultsDirectory:
    """Return the results of the experiment with this number of runs; write its file only. The caller holds them.

    Raises:
        UserError: The directory cannot be written.
    """
    experiment = replace(results.experiment, runs=runs)
    try:
        write_experiment(results.directory, experiment)
    except OSError as error:
        raise _unwritable(results.directory, error) from None
    return ResultsDirectory(results.directory, experiment)


def _unwritable(directory: Path, error: OSError) -> UserError:
    return UserError(f"cannot write results to {directory}: {one_line(error)}")


def _continue(directory: Path, experiment: Experiment, resume: bool) -> Experiment:
    """Return the experiment that continues the one in `directory`, possibly with more runs."""
    if not resume:
        remedy = f"add {argument('resume', 'True')} to continue them, or choose another {argument('out')}"
        raise UserError(f"{directory}: has results already", fix=remedy)
    old = open_results(directory).experiment
    difference_text = difference(lasting_table(old), lasting_table(experiment))
    if difference_text:
        raise UserError(f"{directory}: cannot resume: it has results of another experiment: {difference_text}")
    return experiment if experiment.runs >= old.runs else old


def write_environment(results: ResultsDirectory, environment: Mapping[str, object]) -> None:
    """Write the environment; a resumed experiment keeps the first one and lists the later ones.

    The first one also has an identity of the results, by which databases recognize them.
    """
    earlier = results.environment()
    if earlier:
        environment = {**earlier, "resumed": [*earlier.get("resumed", []), environment]}
    content = {"results_id": uuid.uuid4().hex, **environment}
    write_atomically(results.root / "environment.json", to_json(content))


@contextmanager
def locked(directory: Path) -> Iterator[None]:
    """Hold `directory` for one writer, and make it if it is missing; refuse a second writer at once.

    A writer changes nothing in a directory before it holds it. A directory that was made here, and into which nothing
    was written, is removed again.
    """
    require_text("directory", str(directory))
    if directory.exists() and not directory.is_dir():
        raise UserError(f"{directory}: is a file, not a directory")
    new_folders: list[Path] = []
    is_new = not (directory / LOCK).exists()
    lock = None
    try:
        while lock is None:  # the holder before may have removed it in this moment
            new_folders += _make(directory)
            lock = locked_file(directory / LOCK, directory)
    except OSError as error:
        raise UserError(f"cannot write results to {directory}: {one_line(error)}") from None
    try:
        yield
    except BaseException:
        if is_new:
            _remove_unused(directory, new_folders)
        raise
    finally:
        os.close(lock)


def _make(directory: Path) -> list[Path]:
    """Make a directory and its parents; return the missing ones, the innermost first.

    Raises:
        OSError: A directory cannot be made.
    """
    missing = list(itertools.takewhile(lambda folder: not folder.exists(), (directory, *directory.parents)))
    for folder in reversed(missing):
        folder.mkdir(exist_ok=True)
    return missing


def _remove_unused(directory: Path, new_folders: list[Path]) -> None:
    """Remove the lock of a directory without results, and the directories `made` for it if they are then empty."""
    if (directory / KEPT).exists():
        return
    with contextlib.suppress(OSError):
        (directory / LOCK).unlink()
        if new_folders:
            remove_left(directory)
        for folder in new_folders:
            folder.rmdir()
