"""Tests of dependencies: licences, sources and duplicates of crates by deny.toml, hashes of Python's packages."""

import json
import re
import subprocess
import tomllib
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
DENY = tomllib.loads((ROOT / "deny.toml").read_text(encoding="utf-8"))
LOCKS = sorted(file.name for file in ROOT.glob("requirements*.lock"))


@pytest.fixture(scope="module")
def packages() -> list[dict[str, Any]]:
    """Return every package of Cargo.lock that is not dumbbell's own."""
    result = subprocess.run(
        ["cargo", "metadata", "--locked", "--format-version", "1"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    packages_found = [package for package in json.loads(result.stdout)["packages"] if package["source"] is not None]
    assert len(packages_found) > 50
    return packages_found


def is_permitted(expression: str, allowed_licences: set[str]) -> bool:
    """Return True if an SPDX expression can be satisfied; `/` is an old spelling of OR."""
    words = re.findall(r"\(|\)|[^\s()/]+|/", expression)

    def term() -> bool:
        word = words.pop(0)
        if word == "(":
            inside = parse_or()
            assert words.pop(0) == ")", expression
            return inside
        if words[:1] == ["WITH"]:
            words.pop(0)
            word = f"{word} WITH {words.pop(0)}"
        return word in allowed_licences

    def parse_and() -> bool:
        good = term()
        while words[:1] == ["AND"]:
            words.pop(0)
            good = term() and good
        return good

    def parse_or() -> bool:
        good = parse_and()
        while words[:1] in (["OR"], ["/"]):
            words.pop(0)
            good = parse_and() or good
        return good

    result = parse_or()
    assert not words, expression
    return result


@pytest.mark.parametrize(
    ("expression", "good"),
    [
        ("MIT", True),
        ("GPL-3.0", False),
        ("MIT/Apache-2.0", True),
        ("GPL-3.0 OR MIT", True),
        ("GPL-3.0 AND MIT", False),
        ("(MIT OR GPL-3.0) AND ISC", True),
        ("(MIT OR GPL-3.0) AND GPL-3.0", False),
        ("Apache-2.0 WITH LLVM-exception", True),
        ("Apache-2.0 WITH other-exception", False),
    ],
)
def test_expressions_of_licences(expression: str, good: bool) -> None:
    assert is_permitted(expression, {"MIT", "ISC", "Apache-2.0", "Apache-2.0 WITH LLVM-exception"}) == good


def test_licences_of_crates_are_permitted(packages: list[dict[str, Any]]) -> None:
    allow = set(DENY["licenses"]["allow"])
    wrong = [
        f"{p['name']} {p['version']}: {p['license']}" for p in packages if not is_permitted(p["license"] or "", allow)
    ]
    assert not wrong


def test_no_licence_is_permitted_that_nothing_has(packages: list[dict[str, Any]]) -> None:
    for licence in DENY["licenses"]["allow"]:
        assert any(licence in (package["license"] or "") for package in packages), licence


def test_crates_come_from_known_registries(packages: list[dict[str, Any]]) -> None:
    assert DENY["sources"]["unknown-registry"] == DENY["sources"]["unknown-git"] == "deny"
    known_sources = {f"registry+{registry}" for registry in DENY["sources"]["allow-registry"]}
    assert {package["source"] for package in packages} <= known_sources


def test_the_lock_of_the_crate_out_of_tree_is_current() -> None:
    # The example depends on dumbbell's crates: its lock needs their new dependencies, too.
    manifest = ROOT / "examples/out-of-tree/Cargo.toml"
    command = ["cargo", "metadata", "--locked", "--offline", "--format-version=1", "--manifest-path", str(manifest)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "cannot update the lock file" not in result.stderr, "`cargo update --workspace` there"


def test_every_crate_is_there_once(packages: list[dict[str, Any]]) -> None:
    versions = defaultdict(set)
    for package in packages:
        versions[package["name"]].add(package["version"])
    listed_versions = {entry["crate"] for entry in DENY["bans"]["skip"]}
    versions_there = {f"{name}@{version}" for name, numbers in versions.items() for version in numbers}
    assert listed_versions <= versions_there, "an older version is no longer there: take it out of deny.toml"
    several = {
        name: numbers
        for name, numbers in versions.items()
        if len({v for v in numbers if f"{name}@{v}" not in listed_versions}) > 1
    }
    assert not several
    alone = [crate for crate in listed_versions if len(versions[crate.partition("@")[0]]) == 1]
    assert not alone, "is there once: take it out of deny.toml"


@pytest.mark.parametrize("name", LOCKS)
def test_python_packages_are_fixed_by_version_and_hash(name: str) -> None:
    text = re.sub(r"^#.*\n", "", (ROOT / name).read_text(encoding="utf-8"), flags=re.MULTILINE)
    entries = text.replace(" \\\n", " ").splitlines()
    assert entries
    for entry in entries:
        assert re.fullmatch(r"[A-Za-z0-9._-]+==[0-9][^\s]*( --hash=sha256:[0-9a-f]{64})+", entry.replace("    ", "")), (
            entry[:80]
        )


def test_the_set_up_installs_nothing_without_its_hash() -> None:
    script = (ROOT / "scripts" / "bootstrap.sh").read_text(encoding="utf-8")
    installing = [line.strip() for line in script.splitlines() if "pip install" in line]
    assert installing
    assert all("--require-hashes" in line for line in installing), installing
    assert {f"pip {name}" for name in LOCKS} <= {line.split(" #")[0].strip() for line in script.splitlines()}
