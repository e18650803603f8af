"""Figures of all paths or cells together: shares of competing schemes, and metrics along the axes."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from shlex import join

from dumbbell.present.figures import figure_module
from dumbbell.present.figures.share import common_rival
from dumbbell.present.model.cells import COMPETITOR_AXES, Cells
from dumbbell.present.model.content import ReportModel
from dumbbell.present.model.figure_request import FigureOptions, ResultsFigureRequest
from dumbbell.present.plots import FEW
from dumbbell.results.analysis.shares import is_mixed
from dumbbell.results.numbers import is_number

_MOST_MAPS = 6
"""Maximum number of maps of one kind."""
_MOST_COLUMNS = 12
"""Maximum number of paths or cells that are the columns of one map."""
_MOST_PANELS = 4
"""Maximum number of panels of a sweep, one for each value of a second axis; beyond it there are maps."""


@dataclass(frozen=True)
class AcrossFigure:
    """A figure of many paths or cells as SVG: its subject, and the command that draws it."""

    title: str
    drawing: str
    command: str


class Across:
    """Figures of all paths or cells of the results together."""

    def __init__(self, model: ReportModel) -> None:
        self.model = model
        self.cells = Cells(model, "report")

    @property
    def is_grid(self) -> bool:
        """True if the results have the cells of a grid."""
        return any(run.content.get("axes") for run in self.model.runs) and len(self.model.paths) > 1

    @cached_property
    def shares(self) -> list[AcrossFigure]:
        """Maps of the shares of schemes beside each other; a report with competing schemes begins with these."""
        good = [run for run in self.model.runs if run.good and len({flow["scheme"] for flow in run.flows}) == 2]
        if not good:
            return []
        if len({(run.path, run.scheme) for run in good}) < 2:
            return []  # the table of shares has the same numbers
        places = {run.path: self.cells.places[run.path] for run in good}
        among = dict.fromkeys(places.values())
        if len(among) == 1 or (common_rival(good) is not None and len(among) <= _MOST_COLUMNS):
            return self._figures("share", None if len(among) > 1 else next(iter(places)))
        first = {place: path for path, place in reversed(places.items())}
        if len(among) <= _MOST_MAPS:
            return [figure for place in among for figure in self._figures("share", first[place])]
        tested_schemes = dict.fromkeys(str(run.flows[0]["scheme"]) for run in good)
        if len(self._numeric) == 2 and common_rival(good) and len(tested_schemes) <= _MOST_MAPS:
            return [
                figure
                for scheme in tested_schemes
                for figure in self._figures("grid", scheme=scheme, metric=f"share:{scheme}")
            ]
        return []

    @cached_property
    def sweeps(self) -> list[AcrossFigure]:
        """Main metrics of schemes by themselves along the axes of numbers, for each base path of the cells."""
        alone = list(dict.fromkeys(group.scheme for group in self.model.groups.values() if not is_mixed(group)))
        numeric = sorted(self._numeric, key=lambda name: -len(self._values(name)))
        other_axes = [name for name in self.cells.varied if name not in (*numeric, *COMPETITOR_AXES, "path")]
        if not alone or len(numeric) not in (1, 2) or other_axes:
            return []
        bases = {str(axes.get("path", path)): path for path, axes in reversed(self.cells.axes.items())}
        bases = dict(list(reversed(bases.items()))[:_MOST_MAPS])
        by = numeric[1] if len(numeric) == 2 else None
        panels = len(self._values(by)) if by else 1
        alone_schemes = tuple(alone) if len(alone) < len(self.model.schemes) else ()
        figures = []
        for path in bases.values():
            if len(alone) <= FEW and panels <= _MOST_PANELS:
                chosen_path = path if len(bases) > 1 else None
                figures += self._figures("sweep", chosen_path, x=numeric[0], group_by=by, schemes=alone_schemes)
            elif by and len(alone) <= _MOST_MAPS:
                metric = self.model.convention.throughput.key
                figures += self._figures("grid", path, x=numeric[0], y=by, metric=metric, schemes=alone_schemes)
        return figures

    @property
    def _numeric(self) -> list[str]:
        """Axes with several numbers, except the axes of competitors."""
        names = [name for name in self.cells.varied if name not in (*COMPETITOR_AXES, "path")]
        return [name for name in names if all(map(is_number, self._values(name)))]

    def _values(self, axis: str) -> list[object]:
        values = {repr(axes.get(axis)): axes.get(axis) for axes in self.cells.axes.values()}
        return list(values.values())

    def _figures(
        self,
        kind: str,
        path: str | None = None,
        scheme: str | None = None,
        *,
        x: str | None = None,
        y: str | None = None,
        metric: str | None = None,
        group_by: str | None = None,
        schemes: Sequence[str] = (),
    ) -> list[AcrossFigure]:
        """Return the figure as the command draws it, in a list; an empty list if no run counts."""
        options = FigureOptions(x=x, y=y, metric=metric, group_by=group_by, schemes=tuple(schemes))
        if not any(run.good for run in self.model.runs):
            return []
        request = ResultsFigureRequest(kind, f"a{next(self._numbers)}", self.model, path, scheme, options)
        figure = figure_module(kind).draw(request)
        arguments = {"path": path, "scheme": scheme, "x": x, "y": y, "metric": metric, "group-by": group_by}
        words = [word for name, value in arguments.items() if value is not None for word in (f"--{name}", value)]
        words += ["--schemes", ",".join(schemes)] if schemes else []
        return [AcrossFigure(figure.shows, figure.drawing, join(["dumbbell", "figure", ".", kind, *words]))]

    @cached_property
    def _numbers(self) -> Iterator[int]:
        return iter(range(1000))
