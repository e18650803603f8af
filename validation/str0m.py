"""Comparison of the built-in GCC with that of str0m, a real WebRTC without I/O; both run in virtual time.

Usage: python -m validation.str0m [--write docs/schemes/webrtc.md] [--seeds N] [--keep DIR]. Both run over the same path
model with the same encoder; `validation/str0m` is the program with str0m in it, built as needed (a part of it
wants a C compiler). The table goes between the markers of the page. With --keep logs and time series stay in DIR.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import dumbbell
from dumbbell.core.logs import import_merged_log, measure_log, series
from dumbbell.core.runs import simulate
from dumbbell.present.tables import Table, markdown
from scripts.blocks import replace_block

ROOT = Path(__file__).resolve().parent.parent

DURATION_S = 60.0
SETTLED_S = 10.0
BIN_S = 0.5
START_KBPS = 300
MAX_MBPS = 10.0
BOUND = 0.10  # ours: two implementations of one draft are not expected to be closer

PATHS: dict[str, tuple[float, float, int]] = {  # rate in Mbit/s, RTT in ms, queue in bytes
    "4 Mbit/s, 50 ms, 100 kB": (4.0, 50.0, 100_000),
    "4 Mbit/s, 50 ms, 25 kB": (4.0, 50.0, 25_000),
    "2 Mbit/s, 100 ms, 50 kB": (2.0, 100.0, 50_000),
    "8 Mbit/s, 50 ms, 100 kB": (8.0, 50.0, 100_000),
}


@dataclass(frozen=True)
class Call:
    """Figures of a call, all from its packet log; queueing is delay above the minimum of the call."""

    rate_mbps: float
    settled_mbps: float
    queue_mean_ms: float
    queue_p95_ms: float
    loss: float


def path_of(rate_mbps: float, rtt_ms: float, queue_bytes: int) -> dict[str, Any]:
    """Return a path with a droptail queue, and half of the RTT in each direction."""
    link = {"kind": "link", "rate_mbps": rate_mbps, "queue": {"kind": "droptail", "bytes": queue_bytes}}
    delay = {"kind": "delay", "delay_ms": rtt_ms / 2}
    return {"data": [link, delay], "ack": [delay]}


def encoder() -> dict[str, Any]:
    """Return the live encoder of both."""
    return {"fps": 30.0, "min_rate_mbps": 0.03, "start_rate_mbps": START_KBPS / 1e3, "max_rate_mbps": MAX_MBPS}


def read_call(packets: Path) -> Call:
    """Return the figures of a packet log."""
    options = {"duration_s": DURATION_S, "flows": [{"flow": 1, "scheme": "gcc", "start_s": 0.0}]}
    (flow,) = measure_log(str(packets), options)["flows"]
    rates = series(str(packets), BIN_S)["flows"][0]["egress_mbps"][: round(DURATION_S / BIN_S)]
    return Call(
        rate_mbps=statistics.mean(rates),
        settled_mbps=statistics.mean(rates[round(SETTLED_S / BIN_S) :]),
        queue_mean_ms=flow["self_inflicted_delay_mean_ms"],
        queue_p95_ms=flow["self_inflicted_delay_p95_ms"],
        loss=flow["loss_rate"],
    )


def run_ours(path: dict[str, Any], seed: int, folder: Path) -> Call:
    """Run the scheme `gcc` with this encoder; its overall maximum is that of the encoder."""
    scheme = dumbbell.schemes().find("gcc")
    limits = {"allocated_mbps": str(MAX_MBPS), "max_rate_mbps": str(MAX_MBPS), "start_rate_kbps": str(START_KBPS)}
    flow = {
        "scheme": "gcc",
        "controller": scheme.controller,
        "parameters": limits,
        "transport": scheme.transport,
        "application": {"kind": "encoder", **encoder()},
    }
    spec = {
        "seed": seed,
        "duration_s": DURATION_S,
        "sample_interval_s": 0.1,
        "warmup_s": 0.0,
        "log": "packets",
        "path": path,
        "flows": [flow],
    }
    simulate(spec, folder)
    return read_call(folder / "packets.parquet")


def build() -> Path:
    """Build the program with str0m in it; return its path."""
    manifest = ROOT / "validation" / "str0m" / "Cargo.toml"
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "str0m"
    command = ["cargo", "build", "--release", "--locked", "--quiet", "--manifest-path", str(manifest)]
    subprocess.run([*command, "--target-dir", str(target)], check=True)
    return target / "release" / "str0m-call"


def run_str0m(program: Path, path: dict[str, Any], seed: int, folder: Path, follow: str) -> Call:
    """Run two str0m peers; the encoder follows the `raw` estimate, or the `reported` one of str0m's application."""
    spec = {
        "seed": seed,
        "duration_s": DURATION_S,
        "start_rate_kbps": START_KBPS,
        "follow": follow,
        "path": path,
        "application": encoder(),
    }
    specification, log = folder / "call.json", folder / "datalink.log"
    specification.write_text(json.dumps(spec))
    command = [str(program), str(specification), str(log)]
    report = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    (folder / "report.json").write_text(report)
    packets = folder / "packets.parquet"
    packets.unlink(missing_ok=True)
    import_merged_log(str(log), None, str(packets), strict=True)
    return read_call(packets)


