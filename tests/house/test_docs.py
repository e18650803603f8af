"""Tests of the documentation: its commands parse, its links have targets, its TOML examples can be read."""

import re
import shlex
import sqlite3
import tomllib
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from dumbbell import catalog
from dumbbell.base.errors import UserError
from dumbbell.catalog.experiment_file import parse_experiment_file
from dumbbell.catalog.scheme import parse_scheme
from dumbbell.catalog.toml_tables import TomlTable
from dumbbell.cli.parser import command_parser
from dumbbell.results import Database
from support.pages.blocks import PAGES, ROOT, SHELL, texts

_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
_INLINE = re.compile(r"`(dumbbell [^`]+)`")
_LINK = re.compile(r"\]\(([^)\s]+)\)")
_HEADING = re.compile(r"^#+ +(.+)$", re.MULTILINE)
_PLACEHOLDER = re.compile(r"[A-Z]+|[A-Z_]+_DIR")
"""Pattern of words that a reader has to replace."""


def commands(page: Path) -> Iterator[str]:
    """Yield every complete `dumbbell` command that a page shows."""
    for block in texts(page, *SHELL):
        yield from (line for line in block.splitlines() if line.startswith("dumbbell "))
    text = _BLOCK.sub("", page.read_text(encoding="utf-8"))
    for command in _INLINE.findall(text):
        words = command.split()
        # A command that is only named (`dumbbell run`), or has a part left out (`list|load`, `...`), is not typed.
        if len(words) > 2 and "|" not in command and "..." not in command:
            yield command


def arguments(command: str) -> list[str]:
    """Return the words behind `dumbbell`, without the comment."""
    return shlex.split(command, comments=True)[1:]


SHOWN = [(page.relative_to(ROOT), command) for page in PAGES for command in commands(page)]


def test_queries_run_on_the_schema_as_it_is(tmp_path: Path) -> None:
    Database(tmp_path / "empty.db", gathers=True).close()
    queries = [(page, query) for page in PAGES for query in texts(page, "sql")]
    assert len(queries) > 4
    with closing(sqlite3.connect(tmp_path / "empty.db")) as connection:
        for page, query in queries:
            try:
                connection.execute(query)
            except sqlite3.Error as error:
                raise AssertionError(f"{page}: {error}: {query}") from None


def test_commands_are_found() -> None:
    assert len(SHOWN) > 40
    assert {str(page) for page, _ in SHOWN} >= {"README.md", "docs/how-to/experiments.md", "docs/how-to/emulation.md"}


@pytest.mark.parametrize(("page", "command"), SHOWN, ids=lambda value: str(value)[:70])
def test_shown_commands_parse(page: Path, command: str) -> None:
    try:
        args = command_parser().parse_args(arguments(command))
    except UserError as error:
        pytest.fail(f"{page}: `{command}`: {error}")
    names = {name for block in texts(ROOT / page, "toml") for name in tomllib.loads(block).get("path", {})}
    experiment = getattr(args, "experiment", None)
    if experiment in catalog.experiments().names():
        names |= catalog.experiments().find(experiment).own_paths.keys()
        names |= catalog.experiments().find(experiment).own_schemes.keys()
    paths = getattr(args, "path", None) or ()
    for path in [paths] if isinstance(paths, str) else paths:
        if "." in path or "," in path or path in names or _PLACEHOLDER.fullmatch(path):
            continue
        assert catalog.paths().find(path)
    for scheme in getattr(args, "schemes", None) or ():
        if (
            scheme == "all"
            or scheme in names
            or scheme.endswith(".toml")
            or scheme.startswith("pantheon-")
            or _PLACEHOLDER.fullmatch(scheme)
        ):
            continue
        assert catalog.schemes().find(scheme)


def test_a_wrong_command_does_not_parse() -> None:
    with pytest.raises(UserError, match="--scheme"):
        command_parser().parse_args(arguments("dumbbell run --scheme reno --path default    # no such option"))


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as GitHub makes them."""
    text = _BLOCK.sub("", page.read_text(encoding="utf-8"))
    plain = (re.sub(r"[^\w\- ]", "", heading.lower()) for heading in _HEADING.findall(text))
    return {heading.strip().replace(" ", "-") for heading in plain}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_relative_links_lead_somewhere(page: Path) -> None:
    text = _BLOCK.sub("", page.read_text(encoding="utf-8"))
    for link in _LINK.findall(text):
        if "://" in link:
            continue
        name, _, anchor = link.partition("#")
        target = (page.parent / name).resolve() if name else page
        assert target.exists(), f"{link} leads nowhere"
        if anchor:
            assert anchor in anchors(target), f"{link}: no such heading in {target.name}"


def test_pages_are_reachable_from_the_readme() -> None:
    seen_pages, todo = set(), [ROOT / "README.md"]
    while todo:
        page = todo.pop()
        if page in seen_pages:
            continue
        seen_pages.add(page)
        for link in _LINK.findall(page.read_text(encoding="utf-8")):
            target = (page.parent / link.partition("#")[0]).resolve()
            if target.is_dir() and (target / "README.md").is_file():
                target /= "README.md"
            if target.suffix == ".md" and target.is_file():
                todo.append(target)
    assert not set(PAGES) - seen_pages


def examples(kind: str) -> list[tuple[str, str]]:
    """Return complete TOML examples of schemes (`kind`: program) or experiments (`kind`: schemes), with their pages."""
    page_blocks = [(str(page.relative_to(ROOT)), block) for page in PAGES for block in texts(page, "toml")]
    return [(page, block) for page, block in page_blocks if kind in tomllib.loads(block)]


def test_program_schemes_can_be_read() -> None:
    example_blocks = examples("program")
    assert example_blocks
    for page, block in example_blocks:
        scheme = parse_scheme(TomlTable(tomllib.loads(block), page))
        assert scheme.program is not None
        assert scheme.program.spec(scheme.parameters)


def test_experiments_can_be_read() -> None:
    example_blocks = examples("schemes")
    assert len(example_blocks) >= 3
    for page, block in example_blocks:
        assert parse_experiment_file(TomlTable(tomllib.loads(block), page)).schemes
