"""Tables as LaTeX, with the rules of the package booktabs."""

import re

from dumbbell.present.tables.table import Field, Table

_SPECIAL = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
} | {sign: f"\\{sign}" for sign in "&%$#_{}"}
_LETTERS = {"l": "l", "w": r"p{0.25\linewidth}", "r": "r"}


_NO_LABEL = re.compile(r"[^a-z0-9]+")


def render(table: Table, caption: str, name: str) -> str:
    """Return a float with a caption and the label `tab:NAME`; the text ends in a line feed.

    A table that is too wide for a column spans both columns (`table*`); one that is too wide for these is scaled down.
    Characters that labels do not allow become hyphens.
    """
    width = sum(
        max(len(_plain(field)) for field in column) + _AIR for column in zip(table.columns, *table.rows, strict=True)
    )
    wide, float_ = width > _MOST_LETTERS, "table*" if width > _LETTERS_OF_COLUMN else "table"
    lines = [
        f"% needs \\usepackage{{booktabs{',graphicx' if wide else ''}}}",
        f"\\begin{{{float_}}}",
        "\\centering",
        f"\\caption{{{_escape(' '.join(caption.split()))}}}",
        f"\\label{{tab:{_NO_LABEL.sub('-', name.lower()).strip('-')}}}",
        *(["\\resizebox{\\linewidth}{!}{%"] if wide else []),
        f"\\begin{{tabular}}{{{''.join(_LETTERS[letter] for letter in table.align)}}}",
        "\\toprule",
        f"{' & '.join(map(_escape, table.columns))} \\\\",
        "\\midrule",
        *(f"{' & '.join(map(_field, row))} \\\\" for row in table.rows),
        "\\bottomrule",
        f"\\end{{tabular}}{'}' if wide else ''}",
        f"\\end{{{float_}}}",
    ]
    return "\n".join(lines) + "\n"


_LETTERS_OF_COLUMN, _MOST_LETTERS = 52, 105
"""Letters of ten points that fit into one column of a paper with two, and into both together."""
_AIR = 2
"""Letters that the space between two columns takes."""


def _plain(field: Field | str) -> str:
    return field if isinstance(field, str) else " ".join((field.text, *field.note.splitlines()))


def _field(field: Field) -> str:
    text = " ".join((field.text, *field.note.splitlines()))
    escaped_text = "--" if text == "-" else _escape(text)
    if text.startswith("  "):  # the row belongs to the row above
        escaped_text = f"\\quad {escaped_text.strip()}"
    return f"\\textbf{{{escaped_text}}}" if field.best else escaped_text


def _escape(text: str) -> str:
    return "".join(_SPECIAL.get(sign, sign) for sign in text)
