"""Comparison of a run between two machines with the packet log of the emulator between them, packet by packet."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars

SEND, DELIVER, ACK_SEND, ACK_DELIVER = 0, 5, 7, 10
OF_CHANNEL = {61, 62, 76}
"""Sizes of greetings, clock probes and replies: 28 bytes of IP and UDP, 32 of an envelope, and their content."""


@dataclass(frozen=True)
class Comparison:
    """True and stated one-way delays of the packets of one direction of a flow, ns."""

    true_ns: np.ndarray
    stated_ns: np.ndarray

    @property
    def difference_error_us(self) -> np.ndarray:
        """Return the errors of differences of delays over time, us: the deviations of the error from its median."""
        error = self.stated_ns - self.true_ns
        return np.asarray(np.abs(error - np.median(error)) / 1e3)

    @property
    def error_ms(self) -> np.ndarray:
        """Return the stated delay's error, ms: true minus stated."""
        return np.asarray((self.true_ns - self.stated_ns) / 1e6)


def compare(run: Path, truth: Path, *, data: bool = True, is_swapped: bool = False) -> Comparison:
    """Return the delays of the only flow of a run, all through the emulator; `is_swapped`: the far machine sends.

    No packet passed after the run, but other runs may have been made before. Packets leave a machine and enter the
    emulator in one order: packet n of the flow is packet n of those that do not belong to the side channel.
    """
    own_log, true_log = polars.read_parquet(run / "packets.parquet"), polars.read_parquet(truth)
    left, came = (SEND, DELIVER) if data else (ACK_SEND, ACK_DELIVER)
    kinds = (SEND, DELIVER) if data != is_swapped else (ACK_SEND, ACK_DELIVER)
    # An ACK may be as long as a message of the side channel: such lengths are left out on both sides.
    sent_rows = own_log.filter((polars.col("event") == left) & ~polars.col("size_bytes").is_in(OF_CHANNEL))
    of_flow = polars.col("size_bytes").is_in(sorted(set(sent_rows["size_bytes"])))
    entered_rows = true_log.filter((polars.col("event") == kinds[0]) & of_flow)
    # Path MTU discovery precedes the run; then the clocks have a second.
    pauses = np.flatnonzero(np.diff(entered_rows["time_ns"].to_numpy().astype(np.int64)) > 500_000_000)
    begins = [int(pause) + 1 for pause in pauses if len(entered_rows) - pause - 1 >= len(sent_rows)]
    entered_rows = entered_rows[begins[-1] :] if begins else entered_rows
    # The last burst of a run may be sent and not logged. If other packets were missing, the n-th packets would differ,
    # and no delay would fit.
    assert 0 <= len(entered_rows) - len(sent_rows) <= 20, (len(entered_rows), len(sent_rows))
    assert entered_rows["size_bytes"][: len(sent_rows)].equals(sent_rows["size_bytes"]), "not the same packets"
    numbers = dict(zip(sent_rows["seq"], entered_rows["seq"][: len(sent_rows)], strict=True))
    arrived_rows = true_log.filter(polars.col("event") == kinds[1])
    true = dict(zip(arrived_rows["seq"], arrived_rows["one_way_delay_ns"], strict=True))
    delivered_rows = own_log.filter(polars.col("event") == came)
    pairs = [
        (true[numbers[number]], delay)
        for number, delay in zip(delivered_rows["seq"], delivered_rows["one_way_delay_ns"], strict=True)
        if numbers.get(number) in true
    ]
    return Comparison(*(np.array(column, dtype=np.int64) for column in zip(*pairs, strict=True)))
