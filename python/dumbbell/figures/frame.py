"""The frame of a run's figure: plots one above the other over the same time axis, and a legend below them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter
from numpy.typing import NDArray

from dumbbell.figures.canvas import renderer

Layouts = Sequence[tuple[int, float]]
"""Legends to try in turn: columns and letter size."""

TWO_COLUMNS: Layouts = ((2, 9.0), (2, 8.0), (2, 7.0), (1, 8.0), (1, 7.0))
THREE_COLUMNS: Layouts = ((3, 9.0), (3, 8.0), (2, 8.5), (2, 7.5), (1, 8.0), (1, 7.0))

_WIDTH = 420.0  # points
_LEFT, _RIGHT, _ABOVE, _BELOW = 52.0, 9.0, 24.0, 44.0
_BETWEEN = 12.0
_INSIDE = _WIDTH - _LEFT - _RIGHT
_LEGEND_BELOW = 36.0  # from the lowest plot to the legend
_MOST_ENTRIES = 24  # legend entries; the tables list every flow


@dataclass(frozen=True)
class Frame:
    """A figure with plots of the given heights (points), from top to bottom."""

    figure: Figure
    plots: Sequence[Axes]
    heights: Sequence[float]

    def __post_init__(self) -> None:
        self._lay_out(0.0)

    def size(self, plot: int) -> tuple[float, float]:
        """Width and height of a plot, points."""
        return (_INSIDE, self.heights[plot])

    def box(self, plot: int) -> tuple[float, float, float, float]:
        """Left, top, width and height of a plot in the drawing, points."""
        above = sum(self.heights[:plot]) + _BETWEEN * plot
        return (_LEFT, _ABOVE + above, *self.size(plot))

    def _lay_out(self, legend: float) -> None:
        """Gives the plots their size and place, above a legend of the given height."""
        inner = sum(self.heights) + _BETWEEN * (len(self.heights) - 1)
        height = _ABOVE + inner + _BELOW + legend
        self.figure.set_size_inches(_WIDTH / 72, height / 72)
        for index, plot in enumerate(self.plots):
            _, top, _, own = self.box(index)
            plot.set_position((_LEFT / _WIDTH, 1 - (top + own) / height, _INSIDE / _WIDTH, own / height))

    def finish(self, y_labels: Sequence[str], layouts: Layouts) -> None:
        """Labels, and a legend of the first plot's lines in the first of `layouts` that fits the width."""
        for plot, y_label in zip(self.plots, y_labels, strict=True):
            plot.set_ylabel(y_label)
            plot.yaxis.set_label_coords(-(_LEFT - 12) / _INSIDE, 0.5)  # clear of ticks up to 99999
            for axis in (plot.xaxis, plot.yaxis):
                axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.5g}"))
        for plot in self.plots[:-1]:
            plot.tick_params(labelbottom=False)
        lowest = self.plots[-1]
        lowest.set_xlabel("Time (s)")
        handles, labels = self.plots[0].get_legend_handles_labels()
        if not handles:
            return
        paired = layouts is TWO_COLUMNS  # one of a pair left, the other right: columns are filled from the top
        if paired:
            handles, labels = [*handles[::2], *handles[1::2]], [*labels[::2], *labels[1::2]]
        if len(handles) > _MOST_ENTRIES:
            handles, labels = _shortened(handles, labels, paired)
        measure = renderer(self.figure)
        middle = (_WIDTH / 2 - _LEFT) / _INSIDE
        for columns, size in layouts:
            legend = lowest.legend(
                handles,
                labels,
                loc="upper center",
                bbox_to_anchor=(middle, -_LEGEND_BELOW / self.heights[-1]),
                ncols=min(columns, len(handles)),
                fontsize=size,
                handlelength=1.8 if paired else 1.0,
                handletextpad=0.5,
                columnspacing=1.2,
            )
            extent = legend.get_window_extent(measure)
            if extent.width <= _WIDTH - 4:
                break
        self._lay_out(extent.height)


def frame(*heights: float) -> Frame:
    """A frame with a plot for each height."""
    figure = Figure()
    return Frame(figure, [figure.add_axes((0, 0, 1, 1), label=str(index)) for index in range(len(heights))], heights)


def delay_limits(delays_ms: Sequence[NDArray[Any]]) -> tuple[float, float]:
    """Limits around all delays with a little air."""
    values = [delays for delays in delays_ms if len(delays)]
    if not values:
        return (0.0, 1.0)
    low, high = min(float(v.min()) for v in values), max(float(v.max()) for v in values)
    air = 0.05 * (high - low) or max(0.05 * abs(high), 0.5)
    return (low - air, high + air)


def _shortened(handles: Sequence[Any], labels: Sequence[str], paired: bool) -> tuple[list[Any], list[str]]:
    """As many legend entries as fit, evenly from both columns, and a last one that says how many are left out."""
    half, kept = len(handles) // 2, _MOST_ENTRIES // 2
    keep = [*range(kept), *range(half, half + kept - 1)] if paired else list(range(_MOST_ENTRIES - 1))
    rest = f"... and {len(handles) - len(keep)} more, see the table"
    return [*(handles[i] for i in keep), Patch(alpha=0)], [*(labels[i] for i in keep), rest]
