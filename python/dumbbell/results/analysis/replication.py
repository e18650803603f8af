"""Pantheon's replication error: the distance of an emulation from the path that it stands for.

Yan et al., USENIX ATC 2018, section 5.
"""

from collections.abc import Sequence
from dataclasses import dataclass


def relative_error(value: float, reference: float) -> float | None:
    """Return (value - reference) / reference; None unless `reference` is above zero."""
    return (value - reference) / reference if reference > 0 else None


@dataclass(frozen=True)
class ReplicationError:
    """Mean relative errors over schemes, 0.1 for 10 %: of throughput, of 95th-percentile delay, and their mean."""

    error: float
    throughput: float
    delay: float

    @classmethod
    def of(cls, errors: Sequence[tuple[float, float]]) -> "ReplicationError":
        """Return the error from relative errors of throughput and delay, a pair for each scheme.

        Signs do not matter.
        """
        throughput, delay = (sum(map(abs, column)) / len(errors) for column in zip(*errors, strict=True))
        return cls((throughput + delay) / 2, throughput, delay)
