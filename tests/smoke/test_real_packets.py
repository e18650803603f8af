"""Real packets of a built-in and of a kernel controller, for a second, however late the machine is."""

import uuid
from pathlib import Path

import polars
import pytest

from support.commands.command import Dumbbell
from support.machine import need_real_packets
from support.processes import marked_by
from support.punctual import runs_of
from support.waiting import wait_for

SEND, DELIVER = 0, 5
"""Numbers of events in the packet log."""


@pytest.mark.smoke
def test_two_flows_over_an_emulated_path(
    dumbbell_afresh: Dumbbell, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    need_real_packets()
    mark = f"smoke-{uuid.uuid4()}"
    monkeypatch.setenv("DUMBBELL_TURN", mark)  # it waits for no run of others
    words = ("--rate", "8mbit", "--rtt", "100ms", "--duration", "1", "--warmup", "0", "--out", "out")
    dumbbell_afresh("run", "--backend", "emu", "--mix", "cubic+kernel-cubic", *words, expect=None)
    wait_for(lambda: not marked_by(mark))
    (run,) = runs_of(dumbbell_afresh, "out")
    assert run["status"] in ("done", "degraded", "invalid"), run["reason"]
    packets = polars.read_parquet(folder / "out" / run["directory"] / "packets.parquet")
    for number, flow in enumerate(run["flows"], 1):
        events = packets.filter(polars.col("flow") == number)["event"]
        counts = ((events == SEND).sum(), (events == DELIVER).sum())
        assert counts == (flow["packets_sent"], flow["packets_delivered"])
        assert 0 < flow["packets_delivered"] <= flow["packets_sent"]
        assert flow["throughput_mbps"] > 0.0
