"""Tests of the suites: each has its marker, its target of make, and its files."""

import re
import subprocess
from pathlib import Path

import pytest

from scripts.suites import EVERYTHING, TOUCHED, required_suites
from support.suites import GATE, SMOKE, SUITES

ROOT = Path(__file__).parents[2]


def test_every_suite_has_a_marker_a_target_and_files() -> None:
    makefile = (ROOT / "Makefile").read_text()
    (matches,) = re.findall(r"^SUITES := (.*)$", makefile, re.MULTILINE)
    assert set(matches.split()) == SUITES.keys() == TOUCHED.keys()
    for suite in SUITES:
        assert re.search(rf"^test-{suite}: .*## ", makefile, re.MULTILINE), suite
        assert re.search(rf"^\t\$\(PYTEST.* -m .*\b{suite}\b", makefile, re.MULTILINE), suite


def test_every_marker_is_a_suite(pytestconfig: pytest.Config) -> None:
    lines = pytestconfig.getini("markers")
    marker_names = {line.partition(":")[0] for line in lines if not re.match(r"\w+\(", line)}
    assert SUITES.keys() | {GATE, SMOKE} <= marker_names


@pytest.mark.parametrize(
    ("file", "suites"),
    [
        ("crates/datapath/src/run.rs", ["real"]),
        ("docs/how-to/emulation.md", ["pages"]),
        ("web/src/charts/ticks.ts", ["browser", "wasm"]),
        ("crates/quic/src/main.rs", ["programs"]),
        ("python/dumbbell/execution/pool.py", ["kills"]),
        ("crates/transport/src/sender/mod.rs", ["real", "wasm"]),
        ("python/dumbbell/results/directory.py", ["kills"]),
        ("tests/cli/test_show.py", []),
        ("crates/units/src/lib.rs", []),
        ("Makefile", list(TOUCHED)),
    ],
)
def test_a_change_runs_the_suites_that_it_touches(file: str, suites: list[str]) -> None:
    assert required_suites([file]) == suites


def test_a_change_of_several_files_runs_the_suites_of_all() -> None:
    assert required_suites(["tests/cli/test_show.py", "README.md", "kernel/vegas.bpf.c"]) == ["programs", "pages"]


def test_patterns_name_files_that_exist() -> None:
    result = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True)
    names = result.stdout.splitlines()
    for pattern in {pattern for patterns in TOUCHED.values() for pattern in patterns} | {*EVERYTHING}:
        expression = re.compile(re.escape(pattern).replace(r"\*", ".*"))
        assert any(map(expression.fullmatch, names)), f"no file is called {pattern}"
