"""Tests of imports of flent's results: a test by hand, other versions, and damaged files."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from support.commands.command import Dumbbell, show
from support.inputs.flent_results import flent_result

Result = dict[str, Any]


def only_run(dumbbell: Dumbbell, folder: Path, result: Result, name: str = "t.flent.gz") -> dict[str, Any]:
    content = json.dumps(result).encode()
    (folder / name).write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    dumbbell("import", "flent", name, "--out", f"{name}-out")
    (run,) = show(dumbbell, f"{name}-out")["runs"]
    made_run: dict[str, Any] = run
    return made_run


def test_numbers_of_a_result_by_hand(dumbbell: Dumbbell, folder: Path) -> None:
    run = only_run(dumbbell, folder, flent_result())
    assert run["scheme"] == "t"
    upload, download = run["flows"]
    # The receiver's bytes over the time until the last of them precede means and intervals.
    assert (upload["goodput_mbps"], upload["data_bytes_delivered"]) == (pytest.approx(7.92), 1_980_000)
    assert download["goodput_mbps"] == pytest.approx(3.9)
    assert run["network"]["goodput_mbps"] == pytest.approx(7.92 + 3.9, rel=0.03)
    # flent also writes 0 for an unknown value.
    assert (upload["retransmissions"], download["retransmissions"]) == (7, None)
    # 50 ms for a second, 60 ms for 0.8 s
    assert upload["mean_srtt_ms"] == pytest.approx((50 + 0.8 * 60) / 1.8)
    assert upload["mean_cwnd_bytes"] == pytest.approx((20_000 + 0.8 * 30_000) / 1.8)
    assert (download["mean_srtt_ms"], download["mean_cwnd_bytes"], download["loss_rate"]) == (None, None, None)
    assert run["imported"]["started"] == "2023-11-14 22:13:20"
    (ping,) = run["flent"]["pings"]
    assert (ping["count"], ping["mean_ms"]) == (6, 40.0)
    assert any("left out: 1 series" in note for note in run["notes"])
    dumbbell("report", "t.flent.gz-out", "--html")


def test_a_result_without_compression_is_the_same(dumbbell: Dumbbell, folder: Path) -> None:
    plain, packed_flows = (
        only_run(dumbbell, folder, flent_result(), name)["flows"] for name in ("t.flent", "t.flent.gz")
    )
    assert plain == packed_flows


def test_a_result_without_raw_values_is_read_from_its_common_times(dumbbell: Dumbbell, folder: Path) -> None:
    result = flent_result()
    del result["raw_values"], result["metadata"]["SERIES_META"]["TCP upload"]["BYTES_RECVD"]
    run = only_run(dumbbell, folder, result)
    assert [flow["goodput_mbps"] for flow in run["flows"]] == pytest.approx([7.9, 3.9])
    assert run["flows"][0]["mean_srtt_ms"] == pytest.approx((50 + 54 + 60 * 2) / 4, rel=0.1)
    assert run["imported"]["started"] == "2023-11-14 22:13:20"


def test_an_upload_of_which_the_file_has_no_total_has_no_goodput(dumbbell: Dumbbell, folder: Path) -> None:
    result = flent_result()
    result["metadata"]["SERIES_META"] = {}
    run = only_run(dumbbell, folder, result)
    upload, download = run["flows"]
    assert (upload["goodput_mbps"], upload["retransmissions"]) == (None, None)
    assert download["goodput_mbps"] == pytest.approx(4.0)
    assert any("what arrived is not known" in note for note in run["notes"])
    assert any("the window is in segments alone" in note for note in run["notes"])


def with_change(change: Callable[[Result], object]) -> bytes:
    result = flent_result()
    change(result)
    return json.dumps(result).encode()


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"", "bad.flent: is empty"),
        (b"{", "bad.flent:1: not valid JSON"),
        (b"{}", "bad.flent: is no result of flent: needed are the keys metadata, results, x_values"),
        (gzip.compress(b"{}" * 99, mtime=0)[:-9], "bad.flent: "),
        (b"\x1f\x8b\x08junk", "bad.flent: "),
        (b"\xff\xfe{", "bad.flent: is no text in UTF-8 or UTF-16"),
        (with_change(lambda result: result.update(results=[])), "`metadata` and `results` are objects"),
        (
            with_change(lambda result: result.update(results={"HTTP latency": [1.0]}, raw_values={})),
            "has no series of a rate in Mbits/s: nothing to import (series: HTTP latency)",
        ),
        (
            with_change(lambda result: result["raw_values"]["TCP upload"][0].pop("t")),
            "bad.flent: is not what flent writes: 't'",
        ),
        (
            with_change(lambda result: result["raw_values"]["TCP upload"][0].update(val="many")),
            "bad.flent: is not what flent writes: could not convert",
        ),
        (
            with_change(lambda result: result["raw_values"]["TCP upload"][0].update(dur=-1)),
            "bad.flent: is not what flent writes: series 'TCP upload': 8 in -1 s: allowed is 0 and more",
        ),
        (
            with_change(lambda result: result["raw_values"]["TCP upload"][0].update(t=1e300)),
            "allowed are numbers up to 9.0072e+15",
        ),
        (
            with_change(lambda result: result.update(raw_values={}, x_values=[3.0, 2.0, 1.0])),
            "bad.flent: is not what flent writes: `x_values` go back",
        ),
    ],
)
def test_a_bad_result_is_one_line(dumbbell: Dumbbell, folder: Path, content: bytes, complaint: str) -> None:
    (folder / "bad.flent").write_bytes(content)
    result = dumbbell("import", "flent", "bad.flent", "--out", "x", expect=2)
    assert complaint in result.stderr
    assert result.stderr.count("\n") == 1
    assert not (folder / "x").exists()


def test_a_result_that_becomes_gigabytes_is_refused(dumbbell: Dumbbell, folder: Path) -> None:
    part = gzip.compress(b" " * 2**20)
    (folder / "bomb.flent.gz").write_bytes(part * 257)
    result = dumbbell("import", "flent", "bomb.flent.gz", "--out", "x", expect=2)
    assert "become more than 268435456 when they are decompressed" in result.stderr


def test_of_a_directory_what_cannot_be_read_is_a_failed_run(dumbbell: Dumbbell, folder: Path) -> None:
    (folder / "all").mkdir()
    (folder / "all/a.flent").write_text(json.dumps(flent_result()))
    (folder / "all/b.flent").write_text("{}")
    dumbbell("import", "flent", "all", "--out", "out", expect=1)
    assert [run["status"] for run in show(dumbbell, "out", expect=1)["runs"]] == ["done", "failed"]
