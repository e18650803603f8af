"""Plain text for terminals: aligned columns."""

from collections.abc import Sequence

from dumbbell.digits import decimal
from dumbbell.errors import printable


def columns(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table; columns whose fields all start like numbers are aligned right."""
    table = [[printable(field) for field in row] for row in (header, *rows)]
    widths = [max(len(row[index]) for row in table) for index in range(len(header))]
    right = [bool(rows) and all(_numeric(row[index]) for row in rows) for index in range(len(header))]
    lines = []
    for row in table:
        fields = [
            field.rjust(width) if is_right else field.ljust(width)
            for field, width, is_right in zip(row, widths, right, strict=True)
        ]
        lines.append("  ".join(fields).rstrip())
    return "\n".join(lines)


def _numeric(field: str) -> bool:
    return field == "" or field == "-" or field[0].isdigit() or (field[0] in "+-" and field[1:2].isdigit())


def number(value: float | None, digits: int = 2) -> str:
    """A number, `-` for none."""
    return "-" if value is None else decimal(value, digits)
