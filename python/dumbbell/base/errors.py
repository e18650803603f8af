"""The error that people see: one line with the problem and the allowed values."""

import contextlib
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from dumbbell.core import Error

Words = Callable[[str, str, str], str]
"""Function from the name, the value and the value form of an argument to the words that messages use."""


def _library_words(name: str, value: str, _form: str) -> str:
    return f"{name}={value}" if value else name


_words: Words = _library_words


@contextlib.contextmanager
def words_of(words: Words) -> Iterator[None]:
    """Use `words` to name arguments in messages during the context. The command names its options by it."""
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
    """Return the words for an argument of the library in messages, for a program or for the command.

    `argument("resume", "True")` is `resume=True` for a program and `--resume` for the command; `argument("out",
    form="DIR")` is `out` and `--out DIR`.
    """
    return _words(name, value, form)


class UserError(Error):
    """Bad input. The message is one line naming the file or argument, the key, the value and what is allowed.

    Attributes:
        argument: Name of the refused argument of the library; empty if something else is refused, such as a file.
        value: The refused value; None if the message contains it.
        allowed: The allowed values, in words, or the allowed names.
        fix: The correction, in words.
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
        """Make the line `ARGUMENT VALUE: PROBLEM: allowed is ALLOWED: FIX` from the non-empty parts.

        The parts may quote any text: control characters are escaped and long texts are cut. If `allowed` contains
        names, the message suggests the name closest to `value`.
        """
        self.argument, self.value, self.fix = argument, value, fix
        self.allowed = allowed if isinstance(allowed, str) else tuple(allowed)
        words = (_head(argument, value, self.allowed), problem, _allowed_words(self.allowed), fix)
        super().__init__(shortened(printable(": ".join(word for word in words if word))))


def _head(name: str, value: object, choices: str | tuple[str, ...]) -> str:
    text = "" if value is None else str(value)
    if text and not isinstance(choices, str):
        text = f"`{text}`{nearest(text, choices)}"
    return " ".join(word for word in (argument(name) if name else "", text) if word)


def _allowed_words(choices: str | tuple[str, ...]) -> str:
    if isinstance(choices, str):
        return f"allowed is {choices}" if choices else ""
    return f"allowed are {listed(choices)}"


LONGEST = 3000
"""Maximum length of a message, characters. A message may quote a text of any length."""


def shortened(text: str) -> str:
    """Return the text; if it is too long for a message, without its middle."""
    return text if len(text) <= LONGEST else f"{text[: LONGEST // 2]} ... {text[-LONGEST // 3 :]}"


def capitalized(text: str) -> str:
    """Return the text with a capital first letter, and the rest as it is."""
    return text[:1].upper() + text[1:]


def printable(text: object) -> str:
    """Return the text with escaped control characters and shortened long words."""
    text_out = printable_whole(text)
    return text_out if len(text_out) < MOST_IN_A_WORD else _ENDLESS.sub(lambda word: f"{word[0][:80]}...", text_out)


def printable_whole(text: object) -> str:
    """Return the whole text with escaped control characters."""
    raw = str(text)
    return raw if raw.isprintable() else "".join(char if char.isprintable() else ascii(char)[1:-1] for char in raw)


MOST_IN_A_WORD = 1500
"""Maximum length of a word in a message, characters; longer words are cut."""
_ENDLESS = re.compile(rf"\S{{{MOST_IN_A_WORD},}}")


def require_text(description: str, text: str) -> None:
    """Raise an error for text that cannot be written down: invalid UTF-8, lone surrogates, null characters.

    Raises:
        UserError: If the text is invalid; the message begins with `description`.
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        raise UserError(f"{description} `{text}`: is not UTF-8: choose another name") from None
    if "\0" in text:
        raise UserError(f"{description} `{text}`: has a null character: choose another name")


def full_name(description: str, file: Path) -> Path:
    """Return the absolute name of a file, with symbolic links resolved. Messages call the file `description`.

    Raises:
        UserError: If the name is invalid, or its links form a circle.
    """
    require_text(description, str(file))
    try:
        return file.resolve()
    except RuntimeError:
        raise UserError(f"{description} `{file}`: symbolic links lead in a circle") from None
    except OSError as error:
        raise UserError(f"{description} `{file}`: {error.strerror or error}") from None


def nearest(name: str, choices: Iterable[str]) -> str:
    """Return ` (did you mean `x`?)` with the choice closest to `name`; empty if none is close.

    Upper and lower case make no difference.
    """
    import difflib

    by_folded_name = {choice.casefold(): choice for choice in choices}
    close = difflib.get_close_matches(name.casefold(), by_folded_name, n=1, cutoff=0.6)
    return f" (did you mean `{by_folded_name[close[0]]}`?)" if close else ""


def listed(names: Iterable[str]) -> str:
    """Return names for a message: `a, b, c`, or `none`."""
    return ", ".join(names) or "none"


def one_line(error: BaseException) -> str:
    """Return an exception as one line, for people."""
    if isinstance(error, OSError) and error.strerror:
        place = f": {error.filename}" if error.filename else ""
        return shortened(printable(f"{error.strerror}{place}"))
    return shortened(printable(" ".join(str(error).split()))) or type(error).__name__


_REFUSAL = re.compile(r"(unknown [a-z]+ `([^`]+)`)([,:] .*?(?:expected|allowed) .*)")


def with_hint(message: str) -> str:
    """Return a refusal by the core. If it lists allowed names, the closest one is added."""
    match = _REFUSAL.search(message)
    if match is None:
        return message
    choices = re.findall(r"[A-Za-z0-9_][A-Za-z0-9_-]*", match[3].split(" ", 2)[-1])
    return message[: match.end(1)] + nearest(match[2], choices) + message[match.start(3) :]
