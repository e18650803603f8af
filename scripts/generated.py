"""Writing of generated files, or their comparison with the expected content."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path


def write_or_compare(files: Mapping[Path, str], script: str, source: str) -> int:
    """Write the files; with the argument `--check`, print the names of those that differ from `source`.

    Returns:
        The exit status: 1 if a file differs.
    """
    if "--check" not in sys.argv[1:]:
        for file, text in files.items():
            file.write_text(text, encoding="utf-8")
        return 0
    differ = [file for file, text in files.items() if not file.is_file() or file.read_text(encoding="utf-8") != text]
    for file in differ:
        print(f"{file}: differs from {source}: run `python -m {script}`", file=sys.stderr)
    return 1 if differ else 0
