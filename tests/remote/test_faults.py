"""Tests of faults between two machines during a run: each has a clear reason, and no process is left behind."""

import contextlib
import json
import os
import re
import secrets
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import polars
import pytest

from support.punctual import Punctual
from support.waiting import TIMEOUT_S

from .bed import FAR, Bed, eventually, path_text

pytestmark = pytest.mark.real

BOTH = ["kernel-cubic", pytest.param("copa", marks=pytest.mark.slow)]
"""A scheme through a tunnel, and one without."""
STEPS = (("far", 200), ("near", -200), ("near", 200), ("near", -2000), ("far", -2000), ("near", 2000))
SMALL = path_text(mtu=1200)

Outcome = dict[str, Any]
"""Result of a command: its directory `out`, its exit status `exit`, its `runs`, and its stderr `errors`."""


@contextlib.contextmanager
def running(bed: Bed, *words: object, out: Path | None = None) -> Iterator[tuple[Path, "subprocess.Popen[str]"]]:
    """Start an experiment; yield its directory, `out` or a new one, and its process once the first run goes on."""
    out = out or bed.new_results()
    backend = f"remote:{bed.host}"
    process = bed.near.start_dumbbell("run", "--backend", backend, "--out", out, "--json", *words)
    try:
        # The kernel's clock goes on: by then both peer processes run, and NAT traversal is over.
        begin_file = Path(
            f"/proc/{bed.near.inside}/root{out}/experiment.toml"
        )  # as it is there: it may be on another disk
        assert eventually(lambda: bed.far.running("remote serve") and begin_file.exists())
        time.sleep(5.0)  # noqa: TID251 (the run goes on in real time)
        yield out, process
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)


def finish(out: Path, process: "subprocess.Popen[str]") -> Outcome:
    """Wait for the end of a command; return its outcome."""
    output, errors = process.communicate(timeout=TIMEOUT_S)
    assert "Traceback" not in errors, errors
    return {"out": out, "exit": process.returncode, "runs": json.loads(output)["runs"], "errors": errors}


def good(outcome: Outcome) -> tuple[Path, dict[str, Any]]:
    """Return the directory, and the only run of a successful command."""
    (run,) = outcome["runs"]
    assert (outcome["exit"], run["status"]) == (0, "done"), outcome["errors"]
    return outcome["out"], run


def stats(out: Path, run: dict[str, Any]) -> dict[str, Any]:
    folder = out / "runs" / run["path"] / run["scheme"] / str(run["run"])
    document: dict[str, Any] = json.loads((folder / "stats.json").read_text())
    return document


@pytest.mark.parametrize("victim", ["peer", pytest.param("ssh", marks=pytest.mark.slow)])
def test_a_connection_that_is_lost_fails_its_run_and_resume_makes_it(
    bed: Bed, punctual: Punctual[list[dict[str, Any]]], victim: str
) -> None:
    def make() -> list[dict[str, Any]]:
        with running(bed, "--schemes", "copa", "--duration", 8, "--runs", 2) as (out, process):
            victims = bed.sessions() if victim == "ssh" else list(bed.far.running("remote serve"))
            assert victims
            # The signals come together: on a busy machine one victim would have time to report the end of another.
            for what_comes in (signal.SIGSTOP, signal.SIGKILL):
                for number in victims:
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(number, what_comes)
            outcome = finish(out, process)
        assert outcome["exit"] == 1
        first, second = outcome["runs"]
        assert first["status"] == "failed"
        assert FAR in first["reason"], first["reason"]
        assert "the connection was closed" in first["reason"], first["reason"]
        assert second["status"] != "failed", outcome["errors"]
        assert bed.near.empty()
        assert bed.far.empty()
        again = bed.dumbbell("run", "--resume", "--out", out, "--json", expect=None)
        assert again.returncode in (0, 1), again.stderr
        runs: list[dict[str, Any]] = json.loads(again.stdout)["runs"]
        return runs

    assert [run["status"] for run in punctual(make)] == ["done", "done"]


