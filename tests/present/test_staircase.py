"""Tests of flows that join one by one and leave again: axis, Jain's index, figures, and many experiments together."""

import json
import statistics
from itertools import pairwise
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import dumbbell as package
from dumbbell.results.analysis.jain import is_staircase
from support.commands.command import Dumbbell
from support.inputs.pantheon_folder import METADATA, STATS
from support.pages.long_form import LongForm
from support.pages.read_tables import csv_rows

EXPERIMENT = """
name = "steps"
schemes = ["reno"]
paths = ["small"]
duration_s = 4.0
warmup_s = 0.0

[grid]
staircase = [{ label = "short", flows = 4, apart_s = 0.5, schedule = "symmetric" }]

[path.small]

[[path.small.data]]
kind = "link"
rate_mbps = 12.0
queue = { kind = "droptail", packets = 20 }

[[path.small.data]]
kind = "delay"
delay_ms = 10.0

[[path.small.ack]]
kind = "delay"
delay_ms = 10.0
"""


@pytest.fixture
def steps(once: Dumbbell, folder: Path) -> Path:
    """Return a folder with the results of one scheme (`alone`), and of two schemes (`both`)."""
    (folder / "steps.toml").write_text(EXPERIMENT)
    once("run", "steps.toml", "--out", "alone")
    once("run", "steps.toml", "--schemes", "copa,reno", "--set", "jain_window_s=0.2", "--out", "both")
    return folder


def times(flows: list[dict[str, Any]]) -> list[tuple[float, float]]:
    return [(flow["start_s"], flow["stop_s"]) for flow in flows]


@pytest.mark.parametrize(
    ("schedule", "lasts_s"),
    # The flows last 2 x 0.4 (4 - i), or 2 x 0.4 (3 - i) + 1 s, for 4 flows 0.4 s apart.
    [("symmetric", [3.2, 2.4, 1.6, 0.8]), ("original", [3.4, 2.6, 1.8, 1.0])],
)
def test_schedules_say_how_long_flows_last(
    dumbbell: Dumbbell, folder: Path, schedule: str, lasts_s: list[float]
) -> None:
    (folder / "steps.toml").write_text(
        EXPERIMENT.replace("symmetric", schedule).replace("apart_s = 0.5", "apart_s = 0.4")
    )
    dumbbell("run", "steps.toml", "--exact", "--set", "log=none", "--out", "out")
    flow_times = times(package.open(folder / "out").runs[0].specification["flows"])
    assert [start_s for start_s, _ in flow_times] == pytest.approx([0.0, 0.4, 0.8, 1.2])
    assert [stop_s - start_s for start_s, stop_s in flow_times] == pytest.approx(lasts_s)


def test_the_listed_experiments_have_the_published_schedules(dumbbell: Dumbbell, folder: Path) -> None:
    for name, apart_s, last_s in (("copa-fairness", 1.0, 2.0), ("copa-fairness-original", 1.0, 1.0)):
        dumbbell("run", name, "--schemes", "reno", "--runs", "1", "--exact", "--set", "log=none", "--out", name)
        flow_times = times(package.open(folder / name).runs[0].specification["flows"])
        assert [start_s for start_s, _ in flow_times] == [number * apart_s for number in range(10)]
        assert [stop_s - start_s for start_s, stop_s in flow_times] == [
            2.0 * (9 - number) + last_s for number in range(10)
        ]


def test_a_staircase_that_cannot_be_is_refused_in_one_line(dumbbell: Dumbbell, folder: Path) -> None:
    for was, now, message in (
        ("flows = 4", "flows = 0", "`grid.staircase.flows` = 0: allowed is "),
        ("symmetric", "spiral", '`grid.staircase.schedule` = "spiral": allowed is '),
        ("staircase = [", "k = [2]\nstaircase = [", "only one flow under test to begin with, not 2"),
    ):
        (folder / "steps.toml").write_text(EXPERIMENT.replace(was, now))
        result = dumbbell("run", "steps.toml", "--out", "out", expect=2)
        assert message in result.stderr
        assert len(result.stderr.splitlines()) == 1


def test_a_staircase_is_flows_of_which_the_last_that_came_leaves_first() -> None:
    def flows(*start_stop_times: tuple[float, float]) -> list[dict[str, Any]]:
        return [{"start_s": start_s, "stop_s": stop_s} for start_s, stop_s in start_stop_times]

    assert is_staircase(flows((0, 6), (1, 5), (2, 4)))
    assert not is_staircase(flows((0, 6), (1, 5)))
    assert not is_staircase(flows((0, 6), (1, 6), (2, 6)))
    assert not is_staircase([*flows((0, 6), (1, 5), (2, 4)), {"start_s": None, "stop_s": None}])


