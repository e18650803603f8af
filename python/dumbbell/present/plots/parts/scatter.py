"""A plot of points with names: beside the points, or in a legend below the plot."""

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import RendererAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from dumbbell.base.errors import UserError
from dumbbell.present.plots.parts.canvas import renderer, settle
from dumbbell.present.plots.parts.frame import label_upwards, place_label, two_lines
from dumbbell.present.plots.parts.labels import LEADER, Box, Label, nearest_on, place_what_fits
from dumbbell.present.plots.parts.sheet import LETTERS, sheet
from dumbbell.present.plots.parts.strokes import marker_look
from dumbbell.present.plots.parts.style import GROUND, INK, Style

MARKER = 8.0  # points
MOST_NAMES = 15
"""Maximum number of names beside points; more find no room."""

Spot = tuple[float, float]
Bar = tuple[tuple[float, float], tuple[float, float]]
"""Lower left and upper right end."""

_WIDTH, _PLOT = 410.0, 240.0  # points
_ASPECT = 0.72  # height of a narrow plot, as a part of its width
_LEFT, _RIGHT, _ABOVE, _BELOW = 50.0, 12.0, 6.0, 36.0
_LINE = 12.5
_ROOM = 14.0  # points for the title of an axis at the left
_GAP = 4.0
_LOWEST = 80.0
_COLUMNS = 8  # of a legend


