"""Canvases of matplotlib that measure texts and write SVG."""

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

from dumbbell.present.plots.parts.matplotlib_import import defaults
from dumbbell.present.plots.parts.style import rc

_CACHED_TEXTS = 4096  # number of texts whose size is cached


@contextmanager
def look(name: str) -> Iterator[None]:
    """Apply the settings of the figure called `name` while the figure is drawn."""
    settings: Any = defaults() | rc(name)  # matplotlib types its settings by a list of all their names
    with rc_context(settings):
        yield


def renderer(figure: Figure) -> RendererAgg:
    """Return the renderer that measures texts, in points."""
    return _measuring_renderer(figure.dpi)


@lru_cache
def _measuring_renderer(dpi: float) -> RendererAgg:
    """Return one renderer for all figures: matplotlib keeps measured sizes as long as their renderer."""
    return RendererAgg(1, 1, dpi)  # type: ignore[no-untyped-call]


def settle(figure: Figure) -> None:
    """Fix the limits of the axes, on which the places of points depend."""
    canvas: Any = FigureCanvasAgg(figure)
    canvas.draw()


def render(figure: Figure) -> str:
    """Return the figure as matplotlib writes it, without dates."""
    buffer = io.StringIO()
    width, height = figure.get_size_inches()
    no_metadata = {"Date": None, "Creator": None, "Format": None, "Type": None}
    svg: Any = _Writer(72 * width, 72 * height, buffer, metadata=no_metadata)  # type: ignore[no-untyped-call]
    writer: Any = MixedModeRenderer(figure, width, height, figure.dpi, svg)  # type: ignore[no-untyped-call]
    figure.draw(writer)
    writer.finalize()
    return buffer.getvalue()


class _Writer(RendererSVG):
    """Writer of SVG that measures each text once, since many figures share numbers and titles of axes."""

    def get_text_width_height_descent(
        self, s: str, prop: FontProperties, ismath: bool | Literal["TeX"]
    ) -> tuple[float, float, float]:
        """Return width, height and descent of a text in a font."""
        return _measure_text(s, prop.copy(), ismath)


@lru_cache(_CACHED_TEXTS)
def _measure_text(text: str, font: FontProperties, ismath: bool | Literal["TeX"]) -> tuple[float, float, float]:
    return text_to_path.get_text_width_height_descent(text, font, ismath)
