"""The file `allow` of this user: programs of schemes that other machines may start here.

Each line has one program, as schemes call it or as an absolute path, then the names of environment variables that
a scheme may set for it. Text after a `#` is a comment.
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
"""Variables that decide which code a program runs. Permission to set them would permit every program."""


def allow_file() -> Path:
    """Return the path of the allow file, even if it does not exist."""
    return Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "dumbbell" / "allow"


def allowed_programs() -> dict[str, frozenset[str]]:
    """Return the allowed programs with their allowed environment variables; empty without the file.

    Raises:
        UserError: other users may write the file, or a line is invalid.
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
    programs: dict[str, frozenset[str]] = {}
    for number, line in enumerate(text.splitlines(), 1):
        words = line.partition("#")[0].split()
        if words:
            _add(programs, f"{file}:{number}", words[0], words[1:])
    return programs


def require(program: str, environment: Mapping[str, str] | frozenset[str] = frozenset()) -> None:
    """Refuse a program that this machine's user has not named, and variables not named for the program.

    Raises:
        UserError: the program is not allowed; the message has the line to add.
    """
    programs = allowed_programs()
    if program not in programs:
        raise UserError(
            f"the program `{program}` is not allowed here: add a line `{program}` to {allow_file()} on this machine "
            f"(named there: {listed(programs)})"
        )
    more = [name for name in environment if name not in programs[program]]
    if more:
        allowed_names = listed(sorted(programs[program]))
        raise UserError(
            f"the program `{program}` may not be given {', '.join(more)} here: name them behind it in {allow_file()} "
            f"(named there: {allowed_names})"
        )


def _require_own(file: Path, status: os.stat_result) -> None:
    if status.st_uid != os.geteuid():
        raise UserError(f"{file}: belongs to user {status.st_uid}, not to the one that runs this ({os.geteuid()})")
    if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise UserError(f"{file}: can be written by others: `chmod go-w {file}`")


def _add(programs: dict[str, frozenset[str]], place: str, program: str, variables: list[str]) -> None:
    if "/" in program and not program.startswith("/"):
        raise UserError(f"{place}: `{program}`: allowed is a name, or a path that begins with /")
    if not program.isprintable() or program.startswith("-"):
        raise UserError(f"{place}: `{program}`: is no name of a program")
    if program in programs:
        raise UserError(f"{place}: `{program}` is named twice")
    for name in variables:
        if not _VARIABLE.fullmatch(name):
            raise UserError(f"{place}: `{name}`: allowed behind a program are names of environment variables")
        if _STEERING.fullmatch(name):
            raise UserError(f"{place}: {name} decides which code a program runs: it cannot be allowed")
    programs[program] = frozenset(variables)
