"""Tests of runs with plug-ins of which only numbers are kept: they equal those of runs with files, for any plug-in."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars
import pytest

import dumbbell.execution.pool as pool_module
from dumbbell.execution import guarded_batches
from execution.test_batches import NUMBERS, QUICK, files, numbers
from plugins.test_plugins import compile_plugin
from support.commands.command import Dumbbell
from support.commands.in_process import run_in_process

ROOT = Path(__file__).parents[2]
AIMD = ROOT / "examples/python/aimd.py"

COUNTS = """
import helper

class Counts:
    RUNS = []

    def __init__(self, start):
        self.RUNS.append(1)
        helper.RUNS.append(1)

    def on_ack(self, ack):
        pass

    def control(self):
        return (len(self.RUNS) + len(helper.RUNS)) * 3000.0
"""
"""A class that leaves marks in itself and in a module."""

THIRD = """
import os, signal
from pathlib import Path

class Third:
    def __init__(self, start):
        runs = Path(__file__).with_suffix(".runs")
        with runs.open("a") as file:
            file.write("x")
        self.is_third = runs.stat().st_size == 3

    def on_ack(self, ack):
        if self.is_third:
            {attack}

    def control(self):
        return 15000.0
"""
"""A class that attacks the third process it is in, which a file counts."""

ATTACKS = {
    "os.abort()": "crashed (SIGABRT: it gave up with abort or a failed assertion)",
    "signal.pause()": "on_ack did not return within 5 s",
    "kept = [b'x' * 2**20 for _ in range(600)]; signal.pause()": "its process was ended: it took 0.",
    "os.write(bytes(range(256)), 0)": "on_ack raised TypeError: ",
    "os.write(1, b'x' * 2**25)": "",
}
"""Attack of each kind, and the reason why its run fails; None if it does not."""
ENDING = list(ATTACKS)[:3]
"""Attacks that end their process."""


@pytest.fixture(name="run_both")
def _run_both(dumbbell: Dumbbell) -> Callable[..., list[dict[str, Any]]]:
    """Return a function that makes runs with and without files, and requires that their numbers are equal."""

    def run_both(*words: str) -> list[dict[str, Any]]:
        dumbbell("run", *words, *QUICK, "files")
        dumbbell("run", *words, *QUICK, "numbers", *NUMBERS)
        runs = numbers(dumbbell, "numbers")
        assert json.dumps(runs) == json.dumps(numbers(dumbbell, "files"))
        return runs

    return run_both


RunBoth = Callable[..., list[dict[str, Any]]]


def test_the_numbers_of_plug_ins_are_those_of_runs_with_files(
    run_both: RunBoth, folder: Path, dumbbell: Dumbbell
) -> None:
    library = compile_plugin(ROOT / "examples/c/aimd.c", folder)
    runs = run_both("--schemes", f"class={AIMD},c={library},reno", "--mix", "class+c", "--runs", "2")
    assert [run["status"] for run in runs] == ["done"] * 8
    output = dumbbell("rerun", "numbers", "small/c/2").stdout
    assert output.splitlines() == [f"numbers/runs/small/c/2/{name}.parquet" for name in ("flows", "links", "packets")]
    assert files(folder / "numbers/runs/small/c/2") == files(folder / "files/runs/small/c/2")
    assert json.dumps(numbers(dumbbell, "numbers")) == json.dumps(numbers(dumbbell, "files"))


def test_the_tables_are_those_of_the_same_controller_built_in(dumbbell: Dumbbell, folder: Path) -> None:
    """All columns but the simulator's time are compared: Python passes on what the core writes."""
    library = compile_plugin(ROOT / "examples/c/aimd.c", folder)
    options = ("--runs", "2", *QUICK)
    dumbbell("run", "--schemes", f"same={library}", *options, "outside", *NUMBERS)
    (folder / "same.toml").write_text('kind = "core"\ncontroller = "reno"\n')
    dumbbell("run", "--schemes", "same.toml", *options, "inside", *NUMBERS)
    for table in ("runs", "flows", "links"):
        outside, inside = (
            polars.read_parquet(folder / out / f"numbers/1/{table}.parquet") for out in ("outside", "inside")
        )
        differing = {"sim_wall_s", "started_at", "controller"} & set(inside.columns)
        assert outside.columns == inside.columns
        assert outside.drop(differing).equals(inside.drop(differing))


