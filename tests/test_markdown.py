"""Tables in Markdown: how columns are aligned, and what fields may have in them."""

import pytest

from dumbbell.base.markdown import row, table

HEAD = ("scheme", "s")


@pytest.mark.parametrize(
    ("align", "spaced", "rules"),
    [
        ("", False, "|---|---|"),
        ("lr", False, "|---|---:|"),
        ("rl", True, "| ---: | --- |"),
    ],
)
def test_a_column_is_aligned_by_its_letter(align: str, spaced: bool, rules: str) -> None:
    head = f"| scheme | s |\n{rules}"
    assert table(HEAD, [], align, spaced=spaced) == head
    assert table(HEAD, [("`reno`", 1.5), ("", 20)], align, spaced=spaced) == f"{head}\n| `reno` | 1.5 |\n|  | 20 |"


def test_lines_that_follow_one_by_one_are_those_of_the_whole_table() -> None:
    rows = [("reno", 1), ("cubic", 2)]
    assert "\n".join([table(HEAD, []), *map(row, rows)]) == table(HEAD, iter(rows))


@pytest.mark.parametrize(("field", "text"), [("a|b", r"a\|b"), (r"a\|b", r"a\|b"), ("||", r"\|\|"), (r"a\b", r"a\b")])
def test_a_bar_does_not_end_its_field(field: str, text: str) -> None:
    assert table([field], [[field]]) == f"| {text} |\n|---|\n| {text} |"


@pytest.mark.parametrize(("rows", "align"), [([("reno",)], ""), ([("reno", 1, 2)], ""), ([], "l"), ([], "lrr")])
def test_every_line_has_a_field_for_each_column(rows: list[tuple[object, ...]], align: str) -> None:
    with pytest.raises(AssertionError, match="for 2 columns"):
        table(HEAD, rows, align)
