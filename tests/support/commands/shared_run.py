"""A `dumbbell run` that several tests read; the first worker of pytest that asks executes it, once per session."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

from support.commands.in_process import run_in_process
from support.inputs import paths
from support.shared import made_once, shared_folder


@dataclass(frozen=True)
class SharedRun:
    """Output and results of a command. `folder` is its working directory; its results are in `folder / "out"`."""

    folder: Path
    returncode: int
    stdout: str
    stderr: str
    runs: list[dict[str, Any]]
    """Entries of `show --json`."""

    def runs_of(self, scheme: str) -> list[dict[str, Any]]:
        """Return the runs of one scheme, which has at least one."""
        runs = [run for run in self.runs if run["scheme"] == scheme]
        assert runs, scheme
        return runs

    def only(self, scheme: str) -> dict[str, Any]:
        """Return the run of a scheme that has one."""
        (run,) = self.runs_of(scheme)
        return run


def shared_run(
    factory: pytest.TempPathFactory, name: str, execute: Callable[[Path], "CompletedProcess[str]"]
) -> SharedRun:
    """Return the result of `execute` in its folder, which is called `name` for the whole session."""

    def make(folder: Path) -> None:
        (folder / "small.toml").write_text(paths.SMALL)
        result = execute(folder)
        assert "Traceback" not in result.stderr
        shown_result = run_in_process(["show", "out", "--json"], folder)
        assert shown_result.returncode == result.returncode, result.stderr + shown_result.stderr
        record = [result.returncode, result.stdout, result.stderr, json.loads(shown_result.stdout)["runs"]]
        (folder / "said.json").write_text(json.dumps(record))

    folder = made_once(shared_folder(factory, "runs") / name, make)
    return SharedRun(folder, *json.loads((folder / "said.json").read_text()))
