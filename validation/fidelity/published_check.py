"""Checks of published results: their tasks, their tools and their stored results."""

from __future__ import annotations

import copy
import hashlib
import json
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeVar

from validation.fidelity.claims import FOLDER
from validation.fidelity.drawn_seeds import seed

Item = TypeVar("Item")
Answer = TypeVar("Answer")
RowValues = Mapping[str, Mapping[str, float]]
"""Values of one repetition: the metrics of each row, by its key."""

_OF_ANOTHER = "it has results of another experiment"  # the catalog's file has changed since
_DIGITS = 6  # that are kept of a number


class RunFailure(Exception):
    """A run of a check did not come to its end; the message is the reason, in one line."""


@dataclass(frozen=True)
class Check:
    """Repetition of a published result.

    Attributes:
        id: Name of the result, as its claim has it.
        name: Name of the module, and of the claim's file.
        simulate: Function that returns the values of that many repetitions; None if nothing can be measured.
        real: Function that returns the values measured with real packets; None if nothing is measured.
    """

    id: str
    name: str
    simulate: Callable[[Work, int], list[RowValues]] | None
    real: Callable[[Work], RowValues] | None = None

    @property
    def file(self) -> Path:
        """Return the claim's file."""
        return FOLDER / f"{self.name}.toml"


class Work:
    """Tools with which a check computes.

    Checks go on side by side. Emulated runs take turns among themselves, as they do among processes.
    """

    def __init__(self, directory: Path, pool: ProcessPoolExecutor, *, draw: str) -> None:
        """Put results into `directory` and simulations into `pool`; `draw` is the name that seeds are drawn from."""
        self.directory = directory
        self.draw = draw
        self.commands: list[str] = []
        self._pool = pool
        self._guard = threading.Lock()
        self._locks: dict[Path, threading.Lock] = {}

    def for_check(self) -> Work:
        """Return the same work with a list of commands of its own."""
        other = copy.copy(self)
        other.commands = []
        return other

    def repetitions(self, name: str, *words: str, count: int) -> Path:
        """Return the results of `count` runs of each scheme of an experiment, with the seed drawn for it.

        Checks that ask for the same share the runs.

        Raises:
            RunFailure: The command was refused, or runs failed.
        """
        return self.results(name, *words, "--runs", str(count), "--seed", str(seed(self.draw, name)))

    def results(self, name: str, *words: str) -> Path:
        """Return the results of `dumbbell run NAME WORDS`, which is run once, and resumed if it was begun.

        `name` is an experiment of the catalog, a file, or the first option of a run without an experiment. Runs that
        are degraded are among the results.

        Raises:
            RunFailure: The command was refused, or runs failed.
        """
        self.commands.append(f"dumbbell run {' '.join([name, *words])}")
        task_text = json.dumps([name, *words])
        out = self.directory / f"{Path(name.lstrip('-')).stem}-{hashlib.sha256(task_text.encode()).hexdigest()[:8]}"
        with self._guard:
            lock = self._locks.setdefault(out, threading.Lock())
        with lock:
            # Checks run in parallel over the CPUs. Simulations give way to real-time work.
            before = [] if "emu" in words else ["nice", "-n", "15"]
            command = [*before, sys.executable, "-m", "dumbbell", "run", name, *words, "--jobs", "1", "--out", str(out)]
            result = _ran([*command, "--resume"] if (out / "experiment.toml").exists() else command)
            if _OF_ANOTHER in result.stderr:
                shutil.rmtree(out)
                result = _ran(command)
        if result.returncode:
            reason = (result.stderr.strip() or f"exit status {result.returncode}").splitlines()[-1]
            raise RunFailure(f"dumbbell run {' '.join([name, *words])}: {reason}")
        return out

    def map(self, function: Callable[[Item], Answer], items: Iterable[Item]) -> list[Answer]:
        """Return the results of `function` (of a module) for every item, computed in processes."""
        return list(self._pool.map(function, items))


@dataclass(frozen=True)
class Real:
    """Values measured with real packets, with dumbbell's version, the claim's version and the commands."""

    values: RowValues
    dumbbell: str
    blob: str
    commands: tuple[str, ...]


@dataclass(frozen=True)
class Results:
    """Values that a check measured, without a verdict.

    Attributes:
        draw: The name that seeds were drawn from.
        blob: The claim's file as it was committed then.
        rule: Number of the rule that was committed then.
    """

    id: str
    dumbbell: str
    draw: str
    blob: str
    commands: tuple[str, ...]
    seconds: float
    simulated: tuple[RowValues, ...]
    real: Real | None = None
    failed: str = ""
    rule: int = 1


def _ran(command: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, check=False)


def order(check: str) -> tuple[int, str]:
    """Return a sort key that puts `R2` before `R10`, and names without a number last."""
    digits = check[1:]
    return (int(digits) if check[0] == "R" and digits.isdigit() else 1000, check)


def round_values(values_by_row: RowValues) -> RowValues:
    """Return the values rounded to the stored digits, which are also the judged ones."""
    return {
        row: {metric: float(f"{value:.{_DIGITS}g}") for metric, value in metrics.items()}
        for row, metrics in values_by_row.items()
    }


def save(results: Iterable[Results], file: Path) -> None:
    """Write results as JSON, in the order of their names, with a line for each repetition."""
    lines = []
    for check_results in sorted(results, key=lambda entry: order(entry.id)):
        content = asdict(check_results)
        repetitions = ",\n".join(f"   {_json(row_values)}" for row_values in content.pop("simulated"))
        lines.append(f' {_json(content)[:-1]},\n  "simulated": [\n{repetitions}\n  ]}}')
    file.write_text("[\n" + ",\n".join(lines) + "\n]\n", encoding="utf-8")


def _json(content: object) -> str:
    return json.dumps(content, ensure_ascii=False)


def load(file: Path) -> dict[str, Results]:
    """Return the results that `save` wrote, by name; none if the file does not exist."""
    if not file.exists():
        return {}
    return {entry["id"]: _results(entry) for entry in json.loads(file.read_text(encoding="utf-8"))}


def _results(entry: dict[str, Any]) -> Results:
    real = entry["real"] and Real(**entry["real"] | {"commands": tuple(entry["real"]["commands"])})
    return Results(
        **entry | {"commands": tuple(entry["commands"]), "simulated": tuple(entry["simulated"]), "real": real}
    )
