"""Tables as LaTeX, with the rules of the package booktabs."""

from dumbbell.base.errors import UserError
from dumbbell.results.series.table import Table

MOST_ROWS = 100
"""More are no table for a page."""

_SPECIAL = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
} | {sign: f"\\{sign}" for sign in "&%$#_{}"}


def latex_table(table: Table, caption: str, file: str) -> str:
    """Return the table; columns with one text in all rows are left out if there are several rows.

    Raises:
        UserError: it has too many rows; `file` is for the message.
    """
    rows = list(table.rows())
    if len(rows) > MOST_ROWS:
        raise UserError(f"{file}: the figure has {len(rows)} numbers: allowed are at most {MOST_ROWS} rows in LaTeX")
    columns = [name for name in table if not _is_constant([row[name] for row in rows])]
    numeric = [all(row[name] is None or not isinstance(row[name], str) for row in rows) for name in columns]
    lines = [
        f"% {caption}".replace("\n", " "),
        "% needs \\usepackage{booktabs}",
        f"\\begin{{tabular}}{{{''.join('r' if number else 'l' for number in numeric)}}}",
        "\\toprule",
        f"{' & '.join(map(_escaped, columns))} \\\\",
        "\\midrule",
        *(f"{' & '.join(_field(row[name]) for name in columns)} \\\\" for row in rows),
        "\\bottomrule",
        "\\end{tabular}",
    ]
    return "\n".join(lines) + "\n"


def _is_constant(values: list[object]) -> bool:
    return len(values) > 1 and isinstance(values[0], str) and len(set(values)) == 1


def _field(value: object) -> str:
    if value is None:
        return "--"
    if isinstance(value, float):
        return f"{value:.4g}" if abs(value) < 1e5 else f"{value:.0f}"
    return _escaped(str(value))


def _escaped(text: str) -> str:
    return "".join(_SPECIAL.get(sign, sign) for sign in text)
