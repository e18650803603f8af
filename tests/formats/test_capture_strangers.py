"""Captures as strangers make them: lifetimes, ambiguous acknowledgements, mirrors, order and tunnels."""

import bz2
import gzip
import lzma
import struct
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from support.commands.command import Dumbbell, show
from support.inputs.captures import ETHERNET, MS, RAW, START_NS, Packet, Tcp, framed, ip_header, tcp, write_pcap

S = 1000 * MS
SIZE = 1000


def connection(at_ns: int, count: int, port: int = 1000, initial: int = 1000, idle_ns: int = 0) -> list[Packet]:
    """Return a transfer at its sender: 1000 bytes every 10 ms, RTT 40 ms; its end comes `idle_ns` later."""
    found = set_up(initial)
    for number in range(count):
        first, sent_ns = initial + 1 + number * SIZE, (41 + number * 10) * MS
        found.append((sent_ns, Tcp(True, first, 5001, SIZE)))
        found.append((sent_ns + 40 * MS, Tcp(False, 5001, first + SIZE)))
    end_ns = (81 + count * 10) * MS + idle_ns
    found.append((end_ns, Tcp(True, initial + 1 + count * SIZE, 5001, fin=True)))
    return packets((at_ns + later_ns, replace(segment, port=port)) for later_ns, segment in found)


def set_up(initial: int = 1000) -> list[tuple[int, Tcp]]:
    """Return the set-up of a connection at its sender, without timestamps."""
    return [
        (0, Tcp(True, initial, syn=True, mss=1460)),
        (40 * MS, Tcp(False, 5000, initial + 1, syn=True, mss=1460)),
        (40 * MS + 1000, Tcp(True, initial + 1, 5001)),
    ]


def packets(segments: Iterable[tuple[int, Tcp]]) -> list[Packet]:
    """Return datagrams in the order of time, each with a number of its own, as Linux writes them."""
    ordered = sorted(segments, key=lambda each: each[0])
    return [
        (START_NS + at_ns, tcp(replace(each, ident=number % 65535 + 1))) for number, (at_ns, each) in enumerate(ordered)
    ]


def imported(dumbbell: Dumbbell, folder: Path, captured: Iterable[Packet], link: int = RAW) -> dict[str, Any]:
    """Return the only run of the import of a capture."""
    write_pcap(folder / "seen.pcap", captured, link)
    dumbbell("import", "pcap", "seen.pcap", "--out", "seen")
    (run,) = show(dumbbell, "seen")["runs"]
    assert run["status"] == "done"
    return run


def has_note(run: dict[str, Any], text: str) -> bool:
    """Return whether a note of the run has the text."""
    return any(text in note for note in run["notes"])


def test_connections_one_after_the_other_have_their_own_times_and_never_compete(
    dumbbell: Dumbbell, folder: Path
) -> None:
    run = imported(dumbbell, folder, connection(0, 100) + connection(100 * S, 100, port=1001))
    assert [flow["goodput_mbps"] for flow in run["flows"]] == pytest.approx([0.8, 0.8], rel=0.06)
    assert run["network"]["jain_index"] is None
    assert all(flow["competing_share"] is None for flow in run["flows"])


def test_idleness_before_the_end_of_a_connection_is_no_time_of_the_transfer(dumbbell: Dumbbell, folder: Path) -> None:
    run = imported(dumbbell, folder, connection(0, 100, idle_ns=60 * S))
    (flow,) = run["flows"]
    assert flow["goodput_mbps"] == pytest.approx(0.8, rel=0.06)
    assert has_note(run, "flow 1 lived 61.")


@pytest.mark.parametrize("initial", [1000 + 500_000_000, 1000 + 3_500_000_000])
def test_a_set_up_on_the_same_ports_begins_a_new_connection(dumbbell: Dumbbell, folder: Path, initial: int) -> None:
    run = imported(dumbbell, folder, connection(0, 50) + connection(5 * S, 50, initial=initial % 2**32))
    assert [flow["data_bytes_delivered"] for flow in run["flows"]] == [50_000, 50_000]
    assert [flow["retransmissions"] for flow in run["flows"]] == [0, 0]
    assert run["network"]["packet_loss_rate"] == 0.0
    assert not has_note(run, "not in the capture")


def test_an_acknowledgement_of_a_packet_that_was_sent_twice_gives_no_round_trip_time(
    dumbbell: Dumbbell, folder: Path
) -> None:
    found = set_up()
    for number in range(20):
        first, sent_ns = 1001 + number * SIZE, (100 + 50 * number) * MS
        found += [(sent_ns, Tcp(True, first, 5001, SIZE)), (sent_ns + 40 * MS, Tcp(False, 5001, first + SIZE))]
        if number == 10:  # sent again 5 ms before the acknowledgement of the first copy
            found.append((sent_ns + 35 * MS, Tcp(True, first, 5001, SIZE)))
    run = imported(dumbbell, folder, packets(found))
    (flow,) = run["flows"]
    assert (flow["rtt_min_ms"], flow["rtt_p99_ms"]) == pytest.approx((40.0, 40.0), abs=0.01)
    assert has_note(run, "1 packets were sent more than once")


