"""Strokes of lines: colour, marker and dashes; lines differ in grey too."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy
from matplotlib.patheffects import withStroke
from numpy.typing import NDArray

from dumbbell.present.plots.parts.style import FILLED_MARKERS, GROUND, INK, LINE_MARKERS, Style, flow_color, paint

Look: TypeAlias = dict[str, Any]
"""Keyword arguments of matplotlib's artists, which have types of their own."""

DASHES: tuple[tuple[float, ...], ...] = ((), (5.0, 1.8), (1.6, 1.6), (7.0, 1.6, 1.6, 1.6), (9.0, 2.4), (3.4, 3.4))
"""On and off lengths in line widths; the empty tuple is a solid line."""

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
        """Style of the points of the same scheme."""
        return Style(self.color, self.marker, self.hollow)


def scheme_strokes(styles: Sequence[Style]) -> list[Stroke]:
    """Return the strokes of schemes: those that share a colour or a marker differ in dashes, as far as possible."""
    used_pairs: set[tuple[str, tuple[float, ...]]] = set()
    strokes = []
    for style in styles:
        marks = (style.color, style.appearance.marker)
        overlaps = [sum((mark, dashes) in used_pairs for mark in (*marks, marks[1])) for dashes in DASHES]
        dashes = DASHES[overlaps.index(min(overlaps))]
        used_pairs |= {(mark, dashes) for mark in marks}
        strokes.append(Stroke(style.color, style.marker, dashes, style.hollow))
    return strokes


def flow_stroke(flow: int) -> Stroke:
    """Return the stroke of flow number `flow`, from 1, for flows that are drawn by number."""
    index = max(flow - 1, 0)
    marker = FILLED_MARKERS[index % len(FILLED_MARKERS)]
    return Stroke(flow_color(flow), marker, DASHES[index // len(FILLED_MARKERS) % len(DASHES)])


def marker_look(style: Style, size: float) -> Look:
    """Return matplotlib's arguments for a marker of `size` points."""
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
    """Return matplotlib's arguments for a line with small markers."""
    look = marker_look(stroke.style, _SMALL)
    del look["path_effects"]  # it would be drawn under the line as well
    return look | {
        "color": paint(stroke.color),
        "linewidth": width,
        "linestyle": (0, stroke.dashes) if stroke.dashes else "-",
        "dash_capstyle": "butt",
    }


def marker_indices(x: NDArray[Any], span: tuple[float, float], index: int, count: int) -> list[int]:
    """Return the points of line `index` of `count` that carry a marker.

    They are spread evenly over `span`, between the markers of other lines.
    """
    if len(x) <= _EVERY:
        return list(range(len(x)))
    step = (span[1] - span[0]) / _EVERY
    places = span[0] + step * (numpy.arange(_EVERY) + (index + 0.5) / max(count, 1))
    inside = places[(places >= x[0]) & (places <= x[-1])]
    indices = numpy.searchsorted(x, inside).clip(0, len(x) - 1)
    return [int(i) for i in dict.fromkeys(indices)] or [len(x) // 2]
