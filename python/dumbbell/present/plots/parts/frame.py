"""Frame of most figures: plots one above the other, and a legend below them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import RendererAgg
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullFormatter
from numpy.typing import NDArray

from dumbbell.base.errors import UserError
from dumbbell.present.plots.parts.canvas import renderer
from dumbbell.present.plots.parts.sheet import sheet


@dataclass(frozen=True)
class Legend:
    """Layouts of a legend to try in turn, each (columns, letter size), and the length of its lines, in letters.

    With `in_pairs`, entries alternate between the left and the right column.
    """

    layouts: Sequence[tuple[int, float]]
    handle: float
    in_pairs: bool = False


_THREE = ((3, 9.0), (3, 8.0), (2, 8.5), (2, 7.5), (1, 8.0), (1, 7.0))
PAIRS = Legend(((2, 9.0), (2, 8.0), (2, 7.0), (1, 8.0), (1, 7.0)), 1.8, in_pairs=True)
DOTS = Legend(_THREE, 1.0)
LINES = Legend(((4, 9.0), *_THREE), 3.0)

_WIDTH = 420.0  # points
_LEFT, _RIGHT, _BELOW = 52.0, 9.0, 44.0
_ABOVE, _TITLE = 9.0, 15.0
_NOTE = 12.0
_BETWEEN, _ASIDE = 12.0, 10.0
_X_BELOW = 18.0  # from the plots to the title of an axis that several columns share
_BETWEEN_AXES = 46.0  # where each plot has an x axis of its own
_LEGEND_BELOW = 36.0  # from the lowest plot to the legend
_WIDE = 300.0  # a logarithmic axis over a larger factor has ticks at powers of ten only
_MOST_ENTRIES = 24  # legend entries; the tables list every flow
_ROOM = 20.0  # points for the title of an axis at the left
_LOWEST = 40.0  # points, of a plot


@dataclass
class PlotFrame:
    """A figure with rows of plots of the given heights (points), from top to bottom.

    A sheet of fixed height scales the heights. `plots` has the plots of the first row from left to right, then those of
    the next row. `note` is written above all plots.
    """

    figure: Figure
    plots: Sequence[Axes]
    heights: list[float]
    between: float
    columns: int = 1
    note: str = ""

    def __post_init__(self) -> None:
        self.width = sheet().width(_WIDTH)
        self.left = _LEFT
        self._lay_out(0.0)

    @property
    def _inside(self) -> float:
        return self.width - self.left - _RIGHT

    @property
    def first(self) -> Sequence[Axes]:
        """First plot of each row."""
        return self.plots[:: self.columns]

    def size(self, plot: int) -> tuple[float, float]:
        """Return width and height of a plot, points."""
        width = (self._inside - _ASIDE * (self.columns - 1)) / self.columns
        return (width, self.heights[plot // self.columns])

    def box(self, plot: int) -> tuple[float, float, float, float]:
        """Return left, top, width and height of a plot in the drawing, points."""
        row, column = divmod(plot, self.columns)
        above = sum(self.heights[:row]) + self.between * row
        width, height = self.size(plot)
        return (self.left + column * (width + _ASIDE), self._above + above, width, height)

    @property
    def _above(self) -> float:
        has_title = self.plots[0].get_title() or self.plots[0].get_title("left")
        return _ABOVE + (_TITLE if has_title else 0.0) + (_NOTE if self.note else 0.0)

    def _lay_out(self, legend: float) -> None:
        """Give the plots their size and place, above a legend of the given height."""
        inner = sum(self.heights) + self.between * (len(self.heights) - 1)
        height = self._above + inner + _BELOW + legend
        self.figure.set_size_inches(self.width / 72, height / 72)
        for index, plot in enumerate(self.plots):
            left, top, across, down = self.box(index)
            plot.set_position((left / self.width, 1 - (top + down) / height, across / self.width, down / height))

    def _fit(self, legend: float) -> None:
        """Give the plots the height that the sheet leaves them, if its height is fixed.

        Raises:
            UserError: The plots would be too low.
        """
        height_pt = sheet().height()
        if height_pt is None:
            return
        rest = self._above + self.between * (len(self.heights) - 1) + _BELOW + legend
        scale = (height_pt - rest) / sum(self.heights)
        if scale * min(self.heights) < _LOWEST:
            least = (rest + _LOWEST * sum(self.heights) / min(self.heights)) * sheet().scale / 72
            raise UserError(f"the height is too small for the plots and their legend: they need {least:.1f} in")
        self.heights = [scale * height for height in self.heights]

    def finish(self, y_labels: Sequence[str], legend: Legend, x_labels: Sequence[str] = ("Time (s)",)) -> None:
        """Write the titles of the axes, and a legend for all plots that is no wider than the figure.

        `y_labels` has one title for each row. A single one in `x_labels` is for all plots, below the lowest.
        """
        for plot in self.plots:
            for axis in (plot.xaxis, plot.yaxis):
                if isinstance(axis.get_major_locator(), FixedLocator):
                    continue  # the axis has ticks of its own
                if axis.get_scale() == "linear":
                    axis.set_major_formatter(FuncFormatter(tick_text))
                elif axis.get_scale() == "log":
                    low, high = axis.get_view_interval()
                    # ticks of one decade alone are too few to read values between them
                    axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if high < _WIDE * low else (1.0,)))
                    axis.set_minor_formatter(NullFormatter())
                    axis.set_major_formatter(FuncFormatter(tick_text))
        if len(x_labels) == 1:
            for plot in self.plots[: -self.columns]:
                plot.tick_params(labelbottom=False)
        if self.columns == 1:
            for plot, x_label in zip(self.plots[-len(x_labels) :], x_labels, strict=True):
                plot.set_xlabel(x_label)
        handles: list[Any] = []
        labels: list[str] = []
        for plot in self.plots:
            more = [entry for entry in zip(*plot.get_legend_handles_labels(), strict=True) if entry[1] not in labels]
            handles += [handle for handle, _ in more]
            labels += [label for _, label in more]
        written_legend = self._write_legend(handles, labels, legend) if handles else None
        below = float(written_legend.get_window_extent(renderer(self.figure)).height) if written_legend else 0.0
        if sheet().is_fixed and sheet().height() is None:  # letters keep their size: the plots make room for names
            measure = renderer(self.figure)
            self.heights = [
                max(height, _long(plot, text, measure))
                for plot, height, text in zip(self.first, self.heights, y_labels, strict=True)
            ]
        self._fit(below)
        rooms = []
        for plot, height, y_label in zip(self.first, self.heights, y_labels, strict=True):
            rooms.append(label_upwards(plot, y_label, renderer(self.figure), height, self.between))
        self.left = _LEFT + max(max(rooms, default=0.0) - _ROOM, 0.0)
        for plot, room in zip(self.first, rooms, strict=True):
            place_label(plot, room, self.left, self.size(0)[0])
        if written_legend:
            written_legend.set_bbox_to_anchor(self._middle(), self.plots[-1].transAxes)
        self._lay_out(below)
        if self.columns > 1:
            _, top, _, lowest = self.box(len(self.plots) - 1)
            middle, size = self.left + self._inside / 2, float(self.plots[0].xaxis.label.get_fontsize())
            self._write(x_labels[0], middle, top + lowest + _X_BELOW, size)
        if self.note:
            self._write(self.note, self.width / 2, 4.0, sheet().letters(8.0))

    def _write(self, text: str, middle: float, top: float, size: float) -> None:
        """Write a text centred at a place across the figure, `top` points below its upper edge."""
        place = (middle / self.width, 1 - top / (self.figure.get_figheight() * 72))
        self.figure.text(*place, text, ha="center", va="top", fontsize=size)

    def _middle(self) -> tuple[float, float]:
        """Return the upper end of the legend: below the middle of the figure, as fractions of the last plot's sides."""
        left, _, width, height = self.box(len(self.plots) - 1)
        return ((self.width / 2 - left) / width, -_LEGEND_BELOW / height)

    def _write_legend(self, handles: Sequence[Any], labels: Sequence[str], legend: Legend) -> Any:  # noqa: ANN401 (matplotlib's legend)
        """Write the legend in the first layout that fits the width."""
        if legend.in_pairs:  # columns are filled from the top
            handles, labels = [*handles[::2], *handles[1::2]], [*labels[::2], *labels[1::2]]
        if len(handles) > _MOST_ENTRIES:
            handles, labels = _shorten_legend(handles, labels, legend.in_pairs)
        measure = renderer(self.figure)
        for columns, size in legend.layouts:
            written_legend = self.plots[-1].legend(
                handles,
                labels,
                loc="upper center",
                bbox_to_anchor=self._middle(),
                ncols=min(columns, len(handles)),
                fontsize=sheet().letters(size),
                handlelength=legend.handle,
                handletextpad=0.5,
                columnspacing=1.2,
            )
            extent = written_legend.get_window_extent(measure)
            if extent.width <= self.width - 4:
                break
        return written_legend


