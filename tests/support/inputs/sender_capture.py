"""Capture that tcpdump would have written at the sender of a simulated run."""

from collections import Counter, deque
from dataclasses import replace

import polars

from .captures import MS, MSS, START_NS, Packet, Tcp, tcp

SEND, LOST, ACKED = 0, 12, 13


class SenderOnTcp:
    """Packets that tcpdump would have seen at a simulated sender, had it spoken TCP; no code of dumbbell is used.

    The sender uses `port`. Like the built-in reliable transport, it sends a packet that was declared lost again before
    any new one.
    """

    def __init__(self, log: polars.DataFrame, base: int, stamps: bool, port: int = 1000) -> None:
        self.packets: list[Packet] = []
        self.port = port
        self.base = base
        self.stamps = stamps
        self.next = 0
        self.start: dict[int, int] = {}
        self.sent_ns: dict[int, int] = {}
        self.sendings: Counter[int] = Counter()
        self.lost: deque[int] = deque()
        self.acked: set[int] = set()
        self.unacked = 0
        self.retransmissions = 0
        self.rtts_ms: list[float] = []
        begin_ns = int(log["time_ns"].min() or 0)
        self.add_packet(begin_ns, Tcp(True, base - 1, syn=True, mss=1460, stamps=self.clock(begin_ns)))
        self.add_packet(begin_ns + 1, Tcp(False, 99, base, syn=True, mss=1460, stamps=self.clock(begin_ns + 1)))
        self.add_packet(begin_ns + 2, Tcp(True, base, 100, stamps=self.clock(begin_ns + 2)))
        by_time = log.sort("time_ns", maintain_order=True).partition_by("time_ns", maintain_order=True)
        for rows in by_time:
            at_ns, events = int(rows["time_ns"][0]), list(rows.iter_rows(named=True))
            newly = [row["seq"] for row in events if row["event"] == ACKED and row["data_bytes"]]
            for number in newly:
                # Without timestamps no field tells which copy was acknowledged, so the previous round-trip time counts.
                is_known = stamps or self.sendings[self.start[number]] == 1
                self.rtts_ms.append((at_ns - self.sent_ns[number]) / 1e6 if is_known else self.rtts_ms[-1])
            if newly:
                self.acknowledge(at_ns, newly)
            for row in events:
                if row["event"] == LOST and self.start[row["seq"]] not in self.acked:
                    self.lost.append(self.start[row["seq"]])
                elif row["event"] == SEND and row["data_bytes"]:
                    self.send(at_ns, row["seq"])

    def clock(self, at_ns: int, echo_ns: int = 0) -> tuple[int, int] | None:
        """Return timestamps in units of 100 us, so that packets of a burst share one."""
        return (at_ns // 100_000 + 1, echo_ns // 100_000 + 1) if self.stamps else None

    def add_packet(self, at_ns: int, segment: Tcp) -> None:
        self.packets.append((START_NS + at_ns + 10 * MS, tcp(replace(segment, port=self.port))))

    def send(self, at_ns: int, number: int) -> None:
        while self.lost and self.lost[0] in self.acked:
            self.lost.popleft()
        if self.lost:
            start = self.lost.popleft()
            self.retransmissions += 1
        else:
            start, self.next = self.next, self.next + MSS
        self.start[number], self.sent_ns[number] = start, at_ns
        self.sendings[start] += 1
        self.add_packet(at_ns, Tcp(True, self.base + start, 100, MSS, stamps=self.clock(at_ns)))

    def acknowledge(self, at_ns: int, numbers: list[int]) -> None:
        starts = [self.start[number] for number in numbers]
        self.acked.update(starts)
        while self.unacked in self.acked:
            self.unacked += MSS
        stamps = self.clock(at_ns, self.sent_ns[max(numbers)])
        above = [start for start in starts if start > self.unacked]
        for first in range(0, max(len(above), 1), 3):
            sacks = tuple((self.base + start, self.base + start + MSS) for start in above[first : first + 3])
            wrapped_sacks = tuple((left % 2**32, right % 2**32) for left, right in sacks)
            self.add_packet(at_ns, Tcp(False, 100, self.base + self.unacked, stamps=stamps, sacks=wrapped_sacks))
