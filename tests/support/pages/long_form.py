"""Long form of a report, as its layout receives it: texts, rows of tables, drawings."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from html import unescape
from pathlib import Path
from typing import Any

from dumbbell.base.conventions import PANTHEON
from dumbbell.present.model.content import load
from dumbbell.present.model.drawing import draw
from dumbbell.present.report.sheets import sources


@dataclass(frozen=True)
class LongForm:
    """Content of the PDF. A cell of `rows` is its text, `|`, and its note. Drawings are SVG, by name."""

    data: dict[str, Any]
    text: str
    rows: list[list[str]]
    headings: list[str]
    drawings: dict[str, str]

    @classmethod
    def of(cls, directory: Path, moment: datetime | None = None) -> "LongForm":
        """Return the long form of a results directory."""
        model = replace(load(directory, moment), convention=PANTHEON)
        files = sources(model, draw(model, 1))
        data = json.loads(files["data.json"])
        drawings = {name: content.decode() for name, content in files.items() if name.endswith(".svg")}
        headings = [table["heading"] for table in _tables(data) if "heading" in table]
        rows = [
            [f"{field['text']}|{field['note']}" for field in row] for table in _tables(data) for row in table["rows"]
        ]
        return cls(data, "\n".join(_texts(data, drawings)), rows, headings, drawings)

    @property
    def drawn(self) -> str:
        """Return the text of all drawings."""
        return "\n".join(self.drawings.values())


def _tables(value: object) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        if "rows" in value:
            yield value
        for item in value.values():
            yield from _tables(item)
    elif isinstance(value, list):
        for item in value:
            yield from _tables(item)


def _texts(value: object, drawings: dict[str, str]) -> Iterator[str]:
    """Yield texts in the order of the layout, including those of drawings."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item, drawings)
    elif isinstance(value, dict):
        keys = [key for key in value if key != "figures_heading"]
        if "figures_heading" in value:
            keys.insert(keys.index("problem"), "figures_heading")
        for key in keys:
            yield from _texts(
                f"Figure is missing: {value[key]}" if key == "problem" and value[key] else value[key], drawings
            )
            if key == "file":
                yield from map(unescape, re.findall(r"<text[^>]*>([^<]*)<", drawings.get(value[key], "")))
