"""The path that mahimahi's command states: delay, random loss, and the queues and traces of its link."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import PurePath
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
_REQUIRED = {"codel": ("target_ms", "interval_ms"), "pie": ("target_ms", "max_burst_ms")}
"""Arguments without which mm-link does not start. Its line `# queue:` never has them."""
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
    trace: str = ""
    """Trace file of the data direction, as the metadata or a log name it."""
    ack_trace: str = ""
    remarks: tuple[str, ...] = ()
    """Contradictions between the log and the metadata, and arguments that neither has."""

    def with_heads(self, heads: Mapping[bool, LogHead], *, same_test: bool = True) -> MahimahiCommand:
        """Return the command as the heads of a run's logs have it, by whether they are of the ACK direction.

        Arguments that the heads do not name stay, if the metadata are of the `same_test`.

        Raises:
            UserError: the arguments are no queue of mm-link.
        """
        remarks: list[str] = []
        changed: dict[str, Any] = {}
        for ack, head in heads.items():
            link = "ACK link" if ack else "data link"
            swapped = head.is_uplink is not None and head.is_uplink == ack  # data over the downlink: no tunnel
            if head.trace:
                trace = self.ack_trace if ack else self.trace  # Pantheon exchanges them where data go down
                changed["ack_trace" if ack else "trace"] = head.trace
                if same_test and trace and PurePath(trace).name != (name := PurePath(head.trace).name):
                    remarks.append(f"{link}: trace {shortened(name)} by the log, {shortened(trace)} by the metadata")
            if head.queue is not None:
                known = (self.ack_queue if swapped != ack else self.queue) if same_test else None
                if same_test:
                    remarks += [f"{link}: {each}" for each in _contradictions(head.queue, known)]
                queue = _merged(head.queue, known, head.where)
                remarks += [] if queue is None else [f"{link}: {each}" for each in _untold(queue)]
                changed["ack_queue" if ack else "queue"] = queue
            if head.delay_ms is not None:
                changed["delay_ms"] = head.delay_ms
                if not same_test:
                    changed |= {"loss": 0.0, "ack_loss": 0.0, "unknown": ()}
                elif head.delay_ms != self.delay_ms:
                    remarks.append(f"mm-delay {head.delay_ms:g} by the log, {self.delay_ms:g} by the metadata")
        return replace(self, remarks=tuple(dict.fromkeys(remarks)), **changed)


def read_command(metadata: Mapping[str, object], where: str) -> MahimahiCommand:
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
    told = f"{where}: `extra_mm_link_args`"
    queues = {way: _merged(_queue(options, way, told), None, told) for way in ("uplink", "downlink")}
    return MahimahiCommand(
        delay,
        losses["uplink"],
        losses["downlink"],
        queues["uplink"],
        queues["downlink"],
        tuple(unknown),
        str(metadata.get("uplink_trace") or ""),
        str(metadata.get("downlink_trace") or ""),
    )


_LINK_LINE = re.compile(r"# mahimahi mm-link \((Uplink|Downlink)\) \[(.*?)\](?: >.*)?")
_COMMAND_LINE = re.compile(r"# command line: (.*)")
_QUEUE_LINE = re.compile(r"# queue: (\w+)(?: \[(.*)\])?\s*")
_CONFIG_LINE = re.compile(r"# mahimahi config:(.*)")
_DELAY = re.compile(r"\[delay (\d{1,7}) ms\]")


@dataclass(frozen=True)
class LogHead:
    """The first lines of a log of mm-link. None is a value that they do not have."""

    where: str
    """Name of the log, for messages."""
    queue: Queue | None = None
    """Kind of the link's queue, and those of its arguments that the log names."""
    delay_ms: float | None = None
    """Sum of the shells of mm-delay around the link."""
    is_uplink: bool | None = None
    trace: str = ""
    """Trace file of the link."""


