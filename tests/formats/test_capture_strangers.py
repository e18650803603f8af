"""Tests of captures by other people: lifetimes, ambiguous ACKs, mirrors, order, tunnels and unusual formats."""

import bz2
import gzip
import lzma
import random
import struct
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from support.commands.command import Dumbbell, show
from support.inputs.captures import (
    ETHERNET,
    MS,
    RAW,
    START_NS,
    Packet,
    Tcp,
    block,
    frame_bytes,
    ip_header,
    tcp,
    write_pcap,
    write_pcapng,
)

S = 1000 * MS
SIZE = 1000


def connection(at_ns: int, count: int, port: int = 1000, initial: int = 1000, idle_ns: int = 0) -> list[Packet]:
    """Return a transfer at its sender: 1000 bytes every 10 ms, RTT 40 ms; its end comes `idle_ns` later."""
    segments = set_up(initial)
    for number in range(count):
        first, sent_ns = initial + 1 + number * SIZE, (41 + number * 10) * MS
        segments.append((sent_ns, Tcp(True, first, 5001, SIZE)))
        segments.append((sent_ns + 40 * MS, Tcp(False, 5001, first + SIZE)))
    end_ns = (81 + count * 10) * MS + idle_ns
    segments.append((end_ns, Tcp(True, initial + 1 + count * SIZE, 5001, fin=True)))
    return packets((at_ns + later_ns, replace(segment, port=port)) for later_ns, segment in segments)


def set_up(initial: int = 1000) -> list[tuple[int, Tcp]]:
    """Return the set-up of a connection at its sender, without timestamps."""
    return [
        (0, Tcp(True, initial, syn=True, mss=1460)),
        (40 * MS, Tcp(False, 5000, initial + 1, syn=True, mss=1460)),
        (40 * MS + 1000, Tcp(True, initial + 1, 5001)),
    ]


def packets(segments: Iterable[tuple[int, Tcp]]) -> list[Packet]:
    """Return datagrams in the order of time, each with its own number, as Linux writes them."""
    ordered_segments = sorted(segments, key=lambda entry: entry[0])
    return [
        (START_NS + at_ns, tcp(replace(segment, ident=number % 65535 + 1)))
        for number, (at_ns, segment) in enumerate(ordered_segments)
    ]


def import_packets(dumbbell: Dumbbell, folder: Path, packets_seen: Iterable[Packet], link: int = RAW) -> dict[str, Any]:
    """Return the only run of the import of a capture."""
    write_pcap(folder / "seen.pcap", packets_seen, link)
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
    run = import_packets(dumbbell, folder, connection(0, 100) + connection(100 * S, 100, port=1001))
    assert [flow["goodput_mbps"] for flow in run["flows"]] == pytest.approx([0.8, 0.8], rel=0.06)
    assert run["network"]["jain_index"] is None
    assert all(flow["competing_share"] is None for flow in run["flows"])


def test_idleness_before_the_end_of_a_connection_is_no_time_of_the_transfer(dumbbell: Dumbbell, folder: Path) -> None:
    run = import_packets(dumbbell, folder, connection(0, 100, idle_ns=60 * S))
    (flow,) = run["flows"]
    assert flow["goodput_mbps"] == pytest.approx(0.8, rel=0.06)
    assert has_note(run, "flow 1 lived 61.")


@pytest.mark.parametrize("initial", [1000 + 500_000_000, 1000 + 3_500_000_000])
def test_a_set_up_on_the_same_ports_begins_a_new_connection(dumbbell: Dumbbell, folder: Path, initial: int) -> None:
    run = import_packets(dumbbell, folder, connection(0, 50) + connection(5 * S, 50, initial=initial % 2**32))
    assert [flow["data_bytes_delivered"] for flow in run["flows"]] == [50_000, 50_000]
    assert [flow["retransmissions"] for flow in run["flows"]] == [0, 0]
    assert run["network"]["packet_loss_rate"] == 0.0
    assert not has_note(run, "not in the capture")


