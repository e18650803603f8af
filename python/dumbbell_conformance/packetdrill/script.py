"""Conversion of scripts in packetdrill's syntax to scripts of `dumbbell vectors` (docs/how-to/packetdrill.md).

Syntax: google/packetdrill@2c4001c, gtests/net/packetdrill/parser.y. What the built-in transport lacks is left out with
a note if nothing else depends on it. Otherwise the script ends there, or is refused if nothing was tested before.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path

from dumbbell import catalog
from dumbbell.base.errors import UserError, listed, nearest
from dumbbell.base.input_files import Kind, read_text
from dumbbell_conformance.packetdrill.code import CONSTANTS, Comparison, Value, read_code
from dumbbell_conformance.packetdrill.commands import Settings, split_commands, take_command
from dumbbell_conformance.packetdrill.text import (
    MAX_TIME_S,
    EventTime,
    OutOfScopeError,
    Statement,
    parse_event,
    quotation,
    split_arguments,
    split_statements,
)

SUFFIX = ".pkt"
_FILE = Kind("a script of packetdrill", 4)
_TOLERANCE_S = Decimal("0.004")  # packetdrill's own, --tolerance_usecs=4000
_INFINITE = 0xFFFF << 14  # smallest tcpi_snd_ssthresh without a threshold: FreeBSD's value; Linux has 0x7FFFFFFF
_TIMESTAMPS_BYTES = 12  # of a segment, RFC 7323 with padding
_DEFAULT_MSS = 536  # MSS of a peer that names none, RFC 9293 section 3.7.1
_MAX_MSS = 65_000
_LINUX_CUBIC = "cubic-linux"  # the scheme equal to Linux's `cubic`
_MAX_QUICK_ACKS = 16  # Linux v6.12, net/ipv4/tcp_input.c: segments that a new connection acknowledges one by one
_MAX_SACK_BYTES = 100_000  # in one ACK of a script
_NOTE = "# left out: "
_MAX_NOTED_LINES = 5
_MAX_NOTES = 100
_NANOSECOND = Decimal("1e-9")

_PACKET = re.compile(
    r"(?P<way>[<>])\s*(?:[\[(](?P<ip>[^\])]*)[\])]\s*)?(?P<encapsulated>encap\s.*?\s)?\s*(?:[0-9]+\s*>\s*[0-9]+\s+)?"
    r"(?P<flags>[SFRPEWUA.]{1,12}(?P<ace>[0-7])?[SFRPEWUA.]{0,2}|-)\s+"
    r"(?P<first>[0-9]{1,15}):(?P<last>[0-9]{1,15})\s*\((?P<bytes>[0-9]{1,15})\)"
    r"(?:\s+ack\s+(?P<ack>[0-9]{1,15}))?(?:\s+win\s+(?P<win>[0-9]{1,15}))?(?:\s+urg\s+[0-9]+)?\s*(?:<(?P<options>[^>]*)>)?\s*",
    re.DOTALL,
)
_OTHER_PROTOCOL = re.compile(
    r"[<>]\s*(?:\[[^\]]*\]\s*|\([^)]*\)\s*)?(icmp|udplite|udp|sctp|gre|GREv0|mpls|ipv4|ipv6|addr(?=\[))"
)
_CHANGED_PACKET = re.compile(r"[<>].*\{[^{}]*\}", re.DOTALL)  # changes by packetdrill's fuzzing
_CALL = re.compile(
    r"(?P<name>\w+)\s*\((?P<arguments>.*)\)\s*=\s*(?P<result>-?[0-9]+|0x[0-9a-fA-F]+|\.\.\.)"
    r"(?:\s+(?P<error>E[A-Z0-9]+))?(?:\s*\([^()]*\))?\s*",
    re.DOTALL,
)
_SACK_BLOCK = re.compile(r"([0-9]{1,15}):([0-9]{1,15})")

_WRITING_CALLS = ("write", "send", "sendto", "writev", "sendmsg", "sendfile")
_CONNECTION_CALLS = ("socket", "bind", "listen", "accept", "connect", "fcntl", "read", "recv", "close", "shutdown")
_OTHER_CALLS = (
    *("readv", "recvfrom", "recvmsg", "ioctl", "getsockopt", "poll", "cap_set", "open", "pipe"),
    *("epoll_create", "epoll_ctl", "epoll_wait"),
)
_FOREIGN_CALLS = ("splice", "psp_rx_assoc", "psp_tx_assoc")
_CALLS = (*_CONNECTION_CALLS, *_WRITING_CALLS, "setsockopt", *_OTHER_CALLS, *_FOREIGN_CALLS)
_FOREIGN_FLAGS = {
    "MSG_MORE": "holds no data back",
    "MSG_EOR": "marks no end of a record",
    "MSG_OOB": "has no urgent data",
    "MSG_FASTOPEN": "has no TCP Fast Open",
}
_QUIET_SOCKET_OPTIONS = ("SO_REUSEADDR", "SO_REUSEPORT", "TCP_NODELAY", "SO_SNDBUF")
_CHANGING_SOCKET_OPTIONS = ("TCP_CORK", "SO_MAX_PACING_RATE", "TCP_QUICKACK", "TCP_WINDOW_CLAMP", "SO_RCVBUF")
_SOCKET_OPTION = re.compile(r"(SO|TCP|IP|IPV6|SOL|SCM|MPTCP)_[A-Z0-9_]+|[0-9]+")
_OTHER_PROTOCOLS = ("SCTP_", "UDPLITE_", "UDP_")
_MULTIPATH = ("mp", "dss", "add_addr", "remove_addr")
# fmt: off
_OPTIONS = (
    "tolerance_usecs", "tolerance_percent", "mss", "mtu", "define", "ip_version", "bind_port", "code_command",
    "code_format", "code_sockopt", "connect_port", "remote_ip", "local_ip", "gateway_ip", "netmask_ip", "speed",
    "init_scripts", "wire_client", "wire_server", "wire_server_ip", "wire_server_at", "wire_server_port",
    "wire_client_dev", "wire_server_dev", "so_filename", "so_flags", "tcp_ts_ecr_scaled", "tcp_ts_tick_usecs",
    "strict_segments", "non_fatal", "dry_run", "is_anyip", "send_omit_free", "psp_udp_port", "debug", "verbose",
)
# fmt: on


@dataclass(frozen=True)
class _Packet:
    """A segment. Byte numbers are packetdrill's: relative, and 1 for the first byte of the stream."""

    inbound: bool
    flags: str
    first: int
    bytes: int
    ack: int | None
    win: int | None
    options: dict[str, str] | None
    """Words after each option's name; None if any options are allowed."""
    ecn: str


