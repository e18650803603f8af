"""The probes of a path measurement, their durations and their limits, which are known in advance."""

from dataclasses import dataclass

from dumbbell.base.errors import UserError

DURATION_S, QUICK_S = 300.0, 60.0
"""Durations of a normal and a short measurement, s."""
DATA_CAP_BYTES = 1_000_000_000
IDLE_PER_S = 50.0
IDLE_PAYLOAD_BYTES = 60
IDLE_BYTES = IDLE_PAYLOAD_BYTES + 28 + 16
"""Size of a small packet on the path: payload, headers of IP and UDP, and tag; bytes."""
TRAINS = 12
SCOUTS = 3
SCOUT_PACKETS = 20
LEAST_PACKETS, MOST_PACKETS = 20, 200
TRAIN_S = 0.012
"""Duration of a train behind the narrowest link, s, if the number of its packets permits."""
JITTERS_S = 20.0
"""Smallest duration of a train, in multiples of the mean jitter."""
TRAIN_SHARE = 0.1
"""Largest share of the rate that trains take on average."""
LEAST_GAP_S, MOST_GAP_S = 0.3, 1.5
CODEPOINTS_EACH = 20
TRANSFER_S = 10.0
FLOOD_S = 4.0
LEAST_FLOOD_S = 1.0
MOST_FLOOD_MBPS = 400.0
"""Rate that the built-in sender reaches without local losses."""
FLOODS_AT = 1.5
"""Constant rate above that of the path, as a multiple, which fills any queue that transfers did not fill."""
STEADY_AT, STEADY_S = 0.7, 8.0
"""Constant rate below that of the path, as a multiple, and its duration, s. It shows random loss."""
FLOOD_SHARE, STEADY_SHARE, TRANSFER_SHARE, TRAINS_SHARE, IDLE_SHARE = 0.1, 0.08, 0.24, 0.03, 0.03
"""Shares of all bytes that may be sent, each way. Headers, ACKs and retransmissions take the rest."""
AROUND_S = 4.0
"""Time that each transfer needs in addition, for the start and the clocks, s."""
TRAINS_TAKE_S = 20.0
LEAST_S, MOST_S = 30.0, 3600.0
LEAST_IDLE_S = 8.0
LEAST_CAP_MBPS = 0.2
LEAST_DATA_BYTES = 20_000_000


@dataclass(frozen=True)
class ProbeBudget:
    """Durations of the parts of a measurement, and the limits of its bytes."""

    idle_s: float
    transfer_s: float
    flood_s: float
    data_cap_bytes: int
    bandwidth_cap_mbps: float | None

    @property
    def transfers(self) -> bool:
        """True if the measurement may fill the path."""
        return self.bandwidth_cap_mbps is None

    def transfer_of_s(self, mbps: float) -> float:
        """Return the longest duration of a transfer at a rate, s."""
        return min(self.transfer_s, self.transfer_bytes * 8e-6 / mbps)

    def flood_of_s(self, mbps: float) -> float:
        """Return the longest duration of a constant rate, s."""
        return min(self.flood_s, self.flood_bytes * 8e-6 / mbps)

    @property
    def transfer_bytes(self) -> int:
        """Largest number of bytes in a transfer."""
        return round(TRANSFER_SHARE * self.data_cap_bytes)

    @property
    def flood_bytes(self) -> int:
        """Largest number of bytes at a constant rate above that of the path."""
        return round(FLOOD_SHARE * self.data_cap_bytes)

    @property
    def steady_bytes(self) -> int:
        """Largest number of bytes at a constant rate below that of the path."""
        return round(STEADY_SHARE * self.data_cap_bytes)

    def train_packets(self, packet_bytes: int) -> int:
        """Return the largest number of packets in a train."""
        return max(int(TRAINS_SHARE * self.data_cap_bytes / TRAINS / packet_bytes), LEAST_PACKETS)

    def spaced_s(self, packets: int, packet_bytes: int, gap_s: float) -> float:
        """Return the time between two trains, s. With a bandwidth cap, trains take at most half of the cap."""
        if self.bandwidth_cap_mbps is None:
            return gap_s
        return max(gap_s, packets * packet_bytes * 8e-6 / (0.5 * self.bandwidth_cap_mbps))

    def words(self) -> str:
        """Return the announcement of the probes, for people."""
        idle = 2 * self.idle_s * IDLE_PER_S * IDLE_BYTES / 1e6
        announcement = (
            f"will send {idle:.1f} MB of small packets in {self.idle_s:.0f} s, {TRAINS + SCOUTS} packet trains each way"
        )
        if self.transfers:
            announcement += f", and fill the path for {self.transfer_s:.0f} s each way"
            announcement += (
                f" (and for {self.flood_s:.0f} to {self.flood_s + STEADY_S:.0f} s more where that does not suffice)"
            )
        else:
            announcement += f", and fill nothing: a bandwidth cap of {self.bandwidth_cap_mbps:g} Mbit/s is given"
        return f"{announcement}: at most {self.data_cap_bytes / 1e6:.0f} MB in all"


def make_budget(duration_s: float, data_cap_bytes: int, bandwidth_cap_mbps: float | None) -> ProbeBudget:
    """Return the budget for a duration and a number of bytes.

    Raises:
        UserError: the duration or a limit is too small.
    """
    if not LEAST_S <= duration_s <= MOST_S:
        raise UserError(argument="duration", value=f"{duration_s:g}", allowed=f"{LEAST_S:.0f} to {MOST_S:.0f} s")
    if data_cap_bytes < LEAST_DATA_BYTES:
        problem = f"{data_cap_bytes} bytes: at least {LEAST_DATA_BYTES // 10**6} MB are needed"
        raise UserError(problem, argument="data_cap")
    if bandwidth_cap_mbps is not None and not bandwidth_cap_mbps >= LEAST_CAP_MBPS:
        problem = f"at least {LEAST_CAP_MBPS:g} Mbit/s are needed"
        raise UserError(problem, argument="bandwidth_cap", value=f"{bandwidth_cap_mbps:g}")
    transfer_s = TRANSFER_S if duration_s >= 120.0 else TRANSFER_S / 2
    transfers_take_s = 2 * (transfer_s + AROUND_S) + 2 * (FLOOD_S + AROUND_S)
    idle_s = max(duration_s - TRAINS_TAKE_S - transfers_take_s, LEAST_IDLE_S)
    idle_s = min(idle_s, IDLE_SHARE * data_cap_bytes / (IDLE_PER_S * IDLE_BYTES))
    return ProbeBudget(idle_s, transfer_s, FLOOD_S, data_cap_bytes, bandwidth_cap_mbps)


def train_packets(mbps: float | None, packet_bytes: int, jitter_s: float = 0.0) -> tuple[int, float]:
    """Return the number of packets in a train at this rate, and the time until the next train, s."""
    if not mbps:
        return MOST_PACKETS // 2, LEAST_GAP_S
    per_s = mbps * 125_000 / packet_bytes
    packets = min(max(round(per_s * max(TRAIN_S, JITTERS_S * jitter_s)), LEAST_PACKETS), MOST_PACKETS)
    return packets, min(max(packets / per_s / TRAIN_SHARE, LEAST_GAP_S), MOST_GAP_S)
