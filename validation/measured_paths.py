"""Accuracy of `dumbbell path` on known paths: emulated ones, with a peer process at each end, on this machine.

    python -m validation.measured_paths         # the table of docs/how-to/measured-paths.md: truth / found (interval)
    python -m validation.measured_paths --only rate-2 --duration 30s

The far end is entered by its process, in the place of ssh. Needs what emulation needs.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tomli_w

from dumbbell.present.tables import Table, markdown
from tests.remote.bed import process_in

PEER = "10.77.0.2"
DUMBBELL = [sys.executable, "-P", "-m", "dumbbell"]
BLEACHING = (
    "nft add table ip bleach; "
    "nft add chain ip bleach way '{ type filter hook prerouting priority mangle; }'; "
    "nft add rule ip bleach way ip ecn set not-ect"
)


def link(mbps: float, queue_bytes: float) -> dict[str, Any]:
    """Return a link with a droptail queue."""
    return {"kind": "link", "rate_mbps": mbps, "queue": {"kind": "droptail", "bytes": round(queue_bytes)}}


def delay(ms: float) -> dict[str, Any]:
    """Return a constant delay."""
    return {"kind": "delay", "delay_ms": ms}


def policer(mbps: float, burst_bytes: int) -> dict[str, Any]:
    """Return a token bucket."""
    return {"kind": "policer", "rate_mbps": mbps, "burst_bytes": burst_bytes}


@dataclass(frozen=True)
class KnownPath:
    """A known path: its elements in each direction, and the set-up of its far end."""

    data: list[dict[str, Any]]
    ack: list[dict[str, Any]]
    setup: str = ":"


def plain(mbps: float, rtt_ms: float, bdp: float, loss: float = 0.0) -> KnownPath:
    """Return a path with one rate; a forward queue of `bdp` BDP, a backward one of 1 BDP; forward loss."""
    product = mbps * 125.0 * rtt_ms
    lossy = [{"kind": "loss", "probability": loss}] if loss else []
    forward = [link(mbps, max(product * bdp, 1600)), *lossy, delay(rtt_ms / 2)]
    return KnownPath(forward, [link(mbps, max(product, 3200)), delay(rtt_ms / 2)])


PATHS = {
    "rate-2": plain(2, 50, 1),
    "rate-2-short": plain(2, 5, 2),
    "rate-50-long": plain(50, 200, 4),
    "rate-200": plain(200, 10, 1),
    "rate-200-shallow": plain(200, 100, 0.2),
    "loss-2": plain(20, 100, 0.2, 0.02),
    "loss-half": plain(100, 40, 1, 0.005),
    "loss-1-deep": plain(5, 200, 4, 0.01),
    "asymmetric": KnownPath([link(10, 100_000), delay(10)], [link(2, 20_000), delay(70)]),
    "policer-12": KnownPath([policer(12, 60_000), delay(20)], [delay(20)]),
    "policer-20": KnownPath([policer(20, 200_000), link(100, 250_000), delay(10)], [link(100, 250_000), delay(10)]),
    "unsteady": KnownPath(
        [
            link(30, 150_000),
            {"kind": "duplicate", "probability": 0.01},
            delay(20),
            {"kind": "reorder", "probability": 0.01, "delay_ms": 5.0},
        ],
        [link(30, 150_000), delay(20), {"kind": "jitter", "distribution": "exponential", "mean_ms": 3.0}],
    ),
    "bleached": KnownPath([link(20, 200_000), delay(20)], [link(20, 100_000), delay(20)], BLEACHING),
    "marking": KnownPath(
        [{"kind": "link", "rate_mbps": 20, "queue": {"kind": "step", "bytes": 200_000, "threshold_ms": 1}}, delay(20)],
        [link(20, 100_000), delay(20)],
    ),
}


def enter(file: Path, emulation: subprocess.Popen[str]) -> list[str]:
    """Return the command that enters the network whose link in `/proc` is written to `file` by a process inside.

    Raises:
        RuntimeError: the path has ended.
        AssertionError: there is no such process.
    """
    while not file.exists():
        if emulation.poll() is not None:
            raise RuntimeError(f"the path has ended: {emulation.stderr.read() if emulation.stderr else ''}")
        time.sleep(0.05)
    return ["nsenter", "--net", "--target", str(process_in(file.read_text().strip()))]


def measure(known_path: KnownPath, options: list[str], seed: str) -> dict[str, Any]:
    """Return the content of `dumbbell path --json` for a known path.

    Raises:
        RuntimeError: `dumbbell path` failed.
    """
    with tempfile.TemporaryDirectory(prefix="measured-path-") as name:
        folder = Path(name)
        (folder / "known.toml").write_text(
            tomli_w.dumps({"name": "known", "data": known_path.data, "ack": known_path.ack})
        )
        # Process IDs are those of each end's PID namespace; a network's name is the same for all namespaces.
        ends = {end: folder / end for end in ("near", "far")}
        for end, file in ends.items():
            file.with_suffix(".sh").write_text(
                f"{known_path.setup if end == 'far' else ':'}\n"
                f"readlink /proc/self/ns/net > {file}.part && mv {file}.part {file}\nexec sleep 3600\n"
            )
        path = [*DUMBBELL, "emulate", "--seed", seed, "--path", str(folder / "known.toml"), "--quiet"]
        path += ["--server", f"sh {folder / 'far.sh'}", "--", "sh", str(folder / "near.sh")]
        with subprocess.Popen(path, cwd=folder, stderr=subprocess.PIPE, text=True) as emulation:
            try:
                commands = {end: enter(file, emulation) for end, file in ends.items()}
                serve = " ".join([*commands["far"], *DUMBBELL, "remote", "serve"])
                (folder / "ssh").write_text(
                    "#!/bin/sh\n"
                    f'case " $* " in *" -G "*) echo "hostname {PEER}"; exit 0;; esac\n'
                    f"export SSH_CONNECTION='10.77.0.1 1 {PEER} 22'\n"
                    f"exec {serve}\n"
                )
                (folder / "ssh").chmod(0o755)
                environment = os.environ | {"PATH": f"{folder}:{os.environ['PATH']}"}
                words = [*commands["near"], *DUMBBELL, "path", PEER, "--json", "--out", str(folder / "found.toml")]
                result = subprocess.run(
                    [*words, *options], env=environment, capture_output=True, text=True, cwd=folder, check=False
                )
            finally:
                emulation.terminate()
        if result.returncode != 0:
            raise RuntimeError(f"{result.returncode}: {result.stderr[-2000:]}")
        document: dict[str, Any] = json.loads(result.stdout)
        return document | {"toml": (folder / "found.toml").read_text()}


def truth(elements: list[dict[str, Any]]) -> dict[str, float | None]:
    """Return the true values of the quantities from the known elements."""
    element_of = {element["kind"]: element for element in elements}
    bucket, narrow = element_of.get("policer"), element_of.get("link")
    mbps = bucket["rate_mbps"] if bucket else narrow and narrow["rate_mbps"]
    return {
        "rate_mbps": mbps,
        "queue_bytes": None if bucket or not narrow else narrow["queue"]["bytes"],
        "loss": element_of.get("loss", {}).get("probability", 0.0),
        "duplication": element_of.get("duplicate", {}).get("probability", 0.0),
        "reordering": element_of.get("reorder", {}).get("probability", 0.0),
        "delay_ms": element_of["delay"]["delay_ms"]
        + (of_small(mbps if not bucket else narrow and narrow["rate_mbps"])),
        "burst_bytes": bucket["burst_bytes"] if bucket else None,
    }


def of_small(mbps: float | None) -> float:
    """Return the link's transmission time of a packet of the delay probes, ms."""
    return 104 * 8e-3 / mbps if mbps else 0.0


