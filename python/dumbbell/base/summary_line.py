"""The first line of a Python file: its description."""

from pathlib import Path


def summary_line(file: Path) -> str:
    """Return the first line of a file's docstring, for a list, without executing the file."""
    with file.open(encoding="utf-8") as source:
        line = source.readline().strip().strip('"').removesuffix(".")
    return line[:1].lower() + line[1:]
