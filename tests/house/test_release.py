"""Release: refusals of its script, and steps of its workflow with stand-ins for the network's programs."""

import hashlib
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
WORKFLOW = yaml.safe_load((ROOT / ".github/workflows/release.yml").read_text())
JOBS: dict[str, Any] = WORKFLOW["jobs"]
VERSION = "1.2.3"


def steps(job: str) -> list[str]:
    """Return the shell steps of a job."""
    return [step["run"] for step in JOBS[job]["steps"] if "run" in step]


def actions() -> set[str]:
    """Return the actions that the workflow uses, with versions."""
    return {step["uses"] for job in JOBS.values() for step in job["steps"] if "uses" in step}


def write_program(folder: Path, name: str) -> None:
    """Write a program that appends its arguments to a file `NAME.calls`."""
    program = folder / name
    program.write_text(f'#!/bin/sh\necho "$@" >>"{folder}/{name}.calls"\n')
    program.chmod(0o755)


@pytest.fixture(name="tree")
def _tree(tmp_path: Path) -> Path:
    """Return a repository with the script, a version, its section in the changelog, and stand-ins for programs."""
    tree = tmp_path / "tree"
    (tree / "scripts").mkdir(parents=True)
    (tree / "scripts/release.sh").write_bytes((ROOT / "scripts/release.sh").read_bytes())
    (tree / "Cargo.toml").write_text(f'[workspace.package]\nversion = "{VERSION}"\n')
    (tree / "CHANGELOG.md").write_text(
        f"# Changelog\n\n## {VERSION} (2026-12-01)\n\n- News.\n\n## 1.2.2 (2026-11-01)\n"
    )
    (tree / ".gitignore").write_text("/dist/\n/venv/\n")
    programs = tree / "venv" / "bin"
    programs.mkdir(parents=True)
    for command in ("init -q", "add -A", "-c user.name=n -c user.email=e commit -qm release"):
        subprocess.run(["git", *command.split()], cwd=tree, check=True)
    return tree


