"""Distribution of the Operating Point: the eCDFs of throughput and smoothed RTT; ccperf.net, experiment #15."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy
from matplotlib.axes import Axes
from numpy.typing import NDArray

from dumbbell.present.plots.parts.canvas import look, render
from dumbbell.present.plots.parts.frame import LINES, frame, say_empty, value_limits
from dumbbell.present.plots.parts.strokes import Stroke, line_look, marked
from dumbbell.present.plots.parts.svg import compact


@dataclass(frozen=True)
class Distribution:
    """The samples of one flow or one scheme, in any order."""

    label: str
    stroke: Stroke
    throughput_mbps: NDArray[Any]
    srtt_ms: NDArray[Any]


def distribution_figure(name: str, distributions: Sequence[Distribution]) -> str:
    """Two plots as SVG: which part of the samples is at most so large."""
    with look(name):
        framed = frame(125.0, 125.0, own_x=True)
        _ecdfs(framed.plots[0], [(each.label, each.stroke, each.throughput_mbps) for each in distributions], True)
        _ecdfs(framed.plots[1], [(each.label, each.stroke, each.srtt_ms) for each in distributions], False)
        framed.finish(["eCDF", "eCDF"], LINES, ("Throughput (Mbit/s)", "sRTT (ms)"))
        return compact(render(framed.figure), name)


def _ecdfs(axes: Axes, samples: Sequence[tuple[str, Stroke, NDArray[Any]]], from_zero: bool) -> None:
    cleaned = [(label, stroke, numpy.sort(values[numpy.isfinite(values)])) for label, stroke, values in samples]
    span = value_limits([values for _, _, values in cleaned], from_zero)
    axes.set_xlim(*span)
    axes.set_ylim(0, 1.02)
    for index, (label, stroke, values) in enumerate(cleaned):
        if not len(values):
            axes.plot([], [], label=label, **line_look(stroke))
            continue
        part = numpy.arange(1, len(values) + 1) / len(values)
        # from the lower to the upper edge of the plot
        x, y = numpy.concatenate([[values[0]], values, [span[1]]]), numpy.concatenate([[0.0], part, [1.0]])
        every = marked(y, (0.0, 1.0), index, len(cleaned))  # evenly over the height: where most samples are
        axes.plot(x, y, label=label, drawstyle="steps-post", markevery=every, **line_look(stroke))
    if not any(len(values) for _, _, values in cleaned):
        say_empty(axes)
