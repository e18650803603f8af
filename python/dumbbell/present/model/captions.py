"""Sentences of captions about the runs: their number, their length, and when their flows start."""

from collections.abc import Collection


def runs_text(counts: Collection[int], duration_s: float) -> str:
    """Return number and length of the runs of each value: `3 runs of 12 s each`, `2 to 5 runs of 12 s each`.

    `counts` has the number of runs of each value.
    """
    minimum, maximum = min(counts, default=0), max(counts, default=0)
    runs = f"{minimum} to {maximum} runs" if minimum < maximum else f"{maximum} run{'s' * (maximum != 1)}"
    return f"{runs} of {duration_s:g} s{' each' * (maximum != 1)}"


def starts_sentence(interval_s: float, order: str = "in which its mix names them") -> str:
    """Return a sentence about the starts of the flows of a run; empty if they start together."""
    return f"The flows of a run start {interval_s:g} s apart, in the order {order}." if interval_s else ""
