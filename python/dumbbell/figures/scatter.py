"""One plot of points that have names: beside the points, or in a legend at the right."""

from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import RendererAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from dumbbell.figures.canvas import renderer, settle
from dumbbell.figures.labels import Box, Label, nearest_on, place
from dumbbell.figures.strokes import marker_look
from dumbbell.figures.style import INK, Style

MARKER = 8.0  # points

Bar = tuple[tuple[float, float], tuple[float, float]]
"""Its lower left and its upper right end."""

_WIDTH, _HEIGHT = 410.0, 300.0  # points
_LEFT, _RIGHT, _ABOVE, _BELOW = 42.0, 12.0, 20.0, 36.0
_TITLE_LINE, _TITLE_SIZE = 13.0, 9.5
_LEAST_PLOT = 190.0
_GAP = 8.0
_LONG_LEGEND = 24
_LEADER = 10.0  # names further than this from their point get a line to it


class Scatter:
    """A figure with one plot and a title, which may have several lines."""

    def __init__(self, title: str) -> None:
        self.figure = Figure(figsize=(_WIDTH / 72, _HEIGHT / 72))
        self.axes: Axes = self.figure.add_axes((0, 0, 1, 1))
        self._title_lines = title.count("\n")
        self._lay_out(_WIDTH - _LEFT - _RIGHT)
        # across the whole figure, in letters small enough to fit
        text = self.figure.text(0.5, 1 - 3 / _HEIGHT, title, ha="center", va="top", fontsize=_TITLE_SIZE)
        width = text.get_window_extent(renderer(self.figure)).width
        text.set_fontsize(_TITLE_SIZE * min(1.0, (_WIDTH - 4) / width if width else 1.0))

    def point(self, x: float, y: float, style: Style, group: str, size: float = MARKER) -> None:
        """Draws a point; `group` is its identifier in the drawing."""
        drawn = self.axes.plot(x, y, linestyle="none", clip_on=False, zorder=3, **marker_look(style, size))
        drawn[0].set_gid(group)

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
            room = _WIDTH - _LEFT - legend.get_window_extent(renderer(self.figure)).width - _GAP
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
        self.axes.set_position((_LEFT / _WIDTH, _BELOW / _HEIGHT, width / _WIDTH, height / _HEIGHT))

    def _text_size(self, measure: RendererAgg, name: str) -> tuple[float, float]:
        text = self.figure.text(0, 0, name)
        extent = text.get_window_extent(measure)
        text.remove()
        return (extent.width + 2, extent.height + 1)

    def _write(self, name: str, spot: tuple[float, float], label: Label) -> None:
        width, height = self.figure.bbox.width, self.figure.bbox.height
        box = label.box
        middle = ((box.left + box.right) / 2, (box.bottom + box.top) / 2)
        self.figure.text(middle[0] / width, middle[1] / height, name, ha="center", va="center")
        if label.distance > _LEADER:
            end = nearest_on(box, spot)
            xs, ys = (spot[0] / width, end[0] / width), (spot[1] / height, end[1] / height)
            self.figure.add_artist(Line2D(xs, ys, color=INK, alpha=0.45, linewidth=0.6, zorder=1))
