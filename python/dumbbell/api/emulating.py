"""Execution of any command behind an emulated path."""

import os
import signal
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from os import PathLike
from pathlib import Path

from dumbbell import catalog, core
from dumbbell.api.watching import served
from dumbbell.base.ending import ended_by_signals
from dumbbell.base.entry import Entry
from dumbbell.base.errors import UserError, argument, with_hint
from dumbbell.base.interrupts import interruptible
from dumbbell.base.live_file import live_file
from dumbbell.base.progress import Progress, print_line
from dumbbell.base.scratch import Scratch
from dumbbell.catalog.options.values import shell_words
from dumbbell.catalog.outside.availability import search_path
from dumbbell.catalog.path import PathModel
from dumbbell.core.paths import check_path
from dumbbell.core.runs import emulate_shell
from dumbbell.machine.emulation import gain_rights, require_emulation
from dumbbell.present.live_lines import LiveLines
from dumbbell.results.live_runs import LivePlace

_BY_SIGNAL = 128
"""Base of the exit status of a command that a signal ended; the signal's number is added."""


def emulate(
    path: str | PathModel | PathLike[str],
    command: Sequence[str] = (),
    *,
    server: str | None = None,
    internet: bool = False,
    seed: int = 1,
    log: str | PathLike[str] | None = None,
    quiet: bool = False,
    live: bool = False,
    watch: bool = False,
) -> int:
    """Run a command at the sender's end of an emulated path, as `dumbbell emulate` does; return its exit status.

    This is for a dedicated program with one thread: unless it is root's, the process enters a user namespace and
    stays in it.

    Args:
        path: Listed path, TOML file, mahimahi traces UP or UP,DOWN, or a `dumbbell.PathModel`, which
            `dumbbell.make_path` makes from path options.
        command: Words of the command. Default: a shell.
        server: Command that runs at the far end during that time.
        internet: True if the command reaches the machine's network, with its name servers, behind the far end.
        seed: Seed of all random draws.
        log: File of the packet log.
        quiet: True to print neither the address of the other end nor statistics on stderr.
        live: True to show the path in the browser while the command runs; the address goes to stderr.
        watch: True to print more statistics on stderr, for both directions.

    Raises:
        dumbbell.Error: If the command cannot be run. Then it was not started.
        KeyboardInterrupt: On SIGTERM, SIGHUP or SIGINT, after the command was ended.
    """
    model = path if isinstance(path, PathModel) else catalog.paths().find(str(path))
    try:
        check_path(model.spec())
    except core.Error as error:
        raise UserError(f"{model.file}: path `{model.name}`: {with_hint(str(error))}") from None
    if watch and not command:
        raise UserError(
            f"emulate {argument('watch')}: needs a COMMAND, for a shell has the terminal to itself: "
            f"{argument('live')} is allowed"
        )
    if watch and quiet:
        raise UserError(f"emulate {argument('watch')}: not with {argument('quiet')}")
    if internet and server is not None:
        raise UserError(f"emulate {argument('internet')}: not with {argument('server')}")
    file = None if log is None else Path(log)
    if file is not None and not file.absolute().parent.is_dir():
        raise UserError(f"there is no directory {file.parent}", argument="log", value=file)
    specification = {
        "seed": seed,
        "path": model.spec(),
        "command": list(command) or [os.environ.get("SHELL") or "/bin/sh"],
        "interactive": not command,
        "server": _server(server),
        "internet": internet,
        "log": None if file is None else str(file.absolute()),
        "quiet": quiet,
    }
    require_emulation()
    os.environ["PATH"] = search_path()
    gain_rights()
    with interruptible(), ExitStack() as stack:
        if not (live or watch):
            return _emulate(specification)
        folder = stack.enter_context(Scratch("live"))
        if live:
            stack.enter_context(served([], print_line, folder))
        if watch:
            progress = stack.enter_context(Progress())
            progress.doing("emulating")
            stack.enter_context(progress.below(LiveLines(lambda: LivePlace(Entry.of(folder)).look()[1])))
        return _emulate(specification | {"live": str(live_file(folder / "0")), "watched": watch})


def _emulate(specification: Mapping[str, object]) -> int:
    """Return the exit status of the command. If a signal ended the command, raise `KeyboardInterrupt`."""
    with ended_by_signals() as requests:
        status = emulate_shell(specification)
        if requests.is_interrupted and status == _BY_SIGNAL + signal.SIGINT:
            raise KeyboardInterrupt
        return status


def _server(text: str | None) -> list[str] | None:
    if text is None:
        return None
    words = shell_words(text, argument("server"))
    if not words:
        raise UserError(argument="server", allowed="a command with at least one word")
    return words
