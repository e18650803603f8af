"""Matplotlib's canvases: what measures texts, and what writes SVG."""

import io
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any, Literal

from matplotlib import rc_context
from matplotlib.backends.backend_agg import FigureCanvasAgg, RendererAgg
from matplotlib.backends.backend_mixed import MixedModeRenderer
from matplotlib.backends.backend_svg import RendererSVG
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import text_to_path

from dumbbell.present.plots.parts.style import rc
from dumbbell.present.plots.parts.untouched import defaults

_KEPT = 4096  # measured texts


@contextmanager
def look(name: str) -> Iterator[None]:
    """The settings of the figure called `name`, while it is drawn."""
    settings: Any = defaults() | rc(name)  # matplotlib types its settings by a list of all their names
    with rc_context(settings):
        yield


def renderer(figure: Figure) -> RendererAgg:
    """What measures texts, in points."""
    return _measuring(figure.dpi)


@lru_cache
def _measuring(dpi: float) -> RendererAgg:
    """One for all figures: matplotlib keeps what a renderer has measured as long as the renderer."""
    return RendererAgg(1, 1, dpi)  # type: ignore[no-untyped-call]


def settle(figure: Figure) -> None:
    """Fixes the limits of the axes, on which the places of points depend."""
    canvas: Any = FigureCanvasAgg(figure)
    canvas.draw()


def render(figure: Figure) -> str:
    """The figure as matplotlib writes it, without dates."""
    buffer = io.StringIO()
    width, height = figure.get_size_inches()
    no_metadata = {"Date": None, "Creator": None, "Format": None, "Type": None}
    svg: Any = _Writer(72 * width, 72 * height, buffer, metadata=no_metadata)  # type: ignore[no-untyped-call]
    writer: Any = MixedModeRenderer(figure, width, height, figure.dpi, svg)  # type: ignore[no-untyped-call]
    figure.draw(writer)
    writer.finalize()
    return buffer.getvalue()


class _Writer(RendererSVG):
    """Writes SVG. Numbers at axes and the names of axes are in many figures: each is measured once."""

    def get_text_width_height_descent(
        self, s: str, prop: FontProperties, ismath: bool | Literal["TeX"]
    ) -> tuple[float, float, float]:
        """Of a text in a font."""
        return _measured(s, prop.copy(), ismath)


@lru_cache(_KEPT)
def _measured(text: str, font: FontProperties, ismath: bool | Literal["TeX"]) -> tuple[float, float, float]:
    return text_to_path.get_text_width_height_descent(text, font, ismath)
