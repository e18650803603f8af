"""Heat maps: one metric over two axes, its value in every cell."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Colormap, Normalize
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.ticker import FuncFormatter, MaxNLocator

from dumbbell.base.errors import UserError
from dumbbell.present.plots.parts.canvas import look, render, renderer
from dumbbell.present.plots.parts.frame import say_empty, short
from dumbbell.present.plots.parts.sheet import sheet
from dumbbell.present.plots.parts.style import INK
from dumbbell.present.plots.parts.svg import compact

COLORS = colormaps["cividis"]
"""Grows lighter with the value, so that it reads in grey; the same to the colour-blind."""

_WIDTH = 420.0  # points
_ABOVE, _BAR, _BAR_GAP, _BAR_LABELS = 24.0, 9.0, 8.0, 38.0
_CELL_NARROW, _CELL_WIDE = 17.0, 64.0  # many columns make the figure wider
_CELL_LOW, _CELL_HIGH = 15.0, 34.0
_LETTERS = (9.0, 5.0)  # largest and smallest size of the values
_TILT, _STEEP = 30.0, 90.0  # degrees, of names below that are too long for their columns
_TILTED = 24.0  # columns at least this wide have room for tilted names
_LIGHT = 0.45  # dark letters on grounds lighter than this


BALANCE = colormaps["PuOr"]
"""Two hues that the colour-blind tell apart, lightest where both are equal."""

GREYS = colormaps["Greys"]
"""For sheets without colours."""

Color = tuple[float, float, float, float]


@dataclass(frozen=True)
class Scale:
    """What the colours say; `words` stand at the ends and the middle in place of numbers."""

    range: Normalize
    colors: Colormap
    words: tuple[str, str, str] | None = None

    def color(self, value: float) -> Color:
        """The ground of a cell."""
        return self.colors(float(self.range(value)))


@dataclass(frozen=True)
class MapAxis:
    """One axis of a heat map: what it is, and the values in order as they are to be shown."""

    title: str
    values: Sequence[str]


def heatmap_figure(
    name: str,
    columns: MapAxis,
    rows: MapAxis,
    values: Sequence[Sequence[float | None]],
    metric: str,
    limits: tuple[float, float] | None = None,
    decimals: int | None = None,
    balance: Sequence[Sequence[float | None]] | None = None,
) -> str:
    """The map as SVG: `values[row][column]`, the first row at the bottom; a cell without value is hatched.

    The colours span `limits`, or all values; `metric` (with its unit) stands above. Values have `decimals`, or three
    significant digits. Where there is a `balance`, from -1 (nothing) over 0 (what is fair) to 1 (everything), the
    colours say that instead, in two hues.
    """
    known = [value for row in values for value in row if value is not None]
    low, high = limits or (min(known, default=0.0), max(known, default=1.0))
    plain = sheet().is_plain
    scale = Scale(Normalize(low, high if high > low else low + (abs(low) or 1.0)), GREYS if plain else COLORS)
    if balance is not None:
        scale = Scale(Normalize(-1.0, 1.0), GREYS if plain else BALANCE, ("none", "fair", "all"))
    shades = balance if balance is not None else values
    with look(name):
        figure = Figure()
        axes = figure.add_axes((0, 0, 1, 1))
        axes.grid(False)
        _label(axes, columns, rows)
        size = _lay_out(figure, axes, len(columns.values), len(rows.values))
        texts = [["" if v is None else number_text(v, decimals) for v in row] for row in values]
        letters = _letter_size(figure, texts, size)
        for y, row in enumerate(values):
            for x, value in enumerate(row):
                shade = None if value is None else shades[y][x]
                _cell(axes, x, y, None if shade is None else scale.color(shade), texts[y][x], letters)
        if known:
            _bar(figure, axes, scale)
        else:
            say_empty(axes)
        _title(figure, metric)
        return compact(render(figure), name)


def number_text(value: float, decimals: int | None = None) -> str:
    """A value as its cell has it."""
    if decimals is not None:
        return f"{value:.{decimals}f}"
    return short(f"{value:#.3g}") if value else "0"


def _label(axes: Axes, columns: MapAxis, rows: MapAxis) -> None:
    for axis, shown in ((axes.xaxis, columns), (axes.yaxis, rows)):
        axis.set_ticks([index + 0.5 for index in range(len(shown.values))], list(shown.values))
        axis.set_label_text(shown.title)
        axis.set_tick_params(length=0)
    axes.set_xlim(0, max(len(columns.values), 1))
    axes.set_ylim(0, max(len(rows.values), 1))
    for spine in axes.spines.values():
        spine.set_visible(False)


def _lay_out(figure: Figure, axes: Axes, columns: int, rows: int) -> tuple[float, float]:
    """Gives the cells as much room as the labels leave; returns the width and height of a cell, points."""
    measure = renderer(figure)
    names = [label.get_window_extent(measure) for label in axes.get_yticklabels()]
    left = max((name.width for name in names), default=0.0) + 24
    aside = _BAR_GAP + _BAR + _BAR_LABELS
    width = _cell_width(left + aside, columns)
    below = 30.0
    names = [label.get_window_extent(measure) for label in axes.get_xticklabels()]
    longest = max((name.width for name in names), default=0.0)
    if longest > width - 3:
        angle = _TILT if width >= _TILTED else _STEEP
        below += longest * math.sin(math.radians(angle))
        left = max(left, longest * math.cos(math.radians(angle)) - width / 2 + 4)
        width = _cell_width(left + aside, columns)
        for label in axes.get_xticklabels():
            label.set(rotation=angle, rotation_mode="anchor", ha="right", va="center" if angle == _STEEP else "top")
    height = min(max(width, _CELL_LOW), _CELL_HIGH)
    wanted = sheet().height()
    if wanted is not None:
        height = (wanted - _ABOVE - below) / max(rows, 1)
    if height < _CELL_LOW or width < _CELL_NARROW:
        least = [left + aside + _CELL_NARROW * columns, _ABOVE + below + _CELL_LOW * rows]
        sides = " x ".join(f"{side * sheet().scale / 72:.1f}" for side in least)
        raise UserError(f"`size`: {columns} columns and {rows} rows of cells need at least {sides} in")
    inside = (width * max(columns, 1), height * max(rows, 1))
    total = (left + inside[0] + aside, _ABOVE + inside[1] + below)
    figure.set_size_inches(total[0] / 72, total[1] / 72)
    axes.set_position((left / total[0], below / total[1], inside[0] / total[0], inside[1] / total[1]))
    return (width, height)


def _cell_width(beside: float, columns: int) -> float:
    width = (sheet().width(_WIDTH) - beside) / max(columns, 1)
    return width if sheet().width_pt else min(max(width, _CELL_NARROW), _CELL_WIDE)


def _letter_size(figure: Figure, texts: Sequence[Sequence[str]], cell: tuple[float, float]) -> float:
    """The size at which the longest value fits its cell."""
    longest = max((text for row in texts for text in row), key=len, default="")
    text = figure.text(0, 0, longest, fontsize=_LETTERS[0])
    extent = text.get_window_extent(renderer(figure))
    text.remove()
    room = min((cell[0] - 3) / extent.width, (cell[1] - 2) / extent.height) if longest else 1.0
    return max(_LETTERS[0] * min(room, 1.0), _LETTERS[1])


def _cell(axes: Axes, x: int, y: int, color: Color | None, text: str, letters: float) -> None:
    """One cell on its ground; one without is hatched."""
    if color is None:
        axes.add_patch(Rectangle((x, y), 1, 1, facecolor="none", edgecolor=INK, hatch="////", linewidth=0.3, alpha=0.4))
        return
    axes.add_patch(Rectangle((x, y), 1, 1, facecolor=color, edgecolor=color, linewidth=0.3))
    lightness = 0.2126 * color[0] + 0.7152 * color[1] + 0.0722 * color[2]
    ground = "#101010" if lightness > _LIGHT else "#ffffff"
    axes.text(x + 0.5, y + 0.5, text, ha="center", va="center", fontsize=letters, color=ground)


def _title(figure: Figure, metric: str) -> None:
    """Across the whole figure, in letters small enough to fit."""
    text = figure.text(0.5, 1 - 5 / (figure.get_figheight() * 72), metric, ha="center", va="top", fontsize=10)
    width = text.get_window_extent(renderer(figure)).width
    text.set_fontsize(10 * min(1.0, (figure.get_figwidth() * 72 - 4) / max(width, 1.0)))


def _bar(figure: Figure, axes: Axes, scale: Scale) -> None:
    """The scale, at the right."""
    box = axes.get_position()
    width = figure.get_figwidth() * 72
    bar = figure.add_axes((box.x1 + _BAR_GAP / width, box.y0, _BAR / width, box.height))
    figure.colorbar(ScalarMappable(scale.range, scale.colors), cax=bar)
    bar.grid(False)
    if scale.words:
        bar.set_yticks((-1.0, 0.0, 1.0), scale.words)
        return
    bar.yaxis.set_major_locator(MaxNLocator(max(min(5, int(box.height * figure.get_figheight() * 72 // 22)), 1)))
    bar.yaxis.set_major_formatter(FuncFormatter(lambda value, _: short(f"{value:.3g}")))
