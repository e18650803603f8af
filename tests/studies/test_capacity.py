"""Tests of rates that a machine carries: verdicts of runs, the climb from rate to rate, and the command's output."""

import json
from collections.abc import Callable
from typing import Any

import pytest

import dumbbell as library
from dumbbell.base.progress import Progress
from dumbbell.studies import capacity
from dumbbell.studies.capacity import SENDERS, Capacity, carried_rate, measure_capacity
from support.commands.command import Dumbbell

PAYLOAD = 1448 / 1500


def run(goodput_mbps: float | None, **emulation: object) -> Any:  # noqa: ANN401 (JSON)
    """Return as much of an emulated run as is read."""
    lateness = {"p50": 20, "p99": 90}
    emulation_notes = {"lateness_us": lateness, "tx_dropped": 1, "socket_dropped": 2, "degraded": None, "invalid": None}
    return {"flows": [{"goodput_mbps": goodput_mbps}], "emulation": emulation_notes | emulation}


def machine(bound_mbps: float, tries: list[float]) -> Callable[..., Any]:
    """Return an emulator that is late above a rate; `tries` gets the rate of each run."""

    def emulate(specification: Any) -> Any:  # noqa: ANN401 (JSON)
        rate_mbps = specification["path"]["data"][0]["rate_mbps"]
        tries.append(rate_mbps)
        return run(rate_mbps * PAYLOAD, degraded=None if rate_mbps <= bound_mbps else "the emulator was late: p99 3 ms")

    return emulate


@pytest.mark.parametrize(
    ("run_result", "verdict", "reason"),
    [
        (run(96.0), "carried", ""),
        (run(80.0), "not filled", "83 % of the link's payload rate, bound 90 %"),
        (run(None), "not filled", "0 % of the link's payload rate, bound 90 %"),
        (run(96.0, degraded="late"), "degraded", "late"),
        (run(50.0, degraded="late", invalid="3 packets were lost"), "invalid", "3 packets were lost"),
    ],
)
def test_a_rate_has_the_verdict_of_its_run(run_result: Any, verdict: str, reason: str) -> None:  # noqa: ANN401 (JSON)
    rate = carried_rate("kernel TCP", 100.0, run_result)
    assert (rate.verdict, rate.reason) == (verdict, reason)
    assert (rate.late_p50_us, rate.late_p99_us, rate.lost_outside) == (20.0, 90.0, 3)


def test_rates_go_up_until_one_is_not_carried_in_two_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    tries: list[float] = []
    monkeypatch.setattr(capacity, "emulate", machine(300.0, tries))
    monkeypatch.setattr(capacity, "require_emulation", lambda: None)
    monkeypatch.setattr(capacity, "gain_rights", lambda: None)
    measured_capacity = measure_capacity()
    assert tries == [100.0, 300.0, 1000.0, 1000.0, 100.0, 300.0, 500.0, 500.0]
    assert [measured_capacity.most_mbps(sender) for sender in SENDERS] == [300.0, 300.0]


def test_a_machine_may_carry_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(capacity, "emulate", machine(0.0, []))
    with Progress() as progress:
        rates = tuple(measured_rate for sender in SENDERS for measured_rate in capacity._climb(sender, progress))
    assert {rate.rate_mbps for rate in rates} == {100.0}
    assert Capacity(rates, 0.0, 2).most_mbps("kernel TCP") is None


def test_the_command_prints_what_is_carried(dumbbell: Dumbbell, monkeypatch: pytest.MonkeyPatch) -> None:
    rates = (
        carried_rate("kernel TCP", 100.0, run(96.0)),
        carried_rate("kernel TCP", 300.0, run(96.0, degraded="late")),
    )
    monkeypatch.setattr(library, "measure_capacity", lambda: Capacity(rates, 0.5, 2))
    monkeypatch.setenv("COLUMNS", "100")
    printed_text = dumbbell("doctor", "--measure", expect=None).stdout.partition("\n\n")[2]
    assert printed_text == (
        "sender      link Mbit/s  goodput Mbit/s  p50 late us  p99 late us  lost outside  verdict\n"
        "kernel TCP          100            96.0           20           90             3  carried\n"
        "kernel TCP          300            96.0           20           90             3  degraded\n"
        "kernel TCP at 300 Mbit/s: late\n"
        "This machine carries up to 100 Mbit/s of kernel TCP.\n"
        "Load of the minute before: 0.5, on 2 processors.\n"
        "Keep the links of experiments at or below these rates, and measure again when the machine is busier.\n"
    )
    document = json.loads(dumbbell("doctor", "--measure", "--json", expect=None).stdout)
    assert [rate["verdict"] for rate in document["capacity"]["rates"]] == ["carried", "degraded"]
    assert "capacity" not in json.loads(dumbbell("doctor", "--json", expect=None).stdout)


@pytest.mark.real
def test_this_machine_is_measured(real_packets: None) -> None:
    measured_capacity = library.measure_capacity()
    assert {entry.sender for entry in measured_capacity.rates} == set(SENDERS)
    for rate in measured_capacity.rates:
        assert rate.verdict in ("carried", "not filled", "degraded", "invalid")
        assert 0.0 <= rate.goodput_mbps <= rate.rate_mbps
        assert rate.late_p50_us <= rate.late_p99_us
