"""Router that changes datagrams, executed in a router's network: `tampering_router.py FOLDER SHARE SEED`.

All UDP passes this router, which applies one of `CHANGES` to a share of the datagrams. At SIGTERM it writes the number
of each change into `changed.json` of the folder.
"""

import json
import os
import random
import select
import signal
import socket
import sys
from pathlib import Path

CHANGES = ("flip", "cut", "longer", "empty", "zero", "number", "swap", "repeat", "late", "reflect", "source")
_HEAD, _MOST_KEPT, _MTU = 28, 300, 1500


def tamper(packet: bytes, change: str, kept_packets: list[bytes], draw: random.Random) -> list[bytes]:
    """Return the packets that the router sends instead of a packet of IP and UDP."""
    head, body = packet[:_HEAD], bytearray(packet[_HEAD:])
    match change:
        case "flip" if body:
            bit = draw.randrange(8 * len(body))
            body[bit // 8] ^= 1 << bit % 8
        case "cut" if body:
            del body[draw.randrange(len(body)) :]
        case "longer":
            body += os.urandom(draw.randrange(1, 40))
        case "empty":
            body.clear()
        case "zero":
            body = bytearray(len(body))
        case "number" if body:
            body[draw.randrange(min(16, len(body)))] ^= draw.randrange(1, 256)
        case "swap" if kept_packets:
            body = bytearray(draw.choice(kept_packets)[_HEAD:])
        case "repeat":
            return [packet, packet, *kept_packets[:1]]
        case "reflect":
            back = packet[16:20] + packet[12:16] + packet[22:24] + packet[20:22]
            return [packet, packet[:12] + back + packet[24:]]
        case "source":
            return [packet, packet[:15] + b"\x63" + packet[16:20] + (40_000).to_bytes(2) + packet[22:]]
        case _:
            return [packet]
    return [head + bytes(body)]


def main(folder: Path, share: float, seed: int) -> None:
    """Forward datagrams until SIGTERM."""
    draw, counts, kept_packets, late = random.Random(seed), dict.fromkeys(CHANGES, 0), [], []
    signals: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, _: signals.append(number))
    out = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW)
    taps = [socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(0x0800)) for _ in range(2)]
    for tap, device in zip(taps, ("machine", "dumbbell0"), strict=True):
        tap.bind((device, 0x0800))
    (folder / "ready").touch()
    while not signals:
        for tap in select.select(taps, [], [], 0.05)[0]:
            packet, (_, _, kind, *_) = tap.recvfrom(65535)
            if kind == socket.PACKET_OUTGOING or packet[9] != socket.IPPROTO_UDP or packet[0] != 0x45:
                continue
            packet = packet[: int.from_bytes(packet[2:4])]
            change = draw.choice(CHANGES) if draw.random() < share else ""
            if change:
                counts[change] += 1
            if change == "late":
                late.append(packet)
                if len(late) < 4:
                    continue
                draw.shuffle(late)
                sent_packets, late = late, []
            else:
                sent_packets = tamper(packet, change, kept_packets, draw)
            kept_packets = [*kept_packets, packet][-_MOST_KEPT:]
            for sent_packet in sent_packets:
                if len(sent_packet) > _MTU:
                    continue  # it has become too long for the link
                length = len(sent_packet) - 20
                # The UDP checksum is zero: the kernel would drop a changed datagram.
                whole_packet = (
                    sent_packet[:2]
                    + len(sent_packet).to_bytes(2)
                    + sent_packet[4:24]
                    + length.to_bytes(2)
                    + b"\0\0"
                    + sent_packet[28:]
                )
                out.sendto(whole_packet, (socket.inet_ntoa(sent_packet[16:20]), 0))
    (folder / "changed.json").write_text(json.dumps(counts))


if __name__ == "__main__":
    main(Path(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3]))
