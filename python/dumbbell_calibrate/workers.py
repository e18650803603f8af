"""Workers that simulate the runs of a calibration: processes of this machine, or a Dask cluster."""

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

RunMetrics = list[list[float | None]] | None
"""Metrics of all flows together, and of each flow; None for a failed run."""


class Workers(Protocol):
    """Workers that simulate run specs in parallel, and return the results in the order of the specs."""

    def map(self, specifications: Sequence[RunSpec]) -> list[RunMetrics]:
        """Return the metrics of the runs."""


@contextmanager
def workers(jobs: int, cluster: str | None) -> Iterator[Workers]:
    """Provide workers, and release them at the end.

    Raises:
        UserError: there is no such cluster.
    """
    if cluster is None:
        with Helpers(jobs) as helpers:
            yield _Local(helpers)
        return
    require_cluster(cluster)
    dask = Cluster(cluster, find_executor(Settings(backend=SIMULATION)))
    try:
        yield _Dask(dask)
    finally:
        dask.stop()


def run_metrics(specification: RunSpec) -> RunMetrics:
    """Return the metrics of one run, or None if it failed. A search may try any path, so a failure is not an error."""
    try:
        statistics, *_ = simulate_in_memory(specification)
    except core.Error:
        return None
    parts: tuple[Mapping[str, object], ...] = (statistics["network"], *statistics["flows"])
    return [[value_of(part, name) for name in METRICS] for part in parts]


class _Local:
    def __init__(self, helpers: Helpers) -> None:
        self._helpers = helpers

    def map(self, specifications: Sequence[RunSpec]) -> list[RunMetrics]:
        return self._helpers.map(run_metrics, specifications)


class _Dask:
    def __init__(self, cluster: Cluster) -> None:
        self._client = cluster.client

    def map(self, specifications: Sequence[RunSpec]) -> list[RunMetrics]:
        futures = self._client.map(run_metrics, specifications, pure=False, retries=1)
        try:
            metrics: list[RunMetrics] = self._client.gather(futures)
        except Exception as error:
            raise UserError(f"the cluster lost a run: {one_line(error)}") from None
        return metrics
