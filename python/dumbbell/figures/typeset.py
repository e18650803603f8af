"""SVG as PDF and PNG, by typst: the same letters wherever it runs."""

import tempfile
from pathlib import Path
from typing import Literal

import matplotlib
import typst

_DOTS_PER_INCH = 200.0
_PAGE = '#set page(width: auto, height: auto, margin: 3pt)\n#image("figure.svg")\n'


def typeset(folder: Path, form: str = "pdf") -> bytes:
    """The document `main.typ` of the folder, and what it names there, as `pdf` or, its only page, as `png`."""
    fonts = str(Path(matplotlib.get_data_path()) / "fonts" / "ttf")
    main = str(folder / "main.typ")
    kind: Literal["pdf", "png"] = "png" if form == "png" else "pdf"
    return typst.compile(
        main, root=str(folder), font_paths=[fonts], ignore_system_fonts=True, format=kind, ppi=_DOTS_PER_INCH
    )


def figure_as(form: str, svg: str) -> bytes:
    """A figure, an SVG document, as `pdf` or `png`."""
    with tempfile.TemporaryDirectory(prefix="dumbbell-figure-") as name:
        folder = Path(name)
        (folder / "figure.svg").write_text(svg, encoding="utf-8")
        (folder / "main.typ").write_text(_PAGE, encoding="utf-8")
        return typeset(folder, form)
