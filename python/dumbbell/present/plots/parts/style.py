"""How figures look: scheme and flow colours, markers, and the stand-in colours that follow the reader's theme."""

import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import Any

from matplotlib.colors import is_color_like, to_hex, to_rgb

from dumbbell import catalog
from dumbbell.catalog.families import family
from dumbbell.present.plots.parts.sheet import LETTERS, sheet

# Stand-ins: drawn like any colour, replaced when the figure is finished (see svg.py), so that text, axes and "black"
# follow the page's foreground, the shaded capacity its theme, and what covers a part of a figure its ground.
INK = "#0a0b0c"
SHADE = "#fbf1e7"
GROUND = "#fdfefc"

# Flows take Pantheon's b, g, r, y, c, m in turn, in hues that keep a contrast of about 3:1 on white and on near-black.
FLOW_COLORS = ("#3f63f0", "#2a9440", "#e0393b", "#b08a0a", "#0c97a6", "#bb45bb")

_FLOW_GREYS = (INK, "#808080", "#b8b8b8")

UNSTYLED = ("dimgray", "o")  # the catalog's style for a scheme that names none

FAMILY_COLORS = {
    "loss": INK,
    "bbr": "#e69f00",
    "copa": "#d55e00",
    "delay": "#009e73",
    "pcc": "#0072b2",
    "learned": "#cc79a7",
    "media": "#56b4e9",
    "other": "#666666",
}
"""Okabe and Ito's colours, which the colour-blind tell apart; grey in place of their yellow, which white hides."""
_SPARE_COLORS = tuple(FAMILY_COLORS.values())[1:]
FILLED_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "p", "h", "<", ">", "*")
LINE_MARKERS = ("1", "+", "x")  # drawn as strokes: they have no inside to fill
_ALIKE = {"8": "h", "H": "h", "d": "D", ".": "o", "x": "X", "+": "P"}
"""Markers that nobody tells from others at the size of a point."""
_TINT = 0.6
"""Share of white in the lighter shade of a colour."""


@dataclass(frozen=True)
class Style:
    """Colour and marker of a scheme; `color` is `#rrggbb`, or `INK` for black. A `hollow` marker is not filled."""

    color: str
    marker: str
    hollow: bool = False

    @property
    def seen(self) -> "Style":
        """What a reader sees of it: equal for two styles that look alike."""
        return Style(self.color, _ALIKE.get(self.marker, self.marker), self.hollow)


def ink(color: str) -> str:
    """The colour as `#rrggbb`, with black turned into the theme's foreground, and so is what is no colour."""
    code = str(to_hex(color)) if is_color_like(color) else "#000000"
    return INK if code == "#000000" else code


def paint(color: str) -> str:
    """Return a colour as the theme has it: ink where there are no colours."""
    return INK if sheet().is_plain and color != GROUND else color


def styles(wanted: Iterable[tuple[str, str, str]]) -> dict[str, Style]:
    """A distinct style for each scheme of `wanted`: (name, colour, marker), the last two empty if it names none.

    Schemes of the catalog have the colour of their family unless somebody gave them another one; all others have the
    colour that they ask for. A scheme keeps its marker unless one with a shorter name, or an earlier one, looks like
    that: `copa` before `copa-delay`. What is open is picked by the name, so that a scheme looks the same in every
    report unless two collide. Without colours, markers alone differ.
    """
    given = list(wanted)
    chosen = {name: Style(INK, "o") for name, *_ in given}
    taken: set[Style] = set()
    undecided = []
    for name, color, marker in sorted(given, key=lambda each: len(each[0])):
        named = color and (color, marker) != UNSTYLED
        own = paint(_family_color(name, color) or ink(color)) if named else None
        style = Style(own, marker or "o") if own else None
        if style is None or style.seen in taken:
            undecided.append((name, own))
        else:
            chosen[name] = style
            taken.add(style.seen)
    for name, own in undecided:
        chosen[name] = _spare(name, (own,) if own else _SPARE_COLORS, taken)
        taken.add(chosen[name])
    return chosen


@cache
def _family_color(name: str, color: str) -> str | None:
    """Return the colour of the family of a scheme that has the catalog's colour; None for one that has its own."""
    of = family(name)
    shipped = of is not None and catalog.schemes().knows(name) and catalog.schemes().find(name).color == color
    return FAMILY_COLORS[of] if of is not None and shipped else None


def family_color(name: str) -> str:
    """Return the colour of a family; one that is none has the colour of the others."""
    return paint(FAMILY_COLORS.get(name, FAMILY_COLORS["other"]))


def _spare(name: str, colors: Sequence[str], taken: set[Style]) -> Style:
    """Return the first style that is free, from one on that follows from the name."""
    start = zlib.crc32(name.encode())
    if sheet().is_plain:
        shades = [[Style(INK, marker, hollow) for marker in FILLED_MARKERS] for hollow in (False, True)]
    else:
        tints = [tuple(map(_tint, colors))]
        shades = [[Style(*each) for each in product(some, FILLED_MARKERS)] for some in (colors, *tints)]
    for spares in shades:
        for step in range(len(spares)):
            style = spares[(start + step) % len(spares)]
            if style not in taken:
                return style
    return shades[0][start % len(shades[0])]  # more schemes than styles: repeat


def _tint(color: str) -> str:
    red, green, blue = (part + _TINT * (1.0 - part) for part in to_rgb(color))
    return str(to_hex((red, green, blue)))


def flow_color(flow: int) -> str:
    """The colour of flow number `flow`, from 1 (0 where a log does not tell): a grey where there are no colours."""
    colors = _FLOW_GREYS if sheet().is_plain else FLOW_COLORS
    return colors[max(flow - 1, 0) % len(colors)]


def rc(name: str) -> dict[str, Any]:
    """Matplotlib settings of the figure called `name`: text stays text, identifiers follow from the name."""
    return {
        "svg.fonttype": "none",
        "svg.hashsalt": name,
        "font.family": "sans-serif",
        "font.sans-serif": ["DejaVu Sans"],
        "font.size": LETTERS,
        "text.color": INK,
        "axes.edgecolor": INK,
        "axes.labelcolor": INK,
        "axes.titlesize": sheet().letters(10.0),
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
        "legend.fontsize": sheet().letters(9.0),
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
