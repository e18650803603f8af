"""Measurements of runs between two machines, which are namespaces of this one, so that the ground truth is known.

Usage: python -m validation.remote tunnel|clocks|agreement [--runs N] [--write]. Needs root and what the tests of runs
between two machines need; nothing else should go on.

- tunnel: how much the kernel's TCP carries through the tunnel, and our own ends without one, over a virtual wire.
- clocks: how far delays are from what the emulator between the machines saw, with clocks that are 37 ms and 1 s apart
  and gain or lose 100 us in a second, on symmetric, asymmetric and changing paths.
- agreement: schemes between the two machines beside the same schemes in emulation, over the same path.

With --write the tables of docs/how-to/remote.md become these.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from dumbbell.present.tables import Table, markdown
from scripts.blocks import replace_block
from tests.remote.bed import Bed, path_text, why_not
from tests.remote.truth import compare

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "how-to" / "remote.md"
DUMBBELL = [sys.executable, "-P", "-m", "dumbbell"]
CAP = ("--bandwidth-cap", "10gbit", "--data-cap", "1TB")

TUNNEL_SCHEMES = ("kernel-cubic", "cubic", "copa")
AGREEING = (
    "reno",
    "cubic",
    "vegas",
    "bbr",
    "copa",
    "ledbat",
    "scream",
    "gcc",
    "kernel-cubic",
    "kernel-bbr",
    "iperf3",
    "quic-cubic",
)
CHANGING = """
schedule = [{{ at_s = {at_s}, delay_ms = {delay_ms} }}]"""


def results(words: list[str], prefix: list[str], **more: Any) -> list[dict[str, Any]]:  # noqa: ANN401 (of subprocess)
    """Return the runs of an experiment in the form of `show --json`."""
    result = subprocess.run([*prefix, *words, "--json"], stdout=subprocess.PIPE, text=True, check=False, **more)
    runs: list[dict[str, Any]] = json.loads(result.stdout)["runs"] if result.stdout else []
    return runs


@contextmanager
def wire(folder: Path, mbps: int | None = None) -> Iterator[list[str]]:
    """Yield the words that execute a command in the first of two namespaces with a virtual wire between them.

    With `mbps` a token bucket limits what leaves the first, and drops what has waited for 20 ms.

    In its PATH `ssh` is a program that starts the peer process in the second: no packet of ssh is on the wire.
    """
    near, far = f"wire-a-{os.getpid()}", f"wire-b-{os.getpid()}"
    ip = lambda *words: subprocess.run(["ip", *words], check=True)  # noqa: E731
    try:
        for name in (near, far):
            ip("netns", "add", name)
            ip("-n", name, "link", "set", "lo", "up")
        ip("-n", near, "link", "add", "wire0", "type", "veth", "peer", "name", "wire1", "netns", far)
        for name, device, number in ((near, "wire0", 1), (far, "wire1", 2)):
            ip("-n", name, "address", "add", f"10.5.0.{number}/24", "dev", device)
            ip("-n", name, "link", "set", device, "up")
        if mbps is not None:
            limit = ("rate", f"{mbps}mbit", "burst", "64kb", "latency", "20ms")
            subprocess.run(["tc", "-n", near, "qdisc", "add", "dev", "wire0", "root", "tbf", *limit], check=True)
        home = folder / "home"
        home.mkdir()
        path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
        peer = f"ip netns exec {far} env HOME={home} PATH={path} dumbbell remote serve"
        ssh = folder / "bin" / "ssh"
        ssh.parent.mkdir()
        ssh.write_text(
            '#!/bin/sh\nif [ "$1" = -G ]; then echo "hostname 10.5.0.2"; exit 0; fi\n'
            f'SSH_CONNECTION="10.5.0.1 1 10.5.0.2 22" exec {peer}\n'
        )
        ssh.chmod(0o755)
        yield ["ip", "netns", "exec", near, "env", f"PATH={ssh.parent}:{path}", *DUMBBELL]
    finally:
        for name in (near, far):
            subprocess.run(["ip", "netns", "delete", name], check=False)


def tunnel(runs: int) -> str:
    """Return rates over a virtual wire: both ends, both tunnels and TCP on the CPUs of one machine."""
    rows = []
    cases = [(name, "auto", mbps) for mbps in (550, None) for name in TUNNEL_SCHEMES] + [("cubic", "sealed", None)]
    for scheme, kind, mbps in cases:
        with tempfile.TemporaryDirectory() as place, wire(Path(place), mbps) as prefix:
            words = ["run", "--backend", "remote:10.5.0.2", "--schemes", scheme, "--tunnel", kind, *CAP]
            words += ["--duration", "8", "--runs", str(runs), "--out", f"{place}/results"]
            tunnel_runs = results(words, prefix)
            rates = [run["flows"][0]["throughput_mbps"] for run in tunnel_runs if run["flows"]]
            statistics_files = [
                json.loads(file.read_text()) for file in Path(place).glob("results/runs/*/*/*/stats.json")
            ]
        lost_packets = sum(
            run_statistics["remote"]["lost_at_ends"] + run_statistics["remote"]["flows"][0]["dropped"]
            for run_statistics in statistics_files
        )
        status = ", ".join(sorted({run["status"] for run in tunnel_runs}))
        packets = "our tunnel" if kind == "sealed" or scheme.startswith("kernel") else "datagrams of our own"
        rate_range = f"{min(rates):.0f} to {max(rates):.0f}"
        rows.append([scheme, packets, mbps or "no limit", rate_range, lost_packets, status])
        print(markdown.line(rows[-1]), file=sys.stderr)
    return markdown.render(Table.of(["scheme", "packets in", "wire Mbit/s", "Mbit/s", "lost by us", "status"], rows))


CLOCKS = ("offset=37ms,drift=100ppm", "offset=1s,drift=-100ppm", "offset=-37ms,drift=50ppm", "offset=1s")


def paths() -> dict[str, str]:
    """Return paths of each kind: symmetric, asymmetric, changing."""
    change = CHANGING.format(at_s=8, delay_ms=35)
    changing = path_text(there_ms=15.0, back_ms=15.0).replace("delay_ms = 15.0", f"delay_ms = 15.0{change}", 1)
    return {
        "10 + 10 ms": path_text(),
        "5 + 35 ms": path_text(there_ms=5.0, back_ms=35.0),
        "50 + 2 ms": path_text(there_ms=50.0, back_ms=2.0),
        "15 + 15 ms, then 35 + 15 ms": changing,
    }


def clocks(runs: int, seconds: float) -> str:
    """Return the errors of delays, over paths and clocks."""
    head = ["path, there + back", "packets", "differences: median, p99 (us)", "stated interval (ms)", "in it"]
    rows, case_count, inside = [], 0, 0
    for number, (name, text) in enumerate(paths().items()):
        errors, shares, widths = [], [], []
        for run in range(runs):
            clock = CLOCKS[(run + number) % len(CLOCKS)]
            scheme = ("copa", "cubic", "kernel-cubic")[run % 3]
            with tempfile.TemporaryDirectory() as place, Bed(Path(place), text, test_clocks={"far": clock}) as bed:
                out = bed.near.folder / "results"
                words = ["run", "--backend", f"remote:{bed.host}", "--schemes", scheme, "--out", out, *CAP]
                bed.dumbbell(*words, "--duration", seconds, expect=None)
                (folder,) = out.glob("runs/*/*/1")
                low, high = json.loads((folder / "stats.json").read_text())["clocks"]["uncertainty_ms"]
                truth = bed.truth()
                for data, bounds in ((True, (low, high)), (False, (-high, -low))):
                    way = compare(folder, truth, data=data)
                    errors.append(way.difference_error_us)
                    # The difference of the timestamps is a little longer than the path's delay: hosts take time too.
                    good = (way.error_ms >= bounds[0]) & (way.error_ms <= bounds[1])
                    shares.append(float(good.mean()))
                widths.append(high - low)
        every = np.concatenate(errors)
        case_count, inside = case_count + len(shares), inside + sum(share == 1.0 for share in shares)
        differences = f"{np.median(every):.0f}, {np.quantile(every, 0.99):.0f}"
        interval = f"{min(widths):.1f} to {max(widths):.1f}"
        rows.append([name, f"{len(every):,}", differences, interval, f"{statistics.mean(shares):.2%}"])
        print(markdown.line(rows[-1]), file=sys.stderr)
    summary = f"All packets of a direction were in the stated interval in {inside} of {case_count} cases."
    return f"{markdown.render(Table.of(head, rows))}\n\n{summary}"


def agreement(runs: int, seconds: float) -> str:
    """Return each scheme's values on both backends, over one emulated path."""
    lines, agreeing = [], 0
    for scheme in AGREEING:
        real = scheme.startswith(("kernel-", "iperf3", "quic-"))
        with tempfile.TemporaryDirectory() as place, Bed(Path(place)) as bed:
            allow = Path(bed.far.environment["HOME"]) / ".config" / "dumbbell" / "allow"
            allow.parent.mkdir(parents=True)
            allow.write_text("iperf3\ndumbbell-quic\n")
            near = Path(bed.near.environment["PATH"].partition(":")[0])
            for side in (near, bed.far.folder / "bin"):
                helper = shutil.which("dumbbell-quic", path=str(Path(sys.executable).parent))
                if helper is not None:
                    (side / "dumbbell-quic").symlink_to(helper)
            words = ["--schemes", scheme, "--duration", str(seconds), "--runs", str(runs)]
            out = bed.near.folder / "results"
            bed.dumbbell("run", "--backend", f"remote:{bed.host}", *words, "--out", out, *CAP, expect=None)
            remote_runs = [json.loads(file.read_text()) for file in out.glob("runs/*/*/*/stats.json")]
        with tempfile.TemporaryDirectory() as place:
            file = Path(place) / "path.toml"
            # Packets are as long as between the machines: with a tunnel's 60 bytes, or with an authentication tag's 16
            # instead.
            overhead, mtu = (60, 1500) if real else (16, 1456)
            file.write_text(f"overhead_bytes = {overhead}\n{path_text(mtu=mtu)}")
            words = ["run", "--backend", "emu", "--path", str(file), *words, "--out", f"{place}/results"]
            local_runs = results(words, DUMBBELL)
        rows = [
            [one_side["flows"][0][key] for one_side in made_run if one_side["flows"]]
            for made_run in (remote_runs, local_runs)
            for key in KEYS
        ]
        if not all(rows):
            reasons = [made_run["reason"] for made_run in [*remote_runs, *local_runs] if made_run["reason"]]
            lines.append([scheme, "-", "-", "-", "-", reasons[0] if reasons else "no result"])
            print(markdown.line(lines[-1]), file=sys.stderr)
            continue
        remote_rate, remote_delay, emu_rate, emu_delay = (statistics.median(row) for row in rows)
        good = abs(remote_rate / emu_rate - 1) <= 0.05 and (
            abs(remote_delay / emu_delay - 1) <= 0.1 or abs(remote_delay - emu_delay) <= 2.0
        )
        agreeing += good
        figures = [f"{remote_rate:.2f}", f"{emu_rate:.2f}", f"{remote_delay:.1f}", f"{emu_delay:.1f}"]
        lines.append([scheme, *figures, "yes" if good else "no"])
        print(markdown.line(lines[-1]), file=sys.stderr)
    head = ["scheme", "remote Mbit/s", "emu Mbit/s", "remote p95 ms", "emu p95 ms", "agrees"]
    return f"{markdown.render(Table.of(head, lines))}\n\n{agreeing} of {len(AGREEING)} schemes agree."


KEYS = ("throughput_mbps", "delay_p95_ms")


def main() -> None:
    """Measure the requested part, and print it as a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("tunnel", "clocks", "agreement"))
    parser.add_argument("--runs", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=15.0)
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    reason = why_not()
    if reason is not None:
        sys.exit(f"two machines cannot be made here: {reason}")
    if arguments.what == "tunnel":
        table = tunnel(arguments.runs)
    else:
        table = {"clocks": clocks, "agreement": agreement}[arguments.what](arguments.runs, arguments.seconds)
    print(table)
    if arguments.write:
        replace_block(PAGE, arguments.what, table)


if __name__ == "__main__":
    main()