@dataclass(frozen=True)
class _Event:
    """A line of the converted script."""

    kind: str
    """`opener`, `write`, `ack`, `out` and `expect` of a sender, `data` and `reply` of a receiver."""
    at: Decimal
    """Time since the connection's first packet, s."""
    text: str
    line: int
    """Line in packetdrill's file."""


@dataclass
class _Script:
    """The state of a conversion."""

    file: str
    time: Decimal = Decimal(0)
    """Time of the latest event, s. Relative times count from the latest event."""
    number: int = 0
    """Line of the current statement."""
    origin: Decimal | None = None
    """Time of the handshake packet: SYN, or SYN and ACK."""
    tolerance: Decimal = _TOLERANCE_S
    widest: Decimal = Decimal(0)
    """Length of the widest range of times, s."""
    settings: Settings = field(default_factory=Settings)
    constants: dict[str, Value] = field(default_factory=lambda: dict(CONSTANTS))
    words: dict[str, str] = field(default_factory=dict)
    """Meanings of the names in `--define`."""
    openers: list[_Packet] = field(default_factory=list)
    mss_limit: int = _MAX_MSS
    mss: int = _DEFAULT_MSS
    scale: int = 0
    is_open: bool = False
    has_answered: bool = False
    is_instant: bool = False
    """True if the handshake's round trip takes no time."""
    has_ecn: bool = False
    has_holes: bool = False
    """True after a SACK block or a retransmission, when `tcpi_unacked` exceeds the packets in flight."""
    is_unnamed: bool = False
    """True if an ACK acknowledges bytes without a line for their departure."""
    events: list[_Event] = field(default_factory=list)
    notes: dict[str, list[int]] = field(default_factory=dict)
    """Omitted parts, with their lines."""
    next_packet: int = 0
    next_data: int = 0
    sent_bytes: int = 0
    """Payload that has left for the first time, bytes."""
    acked_bytes: int = 0
    received_bytes: int = 0
    replied_bytes: int = 0
    """Bytes of the peer that the latest ACK acknowledged."""
    peer_end: int | None = None
    """Number of bytes before the peer's FIN."""
    written_bytes: int = 0
    edge: int = 0
    """Number of bytes that the peer's window allows, from the beginning of the stream."""

    def refusal(self, reason: str) -> UserError:
        return UserError(f"{self.file}: line {self.number}: {reason}")

    def note(self, text: str) -> None:
        self.notes.setdefault(text, []).append(self.number)

    def add(self, kind: str, text: str, time: Decimal | None = None) -> None:
        at = (self.time if time is None else time) - (self.origin or Decimal(0))
        latest = self.events[-1].at if self.events else Decimal(0)
        self.events.append(_Event(kind, max(at, latest), text, self.number))

    @property
    def receives(self) -> bool:
        """True if the script tests the receiver: data arrive, and none are sent."""
        return self.received_bytes > 0 and self.sent_bytes == 0 and self.written_bytes == 0

    @property
    def is_tested(self) -> bool:
        """True if something besides the handshake can fail."""
        return any(event.kind in (("reply",) if self.receives else ("out", "expect")) for event in self.events)


