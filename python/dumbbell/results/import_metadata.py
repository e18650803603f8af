"""What is known of the machine that made results, one `key: value` a line."""

from collections.abc import Mapping

from dumbbell.base.errors import shortened

_GIT = ("git_summary", "git_information")


def tested(environment: Mapping[str, object]) -> list[str]:
    """What imported files say about the test and its machines, except git."""
    imported = environment.get("imported")
    if not isinstance(imported, Mapping) or not isinstance(imported.get("metadata"), Mapping):
        return []
    said = {key: value for key, value in sorted(imported["metadata"].items()) if key not in _GIT}
    return [*lines_of(said), *(f"note: {note}" for note in imported.get("notes", ()))]


_MOST_LINES = 60


def first_lines(text: str, most_lines: int = _MOST_LINES, file: str = "environment.json") -> str:
    """Return a text as pages show it: its first lines, none without end, and how many more there are in its file.

    A summary of git with a line for every changed file has had tens of thousands.
    """
    lines = text.splitlines()
    more = len(lines) - most_lines
    rest = [f"... and {more} lines more, in {file}"] if more > 0 else []
    return "\n".join([*map(shortened, lines[:most_lines]), *rest])


def lines_of(table: Mapping[str, object], prefix: str = "") -> list[str]:
    """A table with tables in it, without what is null."""
    lines: list[str] = []
    for key, value in table.items():
        if isinstance(value, Mapping):
            lines += lines_of(value, f"{prefix}{key}.")
        elif isinstance(value, list):
            lines.append(f"{prefix}{key}: {' '.join(str(item) for item in value)}")
        elif value is not None:
            lines.append(f"{prefix}{key}: {' '.join(str(value).split())}")
    return lines
