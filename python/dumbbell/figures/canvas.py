"""Matplotlib's canvases: what measures texts, and what writes SVG."""

import io
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from matplotlib import rc_context
from matplotlib.backends.backend_agg import FigureCanvasAgg, RendererAgg
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

from dumbbell.figures.style import rc


@contextmanager
def look(name: str) -> Iterator[None]:
    """The settings of the figure called `name`, while it is drawn."""
    settings: Any = rc(name)  # matplotlib types its settings by a list of all their names
    with rc_context(settings):
        yield


def renderer(figure: Figure) -> RendererAgg:
    """What measures texts, in points."""
    canvas: Any = FigureCanvasAgg(figure)
    found: RendererAgg = canvas.get_renderer()
    return found


def settle(figure: Figure) -> None:
    """Fixes the limits of the axes, on which the places of points depend."""
    canvas: Any = FigureCanvasAgg(figure)
    canvas.draw()


def render(figure: Figure) -> str:
    """The figure as matplotlib writes it, without dates."""
    FigureCanvasSVG(figure)
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
    return buffer.getvalue()
