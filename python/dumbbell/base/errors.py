"""The one error people see: a single line that says what is wrong and what is allowed."""

import contextlib
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from dumbbell._core import Error


class UserError(Error):
    """Bad input. The message is one line naming the file or option, the key, the value and what is allowed."""

    def __init__(self, message: str) -> None:
        """`message` may quote any text: what would break the line or the terminal is escaped, the endless cut.

        Options of the command line (`--path`) become the arguments of the library, unless it is the command that runs.
        """
        super().__init__(shortened(printable(message if _is_command else in_library_words(message))))


_is_command = False


@contextlib.contextmanager
def option_words() -> Iterator[None]:
    """While the command runs, messages name its options."""
    global _is_command
    before, _is_command = _is_command, True
    try:
        yield
    finally:
        _is_command = before


def is_command() -> bool:
    """Return True while the `dumbbell` command runs, False in a program that uses the library."""
    return _is_command


_ARGUMENTS = {
    "as": "stands_for",
    "case": "cases",
    "cell": "cells",
    "experiment": "experiments",
    "for": "lasts",
    "from": "wheel",
    "mix": "mixes",
    "offline": "offline=True",
    "plugin": "plugins",
    "resume": "resume=True",
    "set": "settings",
    "trust": "trust=True",
}
"""Arguments of the library that are not called as the option of the command line is."""

# fmt: off
_SAME = (
    "all-runs", "aqm", "backend", "bandwidth-cap", "baselines", "cells", "cluster", "cost", "data-cap", "database",
    "delay", "disk-quota", "duration", "every", "exact", "flow", "flows", "folds", "group-by", "hold-out", "identical",
    "interval", "jitter", "jobs", "kind", "live", "log", "loss", "most-minutes", "most-runs", "ntp", "out",
    "pantheon-dir", "path", "pdf", "port", "queue", "quiet", "random-order", "rate", "rate-down", "rate-up",
    "receiver", "remote-address", "rtt", "run", "runs", "scheme", "schemes", "seed", "sender", "server", "sockets",
    "sort",
    "suite", "trace", "traces", "tunnel", "udp-ports", "until", "warmup", "watch",
)
# fmt: on
"""Options whose name is also that of the library's argument."""

_OPTION = re.compile(
    rf"(?<![\w-])--({'|'.join(sorted((*_ARGUMENTS, *_SAME), key=len, reverse=True))})(?![\w-])(?: DIR\b)?"
)


def worded(option: str, argument: str) -> str:
    """Return an option of the command, like `--from`, or `argument` of the library where a program uses that.

    For options that several commands have for arguments of different names: others are told by their own name.
    """
    return option if _is_command else argument


def in_library_words(message: str) -> str:
    """Return the message with the library's arguments in the place of the command's options; what it quotes stays."""
    parts = message.split("`")
    for index in range(0, len(parts), 2):
        parts[index] = _OPTION.sub(lambda found: _ARGUMENTS.get(found[1], found[1].replace("-", "_")), parts[index])
    return "`".join(parts)


LONGEST = 3000
"""The length of the longest message: what a message quotes may be of any length."""


def shortened(text: str) -> str:
    """Return the text, without its middle if it is too long for a message."""
    return text if len(text) <= LONGEST else f"{text[: LONGEST // 2]} ... {text[-LONGEST // 3 :]}"


def capitalized(text: str) -> str:
    """Return the text with a capital first letter, and the rest as it is."""
    return text[:1].upper() + text[1:]


def printable(text: object) -> str:
    """Return the text with everything escaped that a terminal would act upon, and with very long words cut."""
    whole = printable_whole(text)
    return whole if len(whole) < MOST_IN_A_WORD else _ENDLESS.sub(lambda word: f"{word[0][:80]}...", whole)


def printable_whole(text: object) -> str:
    """Return the text with everything escaped that a terminal would act upon, and nothing left out."""
    whole = str(text)
    return (
        whole if whole.isprintable() else "".join(char if char.isprintable() else ascii(char)[1:-1] for char in whole)
    )


MOST_IN_A_WORD = 1500
"""Letters of a word that is not cut."""
_ENDLESS = re.compile(rf"\S{{{MOST_IN_A_WORD},}}")


def require_text(what: str, text: str) -> None:
    """Refuses what cannot be written down as text: bytes that are not UTF-8, halves of characters, nulls.

    Raises:
        UserError: says `what` it is.
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        raise UserError(f"{what} `{text}`: is not UTF-8: choose another name") from None
    if "\0" in text:
        raise UserError(f"{what} `{text}`: has a null character: choose another name")


def full_name(what: str, file: Path) -> Path:
    """Return the full name of a file, links followed; `what` says in messages which file is meant.

    Raises:
        UserError: no file can have this name, or its links lead in a circle.
    """
    require_text(what, str(file))
    try:
        return file.resolve()
    except RuntimeError:
        raise UserError(f"{what} `{file}`: symbolic links lead in a circle") from None
    except OSError as error:
        raise UserError(f"{what} `{file}`: {error.strerror or error}") from None


def nearest(name: str, allowed: Iterable[str]) -> str:
    """Return ` (did you mean `x`?)` for the allowed name closest to `name`, or an empty text if none is close.

    Capital letters make no difference.
    """
    import difflib

    known = {each.casefold(): each for each in allowed}
    close = difflib.get_close_matches(name.casefold(), known, n=1, cutoff=0.6)
    return f" (did you mean `{known[close[0]]}`?)" if close else ""


def listed(names: Iterable[str]) -> str:
    """Return names for a message: `a, b, c`, or `none`."""
    return ", ".join(names) or "none"


def one_line(error: BaseException) -> str:
    """Return an exception as one line, for people."""
    if isinstance(error, OSError) and error.strerror:
        where = f": {error.filename}" if error.filename else ""
        return shortened(printable(f"{error.strerror}{where}"))
    return shortened(printable(" ".join(str(error).split()))) or type(error).__name__


_REFUSAL = re.compile(r"(unknown [a-z]+ `([^`]+)`)([,:] .*?(?:expected|allowed) .*)")


def with_hint(message: str) -> str:
    """Return a refusal by the core, with the closest allowed name added if the refusal lists the allowed names."""
    match = _REFUSAL.search(message)
    if match is None:
        return message
    allowed = re.findall(r"[A-Za-z0-9_][A-Za-z0-9_-]*", match[3].split(" ", 2)[-1])
    return message[: match.end(1)] + nearest(match[2], allowed) + message[match.start(3) :]