def test_an_acknowledgement_of_a_packet_that_was_sent_twice_gives_no_round_trip_time(
    dumbbell: Dumbbell, folder: Path
) -> None:
    segments = set_up()
    for number in range(20):
        first, sent_ns = 1001 + number * SIZE, (100 + 50 * number) * MS
        segments += [(sent_ns, Tcp(True, first, 5001, SIZE)), (sent_ns + 40 * MS, Tcp(False, 5001, first + SIZE))]
        if number == 10:  # sent again 5 ms before the acknowledgement of the first copy
            segments.append((sent_ns + 35 * MS, Tcp(True, first, 5001, SIZE)))
    run = import_packets(dumbbell, folder, packets(segments))
    (flow,) = run["flows"]
    assert (flow["rtt_min_ms"], flow["rtt_p99_ms"]) == pytest.approx((40.0, 40.0), abs=0.01)
    assert has_note(run, "1 packets were sent more than once")


@pytest.mark.parametrize("new_bytes", [0, 400])
def test_a_retransmission_of_another_size_delivers_each_byte_once(
    dumbbell: Dumbbell, folder: Path, new_bytes: int
) -> None:
    segments = set_up()
    segments += [((100 + number) * MS, Tcp(True, 1001 + 100 * number, 5001, 100)) for number in range(10)]
    joint_size = SIZE + new_bytes
    segments += [(600 * MS, Tcp(True, 1001, 5001, joint_size)), (640 * MS, Tcp(False, 5001, 1001 + joint_size))]
    for number in range(5):
        first, sent_ns = 1001 + joint_size + number * SIZE, (700 + 50 * number) * MS
        segments += [(sent_ns, Tcp(True, first, 5001, SIZE)), (sent_ns + 40 * MS, Tcp(False, 5001, first + SIZE))]
    (flow,) = import_packets(dumbbell, folder, packets(segments))["flows"]
    assert flow["data_bytes_delivered"] == 6000 + new_bytes
    assert (flow["rtt_min_ms"], flow["rtt_p50_ms"]) == pytest.approx((40.0, 40.0), abs=0.01)


def test_a_retransmission_in_two_halves_delivers_each_byte_once(dumbbell: Dumbbell, folder: Path) -> None:
    segments = set_up()
    segments += [(100 * MS, Tcp(True, 1001, 5001, 1000)), (101 * MS, Tcp(True, 2001, 5001, 1000))]
    segments += [(400 * MS, Tcp(True, 1001, 5001, 500)), (401 * MS, Tcp(True, 1501, 5001, 500))]
    segments += [(441 * MS, Tcp(False, 5001, 3001))]
    (flow,) = import_packets(dumbbell, folder, packets(segments))["flows"]
    assert (flow["data_bytes_delivered"], flow["retransmissions"]) == (2000, 2)
    assert flow["packets_sent"] == 4


def test_packets_that_a_mirror_shows_twice_are_no_retransmissions(dumbbell: Dumbbell, folder: Path) -> None:
    twice = [(at_ns + later, data) for at_ns, data in connection(0, 50) for later in (0, 2000)]
    run = import_packets(dumbbell, folder, twice)
    (flow,) = run["flows"]
    assert (flow["packets_sent"], flow["retransmissions"]) == (50, 0)
    assert run["network"]["packet_loss_rate"] == 0.0
    assert has_note(run, "by a port mirror: these copies are left out")


def test_directions_one_after_the_other_in_a_file_are_sorted_by_time(dumbbell: Dumbbell, folder: Path) -> None:
    packets_seen = connection(0, 20)
    ways = [
        [packet for packet in packets_seen if packet[1][12:16] == end] for end in (b"\x0a\0\0\x01", b"\x0a\0\0\x02")
    ]
    run = import_packets(dumbbell, folder, ways[0] + ways[1])
    (flow,) = run["flows"]
    assert (flow["rtt_min_ms"], flow["rtt_p99_ms"]) == pytest.approx((40.0, 40.0), abs=0.01)
    assert has_note(run, "stand in the file behind later ones: they were sorted by time")