@pytest.mark.parametrize("new_bytes", [0, 400])
def test_a_retransmission_of_another_size_delivers_each_byte_once(
    dumbbell: Dumbbell, folder: Path, new_bytes: int
) -> None:
    found = set_up()
    found += [((100 + number) * MS, Tcp(True, 1001 + 100 * number, 5001, 100)) for number in range(10)]
    joined = SIZE + new_bytes
    found += [(600 * MS, Tcp(True, 1001, 5001, joined)), (640 * MS, Tcp(False, 5001, 1001 + joined))]
    for number in range(5):
        first, sent_ns = 1001 + joined + number * SIZE, (700 + 50 * number) * MS
        found += [(sent_ns, Tcp(True, first, 5001, SIZE)), (sent_ns + 40 * MS, Tcp(False, 5001, first + SIZE))]
    (flow,) = imported(dumbbell, folder, packets(found))["flows"]
    assert flow["data_bytes_delivered"] == 6000 + new_bytes
    assert (flow["rtt_min_ms"], flow["rtt_p50_ms"]) == pytest.approx((40.0, 40.0), abs=0.01)


def test_a_retransmission_in_two_halves_delivers_each_byte_once(dumbbell: Dumbbell, folder: Path) -> None:
    found = set_up()
    found += [(100 * MS, Tcp(True, 1001, 5001, 1000)), (101 * MS, Tcp(True, 2001, 5001, 1000))]
    found += [(400 * MS, Tcp(True, 1001, 5001, 500)), (401 * MS, Tcp(True, 1501, 5001, 500))]
    found += [(441 * MS, Tcp(False, 5001, 3001))]
    (flow,) = imported(dumbbell, folder, packets(found))["flows"]
    assert (flow["data_bytes_delivered"], flow["retransmissions"]) == (2000, 2)
    assert flow["packets_sent"] == 4


def test_packets_that_a_mirror_shows_twice_are_no_retransmissions(dumbbell: Dumbbell, folder: Path) -> None:
    twice = [(at_ns + later, data) for at_ns, data in connection(0, 50) for later in (0, 2000)]
    run = imported(dumbbell, folder, twice)
    (flow,) = run["flows"]
    assert (flow["packets_sent"], flow["retransmissions"]) == (50, 0)
    assert run["network"]["packet_loss_rate"] == 0.0
    assert has_note(run, "by a port mirror: these copies are left out")


def test_directions_one_after_the_other_in_a_file_are_sorted_by_time(dumbbell: Dumbbell, folder: Path) -> None:
    captured = connection(0, 20)
    ways = [[each for each in captured if each[1][12:16] == end] for end in (b"\x0a\0\0\x01", b"\x0a\0\0\x02")]
    run = imported(dumbbell, folder, ways[0] + ways[1])
    (flow,) = run["flows"]
    assert (flow["rtt_min_ms"], flow["rtt_p99_ms"]) == pytest.approx((40.0, 40.0), abs=0.01)
    assert has_note(run, "stand in the file behind later ones: they were sorted by time")


def within(kind: str, data: bytes) -> bytes:
    """Return an Ethernet frame in which a tunnel carries an IP datagram."""
    if kind == "GRE":
        body = struct.pack("!HH", 0, 0x0800) + data
        return framed(ip_header(47, len(body), True, 4) + body, ETHERNET)
    inner = framed(data, ETHERNET)
    body = struct.pack("!HHHH", 50000, 4789, 16 + len(inner), 0) + b"\x08\0\0\0\0\0\x01\0" + inner
    return framed(ip_header(17, len(body), True, 4) + body, ETHERNET)


@pytest.mark.parametrize("kind", ["GRE", "VXLAN"])
def test_the_connection_within_a_tunnel_is_imported_and_the_tunnel_named(
    dumbbell: Dumbbell, folder: Path, kind: str
) -> None:
    run = imported(dumbbell, folder, [(at_ns, within(kind, data)) for at_ns, data in connection(0, 20)], ETHERNET)
    (flow,) = run["flows"]
    assert flow["data_bytes_delivered"] == 20_000
    assert run["capture"]["flows"][0]["to"] == "10.0.0.2:2000"
    assert has_note(run, f"came through tunnels ({kind})")


@pytest.mark.parametrize("captured", [connection(0, 100) + connection(100 * S, 100, port=1001), connection(0, 150)])
def test_a_path_that_idle_senders_do_not_show_is_not_told(
    dumbbell: Dumbbell, folder: Path, captured: list[Packet]
) -> None:
    (folder / "set").mkdir()
    write_pcap(folder / "set" / "cubic_1.pcap", captured)
    refused = dumbbell("reproduce", "set", "--out", "again", expect=2).stderr
    assert "its path is not known" in refused
    assert "Traceback" not in refused


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
def test_a_compressed_capture_is_read_whatever_it_is_called(
    dumbbell: Dumbbell, folder: Path, pack: Callable[[bytes], bytes]
) -> None:
    plain = write_pcap(folder / "seen.pcap", connection(0, 20)).read_bytes()
    (folder / "SEEN.DUMP").write_bytes(pack(plain))
    dumbbell("import", "pcap", "SEEN.DUMP", "--out", "seen")
    (run,) = show(dumbbell, "seen")["runs"]
    assert run["flows"][0]["data_bytes_delivered"] == 20_000
    (folder / "bad.pcap.gz").write_bytes(pack(plain)[:-20])
    refused = dumbbell("import", "pcap", "bad.pcap.gz", "--out", "x", expect=2).stderr
    assert refused.startswith("dumbbell: bad.pcap.gz: ")
    assert refused.count("\n") == 1
