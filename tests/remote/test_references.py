"""Tests of clock references that both machines' knowledge of UTC makes."""

import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from dumbbell.base.clock import Clock
from dumbbell.base.errors import UserError
from dumbbell.machine import sntp
from dumbbell_remote import chrony, describe_commands
from dumbbell_remote.link import Peer
from dumbbell_remote.serve import State
from dumbbell_remote.utc_references import best_reference, references
from support.clock import ManualClock
from support.commands.command import Dumbbell

FORM = struct.Struct("!BBbb4s4s4sQQQQ")
ROOT_DELAY, ROOT_DISPERSION = (65536 // 100).to_bytes(4, "big"), (65536 // 1000).to_bytes(4, "big")
"""10 ms and 1 ms in NTP's short format."""


def stamp(unix_s: float) -> int:
    return round((unix_s + 2_208_988_800) % 2**32 * 2**32)


def answer(question: bytes, lies_s: float = 0.0, first: int = 0b00_100_100, stratum: int = 2) -> bytes:
    """Return the answer of a server whose clock is off by `lies_s`."""
    now = stamp(time.time() + lies_s)
    cookie = FORM.unpack(question)[10]
    fields = (b"RATE", 0, cookie, now, now)
    return FORM.pack(first, stratum, 6, -20, ROOT_DELAY, ROOT_DISPERSION, *fields)


@contextmanager
def serve_time(reply: Callable[[bytes], list[bytes]]) -> Iterator[str]:
    """Serve time on loopback; yield the address."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as end:
        end.bind(("127.0.0.1", 0))
        end.settimeout(0.1)
        over = threading.Event()

        def work() -> None:
            while not over.is_set():
                try:
                    question, client = end.recvfrom(100)
                except TimeoutError:
                    continue
                for datagram in reply(question):
                    end.sendto(datagram, client)

        thread = threading.Thread(target=work)
        thread.start()
        try:
            yield f"127.0.0.1:{end.getsockname()[1]}"
        finally:
            over.set()
            thread.join()


def ask_server(server: str, clock: Clock | None = None) -> list[sntp.UtcReading]:
    """Return the answers of a time server; without `clock` time stands still, and no answer is too late."""
    return sntp.ask(sntp.read_server(server), 3, clock=clock or ManualClock())


def off_ns(reference: sntp.UtcReading, lies_s: float) -> float:
    """Return the error of an answer beyond its round trip, ns; the server's error bound is 6 ms."""
    _, ahead_ns, between_ns = chrony.wall_clock_ahead()
    way_ns = reference.error_ns - 6e6
    slewed_ns = 1e6  # by whoever sets the wall clock meanwhile
    return abs(reference.ahead_ns - ahead_ns - round(lies_s * 1e9)) - way_ns - between_ns - slewed_ns


def test_a_server_that_is_off_is_off_by_as_much() -> None:
    with serve_time(lambda question: [answer(question, lies_s=-3600.25)]) as server:
        references_found = ask_server(server)
    assert len(references_found) == 3
    best = min(references_found, key=lambda reference: reference.error_ns)
    assert off_ns(best, -3600.25) < 0
    assert best.error_ns > 6e6 - 2e4  # half of the root delay, the root dispersion; the rest is the way on loopback


def test_times_after_2036_are_understood() -> None:
    later = 2_100_000_000.0
    packet = FORM.pack(0x24, 1, 0, -20, bytes(4), bytes(4), b"GPS", 0, 1, stamp(later), stamp(later))
    reference = sntp.read_answer(packet, 1_000, 3_000, ManualClock(later))
    assert reference.ahead_ns == int(later * 1e9) - 2_000
    assert (reference.at_ns, reference.error_ns) == (2_000, 1_000 + 954)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"stratum": 0}, r"refuses to answer \(RATE\)"),
        ({"stratum": 16}, "is not synchronised itself"),
        ({"first": 0b11_100_100}, "is not synchronised itself"),
        ({"first": 0b00_100_011}, "its answer is none of a server"),
    ],
)
def test_who_does_not_know_the_time_is_no_server(change: dict[str, int], message: str) -> None:
    with serve_time(lambda question: [answer(question, **change)]) as server, pytest.raises(UserError, match=message):
        ask_server(server)


def test_answers_to_nobody_and_noise_are_not_taken() -> None:
    def reply(question: bytes) -> list[bytes]:
        forged_answer = answer(question[:40] + bytes(8), lies_s=9.0)
        return [b"", b"x" * 47, b"y" * 3000, forged_answer, answer(question, lies_s=1.0)]

    with serve_time(reply) as server:
        references_found = ask_server(server)
    assert len(references_found) == 3
    assert all(off_ns(reference, 1.0) < 0 for reference in references_found)


