"""Tests of the wheels, installed in an environment of their own, outside of the source tree.

`make test` installs the wheel of what is built beside the packages of the tests. `make wheel` names what it has written
(`DUMBBELL_WHEELS`): those, and the sources, are installed as others do it, with all that they depend on.
"""

import ast
import os
import re
import subprocess
import sys
import sysconfig
import venv
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest

import dumbbell
from support.shared import made_once, shared_folder

ROOT = Path(__file__).parents[2]
NAMES = {"PIL": "pillow", "lazy_loader": "lazy-loader", "tomli_w": "tomli-w"}
"""Packages whose import name differs from their install name."""

as_others_do = pytest.mark.skipif(
    "DUMBBELL_WHEELS" not in os.environ, reason="`make wheel` writes and installs the wheels and sources of dist/"
)


def pip_install(python: Path, *arguments: object) -> None:
    """Install from files only."""
    pip = [sys.executable, "-m", "pip", "--python", python, "install", "--no-index", "--no-deps", "--quiet"]
    subprocess.run([*map(str, pip), *map(str, arguments)], check=True)


@pytest.fixture(name="wheels", scope="module")
def _wheels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the wheel of the current build, or the one that `DUMBBELL_WHEELS` names."""
    if get := os.environ.get("DUMBBELL_WHEELS"):
        return Path(get).resolve()
    return made_once(shared_folder(tmp_path_factory, "wheel") / "built", _build)  # maturin cannot build twice at a time


def _build(folder: Path) -> None:
    """Build the wheel into `folder`."""
    maturin = Path(sys.executable).with_name("maturin")
    profile = os.environ.get("DUMBBELL_PROFILE", "release")
    build = [maturin, "build", "--profile", profile, "--locked", "--quiet", "--out", folder]
    subprocess.run(list(map(str, build)), cwd=ROOT, check=True)


@pytest.fixture(name="python", scope="module")
def _python(wheels: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the Python of a fresh environment with this wheel; its dependencies are those of the tests."""
    environment = tmp_path_factory.mktemp("environment")
    venv.create(environment)
    python = environment / "bin" / "python"
    (wheel,) = wheels.glob("dumbbell-*.whl")
    pip_install(python, wheel)
    packages = Path(sysconfig.get_path("purelib", vars={"base": str(environment), "platbase": str(environment)}))
    (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib"))
    return python


def run(python: Path, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the installed command."""
    command = [python.with_name("dumbbell"), *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_the_installed_command_runs_and_reports(python: Path, tmp_path: Path) -> None:
    location = subprocess.check_output([python, "-c", "import dumbbell; print(dumbbell.__file__)"], text=True)
    assert Path(location).is_relative_to(python.parents[1])
    result = run(
        python, tmp_path, "run", "--schemes", "cubic", "--path", "buffer-bdp", "--duration", "2", "--out", "out"
    )
    assert result.returncode == 0, result.stderr
    result = run(python, tmp_path, "report", "out")
    assert result.returncode == 0, result.stderr
    assert (tmp_path / "out" / "report.html").is_file()
    assert (tmp_path / "out" / "report.pdf").is_file()


def test_the_wheel_has_the_pages_of_the_explorer(python: Path, tmp_path: Path) -> None:
    result = run(
        python, tmp_path, "run", "--schemes", "cubic", "--path", "buffer-bdp", "--duration", "1", "--out", "out"
    )
    assert result.returncode == 0, result.stderr
    result = run(python, tmp_path, "site", "out", "--out", "web")
    assert result.returncode == 0, result.stderr
    assert {"index.html", "main.js", "main.css", "data"} <= {file.name for file in (tmp_path / "web").iterdir()}


def test_the_installed_command_says_what_it_was_built_from(python: Path, tmp_path: Path) -> None:
    pattern = r"dumbbell [\d.]+ \(commit ([0-9a-f]{12}\+?|not recorded); backends .*; helpers .*\)\n"
    assert re.fullmatch(pattern, run(python, tmp_path, "--version").stdout)


def test_the_wheel_is_for_every_python_and_no_newer_linux(wheels: Path) -> None:
    (wheel,) = wheels.glob("dumbbell-*.whl")
    assert re.search(r"-cp311-abi3-manylinux_2_\d+_", wheel.name)


def test_the_wheel_says_who_made_it_for_whom(wheels: Path) -> None:
    (wheel,) = wheels.glob("dumbbell-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (file for file in archive.namelist() if file.endswith(".dist-info/METADATA"))
        metadata = Parser().parsestr(archive.read(name).decode())
    assert metadata["Author"] == "The dumbbell authors"
    assert "Topic :: System :: Networking" in (metadata.get_all("Classifier") or [])
    assert metadata["License-Expression"] == "MIT OR Apache-2.0"


def test_the_doctor_names_the_wheel_that_adds_programs_and_it_does(
    python: Path, wheels: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", os.defpath)
    fix = f"fix: `{python} -m pip install --find-links {wheels} 'dumbbell[real]'` adds it"
    output = run(python, tmp_path, "doctor").stdout
    assert re.search(rf"--   program dumbbell-quic: not found\n     {re.escape(fix)}\n", output)
    programs = tmp_path / "programs"
    programs.mkdir()
    names = ("dumbbell-kernel", "dumbbell-quic")
    for name in names:
        (programs / name).write_text("#!/bin/sh\necho []\n")
    subprocess.run([sys.executable, ROOT / "scripts" / "real_wheel.py", programs, tmp_path], check=True)
    (wheel,) = tmp_path.glob("dumbbell_real-*.whl")
    pip_install(python, wheel)
    output = run(python, tmp_path, "doctor").stdout
    for name in names[1:]:
        assert f"ok   program {name}: {python.with_name(name)}\n" in output


def test_the_wheel_depends_on_what_it_imports(wheels: Path) -> None:
    (wheel,) = wheels.glob("dumbbell-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        (metadata,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        requirements = Parser().parsestr(archive.read(metadata).decode()).get_all("Requires-Dist", [])
        sources = {name: archive.read(name) for name in archive.namelist() if name.endswith(".py")}
    always = {re.split(r"[ <>=!~;\[]", requirement)[0] for requirement in requirements if "extra ==" not in requirement}
    extra = {
        re.split(r"[ <>=!~;\[]", requirement)[0]
        for requirement in requirements
        if re.search("extra == '(cluster|gym|train)'", requirement.replace('"', "'"))
    }
    assert extra == {"distributed", "fsspec", "gymnasium", "jax", "optax", "pettingzoo"}
    imported_names = set()
    for name, source in sources.items():
        if "pantheon_shim/modules" in name:  # run by Pantheon's Python
            continue
        for node in ast.walk(without_types(ast.parse(source))):
            if isinstance(node, ast.Import):
                imported_names |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and not node.level:
                imported_names.add(str(node.module).partition(".")[0])
    own_names = {name.partition("/")[0] for name in sources}
    other_names = {NAMES.get(name, name) for name in imported_names - sys.stdlib_module_names - own_names}
    assert other_names == always | extra


def without_types(module: ast.Module) -> ast.Module:
    """Return a module without imports for type checkers, which are not installed with it."""
    statements = [
        statement
        for statement in module.body
        if not (isinstance(statement, ast.If) and ast.unparse(statement.test) == "TYPE_CHECKING")
    ]
    return ast.Module(statements, module.type_ignores)


def fresh(folder: Path, *requirements: str) -> Path:
    """Return the Python of an environment in which pip has installed these packages, with all their dependencies."""
    venv.create(folder, symlinks=True)
    python = folder / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--python", python, "install", "--quiet", *requirements]
    subprocess.run(list(map(str, pip)), check=True)
    subprocess.run([sys.executable, "-m", "pip", "--python", python, "check"], check=True)
    return python


def check_installed(python: Path, folder: Path) -> None:
    """Check that the command runs, reports, and finds nothing wrong."""
    folder.mkdir()
    for arguments in (
        ("run", "--schemes", "cubic,copa", "--path", "buffer-bdp", "--duration", "2", "--out", "out"),
        ("report", "out"),
        ("doctor",),
    ):
        result = run(python, folder, *arguments)
        assert result.returncode == 0, result.stdout + result.stderr
    assert (folder / "out" / "report.pdf").read_bytes().startswith(b"%PDF")


@as_others_do
def test_both_wheels_install_with_all_that_they_depend_on(
    wheels: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (wheel,) = wheels.glob("dumbbell-*.whl")
    (real,) = wheels.glob("dumbbell_real-*.whl")
    python = fresh(tmp_path / "environment", f"dumbbell[real] @ {wheel.as_uri()}", f"dumbbell-real @ {real.as_uri()}")
    check_installed(python, tmp_path / "there")
    monkeypatch.setenv("PATH", os.defpath)
    output = run(python, tmp_path, "doctor").stdout
    program = python.with_name("dumbbell-quic")
    assert f"ok   program dumbbell-quic: {program}\n" in output
    assert subprocess.run([program, "--help"], stdout=subprocess.DEVNULL, check=False).returncode == 0
    assert "vegas" in run(python, tmp_path, "kernel", "list").stdout


@as_others_do
def test_the_sources_build_and_install(wheels: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (sources,) = wheels.glob("dumbbell-*.tar.gz")
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    monkeypatch.setenv("CARGO_TARGET_DIR", str(target / "sdist"))  # so that only the first time takes long
    monkeypatch.setenv("MATURIN_PEP517_ARGS", "--profile no-lto")  # the wheel has had its link-time optimization
    python = fresh(tmp_path / "environment", f"dumbbell @ {sources.as_uri()}")
    check_installed(python, tmp_path / "there")
    assert f"dumbbell {dumbbell.__version__} " in run(python, tmp_path, "--version").stdout
