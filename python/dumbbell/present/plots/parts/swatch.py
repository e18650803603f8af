"""Markers of schemes on their own, for tables and lists."""

from matplotlib.markers import MarkerStyle
from matplotlib.path import Path

from dumbbell.present.plots.parts.style import INK, LINE_MARKERS, Style

_LETTERS = {Path.MOVETO: "M", Path.LINETO: "L", Path.CURVE3: "Q", Path.CURVE4: "C"}


def swatch(style: Style) -> str:
    """Return the marker as the inside of an SVG whose view box is `-0.7 -0.7 1.4 1.4`; black is `INK`."""
    marker = MarkerStyle(style.marker)
    path = marker.get_path().transformed(marker.get_transform())
    parts = []
    for vertices, code in path.iter_segments(simplify=False, curves=True):
        if code == Path.CLOSEPOLY:
            parts.append("Z")
            continue
        numbers = " ".join(f"{x:.3f} {-y:.3f}" for x, y in zip(vertices[::2], vertices[1::2], strict=True))
        parts.append(_LETTERS[code] + numbers)
    shape = f'<path d="{" ".join(parts)}"'
    if style.marker in LINE_MARKERS:
        edge = f'{shape} fill="none" stroke="{INK}" stroke-width="0.32"/>'
        return f'<g>{edge}{shape} fill="none" stroke="{style.color}" stroke-width="0.2"/></g>'
    return f'{shape} fill="{style.color}" stroke="{INK}" stroke-width="0.07"/>'
