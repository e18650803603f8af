"""Bounds on the server's connections: idle ones are closed, and descriptors never run out.

Any program on this machine can connect, also without the token. A connection beyond the bound closes the one with the
longest silence, which lets the browser of this user get its answer meanwhile.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import math
import resource
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

from dumbbell.base.clock import SYSTEM_CLOCK, Clock
from dumbbell.base.errors import one_line
from dumbbell.base.logs import logger

log = logger(__name__)

HEAD_S = 10.0
"""Time for the head of a request, s."""
MOST_OPEN = 128
"""Maximum number of connections at the same time, if there are descriptors for them."""
MOST_AT_ONCE = 64
"""Maximum number of connections accepted before any is closed, if there are descriptors for them."""
QUEUE = 1024
"""Maximum number of connections in the kernel's queue; these have no descriptors."""
_SAY_EVERY_S = 60.0
_SHARE_OPEN, _SHARE_AT_ONCE = 8, 16
"""Divisors: open and newly accepted connections take at most these parts of the descriptors."""
_NO_PLACE = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)


@dataclass(frozen=True)
class Bounds:
    """Limits of the connections of a server: their number, and the time for a request, s."""

    open: int
    at_once: int
    head_s: float = HEAD_S

    @classmethod
    def here(cls) -> Bounds:
        """Return the bounds for the descriptor limit of this process."""
        max_descriptors = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        if max_descriptors == resource.RLIM_INFINITY:
            return cls(MOST_OPEN, MOST_AT_ONCE)
        return cls(
            max(4, min(MOST_OPEN, max_descriptors // _SHARE_OPEN)),
            max(2, min(MOST_AT_ONCE, max_descriptors // _SHARE_AT_ONCE)),
        )


@dataclass
class Gate:
    """Connections of a server. Connections that wait for a request are ordered by the begin of the wait."""

    bounds: Bounds
    clock: Clock = SYSTEM_CLOCK
    open: set[Connection] = field(default_factory=set)
    silent: dict[Connection, None] = field(default_factory=dict)
    _event_counts: dict[int, Counter[str]] = field(default_factory=dict)
    _report_s: dict[int, float] = field(default_factory=dict)

    def enter(self, connection: Connection) -> None:
        """Add a connection; one beyond the bound closes the connection with the longest silence, possibly itself."""
        self.open.add(connection)
        self.silent[connection] = None
        if len(self.open) > self.bounds.open:
            oldest = next(iter(self.silent))
            self.drop(oldest)
            self.note(f"closed connections (more than {self.bounds.open} at once)", logging.WARNING)

    def give_up(self, connection: Connection) -> None:
        """Close a connection whose time for a request is over: browsers open some that they never use."""
        self.drop(connection)
        self.note(f"closed connections (no whole request within {self.bounds.head_s:g} s)", logging.INFO)

    def drop(self, connection: Connection) -> None:
        """Close a connection at once."""
        self.leave(connection)
        connection.transport.abort()

    def mark(self, connection: Connection, is_silent: bool) -> None:
        """Record if an open connection waits for a request now."""
        if not is_silent:
            self.silent.pop(connection, None)
        elif connection in self.open:
            self.silent.setdefault(connection)

    def leave(self, connection: Connection) -> None:
        """Remove a connection that has ended."""
        self.open.discard(connection)
        self.silent.pop(connection, None)

    def note(self, event: str, level: int) -> None:
        """Count an event; once a minute, a log line of this level reports the counts."""
        counts = self._event_counts.setdefault(level, Counter())
        counts[event] += 1
        now_s = self.clock.monotonic()
        if now_s - self._report_s.get(level, -math.inf) >= _SAY_EVERY_S:
            self._report_s[level] = now_s
            log.log(level, "%s", "; ".join(f"{text}: {count}" for text, count in counts.items()))
            counts.clear()

    def take_error(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """Count a connection that cannot be accepted; pass every other error to the loop."""
        error = context.get("exception")
        if isinstance(error, OSError) and error.errno in _NO_PLACE:
            self.note(f"connections that cannot be taken up ({one_line(error)})", logging.WARNING)
        else:
            loop.default_exception_handler(context)


class Connection(H11Protocol):
    """One connection within the bounds of its gate."""

    gate: Gate
    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # (uvicorn's own)
        """Start: the time for the head of the first request begins."""
        super().connection_made(transport)
        self.gate.enter(self)
        self._look()

    def handle_events(self) -> None:
        """Process received data. The time for a head ends with the whole head, not with a part of it."""
        super().handle_events()
        self._look()

    def on_response_complete(self) -> None:
        """Wait for another request; an idle connection has the time that uvicorn gives."""
        super().on_response_complete()
        self._look()

    def connection_lost(self, exc: Exception | None) -> None:
        """End the connection."""
        self._set_deadline(False)
        self.gate.leave(self)
        super().connection_lost(exc)

    def _look(self) -> None:
        """Check if a request is in progress or the connection waits for one."""
        is_silent = self.cycle is None or self.cycle.response_complete
        self.gate.mark(self, is_silent)
        self._set_deadline(is_silent and not self.transport.is_closing())

    def _set_deadline(self, is_needed: bool) -> None:
        """Start the time for a head, unless it runs already, or end it."""
        if is_needed and self._deadline is None:
            self._deadline = self.loop.call_later(self.gate.bounds.head_s, self._give_up)
        elif not is_needed and self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _give_up(self) -> None:
        self._deadline = None
        self.gate.give_up(self)


def connection_class(gate: Gate) -> type[Connection]:
    """Return the protocol of the connections of a gate, for uvicorn."""
    return type("Connection", (Connection,), {"gate": gate})
