"""How a line is drawn: colour, marker and dashes, so that lines differ in grey too."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy
from matplotlib.patheffects import withStroke
from numpy.typing import NDArray

from dumbbell.present.plots.parts.style import FILLED_MARKERS, GROUND, INK, LINE_MARKERS, Style, flow_color, paint

Look: TypeAlias = dict[str, Any]
"""Keyword arguments of artists of matplotlib, which types them one by one."""

DASHES: tuple[tuple[float, ...], ...] = ((), (5.0, 1.8), (1.6, 1.6), (7.0, 1.6, 1.6, 1.6), (9.0, 2.4), (3.4, 3.4))
"""On and off lengths in line widths; the empty one is a line without gaps."""

_EVERY = 7  # markers on a line that crosses the figure
_SMALL = 4.6  # points


@dataclass(frozen=True)
class Stroke:
    """Colour, marker and filling as in `Style`, and dashes as in `DASHES`."""

    color: str
    marker: str
    dashes: tuple[float, ...] = ()
    hollow: bool = False

    @property
    def style(self) -> Style:
        """What points of the same scheme look like."""
        return Style(self.color, self.marker, self.hollow)


def scheme_strokes(styles: Sequence[Style]) -> list[Stroke]:
    """Return the strokes of schemes: those that share a colour or a marker differ in dashes, as far as these reach."""
    taken: set[tuple[str, tuple[float, ...]]] = set()
    strokes = []
    for style in styles:
        marks = (style.color, style.seen.marker)
        shared = [sum((mark, dashes) in taken for mark in (*marks, marks[1])) for dashes in DASHES]
        dashes = DASHES[shared.index(min(shared))]
        taken |= {(mark, dashes) for mark in marks}
        strokes.append(Stroke(style.color, style.marker, dashes, style.hollow))
    return strokes


def flow_stroke(flow: int) -> Stroke:
    """The stroke of flow number `flow`, from 1, where flows are not told apart by their schemes."""
    index = max(flow - 1, 0)
    marker = FILLED_MARKERS[index % len(FILLED_MARKERS)]
    return Stroke(flow_color(flow), marker, DASHES[index // len(FILLED_MARKERS) % len(DASHES)])


def marker_look(style: Style, size: float) -> Look:
    """What matplotlib has to know of a marker of `size` points."""
    stroke = style.marker in LINE_MARKERS
    hollow = style.hollow and not stroke
    return {
        # filled markers have an edge in the theme's ink; strokes get one beneath, to be seen on any ground
        "path_effects": [withStroke(linewidth=size * 0.4, foreground=INK)] if stroke else None,
        "marker": style.marker,
        "markersize": size * (1.25 if style.marker in ("*", "1", "+") else 1.0),
        "markerfacecolor": GROUND if hollow else paint(style.color),
        "markeredgecolor": paint(style.color) if stroke or hollow else INK,
        "markeredgewidth": size * (0.25 if stroke else 0.18 if hollow else 0.075),
    }


def line_look(stroke: Stroke, width: float = 1.2) -> Look:
    """What matplotlib has to know of a line, its small markers included."""
    look = marker_look(stroke.style, _SMALL)
    del look["path_effects"]  # would be drawn under the line as well
    return look | {
        "color": paint(stroke.color),
        "linewidth": width,
        "linestyle": (0, stroke.dashes) if stroke.dashes else "-",
        "dash_capstyle": "butt",
    }


def marked(x: NDArray[Any], span: tuple[float, float], index: int, count: int) -> list[int]:
    """Which points of line `index` of `count` carry a marker: evenly over `span`, those of other lines in between."""
    if len(x) <= _EVERY:
        return list(range(len(x)))
    step = (span[1] - span[0]) / _EVERY
    wanted = span[0] + step * (numpy.arange(_EVERY) + (index + 0.5) / max(count, 1))
    inside = wanted[(wanted >= x[0]) & (wanted <= x[-1])]
    found = numpy.searchsorted(x, inside).clip(0, len(x) - 1)
    return [int(i) for i in dict.fromkeys(found)] or [len(x) // 2]
