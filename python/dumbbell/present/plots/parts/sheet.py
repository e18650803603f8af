"""The sheet that figures are drawn for: width and height on paper, the size of letters, and the theme.

Layouts are in points for letters of `LETTERS`. A drawing for other letters is laid out for a width of as many letters,
and enlarged or reduced as a whole.
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
        """Whether sizes on paper were asked for: all letters have one size then."""
        return self.font_pt is not None

    @property
    def is_plain(self) -> bool:
        """Whether the drawing has no colours."""
        return self.theme == "print"

    def width(self, default: float) -> float:
        """Return the width of a layout that is `default` points wide otherwise."""
        return (self.width_pt or default) / self.scale

    def height(self) -> float | None:
        """Return the height of a layout, if it was asked for."""
        return None if self.height_pt is None else self.height_pt / self.scale

    def letters(self, size: float) -> float:
        """Return the size of letters in a layout for text that is smaller or larger than others."""
        return LETTERS if self.is_fixed else size


SCREEN = Sheet()
"""The sheet of pages: each figure has the size of its layout."""

_CURRENT: ContextVar[Sheet] = ContextVar("sheet", default=SCREEN)


def sheet() -> Sheet:
    """Return the sheet that is drawn for."""
    return _CURRENT.get()


@contextmanager
def drawn_for(wanted: Sheet) -> Iterator[None]:
    """Figures are drawn for this sheet meanwhile."""
    before = _CURRENT.set(wanted)
    try:
        yield
    finally:
        _CURRENT.reset(before)
