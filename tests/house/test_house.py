"""Tests of the rules of the house: dependencies of crates, and the use of clocks."""

import ast
import json
import re
import subprocess
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]

IN_THE_BROWSER = {
    "units",
    "strict_input",
    "record",
    "congestion",
    "transport",
    "path",
    "measure",
    "runs",
    "views",
    "simulator",
    "playground",
}
"""Crates that `make wasm-check` builds: no file, no socket, no clock."""

LIBRARIES = {
    "libm",
    "rand_xoshiro",
    "safetensors",
    "schemars",
    "serde",
    "serde_json",
    "smallvec",
    "statrs",
    "thiserror",
}
"""Dependencies of these crates, all without an operating system below."""


def dependencies() -> dict[str, set[str]]:
    """Return the dependencies of each crate of the workspace, without those of its tests."""
    command = ["cargo", "metadata", "--no-deps", "--offline", "--locked", "--format-version", "1"]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    packages: list[dict[str, Any]] = json.loads(result.stdout)["packages"]
    return {
        package["name"]: {dependency["name"] for dependency in package["dependencies"] if dependency["kind"] is None}
        for package in packages
    }


def test_the_simulator_and_what_it_needs_take_nothing_that_a_browser_lacks() -> None:
    needs_of = dependencies()
    reached_names: set[str] = set()
    waiting = ["playground"]
    while waiting:
        name = waiting.pop()
        if name not in reached_names:
            reached_names.add(name)
            waiting += needs_of.get(name, set())
    assert reached_names <= IN_THE_BROWSER | LIBRARIES
    assert reached_names >= IN_THE_BROWSER, "the list names what is no longer there"


def test_no_crate_below_the_simulator_permits_itself_a_clock_or_a_file() -> None:
    # clippy refuses the calls (clippy.toml); this test refuses exceptions from it.
    for name in sorted(IN_THE_BROWSER):
        for file in (ROOT / "crates" / name / "src").rglob("*.rs"):
            assert not re.search(r"disallowed_(methods|types)", file.read_text()), file


def test_make_builds_for_the_browser_what_is_kept_free_for_it() -> None:
    makefile = (ROOT / "Makefile").read_text()
    match = re.search(r"^WASM := (.*)$", makefile, re.MULTILINE)
    assert match is not None
    assert set(match[1].split()) == IN_THE_BROWSER


def names_within(names: set[str], needs_of: dict[str, set[str]]) -> set[str]:
    """Return the crates `names` of this workspace, and all their dependencies."""
    return names.union(*(names_within(needs_of[name] & set(needs_of), needs_of) for name in names))


def test_the_architecture_page_draws_the_crates_as_they_are() -> None:
    needs_of = dependencies()
    crates = {name: crate_needs & set(needs_of) for name, crate_needs in needs_of.items()}
    # A dependency through another one is not drawn.
    short = {
        name: {needed_name for needed_name in crate if needed_name not in names_within(crate - {needed_name}, needs_of)}
        for name, crate in crates.items()
    }
    page = (ROOT / "ARCHITECTURE.md").read_text()
    drawing = re.search(r"```text\n(units\n.*?)```", page, re.DOTALL)
    assert drawing is not None
    drawn_needs: dict[str, set[str]] = {}
    for line in drawing[1].splitlines():
        remarkless = re.split(r"\s{3,}", re.sub(r"\s+->\s+", " -> ", line))[0]
        names, _, need_list = remarkless.partition(" -> ")
        for name in names.split(", "):
            drawn_needs[name.strip()] = {need.strip() for need in need_list.split(",") if need}
    assert drawn_needs == short


TEXTS = ["*.md", "*.rs", "*.toml", "*.py", "*.c", "*.h", "*.go"]
"""Files in which sources are cited."""

CITED = re.compile(r"(?<![\w/.])([A-Za-z][\w-]*)/[\w.-]+?@(?:[0-9a-f]{7,40}\b|[\w.-]*\d)")
"""OWNER/REPOSITORY@COMMIT, or the name of a release in place of the commit."""


