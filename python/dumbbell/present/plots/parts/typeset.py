"""SVG as PDF and PNG, by typst: the same letters wherever it runs."""

from collections.abc import Mapping
from concurrent.futures import Future
from pathlib import Path
from threading import Thread
from typing import Any, Literal

import matplotlib
import typst

MAIN = "main.typ"
"""Name of the document among its files."""

_DOTS_PER_INCH = 200.0
_PAGE = '#set page(width: auto, height: auto, margin: {})\n#image("figure.svg")\n'


def typeset(files: Mapping[str, bytes], form: str = "pdf") -> bytes:
    """Return the document `MAIN` among `files`, which may name the others, as `pdf` or, its only page, as `png`.

    The files are in memory: a process that is killed meanwhile leaves nothing on disk. Ctrl-C is heard.
    """
    fonts = str(Path(matplotlib.get_data_path()) / "fonts" / "ttf")
    kind: Literal["pdf", "png"] = "png" if form == "png" else "pdf"
    given: Any = dict(files)  # its type hints do not know of several files

    def lay_out() -> None:
        try:
            made.set_result(
                typst.compile(given, font_paths=[fonts], ignore_system_fonts=True, format=kind, ppi=_DOTS_PER_INCH)
            )
        except BaseException as error:
            made.set_exception(error)

    # Python hears a signal when it is Python's turn again: in this thread it is all the time
    made: Future[bytes] = Future()
    Thread(target=lay_out, daemon=True).start()
    return made.result()


def figure_as(form: str, svg: str, margin: str = "3pt") -> bytes:
    """Return a figure, an SVG document, as `pdf` or `png`."""
    return typeset({MAIN: _PAGE.format(margin).encode(), "figure.svg": svg.encode()}, form)
