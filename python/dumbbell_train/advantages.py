"""What decisions were better than expected: generalised advantage estimation (Schulman et al., ICLR 2016).

Rows are agents. Where an agent's decision is not due, its action is not looked at: what is rewarded meanwhile counts
for its last decision.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np


class Seen(NamedTuple):
    """What one step of all environments brought; rows are agents."""

    seen: np.ndarray
    known: np.ndarray
    action: np.ndarray
    likelihood: np.ndarray
    value: np.ndarray
    counts: np.ndarray
    """Whether the action was looked at."""
    fresh: np.ndarray
    """Whether the episode was over already: the step began the next one."""
    reward: np.ndarray
    terminated: np.ndarray
    """Whether the episode that was over ended for good: nothing is expected after it."""


def advantages(steps: Sequence[Seen], last: np.ndarray, gamma: float, lambda_: float) -> tuple[np.ndarray, np.ndarray]:
    """What each decision was better than expected, and what should have been expected; 0 where none was due."""
    better = np.zeros((len(steps), len(last)), np.float32)
    target = np.zeros_like(better)
    following, ahead, pending = last.copy(), np.zeros_like(last), np.zeros_like(last)
    for place in range(len(steps) - 1, -1, -1):
        step = steps[place]
        pending += step.reward
        gap = pending + gamma * following - step.value
        ahead = np.where(step.fresh, 0.0, np.where(step.counts, gap + gamma * lambda_ * ahead, ahead))
        better[place] = np.where(step.counts, ahead, 0.0)
        target[place] = np.where(step.counts, ahead + step.value, 0.0)
        expected = np.where(step.terminated, 0.0, step.value)
        following = np.where(step.fresh, expected, np.where(step.counts, step.value, following))
        pending = np.where(step.fresh | step.counts, 0.0, pending)
    return better, target
