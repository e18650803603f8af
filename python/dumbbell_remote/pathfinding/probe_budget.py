"""What is sent to find out what a path is like, and when: said in advance, and never more than allowed."""

from dataclasses import dataclass

from dumbbell.base.errors import UserError

DURATION_S, QUICK_S = 300.0, 60.0
"""How long a measurement takes, and a short one."""
DATA_CAP_BYTES = 1_000_000_000
IDLE_PER_S = 50.0
IDLE_PAYLOAD_BYTES = 60
IDLE_BYTES = IDLE_PAYLOAD_BYTES + 28 + 16
"""On the path: headers of IP and UDP, and a tag."""
TRAINS = 12
SCOUTS = 3
SCOUT_PACKETS = 20
LEAST_PACKETS, MOST_PACKETS = 20, 200
TRAIN_S = 0.012
"""Trains are so long behind the narrowest link, if the number of their packets permits it."""
JITTERS_S = 20.0
"""And so many times as long as packets are later than the fastest on average."""
TRAIN_SHARE = 0.1
"""Most of the rate that trains take, on average."""
LEAST_GAP_S, MOST_GAP_S = 0.3, 1.5
CODEPOINTS_EACH = 20
TRANSFER_S = 10.0
FLOOD_S = 4.0
LEAST_FLOOD_S = 1.0
MOST_FLOOD_MBPS = 400.0
"""What our ends send without making losses of their own."""
FLOODS_AT = 1.5
"""A constant rate above that of the path, in multiples of it: fills any queue, if transfers did not."""
STEADY_AT, STEADY_S = 0.7, 8.0
"""A constant rate below that of the path, where packets are lost for no queue: how often."""
FLOOD_SHARE, STEADY_SHARE, TRANSFER_SHARE, TRAINS_SHARE, IDLE_SHARE = 0.1, 0.08, 0.24, 0.03, 0.03
"""Of all bytes that may be sent, each way; headers, ACKs and what is sent again take the rest."""
AROUND_S = 4.0
"""What each transfer takes beside itself: sides meet, clocks are compared."""
TRAINS_TAKE_S = 20.0
LEAST_S, MOST_S = 30.0, 3600.0
LEAST_IDLE_S = 8.0
LEAST_CAP_MBPS = 0.2
LEAST_DATA_BYTES = 20_000_000


@dataclass(frozen=True)
class ProbeBudget:
    """How long each thing takes, and what may be sent."""

    idle_s: float
    transfer_s: float
    flood_s: float
    data_cap_bytes: int
    bandwidth_cap_mbps: float | None

    @property
    def transfers(self) -> bool:
        """Whether the path may be filled at all."""
        return self.bandwidth_cap_mbps is None

    def transfer_of_s(self, mbps: float) -> float:
        """How long a transfer may take at this rate."""
        return min(self.transfer_s, self.transfer_bytes * 8e-6 / mbps)

    def flood_of_s(self, mbps: float) -> float:
        """How long a constant rate may last."""
        return min(self.flood_s, self.flood_bytes * 8e-6 / mbps)

    @property
    def transfer_bytes(self) -> int:
        """Most that a transfer may send."""
        return round(TRANSFER_SHARE * self.data_cap_bytes)

    @property
    def flood_bytes(self) -> int:
        """Most that a constant rate may send."""
        return round(FLOOD_SHARE * self.data_cap_bytes)

    @property
    def steady_bytes(self) -> int:
        """Most that a constant rate below that of the path may send."""
        return round(STEADY_SHARE * self.data_cap_bytes)

    def train_packets(self, packet_bytes: int) -> int:
        """Most packets of a train."""
        return max(int(TRAINS_SHARE * self.data_cap_bytes / TRAINS / packet_bytes), LEAST_PACKETS)

    def spaced_s(self, packets: int, packet_bytes: int, gap_s: float) -> float:
        """Time from one train to the next: longer where a bandwidth cap asks for it, of which trains take half."""
        if self.bandwidth_cap_mbps is None:
            return gap_s
        return max(gap_s, packets * packet_bytes * 8e-6 / (0.5 * self.bandwidth_cap_mbps))

    def words(self) -> str:
        """What will be sent, in advance."""
        idle = 2 * self.idle_s * IDLE_PER_S * IDLE_BYTES / 1e6
        told = (
            f"will send {idle:.1f} MB of small packets in {self.idle_s:.0f} s, {TRAINS + SCOUTS} packet trains each way"
        )
        if self.transfers:
            told += f", and fill the path for {self.transfer_s:.0f} s each way"
            told += f" (and for {self.flood_s:.0f} to {self.flood_s + STEADY_S:.0f} s more where that does not suffice)"
        else:
            told += f", and fill nothing: a bandwidth cap of {self.bandwidth_cap_mbps:g} Mbit/s is given"
        return f"{told}: at most {self.data_cap_bytes / 1e6:.0f} MB in all"


def make_budget(duration_s: float, data_cap_bytes: int, bandwidth_cap_mbps: float | None) -> ProbeBudget:
    """What fits into so much time and data.

    Raises:
        UserError: too little of either.
    """
    if not LEAST_S <= duration_s <= MOST_S:
        raise UserError(f"--duration {duration_s:g}: allowed is {LEAST_S:.0f} to {MOST_S:.0f} s")
    if data_cap_bytes < LEAST_DATA_BYTES:
        raise UserError(f"--data-cap: {data_cap_bytes} bytes: at least {LEAST_DATA_BYTES // 10**6} MB are needed")
    if bandwidth_cap_mbps is not None and not bandwidth_cap_mbps >= LEAST_CAP_MBPS:
        raise UserError(f"--bandwidth-cap {bandwidth_cap_mbps:g}: at least {LEAST_CAP_MBPS:g} Mbit/s are needed")
    transfer_s = TRANSFER_S if duration_s >= 120.0 else TRANSFER_S / 2
    transfers_take_s = 2 * (transfer_s + AROUND_S) + 2 * (FLOOD_S + AROUND_S)
    idle_s = max(duration_s - TRAINS_TAKE_S - transfers_take_s, LEAST_IDLE_S)
    idle_s = min(idle_s, IDLE_SHARE * data_cap_bytes / (IDLE_PER_S * IDLE_BYTES))
    return ProbeBudget(idle_s, transfer_s, FLOOD_S, data_cap_bytes, bandwidth_cap_mbps)


def train_packets(mbps: float | None, packet_bytes: int, jitter_s: float = 0.0) -> tuple[int, float]:
    """How many packets a train has on a path of this rate, and how long it is until the next one (s)."""
    if not mbps:
        return MOST_PACKETS // 2, LEAST_GAP_S
    per_s = mbps * 125_000 / packet_bytes
    packets = min(max(round(per_s * max(TRAIN_S, JITTERS_S * jitter_s)), LEAST_PACKETS), MOST_PACKETS)
    return packets, min(max(packets / per_s / TRAIN_SHARE, LEAST_GAP_S), MOST_GAP_S)