def by_hand(run: package.RunResults, window_ns: int) -> list[float]:
    """Return the published analysis of the packet log: windows that begin with a delivery, and flows with arrivals."""
    log = pl.DataFrame(run.packets()).filter(pl.col("event") == "deliver")
    windows: list[dict[int, int]] = []
    begin = None
    for time_ns, flow, size in log.select("time_ns", "flow", "size_bytes").iter_rows():
        if begin is None or time_ns >= begin + window_ns:
            begin = time_ns
            windows.append({})
        windows[-1][flow] = windows[-1].get(flow, 0) + size
    closed_windows = [list(window.values()) for window in windows[:-1]]
    kept_windows = [now for before, now in pairwise(closed_windows) if len(before) == len(now)]
    return [sum(now) ** 2 / (len(now) * sum(amount**2 for amount in now)) for now in kept_windows]


def test_jains_index_is_that_of_the_packet_log_and_figures_show_it(dumbbell: Dumbbell, steps: Path) -> None:
    for out, window_s in (("alone", 0.1), ("both", 0.2)):
        run = package.open(steps / out).run(scheme="reno")
        expected = by_hand(run, round(window_s * 1e9))
        assert len(expected) > 8
        network = run.statistics["network"]
        assert network["jain_window_s"] == window_s
        assert network["jain_seen_p50"] == pytest.approx(statistics.median(expected))
        dumbbell("figure", out, "jain", "--scheme", "reno")
        rows = csv_rows(steps / "jain.csv")
        assert [float(row["value"]) for row in rows if row["field"] == "seen_in_bucket"] == pytest.approx(expected)
        of_scheduled = [float(row["value"]) for row in rows if row["field"] == "scheduled_active"]
        assert network["jain_active_p50"] == pytest.approx(statistics.median(of_scheduled))
        assert len(of_scheduled) > len(expected)


def test_another_scheme_changes_no_schemes_indices(dumbbell: Dumbbell, steps: Path) -> None:
    """The published script never emptied its list between schemes, so that later medians included earlier schemes."""
    dumbbell("run", "steps.toml", "--set", "jain_window_s=0.2", "--out", "again")
    medians = [package.open(steps / out).run(scheme="reno").statistics["network"] for out in ("again", "both")]
    assert medians[0]["jain_seen_p50"] == medians[1]["jain_seen_p50"]
    drawn_rows = []
    for out in ("again", "both"):
        dumbbell("figure", out, "jain-cdf", "--out", f"{out}.svg")
        drawn_rows.append([row for row in csv_rows(steps / f"{out}.csv") if row["scheme"] == "reno"])
    assert drawn_rows[0] == drawn_rows[1]
    assert {row["scheme"] for row in csv_rows(steps / "both.csv")} == {"copa", "reno"}
    parts = [float(row["part"]) for row in drawn_rows[0]]
    assert parts == sorted(parts)
    assert parts[-1] == 1.0


def test_the_staircase_shows_flows_while_they_are_active(dumbbell: Dumbbell, steps: Path) -> None:
    dumbbell("figure", "alone", "staircase")
    rows = csv_rows(steps / "staircase.csv")
    for number, (start_s, stop_s) in enumerate(times(package.open(steps / "alone").runs[0].statistics["flows"]), 1):
        shown_times = [float(row["time_s"]) for row in rows if row["of"] == f"flow {number}"]
        assert start_s + 0.1 <= min(shown_times) < start_s + 0.35
        assert stop_s - 0.25 < max(shown_times) <= stop_s + 1e-6


def test_reports_of_staircases_have_their_figures_and_others_have_not(dumbbell: Dumbbell, steps: Path) -> None:
    dumbbell("report", "both", "--all-runs")
    text = LongForm.of(steps / "both").text
    headings = ("Jain's index over time", "Throughput of each flow, and their mean", "distribution of Jain's index")
    assert all(words in text for words in headings)
    assert (steps / "both/report.pdf").read_bytes().startswith(b"%PDF-")
    dumbbell("run", "--schemes", "reno", "--rate", "12mbit", "--rtt", "20ms", "--duration", "2", "--out", "one")
    text = LongForm.of(steps / "one").text
    assert not any(words in text for words in headings)


