"""Who got what in runs of several schemes: in the terminal, as objects, in the report."""

import json
import re
from pathlib import Path

import polars as pl
import pytest

import dumbbell as library
from conftest import Dumbbell
from dumbbell.results.analysis.shares import flow_names, shares
from dumbbell.results.analysis.summary import repetitions

DELIVER = 5
RUN = ("run", "--mix", "cubic*2+bbr", "--path", "small.toml", "--duration", "4", "--runs", "2", "--out", "out")


def test_flows_are_called_by_their_schemes_where_these_differ() -> None:
    assert flow_names(["cubic", "bbr", "cubic"]) == ["cubic 1", "bbr", "cubic 2"]
    assert flow_names(["cubic", "cubic"]) == ["flow 1", "flow 2"]
    assert flow_names([]) == []


def test_the_shares_of_a_mix_are_those_of_its_packet_logs(dumbbell: Dumbbell, folder: Path) -> None:
    printed = dumbbell(*RUN).stdout
    amounts = []
    for run in (1, 2):
        (file,) = (folder / "out/runs/small").glob(f"*/{run}/packets.parquet")
        log = pl.read_parquet(file)
        counted = log.filter((pl.col("event") == DELIVER) & (pl.col("time_ns") >= 4e9 / 6))
        by_flow = counted.group_by("flow").agg(pl.col("data_bytes").sum()).sort("flow")["data_bytes"].to_list()
        amounts.append(by_flow)
    found = {share.name: share for share in library.shares(library.open(folder / "out").summary()[0])}
    assert list(found) == ["cubic (2 flows)", "cubic 1", "cubic 2", "bbr"]
    for name, flows in {"cubic (2 flows)": (0, 1), "cubic 1": (0,), "cubic 2": (1,), "bbr": (2,)}.items():
        share = sum(sum(run[flow] for flow in flows) / sum(run) for run in amounts) / 2
        estimate = found[name].payload_share
        assert estimate is not None
        # a few packets arrive twice, and count once
        assert estimate.mean == pytest.approx(share, abs=0.01)
        assert found[name].fair == pytest.approx(len(flows) / 3)
        row = next(line for line in printed.splitlines() if re.search(rf" {re.escape(name)}  ", line))
        assert f" {100 * estimate.mean:.1f} (" in row
    assert "Shares" in dumbbell("show", "out").stdout
    dumbbell("report", "out", "--html")
    page = (folder / "out/report.html").read_text()
    assert "Who got what" in page
    assert "TCP Cubic (2 flows)" in page


def test_runs_of_one_scheme_have_no_shares(dumbbell: Dumbbell) -> None:
    printed = dumbbell("run", "--schemes", "reno", "--flows", "2", "--path", "small.toml", "--duration", "2").stdout
    assert "Shares" not in printed


def test_schemes_whose_flows_come_and_go_have_one_row() -> None:
    def run(number: int, schemes: list[str]) -> dict[str, object]:
        flows = [
            {"scheme": scheme, "payload_share": 1 / len(schemes), "goodput_mbps": 1.0, "delay_p95_ms": 1.0}
            for scheme in schemes
        ]
        same = {"path": "p", "scheme": "web", "status": "done", "seed": number, "links": [], "network": {}}
        return same | {"flows": flows}

    (group,) = repetitions([run(1, ["cubic", "reno"]), run(2, ["cubic", "reno", "reno"])]).values()
    rows = {share.name: share for share in shares(group)}
    assert list(rows) == ["cubic (all flows)", "reno (all flows)"]
    reno = rows["reno (all flows)"]
    assert reno.payload_share is not None
    assert (reno.payload_share.mean, reno.fair) == (pytest.approx(7 / 12), pytest.approx(7 / 12))


def test_a_run_tells_the_share_of_each_flow(dumbbell: Dumbbell) -> None:
    (first, _) = json.loads(dumbbell(*RUN, "--json").stdout)["runs"]
    assert sum(flow["payload_share"] for flow in first["flows"]) == pytest.approx(1.0)
