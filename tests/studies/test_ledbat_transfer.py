"""Tests of the LEDBAT transfer benchmark: rows in the format of iperf 2, and the numbers of the repeated test."""

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from support.commands.command import Dumbbell
from support.pages.long_form import LongForm

ROW = re.compile(r"\[ *(\d+|SUM)\] +(\d+\.\d)- ?(\d+\.\d) sec  ([\d. ]{4,}) KBytes  ([\d. ]{4,}) KBytes/sec")


def runs_of(dumbbell: Dumbbell, *interval: str) -> list[dict[str, Any]]:
    """Return the runs in `out` in the form of `show --intervals --json`."""
    runs: list[dict[str, Any]] = json.loads(dumbbell("show", "out", "--json", "--intervals", *interval).stdout)["runs"]
    return runs


def rows_of(run: dict[str, Any], view: str, total: bool) -> list[dict[str, Any]]:
    """Return the rows of one view in `show --intervals --json`."""
    return [row for row in run["transfers"]["rows"] if (row["view"], row["total"]) == (view, total)]


def test_the_module_of_2017_gives_the_rates_of_the_benchmark_that_was_made_with_it(dumbbell: Dumbbell) -> None:
    """31.6 KBytes/s per stream (30.2 in some seconds), 63.2 for two (60.5), since nothing is shared. Far: 5."""
    streams_of = ("--schemes", "ledbat-2017", "--mix", "ledbat-2017*2", "--mix", "ledbat-2017*4")
    dumbbell("run", "ledbat-2017", *streams_of, "--duration", "10", "--out", "out")
    runs = runs_of(dumbbell)
    flows = {"ledbat-2017": 1, "ledbat-2017*2": 2, "ledbat-2017*4": 4}
    assert len(runs) == 2 * len(flows)
    for run in runs:
        count, near = flows[run["scheme"]], run["path"] == "zone"
        for view in ("client", "server"):
            rows = [row for row in rows_of(run, view, total=False) if row["start_s"] > 0]
            streams = [row["kbytes_per_s"] for row in rows if row["flow"] is not None]
            assert len(streams) == 9 * count
            assert sum(streams) / len(streams) == pytest.approx(31.6 if near else 5.0, abs=1.5 if near else 0.5)
            if near:
                # The published rows: 23 or 22 segments of 1,408 bytes, of one stream and of the sum of two.
                assert {round(rate, 1) for rate in streams} == {31.6, 30.2}
                sums = {round(2 * row["kbytes_per_s"] / count, 1) for row in rows if row["flow"] is None}
                assert sums == ({63.2, 60.5} if count > 1 else set())


def test_a_transfer_without_the_defects_is_not_held_at_one_segment(dumbbell: Dumbbell) -> None:
    without = ("--set", "ledbat-2017.quirk_kernel_module=false", "--schemes", "ledbat-2017", "--path", "zone")
    dumbbell("run", "ledbat-2017", *without, "--duration", "4", "--out", "out")
    (run,) = runs_of(dumbbell)
    assert rows_of(run, "server", total=True)[0]["kbytes_per_s"] > 1000


def test_the_rows_are_printed_as_iperf_prints_them(dumbbell: Dumbbell) -> None:
    dumbbell("run", "--mix", "cubic*2", "--path", "small.toml", "--duration", "3.5", "--out", "out")
    text = dumbbell("show", "out", "--intervals").stdout
    client, server = text.split("Server: ")
    assert client.startswith("Client: cubic*2 on small, run 1\n[ ID] Interval       Transfer     Bandwidth\n")
    for part in (client, server):
        rows = [match.groups() for match in map(ROW.fullmatch, part.splitlines()) if match]
        assert [row[0] for row in rows] == ["1", "2", "SUM"] * 5
        times = [("0.0", "1.0"), ("1.0", "2.0"), ("2.0", "3.0"), ("3.0", "3.5"), ("0.0", "3.5")]
        assert [row[1:3] for row in rows[2::3]] == times
        sums = [float(row[3]) for row in rows[2::3]]
        assert sum(sums[:4]) == pytest.approx(sums[4], rel=0.01)
        assert sums[4] == pytest.approx(10e6 / 8 / 1024 * 3.5, rel=0.1)
    halves = [float(match[3]) for match in ROW.findall(dumbbell("show", "out", "--intervals", "0.5").stdout)]
    assert len(halves) == 2 * 3 * 8


def test_both_views_agree_with_the_metrics(dumbbell: Dumbbell) -> None:
    """The server counts the delivered payload; the client is ahead by the bytes in flight at the end, not by losses."""
    dumbbell("run", "--schemes", "reno", "--path", "lossy.toml", "--duration", "4", "--out", "out")
    (run,) = runs_of(dumbbell, "0.25")
    (client,), (server,) = (rows_of(run, view, total=True) for view in ("client", "server"))
    (flow,) = run["flows"]
    assert flow["packets_dropped"] > 0
    assert server["bytes"] == flow["data_bytes_delivered"]
    assert 0 <= client["bytes"] - server["bytes"] <= 1448 * flow["packets_in_flight_at_end"]
    for view, totals in (("client", client), ("server", server)):
        assert sum(row["bytes"] for row in rows_of(run, view, total=False)) == totals["bytes"]


def test_without_packet_log_there_are_no_rows(dumbbell: Dumbbell, once: Dumbbell) -> None:
    once("run", "--schemes", "reno", "--path", "small.toml", "--duration", "1", "--log", "none", "--out", "out")
    assert "reno on small, run 1: no packet log, so no intervals" in dumbbell("show", "out", "--intervals").stdout
    assert runs_of(dumbbell)[0]["transfers"] is None


def test_bad_intervals_are_refused_in_one_line(dumbbell: Dumbbell, once: Dumbbell, folder: Path) -> None:
    once("run", "--schemes", "reno", "--path", "small.toml", "--duration", "1", "--out", "out")
    assert "allowed is 1 ms to 1000000 s" in dumbbell("show", "out", "--intervals", "0", expect=2).stderr
    (folder / "x.toml").write_text('schemes = ["reno"]\npaths = ["small.toml"]\nintervals_s = 0\n')
    assert "x.toml: `intervals_s` = 0" in dumbbell("run", "x.toml", "--out", "never", expect=2).stderr


@pytest.mark.slow
def test_the_shipped_experiment_runs_in_simulation_and_is_reported(dumbbell: Dumbbell, folder: Path) -> None:
    shorter = ("--backend", "sim", "--schemes", "ledbat", "--mix", "ledbat*2", "--duration", "2")
    dumbbell("run", "ledbat-transfer", *shorter, "--out", "out")
    document = tomllib.loads((folder / "out/experiment.toml").read_text())
    assert document["intervals_s"] == 1.0
    assert len(document["paths"]) == 4
    dumbbell("report", "out", "--all-runs")
    form = LongForm.of(folder / "out")
    page = form.text
    assert form.headings.count("Transfers") == 4
    assert page.count("[ ID] Interval       Transfer     Bandwidth") == 4 * 2 * 2  # paths, modes, views
    assert page.count("[SUM]  0.0- 2.0 sec") == 4 * 2
