"""Speed, measured side by side in one run: the simulator against ns-3, import, and scale.

Usage: python -m bench.speed [--repeats N]. Needs g++ and libns3-dev for the ratio (`make bench` installs them).
Every figure is a median over the repeats; ns-3 and dumbbell take turns, so a change of the machine's speed hits both.
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
import time
from pathlib import Path
from typing import Any

from scripts.training_runs import merge

ROOT = Path(__file__).resolve().parent.parent
NS3_MODULES = ["ns3-internet", "ns3-point-to-point", "ns3-applications", "ns3-traffic-control"]


def ccperf_spec(log: str) -> dict[str, Any]:
    """Return experiment "steady state, single flow": NewReno, 100.42 Mbit/s, 54 ms, 173 packets, 15 s, metrics on."""
    transport = {"profile": "tcp", "ack_every": 1, "payload_bytes": 1448, "header_bytes": 54}
    link = {"kind": "link", "rate_mbps": 100.42, "queue": {"kind": "droptail", "packets": 173}}
    delay = {"kind": "delay", "delay_ms": 27.0}
    back = {"kind": "link", "rate_mbps": 100.42, "queue": {"kind": "infinite"}}
    return {
        "seed": 42,
        "duration_s": 15.0,
        "sample_interval_s": 0.1,
        "warmup_s": 0.0,
        "log": log,
        "path": {"data": [link, delay], "ack": [back, delay]},
        "flows": [{"scheme": "reno", "controller": "reno", "transport": transport}],
    }


def many_flows_spec() -> dict[str, Any]:
    """Return a run spec of 1,000 CUBIC flows on 10 Gbit/s for 10 s."""
    spec = ccperf_spec("none")
    spec["path"]["data"][0].update(rate_mbps=10000.0, queue={"kind": "droptail", "packets": 20000})
    spec["path"]["ack"][0].update(rate_mbps=10000.0)
    flow = {"scheme": "cubic", "controller": "cubic", "transport": {"profile": "tcp"}}
    spec.update(duration_s=10.0, flows=[{**flow, "start_s": index / 1000} for index in range(1000)])
    return spec


def build_simulator(scratch: Path) -> Path:
    """Build the plain runner as wheels are built, by the profile of the training runs, and return its path."""
    profiles, runs = scratch / "profiles", scratch / "runs"
    runs.mkdir()
    subprocess.run([sys.executable, "-m", "scripts.training_runs", "--write", str(runs)], cwd=ROOT, check=True)
    runner = _build(f"-Cprofile-generate={profiles}")
    for run in sorted(runs.iterdir()):
        subprocess.run([str(runner), str(run), str(scratch)], check=True, stdout=subprocess.DEVNULL)
    return _build(f"-Cprofile-use={merge(profiles)}")


def _build(flags: str) -> Path:
    """Build the plain runner with these flags of the compiler and return its path."""
    command = ["cargo", "build", "--release", "--locked", "--quiet", "-p", "simulator", "--example", "run_spec"]
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "profiled"
    environment = {**os.environ, "RUSTFLAGS": flags, "CARGO_TARGET_DIR": str(target)}
    subprocess.run(command, cwd=ROOT, check=True, env=environment)
    return target / "release" / "examples" / "run_spec"


def build_ns3(scratch: Path) -> Path | None:
    """Build the ns-3 program; None with a reason on stderr where ns-3 is missing."""
    if (
        not shutil.which("pkg-config")
        or subprocess.run(["pkg-config", "--exists", NS3_MODULES[0]], check=False).returncode
    ):
        sys.stderr.write("ns-3 is not installed (Debian: libns3-dev): no ratio\n")
        return None
    flags = subprocess.run(
        ["pkg-config", "--cflags", "--libs", *NS3_MODULES], check=True, capture_output=True, text=True
    ).stdout.split()
    program = scratch / "newreno"
    source = ROOT / "bench" / "ns3" / "newreno.cc"
    subprocess.run(["g++", "-O2", "-std=c++17", str(source), "-o", str(program), *flags], check=True)
    return program


def time_command(command: list[str]) -> tuple[float, dict[str, Any]]:
    """Return the wall time of the whole process, s, and its printed JSON with its peak memory as `peak_kib`."""
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    output = process.stdout.read() if process.stdout else ""
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"{command[0]} failed with status {process.returncode}")
    return wall, {**json.loads(output), "peak_kib": usage.ru_maxrss}


def compare_with_ns3(runner: Path, ns3: Path | None, scratch: Path, repeats: int) -> None:
    """Compare ns-3, the simulator with metrics only, and with the packet log, in turn."""
    plain, logged_spec = scratch / "plain.json", scratch / "logged.json"
    plain.write_text(json.dumps(ccperf_spec("none")))
    logged_spec.write_text(json.dumps(ccperf_spec("packets")))
    walls: dict[str, list[float]] = {"ns-3": [], "metrics": [], "metrics, loop only": [], "packet log": []}
    last: dict[str, Any] = {}
    for _ in range(repeats):
        if ns3:
            wall, last["ns-3"] = time_command([str(ns3)])
            walls["ns-3"].append(wall)
        wall, last["dumbbell"] = time_command([str(runner), str(plain)])
        walls["metrics"].append(wall)
        walls["metrics, loop only"].append(last["dumbbell"]["sim_wall_s"])
        wall, _ = time_command([str(runner), str(logged_spec), str(scratch)])
        walls["packet log"].append(wall)
    print("ccperf steady state, one NewReno flow, 15 s (whole processes, median of", repeats, "runs)")
    reference = statistics.median(walls["ns-3"]) if ns3 else None
    for name, values in walls.items():
        if values:
            median = statistics.median(values)
            ratio = f"   {reference / median:7.1f} x faster than ns-3" if reference and name != "ns-3" else ""
            print(f"  {name:20} {median * 1e3:9.1f} ms  ({min(values) * 1e3:.1f} .. {max(values) * 1e3:.1f}){ratio}")
    flow = last["dumbbell"]["flows"][0]
    per_packet = statistics.median(walls["metrics, loop only"]) / flow["packets_sent"] * 1e9
    print(f"  {flow['packets_sent']} data packets, {per_packet:.0f} ns each; goodput {flow['goodput_mbps']:.2f} Mbit/s")
    if ns3:
        print(f"  ns-3: {last['ns-3']['throughput_mbps']:.2f} Mbit/s, {last['ns-3']['drops']} drops")


def scale(runner: Path, scratch: Path) -> None:
    """Measure 1,000 flows on 10 Gbit/s: wall time and peak memory."""
    spec = scratch / "many.json"
    spec.write_text(json.dumps(many_flows_spec()))
    wall, stats = time_command([str(runner), str(spec)])
    packets = sum(flow["packets_sent"] for flow in stats["flows"])
    print(f"1,000 CUBIC flows, 10 Gbit/s, 10 s: {wall:.1f} s, {packets} packets, {wall / packets * 1e9:.0f} ns each,")
    print(f"  peak memory {stats['peak_kib'] / 1024:.0f} MiB, utilisation {stats['links'][0]['utilization']:.3f}")


def import_speed(scratch: Path) -> None:
    """Measure lines per second of a merged Pantheon log of about 100 MB, with and without the packet log."""
    from dumbbell.core.logs import import_merged_log

    log = scratch / "datalink.log"
    lines = 4_000_000
    with log.open("w") as out:
        out.write("# init timestamp: 1514764800000.000\n")
        for index in range(lines // 2):
            at = index * 0.12
            out.write(f"{at:.3f} + 1500 1\n{at + 0.05:.3f} - 1500 28.643 1\n")
    packets = scratch / "packets.parquet"
    start, cpu = time.perf_counter(), time.process_time()
    import_merged_log(str(log), None, str(packets), strict=True)
    wall, cpu = time.perf_counter() - start, time.process_time() - cpu
    print(f"import of {lines} Pantheon log lines ({log.stat().st_size / 1e6:.0f} MB) into a packet log, durable:")
    print(
        f"  {wall:.2f} s wall, {cpu:.2f} s cpu: {lines / wall / 1e6:.1f} million lines/s, "
        f"{lines / cpu / 1e6:.1f} million per core and second"
    )


def main() -> None:
    """Run everything."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--repeats", type=int, default=5)
    repeats = parser.parse_args().repeats
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        runner = build_simulator(scratch)
        compare_with_ns3(runner, build_ns3(scratch), scratch, repeats)
        scale(runner, scratch)
        import_speed(scratch)


if __name__ == "__main__":
    main()