FIGURES: list[tuple[str, Callable[[Call], float], int]] = [  # name, value, decimals
    ("rate, Mbit/s", lambda call: call.rate_mbps, 2),
    ("rate after 10 s, Mbit/s", lambda call: call.settled_mbps, 2),
    ("mean queueing, ms", lambda call: call.queue_mean_ms, 1),
    ("p95 queueing, ms", lambda call: call.queue_p95_ms, 1),
    ("loss, %", lambda call: 100 * call.loss, 2),
]


def field(values: list[float], decimals: int) -> str:
    """Return mean and range."""
    mean, low, high = (f"{value:.{decimals}f}" for value in (statistics.mean(values), min(values), max(values)))
    return mean if low == high else f"{mean} ({low} to {high})"


def difference_text(difference: float) -> str:
    """Return a difference; bold if it is too large."""
    return f"{difference:+.1%}" if abs(difference) <= BOUND else f"**{difference:+.1%}**"


def rows(title: str, calls: dict[str, list[Call]]) -> list[list[str]]:
    """Return the rows of one path; only the rates have a bound."""
    lines = []
    for name, value, decimals in FIGURES:
        values_of = {caller: [value(call) for call in made_calls] for caller, made_calls in calls.items()}
        fields = [field(values, decimals) for values in values_of.values()]
        own_mean, *other_means = (statistics.mean(values) for values in values_of.values())
        differences = [difference_text(own_mean / other - 1) if "Mbit/s" in name else "-" for other in other_means]
        lines.append([title, name, *fields, *differences])
        title = ""
    return lines


def compare(program: Path, seeds: int, keep: Path) -> str:
    """Return the table."""
    titles = ["path", "", "`gcc`", "str0m, raw", "str0m, reported", "ours to raw", "ours to reported"]
    lines = []
    for title, path in PATHS.items():
        calls: dict[str, list[Call]] = {"ours": [], "raw": [], "reported": []}
        for seed in range(1, seeds + 1):
            for caller, call in calls.items():
                folder = keep / title.replace(", ", "-").replace(" ", "-").replace("/", "") / f"{caller}-{seed}"
                folder.mkdir(parents=True, exist_ok=True)
                if caller == "ours":
                    call.append(run_ours(path_of(*path), seed, folder))
                else:
                    call.append(run_str0m(program, path_of(*path), seed, folder, caller))
        lines += rows(title, calls)
    return markdown.render(Table.of(titles, lines, "llrrrrr"))


def main() -> None:
    """Run everything and print or write the table."""
    parser = argparse.ArgumentParser(description="Our GCC beside str0m's, in virtual time.")
    parser.add_argument("--write", type=Path, metavar="PAGE", help="the page with the markers; default: print only")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--keep", type=Path, metavar="DIR", help="where packet logs and time series stay")
    options = parser.parse_args()
    program = build()
    with tempfile.TemporaryDirectory() as scratch:
        keep = options.keep or Path(scratch)
        block = compare(program, options.seeds, keep)
    print(block)
    if options.write:
        replace_block(options.write, "str0m", f"{block}\n\n{options.seeds} seeds of the encoder: mean (range).")


if __name__ == "__main__":
    main()
