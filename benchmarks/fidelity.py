"""Our numbers beside published ones.

Usage: python benchmarks/fidelity.py [--write docs/fidelity.md]. Short tables of published figures are in this file,
long ones in `benchmarks/data/`; each row of the page names the source of its figure.
"""

from __future__ import annotations

import argparse
import csv
import json
import statistics
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any

from dumbbell import _core

DATA = Path(__file__).resolve().parent / "data"


@dataclass(frozen=True)
class Row:
    """One published figure beside ours."""

    what: str
    published: str
    ours: str
    source: str
    remark: str = ""


LOSS_SOURCE = "jervisfm/rebbr@a15c6b3, `mahimahi/data_20170604_jmuindi/figure8.csv`"
PANTHEON_SOURCE = "gtqifan/pantheon@48b2df3, `pantheon_perf.json`"
GRID_SOURCE = "sdatta97/imcbbrrepro@f22ef77, [logs of kernel 5.15](../benchmarks/data/README.md)"

TCP = {"profile": "tcp", "payload_bytes": 1448}
# BBR keeps its own window during recovery
BBR = {**TCP, "recovery": "immediate"}
LIBUTP = {
    **TCP,
    "payload_bytes": 1382,
    "header_bytes": 48,
    "ack_every": 1,
    "initial_window": 1,
    "max_window_bytes": 1048576,
    "recovery": "immediate",
    "tail_loss_probe": False,
    "timeout_initial_ms": 3000,
    "timeout_min_ms": 1000,
    "timeout_floor": "total",
}


def simulate(
    controller: str,
    data: list[dict[str, Any]],
    ack: list[dict[str, Any]],
    seconds: float,
    **changes: Any,  # noqa: ANN401 (keys of the run)
) -> dict[str, Any]:
    """One flow alone; returns its statistics with the bottleneck's under `link`."""
    usual = BBR if controller == "bbr" else TCP
    spec = {
        "seed": changes.get("seed", 1),
        "duration_s": seconds,
        "log": "none",
        "warmup_s": changes.get("warmup_s", 0.0),
        "path": {"data": data, "ack": ack},
        "flows": [{"scheme": controller, "controller": controller, "transport": changes.get("transport", usual)}],
    }
    stats: dict[str, Any] = json.loads(_core.simulate(json.dumps(spec), None))
    return {**stats["flows"][0], "link": stats["links"][0]}


def delay(milliseconds: float) -> dict[str, Any]:
    """A fixed delay."""
    return {"kind": "delay", "delay_ms": milliseconds}


def linux_cell(cell: dict[str, str]) -> float:
    """Utilisation (%) of one cell of the Linux grid: all delay on the ACK path, a byte FIFO, 60 s."""
    rate = float(cell["bandwidth_mbit"])
    limit = 1024 * int(cell["buffer_kB"])
    link = {"kind": "link", "rate_mbps": rate, "queue": {"kind": "droptail", "bytes": limit}}
    # Segments leave the host at 10 Gbit/s, not all at once.
    access = {"kind": "link", "rate_mbps": 10000.0, "queue": {"kind": "infinite"}}
    stats = simulate(cell["cca"], [access, link], [delay(float(cell["rtt_ms"]))], 60.0)
    return 100.0 * float(stats["goodput_mbps"]) / rate


def linux_grid(pool: ProcessPoolExecutor) -> Iterator[Row]:
    """IMC'23 replication of "When to use and when not to use BBR", kernel 5.15, up to 100 Mbit/s."""
    with (DATA / "linux-5.15-cubic-bbr.csv").open() as text:
        cells = list(csv.DictReader(text))
    # Published values of 10 Mbit/s with 10 MB of buffer count bytes that drained after the end.
    cells = [row for row in cells if not (row["bandwidth_mbit"] == "10" and row["buffer_kB"] == "10000")]
    ours = list(pool.map(linux_cell, cells))
    for cca in ("cubic", "bbr"):
        for buffer in ("100", "10000"):
            pairs = [
                (mine, 100.0 * float(cell["goodput_mean_mbit"]) / float(cell["bandwidth_mbit"]))
                for mine, cell in zip(ours, cells, strict=True)
                if cell["cca"] == cca and cell["buffer_kB"] == buffer
            ]
            errors = [abs(mine - published) for mine, published in pairs]
            published = statistics.mean(value for _, value in pairs)
            mean = statistics.mean(value for value, _ in pairs)
            yield Row(
                f"Linux 5.15 {cca}, {buffer} kB buffer: mean utilisation of {len(pairs)} paths, %",
                f"{published:.1f}",
                f"{mean:.1f}",
                GRID_SOURCE,
                f"median absolute error {statistics.median(errors):.1f} points, largest {max(errors):.1f}",
            )