def frame(*heights: float, own_x: bool = False, columns: int = 1, note: str = "") -> PlotFrame:
    """Return a frame with a row of plots for each height, with room for an x axis below each plot if `own_x`."""
    figure = Figure()
    plots = [figure.add_axes((0, 0, 1, 1), label=str(index)) for index in range(len(heights) * columns)]
    return PlotFrame(figure, plots, list(heights), _BETWEEN_AXES if own_x else _BETWEEN, columns, note)


def label_upwards(plot: Axes, text: str, measure: RendererAgg, height: float, between: float = 0.0) -> float:
    """Write the title of the y axis, and return the room that the title needs at the left, points.

    A title longer than the axis is in two lines, then in smaller letters. It may take half of `between` above and below
    the axis.
    """
    label = plot.set_ylabel(text)
    room = 12.0
    if label.get_window_extent(measure).height > height + (0.0 if sheet().is_fixed else between / 2):
        label.set_text(two_lines(text))
        label.set_fontsize(sheet().letters(8.0))
        room = sheet().letters(8.0) * 2.5
    long = label.get_window_extent(measure).height / height
    if long > 1.0:
        label.set_fontsize(sheet().letters(8.0) / long)
    return room


def _long(plot: Axes, text: str, measure: RendererAgg) -> float:
    """Return the length of the y axis title in two lines, points."""
    label = plot.set_ylabel(two_lines(text))
    label.set_fontsize(sheet().letters(8.0))
    return float(label.get_window_extent(measure).height) + 1.0


