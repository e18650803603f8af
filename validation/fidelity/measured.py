"""Values of results for checks: means over the runs of a cell."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import dumbbell
from validation.fidelity.published_check import RunFailure

Run = dict[str, Any]
"""A run as in `show --json`."""


@dataclass(frozen=True)
class Runs:
    """Runs of a results directory, or some of them."""

    runs: tuple[Run, ...]

    @classmethod
    def of(cls, directory: Path) -> Runs:
        """Return the runs that can be judged; degraded, invalid and failed ones cannot."""
        return cls(tuple(run.statistics for run in dumbbell.open(directory).runs if run.status == "done"))

    def where(self, scheme: str | None = None, versus: str = "", **axes: Any) -> Runs:  # noqa: ANN401 (TOML values)
        """Return the runs of a scheme, with a label of the axis `versus` and values of other axes; `path` is one."""

        def fits(run: Run) -> bool:
            run_axes = run["axes"] or {"path": run["path"]}
            return (
                scheme in (None, run["scheme"])
                and run["path"].endswith(f".versus-{versus}" if versus else "")
                and all(run_axes.get(key) == value for key, value in axes.items())
            )

        return Runs(tuple(filter(fits, self.runs)))

    def repetitions(self, count: int, group_size: int = 1) -> list[Runs]:
        """The runs of each of `count` repetitions, which are `group_size` runs of every scheme and cell."""
        return [
            Runs(tuple(run for run in self.runs if (run["run"] - 1) // group_size == number)) for number in range(count)
        ]

    def mean(self, quantity: str | Callable[[Run], float]) -> float:
        """Return the mean over the runs of a metric, such as `flows.0.goodput_mbps`, or of a function of a run.

        Raises:
            RunFailure: There is no good run, or a run lacks the metric.
        """
        if not self.runs:
            raise RunFailure("no good run to judge")
        function = quantity if callable(quantity) else lambda run: value(run, quantity)
        return statistics.mean(map(function, self.runs))

    def groups(self, *axes: str) -> Iterator[tuple[tuple[Any, ...], Runs]]:
        """Yield the runs by scheme and by the values of some axes."""
        runs_of: dict[tuple[Any, ...], list[Run]] = {}
        for run in self.runs:
            runs_of.setdefault((run["scheme"], *(run["axes"].get(axis) for axis in axes)), []).append(run)
        yield from ((key, Runs(tuple(runs))) for key, runs in runs_of.items())


def value(run: Run, metric: str) -> float:
    """Return a metric of a run by its place.

    Raises:
        RunFailure: The run lacks the metric.
    """
    node: Any = run
    for part in metric.split("."):
        node = node[int(part)] if isinstance(node, list) else node[part]
    if node is None:
        raise RunFailure(f"{run['path']}, {run['scheme']}: no {metric}")
    return float(node)


def carried_mbps(run: Run, flow: int) -> float:
    """Return the rate that the path carried to a flow's receiver after the warm-up, headers included, Mbit/s."""
    whole_bytes, payload = (value(run, f"flows.{flow}.{key}") for key in ("bytes_delivered", "data_bytes_delivered"))
    return value(run, f"flows.{flow}.goodput_mbps") * whole_bytes / payload
