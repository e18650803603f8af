"""Tests of imported qlogs of a real QUIC stack (aioquic), against the files read as JSON."""

import json
from collections import Counter
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import polars
import pytest

from support.commands.command import Dumbbell, show
from support.pages.long_form import LongForm

pytest.importorskip(
    "aioquic", reason="a real QUIC stack writes the qlogs: aioquic is not installed: `make test` does it"
)

from aioquic.quic.logger import QuicFileLogger, QuicLogger

from support.inputs.quic_transfer import DELAY_S, REQUEST_BYTES, transfer

ENDS = ("client", "server")
DROP_EVERY = 40
# Events of the packet log.
SEND, DELIVER, LOST, ACKED = 0, 5, 12, 13


@dataclass
class Truth:
    """Packets of one end's application, read from its qlog without dumbbell's code."""

    events: int
    last_ns: int
    other_spaces: int = 0
    ack_frames: int = 0
    sent_bytes: int = 0
    received_bytes: int = 0
    # number: time in ns, bytes, bytes of streams
    sent_packets: dict[int, tuple[int, int, int]] = field(default_factory=dict)
    acked_ns: dict[int, int] = field(default_factory=dict)
    lost_packets: list[tuple[int, int]] = field(default_factory=list)
    received_numbers: set[int] = field(default_factory=set)
    metrics: list[tuple[int, dict[str, float]]] = field(default_factory=list)


def read_truth(trace: dict[str, Any]) -> Truth:
    events = trace["events"]
    first_ms = events[0]["time"]
    last_ns = 0
    truth = Truth(len(events), 0)
    for event in events:
        # The wall clock may be set back.
        last_ns = truth.last_ns = max(last_ns, round((event["time"] - first_ms) * 1e6))
        data = event["data"]
        match event["name"]:
            case "transport:packet_sent":
                kinds = {frame["frame_type"] for frame in data["frames"]}
                truth.sent_bytes += data["raw"]["length"] if data["header"]["packet_type"] == "1RTT" else 0
                if data["header"]["packet_type"] != "1RTT":
                    truth.other_spaces += 1
                elif kinds - {"ack", "padding", "connection_close"}:
                    stream = sum(frame["length"] for frame in data["frames"] if frame["frame_type"] == "stream")
                    truth.sent_packets[data["header"]["packet_number"]] = (last_ns, data["raw"]["length"], stream)
            case "transport:packet_received" if data["header"]["packet_type"] == "1RTT":
                truth.received_numbers.add(data["header"]["packet_number"])
                truth.received_bytes += data["raw"]["length"]
                truth.ack_frames += sum(frame["frame_type"] == "ack" for frame in data["frames"])
                ranges = [pair for frame in data["frames"] for pair in frame.get("acked_ranges", ())]
                for number in {number for first, last in ranges for number in range(first, last + 1)}:
                    if number in truth.sent_packets:
                        truth.acked_ns.setdefault(number, last_ns)
            case "recovery:packet_lost" if data["type"] == "1RTT" and data["packet_number"] in truth.sent_packets:
                truth.lost_packets.append((last_ns, data["packet_number"]))
            case "recovery:metrics_updated":
                truth.metrics.append((last_ns, data))
    return truth


@dataclass
class Transfer:
    """Qlogs of a transfer with losses, one file per end, and the number of dropped datagrams by end."""

    qlogs: Path
    drop_counts: Counter[str]
    truth: dict[str, Truth]


@pytest.fixture(scope="module")
def lossy(tmp_path_factory: pytest.TempPathFactory) -> Transfer:
    base = tmp_path_factory.mktemp("quic")
    for end in ENDS:
        (base / end).mkdir()
    drop_counts = transfer(*(QuicFileLogger(str(base / end)) for end in ENDS), drop_every=DROP_EVERY)
    qlogs = base / "qlogs"
    qlogs.mkdir()
    truth = {}
    for end in ENDS:
        # Both files have the name of the connection.
        (file,) = (base / end).glob("*.qlog")
        (trace,) = json.loads(file.read_text())["traces"]
        truth[end] = read_truth(trace)
        file.rename(qlogs / f"{end}.qlog")
    return Transfer(qlogs, drop_counts, truth)


@pytest.fixture
def runs(dumbbell: Dumbbell, lossy: Transfer) -> dict[str, dict[str, Any]]:
    """Return each imported end in the form of `show --json`."""
    dumbbell("import", "qlog", lossy.qlogs, "--out", "out")
    return {run["scheme"]: run for run in show(dumbbell, "out")["runs"]}


