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
    """Return a float with a caption and the label `tab:NAME`, which ends in a line feed.

    Letters of the name that labels do not have become hyphens.
    """
    lines = [
        "% needs \\usepackage{booktabs}",
        "\\begin{table}",
        "\\centering",
        f"\\caption{{{_escaped(' '.join(caption.split()))}}}",
        f"\\label{{tab:{_NO_LABEL.sub('-', name.lower()).strip('-')}}}",
        f"\\begin{{tabular}}{{{''.join(_LETTERS[letter] for letter in table.align)}}}",
        "\\toprule",
        f"{' & '.join(map(_escaped, table.columns))} \\\\",
        "\\midrule",
        *(f"{' & '.join(map(_field, row))} \\\\" for row in table.rows),
        "\\bottomrule",
        "\\end{tabular}",
        "\\end{table}",
    ]
    return "\n".join(lines) + "\n"


def _field(field: Field) -> str:
    text = " ".join((field.text, *field.note.splitlines()))
    written = "--" if text == "-" else _escaped(text)
    if text.startswith("  "):  # belongs to the row above
        written = f"\\quad {written.strip()}"
    return f"\\textbf{{{written}}}" if field.best else written


def _escaped(text: str) -> str:
    return "".join(_SPECIAL.get(sign, sign) for sign in text)
