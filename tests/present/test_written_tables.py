"""Tests of tables, each made once and written for the terminal, HTML, Markdown and typst."""

import pytest

from dumbbell.present.tables import Field, Table, html, markdown, terminal, typst

HEAD = ("scheme", "s")
ROWS = [("reno", 1.5), ("cubic", "-")]


def test_columns_of_numbers_are_told_by_their_fields() -> None:
    columns = ("name", "number", "signed", "text", "empty", "sign")
    rows = [("a1", "1", "+0.5", "9 x", "", "+x"), ("2", "10", "-", "x", "", "1")]
    assert Table.of(columns, rows).align == "lrrlrl"
    assert Table.of(columns, []).align == "llllll", "no field says what it is"


def test_columns_beyond_the_letters_are_numbers() -> None:
    assert Table("", (), HEAD, (), "").align == "rr"
    assert Table("", (), HEAD, ()).align == "lr"


@pytest.mark.parametrize(("rows", "align"), [([("reno",)], "l"), ([("reno", 1, 2)], "l"), ([], "lrr"), ([], "lx")])
def test_every_row_has_a_field_for_each_column(rows: list[tuple[object, ...]], align: str) -> None:
    with pytest.raises(AssertionError, match=r"for 2 columns|lx"):
        Table.of(HEAD, rows, align)


def test_the_same_table_in_four_places() -> None:
    table = Table.of(HEAD, ROWS)
    assert terminal.render(table) == "scheme    s\nreno    1.5\ncubic     -"
    assert markdown.render(table) == "| scheme | s |\n|---|---:|\n| reno | 1.5 |\n| cubic | - |"
    assert html.render(table, "times") == (
        '<div class="scroll" role="region" aria-label="times" tabindex="0"><table><thead><tr>'
        '<th scope="col" class="text">scheme</th><th scope="col">s</th></tr></thead><tbody>'
        '<tr><th scope="row">reno</th><td>1.5</td></tr><tr><th scope="row">cubic</th><td>-</td></tr>'
        "</tbody></table></div>"
    )
    render = typst.render(table)
    assert (render["align"], render["shares"]) == (["l", "r"], [0, 0])
    assert [[field["text"] for field in row] for row in render["rows"]] == [["reno", "1.5"], ["cubic", "-"]]


def test_notes_stand_with_their_field_everywhere() -> None:
    table = Table("", (), HEAD, ((Field("reno"), Field("1.5", "1.2 to\n1.8")),))
    assert terminal.render(table).splitlines()[1] == "reno    1.5 1.2 to 1.8"
    assert markdown.render(table).endswith("| reno | 1.5<br>1.2 to<br>1.8 |")
    assert "1.5<small>1.2 to</small><small>1.8</small>" in html.render(table, "times")
    assert typst.render(table)["rows"][0][1]["note"] == "1.2 to\n1.8"


def test_texts_cannot_become_markup() -> None:
    table = Table("", (), ("<b>", "x"), ((Field("a<b>|", hover='"><i>'), Field("", links=(("<u>", "#a"),))),))
    page = html.render(table, '"<s>')
    assert not [part for part in ("<b>", "<i>", "<u>", "<s>") if part in page]
    assert '<a href="#a">&lt;u&gt;</a>' in page
    assert markdown.render(table).splitlines()[2].startswith(r"| a<b>\| |")
    assert terminal.render(Table.of(["x"], [["\x1b[2J"]])).splitlines()[1] == r"\x1b[2J"


@pytest.mark.parametrize(
    ("text", "written_text"), [("a|b", r"a\|b"), (r"a\|b", r"a\|b"), ("||", r"\|\|"), (r"a\b", r"a\b")]
)
def test_a_bar_does_not_end_its_field(text: str, written_text: str) -> None:
    assert markdown.line([text, 1]) == f"| {written_text} | 1 |"


def test_lines_that_follow_one_by_one_are_those_of_the_whole_table() -> None:
    render = markdown.render(Table.of(HEAD, ROWS, "ll"))
    assert render == "\n".join([markdown.render(Table.of(HEAD, [])), *map(markdown.line, ROWS)])


def test_long_texts_share_what_is_left_of_the_line() -> None:
    table = Table.of(("name", "long", "short"), [("x" * 90, "y" * 400, "z" * 100)], "lww")
    assert typst.render(table)["shares"] == pytest.approx([0, 14.2, 7.25], abs=0.05)
    assert typst.width(table) == 59.0
    assert '<td class="text wrap">' in html.render(table, "x")


def test_a_list_is_as_wide_as_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    table = Table.of(("name", "source", "n"), [("a" * 20, "s" * 50, 1)])
    assert terminal.fit(table, optional=["source"]).splitlines()[0] == "name                  n"
    assert max(map(len, terminal.fit(table).splitlines())) > 60, "one word is not broken"
    words = Table.of(("name", "text"), [("a" * 20, "word " * 30)])
    assert max(map(len, terminal.fit(words).splitlines())) <= 60
