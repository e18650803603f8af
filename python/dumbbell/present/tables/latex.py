"""Tables as LaTeX, with the rules of the package booktabs."""

from dumbbell.present.tables.table import Field, Table

_SPECIAL = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
} | {sign: f"\\{sign}" for sign in "&%$#_{}"}
_LETTERS = {"l": "l", "w": "l", "r": "r"}


def render(table: Table, caption: str) -> str:
    """Return a `tabular` that ends in a line feed; the caption is a comment above it, for the paper says its own."""
    lines = [
        f"% {caption}".replace("\n", " "),
        "% needs \\usepackage{booktabs}",
        f"\\begin{{tabular}}{{{''.join(_LETTERS[letter] for letter in table.align)}}}",
        "\\toprule",
        f"{' & '.join(map(_escaped, table.columns))} \\\\",
        "\\midrule",
        *(f"{' & '.join(map(_field, row))} \\\\" for row in table.rows),
        "\\bottomrule",
        "\\end{tabular}",
    ]
    return "\n".join(lines) + "\n"


def _field(field: Field) -> str:
    text = " ".join((field.text, *field.note.splitlines()))
    written = "--" if text == "-" else _escaped(text)
    return f"\\textbf{{{written}}}" if field.best else written


def _escaped(text: str) -> str:
    return "".join(_SPECIAL.get(sign, sign) for sign in text)
