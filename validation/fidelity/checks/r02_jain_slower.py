"""With five seconds between the changes instead of one, every scheme has more time to become fair."""

from validation.fidelity.published_check import Check, RowValues, Work
from validation.fidelity.staircase import FAST, MEASURED, QUEUES, QUICK, SCHEMES, values


def simulate(work: Work, count: int) -> list[RowValues]:
    """Return the median at 5 s, and its difference to the one at 1 s."""
    fast = values(work.repetitions("copa-fairness", *FAST, count=count), count)
    words = ("--schemes", ",".join(MEASURED), *QUICK)
    slow = values(work.repetitions("copa-fairness-5s", *words, count=count), count)
    return [
        {
            f"{scheme}/{queue}": {"jain": five[queue, scheme], "gain": five[queue, scheme] - one_value[queue, scheme]}
            for scheme in SCHEMES
            for queue in QUEUES
        }
        for one_value, five in zip(fast, slow, strict=True)
    ]


CHECK = Check("R2", "r02_jain_slower", simulate)
