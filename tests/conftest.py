"""The real command, run as a user runs it, but for the start of Python: see `forks`."""

import compileall
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from copy import copy
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

import dumbbell as package
from dumbbell.machine.emulation import checks
from support.commands.forks import Forks
from support.inputs import paths

# How long an example takes says something about the machine's other work only.
settings.register_profile("dumbbell", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("dumbbell")

# What a shell starts in the background ignores SIGINT, and so would all that the tests start and interrupt.
signal.signal(signal.SIGINT, signal.default_int_handler)

COMMAND = [sys.executable, "-m", "dumbbell"]
PATIENCE_S = 100.0

PROGRESS = re.compile(r"\b\d+ (?:s|min) gone\b")
"""A line that says how far a command is."""

Dumbbell = Callable[..., subprocess.CompletedProcess[str]]


def replaced(words: Sequence[str], *others: object) -> list[str]:
    """The words of a command line with the options `others`; an option with a value gives way to one given again."""
    given = {str(word).partition("=")[0] for word in others if str(word).startswith("--")}
    behind = [None, *words[:-1]]
    kept = [word for word, last in zip(words, behind, strict=True) if not {word.partition("=")[0], last} & given]
    return [*kept, *map(str, others)]


def pytest_configure(config: pytest.Config) -> None:
    """Compiles the package once, and lets JAX keep what it compiles: else each of many commands would do it again.

    What JAX compiles is not made fast: that would take longer than what the tests compute with it.
    """
    if not hasattr(config, "workerinput"):
        compileall.compile_dir(Path(package.__file__).parent, quiet=2)
        kept = TemporaryDirectory(prefix="dumbbell-jax-")
        config.add_cleanup(kept.cleanup)
        os.environ |= {"JAX_COMPILATION_CACHE_DIR": kept.name, "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0"}
        os.environ["JAX_DISABLE_MOST_OPTIMIZATIONS"] = "1"


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Where real packets are all that is asked for, what has no such test is not even imported."""
    wanted = str(config.getoption("markexpr")).startswith("real")
    if wanted and collection_path.suffix == ".py" and "pytest.mark.real" not in collection_path.read_text():
        return True
    return None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Real packets of several processes go side by side, for most of their time they wait: the longest first."""
    for item in items:
        if item.get_closest_marker("real"):
            item.fixturenames.insert(0, "_turn")  # type: ignore[attr-defined]  # a mark would come too late
    items.sort(key=lambda item: not (item.get_closest_marker("real") and "browser" in item.fixturenames))  # type: ignore[attr-defined]


@pytest.fixture(scope="session")
def _turn() -> Iterator[None]:
    """The machine's emulation lock, shared by the processes of pytest: among each other they do not wait for it."""
    if "PYTEST_XDIST_WORKER" not in os.environ:
        yield
        return
    with _machine(), pytest.MonkeyPatch.context() as patch:
        patch.setenv("DUMBBELL_TURN", f"pytest-{os.getpid()}")
        yield


@contextmanager
def _machine() -> Iterator[None]:
    """Holds the emulation lock of the machine, or sees that another process of pytest does."""
    with ExitStack() as held:
        while True:
            queue = held.enter_context(socket.socket(socket.AF_UNIX))
            try:
                queue.bind("\0dumbbell-turn")
            except OSError:
                if "@dumbbell-turn-tests/" in Path("/proc/net/unix").read_text():
                    break
                time.sleep(0.1)
                continue
            queue.listen()
            for note in (f"-tests/{os.getpid()}", f"/held/{os.getpid()}/{int(time.time())}"):
                held.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)).bind(f"\0dumbbell-turn{note}")
            break
        yield


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
            subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=PATIENCE_S, check=False), expect
        )

    return run


@pytest.fixture
def dumbbell(forks: Forks, folder: Path, dumbbell_afresh: Dumbbell, request: pytest.FixtureRequest) -> Dumbbell:
    """Runs the command in `folder`."""
    real = request.node.get_closest_marker("real") is not None

    def run(*arguments: object, expect: int | None = 0) -> subprocess.CompletedProcess[str]:
        if not forks.would_be_the_same():
            return dumbbell_afresh(*arguments, expect=expect)
        return checked(forks.run([*map(str, arguments)], folder, PATIENCE_S, real=real), expect)

    return run


@pytest.fixture
def dumbbell_here(forks: Forks, folder: Path) -> Dumbbell:
    """Runs the command in `folder`, in a fork that has the environment of the moment."""

    def run(*arguments: object, expect: int | None = 0) -> subprocess.CompletedProcess[str]:
        return checked(forks.run([*map(str, arguments)], folder, PATIENCE_S, environment=dict(os.environ)), expect)

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


def need_real_packets() -> None:
    """The test is skipped where real packets are not possible, with the first reason."""
    for check in checks():
        if not check["good"]:
            pytest.skip(f"no real packets here: {check['name']}: {check['found']}")


@pytest.fixture(scope="session")
def real_packets() -> None:
    """For all tests of a file."""
    need_real_packets()


def pantheon_logs() -> Path:
    """The folder of a Pantheon run's logs; the test is skipped where `PANTHEON_LOGS` does not name it."""
    name = os.environ.get("PANTHEON_LOGS")
    if not name:
        pytest.skip("PANTHEON_LOGS is not set: no real logs")
    return Path(name).resolve()
