"""What mahimahi's command says of a path: delay, random loss and the queues of its link."""

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from dumbbell.base.errors import UserError, listed
from dumbbell.catalog.open_tables import Queue
from dumbbell.formats.pantheon_metadata import shortened

_QUEUES = ("infinite", "droptail", "drophead", "codel", "pie")
_ARGUMENTS = {
    "packets": "packets",
    "bytes": "bytes",
    "target": "target_ms",
    "interval": "interval_ms",
    "qdelay_ref": "target_ms",
    "max_burst": "max_burst_ms",
}
"""Arguments of mm-link's queues by the keys of ours."""
_QUIRKS = {"codel": "mahimahi", "pie": "mahimahi"}
_MOST_MS = 3_600_000.0
_MOST = 10**9


@dataclass(frozen=True)
class MahimahiCommand:
    """The shells around a test, outermost first, as a path: link, loss and delay in the data direction."""

    delay_ms: float = 0.0
    loss: float = 0.0
    ack_loss: float = 0.0
    queue: Queue | None = None
    ack_queue: Queue | None = None
    unknown: tuple[str, ...] = field(default=())
    """Shells that no element stands for."""


def read_command(metadata: Mapping[str, Any], where: str) -> MahimahiCommand:
    """Return what Pantheon's metadata say of mahimahi; `where` begins messages.

    Raises:
        UserError: a shell or a queue with arguments that are none.
    """
    words: list[str] = []
    for key in ("prepend_mm_cmds", "append_mm_cmds"):
        words += _words(metadata.get(key), f"{where}: `{key}`")
    delay, losses, unknown = 0.0, {"uplink": 0.0, "downlink": 0.0}, []
    while words:
        shell = words.pop(0)
        told = f"{where}: `{shell}`"
        if shell == "mm-delay":
            delay += _number(_next(words, told), told, _MOST_MS)
        elif shell == "mm-loss":
            way = _next(words, told)
            if way not in losses:
                raise UserError(f"{told}: `{shortened(way)}`: allowed are uplink and downlink")
            rate = _number(_next(words, told), told, 1.0)
            losses[way] = 1.0 - (1.0 - losses[way]) * (1.0 - rate)
        else:
            unknown.append(shell)
            while words and not words[0].startswith("mm-"):
                words.pop(0)
    options = _options(_words(metadata.get("extra_mm_link_args"), f"{where}: `extra_mm_link_args`"))
    queues = {way: _queue(options, way, f"{where}: `extra_mm_link_args`") for way in ("uplink", "downlink")}
    return MahimahiCommand(
        delay, losses["uplink"], losses["downlink"], queues["uplink"], queues["downlink"], tuple(unknown)
    )


_QUEUE_LINE = re.compile(r"# queue: (\w+)(?: \[(.*)\])?\s*")
_CONFIG_LINE = re.compile(r"# mahimahi config:(.*)")
_DELAY = re.compile(r"\[delay (\d{1,7}) ms\]")


@dataclass(frozen=True)
class LogHead:
    """What the first lines of a log of mm-link say. None is what they do not say."""

    queue: tuple[Queue | None] | None = None
    """The queue of the link, which may be one without a limit."""
    delay_ms: float | None = None
    """What the shells of mm-delay around it add up to."""


def read_head(head: str, where: str) -> LogHead:
    """Return what the first lines of a log of mm-link say.

    Raises:
        UserError: they name a queue that mm-link does not have.
    """
    queue, delay = None, None
    for line in head.splitlines():
        if match := _QUEUE_LINE.fullmatch(line):
            queue = (_made(match[1], match[2] or "", f"{where}: `# queue:`"),)
        elif match := _CONFIG_LINE.fullmatch(line):
            delay = float(sum(map(int, _DELAY.findall(match[1]))))
    return LogHead(queue, delay)


def _words(value: object, told: str) -> list[str]:
    try:
        return shlex.split(str(value)) if value else []
    except ValueError as error:
        raise UserError(f"{told} = {shortened(value)}: {error}") from None


def _next(words: list[str], told: str) -> str:
    if not words:
        raise UserError(f"{told}: its value is missing")
    return words.pop(0)


def _number(text: str, told: str, most: float) -> float:
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not 0.0 <= value <= most:
        raise UserError(f"{told} {shortened(text)}: allowed is a number, 0 to {most:g}")
    return value


def _options(words: list[str]) -> dict[str, str]:
    """Options of mm-link, `--name=value` or `--name value`."""
    found: dict[str, str] = {}
    while words:
        name, equals, value = words.pop(0).partition("=")
        if not equals and words and not words[0].startswith("--"):
            value = words.pop(0)
        found[name] = value
    return found


def _queue(options: Mapping[str, str], way: str, told: str) -> Queue | None:
    return _made(options.get(f"--{way}-queue", "infinite"), options.get(f"--{way}-queue-args", ""), told)


def _made(kind: str, arguments: str, told: str) -> Queue | None:
    """Return a queue as a path has it; None for one without a limit."""
    if kind not in _QUEUES:
        raise UserError(f"{told}: queue `{shortened(kind)}`: allowed are {listed(_QUEUES)}")
    if kind == "infinite":
        return None
    queue: Queue = {"kind": kind}
    for part in filter(None, re.split(r"[,\s]+", arguments.strip("\"' "))):
        name, _, value = part.partition("=")
        if name not in _ARGUMENTS or not re.fullmatch(r"\d{1,9}", value) or int(value) > _MOST:
            raise UserError(f"{told}: `{shortened(part)}`: allowed are {listed(_ARGUMENTS)} with a whole number each")
        key = _ARGUMENTS[name]
        if int(value):  # 0 is no limit
            queue[key] = float(value) if key.endswith("_ms") else int(value)
    if kind in ("droptail", "drophead") and len(queue) == 1:
        raise UserError(f"{told}: queue `{kind}`: needed is packets=N or bytes=N")
    return queue | ({"quirk": _QUIRKS[kind]} if kind in _QUIRKS else {})
