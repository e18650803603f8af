"""Tests of one-way delays measured by two clocks: every output shows them with an interval."""

import csv
import io
import json
import re
from pathlib import Path
from typing import Any

import pytest

import dumbbell as package
from dumbbell.base.errors import UserError
from dumbbell.results.analysis.over_time import Spread
from dumbbell.results.analysis.summary import Estimate, repetitions
from dumbbell.results.clocks import Clocks, check_clocks, clocks_of, mean_shift
from support.commands.command import Dumbbell, show
from support.pages.long_form import LongForm

WHY = "The way back is up to 90 ms longer: half of the difference is in every stated delay."
CLOCKS = {
    "uncertainty_ms": [-1.0, 3.0],
    "residual_us": 12.5,
    "offset_ms": 37.012,
    "skew_ppm": -48.2,
    "method": "convex hull",
    "steps": [[3.0, 1.0]],
    "explained": [WHY],
}
RUN = (
    "run",
    "--exact",
    "--schemes",
    "reno,copa",
    "--path",
    "small.toml",
    "--duration",
    "2",
    "--runs",
    "2",
    "--out",
    "out",
)


def test_the_shift_is_that_of_the_direction() -> None:
    clocks = Clocks(-1.0, 3.0, reverse=(2,))
    assert clocks.shift("flow", 1, "owd_p95_ms") == (-1.0, 3.0)
    assert clocks.shift("flow", 1, "acklink.delay_p95_ms") == (-3.0, 1.0), "what one direction gains the other loses"
    assert clocks.shift("flow", 2, "owd_p95_ms") == (-3.0, 1.0), "the data of a reverse flow goes the other way"
    assert clocks.shift("flow", 2, "acklink.delay_p95_ms") == (-1.0, 3.0)
    assert clocks.shift("network", 0, "delay_p95_ms") == (-3.0, 3.0), "of flows in both directions"
    assert Clocks(-1.0, 3.0).shift("network", 0, "delay_p95_ms") == (-1.0, 3.0)
    assert clocks.interval("flow", 1, "media.frame_delay_p95_ms", 50.0) == (49.0, 53.0)
    for metric in ("self_inflicted_delay_p95_ms", "rtt_p95_ms", "throughput_mbps", "mean_srtt_ms", "unknown"):
        assert clocks.shift("flow", 1, metric) is None, metric
    assert clocks.shift("link", 1, "mean_queue_delay_ms") is None


def test_the_interval_of_a_mean_is_the_mean_of_the_intervals() -> None:
    assert mean_shift([(-1.0, 3.0), (-3.0, 1.0)], 2) == (-2.0, 2.0)
    assert mean_shift([(-1.0, 3.0)], 2) == (-0.5, 1.5), "the other run had one clock"
    assert mean_shift([], 2) is None
    estimate = Estimate.of([10.0, 20.0], [(-1.0, 3.0), (-3.0, 1.0)])
    assert estimate.clocks == (13.0, 17.0)
    assert estimate.bounds_text("{:.0f}".format) == "(10 to 20) clocks 13 to 17"
    assert Estimate.of([10.0], [(-1.0, 3.0)]).bounds_text("{:.0f}".format) == "clocks 9 to 13"
    assert Estimate.of([10.0]).bounds_text("{:.0f}".format) == ""
    assert Spread.of([1.0, 2.0, 9.0], [(0.0, 4.0), (1.0, 5.0), (8.0, 12.0)]).clocks == (1.0, 5.0)


def test_runs_of_one_clock_have_no_interval() -> None:
    run = {"path": "p", "scheme": "a", "run": 1, "seed": 1, "status": "done", "links": []}
    run |= {"flows": [{"flow": 1, "owd_p95_ms": 5.0}], "network": {"delay_p95_ms": 5.0}}
    assert clocks_of(run) is None
    group = repetitions([run])["p", "a"]
    assert not group.shifts
    estimate = group.estimate(("network", 0, "delay_p95_ms"))
    assert estimate is not None
    assert estimate.clocks is None
    delay_estimate = repetitions([run, run | {"clocks": CLOCKS}])["p", "a"].estimate(("flow", 1, "owd_p95_ms"))
    assert delay_estimate is not None
    assert delay_estimate.clocks == (4.5, 6.5)