def read_head(head: str, where: str, *, ack: bool = False) -> LogHead:
    """Return what the first lines of a log of mm-link say; `ack` is the direction of a log that does not name its own.

    mm-link prints the limits of its queue (`# queue:`); its command line has the other arguments.

    Raises:
        UserError: they name a queue that mm-link does not have.
    """
    queue, delay, is_uplink, trace = None, None, None, ""
    options: dict[str, str] = {}
    for line in head.splitlines():
        if match := _LINK_LINE.fullmatch(line):
            is_uplink, trace = match[1] == "Uplink", match[2]
        elif match := _COMMAND_LINE.fullmatch(line):
            options = _options(_command(match[1]))
        elif match := _QUEUE_LINE.fullmatch(line):
            queue = _parsed(match[1], match[2] or "", f"{where}: `# queue:`")
        elif match := _CONFIG_LINE.fullmatch(line):
            delay = float(sum(map(int, _DELAY.findall(match[1]))))
    way = "uplink" if (not ack if is_uplink is None else is_uplink) else "downlink"
    if f"--{way}-queue" in options:
        told = _queue(options, way, f"{where}: `# command line:`")
        queue = told if queue is None else told | queue if told["kind"] == queue["kind"] else queue
    return LogHead(where, queue, delay, is_uplink, trace)


def _command(text: str) -> list[str]:
    """Return the words of a command line; none of one that was cut off."""
    try:
        return shlex.split(text)
    except ValueError:
        return []


def _contradictions(told: Queue, known: Queue | None) -> list[str]:
    """Return which arguments of a queue the log and the metadata have otherwise, in words."""
    if told["kind"] != (kind := "infinite" if known is None else known["kind"]):
        return [f"queue {told['kind']} by the log, {kind} by the metadata"]
    others = known or {}
    return [
        f"{key} {value:g} by the log, {others[key]:g} by the metadata"
        for key, value in told.items()
        if key != "kind" and others.get(key, value) != value
    ]


def _untold(queue: Queue) -> list[str]:
    """Return which arguments that mm-link requires are not known, in words."""
    missing = [key for key in _REQUIRED.get(queue["kind"], ()) if key not in queue]
    return [f"{listed(missing)} of {queue['kind']} not told, taken as by default"] if missing else []


def _merged(told: Queue, known: Queue | None, where: str) -> Queue | None:
    """Return a queue as a path has it, None without a limit: arguments that are not `told` are as `known`, if any.

    Raises:
        UserError: it has no limit and needs one.
    """
    kind = told["kind"]
    if kind == "infinite":
        return None
    queue: Queue = known | told if known is not None and known["kind"] == kind else told
    if kind in ("droptail", "drophead") and len(queue) == 1:
        raise UserError(f"{where}: queue `{kind}`: needed is packets=N or bytes=N")
    return queue | ({"quirk": _QUIRKS[kind]} if kind in _QUIRKS else {})


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


def _queue(options: Mapping[str, str], way: str, told: str) -> Queue:
    return _parsed(options.get(f"--{way}-queue", "infinite"), options.get(f"--{way}-queue-args", ""), told)


def _parsed(kind: str, arguments: str, told: str) -> Queue:
    """Return the kind of a queue and its arguments by our keys."""
    if kind not in _QUEUES:
        raise UserError(f"{told}: queue `{shortened(kind)}`: allowed are {listed(_QUEUES)}")
    queue: Queue = {"kind": kind}
    if kind == "infinite":
        return queue
    for part in filter(None, re.split(r"[,\s]+", arguments.strip("\"' "))):
        name, _, value = part.partition("=")
        if name not in _ARGUMENTS or not re.fullmatch(r"\d{1,9}", value) or int(value) > _MOST:
            raise UserError(f"{told}: `{shortened(part)}`: allowed are {listed(_ARGUMENTS)} with a whole number each")
        key = _ARGUMENTS[name]
        if int(value):  # 0 is no limit
            queue[key] = float(value) if key.endswith("_ms") else int(value)
    return queue
