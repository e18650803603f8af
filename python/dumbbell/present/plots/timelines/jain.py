"""Jain's index in windows of time: over time for one run, and as distribution for every scheme on a path."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy
from numpy.typing import NDArray

from dumbbell.present.plots.parts.canvas import look, render
from dumbbell.present.plots.parts.frame import LINES, frame, say_empty
from dumbbell.present.plots.parts.panels import Curve, Panel, time_figure
from dumbbell.present.plots.parts.strokes import Stroke, line_look, marker_indices
from dumbbell.present.plots.parts.style import INK
from dumbbell.present.plots.parts.svg import compact

_STROKES = (Stroke(INK, "o"), Stroke("#e0393b", "s", (3.4, 3.4)))


@dataclass(frozen=True)
class JainLine:
    """Indices of one rule (over time) or of one scheme (its distribution, `time_s` empty)."""

    label: str
    index: NDArray[Any]
    time_s: NDArray[Any] = field(default_factory=lambda: numpy.empty(0))
    stroke: Stroke = _STROKES[0]


def jain_figure(name: str, lines: Sequence[JainLine]) -> str:
    """Return the index over time as SVG, with a line for each rule."""
    curves = [Curve(line.label, stroke, line.time_s, line.index) for line, stroke in zip(lines, _STROKES, strict=False)]
    return time_figure(name, [Panel("Jain's index", curves, highest=1.03, height=165.0)])


def jain_cdf_figure(name: str, lines: Sequence[JainLine]) -> str:
    """Return the cumulative distribution of the index over windows as SVG, with a line for each scheme."""
    with look(name):
        plot_frame = frame(165.0)
        axes = plot_frame.plots[0]
        axes.set_xlim(0.0, 1.0)
        axes.set_ylim(0.0, 1.02)
        for number, line in enumerate(lines):
            values = numpy.sort(line.index)
            if not len(values):
                continue
            x = numpy.concatenate([[values[0]], values, [1.0]])
            y = numpy.concatenate([[0.0], numpy.arange(1, len(values) + 1) / len(values), [1.0]])
            every = marker_indices(y, (0.0, 1.0), number, len(lines))  # evenly over the height, where most windows are
            axes.plot(x, y, label=line.label, drawstyle="steps-post", markevery=every, **line_look(line.stroke))
        if not any(len(line.index) for line in lines):
            say_empty(axes)
        plot_frame.finish(["eCDF"], LINES, ("Jain's index",))
        return compact(render(plot_frame.figure), name)
