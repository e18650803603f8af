"""Tests of benchmarks' blocks: each writes its part of a page and nothing else."""

from pathlib import Path

import pytest

from scripts.blocks import replace_block

PAGE = "before\n<!-- one: written by `x` -->\nold\n<!-- /one -->\nafter\n<!-- two: written by `y` -->\n<!-- /two -->\n"


def test_a_block_is_replaced_and_nothing_else(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(PAGE)
    replace_block(page, "one", "new")
    assert page.read_text() == PAGE.replace("\nold\n", "\n\nnew\n\n")
    replace_block(page, "one", "new")
    assert page.read_text() == PAGE.replace("\nold\n", "\n\nnew\n\n")


@pytest.mark.parametrize("text", ["", "<!-- /one -->\n<!-- one: x -->\n", "<!-- two: x -->\n<!-- /one -->\n"])
def test_a_page_without_the_markers_is_left_alone(tmp_path: Path, text: str) -> None:
    page = tmp_path / "page.md"
    page.write_text(text)
    with pytest.raises(SystemExit, match=r"page.md: no `<!-- one: ... -->` followed by `<!-- /one -->`"):
        replace_block(page, "one", "new")
    assert page.read_text() == text