def texts() -> dict[str, str]:
    """Return the hand-written texts, by file."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", *TEXTS]
    names = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    return {name: (ROOT / name).read_text() for name in names if (ROOT / name).is_file()}


def test_a_repository_is_cited_with_its_commit() -> None:
    texts_by_name = texts()
    owners = {match[1] for text in texts_by_name.values() for match in CITED.finditer(text)}
    assert len(owners) > 10, "the form itself is no longer found"
    # A date may also name a state; a link into the web names the current content.
    bare = re.compile(rf"(?<![\w/.])(?:{'|'.join(sorted(owners))})/[\w-]++(?:\.[\w-]+)*+(?!@| before \d)")
    for name, text in texts_by_name.items():
        assert not bare.findall(text), f"{name}: {bare.findall(text)}: OWNER/REPOSITORY@COMMIT, file"
        late = re.search(r"\S+ at (?=[0-9a-f]{7,12}\b)(?=[a-f]*\d)[0-9a-f]+", text)
        assert late is None, f"{name}: {late and late[0]}: write REPOSITORY@COMMIT"


def test_a_file_of_linux_is_cited_with_a_version() -> None:
    for name, text in texts().items():
        for match in re.finditer(r"\btcp_(?:bbr|cong|cubic|dctcp|vegas)\.c\b", text):
            around = text[max(0, match.start() - 200) : match.end() + 200]
            version = re.search(r"\bv\d\.\d+|@[0-9a-f]{7}|the running (?:kernel|Linux)", around)
            assert version or name.startswith("tests/"), f"{name}: {match[0]}: of which Linux?"


def test_nothing_refers_to_a_folder_beside_this_repository() -> None:
    command = ["git", "ls-files", "--", "Makefile", "scripts", ".ci"]
    names = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    checked_count = 0
    for name, text in (texts() | {name: (ROOT / name).read_text() for name in names}).items():
        assert str(ROOT) not in text, f"{name}: names the folder that this machine has the repository in"
        folders = [ROOT / folder for folder in Path(name).parents]
        for path_match in re.findall(r"(?<![\w./])(?:\.\./)+\w[\w./-]*", text):
            inside = [
                resolve for folder in folders if (resolve := (folder / path_match).resolve()).is_relative_to(ROOT)
            ]
            assert inside, f"{name}: {path_match} is outside of the repository"
            checked_count += 1
    assert checked_count > 20, "the form itself is no longer found"


_WRITERS = {
    "dumbbell/studies/benchmark/run.py": "names of databases, which SQLite opens by their paths",
    "dumbbell/catalog/outside/pantheon.py": "a checkout that the user names",
    "dumbbell/formats/importers/mahimahi.py": "new files of an import",
    "dumbbell/formats/pantheon_export.py": "the words of a message",
    "dumbbell/formats/traces.py": "new files of an import",
    "dumbbell/plugins/isolated.py": "a temporary folder",
    "dumbbell/results/benchmark_results.py": "the name of a database",
    "dumbbell/results/directory.py": "the lock, which is opened without following links",
    "dumbbell/results/sql/index_file.py": "times of files, without following links",
    "dumbbell/results/sql/recording.py": "names of databases, which SQLite opens by their paths",
    "dumbbell/results/benchmark_directory.py": "the directory of a part of a benchmark",
    "dumbbell_calibrate/journal.py": "a calibration's own folder, whose links are refused",
    "dumbbell/api/reading.py": "whether a file is there",
}
"""Files that may append a name to a directory as a path, with the reason."""


def test_what_is_in_a_results_directory_is_reached_as_an_entry() -> None:
    packages = ROOT / "python"
    places_by_file: dict[str, list[str]] = {}
    for file in sorted(packages.glob("dumbbell*/**/*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div) and _is_directory(node.left):
                places_by_file.setdefault(str(file.relative_to(packages)), []).append(
                    f"{node.lineno}: {ast.unparse(node)}"
                )
    advice = "a link there would be followed: open it as an `Entry` (`results.root`, `Entry.of(directory)`)"
    assert {file: places for file, places in places_by_file.items() if file not in _WRITERS} == {}, advice
    assert _WRITERS.keys() <= places_by_file.keys(), "a file that needs no exception any more"


def _is_directory(node: ast.expr) -> bool:
    """Return True if an expression has a name that the package uses for results directories."""
    name = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
    return name in ("directory", "_directory", "results_dir")
