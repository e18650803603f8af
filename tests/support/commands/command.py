"""How a test runs the command: `dumbbell` in the test's `folder`, `once` to share its results, `start` not to wait.

A command that only reads, or that is refused, is a call of `main` in the process of the test. One that makes runs has
a process of its own, a fork of a Python that has imported dumbbell (`forks.py`): its worker processes are forks too.
"""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from pathlib import Path
from typing import Any

import pytest

from support.commands.forks import Forks
from support.commands.in_process import run_in_process
from support.inputs import paths
from support.waiting import TIMEOUT_S

COMMAND = [sys.executable, "-m", "dumbbell"]

PROGRESS = re.compile(r"\b\d+ (?:s|min) gone\b")
"""A line that says how far a command is."""

READS = frozenset({"completion", "diff", "doctor", "export", "figure", "list", "schema", "show", "size", "verify"})
"""Commands that start no process."""
REFUSED = 2

Dumbbell = Callable[..., subprocess.CompletedProcess[str]]


def replaced(words: Sequence[str], *others: object) -> list[str]:
    """The words of a command line with the options `others`; an option with a value gives way to one given again."""
    given = {str(word).partition("=")[0] for word in others if str(word).startswith("--")}
    behind = [None, *words[:-1]]
    kept = [word for word, last in zip(words, behind, strict=True) if not {word.partition("=")[0], last} & given]
    return [*kept, *map(str, others)]


@pytest.fixture(scope="session")
def forks() -> Iterator[Forks]:
    """Runs commands without starting Python."""
    forks = Forks()
    yield forks
    forks.close()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An empty directory with two small paths in it; commands run there."""
    (tmp_path / "small.toml").write_text(paths.SMALL)
    (tmp_path / "lossy.toml").write_text(paths.LOSSY)
    return tmp_path


def checked(done: subprocess.CompletedProcess[str], expect: int | None) -> subprocess.CompletedProcess[str]:
    """Return what was done without its progress, which depends on how busy the machine is.

    `expect` is the exit status that it must have; None for any.
    """
    assert expect in (None, done.returncode), f"{done.args}: {done.returncode}\n{done.stdout}\n{done.stderr}"
    assert "Traceback" not in done.stderr
    done.stderr = "".join(line for line in done.stderr.splitlines(keepends=True) if not PROGRESS.search(line))
    return done


@pytest.fixture
def dumbbell_afresh(folder: Path) -> Dumbbell:
    """Runs the command in `folder`, each time in a Python of its own, whose hashes differ."""

    def run(*arguments: object, expect: int | None = 0) -> subprocess.CompletedProcess[str]:
        command = [*COMMAND, *map(str, arguments)]
        return checked(
            subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=TIMEOUT_S, check=False), expect
        )

    return run


@pytest.fixture
def dumbbell(forks: Forks, folder: Path, dumbbell_afresh: Dumbbell, request: pytest.FixtureRequest) -> Dumbbell:
    """Runs the command in `folder`."""
    real = request.node.get_closest_marker("real") is not None

    def run(*arguments: object, expect: int | None = 0) -> subprocess.CompletedProcess[str]:
        words = [*map(str, arguments)]
        if not forks.would_start_alike():
            return dumbbell_afresh(*arguments, expect=expect)
        if expect == REFUSED or READS.intersection(words[:1]):
            return checked(run_in_process(words, folder), expect)
        if not forks.would_be_the_same():
            return dumbbell_afresh(*arguments, expect=expect)
        return checked(forks.run(words, folder, TIMEOUT_S, real=real), expect)

    return run


@pytest.fixture
def dumbbell_here(forks: Forks, folder: Path) -> Dumbbell:
    """Runs the command in `folder`, in a fork that has the environment of the moment."""

    def run(*arguments: object, expect: int | None = 0) -> subprocess.CompletedProcess[str]:
        return checked(forks.run([*map(str, arguments)], folder, TIMEOUT_S, environment=dict(os.environ)), expect)

    return run


Done = dict[object, tuple[subprocess.CompletedProcess[str], Path]]


@pytest.fixture(scope="session")
def _done() -> Done:
    """Commands with the files that they found: what they said, and a copy of what there was afterwards."""
    return {}


@pytest.fixture
def once(
    dumbbell: Dumbbell, forks: Forks, folder: Path, tmp_path_factory: pytest.TempPathFactory, _done: Done
) -> Dumbbell:
    """Runs the command in `folder`, or copies what it made when another test ran it beside the same files.

    It is for what several tests begin with. The command depends on nothing outside of `folder`.
    """

    def run(*arguments: object, expect: int | None = 0) -> subprocess.CompletedProcess[str]:
        if not forks.would_be_the_same():
            return dumbbell(*arguments, expect=expect)
        files = {(str(file.relative_to(folder)), file.read_bytes()) for file in folder.rglob("*") if file.is_file()}
        key = (*map(str, arguments), frozenset(files))
        if key in _done:
            shutil.copytree(_done[key][1], folder, symlinks=True, dirs_exist_ok=True)
        else:
            _done[key] = dumbbell(*arguments, expect=expect), tmp_path_factory.mktemp("once")
            shutil.copytree(folder, _done[key][1], symlinks=True, dirs_exist_ok=True)
        return checked(copy(_done[key][0]), expect)

    return run


@pytest.fixture
def start(folder: Path) -> Callable[..., subprocess.Popen[str]]:
    """Starts the command in `folder`, in its own process group, and does not wait."""

    def run(*arguments: object) -> subprocess.Popen[str]:
        # under `nohup` commands would ignore it too, and run to their end
        ours = signal.signal(signal.SIGHUP, signal.SIG_DFL)
        try:
            return subprocess.Popen(
                [*COMMAND, *map(str, arguments)],
                cwd=folder,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                start_new_session=True,
            )
        finally:
            signal.signal(signal.SIGHUP, ours)

    return run


def show(dumbbell: Dumbbell, directory: object, expect: int = 0) -> dict[str, Any]:
    """What `show --json` prints."""
    content: dict[str, Any] = json.loads(dumbbell("show", directory, "--json", expect=expect).stdout)
    return content
