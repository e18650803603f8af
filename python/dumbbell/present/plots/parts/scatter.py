"""One plot of points that have names: beside the points, or in a legend at the right."""

from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import RendererAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from dumbbell.present.plots.parts.canvas import renderer, settle
from dumbbell.present.plots.parts.labels import LEADER, Box, Label, nearest_on, place, place_what_fits
from dumbbell.present.plots.parts.strokes import marker_look
from dumbbell.present.plots.parts.style import INK, Style

MARKER = 8.0  # points

Bar = tuple[tuple[float, float], tuple[float, float]]
"""Its lower left and its upper right end."""

_WIDTH, _HEIGHT = 410.0, 300.0  # points
_LEFT, _RIGHT, _ABOVE, _BELOW = 42.0, 12.0, 20.0, 36.0
_TITLE_LINE, _TITLE_SIZE = 13.0, 9.5
_LEAST_PLOT = 190.0
_GAP = 8.0
_LONG_LEGEND = 24


class Scatter:
    """A figure with one plot and a title, which may have several lines.

    `above` and `below` are room (points) beyond what title and axis need: for a line of explanations, for a key.
    """

    def __init__(self, title: str, width: float = _WIDTH, above: float = 0.0, below: float = 0.0) -> None:
        self.width, self.height = width, _HEIGHT + above + below
        self._above, self._below = above, below
        self.figure = Figure(figsize=(self.width / 72, self.height / 72))
        self.axes: Axes = self.figure.add_axes((0, 0, 1, 1))
        self._title_lines = title.count("\n")
        self._lay_out(self.width - _LEFT - _RIGHT)
        # across the whole figure, in letters small enough to fit
        text = self.figure.text(0.5, 1 - 3 / self.height, title, ha="center", va="top", fontsize=_TITLE_SIZE)
        wide = text.get_window_extent(renderer(self.figure)).width
        text.set_fontsize(_TITLE_SIZE * min(1.0, (self.width - 4) / wide if wide else 1.0))

    def point(self, x: float, y: float, style: Style, group: str, size: float = MARKER) -> None:
        """Draws a point; `group` is its identifier in the drawing."""
        drawn = self.axes.plot(x, y, linestyle="none", clip_on=False, zorder=3, **marker_look(style, size))
        drawn[0].set_gid(group)

    def explain(self, handles: Sequence[Line2D]) -> None:
        """One line above the plot that says what its lines are."""
        for size in (7.5, 7.0, 6.5, 6.0, 5.5):
            written = self.figure.legend(
                handles=handles,
                loc="lower left",
                bbox_to_anchor=(
                    _LEFT / self.width,
                    1 - (_ABOVE + _TITLE_LINE * self._title_lines + self._above) / self.height,
                ),
                ncols=len(handles),
                fontsize=size,
                handlelength=2.2,
                handletextpad=0.5,
                columnspacing=1.2,
                borderpad=0.2,
            )
            if written.get_window_extent(renderer(self.figure)).width <= self.width - _LEFT:
                break
            written.remove()

    def spots(self, points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
        """Where points are in the drawing, points from its lower left; the limits of the axes have to be final."""
        settle(self.figure)
        found = [self.axes.transData.transform(point) for point in points]
        return [(float(x), float(y)) for x, y in found]

    def area(self) -> Box:
        """The plot in the drawing."""
        extent = self.axes.get_window_extent(renderer(self.figure))
        return Box(extent.x0, extent.y0, extent.x1, extent.y1)

    def name(
        self,
        names: Sequence[tuple[tuple[float, float], str]],
        bounds: Box,
        others: Sequence[tuple[float, float]] = (),
        lines: Sequence[Box] = (),
        solid: Sequence[Box] = (),
        size: float = 9.5,
        leading: int = 0,
    ) -> list[bool]:
        """Writes names beside their spots in the drawing where there is room; whether there was, for each.

        The first are the most important; `others` are spots without a name. What names cover and avoid is as in
        `place_what_fits`.
        """
        measure = renderer(self.figure)
        sizes = [self._text_size(measure, name, size) for _, name in names]
        spots = [*(spot for spot, _ in names), *others]
        labels = place_what_fits(spots, sizes, bounds, MARKER / 2 + 1, lines, solid, leading)
        for (spot, name), label in zip(names, labels, strict=True):
            if label:
                self._write(name, spot, label, size)
        return [label is not None for label in labels]

    def frame(self, box: Box, to: Box) -> None:
        """Draws a thin frame around the box, and a line from it to the other one."""
        start = ((box.left + box.right) / 2, (box.bottom + box.top) / 2)
        end = nearest_on(to, start)
        begin = nearest_on(box, end)
        corners = [(box.left, box.bottom), (box.right, box.bottom), (box.right, box.top), (box.left, box.top)]
        for outline in ([*corners, corners[0]], [begin, end]):
            xs, ys = [x / self.width for x, _ in outline], [y / self.height for _, y in outline]
            self.figure.add_artist(Line2D(xs, ys, color=INK, alpha=0.6, linewidth=0.7))

    def legend(self, entries: Mapping[str, Style]) -> None:
        """Names at the right, in as much room as they need."""
        handles = [
            Line2D([], [], linestyle="none", label=name, **marker_look(style, MARKER))
            for name, style in entries.items()
        ]
        columns = 1 + (len(handles) > _LONG_LEGEND)
        for size in (9, 8, 7, 6, 5):
            legend = self.axes.legend(
                handles=handles,
                loc="upper left",
                bbox_to_anchor=(1.0, 1.0),
                ncols=columns,
                fontsize=size,
                handletextpad=0.3,
                borderpad=0.0,
                columnspacing=0.8,
            )
            room = self.width - _LEFT - legend.get_window_extent(renderer(self.figure)).width - _GAP
            if room >= _LEAST_PLOT:
                break
        self._lay_out(max(room, _LEAST_PLOT))
        legend.set_bbox_to_anchor((1.0 + _GAP / max(room, _LEAST_PLOT), 1.0))

    def annotate(self, points: Sequence[tuple[float, float, str]], bars: Sequence[Bar] = ()) -> None:
        """Names beside the points (x, y, name), clear of the bars, which are lines across or up the plot.

        Limits of the axes have to be final, or to follow from the points.
        """
        settle(self.figure)
        measure = renderer(self.figure)
        spots = [tuple(self.axes.transData.transform((x, y))) for x, y, _ in points]
        sizes = [self._text_size(measure, name) for _, _, name in points]
        area = self.axes.get_window_extent(measure)
        bounds = Box(area.x0 + 1, area.y0 + 2, area.x1 + 8, area.y1 + 4)
        labels = place(spots, sizes, bounds, MARKER / 2 + 1, [self._around(bar) for bar in bars])
        for spot, (_, _, name), label in zip(spots, points, labels, strict=True):
            self._write(name, spot, label)

    def _around(self, bar: Bar) -> Box:
        (left, bottom), (right, top) = self.axes.transData.transform(bar)
        return Box(float(left) - 1, float(bottom) - 1, float(right) + 1, float(top) + 1)

    def _lay_out(self, width: float) -> None:
        height = _HEIGHT - _BELOW - _ABOVE - _TITLE_LINE * self._title_lines
        bottom = (_BELOW + self._below) / self.height
        self.axes.set_position((_LEFT / self.width, bottom, width / self.width, height / self.height))

    def _text_size(self, measure: RendererAgg, name: str, size: float = 9.5) -> tuple[float, float]:
        text = self.figure.text(0, 0, name, fontsize=size)
        extent = text.get_window_extent(measure)
        text.remove()
        return (extent.width + 2, extent.height + 1)

    def _write(self, name: str, spot: tuple[float, float], label: Label, size: float = 9.5) -> None:
        width, height = self.figure.bbox.width, self.figure.bbox.height
        box = label.box
        middle = ((box.left + box.right) / 2, (box.bottom + box.top) / 2)
        self.figure.text(middle[0] / width, middle[1] / height, name, ha="center", va="center", fontsize=size)
        if label.distance > LEADER:
            end = nearest_on(box, spot)
            xs, ys = (spot[0] / width, end[0] / width), (spot[1] / height, end[1] / height)
            self.figure.add_artist(Line2D(xs, ys, color=INK, alpha=0.45, linewidth=0.6, zorder=1))
