"""State of the senders' controllers over time: modes by name, and the variables that decide."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from dumbbell.present.plots.parts.panels import Curve, Panel, time_figure
from dumbbell.present.plots.parts.strokes import Stroke
from dumbbell.present.plots.timelines.operating_point import Points

_ROW, _EDGE = 15.0, 12.0  # points, of a plot of modes: each name, and the rest
_PLOT = 85.0
_APART = 0.1  # distance between lines of several flows in the same mode
_DASHES = (2.5, 1.5)


@dataclass(frozen=True)
class StateLine:
    """Values of one flow over time; each holds until the next one."""

    label: str
    stroke: Stroke
    values: Points


@dataclass(frozen=True)
class Modes:
    """A variable whose values are numbers of modes; `names` are those of all modes."""

    title: str
    names: Mapping[float, str]
    flows: Sequence[StateLine]


@dataclass(frozen=True)
class Variable:
    """A variable, with an optional second one (thin, dashed); `label` has the names and the unit."""

    label: str
    flows: Sequence[StateLine]
    beside: Sequence[StateLine] = ()


def state_figure(name: str, modes: Sequence[Modes], variables: Sequence[Variable]) -> str:
    """Return a plot for each of the modes and variables over the same time axis, as SVG."""
    panels = []
    for mode in modes:
        middle = (len(mode.flows) - 1) / 2
        curves = [
            Curve(flow.label, flow.stroke, flow.values[0], flow.values[1] + _APART * (middle - index), is_stepwise=True)
            for index, flow in enumerate(mode.flows)
        ]
        panels.append(Panel("", curves, height=_EDGE + _ROW * len(mode.names), states=mode.names, title=mode.title))
    for variable in variables:
        curves = [Curve(flow.label, flow.stroke, *flow.values, is_stepwise=True) for flow in variable.flows]
        thin = [
            Curve("", replace(flow.stroke, dashes=_DASHES), *flow.values, is_stepwise=True) for flow in variable.beside
        ]
        panels.append(Panel(variable.label, [*curves, *thin], height=_PLOT))
    return time_figure(name, panels)
