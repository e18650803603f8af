"""Tests of a remote machine that is silent or does not stop: Ctrl-C ends the command and all its processes."""

import io
import os
import signal
import subprocess
import sys
import zipfile
from collections import deque
from pathlib import Path

import pytest

import dumbbell
from dumbbell.base.errors import UserError
from dumbbell_remote.installing import install
from dumbbell_remote.ssh import keep_lines
from support.clock import ManualClock
from support.commands.command import COMMAND
from support.commands.sleepers import SECONDS, sleepers
from support.waiting import TIMEOUT_S, wait_for

MUTE = f"exec sleep {SECONDS}"
ENDLESS = "head -c 200000000 /dev/zero >&2"


def ssh(folder: Path, does: str) -> dict[str, str]:
    """Return an environment whose ssh executes the script `does`, and whose temporary files lie in `folder`."""
    (folder / "bin").mkdir()
    (folder / "bin/ssh").write_text(f"#!/bin/sh\n{does}\n")
    (folder / "bin/ssh").chmod(0o755)
    (folder / "tmp").mkdir()
    return os.environ | {"PATH": f"{folder / 'bin'}:{os.environ['PATH']}", "TMPDIR": str(folder / "tmp")}


def wheel(folder: Path, metadata: str = "") -> Path:
    """Write a file that passes the checks for a wheel of this version."""
    file = folder / f"dumbbell-{dumbbell.__version__}-py3-none-any.whl"
    description = f"Metadata-Version: 2.1\nName: dumbbell\nVersion: {dumbbell.__version__}\n{metadata}"
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(f"dumbbell-{dumbbell.__version__}.dist-info/METADATA", description)
    return file


@pytest.mark.parametrize(
    ("words", "number"),
    [
        (("remote", "install", "far.example", "--from", "{wheel}"), signal.SIGINT),
        (("remote", "check", "far.example"), signal.SIGTERM),
        (("path", "far.example"), signal.SIGINT),
    ],
    ids=["install", "check", "path"],
)
def test_what_waits_for_a_mute_machine_leaves_nothing(tmp_path: Path, words: tuple[str, ...], number: int) -> None:
    environment = ssh(tmp_path, MUTE)
    arguments = [word.format(wheel=wheel(tmp_path)) for word in words]
    process = subprocess.Popen(
        [*COMMAND, *arguments],
        cwd=tmp_path,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    wait_for(sleepers)
    process.send_signal(number)
    _, errors = process.communicate(timeout=TIMEOUT_S)
    assert process.returncode != 0
    assert "Traceback" not in errors
    wait_for(lambda: sleepers() == [])
    assert list((tmp_path / "tmp").iterdir()) == []


@pytest.mark.parametrize("closing", [ValueError("read of closed file"), OSError("bad file descriptor")])
def test_an_interrupt_that_closes_a_stream_is_no_traceback_of_its_reader(closing: Exception) -> None:
    class Stream(io.BytesIO):
        def readline(self, _size: int | None = -1) -> bytes:
            line = super().readline()
            if not line:
                raise closing
            return line

    kept_lines: deque[str] = deque()
    keep_lines(Stream(b"one\ntwo\n"), kept_lines)
    assert list(kept_lines) == ["one\n", "two\n"]


def test_what_ssh_says_without_end_is_kept_in_part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in ssh(tmp_path, ENDLESS).items():
        monkeypatch.setenv(name, value)
    lengths: list[int] = []
    original = install._why

    def explain(machine: object, status: int, text: str) -> str:
        lengths.append(len(text))
        return original(machine, status, "")  # type: ignore[arg-type]

    monkeypatch.setattr(install, "_why", explain)
    with pytest.raises(UserError):
        install.install_remote("far.example", wheel(tmp_path))
    assert 0 < lengths[0] <= 100 * 4096


def test_who_says_nothing_for_long_is_given_up_and_who_speaks_is_not(clock: ManualClock) -> None:
    end_times: list[float] = []
    began_s = clock.monotonic()
    with install._Patience(lambda: end_times.append(clock.monotonic()), clock) as patience:
        for _ in range(3):
            clock.until_waiting()
            clock.turn(install._SILENCE_S - 1.0)
            patience.heard()
        clock.turn(1.0)  # the first wait is over: it goes on for what is left since it was heard last
        clock.until_waiting()
        assert (end_times, patience.is_lost) == ([], False)
        clock.turn(install._SILENCE_S)
        wait_for(lambda: end_times)
    assert patience.is_lost
    assert end_times[0] - began_s == 4 * install._SILENCE_S - 2.0
    with install._Patience(lambda: end_times.append(0.0), clock) as patience:
        clock.until_waiting()
    assert not patience.is_lost


@pytest.mark.real
def test_an_installer_that_says_nothing_for_long_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in ssh(tmp_path, MUTE).items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(install, "_SILENCE_S", 1.0)
    with pytest.raises(UserError, match=r"far.example: said nothing for .* while dumbbell was installed there"):
        install.install_remote("far.example", wheel(tmp_path))


def test_a_wheel_that_says_much_of_itself_is_none(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="is no wheel"):
        install.install_remote("far.example", wheel(tmp_path, "Summary: " + "x" * 2**21))


@pytest.mark.parametrize(
    "words", [("remote", "install", "far.example", "--from", "{wheel}"), ("remote", "check", "far.example")]
)
def test_an_interrupt_while_ssh_starts_leaves_nothing(tmp_path: Path, words: tuple[str, ...]) -> None:
    """The process exists before `Popen` has returned it."""
    environment = ssh(tmp_path, MUTE)
    (tmp_path / "late.py").write_text(
        "import os, signal, subprocess, sys\n"
        "start = subprocess.Popen._execute_child\n"
        "def late(self, *given):\n"
        "    start(self, *given)\n"
        "    if given[0][0] == 'ssh':\n"
        "        os.kill(os.getpid(), signal.SIGINT)\n"
        "subprocess.Popen._execute_child = late\n"
        "from dumbbell.cli.main import main\n"
        "sys.exit(main(sys.argv[1:]))\n"
    )
    arguments = [word.format(wheel=wheel(tmp_path)) for word in words]
    command = [sys.executable, "late.py", *arguments]
    result = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=TIMEOUT_S, check=False
    )
    assert result.returncode != 0
    assert "Traceback" not in result.stderr
    wait_for(lambda: sleepers() == [])
