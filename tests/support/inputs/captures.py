"""Captures of packets for tests: a writer of pcap and pcapng, and a sniffer on an interface."""

import random
import socket
import struct
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ETHERNET, RAW, SLL, SLL2, LOOPBACK = 1, 101, 113, 276, 0
Packet = tuple[int, bytes]
"""Time since 1970 in ns, and the IP datagram or the frame."""
START_NS = 1_700_000_000_123_456_789
MSS = 1448
MS = 1_000_000


def write_pcap(
    file: Path, packets: Iterable[Packet], link: int = RAW, *, nanoseconds: bool = True, snaplen: int = 262144,
    big_endian: bool = False,
) -> Path:  # fmt: skip
    """Write a capture file in the old format."""
    order = ">" if big_endian else "<"
    magic, unit = (0xA1B23C4D, 1) if nanoseconds else (0xA1B2C3D4, 1000)
    with file.open("wb") as out:
        out.write(struct.pack(order + "IHHiIII", magic, 2, 4, 0, 0, snaplen, link))
        for at_ns, data in packets:
            kept_bytes = data[:snaplen]
            out.write(struct.pack(order + "IIII", at_ns // 10**9, at_ns % 10**9 // unit, len(kept_bytes), len(data)))
            out.write(kept_bytes)
    return file


def block(kind: int, body: bytes) -> bytes:
    """Return a block of pcapng."""
    body += bytes(-len(body) % 4)
    length = len(body) + 12
    return struct.pack("<II", kind, length) + body + struct.pack("<I", length)


def write_pcapng(file: Path, packets: Iterable[Packet], link: int = RAW, resolution: int = 9) -> Path:
    """Write a capture file in the new format, with times in units of 10^-resolution s."""
    unit = 10 ** (9 - resolution)
    interface = struct.pack("<HHI", link, 0, 0) + struct.pack("<HHB3x", 9, 1, resolution) + struct.pack("<HH", 0, 0)
    with file.open("wb") as out:
        out.write(block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1)))
        out.write(block(1, interface))
        for at_ns, data in packets:
            ticks = at_ns // unit
            head = struct.pack("<IIIII", 0, ticks >> 32, ticks & 0xFFFFFFFF, len(data), len(data))
            out.write(block(6, head + data))
        out.write(block(5, struct.pack("<IQ", 0, 0)))
    return file


def frame_bytes(data: bytes, link: int, vlan: int | None = None) -> bytes:
    """Return an IP datagram in a frame of the link layer."""
    protocol = struct.pack("!H", 0x0800 if data[0] >> 4 == 4 else 0x86DD)
    if link == ETHERNET:
        tag = b"" if vlan is None else struct.pack("!HH", 0x8100, vlan)
        return bytes(12) + tag + protocol + data
    if link == SLL:
        return bytes(14) + protocol + data
    if link == SLL2:
        return protocol + bytes(18) + data
    return (struct.pack("<I", 2) if link == LOOPBACK else b"") + data


@dataclass(frozen=True)
class Tcp:
    """A segment from one of two ends, A (sends data, from its `port`) to B (port 2000)."""

    from_a: bool
    seq: int
    ack: int | None = None
    payload: int = 0
    syn: bool = False
    fin: bool = False
    mss: int | None = None
    stamps: tuple[int, int] | None = None
    sacks: tuple[tuple[int, int], ...] = ()
    ident: int = 0
    ce: bool = False
    port: int = 1000


def ip_header(protocol: int, length: int, from_a: bool, version: int, ident: int = 0, ce: bool = False) -> bytes:
    """Return an IP header; its checksum is zero, since no reader checks it."""
    if version == 4:
        ends = (b"\x0a\0\0\x01", b"\x0a\0\0\x02")
        source, target = ends if from_a else ends[::-1]
        stated_length = length + 20 if length + 20 < 65536 else 0
        return struct.pack("!BBHHHBBH", 0x45, 3 * ce, stated_length, ident, 0x4000, 64, protocol, 0) + source + target
    ends = (bytes([0xFD]) + bytes(14) + b"\x01", bytes([0xFD]) + bytes(14) + b"\x02")
    source, target = ends if from_a else ends[::-1]
    return struct.pack("!IHBB", 0x60000000 | (3 * ce << 20), length, protocol, 64) + source + target


