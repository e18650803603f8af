"""Tests of commands that are told to end: one line, no process left, and no rows of missing runs."""

import contextlib
import os
import random
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from dumbbell.base.interrupts import interruptible
from dumbbell.formats.staging import staging
from support.commands.command import PROGRESS, TIMEOUT_S, Dumbbell, check, show
from support.commands.forks import Forks
from support.inputs.paths import SMALL
from support.waiting import wait_for

Start = Callable[..., subprocess.Popen[str]]

COMMANDS = {
    "run": ("run", "--schemes", "cubic,bbr", "--path", "small.toml", "--runs", "400", "--duration", "10"),
    "report": ("report", "made"),
    "benchmark": ("benchmark", "--schemes", "vegas", "--quick", "--only", "sweep_loss,competition"),
    "import": ("import", "pantheon", "logs"),
}
WRITES = ("run", "benchmark", "import")
MOST_S = 3.0
OF_PYTHON = re.compile(r"init_import_site|<frozen runpy>|<frozen site>")
"""Pattern of Python's own messages about an interrupt before or after dumbbell's code runs."""


@pytest.fixture(scope="module")
def results(forks: Forks, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make results with enough runs that processes draw them, and a folder of logs."""
    folder = tmp_path_factory.mktemp("results")
    (folder / "small.toml").write_text(SMALL)
    run = ("run", "--schemes", "cubic,bbr", "--path", "small.toml", "--runs", "8", "--duration", "10", "--out", "made")
    for words in (run, ("export", "pantheon", "made", "--out", "logs")):
        check(forks.run([*words], folder, TIMEOUT_S), 0)
    return folder


@pytest.fixture
def made_results(results: Path, folder: Path) -> Path:
    """Copy the results and logs to the folder where commands run."""
    return shutil.copytree(results, folder, dirs_exist_ok=True)


def start_command(start: Start, name: str, out: str) -> subprocess.Popen[str]:
    """Start the command, with `out` as its output if it writes one."""
    return start(*COMMANDS[name], *(("--out", out) if name in WRITES else ()))


def alive(session: int) -> list[str]:
    """Return the command lines of the live processes of a session."""
    commands = []
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            state, _, _, own_session = (process / "stat").read_text().rpartition(")")[2].split()[:4]
            if int(own_session) == session and state != "Z":
                commands.append((process / "cmdline").read_text().replace("\0", " ")[:200])
    return commands


def end(process: subprocess.Popen[str]) -> str:
    """Return the errors of a command that was told to end, without its progress; wait for the end of its processes."""
    problems = process.communicate(timeout=TIMEOUT_S)[1]
    wait_for(lambda: not alive(process.pid), lambda: alive(process.pid))
    return "".join(line for line in problems.splitlines(keepends=True) if not PROGRESS.search(line))


@pytest.mark.real
@pytest.mark.parametrize("rounds", [1, pytest.param(3, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", COMMANDS)
def test_ctrl_c_at_any_moment_is_one_line_and_leaves_no_process(
    start: Start, dumbbell: Dumbbell, made_results: Path, name: str, rounds: int
) -> None:
    delays = random.Random(name)
    for attempt in range(1, 4 * rounds, 2 if rounds == 1 else 1):
        out = f"out{attempt}"
        process = start_command(start, name, out)
        time.sleep(delays.uniform(0.0, MOST_S) * (attempt % 4 + 1) / 4)  # noqa: TID251 (at any moment)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGINT)
        errors = end(process)
        assert process.returncode in (0, 1, -signal.SIGINT), errors
        if process.returncode == 0 or OF_PYTHON.search(errors):
            continue
        if process.returncode == -signal.SIGINT:
            assert "dumbbell/" not in errors.replace("bin/dumbbell", ""), errors  # Python had not come to us yet
            continue
        assert errors.startswith("dumbbell: interrupted"), errors
        assert errors.count("\n") == 1, errors
        if (made_results / out).exists() and name == "import":  # the summary was being printed: all of it is there
            assert [run["status"] for run in show(dumbbell, made_results / out)["runs"]] == ["done"] * 16
        assert not list(made_results.glob(f".{out}*"))


_DELAYS_S = (0.7, 1.5, 2.5)
_ENDED = [
    pytest.param(name, number, delay_s, marks=[] if (row + column) % 3 == place else pytest.mark.slow)
    for row, name in enumerate(("run", "report", "benchmark"))
    for column, number in enumerate((signal.SIGTERM, signal.SIGHUP, signal.SIGKILL))
    for place, delay_s in enumerate(_DELAYS_S)
]
"""Every command with every signal and, in turn, one of the moments; `slow` adds every moment."""


def is_at_work(process: subprocess.Popen[str], name: str) -> bool:
    """Return True once a command has started other processes; a report, which may need none, once it draws."""
    if name == "report":
        return "matplotlib" in Path(f"/proc/{process.pid}/maps").read_text()
    return len(alive(process.pid)) > 1


@pytest.mark.parametrize(
    ("name", "number"), [("run", signal.SIGINT), ("report", signal.SIGTERM), ("benchmark", signal.SIGHUP)]
)
def test_a_command_that_is_ended_at_work_leaves_no_process(
    start: Start, made_results: Path, name: str, number: signal.Signals
) -> None:
    process = start_command(start, name, "out")
    wait_for(lambda: is_at_work(process, name))
    process.send_signal(number)
    errors = end(process)
    assert process.returncode in (0, 1, -number), errors
    assert "Traceback" not in errors
    if process.returncode == 1:
        assert errors.startswith("dumbbell: interrupted"), errors
        assert errors.count("\n") == 1, errors


def test_ctrl_c_again_and_again_is_one_line_and_leaves_nothing(
    start: Start, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The second signal ended a command before it removed its temporary folder, or without a line.
    (folder / "temporary").mkdir()
    monkeypatch.setenv("TMPDIR", str(folder / "temporary"))
    process = start("check", "cubic", "--against", "reno", "--jobs", "2")
    wait_for(lambda: list(folder.glob("temporary/dumbbell-check-*")) and len(alive(process.pid)) > 1)

    def has_ended() -> bool:
        process.send_signal(signal.SIGINT)
        return process.poll() is not None

    wait_for(has_ended)
    assert end(process) == "dumbbell: interrupted\n"
    assert process.returncode == 1
    assert list(folder.glob("temporary/*")) == []


@pytest.mark.real
@pytest.mark.parametrize(("name", "number", "delay_s"), _ENDED)
def test_a_command_that_is_ended_leaves_no_process(
    start: Start, made_results: Path, name: str, number: signal.Signals, delay_s: float
) -> None:
    # The worker processes of reports and of a benchmark's pictures went on, and for ever.
    process = start_command(start, name, "out")
    time.sleep(delay_s)  # noqa: TID251 (at any moment)
    process.send_signal(number)
    errors = end(process)
    if number is not signal.SIGKILL:  # its children may have been starting
        assert "Traceback" not in errors
        assert process.returncode in (0, 1, -number)


def test_interrupted_runs_resume_and_cells_without_runs_are_no_rows(
    start: Start, dumbbell: Dumbbell, folder: Path
) -> None:
    # Every cell without a run was an empty row.
    run = ("run", "--schemes", "cubic,bbr,vegas,reno", "--path", "small.toml,lossy.toml", "--duration", "400")
    process = start(*run, "--jobs", "1", "--out", "out")
    wait_for(lambda: list(folder.glob("out/runs/*/*/1/stats.json")))
    os.killpg(process.pid, signal.SIGINT)
    errors = end(process)
    assert process.returncode == 1
    assert "`dumbbell run --resume --out out` continues" in errors
    statuses = [run["status"] for run in show(dumbbell, "out", expect=1)["runs"]]
    assert len(statuses) == 8
    missing = statuses.count("missing")
    assert missing
    lines = dumbbell("show", "out", expect=1).stdout.splitlines()
    assert sum(line.startswith(("small ", "lossy ")) for line in lines) == 8 - missing
    assert lines[-1] == f"missing: {missing} of 8 runs: not run: the experiment was stopped before"
    assert not any(" 0 of " in line for line in lines)


@pytest.mark.parametrize("is_there", [True, False])
def test_an_interrupt_while_results_are_moved_into_place_leaves_all_of_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_there: bool
) -> None:
    # An interrupt after the first file was moved left this file in `out` and removed the other.
    out, rename = tmp_path / "out", Path.rename

    def interrupt(self: Path, target: Path) -> Path:
        moved_path = rename(self, target)
        signal.raise_signal(signal.SIGINT)
        return moved_path

    if is_there:
        out.mkdir()

    def make() -> None:
        with staging(out) as place:
            for name in ("one", "other"):
                (place / name).write_text(name)
            monkeypatch.setattr(Path, "rename", interrupt)

    with pytest.raises(KeyboardInterrupt):
        make()
    assert sorted(entry.name for entry in out.iterdir()) == ["one", "other"]
    assert list(tmp_path.iterdir()) == [out]


def test_what_stumbles_over_an_interrupt_that_was_swallowed_is_interrupted() -> None:
    # A report ended in a traceback about a singular bounding box.
    def draw(swallows: bool, error: Exception) -> None:
        if swallows:
            with contextlib.suppress(KeyboardInterrupt):
                signal.raise_signal(signal.SIGINT)
        raise error

    with pytest.raises(KeyboardInterrupt), interruptible():
        draw(True, ValueError("half done"))
    with pytest.raises(ValueError, match="of its own"), interruptible():
        draw(False, ValueError("of its own"))
    with pytest.raises(OSError, match="no space"), interruptible():
        draw(True, OSError("no space"))
