"""The key of a figure with many points: below it, marker, name and numbers of each."""

from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.backends.backend_agg import RendererAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from dumbbell.present.plots.parts.strokes import marker_look
from dumbbell.present.plots.parts.style import Style

ROW = 9.6  # points
_COLUMNS = 3
_LETTERS = 7.4
_MARKER = 5.5
_NAME, _GAP = 12.0, 10.0  # from the left edge of a column to the names; between columns
_VALUE = 33.0


@dataclass(frozen=True)
class KeyRow:
    """One entry; `strong` ones stand out."""

    name: str
    style: Style
    values: tuple[str, ...] = ()
    strong: bool = False


def key_height(rows: int) -> float:
    """What a key of so many rows needs, its headings included, in points."""
    return ROW * (-(-rows // _COLUMNS) + 1) + 6.0


def draw_key(figure: Figure, measure: RendererAgg, rows: Sequence[KeyRow], heads: Sequence[str], left: float) -> None:
    """Draws the key at the bottom of the figure, filling its columns from the top."""
    width, height = figure.get_figwidth() * 72, figure.get_figheight() * 72
    per_column = -(-len(rows) // _COLUMNS)
    each = (width - left - _GAP) / _COLUMNS
    top = key_height(len(rows)) - ROW / 2

    def write(x: float, y: float, text: str, right: bool = False, strong: bool = False, quiet: bool = False) -> None:
        drawn = figure.text(
            x / width,
            y / height,
            text,
            fontsize=_LETTERS,
            ha="right" if right else "left",
            va="center",
            fontweight="bold" if strong else "normal",
            alpha=0.7 if quiet else None,
        )
        room = each - _GAP - _NAME - _VALUE * len(heads)
        if not right:
            wide = drawn.get_window_extent(measure).width
            drawn.set_fontsize(_LETTERS * min(1.0, room / max(wide, 1e-9)))

    for column in range(-(-len(rows) // max(per_column, 1))):
        x = left + column * each
        for place, head in enumerate(heads):
            write(x + each - _GAP - _VALUE * (len(heads) - 1 - place), top, head, right=True, quiet=True)
        for row, entry in enumerate(rows[column * per_column : (column + 1) * per_column], start=1):
            y = top - ROW * row
            look = marker_look(entry.style, _MARKER)
            figure.add_artist(Line2D([(x + 5) / width], [y / height], linestyle="none", **look))
            write(x + _NAME, y, entry.name, strong=entry.strong)
            for place, value in enumerate(entry.values):
                write(x + each - _GAP - _VALUE * (len(heads) - 1 - place), y, value, right=True, strong=entry.strong)
