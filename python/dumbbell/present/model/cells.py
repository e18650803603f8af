"""The cells of a grid: which vary along an axis, and the means of their runs."""

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

WHO = ("scheme", "ours", "theirs", "start_s")
"""The axes of grids that say who competes."""
_CHOICES = 8
"""So many paths are listed to choose from."""


class Cells:
    """The good runs of a results directory, by cell. The path of a cell fixes the axes that a figure does not show."""

    def __init__(self, model: ReportModel, kind: str) -> None:
        self.model = model
        self.kind = kind

    @cached_property
    def axes(self) -> dict[str, Mapping[str, AxisValue]]:
        """The axes and their values in each cell. The keys of a table count as axes."""
        return {run.path: run.content.get("axes") or {"path": run.path} for run in self.model.runs}

    @cached_property
    def varied(self) -> list[str]:
        """The axes that have several values; the path counts as one."""
        return varied_axes(self.axes.values())

    @cached_property
    def places(self) -> dict[str, str]:
        """The cells in words, by path: the axes that vary, without those of who competes. `base RTT 20 ms`."""
        told = [name for name in self.varied if name not in WHO]
        return {
            path: axis_phrases({name: axes.get(name) for name in told}) or str(axes.get("path", path))
            for path, axes in self.axes.items()
        }

    def along(self, path: str | None, free: Sequence[str], group_by: bool = False) -> list[RunEntry]:
        """Return the good runs in the cells that differ from `path` in `free` axes only.

        `group_by` says whether an axis can still be given by `--group-by`.

        Raises:
            UserError: without a path, where that would leave cells out.
        """
        cell = path or next(iter(self.axes))
        names = [name for name in self.axes if self._fixed(name, free) == self._fixed(cell, free)]
        if path is None and len(names) < len(self.axes):
            raise self._choose(free, group_by)
        return [run for name in names for run in self.model.of(name) if run.good]

    def _fixed(self, cell: str, free: Sequence[str]) -> dict[str, AxisValue]:
        return {name: value for name, value in self.axes[cell].items() if name not in free}

    def _choose(self, free: Sequence[str], group_by: bool) -> UserError:
        """The error where cells differ in other axes than the `free` ones; it says how to choose."""
        of_runs: dict[str, int] = {}  # a cell where flows compete stands for those that differ in who competes
        for run in self.model.runs:
            of_runs[run.path] = max(of_runs.get(run.path, 0), len(run.flows))
        alike: dict[str, list[str]] = {}
        for name in self.axes:
            alike.setdefault(str(self._fixed(name, free)), []).append(name)
        choices = [max(each, key=lambda name: of_runs.get(name, 0)) for each in alike.values()]
        more = f" and {len(choices) - _CHOICES} more" if len(choices) > _CHOICES else ""
        several = f"{argument('path')} chooses one of {listed(choices[:_CHOICES])}{more}"
        fixed = [self._fixed(name, free) for name in choices]
        varied = [name for name in varied_axes(fixed) if name != "path"]
        if not varied:
            return UserError(f"figure `{self.kind}`: there are {len(choices)} paths: {several}")
        vary = f"{listed(varied)} {'vary' if len(varied) > 1 else 'varies'} too"
        if not group_by:
            return UserError(f"figure `{self.kind}`: {vary}: {several}")
        one = f"{argument('group_by')} {varied[0]} draws a panel for each of its values"
        if len(varied) == 1:
            return UserError(f"figure `{self.kind}`: {vary}: {one}; {several}")
        each = f"{argument('group_by', form='AXIS')} draws a panel for each value of one of them"
        others = f"{argument('path', form='CELL')} fixes the others"
        example = f"for example {argument('group_by')} {varied[0]} {argument('path')} {choices[0]}"
        return UserError(f"figure `{self.kind}`: {vary}: {each}, {others}: {example}")

    def axis(self, name: str) -> str:
        """Return the axis of this name.

        Raises:
            UserError: there is none.
        """
        known = list(dict.fromkeys(name for axes in self.axes.values() for name in axes))
        if name not in known:
            raise UserError(
                f"figure `{self.kind}`: unknown axis `{name}`{nearest(name, known)}: there are {listed(known)}"
            )
        return name

    def values(self, axis: str, runs: Iterable[RunEntry]) -> dict[str, str]:
        """Return the value of the axis in the cell of each run, by path, as text: numbers in their order first."""
        found = {run.path: self.axes[run.path].get(axis) for run in runs}
        order = sorted(
            found, key=lambda path: (not is_number(found[path]), found[path] if is_number(found[path]) else 0)
        )
        return {path: "none" if found[path] is None else axis_label(found[path]) for path in order}

    @cached_property
    def numbers(self) -> list[str]:
        """The axes along which numbers vary; those of who competes come first."""
        values: dict[str, set[float]] = {}
        for axes in self.axes.values():
            for name, value in axes.items():
                if is_number(value):
                    values.setdefault(name, set()).add(float(value))
        return sorted((name for name, found in values.items() if len(found) > 1), key=lambda each: each not in WHO)

    def quantities(self, count: int) -> list[str]:
        """Return the last axes, at least so many, along which numbers vary; those of who competes come first.

        Raises:
            UserError: there are fewer.
        """
        varied = self.numbers
        if len(varied) < count:
            wanted = "an axis" if count == 1 else f"{count} axes"
            raise UserError(f"figure `{self.kind}`: is of experiments with a grid: {wanted} of numbers that vary")
        return varied[-count:]


def all_schemes(kind: str, scheme: str | None) -> None:
    """Refuse a scheme: the figure is of all schemes.

    Raises:
        UserError: one was given.
    """
    if scheme is not None:
        raise UserError(f"figure `{kind}`: is of all schemes: give no `scheme`")


def mean(values: Iterable[float | None]) -> float | None:
    """Return the mean of the values that are not None; None if there are no such values."""
    known = [value for value in values if value is not None]
    return statistics.fmean(known) if known else None
