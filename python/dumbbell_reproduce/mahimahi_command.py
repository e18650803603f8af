"""The path in mahimahi's command: delay, random loss, and the queues and traces of its link."""

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
"""dumbbell's names of the arguments of mm-link's queues."""
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
    """Shells that have no corresponding path element."""
    trace: str = ""
    """Trace file of the data direction, as named in the metadata or a log."""
    ack_trace: str = ""
    remarks: tuple[str, ...] = ()
    """Contradictions between the log and the metadata, and missing arguments."""

    def with_heads(self, heads: Mapping[bool, LogHead], *, same_test: bool = True) -> MahimahiCommand:
        """Return the command corrected by the heads of a run's logs. The key of `heads` is True for the ACK direction.

        If `same_test`, the metadata are about this test, and arguments that the heads do not name stay.

        Raises:
            UserError: the arguments do not describe a queue of mm-link.
        """
        remarks: list[str] = []
        changes: dict[str, Any] = {}
        for ack, head in heads.items():
            link = "ACK link" if ack else "data link"
            is_swapped = head.is_uplink is not None and head.is_uplink == ack  # data over the downlink: no tunnel
            if head.trace:
                trace = self.ack_trace if ack else self.trace  # Pantheon exchanges them where data go down
                changes["ack_trace" if ack else "trace"] = head.trace
                if same_test and trace and PurePath(trace).name != (name := PurePath(head.trace).name):
                    remarks.append(f"{link}: trace {shortened(name)} by the log, {shortened(trace)} by the metadata")
            if head.queue is not None:
                metadata_queue = (self.ack_queue if is_swapped != ack else self.queue) if same_test else None
                if same_test:
                    remarks += [
                        f"{link}: {contradiction}" for contradiction in _contradictions(head.queue, metadata_queue)
                    ]
                queue = _merged(head.queue, metadata_queue, head.log_name)
                remarks += [] if queue is None else [f"{link}: {remark}" for remark in _missing_arguments(queue)]
                changes["ack_queue" if ack else "queue"] = queue
            if head.delay_ms is not None:
                changes["delay_ms"] = head.delay_ms
                if not same_test:
                    changes |= {"loss": 0.0, "ack_loss": 0.0, "unknown": ()}
                elif head.delay_ms != self.delay_ms:
                    remarks.append(f"mm-delay {head.delay_ms:g} by the log, {self.delay_ms:g} by the metadata")
        return replace(self, remarks=tuple(dict.fromkeys(remarks)), **changes)


def read_command(metadata: Mapping[str, object], source: str) -> MahimahiCommand:
    """Return the command in Pantheon's metadata. `source` begins error messages.

    Raises:
        UserError: a shell or a queue has invalid arguments.
    """
    words: list[str] = []
    for key in ("prepend_mm_cmds", "append_mm_cmds"):
        words += _words(metadata.get(key), f"{source}: `{key}`")
    delay, losses, unknown = 0.0, {"uplink": 0.0, "downlink": 0.0}, []
    while words:
        shell = words.pop(0)
        place = f"{source}: `{shell}`"
        if shell == "mm-delay":
            delay += _number(_next(words, place), place, _MOST_MS)
        elif shell == "mm-loss":
            way = _next(words, place)
            if way not in losses:
                raise UserError(f"{place}: `{shortened(way)}`: allowed are uplink and downlink")
            rate = _number(_next(words, place), place, 1.0)
            losses[way] = 1.0 - (1.0 - losses[way]) * (1.0 - rate)
        else:
            unknown.append(shell)
            while words and not words[0].startswith("mm-"):
                words.pop(0)
    options = _options(_words(metadata.get("extra_mm_link_args"), f"{source}: `extra_mm_link_args`"))
    place = f"{source}: `extra_mm_link_args`"
    queues = {way: _merged(_queue(options, way, place), None, place) for way in ("uplink", "downlink")}
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
    """The first lines of a log of mm-link. None marks a missing value."""

    log_name: str
    """Name of the log, for messages."""
    queue: Queue | None = None
    """Kind of the link's queue, and the arguments in the log."""
    delay_ms: float | None = None
    """Sum of the delays of mm-delay around the link, ms."""
    is_uplink: bool | None = None
    trace: str = ""
    """Trace file of the link."""


