"""What can go wrong between two machines, while a run goes on: each with a clear reason, and nothing is left behind."""

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

Made = dict[str, Any]
"""Result of a command: its directory `out`, its exit status `exit`, its `runs`, and its stderr `errors`."""


@contextlib.contextmanager
def running(bed: Bed, *words: object, out: Path | None = None) -> Iterator[tuple[Path, "subprocess.Popen[str]"]]:
    """An experiment whose first run is under way: its directory, a new one or `out`, and its process."""
    out = out or bed.new_results()
    backend = f"remote:{bed.host}"
    process = bed.near.start_dumbbell("run", "--backend", backend, "--out", out, "--json", *words)
    try:
        # the kernel's clock ticks on: both peer processes are there, and more than the meeting is over
        begun = Path(f"/proc/{bed.near.inside}/root{out}/experiment.toml")  # as it is there: it may be on another disk
        assert eventually(lambda: bed.far.running("remote serve") and begun.exists())
        time.sleep(5.0)  # noqa: TID251 (the run goes on in real time)
        yield out, process
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)


def finished(out: Path, process: "subprocess.Popen[str]") -> Made:
    """Wait for its end."""
    told, errors = process.communicate(timeout=TIMEOUT_S)
    assert "Traceback" not in errors, errors
    return {"out": out, "exit": process.returncode, "runs": json.loads(told)["runs"], "errors": errors}


def good(made: Made) -> tuple[Path, dict[str, Any]]:
    """The directory, and the only run of a command that went well."""
    (each,) = made["runs"]
    assert (made["exit"], each["status"]) == (0, "done"), made["errors"]
    return made["out"], each


def stats(out: Path, each: dict[str, Any]) -> dict[str, Any]:
    folder = out / "runs" / each["path"] / each["scheme"] / str(each["run"])
    found: dict[str, Any] = json.loads((folder / "stats.json").read_text())
    return found


@pytest.mark.parametrize("what", ["peer", pytest.param("ssh", marks=pytest.mark.slow)])
def test_a_connection_that_is_lost_fails_its_run_and_resume_makes_it(
    bed: Bed, punctual: Punctual[list[dict[str, Any]]], what: str
) -> None:
    def make() -> list[dict[str, Any]]:
        with running(bed, "--schemes", "copa", "--duration", 8, "--runs", 2) as (out, process):
            killed = bed.sessions() if what == "ssh" else list(bed.far.running("remote serve"))
            assert killed
            # all at once: on a busy machine one of them has time to say that another one ended
            for what_comes in (signal.SIGSTOP, signal.SIGKILL):
                for number in killed:
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(number, what_comes)
            made = finished(out, process)
        assert made["exit"] == 1
        first, second = made["runs"]
        assert first["status"] == "failed"
        assert FAR in first["reason"], first["reason"]
        assert "the connection was closed" in first["reason"], first["reason"]
        assert second["status"] != "failed", made["errors"]
        assert bed.near.empty()
        assert bed.far.empty()
        again = bed.dumbbell("run", "--resume", "--out", out, "--json", expect=None)
        assert again.returncode in (0, 1), again.stderr
        runs: list[dict[str, Any]] = json.loads(again.stdout)["runs"]
        return runs

    assert [each["status"] for each in punctual(make)] == ["done", "done"]


def test_udp_that_is_blocked_is_told_with_its_direction(bed: Bed) -> None:
    bed.block_udp()
    done = bed.dumbbell(
        "run", "--backend", f"remote:{bed.host}", "--schemes", "copa", "--duration", 2, "--out", "out", expect=1
    )
    assert "UDP to 10.2.0.2:" in done.stderr
    assert "a firewall may block it" in done.stderr
    assert bed.near.empty()
    assert bed.far.empty()


@pytest.mark.parametrize("scheme", BOTH)
def test_packets_are_as_long_as_the_path_takes_even_where_nobody_tells(
    make_bed: Callable[..., Bed], punctual: Punctual[Made], scheme: str
) -> None:
    bed = make_bed(SMALL)
    bed.keep_sizes_secret()

    def make() -> Made:
        with running(bed, "--schemes", scheme, "--duration", 4) as (out, process):
            return finished(out, process)

    out, each = good(punctual(make))
    assert stats(out, each)["remote"]["mtu"] == {"there": 1200, "back": 1200}
    packets = polars.read_parquet(next(out.glob("runs/*/*/1/packets.parquet")))
    assert 1100 < packets["size_bytes"].max() <= 1200
    assert each["flows"][0]["throughput_mbps"] > 5.0


