"""The wheels, installed in an environment of their own, outside of the source tree."""

import os
import re
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def pip_install(python: Path, *arguments: object) -> None:
    """Installs from files only."""
    pip = [sys.executable, "-m", "pip", "--python", python, "install", "--no-index", "--no-deps", "--quiet"]
    subprocess.run([*map(str, pip), *map(str, arguments)], check=True)


@pytest.fixture(name="wheels", scope="module")
def _wheels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel of what is built, or the one that `DUMBBELL_WHEELS` names."""
    if given := os.environ.get("DUMBBELL_WHEELS"):
        return Path(given).resolve()
    folder = tmp_path_factory.mktemp("wheels")
    maturin = Path(sys.executable).with_name("maturin")
    build = [maturin, "build", "--release", "--locked", "--quiet", "--out", folder]
    subprocess.run(list(map(str, build)), cwd=ROOT, check=True)
    return folder


@pytest.fixture(name="python", scope="module")
def _python(wheels: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of a fresh environment with that wheel; what dumbbell depends on is that of the tests."""
    environment = tmp_path_factory.mktemp("environment")
    venv.create(environment)
    python = environment / "bin" / "python"
    (wheel,) = wheels.glob("dumbbell-*.whl")
    pip_install(python, wheel)
    packages = Path(sysconfig.get_path("purelib", vars={"base": str(environment), "platbase": str(environment)}))
    (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib"))
    return python


def run(python: Path, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """The installed command."""
    command = [python.with_name("dumbbell"), *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_the_installed_command_runs_and_reports(python: Path, tmp_path: Path) -> None:
    where = subprocess.check_output([python, "-c", "import dumbbell; print(dumbbell.__file__)"], text=True)
    assert Path(where).is_relative_to(python.parents[1])
    done = run(python, tmp_path, "run", "--schemes", "cubic", "--path", "buffer-bdp", "--duration", "2", "--out", "out")
    assert done.returncode == 0, done.stderr
    done = run(python, tmp_path, "report", "out")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out" / "report.html").is_file()
    assert (tmp_path / "out" / "report.pdf").is_file()


def test_the_installed_command_says_what_it_was_built_from(python: Path, tmp_path: Path) -> None:
    pattern = r"dumbbell [\d.]+ \(commit ([0-9a-f]{12}\+?|not recorded); backends .*; helpers .*\)\n"
    assert re.fullmatch(pattern, run(python, tmp_path, "--version").stdout)


def test_the_wheel_is_for_every_python_and_no_newer_linux(wheels: Path) -> None:
    (wheel,) = wheels.glob("dumbbell-*.whl")
    assert re.search(r"-cp311-abi3-manylinux_2_\d+_", wheel.name)


def test_the_doctor_names_the_wheel_that_adds_programs_and_it_does(
    python: Path, wheels: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", os.defpath)
    fix = f"fix: `{python} -m pip install --find-links {wheels} 'dumbbell[real]'` adds it"
    said = run(python, tmp_path, "doctor").stdout
    assert re.search(rf"--   program dumbbell-utp: not found\n     {re.escape(fix)}\n", said)
    programs = tmp_path / "programs"
    programs.mkdir()
    names = ("dumbbell-kernel", "dumbbell-quic", "dumbbell-utp")
    for name in names:
        (programs / name).write_text("#!/bin/sh\necho []\n")
    subprocess.run([sys.executable, ROOT / "scripts" / "real_wheel.py", programs, tmp_path], check=True)
    (wheel,) = tmp_path.glob("dumbbell_real-*.whl")
    pip_install(python, wheel)
    said = run(python, tmp_path, "doctor").stdout
    for name in names[1:]:
        assert f"ok   program {name}: {python.with_name(name)}\n" in said
