"""Questions to programs that may do anything: nothing of them goes on, and no answer is without end."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from dumbbell.base.questions import Answer, ask
from dumbbell.results import environment
from support.commands.sleepers import SECONDS, sleepers

ESCAPE = f"setsid env -i /bin/sleep {SECONDS} >/dev/null 2>&1 &\n(setsid /bin/sleep {SECONDS} &) \n"


@pytest.fixture(autouse=True)
def _escaped() -> Iterator[None]:
    yield
    left = sleepers()
    for process in left:
        os.kill(process, signal.SIGKILL)
    assert left == []


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """A program whose text the test writes."""
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
def test_a_program_that_does_not_end_has_no_answer(program: Path, rest: str) -> None:
    program.write_text(f"#!/bin/sh\n{ESCAPE}{rest}\n")
    assert ask([program], 2.0) is None
    assert sleepers() == []


def test_a_version_is_asked_for_so(program: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    program.write_text(f"#!/bin/sh\n{ESCAPE}echo '1.0 of it' >&2\n")
    assert environment._program_version("asked") == "1.0 of it"


def test_who_asks_is_killed_and_nothing_is_left(program: Path) -> None:
    program.write_text(f"#!/bin/sh\n{ESCAPE}exec /bin/sleep {SECONDS}\n")
    question = f"from dumbbell.base.questions import ask; ask([{str(program)!r}], 100.0)"
    with subprocess.Popen([sys.executable, "-c", question]) as asking:
        until = time.monotonic() + 60.0
        while len(sleepers()) < 3 and time.monotonic() < until:
            time.sleep(0.01)
        assert len(sleepers()) == 3
        asking.kill()
    while sleepers() and time.monotonic() < until:
        time.sleep(0.01)
    assert sleepers() == []
