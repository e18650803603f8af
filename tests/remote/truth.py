"""What the emulator between two machines saw, beside what a run between them says: packet by packet."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars

SEND, DELIVER, ACK_SEND, ACK_DELIVER = 0, 5, 7, 10
OF_CHANNEL = {61, 62, 76}
"""Sizes of greetings, questions and answers: 28 of IP and UDP, 32 of an envelope, and their content."""


@dataclass(frozen=True)
class Compared:
    """One direction of a flow: the true one-way delays of its packets and the stated ones, ns."""

    true_ns: np.ndarray
    stated_ns: np.ndarray

    @property
    def difference_error_us(self) -> np.ndarray:
        """How far differences of delays over time are off: from what they are off by most of the time."""
        error = self.stated_ns - self.true_ns
        return np.asarray(np.abs(error - np.median(error)) / 1e3)

    @property
    def error_ms(self) -> np.ndarray:
        """True less stated delay."""
        return np.asarray((self.true_ns - self.stated_ns) / 1e6)


def compared(run: Path, truth: Path, *, data: bool = True, swapped: bool = False) -> Compared:
    """The only flow of a run, whose packets were all seen by the emulator; `swapped`: the far machine sends.

    Nothing passed after it; before it other runs may have been made. Packets leave a machine and enter the emulator in
    one order: the n-th of the flow is the n-th of those that are not of the channel beside it.
    """
    ours, theirs = polars.read_parquet(run / "packets.parquet"), polars.read_parquet(truth)
    left, came = (SEND, DELIVER) if data else (ACK_SEND, ACK_DELIVER)
    passed = (SEND, DELIVER) if data != swapped else (ACK_SEND, ACK_DELIVER)
    # an ACK may be as long as what passes beside it: those are left out on both sides
    sent = ours.filter((polars.col("event") == left) & ~polars.col("size_bytes").is_in(OF_CHANNEL))
    of_flow = polars.col("size_bytes").is_in(sorted(set(sent["size_bytes"])))
    entered = theirs.filter((polars.col("event") == passed[0]) & of_flow)
    # before the run how long packets may be was tried; then there is a second for the clocks
    pauses = np.flatnonzero(np.diff(entered["time_ns"].to_numpy().astype(np.int64)) > 500_000_000)
    begins = [int(pause) + 1 for pause in pauses if len(entered) - pause - 1 >= len(sent)]
    entered = entered[begins[-1] :] if begins else entered
    # the last burst of a run may be sent and not logged, as its end comes; if others were missing, the n-th packets
    # would not be the same ones, and no delay would fit
    assert 0 <= len(entered) - len(sent) <= 20, (len(entered), len(sent))
    assert entered["size_bytes"][: len(sent)].equals(sent["size_bytes"]), "not the same packets"
    numbers = dict(zip(sent["seq"], entered["seq"][: len(sent)], strict=True))
    arrived = theirs.filter(polars.col("event") == passed[1])
    true = dict(zip(arrived["seq"], arrived["one_way_delay_ns"], strict=True))
    delivered = ours.filter(polars.col("event") == came)
    pairs = [
        (true[numbers[number]], delay)
        for number, delay in zip(delivered["seq"], delivered["one_way_delay_ns"], strict=True)
        if numbers.get(number) in true
    ]
    return Compared(*(np.array(each, dtype=np.int64) for each in zip(*pairs, strict=True)))