@pytest.mark.parametrize(
    ("wrong", "line"),
    [
        (1, "x: `clocks`: allowed is a table"),
        ({}, "x: `clocks.uncertainty_ms`: allowed is a list of two numbers, the smaller first"),
        ({"uncertainty_ms": [3.0, -1.0]}, "`clocks.uncertainty_ms`"),
        ({"uncertainty_ms": [0.0, None]}, "`clocks.uncertainty_ms`"),
        ({"uncertainty_ms": [0.0, float("inf")]}, "`clocks.uncertainty_ms`"),
        (CLOCKS | {"explained": "why"}, "`clocks.explained`: allowed is a list of texts"),
        (CLOCKS | {"residual_us": "1"}, "`clocks.residual_us`: allowed is a number"),
        (CLOCKS | {"steps": 2}, "`clocks.steps`: allowed is a list"),
        (CLOCKS | {"reverse": ["1"]}, "`clocks.reverse`: allowed is a list of numbers of flows"),
        (CLOCKS | {"method": None}, "`clocks.method`: allowed is a text"),
    ],
)
def test_clocks_that_are_none_are_refused(wrong: object, line: str) -> None:
    with pytest.raises(UserError, match=re.escape(line)):
        check_clocks("x", {"clocks": wrong})


def test_clocks_in_words() -> None:
    clocks = clocks_of({"clocks": CLOCKS})
    assert clocks is not None
    assert clocks.in_words() == (
        "one-way delays are -1.000 to +3.000 ms of what is stated, their differences are exact to 12.5 \u00b5s, "
        "offset 37.012 ms, drift -48.200 ppm, 1 step of a clock (convex hull)"
    )
    assert Clocks(0.0, 0.5).in_words() == "one-way delays are +0.000 to +0.500 ms of what is stated"


def two_clocks(directory: Path, shifts: dict[str, float]) -> None:
    """Turn results into those of two machines, whose clocks are off by the `shifts` of the schemes."""
    for file in directory.rglob("stats.json"):
        content: dict[str, Any] = json.loads(file.read_text())
        for table in (content["network"], *content["flows"]):
            for name, value in table.items():
                if (name == "delay_p95_ms" or name.startswith("owd_")) and value is not None:
                    table[name] = value + shifts[content["scheme"]]
        file.write_text(json.dumps(content | {"clocks": CLOCKS}))


@pytest.fixture
def remote(once: Dumbbell, folder: Path) -> Path:
    """Return results of two machines in which Copa's delays are below zero."""
    once(*RUN)
    two_clocks(folder / "out", {"reno": 0.0, "copa": -60.0})
    return folder / "out"


def test_show_has_the_interval_beside_every_one_way_delay(dumbbell: Dumbbell, remote: Path) -> None:
    runs = show(dumbbell, "out")["runs"]
    assert runs[0]["clocks"] == CLOCKS, "as it is"
    delay = sum(run["network"]["owd_p95_ms"] for run in runs if run["scheme"] == "reno") / 2
    output = dumbbell("show", "out").stdout
    assert f"{delay:.1f} (equal) clocks {delay - 1:.1f} to {delay + 3:.1f}" in output
    assert "Clocks: where the true one-way delay lies, as far as the clocks of both ends can tell." in output
    metrics = dumbbell("show", "out", "--metrics", "owd_p95_ms,self_inflicted_delay_p95_ms,rtt_p95_ms").stdout
    reno = next(line for line in metrics.splitlines() if " reno " in line and "flow 1" in line)
    assert reno.count("clocks") == 1, "differences and round trips are of one clock"
    (row, _) = csv.DictReader(io.StringIO(dumbbell("show", "out", "--csv").stdout))
    assert float(row["owd_p95_ms_clocks_low"]) == pytest.approx(delay - 1)
    assert float(row["owd_p95_ms_clocks_high"]) == pytest.approx(delay + 3)
    assert not [name for name in row if "clocks" in name and "owd" not in name]
    printed_text = dumbbell("diff", "out", "out").stdout
    assert re.search(rf"owd_p95_ms +{delay:.4f} clocks {delay - 1:.4f} to {delay + 3:.4f}", printed_text)


