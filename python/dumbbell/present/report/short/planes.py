"""Planes of the page: throughput over delay, and other pairs of metrics; the reader shows one of them."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from dumbbell.present.model.content import ReportModel
from dumbbell.present.model.figure_metrics import find_metric, main_metric
from dumbbell.present.model.overview import Overview

_MOST_PATHS = 6
"""Maximum number of paths of a page with other planes: one with many schemes takes a second to draw."""


@dataclass(frozen=True)
class Plane:
    """A drawing, as SVG, of one metric over another on a path, with title and caption."""

    title: str
    drawing: str
    caption: str
    is_wide: bool


class Planes:
    """Planes of every path beside throughput over delay."""

    def __init__(self, model: ReportModel) -> None:
        convention = model.convention
        throughput, delay, loss = (main_metric(metric, convention) for metric in convention.metrics)
        median = replace(find_metric("owd_p50_ms", ()), title="median one-way delay")
        jain = find_metric("jain_index", ())
        pairs = ((median, throughput), (loss, throughput), (delay, jain)) if len(model.paths) <= _MOST_PATHS else ()
        self._overviews = [Overview(model, x, y) for x, y in pairs]
        self._numbers = {path.name: number for number, path in enumerate(model.paths)}

    def of(self, path: str) -> Iterator[Plane]:
        """Yield the planes of a path whose metrics differ between the runs there."""
        for index, overview in enumerate(self._overviews):
            points = overview.points("runs", path)
            if min(len({point.x for point in points}), len({point.y for point in points})) > 1:
                drawing = overview.draw("means", path, f"p{self._numbers[path]}o{index}")
                yield Plane(overview.title, drawing, overview.caption(path), overview.is_wide(path))
