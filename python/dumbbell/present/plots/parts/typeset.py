"""Conversion of SVG to PDF and PNG by typst, with the same letters on every machine."""

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

    The files are in memory: a killed process leaves nothing on disk. Ctrl-C works meanwhile.
    """
    fonts = str(Path(matplotlib.get_data_path()) / "fonts" / "ttf")
    kind: Literal["pdf", "png"] = "png" if form == "png" else "pdf"
    files_by_name: Any = dict(files)  # typst's type hints allow only one file

    def lay_out() -> None:
        try:
            document.set_result(
                typst.compile(
                    files_by_name, font_paths=[fonts], ignore_system_fonts=True, format=kind, ppi=_DOTS_PER_INCH
                )
            )
        except BaseException as error:
            document.set_exception(error)

    # typst runs in another thread, since Python handles signals only while this thread runs Python
    document: Future[bytes] = Future()
    Thread(target=lay_out, daemon=True).start()
    return document.result()


def figure_as(form: str, svg: str, margin: str = "3pt") -> bytes:
    """Return a figure, an SVG document, as `pdf` or `png`."""
    return typeset({MAIN: _PAGE.format(margin).encode(), "figure.svg": svg.encode()}, form)