@pytest.mark.parametrize("scheme", BOTH)
def test_a_machine_behind_a_nat_goes_on_when_that_forgets_it(
    make_bed: Callable[..., Bed], punctual: Punctual[Made], scheme: str
) -> None:
    bed = make_bed(nat=("near",))

    def make() -> Made:
        bed.rebind()  # the NAT forgets the mappings of earlier attempts
        with running(bed, "--schemes", scheme, "--duration", 10) as (out, process):
            # on a loaded machine the flow may begin later than its peer's process
            assert eventually(lambda: bed.answered() == 2)
            bed.rebind()
            return finished(out, process)

    out, each = good(punctual(make))
    flow = stats(out, each)["remote"]["flows"][0]
    assert flow["guarded"]["moved"] >= 1
    assert flow["guarded"]["forged"] == 0
    delivered = polars.read_parquet(next(out.glob("runs/*/*/1/packets.parquet"))).filter(polars.col("event") == 5)
    assert (delivered["time_ns"] > 9_000_000_000).sum() > 100


@pytest.mark.parametrize(
    ("side", "step_ms"), [("far", -200), *(pytest.param(*each, marks=pytest.mark.slow) for each in STEPS)]
)
def test_a_clock_that_is_set_during_a_run_is_found(make_bed: Callable[..., Bed], side: str, step_ms: int) -> None:
    bed = make_bed(test_clocks={side: f"step={step_ms:+}ms@9s"})
    with running(bed, "--schemes", "copa", "--duration", 12) as (out, process):
        made = finished(out, process)
    (each,) = made["runs"]
    assert each["status"] == "degraded", made["errors"]
    ((at_s, by_ms, _),) = stats(out, each)["clocks"]["steps"]
    # theta is the remote clock less the local one
    assert by_ms == pytest.approx(step_ms if side == "far" else -step_ms, abs=1.0)
    assert 3.0 < at_s < 9.0
    times = polars.read_parquet(next(out.glob("runs/*/*/1/packets.parquet")))["time_ns"]
    assert times.is_sorted()


def _udp_ports(bed: Bed) -> list[int]:
    """The ports that the far machine has open."""
    lines = bed.far.run("cat", "/proc/self/net/udp").stdout.splitlines()[1:]
    return [int(line.split()[1].split(":")[1], 16) for line in lines]


def test_what_others_send_is_counted_and_does_nothing(bed: Bed, punctual: Punctual[Made]) -> None:
    """Garbage of all lengths, to all ports of the far machine from another of the near one."""
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

    def make() -> Made:
        with running(bed, "--schemes", "copa", "--duration", 8) as (out, process):
            # on a loaded machine they may take longer
            assert eventually(lambda: len(_udp_ports(bed)) == 2)
            bed.near.run("python3", "-c", flood, FAR, *_udp_ports(bed))
            return finished(out, process)

    out, each = good(punctual(make))
    remote = stats(out, each)["remote"]
    assert remote["flows"][0]["guarded"]["forged"] > 300
    assert remote["channel"]["forged"] > 300
    assert remote["flows"][0]["guarded"]["moved"] == 0
    assert each["flows"][0]["throughput_mbps"] > 5.0


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
    bed: Bed, punctual: Punctual[Made], scheme: str
) -> None:
    def make() -> Made:
        # a busy machine takes seconds to begin what records
        with running(bed, "--schemes", scheme, "--duration", 20) as (out, process):
            bed.in_router("far", "python3", "-c", REPLAY, FAR)
            return finished(out, process)

    out, each = good(punctual(make))
    guarded = stats(out, each)["remote"]["flows"][0]["guarded"]
    assert 300 < guarded["replayed"] <= 500
    assert guarded["moved"] == 0
    assert guarded["forged"] == 0
    delivered = polars.read_parquet(next(out.glob("runs/*/*/1/packets.parquet"))).filter(polars.col("event") == 5)
    assert delivered["seq"].n_unique() == len(delivered)
    assert each["flows"][0]["throughput_mbps"] > 5.0


