"""How figures look: scheme and flow colours, markers, and the stand-in colours that follow the reader's theme."""

import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from matplotlib.colors import is_color_like, to_hex

# Stand-ins: drawn like any colour, replaced when the figure is finished (see svg.py), so that text, axes and "black"
# follow the page's foreground, the shaded capacity its theme, and what covers a part of a figure its ground.
INK = "#0a0b0c"
SHADE = "#fbf1e7"
GROUND = "#fdfefc"

# Flows take Pantheon's b, g, r, y, c, m in turn, in hues that keep a contrast of about 3:1 on white and on near-black.
FLOW_COLORS = ("#3f63f0", "#2a9440", "#e0393b", "#b08a0a", "#0c97a6", "#bb45bb")

# The point that no scheme can beat: ccperf's magenta star.
OPTIMUM = "#d911d0"

UNSTYLED = ("dimgray", "o")  # the catalog's style for a scheme that names none

_SPARE_COLORS = ("#1b9e77", "#d95f02", "#7570b3", "#e7298a", "#66a61e", "#a6761d", "#1f78b4", "#8c6d31")
FILLED_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "p", "h", "<", ">", "d")
LINE_MARKERS = ("1", "+", "x")  # drawn as strokes: they have no inside to fill


@dataclass(frozen=True)
class Style:
    """Colour and marker of a scheme; `color` is `#rrggbb`, or `INK` for black. A `hollow` marker is not filled."""

    color: str
    marker: str
    hollow: bool = False


def ink(color: str) -> str:
    """The colour as `#rrggbb`, with black turned into the theme's foreground, and so is what is no colour."""
    code = str(to_hex(color)) if is_color_like(color) else "#000000"
    return INK if code == "#000000" else code


def styles(wanted: Iterable[tuple[str, str, str]]) -> dict[str, Style]:
    """A distinct style for each scheme of `wanted`: (name, colour, marker), the last two empty if it names none.

    A scheme keeps the style it asks for unless an earlier one has it. The others take a spare one picked by their
    name, so that a scheme looks the same in every report unless two names collide.
    """
    chosen: dict[str, Style] = {}
    taken: set[Style] = set()
    undecided = []
    for name, color, marker in wanted:
        named = color and (color, marker) != UNSTYLED
        style = Style(ink(color), marker or "o") if named else None
        chosen[name] = style or Style(INK, "o")
        if style is None or style in taken:
            undecided.append(name)
        else:
            taken.add(style)
    for name in undecided:
        chosen[name] = _spare(name, taken)
        taken.add(chosen[name])
    return chosen


def _spare(name: str, taken: set[Style]) -> Style:
    start = zlib.crc32(name.encode())
    spares = [
        Style(color, marker)
        for shift in range(len(FILLED_MARKERS))
        for color, marker in zip(_SPARE_COLORS, FILLED_MARKERS[shift:] + FILLED_MARKERS[:shift], strict=False)
    ]
    for step in range(len(spares)):
        style = spares[(start + step) % len(spares)]
        if style not in taken:
            return style
    return spares[start % len(spares)]  # more schemes than styles: repeat


def flow_color(flow: int) -> str:
    """The colour of flow number `flow`, from 1 (0 where a log does not tell)."""
    return FLOW_COLORS[max(flow - 1, 0) % len(FLOW_COLORS)]


def rc(name: str) -> dict[str, Any]:
    """Matplotlib settings of the figure called `name`: text stays text, identifiers follow from the name."""
    return {
        "svg.fonttype": "none",
        "svg.hashsalt": name,
        "font.family": "sans-serif",
        "font.sans-serif": ["DejaVu Sans"],
        "font.size": 9.5,
        "text.color": INK,
        "axes.edgecolor": INK,
        "axes.labelcolor": INK,
        "axes.titlesize": 10,
        "axes.titlecolor": INK,
        "axes.linewidth": 0.7,
        "axes.grid": True,
        "axes.axisbelow": True,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "grid.color": INK,
        "grid.alpha": 0.14,
        "grid.linewidth": 0.6,
        "xtick.color": INK,
        "ytick.color": INK,
        "xtick.major.width": 0.7,
        "ytick.major.width": 0.7,
        "legend.frameon": False,
        "legend.fontsize": 9,
        "legend.handlelength": 1.8,
        "legend.borderaxespad": 0.0,
        "legend.columnspacing": 1.6,
        "figure.facecolor": "none",
        "axes.facecolor": "none",
        "savefig.facecolor": "none",
        "path.simplify": True,
        "figure.dpi": 72,
        "text.hinting": "no_hinting",  # widths as in SVG and PDF, not rounded to pixels of this size
        "text.parse_math": False,  # names are names, whatever is in them
    }
