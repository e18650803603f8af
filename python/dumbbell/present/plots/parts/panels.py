"""Plots over time, one above the other: the drawing that all figures over time share."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy
from matplotlib.axes import Axes
from numpy.typing import NDArray

from dumbbell.present.plots.parts.canvas import look, render
from dumbbell.present.plots.parts.frame import LINES, frame, say_empty, value_limits
from dumbbell.present.plots.parts.sheet import sheet
from dumbbell.present.plots.parts.strokes import Stroke, line_look, marker_indices, marker_look
from dumbbell.present.plots.parts.style import INK, SHADE
from dumbbell.present.plots.parts.svg import Mark, compact

Array = NDArray[Any]

_FEW = 8  # lines; more of them are thinner
_WIDE, _THIN = 1.2, 0.8  # points
_NAME_ROOM = 44.0  # points, left of a plot


@dataclass(frozen=True)
class Curve:
    """One line of values at times. With `held`, values hold until the next one; otherwise straight lines join them.

    A curve without `label` is thin, has no markers, and is not in the legend.
    """

    label: str
    stroke: Stroke
    time_s: Array
    values: Array
    is_stepwise: bool = False
    scheme: str = ""


@dataclass(frozen=True)
class Steps:
    """A value that changes at times and holds until the next change, finally to the end of the figure."""

    time_s: Sequence[float]
    values: Sequence[float]


@dataclass(frozen=True)
class Panel:
    """One plot.

    `limit` is a bound of the values, with the area below it shaded; `mark` is a dotted line. `spots` are single
    markers: time, value, and stroke. If the values are numbers of states, `states` names them, and `title` stands above
    instead of a label.
    """

    y_label: str
    curves: Sequence[Curve] = ()
    limit: Steps | None = None
    mark: Steps | None = None
    spots: Sequence[tuple[float, float, Stroke]] = ()
    from_zero: bool = True
    highest: float | None = None
    height: float = 105.0
    states: Mapping[float, str] | None = None
    title: str = ""


def time_figure(
    name: str,
    panels: Sequence[Panel],
    changes_s: Sequence[float] = (),
    x_label: str = "Time (s)",
    span: tuple[float, float] | None = None,
) -> str:
    """Return the panels over the same time axis as SVG, with a vertical line at each change and one legend for all.

    Without a `span` of time, the axis covers all samples.
    """
    span = span or time_span(panels)
    marks: dict[str, Mark] = {}
    with look(name):
        plot_frame = frame(*(panel.height for panel in panels))
        for axes, panel in zip(plot_frame.plots, panels, strict=True):
            marks |= draw_panel(axes, panel, span)
            for change_s in changes_s:
                if span[0] <= change_s <= span[1]:
                    axes.axvline(change_s, color=INK, alpha=0.55, linewidth=0.8, linestyle=(0, (1.5, 2.0)), zorder=1)
        plot_frame.finish([panel.y_label for panel in panels], LINES, (x_label,))
        return compact(render(plot_frame.figure), name, marks)


def time_span(panels: Sequence[Panel]) -> tuple[float, float]:
    """Return the limits of the time axis: from 0 or an earlier sample to a whole second after the last sample."""
    times = [curve.time_s for panel in panels for curve in panel.curves if len(curve.time_s)]
    steps = [numpy.asarray(panel.limit.time_s) for panel in panels if panel.limit and len(panel.limit.time_s)]
    low = min((float(time_s.min()) for time_s in times), default=0.0)
    high = max((float(time_s.max()) for time_s in times or steps), default=1.0)
    low = min(low, 0.0)
    high = float(math.ceil(high)) if high > 2 else high
    return (low, high if high > low else low + 1.0)


def draw_panel(axes: Axes, panel: Panel, span: tuple[float, float]) -> dict[str, Mark]:
    """Draw one panel with the time axis `span`; return the marks of the lines of schemes."""
    marks = {}
    axes.set_xlim(*span)
    if panel.limit and len(panel.limit.time_s):
        time_s, values = _extend_to_end(panel.limit, span[1])
        axes.fill_between(time_s, 0, values, step="post", color=SHADE, linewidth=0, zorder=0.5)
        axes.step(time_s, values, where="post", color=INK, alpha=0.6, linewidth=0.8, zorder=1.5)
    if panel.mark and len(panel.mark.time_s):
        time_s, values = _extend_to_end(panel.mark, span[1])
        axes.step(time_s, values, where="post", color=INK, linewidth=1.0, linestyle=(0, (1.2, 1.8)), zorder=3)
    legend_curves = [curve for curve in panel.curves if curve.label]
    for curve in panel.curves:
        values = numpy.where(numpy.isfinite(curve.values), curve.values, numpy.nan)
        drawstyle: Any = "steps-post" if curve.is_stepwise else "default"
        if curve.label:
            every = marker_indices(curve.time_s, span, legend_curves.index(curve), len(legend_curves))
            (line,) = axes.plot(
                curve.time_s,
                values,
                label=curve.label,
                drawstyle=drawstyle,
                markevery=every,
                **line_look(curve.stroke, _WIDE if len(legend_curves) <= _FEW else _THIN),
            )
            if curve.scheme:
                line.set_gid(f"curve{axes.get_label()}-{legend_curves.index(curve)}")
                marks[str(line.get_gid())] = Mark(curve.label, curve.scheme)
        else:
            thin = {key: line_look(curve.stroke, 1.0)[key] for key in ("color", "linewidth", "linestyle")}
            axes.plot(curve.time_s, values, drawstyle=drawstyle, **thin)
    for x, y, stroke in panel.spots:
        axes.plot(x, y, linestyle="none", zorder=4, **marker_look(stroke.style, 8.0))
    if not panel.limit and not any(numpy.isfinite(curve.values).any() for curve in panel.curves):
        say_empty(axes)
    if panel.title:
        axes.set_title(panel.title, loc="left", fontsize=sheet().letters(8.0), pad=2.5)
    if panel.states:
        _name_states(axes, panel.states)
    else:
        _scale(axes, panel)
    return marks


def _name_states(axes: Axes, states: Mapping[float, str]) -> None:
    """Write the names of states instead of numbers, in letters that fit beside the plot."""
    longest = max(len(name) for name in states.values())
    size = min(8.0, _NAME_ROOM / (0.55 * longest))
    axes.set_yticks(list(states), list(states.values()), fontsize=size)
    axes.set_ylim(min(states) - 0.6, max(states) + 0.6)


def _scale(axes: Axes, panel: Panel) -> None:
    values = [curve.values[numpy.isfinite(curve.values)] for curve in panel.curves]
    values += [numpy.asarray(steps.values, dtype=float) for steps in (panel.limit, panel.mark) if steps]
    low, high = value_limits(values, panel.from_zero)
    axes.set_ylim(low, high if panel.highest is None else panel.highest)


def _extend_to_end(steps: Steps, end_s: float) -> tuple[Array, Array]:
    """Return the steps with the last value repeated at the end of the figure."""
    return numpy.append(steps.time_s, end_s), numpy.append(steps.values, steps.values[-1])