def within(kind: str, data: bytes) -> bytes:
    """Return an Ethernet frame in which a tunnel carries an IP datagram."""
    if kind == "GRE":
        body = struct.pack("!HH", 0, 0x0800) + data
        return frame_bytes(ip_header(47, len(body), True, 4) + body, ETHERNET)
    inner = frame_bytes(data, ETHERNET)
    body = struct.pack("!HHHH", 50000, 4789, 16 + len(inner), 0) + b"\x08\0\0\0\0\0\x01\0" + inner
    return frame_bytes(ip_header(17, len(body), True, 4) + body, ETHERNET)


@pytest.mark.parametrize("kind", ["GRE", "VXLAN"])
def test_the_connection_within_a_tunnel_is_imported_and_the_tunnel_named(
    dumbbell: Dumbbell, folder: Path, kind: str
) -> None:
    run = import_packets(dumbbell, folder, [(at_ns, within(kind, data)) for at_ns, data in connection(0, 20)], ETHERNET)
    (flow,) = run["flows"]
    assert flow["data_bytes_delivered"] == 20_000
    assert run["capture"]["flows"][0]["to"] == "10.0.0.2:2000"
    assert has_note(run, f"came through tunnels ({kind})")


@pytest.mark.parametrize("packets_seen", [connection(0, 100) + connection(100 * S, 100, port=1001), connection(0, 150)])
def test_a_path_that_idle_senders_do_not_show_is_not_told(
    dumbbell: Dumbbell, folder: Path, packets_seen: list[Packet]
) -> None:
    (folder / "set").mkdir()
    write_pcap(folder / "set" / "cubic_1.pcap", packets_seen)
    errors = dumbbell("reproduce", "set", "--out", "again", expect=2).stderr
    assert "its path is not known" in errors
    assert "Traceback" not in errors


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
    errors = dumbbell("import", "pcap", "bad.pcap.gz", "--out", "x", expect=2).stderr
    assert errors.startswith("dumbbell: bad.pcap.gz: ")
    assert errors.count("\n") == 1


def test_a_packet_sent_again_with_the_number_of_the_first_is_no_copy(dumbbell: Dumbbell, folder: Path) -> None:
    segments = [*set_up(), (100 * MS, Tcp(True, 1001, 5001, SIZE)), (400 * MS, Tcp(True, 1001, 5001, SIZE))]
    segments += [(440 * MS, Tcp(False, 5001, 2001))]
    alike = [(START_NS + at_ns, tcp(replace(segment, ident=7))) for at_ns, segment in segments]
    run = import_packets(dumbbell, folder, alike)
    (flow,) = run["flows"]
    assert (flow["packets_sent"], flow["retransmissions"]) == (2, 1)
    assert not has_note(run, "captured before")


@pytest.mark.parametrize(("later_ns", "hops", "copies"), [(2000, 64, 1), (300 * MS, 63, 1), (300 * MS, 64, 0)])
def test_a_copy_comes_soon_or_has_passed_a_router(
    dumbbell: Dumbbell, folder: Path, later_ns: int, hops: int, copies: int
) -> None:
    packets_seen = connection(0, 20)
    at_ns, data = packets_seen[10]
    again = (at_ns + later_ns, data[:8] + bytes([hops]) + data[9:])
    run = import_packets(dumbbell, folder, sorted([*packets_seen, again]))
    assert has_note(run, "1 packets were captured before") == bool(copies)


def test_data_that_overtakes_the_first_packet_of_data_is_not_sent_again(dumbbell: Dumbbell, folder: Path) -> None:
    segments = [*set_up(), (100 * MS, Tcp(True, 2001, 5001, SIZE)), (101 * MS, Tcp(True, 1001, 5001, SIZE))]
    segments += [(140 * MS, Tcp(False, 5001, 3001))]
    (flow,) = import_packets(dumbbell, folder, packets(segments))["flows"]
    assert (flow["packets_sent"], flow["retransmissions"], flow["data_bytes_delivered"]) == (2, 0, 2000)