def test_udp_that_is_blocked_is_told_with_its_direction(bed: Bed) -> None:
    bed.block_udp()
    result = bed.dumbbell(
        "run", "--backend", f"remote:{bed.host}", "--schemes", "copa", "--duration", 2, "--out", "out", expect=1
    )
    assert "UDP to 10.2.0.2:" in result.stderr
    assert "a firewall may block it" in result.stderr
    assert bed.near.empty()
    assert bed.far.empty()


@pytest.mark.parametrize("scheme", BOTH)
def test_packets_are_as_long_as_the_path_takes_even_where_nobody_tells(
    make_bed: Callable[..., Bed], punctual: Punctual[Outcome], scheme: str
) -> None:
    bed = make_bed(SMALL)
    bed.keep_sizes_secret()

    def make() -> Outcome:
        with running(bed, "--schemes", scheme, "--duration", 4) as (out, process):
            return finish(out, process)

    out, run = good(punctual(make))
    assert stats(out, run)["remote"]["mtu"] == {"there": 1200, "back": 1200}
    packets = polars.read_parquet(next(out.glob("runs/*/*/1/packets.parquet")))
    assert 1100 < packets["size_bytes"].max() <= 1200
    assert run["flows"][0]["throughput_mbps"] > 5.0


@pytest.mark.parametrize("scheme", BOTH)
def test_a_machine_behind_a_nat_goes_on_when_that_forgets_it(
    make_bed: Callable[..., Bed], punctual: Punctual[Outcome], scheme: str
) -> None:
    bed = make_bed(nat=("near",))

    def make() -> Outcome:
        bed.rebind()  # the NAT forgets the mappings of earlier attempts
        with running(bed, "--schemes", scheme, "--duration", 10) as (out, process):
            # On a loaded machine the flow may begin later than its peer process.
            assert eventually(lambda: bed.answered() == 2)
            bed.rebind()
            return finish(out, process)

    out, run = good(punctual(make))
    flow = stats(out, run)["remote"]["flows"][0]
    assert flow["guarded"]["moved"] >= 1
    assert flow["guarded"]["forged"] == 0
    delivered_rows = polars.read_parquet(next(out.glob("runs/*/*/1/packets.parquet"))).filter(polars.col("event") == 5)
    assert (delivered_rows["time_ns"] > 9_000_000_000).sum() > 100


@pytest.mark.parametrize(
    ("side", "step_ms"), [("far", -200), *(pytest.param(*step, marks=pytest.mark.slow) for step in STEPS)]
)
def test_a_clock_that_is_set_during_a_run_is_found(make_bed: Callable[..., Bed], side: str, step_ms: int) -> None:
    bed = make_bed(test_clocks={side: f"step={step_ms:+}ms@9s"})
    with running(bed, "--schemes", "copa", "--duration", 12) as (out, process):
        outcome = finish(out, process)
    (run,) = outcome["runs"]
    assert run["status"] == "degraded", outcome["errors"]
    ((at_s, by_ms, _),) = stats(out, run)["clocks"]["steps"]
    # The clock offset is the remote clock minus the local one.
    assert by_ms == pytest.approx(step_ms if side == "far" else -step_ms, abs=1.0)
    assert 3.0 < at_s < 9.0
    times = polars.read_parquet(next(out.glob("runs/*/*/1/packets.parquet")))["time_ns"]
    assert times.is_sorted()


def _udp_ports(bed: Bed) -> list[int]:
    """Return the open UDP ports of the far machine."""
    lines = bed.far.run("cat", "/proc/self/net/udp").stdout.splitlines()[1:]
    return [int(line.split()[1].split(":")[1], 16) for line in lines]


