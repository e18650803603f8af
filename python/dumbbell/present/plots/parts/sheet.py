"""Sheet that figures are drawn for: width and height on paper, the size of letters, and the theme.

Layouts are in points for letters of `LETTERS`. With other letters, a layout is as many letters wide as before, and the
drawing is scaled as a whole.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

LETTERS = 9.5
"""Size of letters in layouts, points."""
THEMES = ("light", "dark", "print")


@dataclass(frozen=True)
class Sheet:
    """Width, height and letters on paper in points; None leaves them to the layout of each figure."""

    width_pt: float | None = None
    height_pt: float | None = None
    font_pt: float | None = None
    theme: str = "light"

    @property
    def scale(self) -> float:
        """Points on paper for each point of a layout."""
        return (self.font_pt or LETTERS) / LETTERS

    @property
    def is_fixed(self) -> bool:
        """True if a size on paper is given: all letters have one size then."""
        return self.font_pt is not None

    @property
    def is_plain(self) -> bool:
        """True if the drawing has no colours."""
        return self.theme == "print"

    def width(self, default: float) -> float:
        """Return the width of a layout that is `default` points wide otherwise."""
        return (self.width_pt or default) / self.scale

    def height(self) -> float | None:
        """Return the height of a layout, or None if not given."""
        return None if self.height_pt is None else self.height_pt / self.scale

    def letters(self, size: float) -> float:
        """Return the size in a layout of letters that are smaller or larger than usual."""
        return LETTERS if self.is_fixed else size


SCREEN = Sheet()
"""The sheet of pages: each figure has the size of its layout."""

_CURRENT: ContextVar[Sheet] = ContextVar("sheet", default=SCREEN)


def sheet() -> Sheet:
    """Return the current sheet."""
    return _CURRENT.get()


@contextmanager
def use_sheet(new_sheet: Sheet) -> Iterator[None]:
    """Draw figures for this sheet within the context."""
    before = _CURRENT.set(new_sheet)
    try:
        yield
    finally:
        _CURRENT.reset(before)
