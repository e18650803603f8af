"""Metadata of the machine that made results, one `key: value` a line."""

from collections.abc import Mapping

from dumbbell.base.errors import shortened

_GIT = ("git_summary", "git_information")


def tested(environment: Mapping[str, object]) -> list[str]:
    """Return the metadata of imported files on the test and its machines, except git."""
    import_record = environment.get("imported")
    if not isinstance(import_record, Mapping) or not isinstance(import_record.get("metadata"), Mapping):
        return []
    metadata = {key: value for key, value in sorted(import_record["metadata"].items()) if key not in _GIT}
    return [*lines_of(metadata), *(f"note: {note}" for note in import_record.get("notes", ()))]


_MOST_LINES = 60


def first_lines(text: str, most_lines: int = _MOST_LINES, file: str = "environment.json") -> str:
    """Return a text as pages show it: its first lines, shortened, and the number of further lines in its file.

    A git summary with a line for every changed file has had tens of thousands.
    """
    lines = text.splitlines()
    more = len(lines) - most_lines
    rest = [f"... and {more} lines more, in {file}"] if more > 0 else []
    return "\n".join([*map(shortened, lines[:most_lines]), *rest])


def lines_of(table: Mapping[str, object], prefix: str = "") -> list[str]:
    """Return the lines of a table with tables in it, without null values."""
    lines: list[str] = []
    for key, value in table.items():
        if isinstance(value, Mapping):
            lines += lines_of(value, f"{prefix}{key}.")
        elif isinstance(value, list):
            lines.append(f"{prefix}{key}: {' '.join(str(item) for item in value)}")
        elif value is not None:
            lines.append(f"{prefix}{key}: {' '.join(str(value).split())}")
    return lines
