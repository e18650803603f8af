"""Tests of signals while the core waits for a command that ignores them: the command ends, and then this process."""

import os
import pty
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from support.waiting import TIMEOUT_S, wait_for

NEVER_S = 3600.0
WAITS = """
import os, subprocess, sys
from dumbbell.base.ending import ended_by_signals

try:
    with ended_by_signals(patience_s=float(sys.argv[1])):
        process = subprocess.Popen(["/bin/sh", "-c", sys.argv[2]])
        print("ended", os.waitstatus_to_exitcode(os.waitpid(process.pid, 0)[1]), flush=True)
        if "fails" in sys.argv:
            raise OSError("the core says that it failed")
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""
"""Waits for a command as the core does: no handler of Python's ends the wait."""
HEEDS = "echo ready; exec sleep 1000"
STUBBORN = "trap 'echo told' TERM; trap '' HUP INT; echo ready; while :; do sleep 1000 & wait; done"
"""Shell script that goes on until it is killed."""


@contextmanager
def waiting(patience_s: float, *more: str) -> Iterator["subprocess.Popen[str]"]:
    """Start a process that waits for its command, which is ready; its first signal is not sent yet."""
    command = [sys.executable, "-c", WAITS, str(patience_s), *more]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        try:
            yield process
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("more", [(), ("fails",)])
def test_a_signal_ends_the_command_and_then_the_process(number: signal.Signals, more: tuple[str, ...]) -> None:
    with waiting(NEVER_S, HEEDS, *more) as process:
        process.send_signal(number)
        assert process.communicate(timeout=TIMEOUT_S)[0] == f"ended {-signal.SIGTERM}\ninterrupted\n"


def test_a_command_that_does_not_heed_it_is_killed_in_time() -> None:
    with waiting(0.01, STUBBORN) as process:
        process.send_signal(signal.SIGTERM)
        output = process.communicate(timeout=TIMEOUT_S)[0]
    assert output.endswith(f"ended {-signal.SIGKILL}\ninterrupted\n")


def test_a_second_signal_kills_it_at_once() -> None:
    with waiting(NEVER_S, STUBBORN) as process:
        process.send_signal(signal.SIGINT)
        assert process.stdout is not None
        assert process.stdout.readline() == "told\n"
        process.send_signal(signal.SIGINT)
        output = process.communicate(timeout=TIMEOUT_S)[0]
    assert output.endswith(f"ended {-signal.SIGKILL}\ninterrupted\n")


ON_TERMINAL = """
from dumbbell.base.clock import SYSTEM_CLOCK
from dumbbell.base.ending import ended_by_signals

with ended_by_signals() as asked:
    print("ready", flush=True)
    while not asked.is_interrupted:
        SYSTEM_CLOCK.sleep(0.01)
print("goes on", asked.is_to_end, flush=True)
"""


def test_ctrl_c_on_a_terminal_is_for_the_command() -> None:
    # A shell, or another interactive program, lives on.
    process, terminal = pty.fork()
    if process == 0:
        os.execv(sys.executable, [sys.executable, "-c", ON_TERMINAL])
    output = b""
    while b"ready" not in output:
        output += os.read(terminal, 1024)
    os.write(terminal, b"\x03")
    while b"goes on False" not in output:
        output += os.read(terminal, 1024)  # an error when the process has ended
    _, status = os.waitpid(process, 0)
    os.close(terminal)
    assert os.waitstatus_to_exitcode(status) == 0


@pytest.mark.usefixtures("real_packets")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.real
def test_a_signal_for_emulate_alone_ends_it_in_one_line(
    start: Callable[..., subprocess.Popen[str]], folder: Path, number: signal.Signals
) -> None:
    # SIGINT was ignored, and SIGTERM and SIGHUP ended it silently.
    words = ("--path", "small.toml", "--quiet", "--log", "log.parquet", "--live")
    process = start("emulate", *words, "--", "sh", "-c", "touch ready; sleep 1000")
    wait_for(lambda: (folder / "ready").exists() or process.poll() is not None)
    process.send_signal(number)
    out, errors = process.communicate(timeout=TIMEOUT_S)
    assert (process.returncode, out) == (1, "")
    assert [line for line in errors.splitlines() if not line.startswith("live: ")] == ["dumbbell: interrupted"]
    assert (folder / "log.parquet").is_file()
