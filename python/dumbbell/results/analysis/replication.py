"""Pantheon's replication error: how far an emulation is from the path that it stands for.

Yan et al., USENIX ATC 2018, section 5.
"""

from collections.abc import Sequence
from dataclasses import dataclass


def relative_error(found: float, wanted: float) -> float | None:
    """(found - wanted) / wanted; None where `wanted` is not above zero: a share of nothing is no number."""
    return (found - wanted) / wanted if wanted > 0 else None


@dataclass(frozen=True)
class ReplicationError:
    """Mean relative errors over schemes, 0.1 for 10 %: of throughput, of 95th-percentile delay, and their mean."""

    error: float
    throughput: float
    delay: float

    @classmethod
    def of(cls, errors: Sequence[tuple[float, float]]) -> "ReplicationError":
        """Of relative errors of throughput and delay, a pair for each scheme; signs do not matter, nor do losses."""
        throughput, delay = (sum(map(abs, each)) / len(errors) for each in zip(*errors, strict=True))
        return cls((throughput + delay) / 2, throughput, delay)
