"""Tests of intervals and ranges behind means, and of differences between two results."""

import json
import math
import random
import statistics
from collections.abc import Callable
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest

from dumbbell.results.analysis.compare import apart_by_chance, compare_runs
from dumbbell.results.analysis.summary import Estimate, Repetitions, repetitions
from support.commands.command import Dumbbell

Draw = Callable[[random.Random], float]


def coverage_percent(draw: Draw, truth: float, count: int) -> float:
    """Return the percentage of 4000 intervals, from samples of `count`, that contain the true mean; error 0.34."""
    generator = random.Random(count)
    hits = []
    for _ in range(4000):
        estimate = Estimate.of([draw(generator) for _ in range(count)])
        assert estimate.low is not None
        assert estimate.high is not None
        hits.append(estimate.bounds == "confidence" and estimate.low <= truth <= estimate.high)
    return 100.0 * fmean(hits)


@pytest.mark.parametrize("count", [5, 10, 30])
def test_an_interval_that_is_printed_contains_the_mean_in_95_of_100_cases(count: int) -> None:
    assert 93.0 < coverage_percent(lambda generator: generator.gauss(50.0, 5.0), 50.0, count) < 97.0
    assert 93.0 < coverage_percent(lambda generator: generator.lognormvariate(0.0, 0.3), math.exp(0.045), count) < 97.0
    assert 92.5 < coverage_percent(lambda generator: generator.lognormvariate(0.0, 1.0), math.exp(0.5), count) < 97.0
    # samples of two points are few, so their coverage has steps: 93.8, 97.9, 95.7
    assert 92.5 < coverage_percent(lambda generator: generator.choice((90.0, 100.0)), 95.0, count) < 98.5


def test_of_few_runs_the_range_is_said_and_no_interval() -> None:
    for count in (2, 3, 4):
        estimate = Estimate.of([float(value) for value in range(count)])
        assert (estimate.low, estimate.high, estimate.bounds) == (0.0, count - 1.0, "range")
    assert Estimate.of([1.0]) == Estimate(1, 1.0)
    assert Estimate.of([2.0] * 7) == Estimate(7, 2.0, 2.0, 2.0, "equal")


def test_brackets_are_intervals_and_parentheses_are_ranges() -> None:
    assert Estimate.of([1.0]).bounds_text(str) == ""
    assert Estimate.of([1.0, 2.0, 4.0]).bounds_text(str) == "(1.0 to 4.0)"
    assert Estimate.of([9.0, 10.0, 11.0, 10.0, 10.0]).bounds_text("{:.1f}".format) == "[9.1, 10.9]"
    assert Estimate.of([3.0, 3.0]).bounds_text(str) == "(equal)"


def side(values: dict[str, list[float]], seeds: bool = True) -> tuple[list[str], list[dict[str, Any]]]:
    """Return runs of schemes on one path, each with its throughput."""
    runs = [
        {
            "path": "p",
            "scheme": scheme,
            "status": "done",
            "seed": number if seeds else None,
            "flows": [],
            "links": [],
            "network": {"throughput_mbps": value},
        }
        for scheme, scheme_values in values.items()
        for number, value in enumerate(scheme_values)
    ]
    return ["p"], runs


def test_runs_with_the_same_seeds_are_compared_in_pairs() -> None:
    first, second = [10.0, 20.0, 30.0, 40.0, 50.0], [11.1, 20.9, 31.0, 41.2, 50.8]
    (row,) = compare_runs(side({"a": first}), side({"a": second}), None)
    # differences 1.1, 0.9, 1, 1.2, 0.8: deviation sqrt(0.025), t of 4 degrees of freedom 2.776
    assert (row["low"], row["high"]) == pytest.approx((0.804, 1.196), abs=1e-3)
    assert (row["paired"], row["verdict"]) == (True, "different")
    backwards = (["p"], list(reversed(side({"a": second})[1])))
    assert compare_runs(side({"a": first}), backwards, None)[0]["p"] == row["p"]
    (row,) = compare_runs(side({"a": first}, seeds=False), side({"a": second}, seeds=False), None)
    assert (row["paired"], row["verdict"]) == (False, "no difference shown")


def test_of_many_comparisons_chance_finds_one_and_that_is_said() -> None:
    generator = random.Random(5)
    schemes = [f"s{index}" for index in range(60)]
    samples = [{name: [generator.gauss(10.0, 1.0) for _ in range(10)] for name in schemes} for _ in range(2)]
    rows = compare_runs(side(samples[0], seeds=False), side(samples[1], seeds=False), None)
    assert sum(row["p"] < 0.05 for row in rows) >= 1
    assert {row["verdict"] for row in rows} == {"no difference shown", "different alone"}


