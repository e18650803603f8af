"""Test of a run between two peer processes of this machine: instead of ssh, a script starts the other one."""

import json
import sys
import uuid
from pathlib import Path

import pytest

from support.commands.command import Dumbbell
from support.processes import marked_by
from support.punctual import runs_of
from support.waiting import wait_for

EXPERIMENT = """
name = "smoke"
backend = "remote:peer"
schemes = ["cubic"]
duration_s = 0.3
warmup_s = 0.0

[[flow]]
application = { kind = "constant", rate_mbps = 5.0 }
"""
SSH = """#!/bin/sh
case " $* " in *" -G "*) echo "hostname 127.0.0.1"; exit 0;; esac
export SSH_CONNECTION='127.0.0.1 1 127.0.0.1 22' DUMBBELL_TURN="$DUMBBELL_TURN-peer"
exec PYTHON -P -m dumbbell remote serve
"""


@pytest.mark.smoke
def test_a_run_between_two_peer_processes(
    dumbbell_afresh: Dumbbell, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mark = f"smoke-{uuid.uuid4()}"
    monkeypatch.setenv("DUMBBELL_TURN", mark)  # it waits for no run of others
    monkeypatch.setenv("PATH", str(folder), prepend=":")
    (folder / "ssh").write_text(SSH.replace("PYTHON", sys.executable))
    (folder / "ssh").chmod(0o755)
    (folder / "smoke.toml").write_text(EXPERIMENT)
    dumbbell_afresh("run", "smoke.toml", "--trust", "--out", "out", expect=None)
    wait_for(lambda: not marked_by(mark))
    (run,) = runs_of(dumbbell_afresh, "out")
    assert run["status"] in ("done", "degraded", "invalid"), run["reason"]
    (flow,) = run["flows"]
    assert 0 < flow["packets_delivered"] <= flow["packets_sent"]
    assert json.loads((folder / "out" / run["directory"] / "stats.json").read_text())["clocks"]
