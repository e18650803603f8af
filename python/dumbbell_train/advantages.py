"""Advantages of decisions over the expectation: generalised advantage estimation (Schulman et al., ICLR 2016).

Rows are agents. While an agent's decision is not due, its action is ignored. Rewards of that time count for its last
decision.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np


class StepData(NamedTuple):
    """Data of one step of all environments. Rows are agents."""

    observation: np.ndarray
    path_state: np.ndarray
    action: np.ndarray
    likelihood: np.ndarray
    value: np.ndarray
    counts: np.ndarray
    """True if the action was used."""
    fresh: np.ndarray
    """True if the episode had ended before: the step began the next one."""
    reward: np.ndarray
    terminated: np.ndarray
    """True if the episode ended for good: no reward is expected after it."""


def advantages(
    steps: Sequence[StepData], last: np.ndarray, gamma: float, lambda_: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return the advantage of each decision, and the value target of the critic; 0 if no decision was due."""
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
