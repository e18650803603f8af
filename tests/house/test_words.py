"""Tests of readable language: no room of the house gets more hard sentences and names."""

import ast
import json
from pathlib import Path

import pytest

from scripts import words


def test_no_room_has_more_hard_sentences_or_names_than_its_ceiling() -> None:
    assert words.excesses(words.faults()) == []


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("What a path does", ["opener"]),
        ("Return the packets of a flow.", []),
        ("Of one rule.", ["of"]),
        ("As of the others that it is with, as they are.", ["of", "no noun"]),
        ("Maximum part of the step that is no clock, as a fraction of the step.", []),
    ],
)
def test_habits_of_a_comment_are_recognized(text: str, kinds: list[str]) -> None:
    assert list(words.text_kinds(text)) == kinds


@pytest.mark.parametrize(
    ("name", "is_bare"),
    [("found", True), ("_told", True), ("Seen", True), ("speed", False), ("found_path", False), ("FAILED", False)],
)
def test_a_name_is_bare_where_all_of_it_is_a_participle_or_a_pronoun(name: str, is_bare: bool) -> None:
    assert words.is_bare(name) == is_bare


def test_sentences_of_a_page_are_its_prose() -> None:
    page = "# Head\n\nA sentence\nin two lines. Another.\n\n| a | table |\n\n```\ncode. Not prose.\n```\n- An item.\n"
    assert [text for _, text in words.sentences(page)] == ["A sentence in two lines.", "Another.", "- An item."]


def test_comments_and_docstrings_are_found_with_their_lines() -> None:
    assert list(words.line_comments("code()\n/// Two lines\n/// of one.\nfn f() {}\n", ("//",))) == [
        (2, "Two lines\nof one.")
    ]
    source = '"""Head."""\n\nclass A:\n    """Type."""\n\n    b: int = 0\n    """Field."""\n    # Why.\n'
    assert [text for _, text in words.python_texts(ast.parse(source), source)] == ["Head.", "Type.", "Field.", "Why."]


def test_a_ceiling_is_not_raised(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    ceilings = tmp_path / "ceilings.json"
    ceilings.write_text(json.dumps({"crates/path": {"opener": 1}}))
    monkeypatch.setattr(words, "CEILINGS", ceilings)
    places = [words.Fault("opener", "crates/path", f"crates/path/src/lib.rs:{line}", "What is") for line in (1, 2)]
    monkeypatch.setattr(words, "faults", lambda: places)
    monkeypatch.setattr("sys.argv", ["words", "--lower"])
    with pytest.raises(SystemExit, match="may only fall"):
        words.main()
    assert json.loads(ceilings.read_text()) == {"crates/path": {"opener": 1}}
    places.pop()
    words.main()
    assert json.loads(ceilings.read_text()) == {"crates/path": {"opener": 1}}
