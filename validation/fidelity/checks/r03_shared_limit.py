"""Effect of a limit that the queue shares with the delay line before it, as Mininet builds links."""

from validation.fidelity.published_check import Check, RowValues, Work
from validation.fidelity.staircase import FAST, QUEUES, values


def simulate(work: Work, count: int) -> list[RowValues]:
    """Return utilisation and delay over both queues."""
    directory = work.repetitions("copa-fairness", *FAST, count=count)
    used, delays = (values(directory, count, metric) for metric in ("utilization", "owd_p95_ms"))
    return [
        {
            f"{scheme}/use": {"plain": use["plain", scheme], "change": use["shared", scheme] - use["plain", scheme]}
            for scheme in ("cubic", "reno")
        }
        | {f"{scheme}/delay": {queue: late[queue, scheme] for queue in QUEUES} for scheme in ("cubic", "bbr")}
        for use, late in zip(used, delays, strict=True)
    ]


CHECK = Check("R3", "r03_shared_limit", simulate)