def read_packetdrill(file: Path) -> str:
    """Convert a file in packetdrill's syntax to a script.

    Raises:
        UserError: If the file cannot be read, or contains nothing testable, with its line.
    """
    try:
        return convert_packetdrill(read_text(file, _FILE), str(file))
    except UnicodeDecodeError:
        raise UserError(f"{file}: expected UTF-8 text") from None
    except OSError as error:
        raise UserError(f"{file}: {error.strerror or error}") from None


def convert_packetdrill(text: str, name: str) -> str:
    """Convert a text in packetdrill's syntax to a script. Error messages begin with `name`.

    Raises:
        UserError: If its syntax is wrong, or it contains nothing testable, with its line.
    """
    script = _Script(name)
    try:
        statements = list(split_statements(text))
    except ValueError as error:
        raise UserError(f"{name}: {error}") from None
    for statement in statements:
        script.number = statement.line
        try:
            _take(script, statement)
        except OutOfScopeError as error:
            if not script.is_tested:
                raise script.refusal(f"{error}: out of scope, and nothing is tested before") from None
            script.note(f"{error}: the script ends before this line")
            break
        except ValueError as error:
            raise script.refusal(str(error)) from None
    if not script.events or script.origin is None:
        raise UserError(f"{name}: no connection is opened: expected a SYN and the answer to it")
    if script.receives and not script.is_tested:
        script.number = next(event.line for event in script.events if event.kind == "data")
        raise script.refusal("data arrive, and no line is about an ACK that leaves: nothing is tested")
    return _script_text(script)


def notes_of(script: str) -> tuple[str, ...]:
    """Return the notes in a converted script about omitted parts."""
    return tuple(line.removeprefix(_NOTE) for line in script.split("\n") if line.startswith(_NOTE))


def _take(script: _Script, statement: Statement) -> None:
    text = statement.text
    if text.startswith("#"):
        raise OutOfScopeError(f"`{quotation(text)}`: lines for a preprocessor")
    if text.startswith("--"):
        _take_option(script, text)
        return
    if text.startswith("`"):
        _take_commands(script, text)
        return
    time, action = parse_event(text)
    begin = script.time
    if time.first is not None:
        begin = script.time + time.first if time.is_relative else time.first
        if begin < script.time or begin > MAX_TIME_S:
            raise ValueError(f"time `{time.first}`: expected one from {script.time} to {MAX_TIME_S} s")
    if action[0] in "<>":
        _take_packet(script, action, time, begin)
        return
    _check_window(script)
    script.time = begin
    if action.startswith("%{"):
        _take_code(script, action)
    elif action.startswith("`"):
        _take_commands(script, action)
    else:
        _take_call(script, action)


def _take_option(script: _Script, text: str) -> None:
    name, _, value = text.removeprefix("--").partition("=")
    name, value = name.strip(), value.strip()
    if name not in _OPTIONS:
        raise ValueError(f"`--{quotation(name)}`: packetdrill has no such option{nearest(name, _OPTIONS)}")
    match name:
        case "psp_udp_port":
            raise OutOfScopeError(f"`--{name}`: encrypted packets (PSP)")
        case "tolerance_usecs":
            script.tolerance = Decimal(_whole(text, value, 1_000_000_000)) / 1_000_000
        case "mss":
            script.mss_limit = max(1, min(script.mss_limit, _whole(text, value, 65_535)))
        case "mtu":
            script.mss_limit = max(1, min(script.mss_limit, _whole(text, value, 65_535) - 40))
        case "define":
            key, _, meaning = value.partition("=")
            script.words[key.strip()] = meaning.strip()


def _whole(option: str, value: str, maximum: int) -> int:
    if not re.fullmatch(r"[0-9]{1,10}", value) or int(value) > maximum:
        raise ValueError(f"`{quotation(option)}`: expected a whole number up to {maximum}")
    return int(value)


def _take_commands(script: _Script, text: str) -> None:
    if not text.endswith("`") or len(text) < 2:
        raise ValueError("a command that no ` closes")
    begin = script.number
    for command in split_commands(text[1:-1]):
        script.number = begin + command.line
        take_command(script.settings, command)
        while script.settings.notes:
            script.note(script.settings.notes.pop())
    script.number = begin


