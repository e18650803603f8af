"""The frame of most figures: plots one above the other, and a legend below them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullFormatter
from numpy.typing import NDArray

from dumbbell.present.plots.parts.canvas import renderer


@dataclass(frozen=True)
class Legend:
    """Layouts to try in turn, each columns and letter size; and how long the lines in it are, in letters.

    Of `paired` entries one stands left, the next one right of it.
    """

    layouts: Sequence[tuple[int, float]]
    handle: float
    paired: bool = False


_THREE = ((3, 9.0), (3, 8.0), (2, 8.5), (2, 7.5), (1, 8.0), (1, 7.0))
PAIRS = Legend(((2, 9.0), (2, 8.0), (2, 7.0), (1, 8.0), (1, 7.0)), 1.8, paired=True)
DOTS = Legend(_THREE, 1.0)
LINES = Legend(((4, 9.0), *_THREE), 3.0)

_WIDTH = 420.0  # points
_LEFT, _RIGHT, _BELOW = 52.0, 9.0, 44.0
_ABOVE, _TITLE = 9.0, 15.0
_BETWEEN = 12.0
_BETWEEN_AXES = 46.0  # where each plot has an x axis of its own
_INSIDE = _WIDTH - _LEFT - _RIGHT
_LEGEND_BELOW = 36.0  # from the lowest plot to the legend
_WIDE = 300.0  # a logarithmic axis over a larger factor has ticks at powers of ten only
_MOST_ENTRIES = 24  # legend entries; the tables list every flow


@dataclass(frozen=True)
class PlotFrame:
    """A figure with plots of the given heights (points), from top to bottom."""

    figure: Figure
    plots: Sequence[Axes]
    heights: Sequence[float]
    between: float

    def __post_init__(self) -> None:
        self._lay_out(0.0)

    def size(self, plot: int) -> tuple[float, float]:
        """Width and height of a plot, points."""
        return (_INSIDE, self.heights[plot])

    def box(self, plot: int) -> tuple[float, float, float, float]:
        """Left, top, width and height of a plot in the drawing, points."""
        above = sum(self.heights[:plot]) + self.between * plot
        return (_LEFT, self._above + above, *self.size(plot))

    @property
    def _above(self) -> float:
        return _ABOVE + (_TITLE if self.plots[0].get_title() or self.plots[0].get_title("left") else 0.0)

    def _lay_out(self, legend: float) -> None:
        """Gives the plots their size and place, above a legend of the given height."""
        inner = sum(self.heights) + self.between * (len(self.heights) - 1)
        height = self._above + inner + _BELOW + legend
        self.figure.set_size_inches(_WIDTH / 72, height / 72)
        for index, plot in enumerate(self.plots):
            _, top, _, own = self.box(index)
            plot.set_position((_LEFT / _WIDTH, 1 - (top + own) / height, _INSIDE / _WIDTH, own / height))

    def finish(self, y_labels: Sequence[str], legend: Legend, x_labels: Sequence[str] = ("Time (s)",)) -> None:
        """Labels, and a legend of what is in any plot in the first of its layouts that fits the width.

        One of `x_labels` stands for all plots, below the lowest.
        """
        for plot, height, y_label in zip(self.plots, self.heights, y_labels, strict=True):
            self._label(plot, height, y_label)
            for axis in (plot.xaxis, plot.yaxis):
                if isinstance(axis.get_major_locator(), FixedLocator):
                    continue  # ticks of its own
                if axis.get_scale() == "linear":
                    axis.set_major_formatter(FuncFormatter(tick_text))
                elif axis.get_scale() == "log":
                    low, high = axis.get_view_interval()
                    # the ticks of one decade alone are too few to read values between them
                    axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if high < _WIDE * low else (1.0,)))
                    axis.set_minor_formatter(NullFormatter())
                    axis.set_major_formatter(FuncFormatter(tick_text))
        if len(x_labels) == 1:
            for plot in self.plots[:-1]:
                plot.tick_params(labelbottom=False)
        for plot, x_label in zip(self.plots[-len(x_labels) :], x_labels, strict=True):
            plot.set_xlabel(x_label)
        handles: list[Any] = []
        labels: list[str] = []
        for plot in self.plots:
            more = [entry for entry in zip(*plot.get_legend_handles_labels(), strict=True) if entry[1] not in labels]
            handles += [handle for handle, _ in more]
            labels += [label for _, label in more]
        self._lay_out(self._write_legend(handles, labels, legend) if handles else 0.0)

    def _label(self, plot: Axes, height: float, text: str) -> None:
        """Names the y axis: in two lines, then in smaller letters, where the name is longer than the axis."""
        measure = renderer(self.figure)
        label = plot.set_ylabel(text)
        right = 12.0
        if label.get_window_extent(measure).height > height + self.between / 2:
            label.set_text(_two_lines(text))
            right = 20.0
            label.set_fontsize(8.0)
        long = label.get_window_extent(measure).height / height
        if long > 1.0:
            label.set_fontsize(8.0 / long)
        plot.yaxis.set_label_coords(-(_LEFT - right) / _INSIDE, 0.5)  # clear of ticks up to 99999

    def _write_legend(self, handles: Sequence[Any], labels: Sequence[str], legend: Legend) -> float:
        """Returns its height."""
        if legend.paired:  # columns are filled from the top
            handles, labels = [*handles[::2], *handles[1::2]], [*labels[::2], *labels[1::2]]
        if len(handles) > _MOST_ENTRIES:
            handles, labels = _shortened(handles, labels, legend.paired)
        measure = renderer(self.figure)
        middle = (_WIDTH / 2 - _LEFT) / _INSIDE
        for columns, size in legend.layouts:
            written = self.plots[-1].legend(
                handles,
                labels,
                loc="upper center",
                bbox_to_anchor=(middle, -_LEGEND_BELOW / self.heights[-1]),
                ncols=min(columns, len(handles)),
                fontsize=size,
                handlelength=legend.handle,
                handletextpad=0.5,
                columnspacing=1.2,
            )
            extent = written.get_window_extent(measure)
            if extent.width <= _WIDTH - 4:
                break
        return float(extent.height)


def frame(*heights: float, own_x: bool = False) -> PlotFrame:
    """A frame with a plot for each height, with room for an x axis below each of them if `own_x`."""
    figure = Figure()
    plots = [figure.add_axes((0, 0, 1, 1), label=str(index)) for index in range(len(heights))]
    return PlotFrame(figure, plots, heights, _BETWEEN_AXES if own_x else _BETWEEN)


def tick_text(value: float, _: object = None) -> str:
    """A number on an axis: five digits, and long or tiny ones with a power of ten."""
    text = f"{value:.5g}"
    if 0.0 < abs(value) < 1e-3:
        digits, _e, power = f"{value:.4e}".partition("e")
        text = f"{digits.rstrip('0').rstrip('.')}e{power}"
    return short(text)


def short(text: str) -> str:
    """A number without what its exponent, or a point with nothing behind it, need not have."""
    return text.replace("e+0", "e").replace("e-0", "e-").replace("e+", "e").removesuffix(".")


def _two_lines(text: str) -> str:
    """The text, broken behind the space or underscore that is nearest to its middle."""
    places = [index + 1 for index, letter in enumerate(text) if letter in " _"]
    if not places:
        return text
    middle = min(places, key=lambda place: abs(place - len(text) / 2))
    return f"{text[:middle].rstrip()}\n{text[middle:]}"


def value_limits(values: Sequence[NDArray[Any]], from_zero: bool = False) -> tuple[float, float]:
    """Limits around all values with a little air; 0 is one of them if `from_zero`, unless there are negative values."""
    found = [each for each in values if len(each)]
    if not found:
        return (0.0, 1.0)
    low, high = min(float(v.min()) for v in found), max(float(v.max()) for v in found)
    if from_zero:
        low, high = min(low, 0.0), max(high, 0.0)
    air = 0.05 * (high - low) or max(0.05 * abs(high), 0.5)
    return (0.0 if from_zero and low == 0 else low - air, high + air)


def say_empty(axes: Axes) -> None:
    """Says in a plot that there is nothing to draw."""
    axes.text(0.5, 0.5, "no samples", transform=axes.transAxes, ha="center", va="center", alpha=0.7)


def _shortened(handles: Sequence[Any], labels: Sequence[str], paired: bool) -> tuple[list[Any], list[str]]:
    """As many legend entries as fit, evenly from both columns, and a last one that says how many are left out."""
    half, kept = len(handles) // 2, _MOST_ENTRIES // 2
    keep = [*range(kept), *range(half, half + kept - 1)] if paired else list(range(_MOST_ENTRIES - 1))
    rest = f"... and {len(handles) - len(keep)} more, see the table"
    return [*(handles[i] for i in keep), Patch(alpha=0)], [*(labels[i] for i in keep), rest]