def pantheon(source: Path, runs: dict[str, list[list[tuple[float, float]]]]) -> None:
    """Write a Pantheon data directory: for each run of a scheme the flows' Mbit/s and mean delay above 20 ms."""
    source.mkdir()
    count = max(map(len, runs.values()))
    metadata = METADATA | {"cc_schemes": list(runs), "flows": 1, "run_times": count, "runtime": 1}
    (source / "pantheon_metadata.json").write_text(json.dumps(metadata))
    for scheme, run in runs.items():
        for number, flows in enumerate(run, 1):
            events = []
            for flow, (mbps, above_ms) in enumerate(flows, 1):
                # Two packets one second apart carry the rate; two packets with more than 20 ms of delay make its mean.
                half = round(mbps * 1e6 / 8 / 2)
                for at_ms, delay_ms in ((20.0, 20.0), (1020.0, 20.0 + 2 * above_ms)):
                    events += [(at_ms, f"{at_ms:.3f} - {half} {delay_ms:.3f} {flow}")]
                    events += [(at_ms - delay_ms, f"{at_ms - delay_ms:.3f} + {half} {flow}")]
            lines = ["# init timestamp: 1514764800123.000", *(line for _, line in sorted(events)), ""]
            (source / f"{scheme}_datalink_run{number}.log").write_text("\n".join(lines))
            (source / f"{scheme}_stats_run{number}.log").write_text(STATS)


def test_imported_experiments_are_normalised_together(dumbbell: Dumbbell, folder: Path) -> None:
    pantheon(folder / "wired", {"copa": [[(60.0, 4.0)], [(80.0, 6.0)]], "bbr": [[(100.0, 20.0)], [(130.0, 40.0)]]})
    pantheon(folder / "ppp0", {"bbr": [[(10.0, 100.0)]]})
    for name in ("wired", "ppp0"):
        dumbbell("import", "pantheon", name, "--out", f"r-{name}")
    rows_of = {}
    for legacy in ((), ("--legacy",)):
        dumbbell("figure", "r-wired", "normalised", "--beside", "r-ppp0", *legacy)
        rows_of[legacy] = {row["scheme"]: row for row in csv_rows(folder / "normalised.csv")}
        assert "BBR" in (folder / "normalised.svg").read_text()
    legacy_rows = rows_of[()]
    # 130 Mbit/s is left out; the ratios are 60 and 80 of 100, 100 of 100 and 10 of 10.
    assert float(legacy_rows["copa"]["throughput"]) == pytest.approx(0.7, abs=1e-3)
    assert float(legacy_rows["bbr"]["throughput"]) == pytest.approx(1.0)
    assert float(legacy_rows["copa"]["queueing_delay_ms"]) == pytest.approx(5.0, abs=1e-3)
    assert float(legacy_rows["bbr"]["queueing_delay_ms"]) == pytest.approx((20 + 100) / 2, abs=1e-3)
    assert (legacy_rows["bbr"]["flows"], legacy_rows["bbr"]["experiments"], legacy_rows["copa"]["experiments"]) == (
        "2",
        "2",
        "1",
    )
    # As published: copa's delays are divided by both experiments, although it is in one only.
    assert float(rows_of["--legacy",]["copa"]["queueing_delay_ms"]) == pytest.approx(2.5, abs=1e-3)
    assert rows_of["--legacy",]["copa"]["throughput"] == legacy_rows["copa"]["throughput"]
    result = dumbbell("figure", "r-wired", "means", "--beside", "r-ppp0", expect=2)
    assert "figure `means`: takes no `beside`: it is for normalised" in result.stderr


@pytest.mark.slow
def test_what_docs_say_explains_the_differences_does(dumbbell: Dumbbell, folder: Path) -> None:
    """docs/evidence/papers/copa-fairness.md: super-packets for CUBIC and BBR, a noisy host and the start for PCC."""
    dumbbell("run", "copa-fairness-causes", "--set", "log=none", "--out", "out")
    indices: dict[tuple[str, str], list[float]] = {}
    for run in package.open(folder / "out").runs:
        key = (run.path.partition(".")[0], run.scheme)
        indices.setdefault(key, []).append(run.statistics["network"]["jain_seen_p50"])
    mean = {key: statistics.mean(values) for key, values in indices.items()}
    assert mean["super-packets", "bbr"] < mean["mininet-46", "bbr"] - 0.03
    assert mean["super-packets", "cubic"] < mean["mininet-46", "cubic"] - 0.03
    assert mean["noisy-host", "pcc"] > mean["mininet-46", "pcc"] + 0.1
    assert mean["mininet-46", "pcc-starts-high"] > mean["mininet-46", "pcc"] + 0.3
