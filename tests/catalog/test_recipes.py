"""Tests of the recipes of docs/reference/paths.md."""

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from dumbbell import _core
from dumbbell.catalog.experiment_file import parse_experiment_file
from dumbbell.catalog.path import parse_path
from dumbbell.catalog.toml_tables import TomlTable
from dumbbell.execution.check import check
from dumbbell.experiment import resolve
from support.pages.blocks import ROOT, texts

PAGE = ROOT / "docs" / "reference" / "paths.md"
RECIPES = {
    table["name"]: table for table in map(tomllib.loads, texts(PAGE, "toml")) if {"name", "data"} <= table.keys()
}


def simulate(name: str, folder: Path | None = None, scheme: str = "reno", **application: Any) -> dict[str, Any]:  # noqa: ANN401
    """Return the statistics of one flow over the recipe, for 10 s."""
    path = parse_path(TomlTable(RECIPES[name], "paths.md"))
    flow = {"scheme": scheme, "controller": scheme, "application": application or {"kind": "greedy"}}
    if scheme == "prague":
        flow["transport"] = {"profile": "tcp", "ecn": "ect1"}
    run = {"seed": 1, "duration_s": 10.0, "path": path.spec(), "flows": [flow], "log": "none"}
    stats: dict[str, Any] = json.loads(_core.simulate(json.dumps(run), folder and str(folder)))
    return stats


def steady(name: str) -> dict[str, Any]:
    """Return the statistics of a flow that sends 200 packets per second, whatever happens to them."""
    flow: dict[str, Any] = simulate(name, None, "sourdough", kind="constant", rate_mbps=2.4)["flows"][0]
    return flow


def test_all_are_known() -> None:
    assert RECIPES.keys() >= {"office", "random-loss", "ack-loss", "blackout", "route-change", "reordering", "jitter"}
    assert RECIPES.keys() >= {"ack-bursts", "geostationary", "walking", "l4s"}
    assert RECIPES.keys() >= {"bleaching", "black-hole", "smaller-mtu", "wifi", "ack-filter", "ack-thinning"}


@pytest.mark.parametrize("name", RECIPES)
def test_they_run(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "5g.trace").write_text("".join(f"{ms}\n" for ms in range(1, 1001)))
    monkeypatch.chdir(tmp_path)  # where the reader has the trace that a recipe names
    assert simulate(name)["flows"][0]["goodput_mbps"] > 0.01


def test_random_loss_loses_its_share() -> None:
    flow = steady("random-loss")
    assert flow["packets_sent"] > 2000
    assert flow["packets_dropped"] / flow["packets_sent"] == pytest.approx(0.3, abs=0.04)


def test_lost_acks_cost_little() -> None:
    stats = simulate("ack-loss")
    assert stats["flows"][0]["packets_dropped"] < stats["flows"][0]["packets_sent"] / 50
    assert stats["flows"][0]["goodput_mbps"] > 5.0


def test_a_blackout_lasts() -> None:
    link = simulate("blackout")["links"][0]
    assert link["capacity_mbps"] == pytest.approx(8.0, abs=0.01)


def test_delays_are_those_of_the_recipe() -> None:
    # 1.2 ms of serialization at most
    route, jitter, reordering = steady("route-change"), steady("jitter"), steady("reordering")
    assert (route["owd_min_ms"], route["owd_p99_ms"]) == (pytest.approx(21, abs=1), pytest.approx(61, abs=1))
    assert jitter["owd_min_ms"] == pytest.approx(21, abs=1)
    assert jitter["owd_p99_ms"] == pytest.approx(31, abs=1)
    assert (reordering["owd_p95_ms"], reordering["owd_p99_ms"]) == (21.2, pytest.approx(31.2))
    assert steady("geostationary")["owd_min_ms"] == pytest.approx(300, abs=1)


def test_a_dual_queue_marks_what_is_l4s() -> None:
    stats = simulate("l4s", None, "prague")
    assert stats["flows"][0]["packets_marked"] > 0
    assert stats["links"][0]["packets_dropped"] == 0


def test_bleaching_ends_the_marks() -> None:
    link = simulate("bleaching", None, "prague")["links"][0]
    assert link["packets_marked"] > 0
    assert link["packets_dropped"] > 0


def test_a_black_hole_lasts() -> None:
    # nothing of 1500 bytes arrives in the second half
    assert simulate("black-hole")["flows"][0]["goodput_mbps"] < 10.0 * 1448 / 1500 * 0.55


def test_a_smaller_mtu_makes_fragments() -> None:
    link = simulate("smaller-mtu", None, "sourdough", kind="constant", rate_mbps=2.4)["links"][0]
    # 207 packets a second, and from 5 s on two fragments of each
    assert link["packets_out"] == pytest.approx(10 * 207 * 1.5, rel=0.03)


def test_turns_divide_the_air() -> None:
    # A turn carries 16 packets and at most 16 ACKs, of which there are 8: two turns of 150 us, (16 * 1500 + 8 * 52)
    # bytes at 60 Mbit/s.
    bound_mbps = 16 * 1448 * 8 / (300 + (16 * 1500 + 8 * 52) * 8 / 60)
    assert bound_mbps * 0.85 < simulate("wifi")["flows"][0]["goodput_mbps"] < bound_mbps * 1.01


def test_acks_are_filtered_and_thinned() -> None:
    filtered_run, thinned_run = simulate("ack-filter"), simulate("ack-thinning")
    # 100 kbit/s of 52 bytes, and some that report holes and are longer
    assert filtered_run["links"][1]["packets_out"] <= 10 * 100e3 / (52 * 8)
    assert filtered_run["links"][1]["packets_dropped"] > 1000
    assert filtered_run["flows"][0]["goodput_mbps"] > 15.0
    assert thinned_run["flows"][0]["goodput_mbps"] > 15.0


def test_the_parking_lot_runs_as_written(tmp_path: Path) -> None:
    table = next(table for table in map(tomllib.loads, texts(PAGE, "toml")) if table.get("name") == "two-hops")
    experiment = resolve(parse_experiment_file(TomlTable(table, "paths.md")))
    check(experiment)
    again = parse_experiment_file(TomlTable(experiment.table(), "again.toml"))
    assert [(flow.enter, flow.leave) for flow in again.flow] == [(None, None), ("hop-1", "hop-1"), ("hop-2", "hop-2")]
    run = experiment.all_runs()[0]
    flows = json.loads(_core.simulate(json.dumps(experiment.specification(run))))["flows"]
    for cross in flows[1:]:
        # Each hop is full, and carries 10 Mbit/s of packets.
        assert 8.5 < flows[0]["goodput_mbps"] + cross["goodput_mbps"] < 10.0 * 1448 / 1500 + 0.05
