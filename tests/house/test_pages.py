"""Tests of every command and every line of Python on a page: each runs unchanged with a fresh install."""

import re
from pathlib import Path

import pytest

from support.commands.forks import Forks
from support.machine import need_real_packets
from support.pages.blocks import GIVEN, PAGES, ROOT, SHELL, TIMEOUT_S, Block, blocks, run_page, shorten

OWN_TEST = ("library.md",)
"""Pages that a test of their own runs."""

MARKS = {"README.md": [pytest.mark.smoke], "docs/evidence/papers": [pytest.mark.slow]}
"""The page that everybody reads first is in the gate; the reproductions of papers take long."""

FIRST_COMMANDS = 5


def page_name(page: Path) -> str:
    return str(page.relative_to(ROOT))


SHOWN = [page for page in PAGES if any(block.runs and not block.real for block in blocks(page))]
REAL = [page for page in PAGES if any(block.runs and block.real for block in blocks(page))]


@pytest.mark.pages
@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, marks=MARKS.get(page_name(page.parent), MARKS.get(page_name(page), [])), id=page_name(page))
        for page in SHOWN
        if page.name not in OWN_TEST
    ],
)
def test_what_a_page_shows_runs(
    page: Path, tmp_path: Path, forks: Forks, tmp_path_factory: pytest.TempPathFactory
) -> None:
    commands = tmp_path_factory.mktemp("commands")
    with forks.program(commands, TIMEOUT_S):
        run_page(page, tmp_path, commands=commands)


@pytest.mark.real
@pytest.mark.parametrize("page", REAL, ids=page_name)
def test_what_a_page_shows_of_real_packets_runs(page: Path, tmp_path: Path) -> None:
    need_real_packets()
    run_page(page, tmp_path, real=True)


def test_what_is_not_run_has_a_reason_and_files_are_known() -> None:
    for page in PAGES:
        for block in blocks(page):
            place = f"{page_name(page)}: {block.text[:60]}"
            if "not run" in block.marks:
                assert len(block.marks["not run"].split()) > 3, place
            assert block.language not in SHELL or "file" not in block.marks, place
            for name in filter(None, block.marks.get("given", "").split(", ")):
                assert name in GIVEN, f"{place}: no test makes {name}"


def test_marks_are_spelled_as_they_are_read() -> None:
    for page in PAGES:
        for mark in re.findall(r"^<!-- ((?:file|given|run|not)\b[^:]*):.* -->\n+```", page.read_text(), re.MULTILINE):
            assert mark in ("file", "given", "run shorter", "not run"), f"{page_name(page)}: {mark}"


def test_most_commands_are_run() -> None:
    counts = {True: 0, False: 0}
    for page in PAGES:
        for block in blocks(page):
            if block.language in SHELL:
                counts[block.runs] += len(re.findall(r"^dumbbell ", block.text, re.MULTILINE))
    assert counts[True] > 50
    assert counts[False] < counts[True] / 4, counts
    assert {page_name(page) for page in SHOWN} >= {
        "README.md",
        "docs/how-to/experiments.md",
        "docs/reference/library.md",
        "docs/how-to/plugins.md",
    }


def test_the_first_commands_of_the_readme_need_no_file_of_the_readers() -> None:
    first = next(block for block in blocks(ROOT / "README.md") if block.text.startswith("dumbbell "))
    lines = first.text.splitlines()
    assert len(lines) == FIRST_COMMANDS
    assert all("#" in line or "run" in line for line in lines)
    assert not re.search(r"\.toml|\.py|\.so|pantheon-dir", first.text)
    assert not first.marks


PAGE = """
<!-- file: mine.toml -->
```toml
schemes = ["reno"]
paths = ["default"]
```

<!-- run shorter: --duration 1 -->
```
dumbbell run mine.toml --duration 999999 --out out   # long
```

```python
import dumbbell
print(dumbbell.open("out").experiment.duration_s)
```
"""


def test_one_command_of_a_block_may_be_run_shorter() -> None:
    text = "dumbbell run a\ndumbbell train remy --out x   # long\ndumbbell train indigo\n"
    block = Block("", text, {"run shorter": "train remy --minutes 1 --jobs 1"}, "")
    assert shorten(block) == text.replace("--out x", "--out x --minutes 1 --jobs 1")
    block = Block("", text, {"run shorter": "--seed 1\nrun a --runs 1"}, "")
    assert shorten(block).startswith("dumbbell run a --seed 1 --runs 1\n")
    assert shorten(block).count(" --seed 1\n") == 1
    assert "--out x --seed 1   # long" in shorten(block)
    block = Block("", "dumbbell run a --runs 10 --schemes 'b' --json --out x\n", {"run shorter": "--json --runs 1"}, "")
    assert shorten(block) == "dumbbell run a --schemes 'b' --out x --json --runs 1\n", "no option is given twice"


def test_a_new_block_is_run_as_it_stands(tmp_path: Path) -> None:
    page, folder = tmp_path / "page.md", tmp_path / "folder"
    folder.mkdir()
    page.write_text(PAGE)
    assert run_page(page, folder).splitlines()[-1] == "1.0"
    for text, message in (
        ("```\nfalse\n```\n", "status 1"),
        ("```sh\ndumbbell run --scheme reno\n```\n", "unknown option --scheme"),
        ("```python\nimport duckdb\n```\n", "a fresh install lacks duckdb"),
    ):
        page.write_text(text)
        (folder / "examples").unlink()
        with pytest.raises(AssertionError, match=message):
            run_page(page, folder)
    (folder / "examples").unlink()
    page.write_text("<!-- not run: it would fail on purpose here -->\n```\nfalse\n```\n")
    run_page(page, folder)
