"""Tests that a machine takes part in one run at a time, whoever started it."""

import json
import os
import re
import signal
from typing import Any

import pytest

from dumbbell import Error, core
from dumbbell.base.errors import UserError
from dumbbell_remote import run_commands
from dumbbell_remote.serve import Command, State
from support.punctual import Punctual
from support.waiting import TIMEOUT_S

from .bed import Bed, eventually

pytestmark = pytest.mark.real

WORDS = ("run", "--schemes", "copa")


def test_the_second_of_two_experiments_with_one_machine_waits_and_says_for_what(
    bed: Bed, punctual: Punctual[dict[str, Any]]
) -> None:
    words = (*WORDS, "--backend", f"remote:{bed.host}", "--json", "--out")

    def make() -> dict[str, Any]:
        out = bed.new_results()
        first = bed.near.start_dumbbell(*words, out / "first", "--duration", 300)
        # Once the far machine's ports are open, the first run holds the emulation lock of both machines.
        assert eventually(lambda: _has_turn(bed))
        second = bed.near.start_dumbbell(*words, out / "second", "--duration", 3)
        # The first run lasts longer than a busy machine takes to start the second.
        assert second.stderr is not None
        assert any("another run goes on (pid " in line for line in second.stderr)
        first.send_signal(signal.SIGINT)
        _, errors = first.communicate(timeout=TIMEOUT_S)
        assert "interrupted" in errors
        output, errors = second.communicate(timeout=TIMEOUT_S)
        assert second.returncode in (0, 1), errors
        return {"out": out / "second", "runs": json.loads(output)["runs"]}

    outcome = punctual(make)
    assert [run["status"] for run in outcome["runs"]] == ["done"]
    log = next(outcome["out"].glob("runs/*/copa/1/log.txt")).read_text()
    assert log.index("another run goes on (pid ") < log.index("its turn has come")
    assert bed.near.empty()
    assert bed.far.empty()


def test_a_machine_that_is_never_free_is_refused_with_who_has_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DUMBBELL_TURN", f"test-{os.getpid()}")
    monkeypatch.setattr(run_commands, "LOCK_WITHIN_S", 1.0)
    reports: list[dict[str, Any]] = []
    state = State(tell=lambda **report: reports.append(report), commands=[Command({}, b"")])
    lock = core.take_emulation_lock(0.0, lambda: False, print)
    owner = f"another run goes on (pid {os.getpid()}, since "
    with pytest.raises(UserError, match=re.escape(owner) + r"[0-9:]{8}\), for 1 s now"):
        run_commands.open_sockets(state, {"turn": True, "request": {"flows": 1}}, b"")
    assert [list(report) for report in reports] == [["waits"]]
    assert reports[0]["waits"].startswith(owner)
    state.stop()
    with pytest.raises(Error, match="stopped"):
        run_commands.open_sockets(state, {"turn": True, "request": {"flows": 1}}, b"")
    state.commands = [Command({}, b"")]
    del lock
    answer, _ = run_commands.open_sockets(state, {"turn": True, "request": {"flows": 1}}, b"")
    assert len(answer["ports"]) == 2
    # The peer now holds the lock for all its runs, and releases it at its end.
    run_commands.open_sockets(state, {"turn": True, "request": {"flows": 1}}, b"")
    with pytest.raises(Error, match="stopped"):
        core.take_emulation_lock(0.1, lambda: False, lambda *_: None)
    state.resources.close()
    assert core.take_emulation_lock(0.0, lambda: False, print)


def _has_turn(bed: Bed) -> bool:
    return "dumbbell-turn" in bed.far.run("cat", "/proc/net/unix").stdout
