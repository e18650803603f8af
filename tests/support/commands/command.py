"""Fixtures that run the command: `dumbbell` in the test's `folder`, `once` to share results, `start` not to wait.

Most commands are a call of `main` in the process of the test (`in_process.py`); their runs are made there too
(`runs_here.py`). A command that needs processes is a fork of a Python that has imported dumbbell (`forks.py`), and so
are its worker processes. Such commands have plug-ins, programs or real packets, or serve. All commands of tests about
processes are forks too (`ABOUT_PROCESSES`, `with_processes`).
"""

import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from support.commands.forks import Forks
from support.commands.in_process import run_in_process
from support.commands.runs_here import runs_here
from support.inputs import paths
from support.shared import made_once, shared_folder
from support.waiting import TIMEOUT_S

COMMAND = [sys.executable, "-m", "dumbbell"]

PROGRESS = re.compile(r"\b\d+ (?:s|min) gone\b")
"""Pattern of a line that reports a command's progress."""

APART = frozenset({"emulate", "kernel", "remote", "serve", "train"})
"""Commands that have a process of their own."""
APART_OPTIONS = frozenset(
    {"--backend", "--cluster", "--live", "--pantheon-dir", "--plugin", "--trust", "--watch", "-v", "-vv"}
)
"""Options for which a command has a process of its own."""
READS = frozenset({"completion", "diff", "doctor", "export", "figure", "list", "schema", "show", "size", "verify"})
"""Commands that start no process in any test."""
ABOUT_PROCESSES = frozenset({"backends", "plugins", "remote", "smoke"})
"""Folders of tests whose subject is processes; single tests elsewhere have the fixture `with_processes`."""
REFUSED = 2

Dumbbell = Callable[..., subprocess.CompletedProcess[str]]


def replace_options(words: Sequence[str], *new_words: object) -> list[str]:
    """Return the words of a command line with the options `new_words`, which replace options of the same name."""
    option_names = {str(word).partition("=")[0] for word in new_words if str(word).startswith("--")}
    behind = [None, *words[:-1]]
    kept_words = [
        word for word, last in zip(words, behind, strict=True) if not {word.partition("=")[0], last} & option_names
    ]
    return [*kept_words, *map(str, new_words)]


def needs_process(words: Sequence[str]) -> bool:
    """Return True if a command has a process of its own."""
    if "--help" in words:
        return False
    option_names = {word.partition("=")[0] for word in words}
    behind = dict(pairwise(words))
    is_code = any(Path(part).suffix in (".py", ".so") for word in words for part in word.split(","))
    return bool(APART & {*words[:1]} or APART_OPTIONS & option_names or is_code or behind.get("--jobs", "1") != "1")


def is_call(words: Sequence[str], expect: int | None, about_processes: bool) -> bool:
    """Return True if a command is a call of `main`: it reads, is refused, or needs no processes."""
    if "--plugin" in words and words[0] != "run":  # it is executed in a process of its own, but may end the command
        return False
    return bool(READS.intersection(words[:1])) or expect == REFUSED or not (about_processes or needs_process(words))


def _call(words: Sequence[str], folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a command and its runs in the process of the test; return its result."""
    with runs_here():
        return run_in_process(words, folder)


def _is_about_processes(request: pytest.FixtureRequest) -> bool:
    return request.node.path.parent.name in ABOUT_PROCESSES or "with_processes" in request.fixturenames


@pytest.fixture(scope="session")
def forks() -> Iterator[Forks]:
    """Return an object that runs commands without starting Python."""
    forks = Forks()
    yield forks
    forks.close()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return an empty directory with two small paths in it; commands run there."""
    (tmp_path / "small.toml").write_text(paths.SMALL)
    (tmp_path / "lossy.toml").write_text(paths.LOSSY)
    return tmp_path


def check(result: subprocess.CompletedProcess[str], expect: int | None) -> subprocess.CompletedProcess[str]:
    """Return a result without its progress, which depends on how busy the machine is.

    `expect` is the required exit status; None allows any.
    """
    assert expect in (None, result.returncode), f"{result.args}: {result.returncode}\n{result.stdout}\n{result.stderr}"
    assert "Traceback" not in result.stderr
    result.stderr = "".join(line for line in result.stderr.splitlines(keepends=True) if not PROGRESS.search(line))
    return result


@pytest.fixture
def dumbbell_afresh(folder: Path) -> Dumbbell:
    """Return a function that runs the command in `folder`, each time in a new Python, whose hashes differ."""

    def run(*arguments: object, expect: int | None = 0) -> subprocess.CompletedProcess[str]:
        command = [*COMMAND, *map(str, arguments)]
        return check(
            subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=TIMEOUT_S, check=False), expect
        )

    return run


