"""Tests of the command's start: no unneeded module is imported."""

import subprocess
import sys
from pathlib import Path

import pytest

import dumbbell
from support.waiting import TIMEOUT_S

SLOW = {"numpy", "matplotlib", "PIL", "typst", "sqlite3", "multiprocessing", "distributed", "argcomplete", "tomli_w"}
"""Packages that take longer to import than `dumbbell list` takes."""


def imported_modules(code: str) -> set[str]:
    """Return the modules that are loaded after the code."""
    script = f"import sys\n{code}\nprint(*sys.modules, file=sys.stderr)"
    result = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=TIMEOUT_S
    )
    return set(result.stderr.split())


@pytest.mark.parametrize(
    "code",
    [
        "import dumbbell",
        "from dumbbell.cli.main import main; main(['list', 'schemes'])",
        "from dumbbell.cli.main import main; main(['list', 'paths', '--json'])",
        "from dumbbell.cli.parser import command_parser; command_parser(is_complete=True)",
    ],
)
def test_no_slow_package_is_imported(code: str) -> None:
    assert not imported_modules(code) & SLOW


def test_nothing_slow_comes_before_ctrl_c_is_one_line() -> None:
    file = Path(dumbbell.__file__).with_name("base") / "starting.py"
    assert "typing" not in imported_modules(f"exec(compile(open({str(file)!r}).read(), 'starting', 'exec'))")


def test_simulating_needs_no_numbers_in_python() -> None:
    refused_run = "from dumbbell.cli.main import main; assert main(['run', '--path', 'nowhere']) == 2"
    assert not imported_modules(f"{refused_run}; import dumbbell.execution.worker") & {"numpy", "matplotlib", "PIL"}


def test_a_process_that_makes_runs_plans_none() -> None:
    libraries = {"asyncio", "importlib.metadata", "sqlite3"}
    plans = libraries | {"dumbbell.catalog.experiment_file", "dumbbell.results.directory"}
    assert not imported_modules("import dumbbell.execution.worker, dumbbell.backends.sim") & plans


def test_a_command_line_fills_its_own_command_only() -> None:
    loaded_modules = imported_modules(
        "from dumbbell.cli.parser import command_parser; command_parser().parse_args(['list', 'paths'])"
    )
    assert "dumbbell.cli.parser" in loaded_modules
    assert "dumbbell_ccperf.arguments" not in loaded_modules
    assert "dumbbell_ccperf.arguments" in imported_modules(
        "from dumbbell.cli.parser import command_parser; command_parser(is_complete=True)"
    )