@pytest.mark.parametrize(("place_ns", "role"), [(0, "sender"), (40 * MS, "receiver")])
def test_the_end_of_a_connection_without_timestamps_or_set_up_follows_from_its_acknowledgements(
    dumbbell: Dumbbell, folder: Path, place_ns: int, role: str
) -> None:
    segments = []
    for number in range(20):  # requests of 10 bytes, and answers of 1000 that are acknowledged
        request_number, sent_ns, first = 5001 + 10 * number, (100 + 100 * number) * MS, 1001 + number * SIZE
        segments.append((sent_ns - place_ns, Tcp(False, request_number, first, 10)))
        segments.append((sent_ns + place_ns, Tcp(True, first, request_number + 10, SIZE)))
        segments.append((sent_ns + 80 * MS - place_ns, Tcp(False, request_number + 10, first + SIZE)))
    run = import_packets(dumbbell, folder, packets(segments))
    assert run["capture"]["role"] == role
    assert not has_note(run, "do not tell which end captured them")


def test_fragments_of_ip_are_counted_and_named(dumbbell: Dumbbell, folder: Path) -> None:
    fragment = ip_header(17, 1000, True, 4) + bytes(1000)
    fragment = fragment[:6] + b"\x20\0" + fragment[8:]
    run = import_packets(dumbbell, folder, [*connection(0, 20), (START_NS + 5 * S, fragment)])
    assert has_note(run, "1 packets are fragments of IP and are left out: payload, rates and losses are without them")
    assert not has_note(run, "neither TCP nor UDP")
    write_pcap(folder / "only.pcap", [(START_NS, fragment)])
    errors = dumbbell("import", "pcap", "only.pcap", "--out", "x", expect=2).stderr
    assert "no data of TCP or UDP in its 1 packets (1 are fragments of IP)" in errors


def test_the_byte_before_ppp_that_says_the_direction_is_no_part_of_it(dumbbell: Dumbbell, folder: Path) -> None:
    packets_seen = [(at_ns, bytes([data[15] == 1]) + b"\xff\x03\0\x21" + data) for at_ns, data in connection(0, 20)]
    (flow,) = import_packets(dumbbell, folder, packets_seen, link=204)["flows"]
    assert flow["data_bytes_delivered"] == 20_000


def test_a_compressed_pcapng_may_begin_with_a_long_block(dumbbell: Dumbbell, folder: Path) -> None:
    file = write_pcapng(folder / "plain", connection(0, 20))
    plain = file.read_bytes()
    comment = random.Random(7).randbytes(60_000)
    section = struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1) + struct.pack("<HH", 1, len(comment)) + comment
    long = block(0x0A0D0D0A, section + struct.pack("<HH", 0, 0)) + plain[28:]
    for name, content in [("a.pcapng", long), ("b.pcapng", gzip.compress(long)), ("c.pcapng", lzma.compress(long))]:
        (folder / name).write_bytes(content)
        dumbbell("import", "pcap", name, "--out", name[0])
        (run,) = show(dumbbell, name[0])["runs"]
        assert run["flows"][0]["data_bytes_delivered"] == 20_000


@pytest.mark.parametrize("order", ["<", ">"])
def test_blocks_of_an_obsolete_kind_are_refused_in_either_byte_order(
    dumbbell: Dumbbell, folder: Path, order: str
) -> None:
    def build_block(kind: int, body: bytes) -> bytes:
        length = struct.pack(order + "I", len(body) + 12)
        return struct.pack(order + "I", kind) + length + body + length

    ((_, data),) = connection(0, 0)[:1]
    data += bytes(-len(data) % 4)
    packet = struct.pack(order + "HHIIII", 0, 0, 1, 1, len(data), len(data)) + data
    content = build_block(0x0A0D0D0A, struct.pack(order + "IHHq", 0x1A2B3C4D, 1, 0, -1))
    content += build_block(1, struct.pack(order + "HHI", RAW, 0, 0)) + build_block(2, packet)
    (folder / "old.pcapng").write_bytes(content)
    errors = dumbbell("import", "pcap", "old.pcapng", "--out", "x", expect=2).stderr
    assert errors == (
        "dumbbell: old.pcapng: packet 1 is an obsolete packet block (type 2): `editcap OLD NEW` of Wireshark writes "
        "current ones\n"
    )


