"""Other simulators beside dumbbell's, in turn: CPU time per data packet of one loss-based flow.

Usage: python -m bench.peers [--repeats 5] [--before RUNNER] [--ns3 FOLDER] [--htsim FOLDER] [--picoquic FOLDER].
The flow is that of ccperf's experiment (`bench.speed`). Debian's ns-3 takes part where `make bench` has installed it; a
folder is a checkout in which the simulator is built. `--before` is a `run_spec` of an earlier dumbbell.

- ns-3: `./ns3 configure -d optimized --enable-modules=internet,point-to-point,applications,traffic-control`, build
- csg-htsim: `make -C sim libhtsim.a`
- picoquic: `cmake -S . -B build -DCMAKE_BUILD_TYPE=Release -DPICOQUIC_FETCH_PTLS=Y && cmake --build build`
"""

import argparse
import json
import resource
import statistics
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from bench.speed import ROOT, build_ns3, build_simulator, ccperf_spec

# 15 s at 100.42 Mbit/s are 188 MB: a stack that sends files gets one of as many bytes as dumbbell delivers.
PICOQUIC_BYTES = 165_000_000
PICOQUIC_SPEC = f"""main_cc_algo: newreno
main_start_time: 0
main_scenario_text: =b1:*1:397:{PICOQUIC_BYTES};
nb_connections: 1
main_target_time: 60000000
data_rate_in_gbps: 0.10042
latency: 27000
jitter: 0
queue_delay_max: 20800
"""


@dataclass(frozen=True)
class Peer:
    """Simulator in the comparison: name, parts of its run, command, and reader of the number of data packets."""

    name: str
    parts: str
    command: list[str]
    packets: Callable[[str], int]


def cpu_s(command: list[str]) -> tuple[float, str]:
    """Run a program and return its CPU time in seconds, and what it printed."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime, output


def dumbbell_peer(name: str, runner: Path, spec: Path) -> Peer:
    """Return dumbbell's own simulator as built in `runner`."""
    return Peer(
        name, "metrics", [str(runner), str(spec)], lambda text: int(json.loads(text)["flows"][0]["packets_sent"])
    )


def ns3_peer(name: str, program: Path) -> Peer:
    """Return ns-3: 1,448 bytes of payload are a data packet."""
    return Peer(
        name,
        "a TCP/IP stack, metrics",
        [str(program)],
        lambda text: int(json.loads(text)["throughput_mbps"] * 1e6 / 8 * 15 / 1448),
    )


def compile_ns3(checkout: Path, scratch: Path) -> Path:
    """Compile our ns-3 program against an optimized build in `checkout` and return its path."""
    program, libraries = scratch / "newreno-optimized", checkout / "build" / "lib"
    shared = [str(library) for library in libraries.glob("libns3*-optimized.so")]
    source = str(ROOT / "bench" / "ns3" / "newreno.cc")
    flags = ["-O3", "-std=c++23", f"-I{checkout}/build/include", f"-Wl,-rpath,{libraries}"]
    subprocess.run(["g++", *flags, source, "-o", str(program), *shared], check=True)
    return program


def compile_htsim(checkout: Path, scratch: Path) -> Path:
    """Compile our driver against csg-htsim's library and return its path."""
    program, sources = scratch / "htsim", checkout / "sim"
    source = str(ROOT / "bench" / "htsim" / "tcp.cc")
    library = str(sources / "libhtsim.a")
    subprocess.run(["g++", "-O3", "-std=c++17", f"-I{sources}", source, library, "-o", str(program)], check=True)
    return program


def picoquic_peer(checkout: Path, scratch: Path) -> Peer:
    """Return picoquic's simulator: a real QUIC stack that encrypts every packet."""
    spec = scratch / "picoquic.txt"
    spec.write_text(PICOQUIC_SPEC, encoding="utf-8")
    program = checkout / "build" / "pico_sim"
    return Peer(
        "picoquic's simulator",
        "a QUIC stack that encrypts",
        [str(program), "-S", str(checkout), str(spec)],
        lambda _: PICOQUIC_BYTES // 1400,
    )


def main() -> None:
    """Measure the peers in turn and print a line for each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=5)
    for folder in ("before", "ns3", "htsim", "picoquic"):
        parser.add_argument(f"--{folder}", type=Path)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        spec = scratch / "ccperf.json"
        spec.write_text(json.dumps(ccperf_spec("none")), encoding="utf-8")
        peers = [dumbbell_peer("dumbbell", build_simulator(scratch), spec)]
        if arguments.before:
            peers.append(dumbbell_peer("dumbbell before", arguments.before, spec))
        if program := build_ns3(scratch):
            peers.append(ns3_peer("ns-3 of Debian", program))
        if arguments.ns3:
            peers.append(ns3_peer("ns-3, optimized", compile_ns3(arguments.ns3, scratch)))
        if arguments.htsim:
            htsim = compile_htsim(arguments.htsim, scratch)
            peers.append(Peer("htsim", "bare TCP", [str(htsim)], lambda text: int(json.loads(text)["packets_sent"])))
        if arguments.picoquic:
            peers.append(picoquic_peer(arguments.picoquic, scratch))
        costs: dict[str, list[float]] = {peer.name: [] for peer in peers}
        for _ in range(arguments.repeats):
            for peer in peers:
                seconds, output = cpu_s(peer.command)
                costs[peer.name].append(seconds / peer.packets(output) * 1e9)
    own = min(costs["dumbbell"])
    for peer in peers:
        least, median = min(costs[peer.name]), statistics.median(costs[peer.name])
        print(f"{peer.name:22} {least:9.0f} ns (median {median:.0f}) {least / own:7.2f} x  {peer.parts}")


if __name__ == "__main__":
    main()