def _packet(text: str) -> _Packet:
    """Read a TCP segment.

    Raises:
        ValueError: If the text is not a segment.
        OutOfScopeError: If the segment has another protocol, or lies inside another packet.
    """
    match = _PACKET.fullmatch(text)
    if match is None:
        other = _OTHER_PROTOCOL.match(text)
        if other is not None:
            packet_kind = "packets between several addresses" if other[1] == "addr" else f"packets of {other[1]}"
            raise OutOfScopeError(f"`{quotation(text)}`: {packet_kind}")
        if _CHANGED_PACKET.fullmatch(text):
            raise OutOfScopeError(f"`{quotation(text)}`: packets with changed bytes")
        raise ValueError(f"`{quotation(text)}`: expected a TCP segment, for example `> P. 1:1001(1000) ack 1`")
    if match["encapsulated"]:
        raise OutOfScopeError(f"`{quotation(text)}`: encrypted packets")
    first, last, count = int(match["first"]), int(match["last"]), int(match["bytes"])
    if last - first != count or count > 1_000_000:
        raise ValueError(f"`{quotation(text)}`: from {first} to {last} are not {count} bytes (at most 1000000)")
    ack, win = (int(match[key]) if match[key] else None for key in ("ack", "win"))
    words = [option.strip() for option in (match["options"] or "").split(",") if option.strip()]
    options = None if words == ["..."] else {word.split()[0]: word.partition(" ")[2].strip() for word in words}
    if match["ace"] or (options is not None and "ECN" in options):
        raise OutOfScopeError(f"`{quotation(text)}`: accurate ECN in TCP's header")
    return _Packet(text[0] == "<", match["flags"], first, count, ack, win, options, match["ip"] or "")


def _take_packet(script: _Script, text: str, time: EventTime, begin: Decimal) -> None:
    packet = _packet(text)
    flags = {*packet.flags}
    if packet.inbound:
        _check_window(script)
    script.time = begin
    if any(option.startswith(_MULTIPATH) for option in packet.options or ()):
        script.note("options of Multipath TCP")
    if flags & {"R", "U"}:
        raise OutOfScopeError(f"`{quotation(text)}`: the built-in transport has no RST and no urgent data")
    if "S" in flags:
        _take_opener(script, packet, text)
        return
    if script.origin is None:
        raise ValueError("a segment before the connection is opened: expected SYN first")
    if packet.inbound:
        _take_inbound(script, packet, text)
    elif packet.bytes:
        _take_departure(script, packet, time)
    elif "F" not in flags:
        _take_reply(script, packet)
    if not packet.inbound and "F" in flags:
        raise OutOfScopeError(f"`{quotation(text)}`: the built-in transport closes no connection")


def _take_opener(script: _Script, packet: _Packet, text: str) -> None:
    options = packet.options or {}
    if packet.bytes or {"FO", "FOEXP"} & options.keys():
        raise OutOfScopeError(f"`{quotation(text)}`: TCP Fast Open")
    is_again = any(
        (opener.inbound, "." in opener.flags) == (packet.inbound, "." in packet.flags) for opener in script.openers
    )
    if is_again and (script.is_open or script.written_bytes):
        raise OutOfScopeError(f"`{quotation(text)}`: a second connection")
    if is_again and packet.inbound:
        script.note("a SYN of the peer that comes again")
        return
    if not is_again:
        script.openers.append(packet)
    if not packet.inbound:
        script.origin = script.origin if script.origin is not None else script.time
        script.add("opener", f"out {script.next_packet} bytes=0")
        script.next_packet += 1
    elif script.origin is not None and packet.ack == 1:
        _open(script)  # the answer to the local SYN
    if packet.inbound and packet.win is not None:
        script.edge = packet.win  # the window of a SYN is not scaled, RFC 7323 section 2.2
    _take_agreement(script)


def _open(script: _Script) -> None:
    script.add("ack", "ack 0")
    script.is_open, script.is_instant = True, script.time == script.origin


