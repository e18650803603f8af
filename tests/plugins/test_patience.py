"""Test of a plug-in that takes too long to load: it is given up, by the caller's clock."""

import hashlib
from pathlib import Path

import pytest

from dumbbell.base.errors import UserError
from dumbbell.contract.controllers import PluginController
from dumbbell.plugins import isolated
from support.clock import ManualClock
from support.commands.sleepers import SECONDS, sleepers
from support.waiting import wait_for


def test_a_plug_in_that_is_not_loaded_in_time_is_given_up_with_all_that_it_started(
    tmp_path: Path, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "slow.py"
    file.write_text(f"import subprocess\nsubprocess.run(['/bin/sleep', '{SECONDS}'])\n")
    question = {"describe": str(file), "sha256": hashlib.sha256(file.read_bytes()).hexdigest()}
    full_wait = clock.wait

    def wait(operation: object, timeout_s: float | None) -> object:
        """Turn the clock once the plug-in's process runs."""
        wait_for(sleepers)
        clock.turn(isolated.PATIENCE_S)
        return full_wait(operation, 0.0)  # type: ignore[arg-type]

    monkeypatch.setattr(clock, "wait", wait)
    with pytest.raises(UserError, match=r"slow\.py: was not loaded within 30 s: a plug-in does its work in runs"):
        isolated._ask(question, [str(file)], list[PluginController], clock)
    wait_for(lambda: sleepers() == [])