HEAD = ("path", "way", "rate, Mbit/s", "queue, kB", "loss, %", "one-way delay, ms", "else", "outside of its interval")
IN = {"rate_mbps": 1.0, "queue_bytes": 1e-3, "loss": 100.0, "delay_ms": 1.0}
"""Quantities with columns of their own, and the factors from their units to the shown ones."""
ELSE = {"burst_bytes": ("burst, kB", 1e-3), "duplication": ("copies, %", 100.0), "reordering": ("reordered, %", 100.0)}


def row(name: str, way: str, known_path: KnownPath, measurement: dict[str, Any]) -> list[str]:
    """Return a line of the table: truth, and the measured value with its interval."""
    estimates = measurement["ways"][way]
    estimates = estimates | {"burst_bytes": (estimates["policer"] or {}).get("burst_bytes")}
    true = truth(known_path.data if way == "there" else known_path.ack)
    outside = [quantity for quantity, value in true.items() if not holds(value, estimates[quantity])]
    fields = [_value_pair(true[quantity], estimates[quantity], factor) for quantity, factor in IN.items()]
    other_texts = [
        f"{label}: {_value_pair(true[quantity], estimates[quantity], factor)}"
        for quantity, (label, factor) in ELSE.items()
        if true[quantity] or (estimates[quantity] and estimates[quantity]["value"])
    ]
    verdicts = set(estimates["ecn"].values())
    marked_share = estimates["ecn_marked"]["value"]
    other_texts += ["ECN bleached"] if "bleached" in verdicts else []
    other_texts += [f"{100 * marked_share:.0f} % of trains marked"] if marked_share else []
    return [name, way, *fields, "; ".join(other_texts), ", ".join(outside)]


def holds(value: float | None, estimate: dict[str, Any] | None) -> bool:
    """Return True if an interval contains the true value; without a true value, True if nothing was measured."""
    if value is None:
        return estimate is None or estimate["value"] is None
    if estimate is None:
        return False
    low, high = estimate["low"], estimate["high"]
    return (low is None or low <= value) and (high is None or value <= high)


def _value_pair(value: float | None, estimate: dict[str, Any] | None, factor: float) -> str:
    if estimate is None or (value is None and estimate["value"] is None and estimate["low"] is None):
        return "-" if value is None else f"{_text(value, factor)} / -"
    low, high = (_text(estimate[side], factor) for side in ("low", "high"))
    estimate_text = (
        f"{_text(estimate['value'], factor)} ({low} to {high})" if estimate["value"] is not None else f"above {low}"
    )
    return f"{_text(value, factor)} / {estimate_text}"


def _text(value: float | None, factor: float) -> str:
    return "-" if value is None else f"{value * factor:.4g}"


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default=",".join(PATHS), help="names of paths, with commas")
    parser.add_argument("--duration", default="60s", help="of each measurement")
    parser.add_argument("--json", type=Path, help="also what was found, as it was found")
    parser.add_argument("--seed", default="1", help="of what the emulated paths draw")
    parser.add_argument("--again", type=Path, help="the table of what --json has kept")
    arguments = parser.parse_args()
    old_measurements = json.loads(arguments.again.read_text()) if arguments.again else {}
    print(markdown.render(Table.of(HEAD, [])))
    measurements = {}
    for name in old_measurements or arguments.only.split(","):
        measurement = measurements[name] = old_measurements.get(name) or measure(
            PATHS[name], ["--duration", arguments.duration], arguments.seed
        )
        for way in ("there", "back"):
            print(markdown.line(row(name, way, PATHS[name], measurement)), flush=True)
    if arguments.json:
        arguments.json.write_text(json.dumps(measurements))
    return 0


if __name__ == "__main__":
    sys.exit(main())