def test_a_run_finds_nothing_of_those_before_it(run_both: RunBoth, folder: Path, dumbbell: Dumbbell) -> None:
    """Each of several runs of one process equals a run made by a command alone."""
    (folder / "counts.py").write_text(COUNTS)
    (folder / "helper.py").write_text("RUNS = []\n")
    text = (ROOT / "examples/c/aimd.c").read_text()
    text = text.replace("static void *create", "static int made;\n\nstatic void *create", 1)
    changed_text = text.replace("aimd->window = (double)", "aimd->window = ++made * (double)", 1)
    assert changed_text != text
    (folder / "counting.c").write_text(changed_text)
    library = compile_plugin(folder / "counting.c", folder)
    run_both("--schemes", f"counts=counts.py,c={library}", "--runs", "3", "--jobs", "1")
    for run in ("small/counts/3", "small/c/3"):
        dumbbell("rerun", "numbers", run)  # it refuses other numbers
        assert files(folder / "numbers/runs" / run) == files(folder / "files/runs" / run)


def _without_sizes(runs: object) -> str:
    """Return runs as JSON without the memory of an ended process, which depends on the machine."""
    return re.sub(r"it took [\d.]+ GiB", "it took GiB", json.dumps(runs))


@pytest.mark.parametrize("attack", ATTACKS)
def test_what_a_plug_in_does_in_its_third_run_hurts_no_other_run(
    dumbbell: Dumbbell, folder: Path, monkeypatch: pytest.MonkeyPatch, attack: str
) -> None:
    monkeypatch.setattr(pool_module, "LEAST_MEMORY_BYTES", 2**29)
    monkeypatch.setattr(pool_module, "machine_memory_bytes", lambda: 2**29)
    (folder / "third.py").write_text(THIRD.format(attack=attack))
    five = ("--schemes", "third.py,reno", "--runs", "5", "--jobs", "1", *QUICK)
    reason = ATTACKS[attack]
    runs_of = {}
    for out, more in (("files", ()), ("numbers", NUMBERS)):
        (folder / "third.runs").unlink(missing_ok=True)
        # This process has the memory limit.
        assert run_in_process(["run", *five, out, *more], folder).returncode == (1 if reason else 0)
        runs_of[out] = numbers(dumbbell, out)
    assert _without_sizes(runs_of["numbers"]) == _without_sizes(runs_of["files"])
    ending = "failed" if attack in ENDING else "done"
    outside = [run for run in runs_of["numbers"] if run["scheme"] == "third"]
    assert [run["status"] for run in outside] == ["done", "done", "failed" if reason else "done", ending, ending]
    assert [run["status"] for run in runs_of["numbers"] if run["scheme"] == "reno"] == ["done"] * 5
    if reason:
        assert reason in outside[2]["reason"]
    if attack in ENDING:
        assert {run["reason"].partition(" (")[0] for run in outside[3:]} == {"not run: third"}


def test_a_batch_of_plug_ins_ends_when_its_time_is_up(
    dumbbell: Dumbbell, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guarded_batches, "BATCH_S", 0.0)  # each takes at least the run that it begins with
    run_in_process(
        ["run", "--schemes", f"class={AIMD}", "--runs", "3", "--jobs", "1", *QUICK, "numbers", *NUMBERS], folder
    )
    assert len(list((folder / "numbers/numbers").iterdir())) == 3
    assert {run["status"] for run in numbers(dumbbell, "numbers")} == {"done"}


def test_a_run_that_comes_out_with_other_numbers_is_refused(dumbbell: Dumbbell, folder: Path) -> None:
    """A repeated run with other numbers is refused, and leaves no files."""
    dumbbell("run", "--schemes", f"other={AIMD}", *QUICK, "numbers", *NUMBERS)
    kept_file = folder / "numbers/experiment.toml"
    kept_file.write_text(kept_file.read_text().replace("packets = 30", "packets = 9"))
    errors = dumbbell("rerun", "numbers", "small/other/1", expect=2).stderr
    assert "other on small, run 1: comes out with another `" in errors
    assert not (folder / "numbers/runs/small").exists()
