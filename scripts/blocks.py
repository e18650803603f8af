"""The parts of pages that benchmarks write: `<!-- NAME: ... -->`, the part, `<!-- /NAME -->`."""

from __future__ import annotations

import re
import sys
from pathlib import Path


def replace_block(page: Path, name: str, text: str) -> None:
    """Puts the text between the page's markers of this name; ends the script if they are not there."""
    try:
        page.write_text(with_block(page.read_text(encoding="utf-8"), name, text), encoding="utf-8")
    except ValueError as error:
        sys.exit(f"{page}: {error}")


def with_block(content: str, name: str, text: str) -> str:
    """Return a page with the text between its markers of this name.

    Raises:
        ValueError: they are not there.
    """
    opening = re.search(rf"<!-- {re.escape(name)}: .* -->", content)
    closing = content.find(f"<!-- /{name} -->", opening.end() if opening else 0)
    if not opening or closing < 0:
        raise ValueError(f"no `<!-- {name}: ... -->` followed by `<!-- /{name} -->`")
    return f"{content[: opening.end()]}\n\n{text}\n\n{content[closing:]}"
