"""The one error people see: a single line that says what is wrong and what is allowed."""

import contextlib
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from dumbbell.core import Error

Words = Callable[[str, str, str], str]
"""Function of the name of an argument, its value, and the form of its value: how the argument is called."""


def _library_words(name: str, value: str, _form: str) -> str:
    return f"{name}={value}" if value else name


_words: Words = _library_words


@contextlib.contextmanager
def words_of(words: Words) -> Iterator[None]:
    """During the block messages call arguments by `words`: the command names its options."""
    global _words
    before, _words = _words, words
    try:
        yield
    finally:
        _words = before


def is_command() -> bool:
    """Return True while the `dumbbell` command runs, False in a program that uses the library."""
    return _words is not _library_words


def argument(name: str, value: str = "", form: str = "") -> str:
    """Return an argument of the library in the words of whoever uses it, for messages.

    `argument("resume", "True")` is `resume=True` for a program and `--resume` for the command;
    `argument("out", form="DIR")` is `out` and `--out DIR`.
    """
    return _words(name, value, form)


class UserError(Error):
    """Bad input. The message is one line naming the file or argument, the key, the value and what is allowed.

    Attributes:
        argument: name of the library's argument that is refused; empty where a file or something else is.
        value: the value that is refused; None where the message tells it.
        allowed: what is allowed, in words, or the names of which one is.
        fix: what mends it, in words.
    """

    def __init__(
        self,
        problem: str = "",
        *,
        argument: str = "",
        value: object = None,
        allowed: str | Iterable[str] = "",
        fix: str = "",
    ) -> None:
        """Make the line `ARGUMENT VALUE: PROBLEM: allowed is ALLOWED: FIX` of the parts that are given.

        They may quote any text: what would break the line or the terminal is escaped, the endless cut. Where `allowed`
        are names, the closest one to `value` is suggested.
        """
        self.argument, self.value, self.fix = argument, value, fix
        self.allowed = allowed if isinstance(allowed, str) else tuple(allowed)
        words = (_head(argument, value, self.allowed), problem, _allowed_words(self.allowed), fix)
        super().__init__(shortened(printable(": ".join(word for word in words if word))))


def _head(name: str, value: object, allowed: str | tuple[str, ...]) -> str:
    shown = "" if value is None else str(value)
    if shown and not isinstance(allowed, str):
        shown = f"`{shown}`{nearest(shown, allowed)}"
    return " ".join(word for word in (argument(name) if name else "", shown) if word)


def _allowed_words(allowed: str | tuple[str, ...]) -> str:
    if isinstance(allowed, str):
        return f"allowed is {allowed}" if allowed else ""
    return f"allowed are {listed(allowed)}"


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
