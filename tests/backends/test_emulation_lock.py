"""Tests of resources that emulated runs share with all users: a lock, and directories that others could prepare."""

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from test_emulate import SCHEME, TALKER

from dumbbell import core
from support.commands.command import COMMAND, Dumbbell, replace_options, show
from support.punctual import Punctual, Run, runs_of
from support.waiting import TIMEOUT_S, wait_for

pytestmark = [pytest.mark.real, pytest.mark.usefixtures("real_packets")]

QUICK = ("run", "--backend", "emu", "--path", "small.toml", "--duration", "2", "--warmup", "0.5")


@pytest.fixture
def talker(folder: Path) -> None:
    """Write the scheme `talker.toml`, a program."""
    (folder / "talker.py").write_text(TALKER)
    (folder / "talker.toml").write_text(SCHEME.replace("TOOL", str(folder / "talker.py")))


@pytest.fixture
def queue(monkeypatch: pytest.MonkeyPatch) -> str:
    """Return a queue that only this test and its processes use."""
    name = f"test-{os.getpid()}-{time.monotonic_ns()}"
    monkeypatch.setenv("DUMBBELL_TURN", name)
    return name


@contextmanager
def hold(queue: str) -> Iterator[None]:
    """Hold the emulation lock, as a run would that began at second 1."""
    with socket.socket(socket.AF_UNIX) as lock, socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as note:
        lock.bind(f"\0dumbbell-turn/{queue}")
        lock.listen()
        note.bind(f"\0dumbbell-turn/{queue}/held/4711/1")
        yield


@pytest.mark.usefixtures("talker", "queue")
def test_nothing_with_a_name_that_others_can_guess_is_used(
    dumbbell_afresh: Dumbbell, punctual: Punctual[list[Run]], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    public, victim = folder / "public", folder / "victim"
    public.mkdir()
    public.chmod(0o1777)
    victim.write_text("four years")
    victim.chmod(0o600)
    (public / "dumbbell-emulation.lock").symlink_to(victim)
    monkeypatch.setenv("TMPDIR", str(public))

    def make() -> list[Run]:
        dumbbell_afresh(*QUICK, "--schemes", "talker.toml", "--out", "out", expect=None)
        return runs_of(dumbbell_afresh, "out")

    (run,) = punctual(make)
    assert run["status"] == "done", run["reason"]
    assert (victim.read_text(), victim.stat().st_mode & 0o777) == ("four years", 0o600)
    assert [file.name for file in public.iterdir()] == ["dumbbell-emulation.lock"]


@pytest.mark.skipif(os.geteuid() != 0, reason="not root: others cannot be played")
@pytest.mark.usefixtures("talker", "queue")
def test_what_somebody_else_prepared_for_programs_is_not_taken(
    folder: Path, monkeypatch: pytest.MonkeyPatch, dumbbell_afresh: Dumbbell
) -> None:
    """An ordinary user is played by hiding /run from root: the attacker owns the directory that the run would take."""
    prepared_folder = folder / "dumbbell-0"
    prepared_folder.mkdir(mode=0o777)
    os.chown(prepared_folder, 1, 1)
    script = f'mount -t tmpfs -o size=64k none /run && mount -o remount,ro /run && exec {" ".join(COMMAND)} "$@"'
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
    command = ["unshare", "--mount", "sh", "-c", script, "sh", *QUICK, "--schemes", "talker.toml", "--out", "out"]
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
    (run,) = show(dumbbell_afresh, "out", expect=1)["runs"]
    assert run["status"] == "failed"
    assert "dumbbell-0: belongs to somebody else" in run["reason"], result.stderr
    assert list(prepared_folder.iterdir()) == []


def test_another_directory_for_temporary_files_is_no_way_around_the_queue(
    folder: Path,
    dumbbell: Dumbbell,
    start: Callable[..., "subprocess.Popen[str]"],
    monkeypatch: pytest.MonkeyPatch,
    punctual: Punctual[list[Run]],
    queue: str,
) -> None:
    (folder / "elsewhere").mkdir()
    monkeypatch.setenv("TMPDIR", str(folder / "elsewhere"))

    def make() -> list[Run]:
        with hold(queue):
            waits = start(*QUICK, "--schemes", "reno", "--out", "out")
            assert waits.stderr is not None
            waiting_line = next(
                (line for line in waits.stderr if "waiting for another run (pid 4711, since " in line), None
            )
            assert waiting_line, waits.communicate()
            assert waits.poll() is None
            assert not list(folder.glob("out/runs/small/reno/1"))
        waits.communicate(timeout=TIMEOUT_S)
        return runs_of(dumbbell, "out")

    (run,) = punctual(make)
    assert run["status"] == "done", run["reason"]


@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("unshare"), reason="needs root and unshare")
@pytest.mark.usefixtures("talker", "queue")
def test_clean_up_leaves_runs_in_other_pid_namespaces_alone(
    dumbbell: Dumbbell, punctual: Punctual[list[Run]], folder: Path
) -> None:
    command = [*replace_options(QUICK, "--duration", "4"), "--schemes", "talker.toml", "--out", "out"]

    def make() -> list[Run]:
        with (folder / "said").open("w") as errors:
            inside = subprocess.Popen(
                ["unshare", "--pid", "--fork", "--mount-proc", *COMMAND, *command],
                **{"cwd": folder, "stdout": subprocess.DEVNULL, "stderr": errors},
            )

        def has_looked() -> bool:
            """Clean up as an emulated run does first; return True if programs run before and after, or at the end."""
            before = talking(folder)
            core.clean_up()
            return inside.poll() is not None or bool(before and talking(folder))

        wait_for(has_looked)
        assert inside.poll() is None, (folder / "said").read_text()
        inside.wait()
        return runs_of(dumbbell, "out")

    (run,) = punctual(make)
    assert run["status"] == "done", run["reason"]


def talking(folder: Path) -> list[int]:
    """Return the programs of a run, in any namespace."""
    processes = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if str(folder / "talker.py").encode() in (process / "cmdline").read_bytes().split(b"\0")[1:3]:
                processes.append(int(process.name))
        except OSError:
            continue
    return processes