def _take_agreement(script: _Script) -> None:
    """Take the values on which both handshake packets agree: segment size, window scale, SACK, timestamps and ECN."""
    peer_openers = [opener for opener in script.openers if opener.inbound]
    if not peer_openers:
        return
    mss = [_mss(opener, _DEFAULT_MSS) for opener in peer_openers]
    mss += [_mss(opener, _MAX_MSS) for opener in script.openers if not opener.inbound]

    def is_agreed(option: str) -> bool:
        return all(opener.options is None or option in opener.options for opener in script.openers)

    script.mss = max(1, min(*mss, script.mss_limit) - (_TIMESTAMPS_BYTES if is_agreed("TS") else 0))
    scale = (peer_openers[0].options or {}).get("wscale", "0")
    if not re.fullmatch(r"[0-9]{1,3}", scale):
        raise ValueError(f"wscale {quotation(scale)}: expected a number from 0 to 14")
    script.scale = min(int(scale), 14) if is_agreed("wscale") else 0
    if not is_agreed("sackOK"):
        script.settings.switches["sack"] = "no"
    script.has_ecn = len(script.openers) > 1 and all("E" in opener.flags for opener in script.openers)


def _mss(packet: _Packet, default: int) -> int:
    text = (packet.options or {}).get("mss", str(default))
    if not re.fullmatch(r"[0-9]{1,5}", text) or not 1 <= int(text) <= 65_535:
        raise ValueError(f"mss {quotation(text)}: expected a number from 1 to 65535")
    return min(int(text), _MAX_MSS)


def _check_window(script: _Script) -> None:
    """End the script if the peer's window keeps data back, since scripts have no such window.

    Raises:
        OutOfScopeError: If the window keeps data back.
    """
    left = script.written_bytes - script.sent_bytes
    if not script.is_open or left <= 0:
        return
    if script.edge - script.sent_bytes < min(left, script.mss) or (
        script.is_unnamed and script.written_bytes > script.edge
    ):
        room = max(script.edge - script.acked_bytes, 0)
        raise OutOfScopeError(f"the peer's window of {room} bytes keeps data back that the program has written")


def _take_inbound(script: _Script, packet: _Packet, text: str) -> None:
    if packet.ack is None:
        script.note(f"`{quotation(text)}`: a segment without ACK, which TCP drops")
        return
    blocks = _sack_blocks(packet)
    if not script.is_open:
        _open(script)
        script.has_answered = True
        is_news = packet.ack > 1 or bool(blocks)
    else:
        is_news = not packet.bytes or packet.ack - 1 > script.acked_bytes or bool(blocks)
    if packet.win is not None:
        edge = packet.ack - 1 + (packet.win << script.scale)
        # an ACK of no new bytes can only open the window further (Linux v6.12, tcp_may_update_window)
        script.edge = edge if packet.ack - 1 > script.acked_bytes else max(script.edge, edge)
    if packet.bytes:
        _take_data(script, packet)
    if "F" in packet.flags:
        script.peer_end = packet.first - 1 + packet.bytes
        script.note("FIN of the peer: the built-in transport closes no connection")
    if is_news:
        _take_ack(script, packet, blocks)


def _sack_blocks(packet: _Packet) -> list[tuple[int, int]]:
    words = (packet.options or {}).get("sack", "").split()
    matches = [_SACK_BLOCK.fullmatch(word) for word in words]
    blocks = [(int(block[1]), int(block[2])) for block in matches if block is not None]
    if len(blocks) < len(words) or any(not 1 <= first < last for first, last in blocks):
        raise ValueError(f"sack {quotation(' '.join(words))}: expected blocks such as `2001:3001`")
    return blocks


def _contains(outer: tuple[int, int], inner: tuple[int, int]) -> bool:
    return outer[0] <= inner[0] and inner[1] <= outer[1]


def _take_ack(script: _Script, packet: _Packet, blocks: list[tuple[int, int]]) -> None:
    after = max((packet.ack or 1) - 1, 0)
    if blocks and (blocks[0][1] <= after + 1 or any(_contains(block, blocks[0]) for block in blocks[1:2])):
        raise OutOfScopeError(f"sack {blocks[0][0]}:{blocks[0][1]}: a D-SACK block, which tells of a second copy")
    if sum(last - first for first, last in blocks) > _MAX_SACK_BYTES:
        raise OutOfScopeError(f"SACK blocks of more than {_MAX_SACK_BYTES} bytes")
    if after > script.sent_bytes:
        script.is_unnamed, script.sent_bytes = True, after
    script.acked_bytes = max(script.acked_bytes, after)
    script.has_holes = script.has_holes or bool(blocks)
    marks = ""
    if "E" in packet.flags:
        if script.has_ecn:
            marks = " ce=1"
        else:
            script.note("ECE on a connection without ECN")
    ranges = ",".join(f"{first - 1}..{last - 2}" for first, last in blocks)
    script.add("ack", f"ack next={after}" + (f" sack={ranges}" if ranges else "") + marks)


