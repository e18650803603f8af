"""Simulated runs in the formats of other tools: captures of senders, qlogs, JSON of iperf3."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars

import dumbbell
from dumbbell.catalog.path import PathModel
from dumbbell.results.series.samples import Series, read_samples

from .captures import write_pcap
from .sender_capture import ACKED, LOST, SenderOnTcp

KERNEL = {"cubic-linux": "cubic"}
"""Names of schemes in the kernel."""
HEADERS = 120
"""Number of bytes of each packet that a capture keeps."""


def recorded_sets(folder: Path, path: PathModel, schemes: tuple[str, ...], duration_s: float, **more: object) -> Path:
    """Simulate schemes on `path`, and write a set of each kind into `folder`: `pcap`, `qlog` and `iperf3`."""
    truth = folder / "truth"
    dumbbell.run(schemes=list(schemes), path=path, duration=duration_s, log="full", warmup=0, out=truth, jobs=1, **more)
    dumbbell.export_qlog(truth, folder / "qlog")
    for kind in ("pcap", "iperf3"):
        (folder / kind).mkdir()
    for run in sorted((truth / "runs").glob("*/*/*")):
        congestion = KERNEL.get(run.parent.name, run.parent.name)
        name = f"{congestion}_{run.name}"
        write_capture(run, folder / "pcap" / f"{name}.pcap")
        (folder / "iperf3" / f"{name}.json").write_text(json.dumps(iperf3_report(run, congestion, duration_s)))
    return folder


def flows_of(run: Path) -> list[dict[str, Any]]:
    """Return the statistics of a run's flows."""
    flows: list[dict[str, Any]] = json.loads((run / "stats.json").read_text())["flows"]
    return flows


def write_capture(run: Path, file: Path) -> None:
    """Write the capture that tcpdump would have written at the senders of a run."""
    log = polars.read_parquet(run / "packets.parquet")
    packets = []
    for flow in flows_of(run):
        number = int(flow["flow"])
        wire = SenderOnTcp(log.filter(polars.col("flow") == number), 1_000_000, True, 1000 + number)
        packets += wire.packets
    write_pcap(file, sorted(packets, key=lambda packet: packet[0]), snaplen=HEADERS)


def iperf3_report(run: Path, congestion: str, duration_s: float) -> dict[str, Any]:
    """Return the report that iperf3 would have written at the sender of a run, with intervals of 1 s."""
    log, samples, flows = (
        polars.read_parquet(run / "packets.parquet"),
        read_samples(run / "flows.parquet"),
        flows_of(run),
    )
    numbers = [int(flow["flow"]) for flow in flows]
    intervals = []
    for second in range(round(duration_s)):
        during = log.filter(polars.col("time_ns").is_between(second * 10**9, (second + 1) * 10**9, closed="left"))
        streams = []
        for number in numbers:
            flow_rows = during.filter(polars.col("flow") == number)
            stream = {"socket": number, "start": second, "end": second + 1, "omitted": False, "sender": True}
            stream |= {"bytes": int(flow_rows.filter(polars.col("event") == ACKED)["data_bytes"].sum())}
            stream |= {"retransmits": len(flow_rows.filter(polars.col("event") == LOST))}
            stream |= {"rtt": round(1e3 * _at(samples["srtt"][str(number)], second + 1.0))}
            streams.append(stream | {"snd_cwnd": round(_at(samples["window"][str(number)], second + 1.0))})
        intervals.append({"streams": streams, "sum": {}})
    sent_bytes = {number: 0 for number in numbers}
    for interval in intervals:
        for stream in interval["streams"]:
            sent_bytes[stream["socket"]] += stream["bytes"]
    ends = [
        {
            "sender": {"socket": number, "bytes": sent_bytes[number]},
            "receiver": {"socket": number, "bytes": flow["data_bytes_delivered"]},
        }
        for number, flow in zip(numbers, flows, strict=True)
    ]
    start = {"connected": [{"socket": number} for number in numbers], "test_start": {"protocol": "TCP", "reverse": 0}}
    return {
        "start": start | {"version": "iperf 3.18"},
        "intervals": intervals,
        "end": {"streams": ends, "sender_tcp_congestion": congestion},
    }


def _at(series: Series, time_s: float) -> float:
    """Return the latest sample; zero before the first one."""
    times, values = series
    index = int(np.searchsorted(times, time_s, "right")) - 1
    return float(values[index]) if index >= 0 else 0.0