class Scatter:
    """A figure with one plot and a title, which may have several lines.

    A line of explanations may stand above the plot, a legend below it: the plot keeps its height, unless the height of
    the sheet is fixed.
    """

    def __init__(self, title: str, width: float = _WIDTH) -> None:
        self.width = sheet().width(width)
        self.height = 0.0
        self._left = _LEFT
        inside = self.width - _LEFT - _RIGHT
        self._plot = min(_PLOT, _ASPECT * inside)
        self.figure = Figure()
        self.axes: Axes = self.figure.add_axes((0, 0, 1, 1))
        self._lines = self._wrap(title)
        self._title = self.figure.text(0.5, 1, "\n".join(self._lines), ha="center", va="top", fontsize=LETTERS)
        self._explanation: Any = None
        self._list: Any = None
        self.lay_out()

    def _wrap(self, title: str) -> list[str]:
        """Return the lines of the title, none wider than the figure."""
        measure = renderer(self.figure)
        lines = []
        for line in title.splitlines():
            text = ""
            for word in line.split(" "):
                longer = f"{text} {word}" if text else word
                if text and self._text_size(measure, longer)[0] > self.width - 4:
                    lines.append(text)
                    longer = word
                text = longer
            lines.append(text)
        return lines

    def point(self, x: float, y: float, style: Style, group: str, size: float = MARKER, edge: str = "") -> None:
        """Draw a point with the identifier `group`; with an `edge` colour, the point is grey with that edge."""
        look = marker_look(style, size)
        if edge:
            look = {"marker": "o", "markersize": size, "markerfacecolor": INK, "markeredgecolor": "none"}
            grey: Any = {"linestyle": "none", "clip_on": False, "zorder": 2.4}
            fill = self.axes.plot(x, y, **grey, **look, alpha=0.25)
            look = {"marker": "o", "markersize": size, "markerfacecolor": "none", "markeredgecolor": edge}
            artists = self.axes.plot(x, y, **grey, **look | {"markeredgewidth": 1.1})
            fill[0].set_gid(f"{group}-ground")
        else:
            artists = self.axes.plot(x, y, linestyle="none", clip_on=False, zorder=3, **look)
        artists[0].set_gid(group)

    def explain(self, handles: Sequence[Line2D]) -> None:
        """Write an explanation of the plot's lines above the plot."""
        self._explanation = self._legend(handles, 7.5, 2.2)
        self.lay_out()

    def below(self, handles: Sequence[Line2D]) -> None:
        """Write an explanation of the plot's points below the plot."""
        if self._list:
            self._list.remove()
        self._list = self._legend(handles, 8.5, 1.0)
        self.lay_out()

    def legend(self, entries: Mapping[str, Style]) -> None:
        """Write names with their markers below the plot."""
        self.below(legend_entries(entries))

    def _legend(self, handles: Sequence[Line2D], size: float, handle: float) -> Any:  # noqa: ANN401 (matplotlib's)
        """Return a legend with as many columns as the width has room for."""
        for columns in range(min(len(handles), _COLUMNS), 0, -1):
            written_legend = self.figure.legend(
                handles=handles,
                loc="upper left",
                ncols=columns,
                fontsize=sheet().letters(size),
                handlelength=handle,
                handletextpad=0.5,
                columnspacing=1.2,
                borderpad=0.0,
                borderaxespad=0.0,
            )
            if columns == 1 or written_legend.get_window_extent(renderer(self.figure)).width <= self.width - _GAP:
                return written_legend
            written_legend.remove()
        return None

    def spots(self, points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
        """Return the places of points in the drawing, points from its lower left.

        The limits of the axes must be final.
        """
        self.lay_out()
        settle(self.figure)
        places = [self.axes.transData.transform(point) for point in points]
        return [(float(x), float(y)) for x, y in places]

    def area(self) -> Box:
        """Return the box of the plot in the drawing."""
        extent = self.axes.get_window_extent(renderer(self.figure))
        return Box(extent.x0, extent.y0, extent.x1, extent.y1)

    def room(
        self, names: Sequence[tuple[Spot, str]], nameless_spots: Sequence[Spot] = (), lines: Sequence[Box] = ()
    ) -> list[Label | None]:
        """Return the places of names beside their spots in the drawing; None for names without room.

        The first names are the most important; `others` are spots without a name. Names avoid `lines`.
        """
        measure = renderer(self.figure)
        area = self.area()
        bounds = Box(area.left + 1, area.bottom + 2, area.right + _RIGHT - 2, area.top + 1)
        sizes = [self._text_size(measure, name) for _, name in names]
        spots = [*(spot for spot, _ in names), *nameless_spots]
        return place_what_fits(spots, sizes, bounds, MARKER / 2 + 1, lines, len(names))

    def write(self, names: Sequence[tuple[Spot, str]], places: Sequence[Label | None]) -> None:
        """Write the names that have a place."""
        for (spot, name), label in zip(names, places, strict=True):
            if label:
                self._write(name, spot, label)

    def annotate(self, points: Sequence[tuple[float, float, str, Style]], bars: Sequence[Bar] = ()) -> None:
        """Write names beside the points (x, y, name, style), clear of the bars, or below the plot if one finds no room.

        Limits of the axes must be final, or follow from the points.
        """
        spots = self.spots([(x, y) for x, y, *_ in points])
        names = [(spot, name) for spot, (_, _, name, _) in zip(spots, points, strict=True)]
        is_few = len(names) <= MOST_NAMES
        places = self.room(names, lines=[self._around(bar) for bar in bars]) if is_few else []
        if places and all(places):
            self.write(names, places)
        else:
            self.legend({name: style for _, _, name, style in points})

    def _around(self, bar: Bar) -> Box:
        (left, bottom), (right, top) = self.axes.transData.transform(bar)
        return Box(float(left) - 1, float(bottom) - 1, float(right) + 1, float(top) + 1)

    def lay_out(self) -> None:
        """Lay out title, explanation, plot and legend.

        Raises:
            UserError: The height of the sheet leaves the plot too little.
        """
        measure = renderer(self.figure)
        across = self.axes.xaxis.label
        if across.get_window_extent(measure).width > self.width - 2 * _RIGHT:
            across.set_text(two_lines(across.get_text()))
        bottom = _BELOW + _LINE * across.get_text().count("\n")
        parts = [part.get_window_extent(measure) if part else None for part in (self._explanation, self._list)]
        above, below = (_GAP + float(part.height) if part else 0.0 for part in parts)
        title = _LINE * len(self._lines)
        rest = _ABOVE + title + above + bottom + below
        height_pt = sheet().height()
        plot = self._plot if height_pt is None else height_pt - rest
        if plot < _LOWEST:
            least = (rest + _LOWEST) * sheet().scale / 72
            raise UserError(f"the height is too small for the plot and what is around it: they need {least:.1f} in")
        self.height = height = plot + rest
        self.figure.set_size_inches(self.width / 72, height / 72)
        room = label_upwards(self.axes, self.axes.get_ylabel().replace("\n", " "), measure, plot)
        self._left = _LEFT + max(room - _ROOM, 0.0)
        inside = self.width - self._left - _RIGHT
        place_label(self.axes, room, self._left, inside)
        self.axes.set_position((self._left / self.width, (bottom + below) / height, inside / self.width, plot / height))
        self._title.set_position((0.5, 1 - 2 / height))
        for written_legend, part, top in zip(
            (self._explanation, self._list), parts, (height - _ABOVE / 2 - title, below), strict=True
        ):
            if written_legend and part:
                left = max(min(self._left, self.width - part.width - _GAP), 0.0)
                written_legend.set_bbox_to_anchor((left / self.width, top / height), self.figure.transFigure)

    def _text_size(self, measure: RendererAgg, name: str) -> tuple[float, float]:
        text = self.figure.text(0, 0, name, fontsize=LETTERS)
        extent = text.get_window_extent(measure)
        text.remove()
        return (extent.width + 2, extent.height + 1)

    def _write(self, name: str, spot: tuple[float, float], label: Label) -> None:
        width, height = self.width, self.height
        box = label.box
        middle = ((box.left + box.right) / 2, (box.bottom + box.top) / 2)
        ground: Any = {
            "facecolor": GROUND,
            "edgecolor": "none",
            "alpha": 0.8,
            "pad": 0.5,
        }  # keeps lines from crossing the name
        at = (middle[0] / width, middle[1] / height)
        self.figure.text(*at, name, ha="center", va="center", fontsize=LETTERS, bbox=ground)
        if label.distance > LEADER:
            end = nearest_on(box, spot)
            xs, ys = (spot[0] / width, end[0] / width), (spot[1] / height, end[1] / height)
            self.figure.add_artist(Line2D(xs, ys, color=INK, alpha=0.45, linewidth=0.6, zorder=1))


def legend_entries(entries: Mapping[str, Style]) -> list[Line2D]:
    """Return the entries of a legend: names with their markers."""
    return [
        Line2D([], [], linestyle="none", label=name, **marker_look(style, MARKER)) for name, style in entries.items()
    ]
