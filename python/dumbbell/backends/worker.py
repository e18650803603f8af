"""The process that simulates: one run after the other, each into a temporary directory that is then renamed."""

import json
import os
import shutil
import signal
import threading
from dataclasses import dataclass
from multiprocessing import parent_process
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from dumbbell import __version__, _core
from dumbbell.errors import one_line
from dumbbell.results.directory import unsuccessful
from dumbbell.results.environment import now
from dumbbell.results.files import publish, to_json


@dataclass(frozen=True)
class Task:
    """One run to execute."""

    number: int
    label: str
    identity: dict[str, Any]
    specification: str
    temporary: Path
    final: Path


@dataclass(frozen=True)
class Done:
    """What became of a task; `statistics` are the contents of its `stats.json`."""

    number: int
    statistics: dict[str, Any]


def serve(connection: Connection) -> None:
    """Executes tasks from the connection until it closes. Only the parent stops it, so it ignores Ctrl-C."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    threading.Thread(target=_die_with_parent, daemon=True).start()
    while True:
        try:
            task = connection.recv()
        except (EOFError, OSError):
            return
        connection.send(Done(task.number, execute(task)))


def _die_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def execute(task: Task) -> dict[str, Any]:
    """Runs one task. Whatever goes wrong becomes the reason of a failed run."""
    started_at = now()
    log = [f"{started_at} dumbbell {__version__}: {task.label}", f"specification: {task.specification}"]
    try:
        task.temporary.mkdir(parents=True)
        statistics: dict[str, Any] = json.loads(_core.simulate(task.specification, str(task.temporary)))
        times = {"started_at": started_at, "ended_at": now()}
        statistics = {"backend": "sim", "status": "done", "reason": None} | times | statistics
        log.append(f"{now()} done in {statistics['sim_wall_s']:.3f} s")
        _complete(task, statistics, log)
    except (KeyboardInterrupt, SystemExit):
        shutil.rmtree(task.temporary, ignore_errors=True)
        raise
    except BaseException as error:  # a panic of the core is no Exception
        statistics = unsuccessful("sim", "failed", one_line(error))
        log.append(f"{now()} failed: {one_line(error)}")
        shutil.rmtree(task.temporary, ignore_errors=True)
        _record_failure(task, statistics, log)
    return statistics


def _complete(task: Task, statistics: dict[str, Any], log: list[str]) -> None:
    (task.temporary / "log.txt").write_text("\n".join(log) + "\n", encoding="utf-8")
    (task.temporary / "stats.json").write_text(to_json(task.identity | statistics), encoding="utf-8")
    publish(task.temporary, task.final)


def _record_failure(task: Task, statistics: dict[str, Any], log: list[str]) -> None:
    """Keeps the reason on disk too, if the disk takes it; the parent reports it in any case."""
    try:
        task.temporary.mkdir(parents=True)
        _complete(task, statistics, log)
    except OSError:
        shutil.rmtree(task.temporary, ignore_errors=True)
