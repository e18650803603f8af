"""Sentences of captions about the runs: their number, their length, and when their flows start."""

from collections.abc import Collection


def runs_text(counts: Collection[int], duration_s: float) -> str:
    """Return how many runs each value is of and how long they are: `3 runs of 12 s each`, `2 to 5 runs of 12 s each`.

    `counts` has the number of runs of each value.
    """
    least, most = min(counts, default=0), max(counts, default=0)
    runs = f"{least} to {most} runs" if least < most else f"{most} run{'s' * (most != 1)}"
    return f"{runs} of {duration_s:g} s{' each' * (most != 1)}"


def starts_sentence(interval_s: float, order: str = "in which its mix names them") -> str:
    """Say how far apart the flows of a run start, and which comes first; empty for flows that start together."""
    return f"The flows of a run start {interval_s:g} s apart, in the order {order}." if interval_s else ""
