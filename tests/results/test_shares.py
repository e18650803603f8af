"""Tests of the shares of schemes in a run: in the terminal, as objects, in the report."""

import json
import re
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import dumbbell as library
from dumbbell.results.analysis.shares import (
    competing,
    competing_heading,
    competing_text,
    counted_text,
    flow_names,
    shares,
)
from dumbbell.results.analysis.summary import Repetitions, repetitions
from support.commands.command import Dumbbell

DELIVER = 5
RUN = ("run", "--mix", "cubic*2+bbr", "--path", "small.toml", "--duration", "4", "--runs", "2", "--out", "out")


def test_flows_are_called_by_their_schemes_where_these_differ() -> None:
    assert flow_names(["cubic", "bbr", "cubic"]) == ["cubic 1", "bbr", "cubic 2"]
    assert flow_names(["cubic", "cubic"]) == ["flow 1", "flow 2"]
    assert flow_names([]) == []


def test_the_shares_of_a_mix_are_those_of_its_packet_logs(dumbbell: Dumbbell, folder: Path) -> None:
    output = dumbbell(*RUN).stdout
    amounts = []
    for run in (1, 2):
        (file,) = (folder / "out/runs/small").glob(f"*/{run}/packets.parquet")
        log = pl.read_parquet(file)
        counted_rows = log.filter((pl.col("event") == DELIVER) & (pl.col("time_ns") >= 4e9 / 6))
        by_flow = counted_rows.group_by("flow").agg(pl.col("data_bytes").sum()).sort("flow")["data_bytes"].to_list()
        amounts.append(by_flow)
    share_of = {share.name: share for share in library.shares(library.open(folder / "out").summary()[0])}
    assert list(share_of) == ["cubic (2 flows)", "cubic 1", "cubic 2", "bbr"]
    for name, flows in {"cubic (2 flows)": (0, 1), "cubic 1": (0,), "cubic 2": (1,), "bbr": (2,)}.items():
        share = sum(sum(run[flow] for flow in flows) / sum(run) for run in amounts) / 2
        estimate = share_of[name].payload_share
        assert estimate is not None
        # a few packets arrive twice, and count once
        assert estimate.mean == pytest.approx(share, abs=0.01)
        assert share_of[name].fair == pytest.approx(len(flows) / 3)
        row = next(line for line in output.splitlines() if re.search(rf" {re.escape(name)}  ", line))
        assert f" {100 * estimate.mean:.1f} (" in row
    assert "Shares" in dumbbell("show", "out").stdout
    dumbbell("report", "out", "--html")
    page = (folder / "out/report.html").read_text()
    assert "Who got what" in page
    assert "TCP Cubic (2 flows)" in page


def test_the_time_of_shares_in_a_long_run_is_said_in_full() -> None:
    """The report rounded the time to three digits: `100 to 1e+03 s`."""
    group = Repetitions("p", "cubic+bbr")
    assert competing_text(group) == ""
    group.networks = [{"competing_from_s": 100.26, "competing_to_s": 1000.0}]
    assert competing_text(group) == "100.3 to 1000 s"
    assert competing_heading([competing_text(group)] * 2) == "100.3 to 1000 s, while all flows compete"
    assert competing_heading([competing_text(group), "1 to 2 s"]) == "while all flows compete"
    assert competing_heading(["", ""]) == ""


def test_flows_compete_in_several_runs_from_the_latest_beginning_to_the_earliest_end() -> None:
    group = Repetitions("p", "cubic+bbr")
    times = [(2.0, 9.0), (3.5, 8.0), (3.0, 8.5)]
    group.networks = [{"competing_from_s": begin, "competing_to_s": end} for begin, end in times]
    assert competing(group) == (3.5, 8.0)
    group.networks[1] = {"competing_from_s": None, "competing_to_s": None}
    assert competing(group) is None, "in one run they never compete"


def test_runs_of_one_flow_have_no_shares(dumbbell: Dumbbell) -> None:
    output = dumbbell("run", "--schemes", "reno", "--path", "small.toml", "--duration", "2").stdout
    assert "Shares" not in output
    assert "\nMeans of all flows, 0.3 to 2 s (corrected)\n" in output


