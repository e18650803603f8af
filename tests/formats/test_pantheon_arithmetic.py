"""Tests of the numbers of merged logs against a second, plain implementation of Pantheon's definitions."""

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

import dumbbell
from support.by_hand.pantheon import analyse
from support.machine import pantheon_logs

HEADER = "# init timestamp: 1514764800123.000\n"
RUNTIME_S = 0.002
MEMORY = "/dev/shm" if Path("/dev/shm").is_dir() else None  # each import waits for the disk
ACK_LOG = "1.000 + 88 1\n31.000 - 88 30.000 1\n"


def import_numbers(log: str, ack: str | None = None, flows: int = 1) -> dict[str, Any]:
    """Import logs with the library; return their run."""
    with TemporaryDirectory(dir=MEMORY) as scratch:
        source = Path(scratch) / "data"
        source.mkdir()
        metadata = {"cc_schemes": ["cubic"], "flows": flows, "runtime": RUNTIME_S, "run_times": 1, "uplink_trace": "x"}
        (source / "pantheon_metadata.json").write_text(json.dumps(metadata))
        (source / "cubic_datalink_run1.log").write_bytes(log.encode())
        (source / "cubic_stats_run1.log").write_text("Start at: 2018-01-01 00:00:00\n")
        if ack is not None:
            (source / "cubic_acklink_run1.log").write_bytes(ack.encode())
        (run,) = dumbbell.import_results("pantheon", source, Path(scratch) / "out").runs
        return dict(run.statistics)


def check(log: str, run: dict[str, Any]) -> None:
    """Check that every number of the run equals that of the plain implementation, to the last bit."""
    expected = analyse(log, RUNTIME_S)
    assert (run["status"] == "done") == expected["valid"], run["reason"]
    if not expected["valid"]:
        return
    assert numbers(run["network"]) == expected["all"]
    assert run["network"]["capacity_mbps"] == expected["capacity"]
    assert run["network"]["duration_s"] == expected["seconds"]
    # A flow of the plan or of the ACK log alone is no flow for Pantheon.
    data = [flow for flow in run["flows"] if flow["packets_sent"] or flow["packets_delivered"]]
    flow_numbers = {flow["flow"]: numbers(flow) for flow in data}
    assert flow_numbers == expected["flows"]


def numbers(metrics: dict[str, Any]) -> dict[str, Any]:
    """Return the three numbers that Pantheon computes."""
    return {"tput": metrics["throughput_mbps"], "delay": metrics["delay_p95_ms"], "loss": metrics["loss_rate"]}


def ms(microseconds: int) -> str:
    """Return a time in Pantheon's format."""
    return f"{'-' if microseconds < 0 else ''}{abs(microseconds) // 1000}.{abs(microseconds) % 1000:03}"


@st.composite
def logs(draw: st.DrawFn) -> str:
    """Draw a log of up to 80 lines, whose clock sometimes steps back by up to 0.2 ms."""
    time_us = draw(st.integers(-2_000, 2_000_000))
    has_tags, lines = draw(st.booleans()), []
    for _ in range(draw(st.integers(1, 80))):
        time_us += draw(st.one_of(st.integers(-200, 0), st.integers(0, 40_000)))
        kind = draw(st.sampled_from("++--#"))
        size = draw(st.integers(1, 1504))
        flow = f" {draw(st.integers(1, 3))}" if has_tags and kind != "#" else ""
        delay = f" {ms(draw(st.integers(-5_000, 900_000)))}" if kind == "-" else ""
        lines.append(f"{ms(time_us)} {kind} {size}{delay}{flow}\n")
    return HEADER + "".join(lines)


@settings(max_examples=50)
@given(log=logs(), flows=st.integers(1, 4), ack=st.one_of(st.none(), st.integers(0, len(ACK_LOG))), early=st.booleans())
def test_logs_with_clocks_that_step_back_have_pantheons_numbers(
    log: str, flows: int, ack: int | None, early: bool
) -> None:
    # a whole, cut or early ACK log changes nothing about the data
    header = HEADER.replace("123.000", "120.333") if early else HEADER
    check(log, import_numbers(log, None if ack is None else header + ACK_LOG[:ack], flows))


@settings(max_examples=20)
@given(log=logs(), data=st.data())
def test_logs_in_another_writing_have_pantheons_numbers(log: str, data: st.DataObject) -> None:
    lines = log.splitlines()
    for index in range(1, len(lines)):
        writing = data.draw(st.integers(0, 5))
        if writing == 1:
            lines[index] = "  " + lines[index].replace(" ", "\t")
        elif writing == 2:
            time, *rest = lines[index].split()
            lines[index] = " ".join([time + data.draw(st.sampled_from(["0", "25", "123"])), *rest])
    changed_log = "\n".join(lines) + "\n"
    check(changed_log, import_numbers(changed_log))


def test_a_first_packet_that_steps_back_is_still_the_first() -> None:
    log = HEADER + "5.000 + 1000 1\n6.000 - 1000 1.000 1\n5.800 - 500 0.700 2\n5.700 + 500 2\n9.100 - 9 1.000 1\n"
    run = import_numbers(log, flows=2)
    check(log, run)
    assert run["network"]["throughput_mbps"] == 8 * 1509 / (1000.0 * (9.1 - 6.0))
    assert run["notes"][0].startswith("cubic_datalink_run1.log:4: 2 lines earlier than a line before (first here)")


def test_real_logs_have_the_numbers_of_the_plain_implementation() -> None:
    for log in sorted(pantheon_logs().glob("*[a-z]_datalink_run1.log")):
        if "_mm_" not in log.name:
            check(log.read_text(), import_numbers(log.read_text()))


@pytest.mark.parametrize("decimals", [4, 6, 9])
def test_more_decimals_than_three_shift_a_delay_by_less_than_a_microsecond(decimals: int) -> None:
    log = (
        HEADER + f"1.{1:0{decimals}} + 100 1\n{2 / 3 + 5:.{decimals}f} - 100 {14 / 3:.{decimals}f} 1\n9.5 - 100 2.5 1\n"
    )
    run, expected = import_numbers(log), analyse(log, RUNTIME_S)
    assert run["network"]["throughput_mbps"] == pytest.approx(expected["all"]["tput"], rel=1e-6 if decimals > 6 else 0)
    assert run["network"]["delay_p95_ms"] == pytest.approx(expected["all"]["delay"], abs=0.000_500_1)
    assert "with more than 3 decimals" in run["notes"][0]