def test_every_packet_is_counted(lossy: Transfer, runs: dict[str, dict[str, Any]]) -> None:
    assert tuple(runs) == ENDS
    for end in ENDS:
        truth, run = lossy.truth[end], runs[end]
        (flow,) = run["flows"]
        assert run["qlog"] == {
            "title": "",
            "events": truth.events,
            "sent": len(truth.sent_packets),
            "acked": len(truth.acked_ns),
            "lost": len(truth.lost_packets),
            "other_spaces": truth.other_spaces,
            "metrics": len(truth.metrics),
            "unknown": 0,
            "vantage_point": end,
            "ack_frames": truth.ack_frames,
            "sent_bytes": truth.sent_bytes,
            "received_bytes": truth.received_bytes,
            "last_s": pytest.approx(truth.last_ns / 1e9, abs=5e-7),
        }
        assert (run["status"], run["network"]["valid"], run["network"]["invalid_reason"]) == ("done", True, None)
        sent_bytes, acked_bytes = (
            sum(truth.sent_packets[number][1] for number in numbers) for numbers in (truth.sent_packets, truth.acked_ns)
        )
        assert (flow["packets_sent"], flow["packets_delivered"]) == (len(truth.sent_packets), len(truth.acked_ns))
        assert (flow["bytes_sent"], flow["bytes_delivered"]) == (sent_bytes, acked_bytes)
        assert flow["data_bytes_delivered"] == sum(truth.sent_packets[number][2] for number in truth.acked_ns)
        assert flow["loss_rate"] == pytest.approx(1 - acked_bytes / sent_bytes)
        span_ns = max(truth.acked_ns.values()) - min(truth.acked_ns.values())
        assert flow["throughput_mbps"] == pytest.approx(acked_bytes * 8e3 / span_ns, rel=1e-3)
        rtts_ms = sorted((at - truth.sent_packets[number][0]) / 1e6 for number, at in truth.acked_ns.items())
        assert flow["rtt_min_ms"] == pytest.approx(rtts_ms[0], abs=2e-3)
        assert flow["rtt_p95_ms"] == pytest.approx(rtts_ms[round(0.95 * (len(rtts_ms) - 1))], abs=2e-3)


def test_the_counts_are_those_of_the_network(lossy: Transfer, runs: dict[str, dict[str, Any]]) -> None:
    for end, other in (ENDS, ENDS[::-1]):
        truth, (flow,) = lossy.truth[end], runs[end]["flows"]
        assert truth.acked_ns.keys() <= lossy.truth[other].received_numbers
        assert flow["packets_sent"] - flow["packets_delivered"] >= lossy.drop_counts[end] > 1
        # More than the relay dropped may be declared lost, and of a tail nothing is.
        assert runs[end]["qlog"]["lost"] > 0
        assert flow["rtt_min_ms"] > 2e3 * DELAY_S
    assert runs["client"]["flows"][0]["data_bytes_delivered"] >= REQUEST_BYTES


def test_the_packet_log_is_the_trace(lossy: Transfer, runs: dict[str, dict[str, Any]], folder: Path) -> None:
    assert runs.keys() == set(ENDS)
    for end in ENDS:
        truth = lossy.truth[end]
        log = polars.read_parquet(folder / f"out/runs/qlogs/{end}/1/packets.parquet")
        rows = {
            kind: log.filter(polars.col("event") == kind).select("seq", "time_ns", "size_bytes", "one_way_delay_ns")
            for kind in (SEND, DELIVER, LOST, ACKED)
        }
        assert [row[:3] for row in rows[SEND].iter_rows()] == [
            (number, near(time_ns), size) for number, (time_ns, size, _) in truth.sent_packets.items()
        ]
        deliveries = {number: (time_ns, size, delay) for number, time_ns, size, delay in rows[DELIVER].iter_rows()}
        assert deliveries == {
            number: (near(at), truth.sent_packets[number][1], near(at - truth.sent_packets[number][0]))
            for number, at in truth.acked_ns.items()
        }
        assert set(rows[ACKED]["seq"]) == set(deliveries)
        assert [row[1::-1] for row in rows[LOST].iter_rows()] == [
            (near(at), number) for at, number in truth.lost_packets
        ]


def near(time_ns: int) -> object:
    """Return a time with tolerance: doubles of ms since 1970 are 244 ns apart, and JSON parsers may differ by one."""
    return pytest.approx(time_ns, abs=500)