def _take_data(script: _Script, packet: _Packet) -> None:
    offset = packet.first - 1
    if offset < 0:
        raise ValueError("data before the first byte: expected 1 or more")
    again = " retransmission=yes" if offset < script.received_bytes else ""
    mark = " ce=yes" if packet.ecn == "ce" else ""
    left = packet.bytes
    while left > 0:
        size = min(left, _MAX_MSS)
        script.add("data", f"data {script.next_data} offset={offset} bytes={size}{again}{mark}")
        script.next_data, offset, left = script.next_data + 1, offset + size, left - size
    script.received_bytes = max(script.received_bytes, offset)


def _take_reply(script: _Script, packet: _Packet) -> None:
    """Take an outgoing segment without data: an ACK, or the third packet of the handshake."""
    after = max((packet.ack or 1) - 1, 0)
    if after == 0 and not script.has_answered:
        script.has_answered = True  # the third segment of a connection opened by the local end
        return
    if script.peer_end is not None and after > script.peer_end:
        after = script.peer_end
        if after == script.replied_bytes:
            script.note("the ACK of the peer's FIN")
            return
    script.replied_bytes = max(script.replied_bytes, after)
    script.add("reply", f"out next={after}")


def _take_departure(script: _Script, packet: _Packet, time: EventTime) -> None:
    """Take outgoing segments. With segmentation offload one line may describe several segments."""
    offset, left = packet.first - 1, packet.bytes
    if offset < 0 or offset > script.sent_bytes:
        raise ValueError(f"data from {packet.first} on leave: expected 1 to {script.sent_bytes + 1}")
    if time.first is None:
        raise OutOfScopeError("time `*` of data that leave: a script has a time for each")
    if script.settings.is_paced:
        raise OutOfScopeError("times of data that leave, while a queueing discipline (fq) paces them")
    script.widest = max(script.widest, time.width)
    is_again = offset < script.sent_bytes
    script.has_holes = script.has_holes or is_again
    again = "yes" if is_again else "no"
    while left > 0:
        size = min(left, script.mss)
        count = max(1, left // script.mss) if size == script.mss else 1
        last = script.next_packet + count - 1
        numbers = str(last) if count == 1 else f"{script.next_packet}..{last}"
        middle = script.time + _half(time.width)
        script.add("out", f"out {numbers} offset={offset} bytes={size} retransmission={again}", middle)
        script.next_packet, offset, left = last + 1, offset + count * size, left - count * size
    script.sent_bytes = max(script.sent_bytes, offset)


def _half(width: Decimal) -> Decimal:
    return (width / 2).quantize(_NANOSECOND)


def _take_call(script: _Script, text: str) -> None:
    match = _CALL.fullmatch(text)
    if match is None:
        raise ValueError(f"`{quotation(text)}`: expected a call, for example `write(4, ..., 1000) = 1000`")
    name, arguments = match["name"], split_arguments(match["arguments"])
    if name.startswith("sctp_"):
        raise OutOfScopeError(f"call `{quotation(name)}`: another protocol than TCP")
    if name not in _CALLS:
        raise ValueError(f"call `{quotation(name)}`: packetdrill has no such call{nearest(name, _CALLS)}")
    if name in _WRITING_CALLS:
        _take_write(script, name, arguments, match)
    elif name == "setsockopt":
        _take_socket_option(script, arguments)
    elif name in _FOREIGN_CALLS:
        raise OutOfScopeError(f"call `{name}`")
    elif name in _OTHER_CALLS:
        script.note(f"result of the call `{name}`")


def _take_write(script: _Script, name: str, arguments: list[str], call: re.Match[str]) -> None:
    size, result = arguments[2] if len(arguments) > 2 else "", call["result"]
    if call["error"] or result.startswith("-"):
        return  # nothing was written
    for flag, lack in _FOREIGN_FLAGS.items():
        if any(flag in argument for argument in arguments):
            raise OutOfScopeError(f"`{name}` with {flag}: the built-in transport {lack}")
    has_size = name in ("write", "send", "sendto")
    if has_size and not re.fullmatch(r"[0-9]{1,12}", size):
        raise ValueError(f"`{name}` of `{quotation(size)}` bytes: expected a whole number as the third argument")
    count = size if has_size and result == "..." else result
    if not re.fullmatch(r"[0-9]{1,12}", count):
        raise ValueError(f"`{name}` with the result `{quotation(count)}`: expected the bytes that were written")
    if has_size and int(count) > int(size):
        raise ValueError(f"`{name}` of {size} bytes with the result {count}: expected at most {size}")
    if int(count):
        script.written_bytes += int(count)
        script.add("write", f"write bytes={int(count)}")


def _take_socket_option(script: _Script, arguments: list[str]) -> None:
    option, value = (*arguments[2:4], "", "")[:2]
    if option == "TCP_CONGESTION":
        script.settings.controller = value.strip('[]"')
    elif option == "TCP_MAXSEG":
        size = value.strip("[] ")
        if not re.fullmatch(r"[0-9]{1,5}", size) or int(size) < 1:
            raise ValueError(f"TCP_MAXSEG {quotation(value)}: expected a number of bytes")
        script.mss_limit = min(script.mss_limit, int(size))
        _take_agreement(script)
    elif option in _CHANGING_SOCKET_OPTIONS:
        raise OutOfScopeError(f"socket option `{option}`: no such setting of the built-in transport")
    elif option.startswith(_OTHER_PROTOCOLS):
        raise OutOfScopeError(f"socket option `{quotation(option)}`: another protocol than TCP")
    elif not _SOCKET_OPTION.fullmatch(option):
        raise ValueError(f"socket option `{quotation(option)}`: expected a name such as TCP_NODELAY")
    elif option not in _QUIET_SOCKET_OPTIONS:
        script.note(f"socket option `{quotation(option)}`")


def _take_code(script: _Script, text: str) -> None:
    if not text.endswith("}%"):
        raise ValueError(f"`{quotation(text)}`: code that no `}}%` closes")
    comparisons, notes = read_code(text[2:-2], script.constants)
    for note in notes:
        script.note(note)
    conditions = list(_conditions(script, comparisons))
    if conditions and script.origin is not None:
        script.add("expect", f"expect {' '.join(conditions)}")


def _conditions(script: _Script, comparisons: list[Comparison]) -> Iterator[str]:
    counts = {comparison.field: comparison.value for comparison in comparisons if comparison.relation == "=="}
    for comparison in comparisons:
        match comparison.field:
            case "tcpi_ca_state" if comparison.relation == "==" and comparison.value in (0, 1, 2, 3, 4):
                # the transport's recovery is Linux's Recovery or CWR; after a timeout (Loss) there is none
                yield f"recovery={int(comparison.value in (CONSTANTS['TCP_CA_CWR'], CONSTANTS['TCP_CA_Recovery']))}"
            case "tcpi_snd_ssthresh" if comparison.value >= _INFINITE and comparison.relation in ("==", ">="):
                yield "ssthresh=none"
            case "tcpi_snd_cwnd" | "tcpi_snd_ssthresh":
                yield from _window_bounds(script, comparison)
            case "tcpi_rtt" | "tcpi_rttvar" | "tcpi_min_rtt":
                names = {"tcpi_rtt": "srtt", "tcpi_rttvar": "rttvar", "tcpi_min_rtt": "lowest_rtt"}
                yield _time_bound(script, names[comparison.field], comparison)
            case "tcpi_unacked" if comparison.relation == "==" and _in_flight(script, counts) is not None:
                packets = _in_flight(script, counts) or 0
                if packets:
                    yield f"in_flight>={(packets - 1) * script.mss + 1}"
                yield f"in_flight<={packets * script.mss}"
            case "tcpi_sacked" | "tcpi_lost" | "tcpi_retrans" if _in_flight(script, counts) is not None:
                pass  # already counted in the packets in flight
            case _:
                script.note(f"`{comparison.field}`: a sender of the built-in transport reports no such number")


def _in_flight(script: _Script, counts: dict[str, Value]) -> int | None:
    """Return the packets in flight as Linux counts them, or None if counts are missing in the script."""
    other_fields = ("tcpi_sacked", "tcpi_lost", "tcpi_retrans")
    if "tcpi_unacked" not in counts or (script.has_holes and not set(other_fields) <= set(counts)):
        return None
    sacked_packets, lost_packets, retransmissions = (int(counts.get(name, 0)) for name in other_fields)
    packets = int(counts["tcpi_unacked"]) - sacked_packets - lost_packets + retransmissions
    return packets if 0 <= packets <= 1_000_000 else None


def _window_bounds(script: _Script, comparison: Comparison) -> Iterator[str]:
    """Yield conditions on the window, in bytes, or on the threshold, in packets."""
    # also during recovery the window is Linux's: the one that proportional rate reduction allows
    is_window, value = comparison.field == "tcpi_snd_cwnd", int(comparison.value)
    key, unit = ("window", script.mss) if is_window else ("ssthresh", 1)
    least: float | None = {"==": value, ">=": value, ">": value + 1}.get(comparison.relation)
    upper: float | None = {"==": value, "<=": value, "<": value - 1}.get(comparison.relation)
    if value >= script.mss:
        script.note(f"`{comparison.field}` of {value}: taken as bytes, which FreeBSD counts, not as packets")
        per, slack = (1, 0.0) if is_window else (1 / script.mss, 0.001)
    else:
        # Linux counts whole packets, so any value below the next packet is right
        per, slack = unit, unit - (1 if is_window else 0.001)
    if least is not None:
        yield f"{key}>={least * per - (slack if per < 1 else 0):.15g}"
    if upper is not None:
        yield f"{key}<={upper * per + slack:.15g}"


def _time_bound(script: _Script, key: str, comparison: Comparison) -> str:
    if comparison.relation == "==":
        return f"{key}={comparison.value / 1000}~{float(script.tolerance) * 1000:g}"
    return f"{key}{comparison.relation.rstrip('=')}={comparison.value / 1000}"


def _script_text(script: _Script) -> str:
    """Return the text of the converted script."""
    file = " ".join(Path(script.file).name.replace("#", "").split())
    receives = script.receives
    events = list(_tested_events(script, receives))
    tolerance = script.tolerance + _half(script.widest)
    settings = script.settings
    switches = {"profile": "linux-like"} | settings.switches
    switches |= {"quick_acks": str(_MAX_QUICK_ACKS)} if receives else {"handshake": "yes"}
    if script.has_ecn:
        switches["ecn"] = "ect0"
    if script.is_instant and not receives:
        switches["tail_loss_probe"] = "no"  # Linux's waits two ticks of its clock
    notes = sorted(script.notes.items(), key=lambda note: note[1][0])
    head = [
        "dumbbell script 1",
        f"title From packetdrill: {file}",
        f"source {file}",
        f"drives {'receiver' if receives else 'sender'}",
        *([] if receives else [f"controller {_controller(script)}"]),
        f"mss {script.mss}",
        *([] if settings.window is None else [f"window {settings.window}"]),
        f"tolerance {tolerance.normalize():f}",
        "transport " + " ".join(f"{key}={value}" for key, value in switches.items()),
        *(f"{_NOTE}{_lines(numbers)}: {text}" for text, numbers in notes[:_MAX_NOTES]),
        *([f"{_NOTE}{len(notes) - _MAX_NOTES} other things"] if len(notes) > _MAX_NOTES else []),
        "",
    ]
    lines = [
        f"{'' if event.kind == 'expect' else f'@{event.at.normalize():f} '}{event.text}"
        + (f"  # {file}, line {event.line}" if event.line else "")
        for event in events
    ]
    return "\n".join([*head, *lines]) + "\n"


def _lines(numbers: list[int]) -> str:
    several = list(dict.fromkeys(numbers))
    if len(several) == 1:
        return f"line {several[0]}"
    more = f" and {len(several) - _MAX_NOTED_LINES} more" if len(several) > _MAX_NOTED_LINES else ""
    return f"lines {listed(map(str, several[:_MAX_NOTED_LINES]))}{more}"


def _controller(script: _Script) -> str:
    name = script.settings.controller.strip('"')
    name = script.words.get(name, name).strip('"') or "cubic"
    if not re.fullmatch(r"[\w-]+", name):
        raise UserError(f"{script.file}: congestion control `{quotation(name)}`: expected a name")
    parameters = catalog.schemes().find(_LINUX_CUBIC).parameters if name == "cubic" else {}
    if script.settings.parameters and name == "cubic":
        parameters = parameters | script.settings.parameters
    return " ".join([name, *(f"{key}={value}" for key, value in parameters.items())])


def _tested_events(script: _Script, receives: bool) -> Iterator[_Event]:
    """Yield the events of the tested direction."""
    events = script.events
    if receives:
        last = max((index for index, event in enumerate(events) if event.kind == "reply"), default=-1)
        for number in (event.line for event in events if event.kind == "expect"):
            script.number = number
            script.note("an assertion: a receiver of the built-in transport reports no numbers")
        yield from (event for event in events[: last + 1] if event.kind in ("data", "reply"))
        return
    if script.is_instant:
        script.number = next(event.line for event in events if event.kind == "ack")
        script.note("a handshake that takes no time: no tail loss probe is sent, it would leave at once")
    for event in (event for event in events if event.kind == "data"):
        script.number = event.line
        script.note("data of the peer, and their ACKs: a script drives one direction")
    if not any(event.kind == "write" for event in events):
        yield _Event("write", Decimal(0), "write bytes=0", 0)
    last = max((index for index, event in enumerate(events) if event.kind in ("out", "opener")), default=-1)
    latest = Decimal(0)
    for index, event in enumerate(events):
        if event.kind in ("data", "reply"):
            continue
        if event.kind == "ack" and index > last:
            yield _Event("skip", max(latest, event.at - _NANOSECOND), "skip", 0)
        latest = event.at
        yield event
    yield _Event("skip", latest, "skip", 0)
