"""Which programs of schemes may be started here at the word of another machine: the file `allow` of this user.

One program in a line, as schemes call it or as an absolute path, and behind it the names of environment variables that
a scheme may set for it. What follows a `#` is a comment.
"""

import os
import re
import stat
from collections.abc import Mapping
from pathlib import Path

from dumbbell.base.entry import open_regular
from dumbbell.base.errors import UserError, listed

MOST_BYTES = 2**16
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_STEERING = re.compile(r"LD_.*|PATH|HOME|SHELL|IFS|ENV|BASH_ENV|PYTHON.*|PERL.*|DUMBBELL_.*")
"""Variables that decide which code a program runs: whoever may set them may run anything."""


def allow_file() -> Path:
    """Where the file is, whether it is there or not."""
    return Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "dumbbell" / "allow"


def allowed() -> dict[str, frozenset[str]]:
    """The programs that may be started, each with the environment variables that may be set; none without the file.

    Raises:
        UserError: the file is not this user's alone, or a line of it cannot be understood.
    """
    file = allow_file()
    try:
        with open_regular(file) as stream:
            _require_own(file, os.fstat(stream.fileno()))
            content = stream.read(MOST_BYTES + 1)
        if len(content) > MOST_BYTES:
            raise UserError(f"{file}: has more than {MOST_BYTES // 1024} KiB")
        _require_own(file.parent, file.parent.stat())
        text = content.decode()
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except UnicodeDecodeError:
        raise UserError(f"{file}: is not UTF-8") from None
    except OSError as error:
        raise UserError(f"{file}: {error.strerror or error}") from None
    found: dict[str, frozenset[str]] = {}
    for number, line in enumerate(text.splitlines(), 1):
        words = line.partition("#")[0].split()
        if words:
            _add(found, f"{file}:{number}", words[0], words[1:])
    return found


def require(program: str, environment: Mapping[str, str] | frozenset[str] = frozenset()) -> None:
    """Refuses a program that the user of this machine has not named, and variables that he has not named for it.

    Raises:
        UserError: it is not allowed; the line says what to add where.
    """
    programs = allowed()
    if program not in programs:
        raise UserError(
            f"the program `{program}` is not allowed here: add a line `{program}` to {allow_file()} on this machine "
            f"(named there: {listed(programs)})"
        )
    more = [name for name in environment if name not in programs[program]]
    if more:
        named = listed(sorted(programs[program]))
        raise UserError(
            f"the program `{program}` may not be given {', '.join(more)} here: name them behind it in {allow_file()} "
            f"(named there: {named})"
        )


def _require_own(file: Path, status: os.stat_result) -> None:
    if status.st_uid != os.geteuid():
        raise UserError(f"{file}: belongs to user {status.st_uid}, not to the one that runs this ({os.geteuid()})")
    if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise UserError(f"{file}: can be written by others: `chmod go-w {file}`")


def _add(found: dict[str, frozenset[str]], where: str, program: str, variables: list[str]) -> None:
    if "/" in program and not program.startswith("/"):
        raise UserError(f"{where}: `{program}`: allowed is a name, or a path that begins with /")
    if not program.isprintable() or program.startswith("-"):
        raise UserError(f"{where}: `{program}`: is no name of a program")
    if program in found:
        raise UserError(f"{where}: `{program}` is named twice")
    for name in variables:
        if not _VARIABLE.fullmatch(name):
            raise UserError(f"{where}: `{name}`: allowed behind a program are names of environment variables")
        if _STEERING.fullmatch(name):
            raise UserError(f"{where}: {name} decides which code a program runs: it cannot be allowed")
    found[program] = frozenset(variables)