def read_head(head: str, source: str, *, ack: bool = False) -> LogHead:
    """Return the values in the first lines of a log of mm-link.

    `ack`: direction of a log that does not name its direction.

    mm-link prints the limits of its queue (`# queue:`); the other arguments are in its command line.

    Raises:
        UserError: the lines name a queue that mm-link does not have.
    """
    queue, delay, is_uplink, trace = None, None, None, ""
    options: dict[str, str] = {}
    for line in head.splitlines():
        if match := _LINK_LINE.fullmatch(line):
            is_uplink, trace = match[1] == "Uplink", match[2]
        elif match := _COMMAND_LINE.fullmatch(line):
            options = _options(_command(match[1]))
        elif match := _QUEUE_LINE.fullmatch(line):
            queue = _parsed(match[1], match[2] or "", f"{source}: `# queue:`")
        elif match := _CONFIG_LINE.fullmatch(line):
            delay = float(sum(map(int, _DELAY.findall(match[1]))))
    way = "uplink" if (not ack if is_uplink is None else is_uplink) else "downlink"
    if f"--{way}-queue" in options:
        command_queue = _queue(options, way, f"{source}: `# command line:`")
        queue = (
            command_queue
            if queue is None
            else command_queue | queue
            if command_queue["kind"] == queue["kind"]
            else queue
        )
    return LogHead(source, queue, delay, is_uplink, trace)


def _command(text: str) -> list[str]:
    """Return the words of a command line; empty if the line was cut off."""
    try:
        return shlex.split(text)
    except ValueError:
        return []


def _contradictions(log_queue: Queue, metadata_queue: Queue | None) -> list[str]:
    """Return the arguments of a queue that differ between the log and the metadata, in words."""
    if log_queue["kind"] != (kind := "infinite" if metadata_queue is None else metadata_queue["kind"]):
        return [f"queue {log_queue['kind']} by the log, {kind} by the metadata"]
    metadata_arguments = metadata_queue or {}
    return [
        f"{key} {value:g} by the log, {metadata_arguments[key]:g} by the metadata"
        for key, value in log_queue.items()
        if key != "kind" and metadata_arguments.get(key, value) != value
    ]


def _missing_arguments(queue: Queue) -> list[str]:
    """Return which arguments that mm-link requires are not known, in words."""
    missing = [key for key in _REQUIRED.get(queue["kind"], ()) if key not in queue]
    return [f"{listed(missing)} of {queue['kind']} not told, taken as by default"] if missing else []


def _merged(log_queue: Queue, defaults: Queue | None, source: str) -> Queue | None:
    """Return the queue of a path, or None without a limit. Arguments missing in `log_queue` are taken from `defaults`.

    Raises:
        UserError: the queue needs a limit and has none.
    """
    kind = log_queue["kind"]
    if kind == "infinite":
        return None
    queue: Queue = defaults | log_queue if defaults is not None and defaults["kind"] == kind else log_queue
    if kind in ("droptail", "drophead") and len(queue) == 1:
        raise UserError(f"{source}: queue `{kind}`: needed is packets=N or bytes=N")
    return queue | ({"quirk": _QUIRKS[kind]} if kind in _QUIRKS else {})


def _words(value: object, place: str) -> list[str]:
    try:
        return shlex.split(str(value)) if value else []
    except ValueError as error:
        raise UserError(f"{place} = {shortened(value)}: {error}") from None


def _next(words: list[str], place: str) -> str:
    if not words:
        raise UserError(f"{place}: its value is missing")
    return words.pop(0)


def _number(text: str, place: str, maximum: float) -> float:
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not 0.0 <= value <= maximum:
        raise UserError(f"{place} {shortened(text)}: allowed is a number, 0 to {maximum:g}")
    return value


def _options(words: list[str]) -> dict[str, str]:
    """Return the options of mm-link, given as `--name=value` or `--name value`."""
    options: dict[str, str] = {}
    while words:
        name, equals, value = words.pop(0).partition("=")
        if not equals and words and not words[0].startswith("--"):
            value = words.pop(0)
        options[name] = value
    return options


def _queue(options: Mapping[str, str], way: str, place: str) -> Queue:
    return _parsed(options.get(f"--{way}-queue", "infinite"), options.get(f"--{way}-queue-args", ""), place)


def _parsed(kind: str, arguments: str, place: str) -> Queue:
    """Return the kind of a queue and its arguments, under dumbbell's keys."""
    if kind not in _QUEUES:
        raise UserError(f"{place}: queue `{shortened(kind)}`: allowed are {listed(_QUEUES)}")
    queue: Queue = {"kind": kind}
    if kind == "infinite":
        return queue
    for part in filter(None, re.split(r"[,\s]+", arguments.strip("\"' "))):
        name, _, value = part.partition("=")
        if name not in _ARGUMENTS or not re.fullmatch(r"\d{1,9}", value) or int(value) > _MOST:
            raise UserError(f"{place}: `{shortened(part)}`: allowed are {listed(_ARGUMENTS)} with a whole number each")
        key = _ARGUMENTS[name]
        if int(value):  # 0 is no limit
            queue[key] = float(value) if key.endswith("_ms") else int(value)
    return queue
