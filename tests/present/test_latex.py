"""LaTeX: no sign of a name or caption is taken for a command."""

import pytest

from dumbbell.present.tables.latex import render
from dumbbell.present.tables.table import Field, Table

WRITTEN = {
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "\\": r"\textbackslash{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
}
"""Signs with a meaning in LaTeX, and the commands that print them."""


@pytest.mark.parametrize("sign", WRITTEN)
def test_every_sign_with_a_meaning_is_written_out_wherever_it_stands(sign: str) -> None:
    rows = ((Field(f"a{sign}b", note=f"n{sign}m"), Field("1.5", best=True)),)
    table = Table(caption="unused", groups=(), columns=(f"c{sign}d", "Mbit/s"), rows=rows)
    lines = render(table, f"of {sign} all", f"x{sign}y").splitlines()
    written_sign = WRITTEN[sign]
    assert f"\\caption{{of {written_sign} all}}" in lines
    assert "\\label{tab:x-y}" in lines
    assert f"c{written_sign}d & Mbit/s \\\\" in lines
    assert f"a{written_sign}b n{written_sign}m & \\textbf{{1.5}} \\\\" in lines