def place_label(plot: Axes, room: float, left: float, inside: float) -> None:
    """Place the title of the y axis at the left edge of the figure, clear of ticks up to 99999."""
    plot.yaxis.set_label_coords(-(left - room) / inside, 0.5)


def tick_text(value: float, _: object = None) -> str:
    """Return a number on an axis: five digits, and a power of ten for long or tiny numbers."""
    text = f"{value:.5g}"
    if 0.0 < abs(value) < 1e-3:
        digits, _e, power = f"{value:.4e}".partition("e")
        text = f"{digits.rstrip('0').rstrip('.')}e{power}"
    return short(text)


def short(text: str) -> str:
    """Return a number without needless characters in its exponent or at its end."""
    return text.replace("e+0", "e").replace("e-0", "e-").replace("e+", "e").removesuffix(".")


def two_lines(text: str) -> str:
    """Return the text, broken after the space or underscore nearest to its middle."""
    places = [index + 1 for index, letter in enumerate(text) if letter in " _"]
    if not places:
        return text
    middle = min(places, key=lambda place: abs(place - len(text) / 2))
    return f"{text[:middle].rstrip()}\n{text[middle:]}"


def value_limits(values: Sequence[NDArray[Any]], from_zero: bool = False) -> tuple[float, float]:
    """Return limits around all values with a margin; with `from_zero`, 0 is a limit unless values are negative."""
    arrays = [array for array in values if len(array)]
    if not arrays:
        return (0.0, 1.0)
    low, high = min(float(v.min()) for v in arrays), max(float(v.max()) for v in arrays)
    if from_zero:
        low, high = min(low, 0.0), max(high, 0.0)
    air = 0.05 * (high - low) or max(0.05 * abs(high), 0.5)
    return (0.0 if from_zero and low == 0 else low - air, high + air)


def say_empty(axes: Axes) -> None:
    """Write a note into a plot without content."""
    axes.text(0.5, 0.5, "no samples", transform=axes.transAxes, ha="center", va="center", alpha=0.7)


def _shorten_legend(handles: Sequence[Any], labels: Sequence[str], in_pairs: bool) -> tuple[list[Any], list[str]]:
    """Return as many legend entries as fit, and a last one with the number of omitted entries.

    Of pairs, equally many are taken from both columns.
    """
    half, per_column = len(handles) // 2, _MOST_ENTRIES // 2
    keep = [*range(per_column), *range(half, half + per_column - 1)] if in_pairs else list(range(_MOST_ENTRIES - 1))
    rest = f"... and {len(handles) - len(keep)} more, see the table"
    return [*(handles[i] for i in keep), Patch(alpha=0)], [*(labels[i] for i in keep), rest]