LOSS_TABLE = {  # kernel 4.11.1, 100 Mbit/s, 100 ms, 60 s: what leaves the link, in Mbit/s
    "cubic": {1e-4: 34.14, 1e-3: 5.92, 1e-2: 1.62, 2e-2: 1.00, 5e-2: 0.61},
    "bbr": {1e-4: 95.19, 1e-3: 94.94, 1e-2: 85.37, 2e-2: 84.10, 5e-2: 76.89},
}


def loss_rows() -> Iterator[Row]:
    """Throughput under random loss."""
    for controller, table in LOSS_TABLE.items():
        for loss, published in table.items():
            link = {"kind": "link", "rate_mbps": 100.0, "queue": {"kind": "infinite"}}
            path = [link, {"kind": "loss", "probability": loss}, delay(50.0)]
            rates = [
                float(simulate(controller, path, [delay(50.0)], 60.0, seed=seed)["link"]["throughput_mbps"])
                for seed in range(1, 6)
            ]
            note = (
                "published value is limited by a 6.55 MB receive buffer" if controller == "bbr" and loss > 1e-3 else ""
            )
            yield Row(
                f"{controller} at {loss:.2%} loss (100 Mbit/s, 100 ms), Mbit/s",
                f"{published:.2f}",
                f"{statistics.mean(rates):.2f}",
                LOSS_SOURCE,
                note,
            )


PANTHEON_12MBPS = {  # 12 Mbit/s, no delay, infinite queue, 30 s: Mbit/s and 95th-percentile delay in ms
    "cubic": (11.999, 1804.4, {**TCP, "max_window_bytes": 2_700_000}),
    "vegas": (11.999, 6.9, TCP),
    "bbr": (11.997, 17.0, BBR),
    "libutp-ledbat": (11.998, 101.7, LIBUTP),
}


def pantheon_rows() -> Iterator[Row]:
    """Pantheon's own run of 2022 over its default trace."""
    trace = {"kind": "trace", "mode": "mahimahi", "times_ms": [1]}
    for controller, (rate, p95, transport) in PANTHEON_12MBPS.items():
        stats = simulate(controller, [trace], [dict(trace)], 30.0, transport=transport)
        note = "window capped at 2.7 MB as observed there" if controller == "cubic" else ""
        yield Row(
            f"{controller}, 12 Mbit/s trace: p95 delay, ms (throughput, Mbit/s)",
            f"{p95:.1f} ({rate:.2f})",
            f"{stats['delay_p95_ms']:.1f} ({stats['throughput_mbps']:.2f})",
            PANTHEON_SOURCE,
            note,
        )


def table(rows: list[Row]) -> str:
    """Markdown."""
    lines = ["| what | published | ours | source | remark |", "|---|---|---|---|---|"]
    return "\n".join(lines + [f"| {' | '.join(astuple(row))} |" for row in rows]) + "\n"


def main() -> None:
    """Run everything and print or write the table."""
    parser = argparse.ArgumentParser(description="Our numbers beside published ones.")
    parser.add_argument("--write", type=Path)
    options = parser.parse_args()
    with ProcessPoolExecutor() as pool:
        rows = [*pantheon_rows(), *loss_rows(), *linux_grid(pool)]
    text = (
        "# Fidelity\n\nOur numbers beside published ones, written by `make fidelity`. Behaviour tests with stated\n"
        "tolerances are in `crates/simulator/tests`. Nothing is tuned to this table.\n\n" + table(rows)
    )
    if options.write:
        options.write.write_text(text)
    print(text)


if __name__ == "__main__":
    main()
