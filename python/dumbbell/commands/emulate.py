"""`dumbbell emulate`: any command behind an emulated path."""

import json
import os
import re
import shlex
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from dumbbell import _core, catalog
from dumbbell.catalog.available import search_path
from dumbbell.catalog.path import PathModel
from dumbbell.catalog.traces import trace_path
from dumbbell.errors import UserError, with_hint
from dumbbell.machine.emulation import require_emulation


@dataclass(frozen=True)
class EmulateCommand:
    """The command's arguments. `delay_ms` and `queue` complete a path that is made of trace files."""

    path: str
    command: list[str]
    server: str | None
    delay_ms: float
    queue: str | None
    seed: int
    log: Path | None
    quiet: bool


def emulate(command: EmulateCommand) -> int:
    """Runs the command (a shell if it is empty) at the sender's end of the path; its exit status."""
    path = emulated_path(command)
    try:
        _core.check_path(json.dumps(path.spec()))
    except _core.Error as error:
        raise UserError(f"{path.file}: path `{path.name}`: {with_hint(str(error))}") from None
    if command.log is not None and not command.log.absolute().parent.is_dir():
        raise UserError(f"--log {command.log}: there is no directory {command.log.parent}")
    specification = {
        "seed": command.seed,
        "path": path.spec(),
        "command": command.command or [os.environ.get("SHELL") or "/bin/sh"],
        "server": _server(command.server),
        "log": None if command.log is None else str(command.log.absolute()),
        "quiet": command.quiet,
    }
    require_emulation()
    os.environ["PATH"] = search_path()
    if os.geteuid() != 0:
        _core.enter_user_namespace()
    return _core.emulate_shell(json.dumps(specification))


def emulated_path(command: EmulateCommand) -> PathModel:
    """The path that was named, or the one that the trace files stand for."""
    path = None if command.path.endswith(".toml") else trace_path(command.path)
    if path is None:
        for option, given in (("--delay", command.delay_ms), ("--queue", command.queue)):
            if given:
                raise UserError(f"{option}: allowed with trace files only: `{command.path}` says it itself")
        return catalog.paths().find(command.path)
    delay = [{"kind": "delay", "delay_ms": command.delay_ms}] if command.delay_ms else []
    queue = {} if command.queue is None else {"queue": queue_table(command.queue)}
    # as `mm-delay MS mm-link UP DOWN`: what comes back passes the delay first
    return replace(path, data=[path.data[0] | queue, *delay], ack=[*delay, path.ack[0] | queue])


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
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise UserError(f"--server `{text}`: {str(error).lower()}") from None
    if not words:
        raise UserError("--server: allowed is a command with at least one word")
    return words
