"""Tests of a run's windows, packets and reading against its files, read with pyarrow."""

import json
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

import dumbbell
from dumbbell import _core
from dumbbell._core import RunView
from support.shelf import Shelf

NARROW = """name = "narrow"
title = "20 Mbit/s, 40 ms, half a BDP"

[[data]]
kind = "link"
rate_mbps = 20.0
queue = { kind = "droptail", bytes = 50000 }

[[data]]
kind = "delay"
delay_ms = 20.0

[[ack]]
kind = "delay"
delay_ms = 20.0
"""

TYPES = {"f64": "<f8", "f32": "<f4", "u32": "<u4", "i32": "<i4", "u8": "u1"}
SEND, DROP, DELIVER, LOST, ACKED = 0, 3, 5, 12, 13


class Columns:
    """Answer of a view, read by its format."""

    def __init__(self, content: bytes) -> None:
        (length,) = struct.unpack_from("<I", content)
        header = json.loads(content[4 : 4 + length])
        start = 4 + length
        assert start % 8 == 0
        self.meta = header["meta"]
        self.names = {column["name"]: column.get("names") for column in header["columns"]}
        self.columns = {
            column["name"]: np.frombuffer(content, TYPES[column["type"]], column["length"], start + column["offset"])
            for column in header["columns"]
        }

    def __getitem__(self, name: str) -> np.ndarray[Any, Any]:
        return self.columns[name]

    def series(self, place: int) -> tuple[np.ndarray[Any, Any], ...]:
        row = self.meta["series"][place]
        rows = slice(row["first"], row["first"] + row["rows"])
        return self["time_ns"][rows], self["low"][rows], self["high"][rows]


@pytest.fixture
def folder(shelf: Shelf) -> Path:
    """Run two schemes over a small buffer, with everything logged."""

    def make(out: Path) -> None:
        (path := out.with_name("narrow.toml")).write_text(NARROW)
        dumbbell.run(schemes=["cubic", "bbr"], path=path, duration=6, runs=1, log="full", out=out)

    return shelf.made("narrow", make)


def _runs(folder: Path) -> dict[str, Path]:
    return {run.parent.name: run for run in (folder / "runs").glob("*/*/*")}


def _view(run: Path, index: bytes | None = None, retransmissions: dict[int, int] | None = None) -> RunView:
    return RunView(run / "packets.parquet", run / "flows.parquet", run / "links.parquet", index, retransmissions)


def _packets(run: Path) -> dict[str, np.ndarray[Any, Any]]:
    table = pq.read_table(run / "packets.parquet")
    return {name: table[name].to_numpy() for name in table.column_names}


def test_an_index_is_used_again_unless_it_is_that_of_other_files(folder: Path) -> None:
    first, second = _runs(folder).values()
    built_view = _view(first)
    assert built_view.built
    assert not _view(first, index=built_view.index()).built
    assert _view(second, index=built_view.index()).built
    assert _view(first, index=built_view.index()[:-1]).built
    assert _view(first, index=b"something else").built
    kept_view = RunView.of_index(built_view.index())
    assert kept_view.series() == built_view.series()
    with pytest.raises(_core.Error, match="this is no index of a run"):
        RunView.of_index(b"something else")
    with pytest.raises(_core.Error, match="damaged"):
        RunView.of_index(built_view.index()[:-1])


@pytest.mark.parametrize("scheme", ["cubic", "bbr"])
def test_a_window_has_the_extremes_that_the_log_has(folder: Path, scheme: str) -> None:
    run = _runs(folder)[scheme]
    packets, view = _packets(run), _view(run)
    is_arrival = packets["event"] == DELIVER
    times, delays = packets["time_ns"][is_arrival].astype(float), packets["one_way_delay_ns"][is_arrival] / 1e6
    for start, end in [(0.0, 6e9), (1e9, 2e9), (2.5e9, 2.501e9), (3e9, 3.1e9)]:
        columns = Columns(view.window(start, end, 200, '["one_way_delay", "throughput"]'))
        inside = (times >= start) & (times < end)
        at, low, high = columns.series(0)
        if not inside.any():
            assert len(at) == 0
            continue
        assert high.max() == delays[inside].max()
        # Each row has the extremes of the samples up to the next row.
        for place in range(0, len(at), 17):
            until = at[place + 1] if place + 1 < len(at) else end
            of_row = delays[inside & (times >= at[place]) & (times < until)]
            assert len(of_row) == 0 or (low[place] <= of_row.min() and of_row.max() <= high[place])
        bars, mbps, _ = columns.series(1)
        width = columns.meta["series"][1]["bin_ns"]
        sizes = packets["size_bytes"][is_arrival]
        for place in range(0, len(bars), 13):
            of_bar = sizes[(times >= bars[place]) & (times < bars[place] + width)]
            assert mbps[place] == pytest.approx(of_bar.sum() * 8e3 / width)


