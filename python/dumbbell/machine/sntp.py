"""The time of an NTP server (RFC 5905 in its simple form, section 14), by messages of 48 bytes.

Libraries compare with the wall clock, which may step. This module compares with the clock of the runs.
"""

import math
import re
import secrets
import select
import socket
import struct
from dataclasses import dataclass

from dumbbell import core
from dumbbell.base.clock import SYSTEM_CLOCK, Clock, polling
from dumbbell.base.errors import UserError, one_line
from dumbbell.machine.host import Host, read_host

PORT = 123
QUESTIONS = 4
SPACING_S = 2.0
"""Interval of requests, s, as for `iburst` (ntp.conf(5)): servers ignore more frequent clients."""
PATIENCE_S = 1.0
"""Maximum time for an answer, s."""
MOST_ROOT_S = 1.5
"""Maximum error of a usable server, s (MAXDIST, RFC 5905, appendix A.5.5.3)."""
_FORM = struct.Struct("!BBbb4s4s4sQQQQ")
_UNIX_ERA_S = 2_208_988_800
"""Time from 1900 to 1970, s (RFC 5905, section 6)."""
_ERA_S = 2**32


@dataclass(frozen=True)
class UtcReading:
    """Offset of UTC from a machine's clock (UTC minus clock) at a time of this clock, and its error bound, ns."""

    at_ns: int
    ahead_ns: int
    error_ns: int


def read_server(text: str) -> Host:
    """Return the server in a text.

    Raises:
        UserError: If the text names no server.
    """
    host = read_host(text)
    if host.user is not None:
        raise UserError(f"NTP server `{text}`: allowed is HOST[:PORT]")
    return host


def ask(
    server: Host, questions: int = QUESTIONS, spacing_s: float = SPACING_S, clock: Clock = SYSTEM_CLOCK
) -> list[UtcReading]:
    """Return a reading for each answered request.

    Raises:
        UserError: If there is no answer; the message has the reason.
    """
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            server.name, server.port or PORT, type=socket.SOCK_DGRAM
        )[0]
    except OSError as error:
        raise UserError(f"NTP server {server}: {one_line(error)}") from None
    readings, reason = [], "does not answer"
    with socket.socket(family, kind, protocol) as end:
        for number in range(questions):
            if number:
                clock.sleep(spacing_s)
            try:
                end.connect(address)  # accept datagrams from this server only
                readings.append(_exchange(end, clock))
            except TimeoutError:
                continue
            except OSError as error:
                reason = one_line(error)
            except UserError as error:
                reason = str(error)
                break  # the server will repeat this answer, or wants no more requests
    if not readings:
        raise UserError(f"NTP server {server}: {reason}")
    return readings


def _exchange(end: socket.socket, clock: Clock) -> UtcReading:
    """Exchange one request and its answer."""
    cookie = (
        secrets.randbits(64) | 1
    )  # a random number instead of the own time: it reveals nothing, and nobody can guess it
    end.settimeout(PATIENCE_S)
    asked_ns = core.clock_ns()
    end.send(_FORM.pack(0b00_100_011, 0, 0, 0, b"", b"", b"", 0, 0, 0, cookie))
    poll = select.poll()
    poll.register(end, select.POLLIN)
    until = clock.monotonic() + PATIENCE_S
    while (left_s := until - clock.monotonic()) > 0 and clock.wait(polling(poll), left_s):
        answer = end.recv(2048)
        returned_ns = core.clock_ns()
        if len(answer) >= _FORM.size and _FORM.unpack_from(answer)[8] == cookie:
            return read_answer(answer, asked_ns, returned_ns, clock)
    raise TimeoutError


def read_answer(answer: bytes, asked_ns: int, returned_ns: int, clock: Clock = SYSTEM_CLOCK) -> UtcReading:
    """Return the reading from an answer that arrived between these times (RFC 5905, sections 7.3, 8 and 11.2).

    Raises:
        UserError: If the answer has no reliable time.
    """
    first, stratum, _, precision, delay, dispersion, reference, _, _, receive_stamp, transmit_stamp = _FORM.unpack_from(
        answer
    )
    if stratum == 0:
        code = re.sub(r"[^A-Z]", "", reference.decode("ascii", "replace"))
        raise UserError(f"refuses to answer ({code or 'kiss of death'})")
    if first & 7 != 4 or transmit_stamp == 0 or receive_stamp == 0:
        raise UserError("its answer is none of a server")
    if first >> 6 == 3 or stratum > 15:
        raise UserError("is not synchronised itself")
    root_s = _short(delay) / 2 + _short(dispersion) + math.ldexp(1.0, precision)
    if root_s > MOST_ROOT_S:
        raise UserError(f"may be off by {root_s:.1f} s itself")
    heard_ns, answered_ns = (_unix_ns(stamp, clock.time()) for stamp in (receive_stamp, transmit_stamp))
    trip_ns = (returned_ns - asked_ns) - (answered_ns - heard_ns)
    if answered_ns < heard_ns or trip_ns < 0:
        raise UserError("says that it took longer to answer than the answer took to come")
    ahead_ns = (heard_ns - asked_ns + answered_ns - returned_ns) // 2
    return UtcReading((asked_ns + returned_ns) // 2, ahead_ns, trip_ns // 2 + math.ceil(root_s * 1e9))


def _short(number: bytes) -> float:
    """Return seconds from NTP's short format (section 6)."""
    return int.from_bytes(number, "big") / 2**16


def _unix_ns(stamp: int, now_s: float) -> int:
    """Return a timestamp (section 6) as Unix time in ns, in the era nearest to `now_s` (Unix time)."""
    seconds = (stamp >> 32) - _UNIX_ERA_S
    seconds += round((now_s - seconds) / _ERA_S) * _ERA_S
    return seconds * 10**9 + ((stamp & 0xFFFFFFFF) * 10**9 >> 32)