def test_what_others_send_is_counted_and_does_nothing(bed: Bed, punctual: Punctual[Outcome]) -> None:
    """Send garbage of all lengths to all ports of the far machine, from another port of the near one."""
    flood = """
import os, socket, sys, time
peer = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
until = time.monotonic() + 3
while time.monotonic() < until:
    for port in map(int, sys.argv[2:]):
        for size in (1, 33, 61, 80, 1200):
            peer.sendto(os.urandom(size), (sys.argv[1], port))
    time.sleep(0.01)
"""

    def make() -> Outcome:
        with running(bed, "--schemes", "copa", "--duration", 8) as (out, process):
            # On a loaded machine the ports may open later.
            assert eventually(lambda: len(_udp_ports(bed)) == 2)
            bed.near.run("python3", "-c", flood, FAR, *_udp_ports(bed))
            return finish(out, process)

    out, run = good(punctual(make))
    remote = stats(out, run)["remote"]
    assert remote["flows"][0]["guarded"]["forged"] > 300
    assert remote["channel"]["forged"] > 300
    assert remote["flows"][0]["guarded"]["moved"] == 0
    assert run["flows"][0]["throughput_mbps"] > 5.0


REPLAY = """
import socket, sys, time
taken = []
with socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(0x0003)) as wire:
    wire.bind(("machine", 0x0003))
    wire.settimeout(0.1)
    until = time.monotonic() + 10.0  # on a busy machine the flow begins late
    while time.monotonic() < until and len(taken) < 500:
        try:
            packet, (_, _, kind, *_) = wire.recvfrom(2048)
        except TimeoutError:
            continue
        if kind == socket.PACKET_OUTGOING and packet[9] == socket.IPPROTO_UDP:
            start = 4 * (packet[0] & 15)
            taken.append((int.from_bytes(packet[start + 2 : start + 4], "big"), packet[start + 8 :]))
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as elsewhere:
    for port, payload in taken:
        elsewhere.sendto(payload, (sys.argv[1], port))
        time.sleep(0.002)
"""


@pytest.mark.parametrize("scheme", BOTH)
def test_what_a_router_has_recorded_and_sends_again_does_nothing(
    bed: Bed, punctual: Punctual[Outcome], scheme: str
) -> None:
    def make() -> Outcome:
        # A busy machine takes seconds to start the recorder.
        with running(bed, "--schemes", scheme, "--duration", 20) as (out, process):
            bed.in_router("far", "python3", "-c", REPLAY, FAR)
            return finish(out, process)

    out, run = good(punctual(make))
    counters = stats(out, run)["remote"]["flows"][0]["guarded"]
    assert 300 < counters["replayed"] <= 500
    assert counters["moved"] == 0
    assert counters["forged"] == 0
    delivered_rows = polars.read_parquet(next(out.glob("runs/*/*/1/packets.parquet"))).filter(polars.col("event") == 5)
    assert delivered_rows["seq"].n_unique() == len(delivered_rows)
    assert run["flows"][0]["throughput_mbps"] > 5.0


def test_an_ssh_server_that_hangs_is_told_after_a_while(bed: Bed) -> None:
    with running(bed, "--schemes", "copa", "--duration", 30) as (out, process):
        hanging = bed.sessions()
        for number in hanging:
            os.kill(number, signal.SIGSTOP)
        began = time.monotonic()
        try:
            outcome = finish(out, process)
            assert time.monotonic() - began < 40.0
            # The far peer process gets no message from its controller either.
            assert bed.far.empty(mark="remote serve")
        finally:
            for number in hanging:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(number, signal.SIGKILL)
    assert outcome["exit"] == 1
    (run,) = outcome["runs"]
    assert re.search(r"10\.2\.0\.2:2222: .* for 15 s: the connection was lost", run["reason"]), run["reason"]
    assert bed.near.empty()
    assert bed.far.empty()


