"""Tests of the recorded state of the source tree, on which numbers depend too."""

import subprocess
from pathlib import Path

import pytest

from dumbbell.results import environment


def git(folder: Path, *words: str) -> str:
    command = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org", "-C", str(folder), *words]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a source tree in a repository, in which the module lies in a folder of its own."""
    (tmp_path / "results").mkdir()
    for name in ("results/environment.py", "moved.py", "with space.py"):
        (tmp_path / name).write_text("".join(f"line {number} of {name}\n" for number in range(20)))
    git(tmp_path, "init", "--quiet", "--initial-branch=work")
    git(tmp_path, "add", "--all")
    monkeypatch.setattr(environment, "__file__", str(tmp_path / "results/environment.py"))
    return tmp_path


def test_the_state_of_a_tree_has_its_changed_files_from_its_root(tree: Path) -> None:
    assert environment.git_state() is None, "there is no commit yet"
    git(tree, "commit", "--quiet", "--message=first")
    commit = git(tree, "rev-parse", "HEAD")
    assert environment.git_state() == {"commit": commit, "branch": "work", "changed": []}
    (tree / "results/environment.py").write_text("changed\n")
    (tree / "with space.py").write_text("changed\n")
    git(tree, "mv", "moved.py", "results/there.py")
    (tree / "untracked.py").write_text("new\n")
    state = environment.git_state()
    assert state is not None
    assert sorted(state["changed"]) == ["results/environment.py", "results/there.py", "with space.py"]
    git(tree, "stash", "--quiet")
    git(tree, "checkout", "--quiet", "--detach")
    assert environment.git_state() == {"commit": commit, "branch": "(detached)", "changed": []}


def test_a_package_in_somebody_elses_repository_has_none(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    git(tree, "commit", "--quiet", "--message=first")
    (tree / "installed").mkdir()
    (tree / "installed/environment.py").write_text("")
    monkeypatch.setattr(environment, "__file__", str(tree / "installed/environment.py"))
    assert environment.git_state() is None