def test_results_of_one_clock_look_as_ever(dumbbell: Dumbbell, once: Dumbbell, folder: Path) -> None:
    once(*RUN)
    outputs = [dumbbell("show", "out", *words).stdout for words in ((), ("--csv",), ("--metrics", "owd_p95_ms"))]
    assert "clocks" not in " ".join(outputs).casefold()
    form = LongForm.of(folder / "out")
    assert "clocks " not in form.text.replace("".join(record["text"] for record in form.data["records"]), "")


def test_no_table_of_a_report_has_a_bare_one_way_delay_and_those_below_zero_are_explained(remote: Path) -> None:
    package.open(remote).write_report(all_runs=True)
    form = LongForm.of(remote)
    page = form.text
    results = package.open(remote)
    cells = {cell.replace("\u2060", "") for row in form.rows for cell in row}
    for run in results.runs:
        (flow,) = run.statistics["flows"]
        for name in ("owd_min_ms", "owd_mean_ms", "owd_p50_ms", "owd_p95_ms", "owd_p99_ms"):
            value = flow[name]
            cell = f"{value:.2f}|clocks {value - 1:.2f} to {value + 3:.2f}"
            assert cell in cells, f"{run.label}: {name}"
    statistics = re.findall(r"per-packet one-way delay: (-?[\d.]+) ms\n    clocks (-?[\d.]+) to (-?[\d.]+) ms", page)
    assert len(statistics) == page.count("per-packet one-way delay:") == 8
    for value, low, high in statistics:
        assert float(low) == pytest.approx(float(value) - 1, abs=2e-3)
        assert float(high) == pytest.approx(float(value) + 3, abs=2e-3)
    assert "the true ones lie -1.00 to +3.00 ms from there" in page
    assert page.count("their differences are exact to 12.5") == 4

    notes = re.findall(r"One-way delays below zero \(the smallest is (-[\d.]+) ms\): ([^\n]*)", page)
    least = [run.statistics["flows"][0]["owd_min_ms"] for run in package.open(remote).runs if run.scheme == "copa"]
    assert notes == [(f"{value:.3f}", WHY) for value in least], "those of Copa alone are"
    for file in remote.rglob("copa/*/stats.json"):
        content = json.loads(file.read_text())
        file.write_text(json.dumps(content | {"clocks": {"uncertainty_ms": [0.0, 1.0]}}))
    assert LongForm.of(remote).text.count("ms): nothing was recorded that would explain them.") == 2


def test_damaged_clocks_are_named(dumbbell: Dumbbell, remote: Path) -> None:
    file = remote / "runs/small/reno/1/stats.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"clocks": {"uncertainty_ms": [1]}}))
    output = dumbbell("show", "out", expect=1).stdout
    message = "damaged: reno on small, run 1: stats.json: `clocks.uncertainty_ms`: allowed is a list of two numbers"
    assert message in output


def test_numbers_of_figures_have_the_interval(dumbbell: Dumbbell, remote: Path) -> None:
    for kind in ("means", "runs"):
        dumbbell("figure", "out", kind, "--out", f"{kind}.svg")
        with (remote.parent / f"{kind}.csv").open() as stream:
            row = next(csv.DictReader(stream))
        delay = float(row["owd_p95_ms"])
        assert float(row["owd_p95_ms_clocks_low"]) == pytest.approx(delay - 1)
        assert float(row["owd_p95_ms_clocks_high"]) == pytest.approx(delay + 3)
    dumbbell("figure", "out", "delay", "--scheme", "reno", "--out", "delay.svg")
    assert ", clocks " in "".join((remote.parent / "delay.svg").read_text())
