"""Tests of questions to arbitrary programs: none of their processes goes on, and no answer is endless."""

import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from dumbbell.base.questions import Answer, ask
from dumbbell.results import environment
from support.clock import ManualClock
from support.commands.sleepers import SECONDS, sleepers
from support.waiting import wait_for

ESCAPE = f"setsid env -i /bin/sleep {SECONDS} >/dev/null 2>&1 &\n(setsid /bin/sleep {SECONDS} &) \n"


@pytest.fixture(autouse=True)
def _escape_check() -> Iterator[None]:
    yield
    left = sleepers()
    for process in left:
        os.kill(process, signal.SIGKILL)
    assert left == []


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """Return a program whose text the test writes."""
    file = tmp_path / "asked"
    file.touch(0o755)
    return file


def test_what_a_program_answers(program: Path) -> None:
    program.write_text('#!/bin/sh\necho "version $1"\necho problem >&2\nexit 3\n')
    assert ask([program, "--version"], 30.0) == Answer(3, "version --version\n", "problem\n")
    assert ask(["/does/not/exist"], 30.0) == Answer(127, "", "")
    program.write_text("#!/bin/sh\nreadlink /proc/self/fd/0\nls /proc/self/fd\n")
    answer = ask([program], 30.0)
    assert answer is not None
    assert answer.out.split() == ["/dev/null", "0", "1", "2", "3"]  # the last is that of `ls`


def test_what_a_program_starts_does_not_outlive_its_answer(program: Path) -> None:
    program.write_text(f"#!/bin/sh\n{ESCAPE}echo 1.0\n")
    answer = ask([program], 30.0)
    assert answer is not None
    assert answer.out == "1.0\n"
    assert sleepers() == []


@pytest.mark.parametrize("rest", ["exec yes", f"exec /bin/sleep {SECONDS}"], ids=["yes", "sleep"])
def test_a_program_that_does_not_end_has_no_answer(program: Path, clock: ManualClock, rest: str) -> None:
    program.write_text(f"#!/bin/sh\n{ESCAPE}{rest}\n")
    sleeper_count = len(re.findall("/bin/sleep", f"{ESCAPE}{rest}"))

    def turn() -> None:
        wait_for(lambda: len(sleepers()) == sleeper_count or over.is_set())  # `yes` is ended by what it writes
        clock.turn(2.0)

    over = threading.Event()
    turning = threading.Thread(target=turn)
    turning.start()
    assert ask([program], 2.0, clock=clock) is None
    over.set()
    turning.join()
    assert sleepers() == []


def test_a_version_is_asked_for_so(program: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    program.write_text(f"#!/bin/sh\n{ESCAPE}echo '1.0 of it' >&2\n")
    assert environment._program_version("asked") == "1.0 of it"


def test_who_asks_is_killed_and_nothing_is_left(program: Path) -> None:
    program.write_text(f"#!/bin/sh\n{ESCAPE}exec /bin/sleep {SECONDS}\n")
    question = f"from dumbbell.base.questions import ask; ask([{str(program)!r}], 100.0)"
    with subprocess.Popen([sys.executable, "-c", question]) as asking:
        wait_for(lambda: len(sleepers()) == 3)
        asking.kill()
    wait_for(lambda: sleepers() == [])
