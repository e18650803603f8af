"""Any command behind an emulated path."""

import json
import os
import re
from collections.abc import Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

from dumbbell import _core, catalog
from dumbbell.catalog.available import search_path
from dumbbell.catalog.path import PathModel
from dumbbell.catalog.traces import trace_path
from dumbbell.errors import UserError, with_hint
from dumbbell.machine.emulation import require_emulation
from dumbbell.option_values import shell_words


def emulate(
    path: str | PathModel | PathLike[str],
    command: Sequence[str] = (),
    *,
    server: str | None = None,
    delay_ms: float = 0.0,
    queue: str | None = None,
    seed: int = 1,
    log: str | PathLike[str] | None = None,
    quiet: bool = False,
) -> int:
    """Runs a command at the sender's end of an emulated path, as `dumbbell emulate` does; its exit status.

    For a program with one thread that is there for this: unless it is root's, the process enters a user namespace and
    stays in it.

    Args:
        path: a listed one, a TOML file, mahimahi traces UP or UP,DOWN, or a `dumbbell.PathModel`.
        command: its words; a shell if there are none.
        server: a command that runs at the far end meanwhile.
        delay_ms: of traces: one-way delay in each direction.
        queue: of traces: the queue of both directions, like `droptail:packets=100`.
        seed: what every random draw follows from.
        log: the file of the packet log.
        quiet: no statistics on stderr while it runs.

    Raises:
        dumbbell.Error: something that cannot be run, in one line; the command was not started.
    """
    model = path if isinstance(path, PathModel) else emulated_path(str(path), delay_ms, queue)
    try:
        _core.check_path(json.dumps(model.spec()))
    except _core.Error as error:
        raise UserError(f"{model.file}: path `{model.name}`: {with_hint(str(error))}") from None
    file = None if log is None else Path(log)
    if file is not None and not file.absolute().parent.is_dir():
        raise UserError(f"--log {file}: there is no directory {file.parent}")
    specification = {
        "seed": seed,
        "path": model.spec(),
        "command": list(command) or [os.environ.get("SHELL") or "/bin/sh"],
        "server": _server(server),
        "log": None if file is None else str(file.absolute()),
        "quiet": quiet,
    }
    require_emulation()
    os.environ["PATH"] = search_path()
    if os.geteuid() != 0:
        _core.enter_user_namespace()
    return _core.emulate_shell(json.dumps(specification))


def emulated_path(name: str, delay_ms: float = 0.0, queue: str | None = None) -> PathModel:
    """The path that was named, or the one that the trace files stand for, which the others complete."""
    path = None if name.endswith(".toml") else trace_path(name)
    if path is None:
        for option, given in (("--delay", delay_ms), ("--queue", queue)):
            if given:
                raise UserError(f"{option}: allowed with trace files only: `{name}` says it itself")
        return catalog.paths().find(name)
    delay = [{"kind": "delay", "delay_ms": delay_ms}] if delay_ms else []
    limit = {} if queue is None else {"queue": queue_table(queue)}
    # as `mm-delay MS mm-link UP DOWN`: what comes back passes the delay first
    return replace(path, data=[path.data[0] | limit, *delay], ack=[*delay, path.ack[0] | limit])


_KEY = re.compile(r"[a-z][a-z0-9_]*")


def queue_table(text: str) -> dict[str, Any]:
    """`droptail:packets=100` as the table of a queue.

    Raises:
        UserError: it is not of that form.
    """
    kind, _, rest = text.partition(":")
    table: dict[str, Any] = {"kind": kind}
    for item in filter(None, rest.split(",")):
        key, _, value = item.partition("=")
        try:
            number = json.loads(value)
        except ValueError:
            number = None
        if not _KEY.fullmatch(key) or not isinstance(number, int | float):
            raise UserError(f"--queue `{text}`: allowed is KIND or KIND:KEY=NUMBER,..., like droptail:packets=100")
        table[key] = number
    return table


def _server(text: str | None) -> list[str] | None:
    if text is None:
        return None
    words = shell_words(text, "--server")
    if not words:
        raise UserError("--server: allowed is a command with at least one word")
    return words
