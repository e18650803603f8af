"""Repetition of real runs until the machine was in time. No test repeats a run in another way.

A run judges itself: `degraded` and `invalid` say that the machine was late, or lost packets. `punctual(make)` repeats
`make` until no run has such a status, from the same files each time. The test is skipped if `ATTEMPTS` attempts have no
such run. The session reports the number of runs that dumbbell itself (`attempts`) or a test repeated.
"""

import json
import shutil
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any, TypeVar

import pytest

from support.commands.command import Dumbbell, replace_options
from support.inputs import paths

ATTEMPTS = 3
"""Maximum number of attempts at a punctual run; dumbbell repeats each run itself, at most twice."""
REAL_RUN = ("--backend", "emu", "--path", "far.toml", "--duration", "2", "--warmup", "0.5", "--out", "out")
"""Words of a short run."""
LATE = frozenset({"degraded", "invalid"})

Run = dict[str, Any]
"""A run in the form of `show --json`: `status` and `reason`, and `attempts` of real packets."""
R = TypeVar("Made", bound=Mapping[str, Any] | Iterable[Mapping[str, Any]])
Punctual = Callable[[Callable[[], R]], R]
_REPEATED = pytest.StashKey[int]()


@pytest.fixture
def punctual(request: pytest.FixtureRequest, tmp_path: Path) -> Punctual[Any]:
    """Return a function that repeats another until no run is late: one run, several, or an object with `runs`.

    Before a repetition, what the last attempt added to the test's directory is removed.
    """
    stash = request.config.stash

    def repeat(make: Callable[[], R]) -> R:
        before = {*tmp_path.iterdir()}
        for attempt in range(1, ATTEMPTS + 1):
            result = make()
            runs = _runs(result)
            stash[_REPEATED] += sum((run.get("attempts") or 1) - 1 for run in runs)
            late = [run for run in runs if run["status"] in LATE]
            if not late:
                return result
            if attempt < ATTEMPTS:
                stash[_REPEATED] += len(runs)
                for path in {*tmp_path.iterdir()} - before:
                    shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
        return pytest.skip(f"no punctual run on this machine in {ATTEMPTS} attempts: {late[0]['reason']}")

    return repeat


def _runs(result: Mapping[str, Any] | Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the runs that a function of a test has returned."""
    if isinstance(result, Mapping):
        return _runs(result["runs"]) if "runs" in result else [result]
    return [*result]


def runs_of(dumbbell: Dumbbell, directory: object) -> list[Run]:
    """Return the runs of a results directory, with any status."""
    result = dumbbell("show", directory, "--json", expect=None)
    assert result.returncode in (0, 1), result.stderr
    runs: list[Run] = json.loads(result.stdout)["runs"]
    return runs


def emulated_run(result: CompletedProcess[str]) -> Run:
    """Return a run with the status that `dumbbell emulate` without `--quiet` reports, and with the command's output."""
    _, is_late, reason = result.stderr.partition("; degraded: ")
    return {"status": "degraded" if is_late else "done", "reason": reason.strip(), "stdout": result.stdout}


@pytest.fixture
def run_real(dumbbell: Dumbbell, punctual: Punctual[list[Run]], folder: Path) -> Callable[..., list[Run]]:
    """Return a function that makes punctual runs of `far.toml` with real packets into `out`, by default for 2 s."""
    (folder / "far.toml").write_text(paths.FAR)

    def make(*arguments: object) -> list[Run]:
        result = dumbbell("run", *replace_options(REAL_RUN, *arguments), "--json", expect=None)
        assert result.returncode in (0, 1), result.stderr
        runs: list[Run] = json.loads(result.stdout)["runs"]
        return runs

    return lambda *arguments: punctual(lambda: make(*arguments))


def pytest_configure(config: pytest.Config) -> None:
    """Start to count."""
    config.stash[_REPEATED] = 0


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Hand the count of a worker of xdist to the process that started it."""
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["repeated_runs"] = session.config.stash[_REPEATED]


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:  # noqa: ANN401  # a class of xdist, which may be missing
    """Add the count of a worker; a crashed worker has none."""
    node.config.stash[_REPEATED] += getattr(node, "workeroutput", {}).get("repeated_runs", 0)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Report the number of repeated runs."""
    repetitions = config.stash[_REPEATED]
    if repetitions:
        runs = "1 run was" if repetitions == 1 else f"{repetitions} runs were"
        terminalreporter.write_line(f"{runs} repeated: the machine was late")