def test_packets_and_lives_are_those_of_the_log(folder: Path) -> None:
    run = _runs(folder)["cubic"]
    packets = _packets(run)
    stats = json.loads((run / "stats.json").read_text())
    counts = {flow["flow"]: flow["retransmissions"] for flow in stats["flows"]}
    view = _view(run, retransmissions=counts)
    every = Columns(view.packets(0.0, 6e9, 1, 1_000_000))
    assert every.meta["too_many"] is None
    for event, name in [
        (SEND, "send_ns"),
        (DROP, "drop_ns"),
        (DELIVER, "deliver_ns"),
        (LOST, "lost_ns"),
        (ACKED, "acked_ns"),
    ]:
        rows = packets["event"] == event
        logged_times = dict(zip(packets["seq"][rows].tolist(), packets["time_ns"][rows].tolist(), strict=True))
        shown_times = {
            int(seq): time for seq, time in zip(every["seq"], every[name], strict=True) if not np.isnan(time)
        }
        assert shown_times == logged_times, name
    assert (every["retransmission"] == 1).sum() == counts[1] > 0
    dropped_seq = int(packets["seq"][packets["event"] == DROP][0])
    life = json.loads(view.life(1, dropped_seq))
    assert life["packet"]["drop_ns"] == packets["time_ns"][packets["event"] == DROP][0]
    assert any(sentence.startswith("Dropped inside the path") for sentence in life["sentences"])
    with pytest.raises(_core.Error, match="flow 1 sent no packet 99999999"):
        view.life(1, 99999999)
    assert Columns(view.packets(0.0, 6e9, 0, 10)).meta["too_many"] > 1000


def test_runs_without_some_of_the_files_are_shown_as_well(folder: Path) -> None:
    run = _runs(folder)["bbr"]
    states = RunView(flows=run / "flows.parquet")
    names = {series["name"] for series in json.loads(states.series())}
    assert {"rtt", "cwnd", "mode", "in_flight", "srtt", "pacing_rate"} <= names
    assert "throughput" not in names
    texts = Columns(states.window(0.0, 6e9, 100, '["mode"]'))
    kinds = texts.names["event_text"]
    assert {"startup", "drain", "probe_bw"} <= {kinds[code] for code in texts["event_text"]}
    with pytest.raises(_core.Error, match="this run has no packet log"):
        states.packets(0.0, 1.0)
    empty_view = RunView()
    assert json.loads(empty_view.series()) == []
    assert json.loads(empty_view.reading()) == {"sentences": []}
    Columns(empty_view.window(0.0, 1e9, 10, '["rtt"]'))


def test_the_reading_says_what_the_log_says(folder: Path) -> None:
    run = _runs(folder)["cubic"]
    packets = _packets(run)
    facts = {
        "flows": [{"flow": 1, "scheme": "cubic", "metrics": {"retransmissions": 5}}],
        "label": "other keys are not looked at",
    }
    sentences = json.loads(_view(run).reading(json.dumps(facts)))["sentences"]
    kinds: dict[str, list[dict[str, Any]]] = {}
    for sentence in sentences:
        assert set(sentence) == {"text", "from_ns", "to_ns", "flow", "kind", "evidence"}
        kinds.setdefault(sentence["kind"], []).append(sentence)
    delays = packets["one_way_delay_ns"][packets["event"] == DELIVER]
    slowest = kinds["delay"][0]["evidence"]
    assert (slowest["longest_ns"], slowest["shortest_ns"]) == (delays.max(), delays.min())
    dropped_packets = (packets["event"] == DROP).sum()
    assert sum(loss["evidence"]["packets"] for loss in kinds["loss"]) == dropped_packets > 0
    links = pq.read_table(run / "links.parquet").to_pylist()
    queue = [row["value"] for row in links if row["field"] == "queue_bytes" and row["link"].startswith("data/")]
    assert kinds["queue"][0]["evidence"]["queue_bytes"] == max(queue)
    # The queue dropped all of them, by its counter.
    counted_drops = max(row["value"] for row in links if row["field"] == "dropped" and row["link"].startswith("data/"))
    assert counted_drops == dropped_packets
    assert all(loss["evidence"]["cause"] == 1 for loss in kinds["loss"])
    states = pq.read_table(run / "flows.parquet").to_pylist()
    phases = [row for row in states if row["field"] == "phase"]
    left = next(row["time_ns"] for row in phases if row["value"] != phases[0]["value"])
    assert kinds["slow_start"][0]["evidence"]["left_ns"] == left
