"""Statements of a script in packetdrill's syntax, before their interpretation.

Syntax: google/packetdrill@2c4001c, gtests/net/packetdrill/lexer.l and parser.y.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

MAX_TIME_S = 1_000_000

# Comments, blanks, and text in which no comment can begin (code, commands, strings). Unclosed text goes to the end.
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
_LINE_FEED = "\v"  # a line feed inside code, a command or a string


class OutOfScopeError(Exception):
    """A statement of valid syntax that a script cannot express, and that changes the later tests."""


@dataclass(frozen=True)
class Statement:
    """An option, a command without a time, an event, or a line of C's preprocessor."""

    line: int
    """Number of the statement's first line."""
    text: str


@dataclass(frozen=True)
class EventTime:
    """Time of an event, s."""

    is_relative: bool
    """True if the time counts from the previous event."""
    first: Decimal | None
    """Earliest time; None if any time is right."""
    width: Decimal = Decimal(0)
    """Length of the range in which the event may happen, s."""


def split_statements(text: str) -> Iterator[Statement]:
    """Return the statements of a script in turn, without comments.

    Raises:
        ValueError: If a comment is not closed.
    """
    waiting: list[str] = []
    began, depth, number = 0, 0, 1
    for line in _TOKEN.sub(_without_comment, text).split("\n"):
        content = line.strip()
        is_start = _START.match(content) is not None and (content[0] in "+-" or depth <= 0)
        if content and waiting and (is_start or waiting[0].startswith(("--", "#"))):
            yield _statement(began, waiting)
            waiting = []
        if content and (waiting or not content.startswith("#") or _PREPROCESSOR.match(content)):
            began, depth = (began, depth) if waiting else (number, 0)
            waiting.append(content)
            depth += _open_brackets(content)
        number += 1 + line.count(_LINE_FEED)
    if waiting:
        yield _statement(began, waiting)


def _statement(line: int, parts: list[str]) -> Statement:
    return Statement(line, "\n".join(parts).replace(_LINE_FEED, "\n"))


def _without_comment(token: re.Match[str]) -> str:
    text = token[0]
    if text.startswith("/*") and (len(text) < 4 or not text.endswith("*/")):
        raise ValueError("a comment that begins with `/*` and that nothing closes")
    if text.startswith("/"):
        return "\n" * text.count("\n") or " "
    return text.replace("\n", _LINE_FEED) if text[0] in '%`"' else " "


def _open_brackets(text: str) -> int:
    """Return the parentheses, brackets and braces that a line opens, less those that it closes."""
    bare = _TOKEN.sub("", text)
    return sum(map(bare.count, "([{")) - sum(map(bare.count, ")]}"))


def parse_event(text: str) -> tuple[EventTime, str]:
    """Split an event into its time and the rest.

    Raises:
        ValueError: If the event has no time, or an invalid one.
    """
    match = _EVENT.fullmatch(text)
    if match is None:
        time_match = re.match(r"[+*.0-9~\s]+", text)
        if time_match is None:
            raise ValueError(
                f"`{quotation(text)}`: expected a time, then a packet, a call, a command or `%{{ code }}%`"
            )
        raise ValueError(
            f"time `{quotation(time_match[0])}`: expected seconds such as `0.1` or `+.1`, at most 9 decimals"
        )
    first, last, action = match["first"], match["last"], match["action"]
    quoted_time = quotation(text[: match.start("action")])
    if first == "*" or not first.removeprefix("+").strip():
        if first != "*" or last is not None or not action.startswith(">"):
            raise ValueError(f"time `{quoted_time}`: expected seconds; `*` is for packets that leave")
        return EventTime(True, None), action
    begin = Decimal(first.removeprefix("+").strip())
    if last is not None and Decimal(last) > MAX_TIME_S:
        raise ValueError(f"time `{quoted_time}`: expected at most {MAX_TIME_S} s")
    width = Decimal(last) - begin if last is not None else Decimal(0)
    if width < 0:
        raise ValueError(f"time `{quoted_time}`: expected the earlier time first")
    if last is not None and not action.startswith(">"):
        raise ValueError(f"time `{quoted_time}`: a range of times is for packets that leave")
    return EventTime(first.startswith("+"), begin, width), action


def quotation(text: str) -> str:
    """Return a text for quotation in a message: on one line, and short."""
    text = " ".join(text.split())
    return text if len(text) <= 60 else text[:57] + "..."


def split_arguments(text: str) -> list[str]:
    """Return the arguments of a call. Commas inside parentheses, brackets and braces do not separate arguments."""
    arguments, depth, begin = [], 0, 0
    for index, char in enumerate(text):
        depth += (char in "([{") - (char in ")]}")
        if char == "," and depth == 0:
            arguments.append(text[begin:index].strip())
            begin = index + 1
    return [*arguments, text[begin:].strip()]