@pytest.fixture
def dumbbell(forks: Forks, folder: Path, dumbbell_afresh: Dumbbell, request: pytest.FixtureRequest) -> Dumbbell:
    """Return a function that runs the command in `folder`."""
    real = request.node.get_closest_marker("real") is not None
    about_processes = real or _is_about_processes(request)

    def run(*arguments: object, expect: int | None = 0) -> subprocess.CompletedProcess[str]:
        words = [*map(str, arguments)]
        if not forks.would_start_alike():
            return dumbbell_afresh(*arguments, expect=expect)
        if is_call(words, expect, about_processes):
            return check(_call(words, folder), expect)
        if not forks.would_be_the_same():
            return dumbbell_afresh(*arguments, expect=expect)
        return check(forks.run(words, folder, TIMEOUT_S, real=real), expect)

    return run


@pytest.fixture
def dumbbell_here(forks: Forks, folder: Path, request: pytest.FixtureRequest) -> Dumbbell:
    """Return a function that runs the command in `folder`, with the environment at the time of the call."""
    about_processes = _is_about_processes(request)

    def run(*arguments: object, expect: int | None = 0) -> subprocess.CompletedProcess[str]:
        words = [*map(str, arguments)]
        if is_call(words, expect, about_processes):
            return check(_call(words, folder), expect)
        return check(forks.run(words, folder, TIMEOUT_S, environment=dict(os.environ)), expect)

    return run


@pytest.fixture
def once(dumbbell: Dumbbell, forks: Forks, folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Dumbbell:
    """Return a function that runs the command, or copies its results if another test ran it beside the same files.

    It serves first commands that several tests share, in any process of pytest. The command may depend only on files in
    `folder`.
    """

    def run(*arguments: object, expect: int | None = 0) -> subprocess.CompletedProcess[str]:
        if not forks.would_be_the_same():
            return dumbbell(*arguments, expect=expect)
        words = [*map(str, arguments)]

        def make(place: Path) -> None:
            result = dumbbell(*words, expect=expect)
            (place / "said.json").write_text(json.dumps([result.returncode, result.stdout, result.stderr]))
            shutil.copytree(folder, place / "files", symlinks=True)

        place = shared_folder(tmp_path_factory, "once") / _digest(words, folder)
        made_once(place, make)
        shutil.copytree(place / "files", folder, symlinks=True, dirs_exist_ok=True)
        status, out, errors = json.loads((place / "said.json").read_text())
        return check(subprocess.CompletedProcess(words, status, out, errors), expect)

    return run


def _digest(words: Sequence[str], folder: Path) -> str:
    """Return a name for a command and the files that it finds."""
    digest = hashlib.sha256(json.dumps(words).encode())
    for file in sorted(file for file in folder.rglob("*") if file.is_file()):
        content = file.read_bytes()
        digest.update(f"\0{file.relative_to(folder)}\0{len(content)}\0".encode() + content)
    return digest.hexdigest()[:24]


@pytest.fixture
def with_processes() -> None:
    """Commands of this test have processes of their own, and so have their runs."""


@pytest.fixture
def runs_made_here() -> Iterator[None]:
    """Let the library make its runs in the process of the test."""
    with runs_here():
        yield


@pytest.fixture
def start(folder: Path) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Return a function that starts the command in `folder`, in its own process group, until the test ends."""
    processes: list[subprocess.Popen[str]] = []

    def run(*arguments: object) -> subprocess.Popen[str]:
        # Under `nohup` commands would ignore SIGHUP too, and run to their end.
        own_handler = signal.signal(signal.SIGHUP, signal.SIG_DFL)
        try:
            process = subprocess.Popen(
                [*COMMAND, *map(str, arguments)],
                cwd=folder,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                start_new_session=True,
            )
        finally:
            signal.signal(signal.SIGHUP, own_handler)
        processes.append(process)
        return process

    yield run
    for process in processes:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def show(dumbbell: Dumbbell, directory: object, expect: int = 0) -> dict[str, Any]:
    """Return the content of `show --json`."""
    content: dict[str, Any] = json.loads(dumbbell("show", directory, "--json", expect=expect).stdout)
    return content
