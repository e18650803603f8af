"""Heat maps: a metric over two axes, with its value in every cell; maps side by side have the same colours."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Colormap, Normalize
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.text import Text
from matplotlib.ticker import FuncFormatter, MaxNLocator
from matplotlib.transforms import Bbox

from dumbbell.base.errors import UserError
from dumbbell.present.plots.parts.canvas import look, render, renderer
from dumbbell.present.plots.parts.frame import say_empty, short
from dumbbell.present.plots.parts.sheet import sheet
from dumbbell.present.plots.parts.style import INK
from dumbbell.present.plots.parts.svg import compact

COLORS = colormaps["cividis"]
"""Colours that grow lighter with the value: readable in grey, and by the colour-blind."""

_WIDTH = 420.0  # points
_PANEL_TITLE, _GAP = 16.0, 10.0
_COMFORTABLE = 30.0  # points: panels stand side by side only if their cells are at least this wide
_ABOVE, _LINE, _BAR, _BAR_GAP, _BAR_LABELS = 24.0, 13.0, 9.0, 8.0, 38.0
_CELL_NARROW, _CELL_WIDE = 17.0, 64.0  # many columns make the figure wider
_CELL_LOW, _CELL_HIGH = 15.0, 34.0
_LETTERS = (9.0, 5.0)  # largest and smallest size of the values
_TILT, _STEEP = 30.0, 90.0  # degrees, of names below that are too long for their columns
_TILTED = 24.0  # columns at least this wide have room for tilted names
_LIGHT = 0.45  # dark letters on grounds lighter than this


BALANCE = colormaps["PuOr"]
"""Two hues that the colour-blind distinguish, lightest in the middle."""

GREYS = colormaps["Greys"]
"""Colours of sheets without hues."""

Color = tuple[float, float, float, float]


@dataclass(frozen=True)
class Scale:
    """Colours of values.

    The bar beside the map has `words` at its ends and its middle, or numbers if None. `beyond` names the ends of the
    range that values exceed, in the words of matplotlib.
    """

    range: Normalize
    colors: Colormap
    words: tuple[str, str, str] | None = None
    beyond: str = "neither"

    def color(self, value: float) -> Color:
        """Return the background colour of a cell."""
        return self.colors(float(self.range(value)))


@dataclass(frozen=True)
class MapAxis:
    """One axis of a heat map: its title, and its values as shown, in order."""

    title: str
    values: Sequence[str]


Values = Sequence[Sequence[float | None]]
"""Values of cells, as `values[row][column]`; the first row is at the bottom."""


@dataclass(frozen=True)
class MapPanel:
    """One of several maps: its title, and its values.

    With a `balance`, from -1 (nothing) over 0 (the fair share) to 1 (everything), the colours show the balance instead
    of the values.
    """

    title: str
    values: Values
    balance: Values | None = None


def heatmap_figure(
    name: str,
    columns: MapAxis,
    rows: MapAxis,
    values: Values,
    metric: str,
    limits: tuple[float, float] | None = None,
    decimals: int | None = None,
    balance: Values | None = None,
) -> str:
    """Return one map as SVG, drawn by `maps_figure`."""
    return maps_figure(name, columns, rows, [MapPanel("", values, balance)], metric, limits, decimals)


def maps_figure(
    name: str,
    columns: MapAxis,
    rows: MapAxis,
    panels: Sequence[MapPanel],
    metric: str,
    limits: tuple[float, float] | None = None,
    decimals: int | None = None,
) -> str:
    """Return maps over the same axes as SVG; a cell without a value is hatched.

    The colours span `limits`, or all values of all maps; `metric` (with its unit) stands above. Values have `decimals`,
    or three significant digits. Maps with a `balance` have two hues.
    """
    values = [value for panel in panels for row in panel.values for value in row if value is not None]
    low, high = limits or (min(values, default=0.0), max(values, default=1.0))
    plain = sheet().is_plain
    beyond = (any(value < low for value in values), any(value > high for value in values))
    scale = Scale(
        Normalize(low, high if high > low else low + (abs(low) or 1.0), clip=True),
        GREYS if plain else COLORS,
        beyond={(True, True): "both", (True, False): "min", (False, True): "max"}.get(beyond, "neither"),
    )
    if any(panel.balance is not None for panel in panels):
        scale = Scale(Normalize(-1.0, 1.0), GREYS if plain else BALANCE, ("none", "fair", "all"))
    with look(name):
        figure = Figure()
        plots = [figure.add_axes((0, 0, 1, 1), label=str(index)) for index in range(len(panels))]
        for axes in plots:
            axes.grid(False)
            _label(axes, columns, rows)
        lines = 1 + metric.count("\n")
        size = _lay_out(figure, plots, lines, panels[0].title != "", len(columns.values), len(rows.values))
        texts = [
            [["" if v is None else number_text(v, decimals) for v in row] for row in panel.values] for panel in panels
        ]
        letters = _letter_size(figure, [row for map_texts in texts for row in map_texts], size)
        for axes, panel, cell_texts in zip(plots, panels, texts, strict=True):
            shades = panel.values if panel.balance is None else panel.balance
            for y, row in enumerate(panel.values):
                for x, value in enumerate(row):
                    shade = None if value is None else shades[y][x]
                    _cell(axes, x, y, None if shade is None else scale.color(shade), cell_texts[y][x], letters)
            _fit(figure, axes.set_title(panel.title, fontsize=9.0, pad=4.0), size[0] * max(len(columns.values), 1))
        if values:
            _bar(figure, plots, scale)
        else:
            say_empty(plots[0])
        _title(figure, metric)
        return compact(render(figure), name)


def number_text(value: float, decimals: int | None = None) -> str:
    """Return a value as its cell shows it."""
    if decimals is not None:
        return f"{value:.{decimals}f}"
    return short(f"{value:#.3g}") if value else "0"


def _label(axes: Axes, columns: MapAxis, rows: MapAxis) -> None:
    for axis, map_axis in ((axes.xaxis, columns), (axes.yaxis, rows)):
        axis.set_ticks([index + 0.5 for index in range(len(map_axis.values))], list(map_axis.values))
        axis.set_label_text(map_axis.title)
        axis.set_tick_params(length=0)
    axes.set_xlim(0, max(len(columns.values), 1))
    axes.set_ylim(0, max(len(rows.values), 1))
    for spine in axes.spines.values():
        spine.set_visible(False)


def _lay_out(
    figure: Figure, plots: Sequence[Axes], lines: int, has_titles: bool, columns: int, rows: int
) -> tuple[float, float]:
    """Lay out the maps in the room that labels and title leave; return the width and height of a cell, points."""
    title_pt = _ABOVE + _LINE * (lines - 1)
    measure, title = renderer(figure), plots[0].get_ylabel()
    names = [label.get_window_extent(measure) for label in plots[0].get_yticklabels()]
    left = max((name.width for name in names), default=0.0) + 24
    aside = _BAR_GAP + _BAR + _BAR_LABELS
    across = _side_by_side(len(plots), left + aside, columns)
    down = math.ceil(len(plots) / across)
    beside = left + aside + _GAP * (across - 1)
    width = _cell_width(beside, across * columns)
    below = 30.0
    names = [label.get_window_extent(measure) for label in plots[0].get_xticklabels()]
    longest = max((name.width for name in names), default=0.0)
    if longest > width - 3:
        angle = _TILT if width >= _TILTED else _STEEP
        below += longest * math.sin(math.radians(angle))
        more = max(left, longest * math.cos(math.radians(angle)) - width / 2 + 4) - left
        left, beside = left + more, beside + more
        width = _cell_width(beside, across * columns)
        for axes in plots:
            for label in axes.get_xticklabels():
                label.set(rotation=angle, rotation_mode="anchor", ha="right", va="center" if angle == _STEEP else "top")
    height = min(max(width, _CELL_LOW), _CELL_HIGH)
    above = _PANEL_TITLE if has_titles else 0.0
    over = title_pt + below + down * above + (down - 1) * _GAP
    height_pt = sheet().height()
    if height_pt is not None:
        height = (height_pt - over) / max(down * rows, 1)
    if height < _CELL_LOW or width < _CELL_NARROW:
        least = [beside + _CELL_NARROW * across * columns, over + _CELL_LOW * down * rows]
        sides = " x ".join(f"{side * sheet().scale / 72:.1f}" for side in least)
        raise UserError(f"`size`: {across * columns} columns and {down * rows} rows of cells need at least {sides} in")
    inside = (width * max(columns, 1), height * max(rows, 1))
    total = (beside + across * inside[0], over + down * inside[1])
    figure.set_size_inches(total[0] / 72, total[1] / 72)
    for index, axes in enumerate(plots):
        row, column = divmod(index, across)
        x = left + column * (inside[0] + _GAP)
        y = below + (down - 1 - row) * (inside[1] + above + _GAP)
        axes.set_position((x / total[0], y / total[1], inside[0] / total[0], inside[1] / total[1]))
        if column > 0:
            axes.yaxis.set_tick_params(labelleft=False)
        if column > 0 or down > 1:
            axes.set_ylabel("")
        if index + across < len(plots):
            axes.xaxis.set_tick_params(labelbottom=False)
            axes.set_xlabel("")
    if down > 1:  # one label for all maps, since it may be longer than one map is high
        middle = (below + (total[1] - title_pt)) / 2 / total[1]
        size = plots[0].yaxis.label.get_fontsize()
        figure.text(4 / total[0], middle, title, rotation=90, ha="left", va="center", fontsize=size)
    return (width, height)


def _side_by_side(panels: int, beside: float, columns: int) -> int:
    """Return the number of panels in a row, chosen to fill all rows about equally."""
    room = sheet().width(_WIDTH) - beside
    max_panels = max(1, min(panels, int((room + _GAP) // (_COMFORTABLE * max(columns, 1) + _GAP))))
    return math.ceil(panels / math.ceil(panels / max_panels))


def _cell_width(beside: float, columns: int) -> float:
    width = (sheet().width(_WIDTH) - beside) / max(columns, 1)
    return width if sheet().width_pt else min(max(width, _CELL_NARROW), _CELL_WIDE)


def _letter_size(figure: Figure, texts: Sequence[Sequence[str]], cell: tuple[float, float]) -> float:
    """Return the size of letters at which the longest value fits its cell."""
    longest = max((text for row in texts for text in row), key=len, default="")
    text = figure.text(0, 0, longest, fontsize=_LETTERS[0])
    extent = text.get_window_extent(renderer(figure))
    text.remove()
    room = min((cell[0] - 3) / extent.width, (cell[1] - 2) / extent.height) if longest else 1.0
    return max(_LETTERS[0] * min(room, 1.0), _LETTERS[1])


def _cell(axes: Axes, x: int, y: int, color: Color | None, text: str, letters: float) -> None:
    """Draw one cell on its background; a cell without a colour is hatched."""
    if color is None:
        axes.add_patch(Rectangle((x, y), 1, 1, facecolor="none", edgecolor=INK, hatch="////", linewidth=0.3, alpha=0.4))
        return
    axes.add_patch(Rectangle((x, y), 1, 1, facecolor=color, edgecolor=color, linewidth=0.3))
    lightness = 0.2126 * color[0] + 0.7152 * color[1] + 0.0722 * color[2]
    ground = "#101010" if lightness > _LIGHT else "#ffffff"
    axes.text(x + 0.5, y + 0.5, text, ha="center", va="center", fontsize=letters, color=ground)


def _title(figure: Figure, metric: str) -> None:
    """Write the title across the figure, in letters small enough to fit."""
    text = figure.text(0.5, 1 - 5 / (figure.get_figheight() * 72), metric, ha="center", va="top", fontsize=10)
    _fit(figure, text, figure.get_figwidth() * 72 - 4)


def _fit(figure: Figure, text: Text, room: float) -> None:
    """Shrink the letters of a text that is wider than `room` points."""
    width = text.get_window_extent(renderer(figure)).width
    text.set_fontsize(float(text.get_fontsize()) * min(1.0, room / max(width, 1.0)))


def _bar(figure: Figure, plots: Sequence[Axes], scale: Scale) -> None:
    """Draw the colour bar at the right."""
    box = Bbox.union([axes.get_position() for axes in plots])
    width = figure.get_figwidth() * 72
    bar = figure.add_axes((box.x1 + _BAR_GAP / width, box.y0, _BAR / width, box.height))
    figure.colorbar(ScalarMappable(scale.range, scale.colors), cax=bar, extend=scale.beyond)
    bar.grid(False)
    if scale.words:
        bar.set_yticks((-1.0, 0.0, 1.0), scale.words)
        return
    bar.yaxis.set_major_locator(MaxNLocator(max(min(5, int(box.height * figure.get_figheight() * 72 // 22)), 1)))
    bar.yaxis.set_major_formatter(FuncFormatter(lambda value, _: short(f"{value:.3g}")))
