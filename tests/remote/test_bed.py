"""Tests of the test bed itself."""

import subprocess
import time
from collections.abc import Callable

import polars
import pytest

from .bed import FAR, Bed, eventually, path_text

pytestmark = pytest.mark.real

ECHO = """
import socket
peer = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
peer.bind(("0.0.0.0", 5000))
while True:
    message, where = peer.recvfrom(2000)
    peer.sendto(repr((where, len(message))).encode(), where)
"""

ASK = """
import socket, sys, time
peer = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
peer.settimeout(0.3)
for size in map(int, sys.argv[2:]):
    began = time.monotonic()
    peer.setsockopt(socket.IPPROTO_IP, 10, 3)  # IP_MTU_DISCOVER, IP_PMTUDISC_PROBE: no fragments
    try:
        peer.sendto(bytes(size), (sys.argv[1], 5000))
        print(peer.recv(2000).decode(), time.monotonic() - began)
    except OSError as error:
        print(type(error).__name__)
"""


def ask(bed: Bed, *sizes: int) -> list[str]:
    return bed.near.run("python3", "-c", ASK, FAR, *sizes).stdout.splitlines()


def echo(bed: Bed) -> None:
    bed.far.own_processes.add(bed.far.start("python3", "-c", ECHO).pid)
    assert eventually(lambda: "TimeoutError" not in ask(bed, 10))


def test_packets_take_the_path_and_ssh_does_not(bed: Bed) -> None:
    echo(bed)
    before = len(ask(bed, *[100] * 20))
    assert before == 20
    began = time.monotonic()
    assert bed.near.run("ssh", "-p", "2222", FAR, "echo $HOME; cat /proc/sys/net/ipv4/ip_forward").stdout == (
        f"{bed.far.folder / 'home'}\n0\n"
    )
    assert time.monotonic() - began < 10.0
    packets = polars.read_parquet(bed.truth())
    sent_rows = packets.filter(polars.col("event") == 0)
    assert len(sent_rows) >= 21
    assert set(sent_rows["size_bytes"]) == {100 + 28, 10 + 28}  # not one packet of ssh
    delays = packets.filter(polars.col("event") == 5)["one_way_delay_ns"] / 1e6
    assert 10.0 < delays.min() < 11.0


def test_delays_are_those_of_each_direction(make_bed: Callable[..., Bed]) -> None:
    bed = make_bed(path_text(there_ms=5.0, back_ms=60.0), ssh_over_path=True)
    echo(bed)
    round_trip_s = float(ask(bed, 100)[0].split()[-1])
    assert 0.065 < round_trip_s < 0.3
    began = time.monotonic()
    bed.near.run("ssh", "-p", "2222", FAR, "true")
    assert time.monotonic() - began > 4 * 0.065  # handshakes


def test_a_machine_behind_a_nat_is_seen_with_another_port_after_it_was_rebound(make_bed: Callable[..., Bed]) -> None:
    bed = make_bed(nat=("near",))
    echo(bed)
    slow = ASK.replace("    began =", "    input()\n    began =")
    asking = bed.near.start("python3", "-u", "-c", slow, FAR, 10, 10, 10, stdin=subprocess.PIPE)
    assert asking.stdin is not None
    assert asking.stdout is not None
    ports = []
    for number in range(3):
        if number == 2:
            bed.rebind()
        asking.stdin.write("\n")
        asking.stdin.flush()
        ports.append(asking.stdout.readline().split(")")[0])
    asking.communicate(timeout=300)
    assert all("'10.77.0.1'" in port for port in ports)
    assert ports[0] == ports[1] != ports[2]


def test_udp_is_blocked_and_big_packets_vanish(make_bed: Callable[..., Bed]) -> None:
    bed = make_bed(path_text(mtu=1200))
    echo(bed)
    assert "TimeoutError" not in ask(bed, 1100)[0]
    bed.keep_sizes_secret()
    assert ask(bed, 1300, 1300) == ["TimeoutError", "TimeoutError"]
    assert "TimeoutError" not in ask(bed, 1172)[0]
    bed.block_udp()
    assert ask(bed, 100) == ["TimeoutError"]
    assert bed.near.run("ssh", "-p", "2222", FAR, "echo here").stdout == "here\n"


def test_machines_have_clocks_of_their_own(make_bed: Callable[..., Bed]) -> None:
    bed = make_bed(clocks_s={"far": 1000}, test_clocks={"far": "offset=37ms"})
    tell = "import time; print(time.monotonic())"
    near = float(bed.near.run("python3", "-c", tell).stdout)
    command = f"python3 -c '{tell}'; echo $DUMBBELL_TEST_CLOCK"
    far, clock = bed.near.run("ssh", "-p", "2222", FAR, command).stdout.split()
    assert 999.9 < float(far) - near < 1010.0
    assert clock == "offset=37ms"
    assert bed.far.empty(5.0)
    assert bed.near.empty(1.0)


def test_paths_lose_and_reorder(make_bed: Callable[..., Bed]) -> None:
    bed = make_bed(path_text(there_ms=2.0, back_ms=2.0, loss=0.2, reorder=0.2))
    bed.near.run("python3", "-c", FLOOD, FAR)
    packets = polars.read_parquet(bed.truth())
    sent_seqs, delivered_seqs = (packets.filter(polars.col("event") == event)["seq"].to_list() for event in (0, 5))
    assert len(sent_seqs) == 400
    assert 40 < len(sent_seqs) - len(delivered_seqs) < 140  # of 400, 80 on average
    assert delivered_seqs != sorted(delivered_seqs)


FLOOD = """
import socket, sys, time
peer = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for _ in range(400):
    peer.sendto(bytes(100), (sys.argv[1], 5000))
    time.sleep(0.001)
time.sleep(0.2)
"""