def release(tree: Path) -> subprocess.CompletedProcess[str]:
    """Run the script; `make`, `maturin`, `rustup` and `python` are stand-ins."""
    programs = tree / "venv" / "bin"
    for name in ("make", "maturin", "rustup", "python"):
        write_program(programs, name)
    (tree / "dist").mkdir(exist_ok=True)
    inventories = tree / "dist" / ".unpacked" / f"dumbbell-{VERSION}.dist-info" / "sboms"
    inventories.mkdir(parents=True, exist_ok=True)
    (inventories / "core.cyclonedx.json").write_text("{}")
    (tree / "dist" / f"dumbbell-{VERSION}-cp311-abi3-manylinux_2_28_x86_64.whl").write_text("wheel")
    return subprocess.run(
        ["bash", "scripts/release.sh", "venv", "dist"],
        cwd=tree,
        env={"PATH": f"{programs}:/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_release_has_notes_and_checksums_and_prints_the_command_of_the_tag(tree: Path) -> None:
    result = release(tree)
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout == f"git tag -s v{VERSION} -m 'dumbbell {VERSION}' && git push origin v{VERSION}\n"
    assert (tree / "dist/NOTES.md").read_text() == f"## {VERSION} (2026-12-01)\n\n- News.\n\n"
    sums = dict(reversed(line.split("  ")) for line in (tree / "dist/SHA256SUMS").read_text().splitlines())
    assert sums["NOTES.md"] == hashlib.sha256((tree / "dist/NOTES.md").read_bytes()).hexdigest()
    assert sums.keys() == {path.name for path in (tree / "dist").iterdir()} - {"SHA256SUMS"}
    assert "aarch64-unknown-linux-gnu" in (tree / "venv/bin/maturin.calls").read_text()


def test_a_release_without_a_dated_section_of_notes_is_refused(tree: Path) -> None:
    (tree / "CHANGELOG.md").write_text(f"## {VERSION} (not yet released)\n")
    result = release(tree)
    assert result.returncode == 2
    assert result.stderr == (
        f'release.sh: CHANGELOG.md has no section "## {VERSION} (DATE)": make notes VERSION={VERSION}\n'
    )
    assert not (tree / "venv/bin/make.calls").exists(), "refused before the build"


def test_a_release_of_a_changed_tree_is_refused(tree: Path) -> None:
    (tree / "more").write_text("")
    result = release(tree)
    assert (result.returncode, result.stderr) == (2, "release.sh: the work tree has changes: commit or remove them\n")


def test_a_release_with_the_tag_of_another_version_is_refused(tree: Path) -> None:
    subprocess.run(["git", "tag", "v1.2.4"], cwd=tree, check=True)
    result = release(tree)
    assert result.returncode == 2
    assert "the tag is v1.2.4, and the version in Cargo.toml is 1.2.3" in result.stderr


def test_the_workflow_begins_with_a_tag_and_stores_no_secret() -> None:
    assert WORKFLOW[True] == {"push": {"tags": ["v*"]}}  # YAML reads the key `on` as a boolean
    assert "secrets." not in (ROOT / ".github/workflows/release.yml").read_text()
    assert JOBS["pypi"]["permissions"] == {"id-token": "write"}
    assert JOBS["pypi"]["needs"] == ["build", "site"]


def test_both_workflows_use_the_same_versions_of_actions() -> None:
    other = (ROOT / ".github/workflows/ci.yml").read_text()
    for action in actions():
        name = action.partition("@")[0]
        assert set(re.findall(rf"{name}@\S+", other)) <= {action}


@pytest.mark.parametrize("job", ["build", "site"])
def test_steps_that_build_are_targets_of_make(job: str) -> None:
    makefile = (ROOT / "Makefile").read_text()
    targets = [target for step in steps(job) if step.startswith("make ") for target in step.split()[1:]]
    assert targets
    for target in targets:
        assert re.search(rf"^{target}:.*## ", makefile, re.MULTILINE), target


def test_pypi_gets_wheels_and_sources_only(tmp_path: Path) -> None:
    dist = tmp_path / "dist"
    dist.mkdir()
    packages = ["dumbbell-1.2.3-cp311-abi3-manylinux_2_28_x86_64.whl", "dumbbell-1.2.3.tar.gz"]
    for name in [*packages, "NOTES.md", "dumbbell-1.2.3.cyclonedx.json"]:
        (dist / name).write_text(name)
    subprocess.run("sha256sum -- * >SHA256SUMS", shell=True, cwd=dist, check=True)
    for step in steps("pypi"):
        subprocess.run(["bash", "-e", "-c", step], cwd=tmp_path, check=True)
    assert sorted(path.name for path in (tmp_path / "packages").iterdir()) == sorted(packages)


def test_pypi_gets_nothing_if_a_file_was_changed(tmp_path: Path) -> None:
    dist = tmp_path / "dist"
    dist.mkdir()
    (dist / "dumbbell-1.2.3.tar.gz").write_text("sources")
    subprocess.run("sha256sum -- * >SHA256SUMS", shell=True, cwd=dist, check=True)
    (dist / "dumbbell-1.2.3.tar.gz").write_text("other sources")
    check = subprocess.run(["bash", "-e", "-c", steps("pypi")[0]], cwd=tmp_path, capture_output=True, check=False)
    assert check.returncode == 1


def test_the_release_of_github_has_the_notes_and_all_files(tmp_path: Path) -> None:
    (tmp_path / "dist").mkdir()
    for name in ("NOTES.md", "SHA256SUMS"):
        (tmp_path / "dist" / name).write_text("")
    write_program(tmp_path, "gh")
    variables = {"PATH": f"{tmp_path}:/usr/bin:/bin", "GITHUB_REF_NAME": "v1.2.3", "GITHUB_REPOSITORY": "a/b"}
    for step in steps("github"):
        subprocess.run(["bash", "-e", "-c", step], cwd=tmp_path, env=variables, check=True)
    assert (tmp_path / "gh.calls").read_text() == (
        "release create v1.2.3 --repo a/b --verify-tag --title dumbbell 1.2.3 "
        "--notes-file dist/NOTES.md dist/NOTES.md dist/SHA256SUMS\n"
    )
