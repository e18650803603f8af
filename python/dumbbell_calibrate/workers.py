"""Where runs of a calibration are simulated: on processes of this machine, or by the workers of a Dask cluster."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

from dumbbell import core
from dumbbell.backends import find_executor
from dumbbell.base.backend import SIMULATION
from dumbbell.base.errors import UserError, one_line
from dumbbell.base.spread import Helpers
from dumbbell.catalog.experiment_settings import Settings
from dumbbell.core.runs import simulate_in_memory
from dumbbell.execution.cluster import Cluster, require_cluster
from dumbbell.results.numbers import value_of

if TYPE_CHECKING:
    from dumbbell.contract.specification import RunSpec

METRICS = ("throughput_mbps", "delay_p95_ms", "loss_rate")

Found = list[list[float | None]] | None
"""The metrics of all flows together, and of each flow; None of a run that failed."""


class Workers(Protocol):
    """Simulates specifications, in any order and at once; what was found is in their order."""

    def map(self, specifications: Sequence[RunSpec]) -> list[Found]:
        """What the runs came to."""


@contextmanager
def workers(jobs: int, cluster: str | None) -> Iterator[Workers]:
    """Workers that are let go of at the end.

    Raises:
        UserError: there is no such cluster.
    """
    if cluster is None:
        with Helpers(jobs) as helpers:
            yield _Local(helpers)
        return
    require_cluster(cluster)
    connected = Cluster(cluster, find_executor(Settings(backend=SIMULATION)))
    try:
        yield _Dask(connected)
    finally:
        connected.stop()


def simulated(specification: RunSpec) -> Found:
    """One run. Whatever stops it makes its path a bad one, no error: a search may go anywhere."""
    try:
        statistics, *_ = simulate_in_memory(specification)
    except core.Error:
        return None
    parts: tuple[Mapping[str, object], ...] = (statistics["network"], *statistics["flows"])
    return [[value_of(part, name) for name in METRICS] for part in parts]


class _Local:
    def __init__(self, helpers: Helpers) -> None:
        self._helpers = helpers

    def map(self, specifications: Sequence[RunSpec]) -> list[Found]:
        return self._helpers.map(simulated, specifications)


class _Dask:
    def __init__(self, cluster: Cluster) -> None:
        self._client = cluster.client

    def map(self, specifications: Sequence[RunSpec]) -> list[Found]:
        futures = self._client.map(simulated, specifications, pure=False, retries=1)
        try:
            found: list[Found] = self._client.gather(futures)
        except Exception as error:
            raise UserError(f"the cluster lost a run: {one_line(error)}") from None
        return found
