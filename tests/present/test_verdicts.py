"""Tests of comparisons with baselines: the last table of `benchmark`, and the rows behind it."""

import json
from pathlib import Path
from statistics import fmean, median

import pytest
from inline_snapshot import snapshot

import dumbbell as library
from support.commands.command import Dumbbell
from support.inputs.paths import SMALL
from support.told import transcript

EXPERIMENT = """
name = "windows"
title = "Windows"
paths = ["small"]
duration_s = 2.0
warmup_s = 0.5
runs = {runs}
log = "none"

[grid]
bw_factor = [1.0, 2.0]

[benchmark]
group = "Steady state"
text = "What a window carries."
network_metrics = ["utilization"]
figures = []
{path}
"""

SCHEME = 'name = "{name}"\ntitle = "{name}"\ncontroller = "cubic"\n[transport]\nmax_window_bytes = {window}\n'


@pytest.fixture
def windows(folder: Path) -> Path:
    """Write an experiment, and schemes with windows of 25 kB (one under two names), of 12 kB, and without one."""
    for name, window in (("whole", 25_000), ("twin", 12_000), ("half", 12_000)):
        (folder / f"{name}.toml").write_text(SCHEME.format(name=name, window=window))
    path = "[path.small]\n" + SMALL.replace("[[data]]", "[[path.small.data]]").replace("[[ack]]", "[[path.small.ack]]")
    for runs in (1, 5):
        text = EXPERIMENT.format(runs=runs, path=path)
        (folder / f"windows{runs}.toml").write_text(text)
    return folder


def test_half_a_window_is_worse_and_the_same_window_is_not_distinguishable(dumbbell: Dumbbell, windows: Path) -> None:
    words = ("--only", "windows", "--experiment", "windows5.toml", "--baselines", "whole.toml,twin.toml", "--out", "b")
    output = dumbbell("benchmark", "--schemes", "half.toml", *words).stdout
    rows = json.loads((windows / "b/verdicts.json").read_text())
    row_of = {(row["baseline"], row["metric"]): row for row in rows}
    assert set(row_of) == {(name, metric) for name in ("whole", "twin") for metric in ("utilization", "owd_p95_ms")}
    worse = row_of["whole", "utilization"]
    assert (worse["better"], worse["worse"], worse["cells"]) == (0, 2, 2)
    assert worse["verdict"] == "worse in 2 of 2"
    for metric in ("utilization", "owd_p95_ms"):
        alike = row_of["twin", metric]
        assert (alike["better"], alike["worse"], alike["alike"], alike["gains"]) == (0, 0, 2, [0.0, 0.0])
        assert alike["verdict"] == "not distinguishable"
    results = library.open(windows / "b/experiments/windows")
    gains = []
    for path in results.experiment.paths:
        used = {
            name: fmean(
                run.statistics["network"]["utilization"]
                for run in results.runs
                if (run.path, run.scheme) == (path, name)
            )
            for name in ("half", "whole")
        }
        gains.append(used["half"] / used["whole"] - 1)
    assert worse["gains"] == pytest.approx(gains)
    lines = [line.split() for line in output.splitlines()]
    assert ["half", "whole", "Steady", "state", "its", "number", "2", "0", "2", "0", "0"] in [
        line[:11] for line in lines
    ]
    assert f"{100 * median(gains):.1f}" in output
    again = dumbbell("benchmark", "--schemes", "half.toml", *words, "--resume", "--json").stdout
    assert json.loads(again)["verdicts"] == rows
    other = dumbbell("benchmark", "--schemes", "half.toml", *words[:4], "--out", "b", "--resume", expect=2).stderr
    assert "it is the full benchmark of half beside whole, twin" in other


def test_a_single_run_gives_no_verdict(dumbbell: Dumbbell, windows: Path) -> None:
    words = ("--only", "windows", "--experiment", "windows1.toml", "--baselines", "whole.toml", "--out", "b")
    dumbbell("benchmark", "--schemes", "half.toml", *words)
    rows = json.loads((windows / "b/verdicts.json").read_text())
    assert [row["verdict"] for row in rows] == ["not known: one run each"] * 2
    assert {(row["better"], row["worse"], row["unknown"]) for row in rows} == {(0, 0, 2)}


@pytest.mark.parametrize(
    ("baselines", "message"),
    [
        (
            "cubik",
            snapshot("dumbbell: unknown scheme `cubik` (did you mean `cubic`?): `dumbbell list schemes` shows all"),
        ),
        ("copa", snapshot("dumbbell: --baselines copa: is under test: name another one")),
        (
            "kernel-cubic",
            snapshot(
                """\
dumbbell: scheme `kernel-cubic` needs real packets: the benchmark takes schemes that can be
  simulated\
"""
            ),
        ),
    ],
)
def test_a_baseline_that_is_none_is_refused(dumbbell: Dumbbell, baselines: str, message: str, tmp_path: Path) -> None:
    result = dumbbell("benchmark", "--schemes", "copa", "--quick", "--baselines", baselines, "--out", "b", expect=2)
    assert transcript(result.stderr, tmp_path) == message
    assert len(result.stderr.splitlines()) == 1
