"""The parts of pages that benchmarks write: `<!-- NAME: ... -->`, the part, `<!-- /NAME -->`."""

from __future__ import annotations

import re
import sys
from pathlib import Path


def replace_block(page: Path, name: str, text: str) -> None:
    """Puts the text between the page's markers of this name; ends the script if they are not there."""
    content = page.read_text(encoding="utf-8")
    opening = re.search(rf"<!-- {re.escape(name)}: .* -->", content)
    closing = content.find(f"<!-- /{name} -->", opening.end() if opening else 0)
    if not opening or closing < 0:
        sys.exit(f"{page}: no `<!-- {name}: ... -->` followed by `<!-- /{name} -->`")
    page.write_text(f"{content[: opening.end()]}\n\n{text}\n\n{content[closing:]}", encoding="utf-8")
