"""Tests that generated files equal the output of their scripts."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("script", ["commands_doc", "contract", "metrics_doc", "run_arguments", "schemas"])
def test_files_are_what_their_script_writes(script: str) -> None:
    command = [sys.executable, "-m", f"scripts.{script}", "--check"]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (result.returncode, result.stderr) == (0, "")
