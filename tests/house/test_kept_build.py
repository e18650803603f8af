"""Tests of the build kept for the next clone: cargo compiles the changed crates, and nothing else."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts/kept_build.py"

SOURCES = {
    ".cargo/config.toml": "",
    ".gitignore": "target\n",
    "Cargo.toml": '[workspace]\nresolver = "3"\nmembers = ["crates/*"]\n',
    "crates/low/Cargo.toml": '[package]\nname = "low"\nversion = "0.1.0"\nedition = "2024"\n',
    "crates/low/build.rs": 'fn main() { println!("cargo::rerun-if-changed=src/listed"); }\n',
    "crates/low/src/lib.rs": 'pub const NUMBER: u8 = include!("number");\n',
    "crates/low/src/listed/one.rs": "",
    "crates/high/Cargo.toml": (
        '[package]\nname = "high"\nversion = "0.1.0"\nedition = "2024"\n[dependencies]\nlow = { path = "../low" }\n'
    ),
    "crates/high/src/main.rs": 'fn main() { println!("{}", low::NUMBER); }\n',
    "crates/low/src/number": "1",
    "outside": "1",
}
OUTSIDE = {**SOURCES, "crates/low/src/lib.rs": f'pub const NUMBER: u8 = include!("{"../" * 3}outside");\n'}


class Clone:
    """A clone of a workspace of two crates, with a cache that all clones of the test share."""

    def __init__(self, folder: Path, sources: dict[str, str]) -> None:
        self.folder = folder
        self._environment = {**os.environ, "XDG_CACHE_HOME": str(folder.parent / "cache"), "CARGO_INCREMENTAL": "0"}
        self._environment.pop("CARGO_TARGET_DIR", None)
        for name, text in {**sources, "scripts/kept_build.py": SCRIPT.read_text()}.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text)
        self._run("git", "init", "--quiet")
        self._run("cargo", "generate-lockfile", "--offline")

    def _run(self, *command: str) -> str:
        result = subprocess.run(command, cwd=self.folder, env=self._environment, capture_output=True, text=True)
        assert result.returncode == 0, result.stderr
        return result.stdout + result.stderr

    def kept(self, action: str) -> str:
        return self._run(sys.executable, "scripts/kept_build.py", action, "target")

    def compiled(self) -> set[str]:
        """Build all crates; return those that cargo compiled."""
        lines = self._run("cargo", "build", "--offline").splitlines()
        return {line.split()[1] for line in lines if line.lstrip().startswith("Compiling")}

    def printed(self) -> str:
        return self._run("target/debug/high").strip()

    def gate(self) -> set[str]:
        self.kept("restore")
        crates = self.compiled()
        self.kept("keep")
        return crates


def test_the_next_clone_compiles_nothing(tmp_path: Path) -> None:
    assert Clone(tmp_path / "first", SOURCES).gate() == {"low", "high"}
    again = Clone(tmp_path / "second", SOURCES)
    assert again.gate() == set()
    assert again.printed() == "1"


@pytest.mark.parametrize(
    ("change", "crates", "output_text"),
    [
        pytest.param({"crates/high/src/main.rs": 'fn main() { print!("2"); }'}, {"high"}, "2", id="source"),
        pytest.param({"crates/low/src/number": "3"}, {"low", "high"}, "3", id="included"),
        pytest.param({"crates/low/src/listed/two.rs": ""}, {"low", "high"}, "1", id="listed by a build script"),
    ],
)
def test_what_changed_is_compiled(tmp_path: Path, change: dict[str, str], crates: set[str], output_text: str) -> None:
    # This clone is older than the kept build: by the times of its files alone they would count as compiled.
    clone = Clone(tmp_path / "second", {**SOURCES, **change})
    Clone(tmp_path / "first", SOURCES).gate()
    assert clone.gate() == crates
    assert clone.printed() == output_text


def test_a_crate_that_reads_files_outside_of_it_is_not_kept(tmp_path: Path) -> None:
    clone = Clone(tmp_path / "second", {**OUTSIDE, "outside": "5"})
    Clone(tmp_path / "first", OUTSIDE).gate()
    assert clone.gate() == {"low", "high"}
    assert clone.printed() == "5"


def test_an_edit_after_the_first_build_is_compiled_and_not_kept(tmp_path: Path) -> None:
    first = Clone(tmp_path / "first", SOURCES)
    first.gate()
    (first.folder / "crates/low/src/number").write_text("4")
    assert first.gate() == {"low", "high"}
    assert first.printed() == "4"
    again = Clone(tmp_path / "second", SOURCES)
    assert again.gate() == set()
    assert again.printed() == "1"


def test_a_kept_build_that_is_damaged_is_not_used(tmp_path: Path) -> None:
    Clone(tmp_path / "first", SOURCES).gate()
    (sources,) = (tmp_path / "cache").glob("dumbbell/build/*/sources.json")
    sources.write_text("{")
    again = Clone(tmp_path / "second", SOURCES)
    assert again.gate() == {"low", "high"}
    assert again.printed() == "1"


def test_without_git_nothing_is_kept(tmp_path: Path) -> None:
    alone = Clone(tmp_path / "first", SOURCES)
    (alone.folder / ".git").rename(alone.folder / "git")
    assert alone.gate() == {"low", "high"}
    assert not list((tmp_path / "cache").glob("dumbbell/build/*/sources.json"))
