"""Tests of numbers computed again from packet logs: those of honest runs agree, differing ones are reported."""

import json
from pathlib import Path

import pytest

import dumbbell as package
from support.commands.command import Dumbbell
from support.shelf import Shelf


@pytest.mark.parametrize("name", ["mixes", "single"])
def test_the_numbers_of_a_run_are_those_of_its_packets(shelf: Shelf, name: str) -> None:
    results = package.open(getattr(shelf, name))
    faults = {run.label: fault for run, fault in results.recompute()}
    assert faults == {run.label: None for run in results.runs}


def test_short_transfers_have_the_numbers_of_their_packets(folder: Path) -> None:
    results = package.run("short_flows", schemes="cubic", runs=1, duration=4, log="packets", out=folder / "out")
    assert {fault for _, fault in results.recompute()} == {None}


@pytest.mark.parametrize(
    ("level", "metric", "statement"),
    [
        ("network", "goodput_mbps", "`goodput_mbps` of the network is 99"),
        ("flow", "owd_p95_ms", "`owd_p95_ms` of flow 1 is 99"),
        ("flow", "packets_sent", "`packets_sent` of flow 1 is 99"),
    ],
)
def test_a_number_that_is_not_that_of_the_packets_is_told(
    dumbbell: Dumbbell, shelf: Shelf, folder: Path, level: str, metric: str, statement: str
) -> None:
    results = shelf.copy("mixes", folder / "results")
    (results / "results.sqlite").unlink()
    file = results / "runs/lab/cubic/2/stats.json"
    content = json.loads(file.read_text())
    (content["network"] if level == "network" else content["flows"][0])[metric] = 99.0
    file.write_text(json.dumps(content))
    assert dumbbell("verify", "results").stdout.startswith("10 of 10 finished runs are whole")
    first, last = dumbbell("verify", "--deep", "results", expect=1).stdout.splitlines()
    assert first.startswith(f"wrong: results: cubic on lab, run 2: stats.json: {statement}, its packets say ")
    assert last.endswith("10 runs were computed again, 1 of them have other numbers")


@pytest.mark.parametrize("level", ["network", "flows"])
def test_numbers_that_were_left_out_are_told(dumbbell: Dumbbell, shelf: Shelf, folder: Path, level: str) -> None:
    results = shelf.copy("mixes", folder / "results")
    (results / "results.sqlite").unlink()
    file = results / "runs/lab/cubic/2/stats.json"
    content = json.loads(file.read_text())
    if level == "network":
        del content["network"]["loss_rate"]
    else:
        content["flows"] = []
    file.write_text(json.dumps(content))
    first, _ = dumbbell("verify", "--deep", "results", expect=1).stdout.splitlines()
    assert "is missing, its packets say" in first


def test_a_packet_log_that_is_gone_with_its_record_is_told(dumbbell: Dumbbell, shelf: Shelf, folder: Path) -> None:
    run = shelf.copy("mixes", folder / "results") / "runs/lab/cubic/2"
    content = json.loads((run / "stats.json").read_text())
    del content["files"]["packets.parquet"]
    (run / "stats.json").write_text(json.dumps(content))
    (run / "packets.parquet").unlink()
    first = dumbbell("verify", "--deep", "results", expect=1).stdout.splitlines()[0]
    assert first == ("damaged: results: cubic on lab, run 2: packets.parquet is not among what was recorded")


def test_a_sample_is_as_large_as_asked(dumbbell: Dumbbell, shelf: Shelf) -> None:
    output = dumbbell("verify", "--sample", "3", str(shelf.mixes)).stdout
    assert "3 runs were computed again, 0 of them have other numbers" in output
    errors = dumbbell("verify", "--sample", "0", str(shelf.mixes), expect=2).stderr
    assert "--sample" in errors


def test_runs_without_packets_and_imported_ones_are_not_computed_again(dumbbell: Dumbbell, shelf: Shelf) -> None:
    for results in (shelf.grid, shelf.imported):
        assert "; 0 runs were computed again" in dumbbell("verify", "--deep", str(results)).stdout
