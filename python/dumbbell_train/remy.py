"""Trainer `remy`: a table of rules for a range of networks."""

from argparse import ArgumentTypeError
from typing import TYPE_CHECKING

from dumbbell.catalog.options.values import count
from dumbbell_train.trainer import Setting, Trainer
from dumbbell_train.values import number, span, whole_number

if TYPE_CHECKING:
    from dumbbell_train.job import Job


def counts(text: str) -> tuple[int, int]:
    """Parse a range of whole numbers."""
    low, _, high = text.partition(",")
    ends = count(low), count(high or low)
    if ends[0] > ends[1]:
        raise ArgumentTypeError(f"`{text}`: allowed is a range like 1,2, or a whole number")
    return ends


def train(job: "Job") -> None:
    """Train in the core."""
    job.in_core("remy", job.settings)


TRAINER = Trainer(
    name="remy",
    summary="RemyCC: rules from ACKs to window and pacing, for a range of networks",
    suffix=".json",
    minutes=60.0,
    settings=(
        Setting("link_mbps", span, (10.0, 100.0), "LOW,HIGH", "rates of the links, Mbit/s"),
        Setting("rtt_ms", span, (150.0, 150.0), "LOW,HIGH", "RTTs without a queue, ms"),
        Setting("senders", counts, (2, 2), "LOW,HIGH", "how many share a link"),
        Setting("on_ms", number, 1000.0, "MS", "mean time that a sender is on, exponential"),
        Setting("off_ms", number, 1000.0, "MS", "mean time that it is off, exponential"),
        Setting("delta", number, 1.0, "D", "objective: log2 of the throughput less D times log2 of the delay"),
        Setting("networks", count, 7, "N", "how many networks a table is judged in"),
        Setting("packets", number, 20000.0, "N", "how long a trial is, in packets of its link"),
        Setting("seconds", number, 5.0, "S", "how long a trial is at least"),
        Setting("rules", count, 128, "N", "rules are divided up to this number"),
        Setting("epochs", whole_number, 0, "N", "epochs in all, at most 1000; 0: until the time is over"),
    ),
    train=train,
)
