"""Cells of a grid: choice of cells along an axis, and means of their runs."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from dumbbell.base.errors import UserError, argument, listed, nearest
from dumbbell.present.model.content import ReportModel, RunEntry
from dumbbell.results.analysis.axis_words import axis_label, axis_phrases, varied_axes
from dumbbell.results.numbers import is_number

if TYPE_CHECKING:
    from dumbbell.contract.run import AxisValue

COMPETITOR_AXES = ("scheme", "ours", "theirs", "start_s")
"""Axes of grids that name the competitors and the start of their flows."""
_CHOICES = 8
"""Maximum number of paths in an error message."""


class Cells:
    """Good runs of a results directory, by cell; the path of a cell fixes the axes that a figure does not show."""

    def __init__(self, model: ReportModel, kind: str) -> None:
        self.model = model
        self.kind = kind

    @cached_property
    def axes(self) -> dict[str, Mapping[str, AxisValue]]:
        """Axes and their values in each cell; the keys of a table count as axes."""
        return {run.path: run.content.get("axes") or {"path": run.path} for run in self.model.runs}

    @cached_property
    def varied(self) -> list[str]:
        """Axes with several values; the path counts as one."""
        return varied_axes(self.axes.values())

    @cached_property
    def places(self) -> dict[str, str]:
        """Names of the cells by path, from the varying axes except those of the competitors: `base RTT 20 ms`."""
        names = [name for name in self.varied if name not in COMPETITOR_AXES]
        return {
            path: axis_phrases({name: axes.get(name) for name in names}) or str(axes.get("path", path))
            for path, axes in self.axes.items()
        }

    def along(self, path: str | None, free: Sequence[str], group_by: bool = False) -> list[RunEntry]:
        """Return the good runs in the cells that differ from `path` in `free` axes only.

        `group_by` is true if the caller can still give an axis by `--group-by`.

        Raises:
            UserError: `path` is None although cells differ in other axes.
        """
        cell = path or next(iter(self.axes))
        names = [name for name in self.axes if self._fixed(name, free) == self._fixed(cell, free)]
        if path is None and len(names) < len(self.axes):
            raise self._choose(free, group_by)
        return [run for name in names for run in self.model.of(name) if run.good]

    def _fixed(self, cell: str, free: Sequence[str]) -> dict[str, AxisValue]:
        return {name: value for name, value in self.axes[cell].items() if name not in free}

    def _choose(self, free: Sequence[str], group_by: bool) -> UserError:
        """Return the error for cells that differ in other axes than the `free` ones, with the possible choices."""
        of_runs: dict[str, int] = {}  # a cell where flows compete stands for those that differ in who competes
        for run in self.model.runs:
            of_runs[run.path] = max(of_runs.get(run.path, 0), len(run.flows))
        alike: dict[str, list[str]] = {}
        for name in self.axes:
            alike.setdefault(str(self._fixed(name, free)), []).append(name)
        choices = [max(names, key=lambda name: of_runs.get(name, 0)) for names in alike.values()]
        more = f" and {len(choices) - _CHOICES} more" if len(choices) > _CHOICES else ""
        choice_hint = f"{argument('path')} chooses one of {listed(choices[:_CHOICES])}{more}"
        fixed = [self._fixed(name, free) for name in choices]
        varying = [name for name in varied_axes(fixed) if name != "path"]
        if not varying:
            return UserError(f"figure `{self.kind}`: there are {len(choices)} paths: {choice_hint}")
        vary = f"{listed(varying)} {'vary' if len(varying) > 1 else 'varies'} too"
        if not group_by:
            return UserError(f"figure `{self.kind}`: {vary}: {choice_hint}")
        panel_hint = f"{argument('group_by')} {varying[0]} draws a panel for each of its values"
        if len(varying) == 1:
            return UserError(f"figure `{self.kind}`: {vary}: {panel_hint}; {choice_hint}")
        panels_hint = f"{argument('group_by', form='AXIS')} draws a panel for each value of one of them"
        path_hint = f"{argument('path', form='CELL')} fixes the others"
        example = f"for example {argument('group_by')} {varying[0]} {argument('path')} {choices[0]}"
        return UserError(f"figure `{self.kind}`: {vary}: {panels_hint}, {path_hint}: {example}")

    def axis(self, name: str) -> str:
        """Return the axis of this name.

        Raises:
            UserError: No cell has this axis.
        """
        names = list(dict.fromkeys(name for axes in self.axes.values() for name in axes))
        if name not in names:
            raise UserError(
                f"figure `{self.kind}`: unknown axis `{name}`{nearest(name, names)}: there are {listed(names)}"
            )
        return name

    def values(self, axis: str, runs: Iterable[RunEntry]) -> dict[str, str]:
        """Return the axis value of each run's cell as text, by path; numbers come first, in ascending order."""
        values_by_path = {run.path: self.axes[run.path].get(axis) for run in runs}
        order = sorted(
            values_by_path,
            key=lambda path: (
                not is_number(values_by_path[path]),
                values_by_path[path] if is_number(values_by_path[path]) else 0,
            ),
        )
        return {path: "none" if values_by_path[path] is None else axis_label(values_by_path[path]) for path in order}

    @cached_property
    def numbers(self) -> list[str]:
        """Axes with several numbers; axes of the competitors come first."""
        values: dict[str, set[float]] = {}
        for axes in self.axes.values():
            for name, value in axes.items():
                if is_number(value):
                    values.setdefault(name, set()).add(float(value))
        return sorted(
            (name for name, numbers in values.items() if len(numbers) > 1), key=lambda name: name not in COMPETITOR_AXES
        )

    def quantities(self, count: int) -> list[str]:
        """Return the last `count` axes with several numbers; axes of the competitors come first.

        Raises:
            UserError: Fewer axes have several numbers.
        """
        axes = self.numbers
        if len(axes) < count:
            requirement = "an axis" if count == 1 else f"{count} axes"
            raise UserError(f"figure `{self.kind}`: is of experiments with a grid: {requirement} of numbers that vary")
        return axes[-count:]


def all_schemes(kind: str, scheme: str | None) -> None:
    """Refuse a scheme, since the figure covers all schemes.

    Raises:
        UserError: `scheme` is given.
    """
    if scheme is not None:
        raise UserError(f"figure `{kind}`: is of all schemes: give no `scheme`")


def mean(values: Iterable[float | None]) -> float | None:
    """Return the mean of the values that are not None; None if there are no such values."""
    numbers = [value for value in values if value is not None]
    return statistics.fmean(numbers) if numbers else None
