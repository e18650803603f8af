"""Look of figures: colours of schemes and flows, markers, and stand-in colours that follow the reader's theme."""

import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product

from matplotlib.colors import is_color_like, to_hex, to_rgb

from dumbbell import catalog
from dumbbell.catalog.families import family
from dumbbell.present.plots.parts.sheet import LETTERS, sheet

# Stand-ins are drawn like any colour and replaced in the finished figure (see svg.py). Text, axes and "black" then
# follow the page's foreground, the shaded capacity its theme, and anything that covers a part of a figure its
# background.
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
"""Colours of Okabe and Ito, which the colour-blind distinguish; grey replaces their yellow, invisible on white."""
_SPARE_COLORS = tuple(FAMILY_COLORS.values())[1:]
FILLED_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "p", "h", "<", ">", "*")
LINE_MARKERS = ("1", "+", "x")  # drawn as strokes: they have no inside to fill
_ALIKE = {"8": "h", "H": "h", "d": "D", ".": "o", "x": "X", "+": "P"}
"""Markers that resemble another marker at the size of a point."""
_TINT = 0.6
"""Share of white in the lighter shade of a colour."""


@dataclass(frozen=True)
class Style:
    """Colour and marker of a scheme; `color` is `#rrggbb`, or `INK` for black. A `hollow` marker is not filled."""

    color: str
    marker: str
    hollow: bool = False

    @property
    def appearance(self) -> "Style":
        """Style as readers see it: equal for two styles that look alike."""
        return Style(self.color, _ALIKE.get(self.marker, self.marker), self.hollow)


def ink(color: str) -> str:
    """Return the colour as `#rrggbb`; black, and a string that is no colour, become the theme's foreground."""
    code = str(to_hex(color)) if is_color_like(color) else "#000000"
    return INK if code == "#000000" else code


def paint(color: str) -> str:
    """Return a colour as the theme has it: ink if the theme has no colours."""
    return INK if sheet().is_plain and color != GROUND else color


def styles(schemes: Iterable[tuple[str, str, str]]) -> dict[str, Style]:
    """Return a distinct style for each scheme, given as (name, colour, marker); the last two may be empty.

    Schemes of the catalog have the colour of their family unless the user chose another one; other schemes have the
    colour that they ask for. A scheme keeps its marker unless a scheme with a shorter name, or an earlier one, looks
    the same: `copa` comes before `copa-delay`. The name decides the rest: a scheme looks the same in every report
    unless two collide. Without colours, markers alone differ.
    """
    entries = list(schemes)
    styles_by_name = {name: Style(INK, "o") for name, *_ in entries}
    used_styles: set[Style] = set()
    open_schemes = []
    for name, color, marker in sorted(entries, key=lambda entry: len(entry[0])):
        has_color = color and (color, marker) != UNSTYLED
        own_color = paint(_family_color(name, color) or ink(color)) if has_color else None
        style = Style(own_color, marker or "o") if own_color else None
        if style is None or style.appearance in used_styles:
            open_schemes.append((name, own_color))
        else:
            styles_by_name[name] = style
            used_styles.add(style.appearance)
    for name, own_color in open_schemes:
        styles_by_name[name] = _spare(name, (own_color,) if own_color else _SPARE_COLORS, used_styles)
        used_styles.add(styles_by_name[name])
    return styles_by_name


@cache
def _family_color(name: str, color: str) -> str | None:
    """Return the family's colour for a scheme with the catalog's colour; None for a scheme with its own colour."""
    family_name = family(name)
    has_catalog_color = (
        family_name is not None and catalog.schemes().knows(name) and catalog.schemes().find(name).color == color
    )
    return FAMILY_COLORS[family_name] if family_name is not None and has_catalog_color else None


def family_color(name: str) -> str:
    """Return the colour of a family; an unknown family has the colour of the others."""
    return paint(FAMILY_COLORS.get(name, FAMILY_COLORS["other"]))


def _spare(name: str, colors: Sequence[str], used_styles: set[Style]) -> Style:
    """Return the first free style, starting with one that follows from the name."""
    start = zlib.crc32(name.encode())
    if sheet().is_plain:
        shades = [[Style(INK, marker, hollow) for marker in FILLED_MARKERS] for hollow in (False, True)]
    else:
        tints = [tuple(map(_tint, colors))]
        shades = [[Style(*pair) for pair in product(palette, FILLED_MARKERS)] for palette in (colors, *tints)]
    for spares in shades:
        for step in range(len(spares)):
            style = spares[(start + step) % len(spares)]
            if style not in used_styles:
                return style
    return shades[0][start % len(shades[0])]  # more schemes than styles: repeat


def _tint(color: str) -> str:
    red, green, blue = (part + _TINT * (1.0 - part) for part in to_rgb(color))
    return str(to_hex((red, green, blue)))


def flow_color(flow: int) -> str:
    """Return the colour of flow number `flow`, from 1 (0 if a log has no numbers); a grey without colours."""
    colors = _FLOW_GREYS if sheet().is_plain else FLOW_COLORS
    return colors[max(flow - 1, 0) % len(colors)]


def rc(name: str) -> dict[str, object]:
    """Return matplotlib's settings for the figure called `name`: text stays text, identifiers follow from the name."""
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
