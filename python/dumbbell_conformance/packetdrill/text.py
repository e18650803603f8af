"""Statements of a script in packetdrill's syntax, before anything is known of their meaning.

Syntax: google/packetdrill@2c4001c, gtests/net/packetdrill/lexer.l and parser.y.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

MAX_TIME_S = 1_000_000

# Comments, what a comment cannot begin in (code, commands, strings), and blanks. What nothing closes goes to the end.
_TOKEN = re.compile(
    r"""//[^\n]*|/\*(?:.*?\*/|.*\Z)|%\{(?:.*?\}%|.*\Z)|`(?:\\.|[^`\\])*+(?:`|\Z)|"(?:\\.|[^"\\])*+(?:"|\Z)|[^\S\n]{2,}""",
    re.DOTALL,
)
_START = re.compile(r"--\w|#|`|[+*.0-9]")
_PREPROCESSOR = re.compile(r"#\s*(if|el|endif|define|include|undef)")
_NUMBER = r"(?:[0-9]{1,7}(?:\.[0-9]{0,9})?(?![0-9])|\.[0-9]{1,9})"
_EVENT = re.compile(
    rf"(?P<first>\*|\+?\s*{_NUMBER}?)(?:\s*~\s*\+?\s*(?P<last>{_NUMBER}))?(?:\s*\.\.\.\s*{_NUMBER})?"
    r"\s*(?P<action>[<>%a-zA-Z_`].*)",
    re.DOTALL,
)
_LINE_FEED = "\v"  # one inside of code, a command or a string


class OutOfScopeError(Exception):
    """A statement of valid syntax that a script cannot have, and that changes what is tested after it."""


@dataclass(frozen=True)
class Statement:
    """An option, a command without a time, an event, or a line of C's preprocessor."""

    line: int
    """Number of its first line."""
    text: str


@dataclass(frozen=True)
class EventTime:
    """Time of an event, s."""

    is_relative: bool
    """True if it counts from the event before."""
    first: Decimal | None
    """The earliest time; None if any time is right."""
    width: Decimal = Decimal(0)
    """Length of the range in which the event may happen."""


def split_statements(text: str) -> Iterator[Statement]:
    """Return the statements of a script in turn, without comments.

    Raises:
        ValueError: If a comment is not closed.
    """
    waiting: list[str] = []
    began, depth, number = 0, 0, 1
    for line in _TOKEN.sub(_kept, text).split("\n"):
        content = line.strip()
        is_start = _START.match(content) is not None and (content[0] in "+-" or depth <= 0)
        if content and waiting and (is_start or waiting[0].startswith(("--", "#"))):
            yield _statement(began, waiting)
            waiting = []
        if content and (waiting or not content.startswith("#") or _PREPROCESSOR.match(content)):
            began, depth = (began, depth) if waiting else (number, 0)
            waiting.append(content)
            depth += _opened(content)
        number += 1 + line.count(_LINE_FEED)
    if waiting:
        yield _statement(began, waiting)


def _statement(line: int, parts: list[str]) -> Statement:
    return Statement(line, "\n".join(parts).replace(_LINE_FEED, "\n"))


def _kept(token: re.Match[str]) -> str:
    text = token[0]
    if text.startswith("/*") and (len(text) < 4 or not text.endswith("*/")):
        raise ValueError("a comment that begins with `/*` and that nothing closes")
    if text.startswith("/"):
        return "\n" * text.count("\n") or " "
    return text.replace("\n", _LINE_FEED) if text[0] in '%`"' else " "


def _opened(text: str) -> int:
    """Return the parentheses, brackets and braces that a line opens, less those that it closes."""
    bare = _TOKEN.sub("", text)
    return sum(map(bare.count, "([{")) - sum(map(bare.count, ")]}"))


def parse_event(text: str) -> tuple[EventTime, str]:
    """Split an event into its time and the rest.

    Raises:
        ValueError: If it has no time, or one that is not allowed.
    """
    found = _EVENT.fullmatch(text)
    if found is None:
        named = re.match(r"[+*.0-9~\s]+", text)
        if named is None:
            raise ValueError(f"`{shown(text)}`: expected a time, then a packet, a call, a command or `%{{ code }}%`")
        raise ValueError(f"time `{shown(named[0])}`: expected seconds such as `0.1` or `+.1`, at most 9 decimals")
    first, last, action = found["first"], found["last"], found["action"]
    written = shown(text[: found.start("action")])
    if first == "*" or not first.removeprefix("+").strip():
        if first != "*" or last is not None or not action.startswith(">"):
            raise ValueError(f"time `{written}`: expected seconds; `*` is for packets that leave")
        return EventTime(True, None), action
    begin = Decimal(first.removeprefix("+").strip())
    if last is not None and Decimal(last) > MAX_TIME_S:
        raise ValueError(f"time `{written}`: expected at most {MAX_TIME_S} s")
    width = Decimal(last) - begin if last is not None else Decimal(0)
    if width < 0:
        raise ValueError(f"time `{written}`: expected the earlier time first")
    if last is not None and not action.startswith(">"):
        raise ValueError(f"time `{written}`: a range of times is for packets that leave")
    return EventTime(first.startswith("+"), begin, width), action


def shown(text: str) -> str:
    """Return a text as a message quotes it: on one line, and short."""
    text = " ".join(text.split())
    return text if len(text) <= 60 else text[:57] + "..."


def split_arguments(text: str) -> list[str]:
    """Return the arguments of a call: commas inside of parentheses, brackets and braces separate none."""
    arguments, depth, begin = [], 0, 0
    for index, char in enumerate(text):
        depth += (char in "([{") - (char in ")]}")
        if char == "," and depth == 0:
            arguments.append(text[begin:index].strip())
            begin = index + 1
    return [*arguments, text[begin:].strip()]
