"""Tests with a router that changes datagrams: dumbbell counts and drops them; its numbers are those of the others."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import polars
import pytest

from . import tampering_router
from .bed import TIMEOUT_S, Bed, eventually, path_text

pytestmark = pytest.mark.real


@pytest.mark.parametrize("scheme", ["copa", pytest.param("kernel-cubic", marks=pytest.mark.slow)])
@pytest.mark.parametrize("share", [0.2, pytest.param(0.6, marks=pytest.mark.slow)])
def test_what_a_router_changes_is_dropped_and_changes_no_number(
    make_bed: Callable[..., Bed], scheme: str, share: float
) -> None:
    bed = make_bed(path_text(4.0))
    folder = bed.folder / "tampering"
    folder.mkdir()
    bed.in_router("near", "nft", "add rule ip filter forward meta l4proto udp drop")
    enter = ["nsenter", "-t", str(bed._routers["left"]), "-n", "--"]
    router = subprocess.Popen([*enter, sys.executable, tampering_router.__file__, str(folder), str(share), "1"])
    try:
        assert eventually((folder / "ready").exists)
        out = bed.new_results()
        words = ("--backend", f"remote:{bed.host}", "--schemes", scheme, "--duration", 8, "--out", out, "--json")
        result = bed.dumbbell("run", *words, expect=None)
    finally:
        router.terminate()
        router.wait(TIMEOUT_S)
    counts = json.loads((folder / "changed.json").read_text())
    (run,) = json.loads(result.stdout)["runs"]
    assert run["status"] in ("done", "degraded"), result.stderr
    file = Path(next(out.glob("runs/*/*/1/stats.json")))
    remote = json.loads(file.read_text())["remote"]
    guards = [remote["channel"], *(flow["guarded"] for flow in remote["flows"])]
    assert sum(guard["moved"] for guard in guards) == 0
    forged_count = sum(guard["forged"] for guard in guards)
    replayed_count = sum(guard["replayed"] for guard in guards)
    # Only the router counts the greetings before the run.
    assert 0.5 * sum(counts[change] for change in ("flip", "cut", "longer", "zero", "number")) < forged_count
    assert 0.5 * counts["repeat"] < replayed_count
    log = polars.read_parquet(file.with_name("packets.parquet"))
    left, arrivals = (log.filter(polars.col("event") == event) for event in (0, 5))
    assert arrivals["seq"].n_unique() == len(arrivals)
    assert set(arrivals["seq"]) <= set(left["seq"])
    sizes = arrivals.join(left, on="seq", suffix="_left")
    assert (sizes["size_bytes"] == sizes["size_bytes_left"]).all()
    assert run["flows"][0]["loss_rate"] > 0.3 * share
