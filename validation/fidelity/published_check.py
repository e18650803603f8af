"""What a check of a published result is, what it is given, and what is kept of it."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeVar

Item = TypeVar("Item")
Answer = TypeVar("Answer")


_OF_ANOTHER = "it has results of another experiment"  # the catalog's file has changed since


class Failed(Exception):
    """A run of a check did not come to its end; the message is the reason, in one line."""


@dataclass(frozen=True)
class Row:
    """One published figure beside ours. `passed` is None where ours is shown and not judged."""

    what: str
    published: str
    tolerance: str
    sim: str = ""
    emu: str = ""
    passed: bool | None = None
    why: str = ""


@dataclass(frozen=True)
class Check:
    """A published result that can be repeated: `commands` do so by hand, `run` judges what came of them."""

    id: str
    title: str
    source: str
    commands: tuple[str, ...]
    run: Callable[[Work], list[Row]]


class Work:
    """What a check is given to compute with.

    Checks go on side by side. Emulated runs take turns among themselves, as they do among processes.
    """

    def __init__(self, directory: Path, pool: ProcessPoolExecutor, *, emulate: bool) -> None:
        """Results go to `directory`, simulations to `pool`; `emulate`: whether real packets can be had."""
        self.directory = directory
        self.emulate = emulate
        self._pool = pool
        self._guard = threading.Lock()
        self._locks: dict[Path, threading.Lock] = {}

    def results(self, name: str, *words: str) -> Path:
        """The results of `dumbbell run NAME WORDS`, which is run once, and resumed where it was begun.

        `name` is an experiment of the catalog, a file, or the first option of a run without an experiment. Runs that
        are degraded are among the results.

        Raises:
            Failed: the command was refused, or runs failed.
        """
        told = json.dumps([name, *words])
        out = self.directory / f"{Path(name.lstrip('-')).stem}-{hashlib.sha256(told.encode()).hexdigest()[:8]}"
        with self._guard:
            lock = self._locks.setdefault(out, threading.Lock())
        with lock:
            # Checks are what is spread over processors. Simulations give way to what is in real time.
            before = [] if "emu" in words else ["nice", "-n", "15"]
            command = [*before, sys.executable, "-m", "dumbbell", "run", name, *words, "--jobs", "1", "--out", str(out)]
            done = _ran([*command, "--resume"] if (out / "experiment.toml").exists() else command)
            if _OF_ANOTHER in done.stderr:
                shutil.rmtree(out)
                done = _ran(command)
        if done.returncode:
            reason = (done.stderr.strip() or f"exit status {done.returncode}").splitlines()[-1]
            raise Failed(f"dumbbell run {' '.join([name, *words])}: {reason}")
        return out

    def map(self, function: Callable[[Item], Answer], items: Iterable[Item]) -> list[Answer]:
        """`function` (of a module) of every item, over processes."""
        return list(self._pool.map(function, items))


@dataclass(frozen=True)
class Outcome:
    """What came of a check, when, and how long it took."""

    id: str
    title: str
    source: str
    commands: tuple[str, ...]
    rows: tuple[Row, ...]
    seconds: float
    dumbbell: str
    failed: str = ""

    @property
    def passed(self) -> bool | None:
        """Whether every row that is judged passed; None where none is."""
        if self.failed:
            return False
        judged = [row.passed for row in self.rows if row.passed is not None]
        return all(judged) if judged else None


def _ran(command: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, check=False)


def order(check: str) -> tuple[int, str]:
    """Sorts `R2` before `R10`, and what has no number behind."""
    digits = check[1:]
    return (int(digits) if check[0] == "R" and digits.isdigit() else 1000, check)


def save(outcomes: Iterable[Outcome], file: Path) -> None:
    """Writes outcomes as JSON, in the order of their names."""
    content = [asdict(outcome) for outcome in sorted(outcomes, key=lambda one: order(one.id))]
    file.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def load(file: Path) -> dict[str, Outcome]:
    """What `save` wrote, by name; empty where nothing was."""
    if not file.exists():
        return {}
    return {entry["id"]: _outcome(entry) for entry in json.loads(file.read_text(encoding="utf-8"))}


def _outcome(entry: dict[str, Any]) -> Outcome:
    rows = tuple(Row(**row) for row in entry["rows"])
    return Outcome(**entry | {"commands": tuple(entry["commands"]), "rows": rows})
