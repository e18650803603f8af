"""Environments for agents, and trainers of controllers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, cast

from dumbbell import _core
from dumbbell.contract.controllers import EnvironmentFields
from dumbbell.contract.statistics import RunStats
from dumbbell.core.codec import decoded, encoded

if TYPE_CHECKING:
    from dumbbell._core import ArrayView, OnProgress, Table
    from dumbbell.contract.specification import RunSpec


def environment_fields() -> EnvironmentFields:
    """Return the fields that environments for agents report."""
    return decoded(_core.environment_fields(), EnvironmentFields)


class Environments:
    """Many environments of one task, stepped side by side."""

    def __init__(
        self,
        task: Mapping[str, object],
        count: int,
        threads: int,
        autoreset: str = "next-step",
        keeps: bool = False,
    ) -> None:
        self._environments = _core.Environments(encoded(task), count, threads, autoreset, keeps)
        self.inputs = self._environments.inputs
        self.outputs = self._environments.outputs

    def reset(self, seeds: Sequence[int | None], mask: Sequence[bool] | None) -> None:
        """Begin episodes of all environments, or of those in `mask`."""
        self._environments.reset(list(seeds), None if mask is None else list(mask))

    def step(self) -> None:
        """Step every environment with its part of `actions`."""
        self._environments.step()

    def array(self, name: str) -> ArrayView:
        """Return one of the arrays; its memory never moves."""
        return self._environments.array(name)

    def drawn(self, index: int) -> tuple[int, dict[str, object]]:
        """Return the seed of the run of an environment's episode, and the values drawn for the episode."""
        seed, text = self._environments.drawn(index)
        return seed, decoded(text, dict[str, object])

    def record(self, index: int, sample_interval_s: float = 0.1) -> tuple[RunSpec, RunStats, Table, Table, Table]:
        """Return the current episode of an environment so far: run spec, statistics, packets and samples."""
        text, statistics, *tables = self._environments.record(index, sample_interval_s)
        packets, flows, links = tables
        specification = cast("RunSpec", decoded(text, dict[str, object]))  # written by the core
        return specification, decoded(statistics, RunStats), packets, flows, links


def train_controller(
    name: str,
    settings: Mapping[str, object],
    seed: int,
    jobs: int,
    seconds: float,
    start: bytes | None,
    report: OnProgress,
) -> bytes:
    """Train for `seconds` and return the learned file.

    `start` is the file of an earlier training to continue. `report` is called with the state of the training and, at
    times, with the current file. An exception of `report` ends the training, and so does Ctrl-C (`KeyboardInterrupt`).
    """
    return _core.train_controller(name, encoded(settings), seed, jobs, seconds, start, report)
