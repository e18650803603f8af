"""Environments of the core, with its arrays as numpy arrays."""

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from dumbbell import core
from dumbbell.base.errors import UserError
from dumbbell.core import environments
from dumbbell_gym.fields import ORACLE, STEP
from dumbbell_gym.task import EnvironmentSpec


class Environments:
    """Environments of one task. Their arrays are memory of the core: every step changes them."""

    def __init__(
        self, description: EnvironmentSpec, count: int, threads: int | None, autoreset: str, keeps: bool
    ) -> None:
        workers = len(os.sched_getaffinity(0)) if threads is None else threads
        try:
            self.core = environments.Environments(description.task(), count, workers, autoreset, keeps)
        except core.Error as error:
            raise UserError(str(error)) from None
        except (OverflowError, TypeError) as error:
            raise UserError(f"num_envs = {count!r}, threads = {threads!r}: {error}") from None
        rows = count * description.agents
        self.count, self.rows = count, rows
        self.inputs, self.outputs = self.core.inputs, self.core.outputs
        self.observations = self._array("observations", rows, self.inputs)
        self.final_observations = self._array("final_observations", rows, self.inputs)
        self.actions = self._array("actions", rows, self.outputs)
        self.rewards = self._array("rewards", rows)
        self.terminated = self._array("terminated", rows)
        self.truncated = self._array("truncated", rows)
        self.due = self._array("due", rows)
        self.values = self._array("values", rows, len(STEP))
        self.oracle = self._array("oracle", rows, len(ORACLE))
        self.episodes = self._array("episodes", rows, 2)
        self.ended = self._array("ended", count)
        self.times = self._array("times", count)

    def _array(self, name: str, *shape: int) -> np.ndarray:
        return np.asarray(self.core.array(name)).reshape(shape)

    def reset(self, seeds: Sequence[int | None], mask: Sequence[bool] | None = None) -> None:
        """Begin episodes."""
        try:
            self.core.reset(seeds, mask)
        except core.Error as error:
            raise UserError(str(error)) from None
        except (OverflowError, TypeError) as error:
            raise UserError(
                f"seed = {list(seeds)[:3]!r}: allowed is a whole number from 0 to 2^64 - 1: {error}"
            ) from None

    def step(self) -> None:
        """Advance all environments by one step."""
        try:
            self.core.step()
        except core.Error as error:
            raise UserError(str(error)) from None

    def write(self, rows: Any, actions: Any, discrete: bool) -> None:  # noqa: ANN401 (whatever numpy takes)
        """Write actions into `rows`, one per row. A discrete action is written as its number.

        Raises:
            UserError: they are of another shape.
        """
        try:
            expected = len(self.actions[rows])
            if discrete:
                numbers = np.asarray(actions, dtype=np.int64).reshape(expected)
                if numbers.size and (numbers.min() < 0 or numbers.max() >= self.outputs):
                    raise UserError(f"action = {actions!r}: allowed are 0 to {self.outputs - 1}")
                self.actions[rows] = np.eye(self.outputs, dtype=np.float32)[numbers]
            else:
                self.actions[rows] = np.asarray(actions, dtype=np.float32).reshape(expected, self.outputs)
        except (ValueError, TypeError) as error:
            if isinstance(error, UserError):
                raise
            raise UserError(f"action: {str(error).splitlines()[0]}: allowed are {self.outputs} numbers each") from None


def agent_info(environments: Environments, row: int) -> dict[str, Any]:
    """Return the information on one agent in addition to its observation."""
    step = dict(zip((field.name for field in STEP), environments.values[row].tolist(), strict=True))
    oracle = dict(zip((field.name for field in ORACLE), environments.oracle[row].tolist(), strict=True))
    return {"step": step, "oracle": oracle, "due": bool(environments.due[row])}