SERIES = {
    "window": ("bytes", "cwnd"),
    "in_flight": ("bytes", "bytes_in_flight"),
    "srtt": ("ms", "smoothed_rtt"),
    "latest_rtt": ("ms", "latest_rtt"),
    "lowest_rtt": ("ms", "min_rtt"),
    "rttvar": ("ms", "rtt_variance"),
}


def test_windows_and_rtts_are_series(lossy: Transfer, runs: dict[str, dict[str, Any]], folder: Path) -> None:
    assert runs.keys() == set(ENDS)
    for end in ENDS:
        truth = lossy.truth[end]
        samples = polars.read_parquet(folder / f"out/runs/qlogs/{end}/1/flows.parquet")
        assert set(samples["flow"]) == {1}
        for name, (unit, key) in SERIES.items():
            rows = samples.filter(polars.col("field") == name)
            expected = [(at, data[key]) for at, data in truth.metrics if key in data]
            assert len(expected) > 10
            assert set(rows["unit"]) == {unit}
            assert [tuple(row) for row in rows.select("time_ns", "value").iter_rows()] == [
                (near(at), pytest.approx(value, rel=1e-12)) for at, value in expected
            ]
        # The largest packet is QUIC's smallest maximum, 1,200 bytes, which aioquic never exceeds by itself.
        assert max(size for _, size, _ in truth.sent_packets.values()) == 1200
        for name, key in (("cwnd", "cwnd"), ("ssthresh", "ssthresh")):
            values = samples.filter(polars.col("field") == name)["value"].to_list()
            assert values == pytest.approx([data[key] / 1200 for _, data in truth.metrics if data.get(key) is not None])
        windows = samples.filter(polars.col("field") == "cwnd")["value"]
        assert any(after < before for before, after in pairwise(windows)), "losses reduce the window"


def test_the_report_draws_both_ends(dumbbell: Dumbbell, folder: Path, runs: dict[str, dict[str, Any]]) -> None:
    assert runs.keys() == set(ENDS)
    dumbbell("report", "out", "--all-runs")
    page = LongForm.of(folder / "out").text
    for end in ENDS:
        for figure in ("Throughput", "Congestion window and pacing rate", "Smoothed RTT"):
            assert f"{figure} over time, run 1 of {end}" in page
    assert "Pantheon's analysis would drop" not in page, "a trace was not planned to be of some length"


def test_what_was_imported_is_exported_again(
    dumbbell: Dumbbell, folder: Path, lossy: Transfer, runs: dict[str, dict[str, Any]]
) -> None:
    assert runs.keys() == set(ENDS)
    dumbbell("export", "qlog", "out", "--out", "again")
    for end in ENDS:
        truth = lossy.truth[end]
        (file,) = (folder / "again").glob(f"qlogs_{end}_*.sqlog")
        _, *events = (json.loads(record) for record in file.read_text().split("\x1e")[1:])
        by_name: dict[str, list[dict[str, Any]]] = {}
        for event in events:
            by_name.setdefault(event["name"].split(":")[1], []).append(event["data"])
        sent_packets = [(data["header"]["packet_number"], data["raw"]["length"]) for data in by_name["packet_sent"]]
        assert sent_packets == [(number, size) for number, (_, size, _) in truth.sent_packets.items()]
        assert [data["header"]["packet_number"] for data in by_name["packet_lost"]] == [
            number for _, number in truth.lost_packets
        ]
        ranges = [
            pair for data in by_name["packet_received"] for frame in data["frames"] for pair in frame["acked_ranges"]
        ]
        acked_numbers = sorted(number for first, last in ranges for number in range(first, last + 1))
        assert acked_numbers == sorted(truth.acked_ns)


def test_both_ends_in_one_file_are_two_schemes(dumbbell: Dumbbell, folder: Path) -> None:
    logger = QuicLogger()
    assert not transfer(logger, logger, drop_every=None)
    content = logger.to_dict()
    (folder / "both.qlog").write_text(json.dumps(content))
    dumbbell("import", "qlog", "both.qlog", "--out", "out")
    runs = show(dumbbell, "out")["runs"]
    assert [run["scheme"] for run in runs] == ["both-1", "both-2"]
    for run, trace in zip(runs, content["traces"], strict=True):
        truth = read_truth(trace)
        assert (run["qlog"]["sent"], run["qlog"]["acked"]) == (len(truth.sent_packets), len(truth.acked_ns))
        assert run["qlog"]["lost"] == len(truth.lost_packets)
