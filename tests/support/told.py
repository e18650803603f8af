"""Output of a command, in the form that snapshots keep."""

import textwrap
from pathlib import Path

WIDTH = 100


def transcript(text: object, folder: Path) -> str:
    """Return the text without the name of the test's `folder`; long lines are folded and their continuation indented.

    An error with a long list of expected values is one line, which nobody could compare.
    """
    lines = str(text).replace(f"{folder}/", "").rstrip("\n").split("\n")
    return "\n".join(_fold(line) for line in lines)


def _fold(line: str) -> str:
    return textwrap.fill(line, WIDTH, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)