def test_an_ssh_server_that_hangs_is_told_after_a_while(bed: Bed) -> None:
    with running(bed, "--schemes", "copa", "--duration", 30) as (out, process):
        hanging = bed.sessions()
        for number in hanging:
            os.kill(number, signal.SIGSTOP)
        began = time.monotonic()
        try:
            made = finished(out, process)
            assert time.monotonic() - began < 40.0
            # the far peer process does not hear of its controller either
            assert bed.far.empty(mark="remote serve")
        finally:
            for number in hanging:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(number, signal.SIGKILL)
    assert made["exit"] == 1
    (each,) = made["runs"]
    assert re.search(r"10\.2\.0\.2:2222: .* for 15 s: the connection was lost", each["reason"]), each["reason"]
    assert bed.near.empty()
    assert bed.far.empty()


def test_a_disk_that_is_full_as_logs_come_is_said_at_once(bed: Bed) -> None:
    bed.near.run("mkdir", "results")
    bed.near.run("mount", "-t", "tmpfs", "-o", "size=20m", "tmpfs", "results")
    words = ("--schemes", "copa", "--duration", 6, "--runs", 3)
    with running(bed, *words, out=bed.near.folder / "results") as (out, process):
        bed.near.run("sh", "-c", "cat /dev/zero > results/zeros; true")
        made = finished(out, process)
    assert made["exit"] == 1
    assert "No space left on device" in made["errors"]
    assert "has what was finished, 0 runs of this time" in made["errors"]  # nor were the other two tried
    assert bed.near.empty()
    assert bed.far.empty()


def test_a_far_machine_without_room_for_programs_says_so_with_its_name(bed: Bed) -> None:
    allow_iperf3(bed)
    for place in ("/run", bed.far.environment["TMPDIR"], bed.far.environment["XDG_RUNTIME_DIR"]):
        bed.far.run("mount", "-t", "tmpfs", "-o", "mode=700,nr_inodes=2", "tmpfs", place)
        bed.far.run("mkdir", f"{place}/sshd")
    words = ("--schemes", "iperf3", "--duration", 2, "--out", "out")
    done = bed.dumbbell("run", "--backend", f"remote:{bed.host}", *words, expect=1)
    (line,) = {line for line in done.stderr.splitlines() if line.startswith("failed: ")}
    assert f"{bed.host}: there is no private directory for programs: /run/dumbbell: No space left" in line
    assert bed.near.empty()
    assert bed.far.empty()


def test_a_far_machine_without_room_for_what_programs_print_runs_them_all_the_same(
    bed: Bed, punctual: Punctual[Made]
) -> None:
    allow_iperf3(bed)
    bed.far.run("mount", "-t", "tmpfs", "-o", "mode=755,size=4k", "tmpfs", "/run")
    bed.far.run("mkdir", "/run/sshd")
    bed.far.run("sh", "-c", "cat /dev/zero > /run/full; true")

    def make() -> Made:
        with running(bed, "--schemes", "iperf3", "--sender", "remote", "--duration", 2) as (out, process):
            return finished(out, process)

    _, each = good(punctual(make))
    assert each["flows"][0]["throughput_mbps"] > 5.0
    assert bed.near.empty()
    assert bed.far.empty()


def test_what_a_far_program_starts_does_not_outlive_its_run(bed: Bed, punctual: Punctual[Made]) -> None:
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

    def make() -> Made:
        with running(bed, "--schemes", "escapes.toml", "--duration", 4) as (out, process):
            assert eventually(sleeps)
            made = finished(out, process)
        assert eventually(lambda: not sleeps())
        assert bed.far.empty()
        return made

    good(punctual(make))


def allow_iperf3(bed: Bed) -> None:
    allow(bed, "iperf3")


def allow(bed: Bed, program: str) -> None:
    allowed = Path(bed.far.environment["HOME"], ".config/dumbbell/allow")
    allowed.parent.mkdir(parents=True)
    allowed.write_text(f"{program}\n")


def test_a_directory_takes_one_experiment_at_a_time(bed: Bed, punctual: Punctual[Made]) -> None:
    def make() -> Made:
        # on a busy machine the second command needs more than ten seconds until it is refused
        with running(bed, "--schemes", "copa", "--duration", 25) as (out, process):
            refused = bed.dumbbell("run", "--resume", "--out", out, expect=2)
            assert "results" in refused.stderr
            return finished(out, process)

    good(punctual(make))
