"""Scripts in packetdrill's syntax, as scripts of `dumbbell vectors` (docs/vectors.md).

Syntax: google/packetdrill@bccd534, gtests/net/packetdrill/parser.y, and google/packetdrill@8b5aa49,
gtests/net/packetdrill/lexer.l; one statement a line. What the built-in transport lacks is refused with its line.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path

from dumbbell.base.errors import UserError, listed
from dumbbell.base.input_files import TEXT, read_text

SUFFIX = ".pkt"
_TOLERANCE_S = "0.004"  # packetdrill's own, --tolerance_usecs=4000
_LINUX_INFINITE = 0x7FFFFFFF  # tcpi_snd_ssthresh without a threshold
_TIMESTAMPS_BYTES = 12  # of a segment, RFC 7323 with padding

_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_LINE = re.compile(r"(?P<time>[+*]?\s*[0-9.~+]*)\s*(?P<rest>[<>%a-zA-Z_`].*)", re.DOTALL)
_PACKET = re.compile(
    r"(?P<way>[<>])\s*(?:\[(?P<ecn>\w+)\]\s*)?(?P<flags>[SFRPEWUA.]+|-)\s+(?P<first>[0-9]{1,15}):(?P<last>[0-9]{1,15})\((?P<bytes>[0-9]{1,15})\)"
    r"(?:\s+ack\s+(?P<ack>[0-9]{1,15}))?(?:\s+win\s+(?P<win>[0-9]{1,15}))?(?:\s+urg\s+[0-9]+)?\s*(?:<(?P<options>[^>]*)>)?\s*"
)
_CALL = re.compile(r"(?P<name>\w+)\s*\((?P<arguments>.*)\)\s*=\s*(?P<result>-?[0-9]+|0x[0-9a-f]+|\.\.\.).*", re.DOTALL)
_ASSERT = re.compile(r"(tcpi_\w+)\s*(==|>=|<=)\s*(\w+)")
_IGNORED_CALLS = ("socket", "bind", "listen", "accept", "connect", "fcntl", "getsockopt", "read", "recv", "close")
_WRITING_CALLS = ("write", "send", "sendto")
_IGNORED_OPTIONS = ("SO_REUSEADDR", "TCP_NODELAY", "SO_SNDBUF")
_SYSCTLS: dict[str, Callable[[str], str]] = {
    "net.ipv4.tcp_sack": lambda value: "sack=" + _flag(value),
    "net.ipv4.tcp_early_retrans": lambda value: "tail_loss_probe=" + _flag(value),
    "net.ipv4.tcp_recovery": lambda value: "time_threshold=" + ("0" if value == "0" else "1.25"),
}


def _is_number(text: str) -> bool:
    return re.fullmatch(r"[0-9]{1,15}", text) is not None


def _flag(value: str) -> str:
    return "no" if value == "0" else "yes"


@dataclass
class _Packet:
    """A segment. Bytes are those of packetdrill: relative, the first of the stream is 1."""

    inbound: bool
    flags: str
    first: int
    bytes: int
    ack: int | None
    win: int | None
    options: list[str]
    ecn: str


@dataclass
class _Script:
    """What has been read so far."""

    file: str
    time: Decimal = Decimal(0)
    number: int = 0
    origin: Decimal | None = None
    """When the opener left: SYN, or SYN and ACK."""
    mss: int = 1460
    scale: int = 0
    is_open: bool = False
    has_answered: bool = False
    controller: str = "cubic"
    switches: dict[str, str] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)
    next_packet: int = 0
    sent: int = 0
    """Payload that has left for the first time, bytes."""
    received: int = 0
    written: int = 0
    windows: list[tuple[int, int]] = field(default_factory=list)
    """Line and advertised window, bytes."""

    def refusal(self, why: str) -> UserError:
        return UserError(f"{self.file}: line {self.number}: {why}")

    def add(self, event: str) -> None:
        at = self.time - (self.origin or Decimal(0))
        self.lines.append(f"@{at.normalize():f} {event}  # {Path(self.file).name.replace('#', '')}, line {self.number}")


def read_packetdrill(file: Path) -> str:
    """Convert a file in packetdrill's syntax to a script.

    Raises:
        UserError: If it cannot be read, or says something that scripts do not have, with its line.
    """
    try:
        return convert_packetdrill(read_text(file, TEXT), str(file))
    except UnicodeDecodeError:
        raise UserError(f"{file}: expected UTF-8 text") from None
    except OSError as error:
        raise UserError(f"{file}: {error.strerror or error}") from None


def convert_packetdrill(text: str, name: str) -> str:
    """Convert a text in packetdrill's syntax to a script; errors say that it is `name`.

    Raises:
        UserError: If it says something that scripts do not have, with its line.
    """
    script = _Script(name)
    for script.number, statement in _statements(text):
        _take(script, statement)
    if script.sent and script.received:
        raise UserError(f"{name}: data in both directions: expected one direction")
    if not script.lines or script.origin is None:
        raise UserError(f"{name}: no connection is opened: expected a SYN and the answer to it")
    receives = script.received > 0
    for number, window in script.windows:
        if window < script.written:
            why = (
                f"a window of {window} bytes, below the {script.written} that are written: no script has such a window"
            )
            raise UserError(f"{name}: line {number}: {why}")
    switches = (
        {"profile": "linux-like", "cumulative_growth": "yes"}
        | script.switches
        | ({} if receives else {"handshake": "yes"})
    )
    head = [
        "dumbbell script 1",
        f"title From packetdrill: {Path(name).name.replace('#', '')}",
        f"source {Path(name).name.replace('#', '')}",
        f"drives {'receiver' if receives else 'sender'}",
        *([] if receives else [f"controller {script.controller}"]),
        f"mss {script.mss}",
        f"tolerance {_TOLERANCE_S}",
        "transport " + " ".join(f"{key}={value}" for key, value in switches.items()),
        "",
    ]
    lines = [line for line in script.lines if not (receives and line.split()[1] in ("ack", "write", "opener"))]
    lines = [re.sub(r" opener .*?  #", " out 0 bytes=0  #" if not receives else "", line) for line in lines]
    return "\n".join([*head, *lines]) + "\n"


def _statements(text: str) -> Iterator[tuple[int, str]]:
    """Every statement with the number of its first line."""
    text = _COMMENT.sub(lambda found: "\n" * found[0].count("\n"), text)
    waiting, began = "", 0
    for number, line in enumerate(text.split("\n"), 1):
        if not waiting and (not line.strip() or line.startswith("#")):
            continue
        began = began if waiting else number
        waiting = f"{waiting}\n{line}" if waiting else line.strip()
        if waiting.count("%{") > waiting.count("}%") or waiting.count("`") % 2:
            continue
        yield began, waiting.strip()
        waiting = ""
    if waiting:
        yield began, waiting


def _take(script: _Script, statement: str) -> None:
    if statement.startswith("--"):
        raise script.refusal(f"`{statement.split('=')[0]}`: options of packetdrill are not taken")
    if statement.startswith("`"):
        _take_commands(script, statement.strip("`"))
        return
    found = _LINE.fullmatch(statement)
    if found is None:
        raise script.refusal(f"`{_shown(statement)}`: expected a time, then a packet, a call or `%{{ assert ... }}%`")
    _take_time(script, found["time"].replace(" ", ""))
    rest = found["rest"]
    if rest[0] in "<>":
        _take_packet(script, _packet(script, rest))
    elif rest.startswith("%{"):
        _take_code(script, rest)
    elif rest.startswith("`"):
        _take_commands(script, rest.strip("`"))
    else:
        _take_call(script, rest)


def _shown(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= 60 else text[:57] + "..."


def _take_time(script: _Script, text: str) -> None:
    text = text.split("...")[0]  # a call that blocks begins then
    if not re.fullmatch(r"\+?([0-9]{1,7}(\.[0-9]{0,9})?|\.[0-9]{1,9})", text):
        raise script.refusal(f"time `{text}`: expected seconds such as `0.1` or `+.1`, at most 9 decimals")
    value = Decimal(text.removeprefix("+"))
    time = script.time + value if text.startswith("+") else value
    if time < script.time or time > 1_000_000:
        raise script.refusal(f"time `{text}`: expected one from {script.time} to 1000000 s")
    script.time = time


def _packet(script: _Script, text: str) -> _Packet:
    found = _PACKET.fullmatch(text)
    if found is None:
        raise script.refusal(f"`{_shown(text)}`: expected a TCP segment, for example `> P. 1:1001(1000) ack 1`")
    first, last, count = int(found["first"]), int(found["last"]), int(found["bytes"])
    if last - first != count or count > 1_000_000:
        raise script.refusal(f"`{_shown(text)}`: from {first} to {last} are not {count} bytes (at most 1000000)")
    ack, win = (int(found[key]) if found[key] else None for key in ("ack", "win"))
    options = [option.strip() for option in (found["options"] or "").split(",") if option.strip()]
    return _Packet(text[0] == "<", found["flags"], first, count, ack, win, options, found["ecn"] or "")


def _take_packet(script: _Script, packet: _Packet) -> None:
    if {*packet.flags} & {*"FRU"}:
        raise script.refusal("FIN, RST and URG: expected data and ACKs, as the built-in transport closes no connection")
    if "S" in packet.flags:
        _take_opener(script, packet)
        return
    if script.origin is None:
        raise script.refusal("a segment before the connection is opened: expected SYN first")
    if packet.inbound:
        _take_inbound(script, packet)
    elif packet.bytes:
        _take_departure(script, packet)
    elif packet.ack is not None and packet.ack > 1:
        script.add(f"out next={packet.ack - 1}")
    elif script.has_answered:
        raise script.refusal("an ACK of nothing leaves: expected data, or an ACK of data")
    else:
        script.has_answered = True  # the third segment of a connection that is opened from here


def _take_opener(script: _Script, packet: _Packet) -> None:
    if packet.bytes:
        raise script.refusal("data in a SYN: expected none")
    if not packet.inbound:
        if script.origin is not None and script.next_packet != 1:
            raise script.refusal("a second connection: expected one")
        script.origin = script.origin if script.origin is not None else script.time
        script.add(f"opener {script.next_packet}")
        script.next_packet += 1
        return
    words = dict(option.partition(" ")[::2] for option in packet.options)
    if "mss" in words:
        script.mss = int(words["mss"]) if _is_number(words["mss"]) and 1 <= int(words["mss"]) <= 65_000 else 0
        if not script.mss:
            raise script.refusal(f"mss {_shown(words['mss'])}: expected a number from 1 to 65000")
    if "TS" in words:
        script.mss = max(1, script.mss - _TIMESTAMPS_BYTES)
    if "wscale" in words:
        script.scale = min(int(words["wscale"]), 14) if _is_number(words["wscale"]) else 0
    if "sackOK" not in words:
        script.switches.setdefault("sack", "no")
    if script.origin is not None and packet.ack == 1:
        script.add("ack 0")  # the answer to our SYN
        script.is_open = True


def _take_inbound(script: _Script, packet: _Packet) -> None:
    if packet.win is not None and script.is_open:
        script.windows.append((script.number, packet.win << script.scale))
    if packet.bytes:
        number, offset = script.next_packet - 1, packet.first - 1
        if offset < 0:
            raise script.refusal("data before the first byte: expected 1 or more")
        again = " retransmission=yes" if offset < script.received else ""
        marked = " ce=yes" if packet.ecn == "ce" else ""
        script.add(f"data {number} offset={offset} bytes={packet.bytes}{again}{marked}")
        script.next_packet += 1
        script.received = max(script.received, offset + packet.bytes)
        return
    if packet.ack is None:
        raise script.refusal("a segment without data and without ACK: expected one of them")
    if not script.is_open:
        script.add("ack 0")
        script.is_open = script.has_answered = True
        return
    if "E" in packet.flags:
        raise script.refusal("ECE: expected no ECN, as the built-in transport counts marks more accurately than TCP")
    blocks = [option.split()[1:] for option in packet.options if option.split()[0] == "sack"]
    ranges = [
        tuple(map(int, block.split(":")))
        for words in blocks
        for block in words
        if re.fullmatch(r"[0-9]{1,15}:[0-9]{1,15}", block)
    ]
    sack = ",".join(f"{first - 1}..{last - 2}" for first, last in ranges if 1 <= first < last)
    script.add(f"ack next={max(packet.ack - 1, 0)}" + (f" sack={sack}" if sack else ""))


def _take_departure(script: _Script, packet: _Packet) -> None:
    """Segmentation offload: one line may be several segments."""
    offset, left = packet.first - 1, packet.bytes
    if offset < 0 or offset > script.sent:
        raise script.refusal(f"data from {packet.first} on leave: expected 1 to {script.sent + 1}")
    again = "yes" if offset < script.sent else "no"
    while left > 0:
        size = min(left, script.mss)
        count = max(1, left // script.mss) if size == script.mss else 1
        last = script.next_packet + count - 1
        numbers = str(last) if count == 1 else f"{script.next_packet}..{last}"
        script.add(f"out {numbers} offset={offset} bytes={size} retransmission={again}")
        script.next_packet, offset, left = last + 1, offset + count * size, left - count * size
    script.sent = max(script.sent, offset)


def _take_call(script: _Script, text: str) -> None:
    found = _CALL.fullmatch(text)
    if found is None:
        raise script.refusal(f"`{_shown(text)}`: expected a call, for example `write(4, ..., 1000) = 1000`")
    name, arguments = found["name"], [each.strip() for each in found["arguments"].split(",")]
    if name in _WRITING_CALLS:
        count = arguments[2] if len(arguments) > 2 else ""
        if not _is_number(count) or count != found["result"]:
            raise script.refusal(f"`{name}`: expected one that writes all of its bytes: `{name}(4, ..., 1000) = 1000`")
        script.written += int(count)
        script.add(f"write bytes={count}")
    elif name == "setsockopt":
        _take_option(script, arguments)
    elif name not in _IGNORED_CALLS:
        raise script.refusal(f"call `{name}`: expected {listed((*_IGNORED_CALLS, *_WRITING_CALLS, 'setsockopt'))}")


def _take_option(script: _Script, arguments: list[str]) -> None:
    option = arguments[2] if len(arguments) > 3 else ""
    if option == "TCP_CONGESTION":
        script.controller = _name(script, arguments[3].strip('"'))
    elif option not in _IGNORED_OPTIONS:
        raise script.refusal(f"socket option `{option}`: expected {listed((*_IGNORED_OPTIONS, 'TCP_CONGESTION'))}")


def _name(script: _Script, text: str) -> str:
    if not re.fullmatch(r"[\w-]+", text):
        raise script.refusal(f"congestion control `{_shown(text)}`: expected a name")
    return text


def _take_commands(script: _Script, text: str) -> None:
    for command in filter(None, (line.strip() for line in re.split(r"[\n;]|&&", text))):
        words = command.split()
        if words[0] == "sysctl":
            for word in (word for word in words[1:] if not word.startswith("-")):
                key, _, value = word.partition("=")
                if key == "net.ipv4.tcp_congestion_control":
                    script.controller = _name(script, value)
                elif key in _SYSCTLS:
                    switch, _, setting = _SYSCTLS[key](value).partition("=")
                    script.switches[switch] = setting
                else:
                    known = (*_SYSCTLS, "net.ipv4.tcp_congestion_control")
                    raise script.refusal(f"sysctl `{key}`: expected {listed(known)}")
        elif not words[0].endswith("defaults.sh"):
            raise script.refusal(f"command `{_shown(command)}`: expected sysctl or defaults.sh: nothing is executed")


def _take_code(script: _Script, text: str) -> None:
    code = " ".join(text.removeprefix("%{").removesuffix("}%").split())
    asserted = re.split(r"\bassert\b", code)
    if asserted[0].strip() or len(asserted) < 2:
        raise script.refusal(f"`{_shown(code)}`: expected `assert tcpi_snd_cwnd == 10`")
    conditions: list[str] = []
    for each in asserted[1:]:
        claim, _, message = each.strip().rstrip(";").partition(",")
        for part in re.split(r"\band\b", claim):
            found = _ASSERT.fullmatch(part.strip().strip("()").strip())
            if found is None or (message and not re.fullmatch(r"[\w\s.'\"%,+()\[\]]*", message)):
                raise script.refusal(f"`{_shown(part)}`: expected a comparison such as `tcpi_snd_cwnd == 10`")
            conditions += _condition(script, *found.groups())
    script.lines.append(
        f"expect {' '.join(conditions)}  # {Path(script.file).name.replace('#', '')}, line {script.number}"
    )


def _condition(script: _Script, name: str, operator: str, text: str) -> list[str]:
    states = {"TCP_CA_Open": 0, "TCP_CA_Recovery": 1}
    if name == "tcpi_ca_state" and text in states and operator == "==":
        return [f"recovery={states[text]}"]
    if not _is_number(text):
        raise script.refusal(f"`{name} {operator} {text}`: expected a whole number")
    value, plain = int(text), operator.replace("==", "=")
    if name == "tcpi_snd_ssthresh" and value >= _LINUX_INFINITE:
        return ["ssthresh=none"]
    if name in ("tcpi_snd_cwnd", "tcpi_snd_ssthresh"):
        key = name.removeprefix("tcpi_snd_")
        # Linux counts whole packets
        bounds = {"==": (value, value + 1), ">=": (value, None), "<=": (None, value + 1)}[operator]
        lower = [f"{key}>={bounds[0]}"] if bounds[0] is not None else []
        return lower + ([f"{key}<={bounds[1] - 0.001:.3f}"] if bounds[1] is not None else [])
    if name in ("tcpi_rtt", "tcpi_rttvar"):
        key = {"tcpi_rtt": "srtt", "tcpi_rttvar": "rttvar"}[name]
        return [f"{key}{plain}{value / 1000:g}" + (f"~{float(_TOLERANCE_S) * 1000:g}" if plain == "=" else "")]
    known = ("tcpi_snd_cwnd", "tcpi_snd_ssthresh", "tcpi_rtt", "tcpi_rttvar", "tcpi_ca_state")
    raise script.refusal(f"`{name}`: expected {listed(known)}")