def tcp(segment: Tcp, version: int = 4) -> bytes:
    """Return the datagram of a segment, with a payload of zeros."""
    options = b"" if segment.mss is None else struct.pack("!BBH", 2, 4, segment.mss)
    if segment.stamps is not None:
        options += b"\1\1" + struct.pack("!BBII", 8, 10, *segment.stamps)
    if segment.sacks:
        blocks = b"".join(struct.pack("!II", *sack) for sack in segment.sacks)
        options += b"\1\1" + struct.pack("!BB", 5, 2 + len(blocks)) + blocks
    ports = (segment.port, 2000) if segment.from_a else (2000, segment.port)
    flags = 0x10 * (segment.ack is not None) | 0x02 * segment.syn | 0x01 * segment.fin
    offset = (20 + len(options)) // 4 << 4
    header = struct.pack(
        "!HHIIBBHHH", *ports, segment.seq % 2**32, (segment.ack or 0) % 2**32, offset, flags, 999, 0, 0
    )
    body = header + options + bytes(segment.payload)
    return ip_header(6, len(body), segment.from_a, version, segment.ident, segment.ce) + body


def udp(payload: bytes, from_a: bool, version: int = 4, ce: bool = False) -> bytes:
    """Return a UDP datagram."""
    ports = (1000, 2000) if from_a else (2000, 1000)
    body = struct.pack("!HHHH", *ports, len(payload) + 8, 0) + payload
    return ip_header(17, len(body), from_a, version, 0, ce) + body


def transfer(place_ns: int, count: int = 20, version: int = 4, jumbo: int = 1) -> list[Packet]:
    """Return a TCP transfer over a path of 40 ms each way, captured `place_ns` after the sender."""
    back_ns = 80 * MS - place_ns
    stamp = lambda at_ns: at_ns // MS + 1  # noqa: E731
    packets = [
        (place_ns, Tcp(True, 0, syn=True, mss=1460, stamps=(1, 0))),
        (back_ns, Tcp(False, 500, 1, syn=True, mss=1460, stamps=(7, 1))),
    ]
    for number in range(count):
        sent_ns = (80 + number) * MS
        first = 1 + number * MSS * jumbo
        packets.append((sent_ns + place_ns, Tcp(True, first, 501, MSS * jumbo, stamps=(stamp(sent_ns), 7))))
        ack = Tcp(False, 501, first + MSS * jumbo, stamps=(8 + number, stamp(sent_ns)))
        packets.append((sent_ns + back_ns, ack))
    return sorted((START_NS + at_ns, tcp(segment, version)) for at_ns, segment in packets)


def quic(count: int, place_ns: int, spin_ns: int) -> list[Packet]:
    """Return a QUIC connection that nobody can decrypt: a handshake, and datagrams with spin bits."""
    rng = random.Random(7)
    long_header = bytes([0xC3, 0, 0, 0, 1]) + rng.randbytes(1195)
    packets = [
        (place_ns, udp(long_header, True)),
        (80 * MS - place_ns, udp(bytes([0xC3, 0, 0, 0, 1]) + bytes(60), False)),
    ]
    for number in range(count):
        at_ns = (80 + number) * MS
        first = 0x40 | 0x20 * (at_ns // spin_ns % 2)
        packets.append((at_ns + place_ns, udp(bytes([first]) + rng.randbytes(1199), True)))
    return [(START_NS + at_ns, data) for at_ns, data in sorted(packets)]


@contextmanager
def sniff(interface: str) -> Iterator[list[Packet]]:
    """Collect the packets of an interface for the time of the block, as Ethernet frames.

    Sniffing needs root. Packets are cut after their headers.
    """
    packets: list[Packet] = []
    sniffer = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
    sniffer.setsockopt(socket.SOL_SOCKET, 33, 1 << 26)  # SO_RCVBUFFORCE
    sniffer.setsockopt(socket.SOL_SOCKET, 35, 1)  # SO_TIMESTAMPNS
    sniffer.bind((interface, 0))
    sniffer.settimeout(0.1)
    over = threading.Event()

    def take() -> None:
        while True:
            try:
                data, extra, _, address = sniffer.recvmsg(1 << 17, 64)
            except TimeoutError:
                if over.is_set():
                    return
                continue
            if interface == "lo" and address[2] == 4:  # PACKET_OUTGOING: each comes again
                continue
            seconds, ns = struct.unpack("qq", extra[0][2][:16])
            packets.append((seconds * 10**9 + ns, data))

    thread = threading.Thread(target=take)
    thread.start()
    try:
        yield packets
        time.sleep(0.3)
    finally:
        over.set()
        thread.join()
        sniffer.close()