def test_a_late_flow_competes_from_its_start_on(dumbbell: Dumbbell, folder: Path) -> None:
    """Each of two flows' shares covers the time in which both flows are active; the sum is the link's rate."""
    late = ("--schemes", "cubic", "--flows", "2", "--interval", "3", "--path", "small.toml", "--duration", "9")
    output = dumbbell("run", *late, "--warmup", "1", "--out", "out").stdout
    (run,) = library.open(folder / "out").runs
    starts = [flow["start_s"] for flow in run.statistics["flows"]]
    network = run.statistics["network"]
    assert (network["competing_from_s"], network["competing_to_s"]) == (pytest.approx(starts[1]), 9.0)
    log = pl.read_parquet(next(folder.glob("out/runs/small/cubic/1/packets.parquet")))
    counted_rows = log.filter((pl.col("event") == DELIVER) & (pl.col("time_ns") >= round(starts[1] * 1e9)))
    for number, flow in enumerate(run.statistics["flows"], 1):
        flow_rows = counted_rows.filter(pl.col("flow") == number)
        rate = flow_rows["data_bytes"].sum() * 8e-6 / (9.0 - starts[1])
        assert flow["competing_goodput_mbps"] == pytest.approx(rate, rel=0.01)  # what arrives twice counts once
        delay = flow_rows["one_way_delay_ns"].quantile(0.95, interpolation="nearest")
        assert flow["competing_owd_p95_ms"] == pytest.approx(delay / 1e6, abs=0.1)
    assert sum(flow["competing_share"] for flow in run.statistics["flows"]) == pytest.approx(1.0)
    assert (
        sum(flow["competing_goodput_mbps"] for flow in run.statistics["flows"])
        <= run.statistics["links"][0]["capacity_mbps"]
    )
    assert f"Shares, {round(starts[1], 1):g} to 9 s, while all flows compete (corrected)" in output
    assert all(f"flow {number} from {round(start, 1):g} s" in output for number, start in enumerate(starts, 1))


def test_harm_is_what_a_flow_lost_of_what_it_had_alone(dumbbell: Dumbbell, folder: Path) -> None:
    output = dumbbell("run", "--mix", "cubic+bbr", "--schemes", "cubic", *RUN[3:]).stdout
    results = library.open(folder / "out")
    alone = {(group.path, group.scheme): group for group in results.summary()}
    rows = {share.name: share for share in library.shares(alone["small", "cubic+bbr"], alone=alone)}
    had = [run.statistics["flows"][0]["goodput_mbps"] for run in results.runs if run.scheme == "cubic"]
    has = [run.statistics["flows"][0]["competing_goodput_mbps"] for run in results.runs if run.scheme != "cubic"]
    # The first runs of all schemes have the same random draws, and so do the next ones.
    lost_parts = sorted(1 - beside / before for beside, before in zip(has, had, strict=True))
    harms = rows["cubic"].harms
    assert harms is not None
    assert (harms.mean, harms.low, harms.high) == pytest.approx((sum(lost_parts) / 2, *lost_parts))
    assert rows["bbr"].harms is None
    assert f" {100 * harms.mean:.1f} ({100 * lost_parts[0]:.1f} to {100 * lost_parts[1]:.1f})\n" in output


def test_harm_without_runs_that_met_the_same_draws_is_by_the_mean_alone() -> None:
    def run(seed: int | None, scheme: str, *goodputs: float) -> dict[str, Any]:
        flows = [
            {"scheme": name, "payload_share": 0.5, "goodput_mbps": goodput}
            for name, goodput in zip("ab", goodputs, strict=False)
        ]
        fields = {"path": "p", "status": "done", "links": [], "network": {}}
        return fields | {"scheme": scheme, "seed": seed, "flows": flows}

    for seeds in ((1, 2, 3, 4), (None,) * 4):
        alone = [run(seeds[0], "a", 8.0), run(seeds[1], "a", 12.0)]
        beside = [run(seeds[2], "a+b", 4.0, 1.0), run(seeds[3], "a+b", 6.0, 1.0)]
        groups = repetitions([*alone, *beside])
        harms = shares(groups["p", "a+b"], alone=groups)[0].harms
        assert harms is not None
        assert (harms.count, harms.low, harms.high) == (2, pytest.approx(0.4), pytest.approx(0.6))