def test_few_runs_are_compared_by_their_ranges() -> None:
    rows = compare_runs(
        side({"far": [1.0, 2.0], "near": [1.0, 2.0], "same": [1.0, 2.0], "one": [1.0]}),
        side({"far": [3.0, 4.0], "near": [1.5, 4.0], "same": [1.0, 2.0], "one": [2.0]}),
        None,
    )
    verdicts = {row["scheme"]: row["verdict"] for row in rows}
    assert verdicts == {"far": "too few runs", "near": "ranges overlap", "same": "equal", "one": "one run only"}
    assert all(row["p"] is None and row["low"] is None and row["would_show"] is None for row in rows)


@pytest.mark.parametrize(("count", "verdict"), [(2, "too few runs"), (3, "too few runs"), (4, "ranges apart")])
def test_ranges_are_called_apart_where_chance_rarely_does_it(count: int, verdict: str) -> None:
    first = [1.0 + 0.1 * index for index in range(count)]
    (row,) = compare_runs(side({"a": first}), side({"a": [value + 5.0 for value in first]}), None)
    assert row["verdict"] == verdict
    generator, apart = random.Random(count), 0
    for _ in range(20_000):
        samples = [[generator.gauss(0.0, 1.0) for _ in range(count)] for _ in range(2)]
        apart += max(samples[0]) < min(samples[1]) or max(samples[1]) < min(samples[0])
    assert apart / 20_000 == pytest.approx(apart_by_chance(count, count), abs=0.01)


@pytest.mark.parametrize("is_paired", [True, False])
def test_what_runs_would_show_is_shown_in_80_of_100_cases(is_paired: bool) -> None:
    generator = random.Random(7)

    def rows(shift: float, count: int) -> list[dict[str, Any]]:
        result_rows = []
        for _ in range(800):
            first, other = ([generator.gauss(100.0, 2.0) for _ in range(count)] for _ in range(2))
            other = [value + shift for value in other]
            result_rows += compare_runs(side({"a": first}, seeds=is_paired), side({"a": other}, seeds=is_paired), None)
        return result_rows

    # A typical sample has the true scatter.
    would_show = statistics.median(row["would_show"] for row in rows(0.0, 12))
    assert 0.75 < fmean(row["p"] < 0.05 for row in rows(would_show, 12)) < 0.88
    takes = round(statistics.median(row["runs_for_effect"] for row in rows(0.0, 12)))
    assert 0.7 < fmean(row["p"] < 0.05 for row in rows(3.0, takes)) < 0.92


def test_identical_runs_are_called_so() -> None:
    (group,) = repetitions(side({"a": [2.0, 2.0, 2.0]})[1]).values()
    assert (group.identical, group.runs_text) == (True, "3, identical")
    (group,) = repetitions(side({"a": [2.0, 2.0, 2.1]})[1]).values()
    assert (group.identical, group.runs_text) == (False, "3")
    assert not Repetitions("p", "a").identical


QUIET = ("run", "--schemes", "reno", "--path", "small.toml", "--duration", "3")


def throughputs(folder: Path, out: str) -> list[float]:
    """Return the throughput of each run."""
    files = sorted((folder / out / "runs").rglob("stats.json"))
    return [json.loads(file.read_text())["network"]["throughput_mbps"] for file in files]


def test_repetitions_on_a_path_without_chance_start_at_different_times(dumbbell: Dumbbell, folder: Path) -> None:
    dumbbell(*QUIET, "--runs", "3", "--out", "several")
    assert len(set(throughputs(folder, "several"))) == 3
    assert "start_spread_ms = 100.0" in (folder / "several/experiment.toml").read_text()
    assert "identical" not in dumbbell("show", "several").stdout
    dumbbell(*QUIET, "--out", "single")
    assert throughputs(folder, "single") == throughputs(folder, "several")[:1]
    dumbbell(*QUIET, "--runs", "3", "--out", "single", "--resume")
    assert throughputs(folder, "single") == throughputs(folder, "several")


def test_without_the_spread_the_table_says_that_the_runs_are_identical(dumbbell: Dumbbell, folder: Path) -> None:
    output = dumbbell(*QUIET, "--runs", "3", "--exact", "--out", "same").stdout
    assert len(set(throughputs(folder, "same"))) == 1
    assert "3, identical" in output
    assert "3, identical" in dumbbell("show", "same").stdout
    dumbbell("report", "same", "--html")
    assert "identical" in (folder / "same/report.html").read_text()


def test_show_says_what_stands_behind_a_mean(dumbbell: Dumbbell) -> None:
    dumbbell(*QUIET, "--runs", "3", "--out", "three")
    assert "In parentheses: the range of the 3 runs" in dumbbell("show", "three").stdout
    dumbbell(*QUIET, "--runs", "5", "--out", "five")
    assert "In brackets: the interval of the mean by Student's t, nominally of 95 %" in dumbbell("show", "five").stdout
    output = dumbbell("diff", "five", "five").stdout
    assert "equal" in output
    assert "different" not in output.splitlines()[1]
