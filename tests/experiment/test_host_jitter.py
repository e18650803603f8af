"""Tests of hosts that answer a little late: the setting, and explained published figures (docs/how-to/hosts.md)."""

import csv
import json
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import pytest

import dumbbell
from dumbbell import _core, catalog
from dumbbell.catalog.experiment_settings import Settings
from validation import host_jitter

LINUX = Path(host_jitter.__file__).with_name("data") / "linux-5.15-cubic-bbr.csv"
TESTBED_US = 300.0
"""Lateness of the hosts of that table by docs/how-to/hosts.md, us."""


def throughput(host_jitter_us: float, path: dict[str, Any], seconds: float = 20.0) -> float:
    run = dumbbell.specification(
        "copa-gcc2018", duration=seconds, log="none", settings={"host_jitter_us": host_jitter_us}
    )
    late = [element for element in run["path"]["ack"] if element.get("name") == "host"]
    late_path = {"data": path["data"], "ack": [*path["ack"], *late], "overhead_bytes": 0}
    return float(json.loads(_core.simulate(json.dumps(run | {"path": late_path}), None))["flows"][0]["throughput_mbps"])


def test_the_host_is_the_last_element_of_acks_and_draws_from_no_others_stream() -> None:
    plain, late = (dumbbell.specification("cubic", settings={"host_jitter_us": jitter_us}) for jitter_us in (0.0, 20.0))
    element = {"kind": "jitter", "name": "host", "distribution": "exponential", "mean_ms": 0.02}
    assert late == plain | {"path": plain["path"] | {"ack": [*plain["path"]["ack"], element]}}
    assert Settings().host_jitter_us == 20.0


def test_exact_runs_have_hosts_that_answer_at_once_and_repetitions_that_are_the_same(tmp_path: Path) -> None:
    words: dict[str, Any] = {"schemes": "copa-gcc2018", "path": "default", "runs": 3, "duration": 2.0, "log": "none"}
    exact = dumbbell.run(**words, exact=True, out=tmp_path / "exact")
    late = dumbbell.run(**words, out=tmp_path / "late")
    assert len({run.statistics["network"]["throughput_mbps"] for run in exact.runs}) == 1
    assert len({run.statistics["network"]["throughput_mbps"] for run in late.runs}) == 3
    experiment = exact.experiment
    assert (experiment.host_jitter_us, experiment.start_spread_ms) == (0.0, 0.0)


def test_benchmarks_have_exact_hosts_as_ccperf_and_ns3_have_but_where_they_repeat_what_real_ones_did() -> None:
    late = {
        experiment.name
        for experiment in catalog.experiments()
        if experiment.membership is not None and experiment.host_jitter_us
    }
    assert {name.rpartition("-")[0] for name in late} <= {"copa", "copa-fairness", "rfc8867"}


def test_a_host_answers_never_early() -> None:
    with pytest.raises(dumbbell.Error, match="`host_jitter_us` = -1"):
        dumbbell.specification("cubic", settings={"host_jitter_us": -1.0})


def test_copa_on_an_exact_path_is_one_draw_of_many() -> None:
    delay = {"kind": "delay", "delay_ms": 10.0}
    path = {"data": [{"kind": "link", "rate_mbps": 50.0, "queue": {"kind": "droptail", "packets": 84}}, delay]}
    exact, real = (throughput(jitter_us, path | {"ack": [delay]}) for jitter_us in (0.0, 20.0))
    # the original's own code, in virtual time: 35.3 and, with 20 us of jitter, 46.4
    assert exact < 36.5
    assert 44.0 < real < 48.5


def linux_cell(cca: str, rate_mbps: float, rtt_ms: float, jitter_us: float) -> dict[str, Any]:
    """Simulate a cell of the grid with 100 kB of queue: all delay in the direction of the ACKs, 60 s."""
    linux = {"growth": "counted", "slow_start": "hystart"} if cca == "cubic" else {}
    transport = {"profile": "tcp", "payload_bytes": 1448} | ({"recovery": "immediate"} if cca == "bbr" else {})
    late = [{"kind": "jitter", "distribution": "exponential", "mean_ms": jitter_us / 1e3}] if jitter_us else []
    host = {"kind": "link", "rate_mbps": 10000.0, "queue": {"kind": "infinite"}}
    link = {"kind": "link", "rate_mbps": rate_mbps, "queue": {"kind": "droptail", "bytes": 102400}}
    run = {
        "seed": 1,
        "duration_s": 60.0,
        "log": "none",
        "path": {"data": [host, link], "ack": [{"kind": "delay", "delay_ms": rtt_ms}, *late]},
        "flows": [{"scheme": cca, "controller": cca, "parameters": linux, "transport": transport}],
    }
    stats: dict[str, Any] = json.loads(_core.simulate(json.dumps(run), None))["flows"][0]
    return stats


@pytest.mark.slow
def test_late_hosts_and_nothing_else_bring_cubic_down_in_short_queues_of_fast_links() -> None:
    with LINUX.open(encoding="utf-8") as text:
        cells = {
            (row["cca"], float(row["bandwidth_mbit"]), float(row["rtt_ms"])): 100.0
            * float(row["goodput_mean_mbit"])
            / float(row["bandwidth_mbit"])
            for row in csv.DictReader(text)
            if row["buffer_kB"] == "100"
        }
    fast = [(rate, rtt) for rate in (250.0, 500.0, 1000.0) for rtt in (25.0, 100.0)]
    off = {}
    for jitter_us in (0.0, TESTBED_US):
        own_percents = {cell: 100.0 * linux_cell("cubic", *cell, jitter_us)["goodput_mbps"] / cell[0] for cell in fast}
        off[jitter_us] = median(abs(own_percents[cell] - cells["cubic", *cell]) for cell in fast)
    assert off[0.0] > 25.0
    assert off[TESTBED_US] < 10.0


@pytest.mark.slow
def test_late_hosts_make_bbr_lose_where_its_window_is_as_long_as_the_path() -> None:
    # 100 Mbit/s, 5 ms: published are 20,822 retransmissions; the running kernel behind the emulator has 600
    exact, late = (linux_cell("bbr", 100.0, 5.0, jitter_us) for jitter_us in (0.0, TESTBED_US))
    assert exact["retransmissions"] < 1000
    assert 8_000 < late["retransmissions"] < 25_000
    assert late["goodput_mbps"] > 0.98 * exact["goodput_mbps"]


def test_delays_of_answers_are_taken_between_neighbours() -> None:
    benchmark = host_jitter
    deliver, ack, send = benchmark.DELIVER, benchmark.ACK_SEND, benchmark.SEND
    events = np.array([deliver, send, ack, deliver, deliver, ack, ack], dtype=np.float64)
    times = np.array([0, 5_000, 10_000, 20_000, 30_000, 50_000, 60_000], dtype=np.float64)
    assert list(benchmark.answers(times, events, deliver, ack)) == [10.0, 20.0]
    figures = benchmark.summary(np.array([10.0] * 99 + [110.0]))
    assert (figures["answers"], figures["p50"], round(figures["jitter"], 6)) == (100, 10.0, 1.0)
