"""Sizes of figures on paper, as in `3.5in` or `1col`."""

import math
import re

from dumbbell.base.errors import UserError, listed
from dumbbell.present.plots.parts.sheet import THEMES, Sheet

COLUMNS = {"1col": 3.5, "2col": 7.16}
"""Width of one column and of both columns in two-column papers, inches."""

_INCHES = {"in": 1.0, "cm": 1 / 2.54, "mm": 1 / 25.4}
_FONT_PT = 8.0
_FONTS = (4.0, 24.0)
_SIDES = (1.0, 60.0)  # inches
_SIZE = re.compile(r"(\d+(?:\.\d+)?)(in|cm|mm)?(?:x(\d+(?:\.\d+)?)(in|cm|mm)?)?", re.ASCII)
SIZES = "1col, 2col, or a width or WIDTHxHEIGHT with mm, cm or in: 88mm, 3.5x2.5in"


def sheet_of(size: str | None, font_pt: float | None, theme: str) -> Sheet:
    """Return the sheet for a size in words; without `size`, figures keep the size of their layout.

    Raises:
        UserError: An argument is not allowed.
    """
    if theme not in THEMES:
        raise UserError(f"`theme` = {theme}: allowed are {listed(THEMES)}")
    if font_pt is not None and not (math.isfinite(font_pt) and _FONTS[0] <= font_pt <= _FONTS[1]):
        raise UserError(f"`font` = {font_pt:g}: allowed are {_FONTS[0]:g} to {_FONTS[1]:g} points")
    if size is None:
        return Sheet(font_pt=font_pt, theme=theme)
    width, height = _sides(size)
    return Sheet(width, height, font_pt or _FONT_PT, theme)


def _sides(size: str) -> tuple[float, float | None]:
    """Return width and height in points."""
    if size in COLUMNS:
        return 72 * COLUMNS[size], None
    match = _SIZE.fullmatch(size.replace(" ", ""))
    unit = match and (match[4] or match[2])
    if not match or not unit:
        raise UserError(f"`size` = {size}: allowed are {SIZES}")
    parts = ((match[1], match[2] or unit), (match[3], unit))
    sides = [float(number) * _INCHES[inches_unit] for number, inches_unit in parts if number]
    if not all(_SIDES[0] <= side <= _SIDES[1] for side in sides):
        raise UserError(f"`size` = {size}: allowed are sides of {_SIDES[0]:g} to {_SIDES[1]:g} in")
    return 72 * sides[0], 72 * sides[1] if len(sides) > 1 else None