def test_a_disk_that_is_full_as_logs_come_is_said_at_once(bed: Bed) -> None:
    bed.near.run("mkdir", "results")
    bed.near.run("mount", "-t", "tmpfs", "-o", "size=20m", "tmpfs", "results")
    words = ("--schemes", "copa", "--duration", 6, "--runs", 3)
    with running(bed, *words, out=bed.near.folder / "results") as (out, process):
        bed.near.run("sh", "-c", "cat /dev/zero > results/zeros; true")
        outcome = finish(out, process)
    assert outcome["exit"] == 1
    assert "No space left on device" in outcome["errors"]
    assert "has what was finished, 0 runs of this time" in outcome["errors"]  # nor were the other two tried
    assert bed.near.empty()
    assert bed.far.empty()


def test_a_far_machine_without_room_for_programs_says_so_with_its_name(bed: Bed) -> None:
    allow_iperf3(bed)
    for place in ("/run", bed.far.environment["TMPDIR"], bed.far.environment["XDG_RUNTIME_DIR"]):
        bed.far.run("mount", "-t", "tmpfs", "-o", "mode=700,nr_inodes=2", "tmpfs", place)
        bed.far.run("mkdir", f"{place}/sshd")
    words = ("--schemes", "iperf3", "--duration", 2, "--out", "out")
    result = bed.dumbbell("run", "--backend", f"remote:{bed.host}", *words, expect=1)
    (line,) = {line for line in result.stderr.splitlines() if line.startswith("failed: ")}
    assert f"{bed.host}: there is no private directory for programs: /run/dumbbell: No space left" in line
    assert bed.near.empty()
    assert bed.far.empty()


def test_a_far_machine_without_room_for_what_programs_print_runs_them_all_the_same(
    bed: Bed, punctual: Punctual[Outcome]
) -> None:
    allow_iperf3(bed)
    bed.far.run("mount", "-t", "tmpfs", "-o", "mode=755,size=4k", "tmpfs", "/run")
    bed.far.run("mkdir", "/run/sshd")
    bed.far.run("sh", "-c", "cat /dev/zero > /run/full; true")

    def make() -> Outcome:
        with running(bed, "--schemes", "iperf3", "--sender", "remote", "--duration", 2) as (out, process):
            return finish(out, process)

    _, run = good(punctual(make))
    assert run["flows"][0]["throughput_mbps"] > 5.0
    assert bed.near.empty()
    assert bed.far.empty()


def test_what_a_far_program_starts_does_not_outlive_its_run(bed: Bed, punctual: Punctual[Outcome]) -> None:
    allow(bed, "sh")
    seconds = f"6{secrets.randbelow(10**9):09d}"
    script = f"setsid env -i sleep {seconds} & exec iperf3 -s -1 -p $1"
    scheme = f"""kind = "program"
[program]
sender = ["iperf3", "-c", "{{ip}}", "-p", "{{port}}", "-t", "{{duration}}"]
receiver = ["sh", "-c", "{script}", "sh", "{{port}}"]
"""
    Path(bed.near.folder, "escapes.toml").write_text(scheme)

    def sleeps() -> bool:
        return any(seconds in line for line in bed.far.running(f"sleep {seconds}").values())

    def make() -> Outcome:
        with running(bed, "--schemes", "escapes.toml", "--duration", 4) as (out, process):
            assert eventually(sleeps)
            outcome = finish(out, process)
        assert eventually(lambda: not sleeps())
        assert bed.far.empty()
        return outcome

    good(punctual(make))


def allow_iperf3(bed: Bed) -> None:
    allow(bed, "iperf3")


def allow(bed: Bed, program: str) -> None:
    allow_file = Path(bed.far.environment["HOME"], ".config/dumbbell/allow")
    allow_file.parent.mkdir(parents=True)
    allow_file.write_text(f"{program}\n")


def test_a_directory_takes_one_experiment_at_a_time(bed: Bed, punctual: Punctual[Outcome]) -> None:
    def make() -> Outcome:
        # On a busy machine the second command needs more than ten seconds until it is refused.
        with running(bed, "--schemes", "copa", "--duration", 25) as (out, process):
            refusal = bed.dumbbell("run", "--resume", "--out", out, expect=2)
            assert "results" in refusal.stderr
            return finish(out, process)

    good(punctual(make))
