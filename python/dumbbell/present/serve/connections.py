"""Bounds on the server's connections: who sends no request is closed, and open connections never use up descriptors.

Any program on this machine can connect, also without the token. A connection beyond the bound closes the one that has
been silent for longest, so that the browser of this user gets its answer meanwhile.
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
"""Most connections at the same time, where there are descriptors for them."""
MOST_AT_ONCE = 64
"""Most connections that are taken up before any is closed, likewise."""
QUEUE = 1024
"""Connections that the kernel keeps until they are taken up. They have no descriptors."""
_SAY_EVERY_S = 60.0
_SHARE_OPEN, _SHARE_AT_ONCE = 8, 16
"""Connections take at most this part of the descriptors."""
_NO_PLACE = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)


@dataclass(frozen=True)
class Bounds:
    """Limits of the connections of a server: how many at once, and the time for a request, s."""

    open: int
    at_once: int
    head_s: float = HEAD_S

    @classmethod
    def here(cls) -> Bounds:
        """Return the bounds for a process with this one's limit of descriptors."""
        most = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        if most == resource.RLIM_INFINITY:
            return cls(MOST_OPEN, MOST_AT_ONCE)
        return cls(max(4, min(MOST_OPEN, most // _SHARE_OPEN)), max(2, min(MOST_AT_ONCE, most // _SHARE_AT_ONCE)))


@dataclass
class Gate:
    """The connections of a server. Those that wait for a request are in the order in which they began to."""

    bounds: Bounds
    clock: Clock = SYSTEM_CLOCK
    open: set[Connection] = field(default_factory=set)
    silent: dict[Connection, None] = field(default_factory=dict)
    _untold: dict[int, Counter[str]] = field(default_factory=dict)
    _told_s: dict[int, float] = field(default_factory=dict)

    def enter(self, connection: Connection) -> None:
        """A connection is made. One beyond the bound closes the one that is silent for longest, at last itself."""
        self.open.add(connection)
        self.silent[connection] = None
        if len(self.open) > self.bounds.open:
            oldest = next(iter(self.silent))
            self.drop(oldest)
            self.note(f"closed connections (more than {self.bounds.open} at once)", logging.WARNING)

    def give_up(self, connection: Connection) -> None:
        """The time for a request is over: browsers open some connections that they never use."""
        self.drop(connection)
        self.note(f"closed connections (no whole request within {self.bounds.head_s:g} s)", logging.INFO)

    def drop(self, connection: Connection) -> None:
        """Close a connection at once."""
        self.leave(connection)
        connection.transport.abort()

    def mark(self, connection: Connection, is_silent: bool) -> None:
        """Note whether an open connection waits for a request now."""
        if not is_silent:
            self.silent.pop(connection, None)
        elif connection in self.open:
            self.silent.setdefault(connection)

    def leave(self, connection: Connection) -> None:
        """A connection has ended."""
        self.open.discard(connection)
        self.silent.pop(connection, None)

    def note(self, what: str, level: int) -> None:
        """Count something; once a minute, a line of this level says what was counted."""
        untold = self._untold.setdefault(level, Counter())
        untold[what] += 1
        now_s = self.clock.monotonic()
        if now_s - self._told_s.get(level, -math.inf) >= _SAY_EVERY_S:
            self._told_s[level] = now_s
            log.log(level, "%s", "; ".join(f"{text}: {count}" for text, count in untold.items()))
            untold.clear()

    def take_error(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """Note that a connection cannot be taken up; leave every other error of the loop to it."""
        error = context.get("exception")
        if isinstance(error, OSError) and error.errno in _NO_PLACE:
            self.note(f"connections that cannot be taken up ({one_line(error)})", logging.WARNING)
        else:
            loop.default_exception_handler(context)


class Connection(H11Protocol):
    """One connection, within the bounds of its gate."""

    gate: Gate
    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # (uvicorn's own)
        """Begin: the head of the first request has its time from now on."""
        super().connection_made(transport)
        self.gate.enter(self)
        self._look()

    def handle_events(self) -> None:
        """Take what has come. The time for a head ends with the whole head, not with a part of it."""
        super().handle_events()
        self._look()

    def on_response_complete(self) -> None:
        """Wait for another request; without any part of one, for as long as uvicorn does."""
        super().on_response_complete()
        self._look()

    def connection_lost(self, exc: Exception | None) -> None:
        """End."""
        self._set_deadline(False)
        self.gate.leave(self)
        super().connection_lost(exc)

    def _look(self) -> None:
        """See whether a request is answered now, or one is waited for."""
        is_silent = self.cycle is None or self.cycle.response_complete
        self.gate.mark(self, is_silent)
        self._set_deadline(is_silent and not self.transport.is_closing())

    def _set_deadline(self, is_needed: bool) -> None:
        """Begin the time for a head, if it does not run yet, or end it."""
        if is_needed and self._deadline is None:
            self._deadline = self.loop.call_later(self.gate.bounds.head_s, self._give_up)
        elif not is_needed and self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _give_up(self) -> None:
        self._deadline = None
        self.gate.give_up(self)


def bounded(gate: Gate) -> type[Connection]:
    """Return the protocol of the connections of a gate, as uvicorn takes it."""
    return type("Connection", (Connection,), {"gate": gate})