def test_the_heading_of_totals_has_the_seconds_that_are_counted(dumbbell: Dumbbell, folder: Path) -> None:
    """The totals' seconds differ from those of the shares: not all flows are active from the end of the warm-up on."""
    late = ("--schemes", "cubic", "--flows", "2", "--interval", "3", "--path", "small.toml", "--duration", "9")
    output = dumbbell("run", *late, "--runs", "2", "--warmup", "1", "--out", "out").stdout
    starts = [run.statistics["flows"][1]["start_s"] for run in library.open(folder / "out").runs]
    assert f"Shares, {round(max(starts), 1):g} to 9 s, while all flows compete (corrected)" in output
    assert f"flow 2 from {round(max(starts), 1):g} s" in output
    assert "All flows of a run together, 1 to 9 s (corrected)" in output
    shown_text = dumbbell("show", "out", "--convention", "pantheon").stdout
    assert "All flows of a run together (Pantheon's convention)" in shown_text
    group = Repetitions("p", "cubic")
    assert counted_text(group, 1.0) == ""
    group.flows = [[{"start_s": 1.26, "stop_s": 4.0}], [{"start_s": 0.1, "stop_s": 3.96}]]
    assert counted_text(group, 1.0) == "1.3 to 4 s"
    group.flows[0][0]["stop_s"] = None
    assert counted_text(group, 1.0) == "", "nothing is said that is not known"


def test_shares_are_in_the_order_that_was_given(dumbbell: Dumbbell) -> None:
    """The shares were in the order of the totals, which the table does not show."""
    mixes = ("--mix", "vegas+bbr", "--mix", "cubic+bbr", "--mix", "bbr+reno")
    output = dumbbell("run", *mixes, "--path", "small.toml", "--duration", "3", "--out", "out").stdout
    parts = output.split("\n\n")
    (names,) = (re.findall(r"(?m)^small +(\S+)", part)[::2] for part in parts if part.startswith("Shares"))
    assert names == ["vegas+bbr", "cubic+bbr", "bbr+reno"]
    of_totals = dumbbell("show", "out", "--sort", "owd_p95_ms").stdout.split("\n\n")
    shown_names, totals = (re.findall(r"(?m)^small +(\S+)", part) for part in of_totals[-2:])
    assert shown_names[::2] == totals


def test_flows_that_never_compete_have_their_own_times(dumbbell: Dumbbell, folder: Path) -> None:
    (folder / "turns.toml").write_text(
        'name = "turns"\nschemes = ["reno"]\npaths = ["small.toml"]\nduration_s = 6.0\n'
        "[[flow]]\nstop_s = 2.0\n[[flow]]\nstart_s = 3.0\n"
    )
    output = dumbbell("run", "turns.toml", "--out", "out").stdout
    (run,) = library.open(folder / "out").runs
    assert run.statistics["network"]["competing_from_s"] is None
    assert [flow["competing_share"] for flow in run.statistics["flows"]] == [None, None]
    assert "Shares (corrected)" in output


def test_schemes_whose_flows_come_and_go_have_one_row() -> None:
    def run(number: int, schemes: list[str]) -> dict[str, object]:
        flows = [
            {"scheme": scheme, "payload_share": 1 / len(schemes), "goodput_mbps": 1.0, "owd_p95_ms": 1.0}
            for scheme in schemes
        ]
        fields = {"path": "p", "scheme": "web", "status": "done", "seed": number, "links": [], "network": {}}
        return fields | {"flows": flows}

    (group,) = repetitions([run(1, ["cubic", "reno"]), run(2, ["cubic", "reno", "reno"])]).values()
    rows = {share.name: share for share in shares(group)}
    assert list(rows) == ["cubic (all flows)", "reno (all flows)"]
    reno = rows["reno (all flows)"]
    assert reno.payload_share is not None
    assert (reno.payload_share.mean, reno.fair) == (pytest.approx(7 / 12), pytest.approx(7 / 12))


def test_a_run_tells_the_share_of_each_flow(dumbbell: Dumbbell) -> None:
    (first, _) = json.loads(dumbbell(*RUN, "--json").stdout)["runs"]
    assert sum(flow["payload_share"] for flow in first["flows"]) == pytest.approx(1.0)
