"""A router on the way changes datagrams: they are counted and dropped, and the numbers are those of the rest."""

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
        made = bed.dumbbell("run", *words, expect=None)
    finally:
        router.terminate()
        router.wait(TIMEOUT_S)
    counts = json.loads((folder / "changed.json").read_text())
    (each,) = json.loads(made.stdout)["runs"]
    assert each["status"] in ("done", "degraded"), made.stderr
    file = Path(next(out.glob("runs/*/*/1/stats.json")))
    remote = json.loads(file.read_text())["remote"]
    guards = [remote["channel"], *(flow["guarded"] for flow in remote["flows"])]
    assert sum(guard["moved"] for guard in guards) == 0
    forged = sum(guard["forged"] for guard in guards)
    replayed = sum(guard["replayed"] for guard in guards)
    # greetings before the run are counted by the router alone
    assert 0.5 * sum(counts[how] for how in ("flip", "cut", "longer", "zero", "number")) < forged
    assert 0.5 * counts["repeat"] < replayed
    log = polars.read_parquet(file.with_name("packets.parquet"))
    left, arrived = (log.filter(polars.col("event") == event) for event in (0, 5))
    assert arrived["seq"].n_unique() == len(arrived)
    assert set(arrived["seq"]) <= set(left["seq"])
    sizes = arrived.join(left, on="seq", suffix="_left")
    assert (sizes["size_bytes"] == sizes["size_bytes_left"]).all()
    assert each["flows"][0]["loss_rate"] > 0.3 * share