def test_a_form_that_is_not_read_is_refused_with_what_makes_it_one(dumbbell: Dumbbell, folder: Path) -> None:
    (folder / "sun.snoop").write_bytes(b"snoop\0\0\0" + struct.pack("!II", 2, 4) + bytes(100))
    errors = dumbbell("import", "pcap", "sun.snoop", "--out", "x", expect=2).stderr
    assert "begins neither as pcap nor as pcapng; of captures in other formats `editcap OLD NEW`" in errors


def test_a_capture_that_lasts_too_long_is_refused_once_with_what_to_do(dumbbell: Dumbbell, folder: Path) -> None:
    late = 2_000_000 * S
    packets_sent = connection(0, 20) + connection(late, 20, port=1001)
    write_pcap(folder / "long.pcap", packets_sent)
    errors = dumbbell("import", "pcap", "long.pcap", "--out", "x", expect=2).stderr
    assert "more than the 1000000 that a run may last: cut it into parts by time" in errors
    assert errors.count("long.pcap") == 1


@pytest.mark.parametrize("big_endian", [False, True])
def test_captures_that_cat_has_joined_are_refused_with_what_joins_them(
    dumbbell: Dumbbell, folder: Path, big_endian: bool
) -> None:
    first = write_pcap(folder / "a.pcap", connection(0, 20), nanoseconds=False).read_bytes()
    second = write_pcap(folder / "b.pcap", connection(S, 20), big_endian=big_endian).read_bytes()
    (folder / "both.pcap").write_bytes(first + second)
    errors = dumbbell("import", "pcap", "both.pcap", "--out", "x", expect=2).stderr
    assert errors == (
        f"dumbbell: both.pcap: packet {len(connection(0, 20)) + 1} is the header of another capture: `mergecap -w NEW "
        "FILES` of Wireshark joins captures, `cat` does not\n"
    )


def test_a_file_that_is_damaged_in_its_middle_is_refused_with_what_keeps_the_rest(
    dumbbell: Dumbbell, folder: Path
) -> None:
    packets_seen = connection(0, 20)
    content = write_pcap(folder / "a.pcap", packets_seen[:11]).read_bytes()
    (folder / "a.pcap").write_bytes(content + struct.pack("<IIII", 1, 1, 0x7F000000, 0x7F000000) + bytes(2**25))
    errors = dumbbell("import", "pcap", "a.pcap", "--out", "x", expect=2).stderr
    assert "packet 12 is longer than any packet: the file is damaged; `editcap -r OLD NEW 1-11` of" in errors


@pytest.mark.parametrize("has_start", [True, False])
def test_a_first_packet_that_was_sent_twice_has_the_round_trip_time_of_the_set_up(
    dumbbell: Dumbbell, folder: Path, has_start: bool
) -> None:
    segments = set_up() if has_start else []
    segments += [(100 * MS, Tcp(True, 1001, 5001, SIZE)), (1100 * MS, Tcp(True, 1001, 5001, SIZE))]
    segments += [(1110 * MS, Tcp(False, 5001, 2001))]
    write_pcap(folder / "seen.pcap", packets(segments))
    dumbbell("import", "pcap", "seen.pcap", "--end", "sender", "--out", "seen")
    (run,) = show(dumbbell, "seen")["runs"]
    (flow,) = run["flows"]
    assert flow["rtt_min_ms"] == pytest.approx(40.0 if has_start else 10.0)
    assert has_note(run, "of 1 of these packets no round-trip time is known") == (not has_start)
