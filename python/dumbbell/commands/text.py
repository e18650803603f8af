"""Plain text for terminals: aligned columns."""

from collections.abc import Sequence


def columns(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table; columns whose cells all start like numbers are aligned right."""
    table = [list(header), *[list(row) for row in rows]]
    widths = [max(len(row[index]) for row in table) for index in range(len(header))]
    right = [bool(rows) and all(_numeric(row[index]) for row in rows) for index in range(len(header))]
    lines = []
    for row in table:
        cells = [
            cell.rjust(width) if is_right else cell.ljust(width)
            for cell, width, is_right in zip(row, widths, right, strict=True)
        ]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def _numeric(cell: str) -> bool:
    return cell == "" or cell == "-" or cell[0].isdigit() or (cell[0] in "+-" and cell[1:2].isdigit())


def number(value: float | None, digits: int = 2) -> str:
    """A number with fixed digits, `-` for none."""
    return "-" if value is None else f"{value:.{digits}f}"
