"""Test of the live view of a run with real packets, from its first packets to its end."""

import signal
import uuid
from collections.abc import Callable
from pathlib import Path
from subprocess import Popen
from typing import Any

import pytest

from dumbbell.results.directory import open_results
from dumbbell.results.live_runs import LiveResults
from support.machine import need_real_packets
from support.processes import marked_by
from support.waiting import TIMEOUT_S, wait_for


@pytest.mark.smoke
def test_a_run_is_shown_while_it_goes_on(
    start: Callable[..., Popen[str]], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    need_real_packets()
    mark = f"smoke-{uuid.uuid4()}"
    monkeypatch.setenv("DUMBBELL_TURN", mark)
    words = ("--rate", "8mbit", "--rtt", "100ms", "--duration", "1000", "--out", "out", "--watch")
    process = start("run", "--backend", "emu", "--schemes", "cubic", *words)
    out = folder / "out"

    def shown_runs() -> list[dict[str, Any]]:
        assert process.poll() is None, process.communicate()
        return [run.content for run in watching.look()[1]]

    def state(run: dict[str, Any]) -> set[str]:
        return {value["name"] for value in run["flows"][0]["state"]}

    try:
        wait_for(lambda: (out / "experiment.toml").exists())
        watching = LiveResults(open_results(out))
        (first,) = wait_for(shown_runs)
        (later,) = wait_for(lambda: [run for run in shown_runs() if run["flows"][0]["delivered_bytes"] > 0])
        wait_for(
            lambda: [run for run in shown_runs() if run["at_s"] > later["at_s"] and state(run) >= {"cwnd", "srtt"}]
        )
        assert (first["attempt"], first["duration_s"]) == (1, 1000.0)
        assert process.stderr is not None
        assert any(line.startswith("  cubic 1 ") for line in process.stderr)
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=TIMEOUT_S)
    assert not list(out.rglob("*live.json*"))
    wait_for(lambda: not marked_by(mark))