def test_silence_is_said_and_a_server_is_not_asked_often() -> None:
    clock = ManualClock(turns_in_waits=True)
    began_s = clock.monotonic()
    with serve_time(lambda _: []) as server, pytest.raises(UserError, match="does not answer"):
        ask_server(server, clock)
    assert clock.slept_s == [sntp.SPACING_S] * 2
    assert clock.monotonic() - began_s == 3 * sntp.PATIENCE_S + 2 * sntp.SPACING_S
    with pytest.raises(UserError, match=r"NTP server no-such-host\.invalid: "):
        ask_server("no-such-host.invalid")


@pytest.mark.parametrize("text", ["", "me@time.example", "time.example:0", "-x", "a b"])
def test_what_is_no_server_is_refused(text: str, dumbbell: Dumbbell) -> None:
    with pytest.raises(UserError, match="allowed is"):
        sntp.read_server(text)
    if text and not text.startswith("-"):
        words = ("run", "--schemes", "reno", "--backend", "remote:nowhere.invalid", f"--ntp={text}")
        assert "`ntp`" in dumbbell(*words, expect=2).stderr


def test_two_machines_make_a_reference() -> None:
    # The remote clock is 5 s ahead, so UTC is less ahead of it.
    local = [{"at_ns": 10**9, "ahead_ns": 100 * 10**9, "error_ns": 3_000_000}]
    remote = [
        {"at_ns": 6 * 10**9 + 1_000_000, "ahead_ns": 95 * 10**9, "error_ns": 2_000_000},
        {"at_ns": 16 * 10**9, "ahead_ns": 95 * 10**9, "error_ns": 1_500_000},  # better, but too late
    ]
    reference = best_reference("x", local, remote)
    assert reference == {"at_ns": 10**9, "offset_ns": 5 * 10**9, "error_ns": 5_000_000 + 1_001, "source": "x"}


def test_two_machines_that_hear_the_same_lie_have_one_reference(clock: ManualClock) -> None:
    state = State(tell=lambda **_: None, clock=clock)
    with serve_time(lambda question: [answer(question, lies_s=7.0)]) as server:
        source = f"NTP server {server}"
        answers = [describe_commands.known_utc(state, {"ntp": server}, b"")[0] for _ in range(2)]
    assert [peer_answer["failed"] for peer_answer in answers] == [{}, {}]
    reference = best_reference(source, *(peer_answer["known"][source] for peer_answer in answers))
    assert abs(reference["offset_ns"]) < reference["error_ns"]


@pytest.mark.real
def test_peer_processes_ask_the_same_server_and_a_wrong_clock_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DUMBBELL_TEST_CLOCK", "offset=37ms")
    notes: list[str] = []
    with serve_time(lambda question: [answer(question, lies_s=7.0)]) as server, Peer() as remote:
        remote.ask("open", request={"flows": 1})  # from here on its clock is wrong
        monkeypatch.delenv("DUMBBELL_TEST_CLOCK")
        with Peer() as local:
            [reference] = references((local, remote), server, lambda text, _: notes.append(text))
    assert not notes
    assert reference["source"] == f"NTP server {server}"
    # The server's error does not matter: both machines get the same wrong time.
    assert abs(reference["offset_ns"] - 37_000_000) < 5_000_000
    assert reference["error_ns"] < 60_000_000


def test_no_answer_is_a_note() -> None:
    notes: list[str] = []
    with Peer() as local:
        references_found = references((local, local), "no-such-host.invalid", lambda text, _: notes.append(text))
    assert references_found == []
    assert len(notes) == 2
    assert notes[0].startswith("clock of this machine: NTP server no-such-host.invalid: ")


REPORT = "A29FC87B,192.0.2.1,3,1700000000.123456789,0.000120000,0.0,0.00002,1.789,-0.001,0.016,0.020,0.0005,64.2,{}\n"


def test_chrony_is_believed_as_far_as_it_believes_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert chrony.parse_tracking(REPORT.format("Normal")) == (0.00012, pytest.approx(0.0105), True)
    assert not chrony.parse_tracking(REPORT.format("Not synchronised"))[2]
    for text in ("", "506 Cannot talk to daemon\n", "a" + ",x" * 13, REPORT.format("Normal") + ",1"):
        with pytest.raises(UserError, match="is no report of tracking"):
            chrony.parse_tracking(text)
    program = tmp_path / "chronyc"
    program.write_text(f"#!/bin/sh\ntest \"$*\" = '-n -c tracking' && echo '{REPORT.format('Normal').strip()}'\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    tracking = chrony.tracking()
    assert tracking is not None
    # A positive system time is slow: UTC is that much later than the wall clock.
    _, ahead_ns, between_ns = chrony.wall_clock_ahead()
    slewed_ns = 1e6  # by whoever sets the wall clock meanwhile
    assert abs(tracking.ahead_ns - ahead_ns - 120_000) < tracking.error_ns - 10_500_000 + between_ns + slewed_ns
    assert tracking.error_ns >= 10_500_000
    program.write_text("#!/bin/sh\necho '506 Cannot talk to daemon'; exit 1\n")
    assert chrony.tracking() is None
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    assert chrony.tracking() is None
