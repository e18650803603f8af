"""`dumbbell remote serve`: a peer process. It carries out commands of a fixed set that come in on its standard input.

The main thread reads; one command at a time is carried out by a thread of its own, so that beats and the word to stop
are taken at once. It ends, with all it has started, when its input does, when nothing was heard for `SILENCE_S`, and at
SIGTERM, SIGHUP and SIGINT.
"""

import contextlib
import os
import queue
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, NoReturn

from dumbbell import _core
from dumbbell._core import Error
from dumbbell.base.clock import SYSTEM_CLOCK, Clock
from dumbbell.base.errors import UserError, nearest, one_line
from dumbbell.base.guardian import guarded
from dumbbell.base.interrupts import Undisturbed, interruptible
from dumbbell.base.logs import logger
from dumbbell_remote.messages import LOOK_S, Beats, Message, Messages, Silence, framed, taking

log = logger(__name__)

ENDS_WITHIN_S = 8.0
"""So long the command at work may take to end when the peer process does."""
MAX_WAITING = 16
"""Maximum number of commands that wait for their turn, and of what is said to the one at work."""

MAX_PAYLOAD_BYTES = 2**20
"""Maximum length of a command's payload, bytes: no command needs one."""

Reply = tuple[Message, bytes]

COMMANDS: dict[str, str] = {
    "hello": "describe_commands.hello",
    "describe": "describe_commands.describe",
    "open": "run_commands.open_sockets",
    "meet": "run_commands.meet",
    "ask": "run_commands.ask",
    "probe": "run_commands.probe",
    "run": "run_commands.run",
    "finish": "run_commands.finish",
    "echo": "describe_commands.echo",
    "listen": "udp_reachability.listen",
    "heard": "udp_reachability.heard",
    "speak": "udp_reachability.speak",
    "time": "describe_commands.known_utc",
}
"""What can be asked for, and where in this package it is done: a function `(State, arguments, payload) -> Reply`."""


@dataclass
class State:
    """What a peer process's commands share."""

    tell: Callable[..., None]
    """Tells who asks something that was not asked for, at once."""
    given: list["Given"] = field(default_factory=list)
    """Commands that were not answered yet, the one at work first."""
    held: contextlib.ExitStack = field(default_factory=contextlib.ExitStack)
    """What is let go when the peer process ends."""
    kept: dict[str, Any] = field(default_factory=dict)
    """What a command leaves for later ones."""
    is_root: bool = False
    """Whether the peer process was started by root."""
    no_namespaces: str = ""
    """Why the peer process could not gain the right to make network namespaces; empty if it could."""
    clock: Clock = SYSTEM_CLOCK
    is_own: bool = False
    """Whether it serves a process of this user on this machine: then it may execute whatever that may."""

    @property
    def stopping(self) -> threading.Event:
        """Set when the command at work is to end."""
        return self.given[0].stopping

    def hear(self, within_s: float) -> Message:
        """What the controller says to the command at work.

        Raises:
            UserError: the command is to end, or nothing was said for so long.
        """
        given = self.given[0]
        until = self.clock.monotonic() + within_s
        while not given.stopping.is_set():
            for said in self.clock.wait(taking(given.said), LOOK_S):
                return said
            if self.clock.monotonic() > until:
                raise UserError(f"nothing was said for {within_s:.0f} s about when to begin")
        raise UserError("stopped")

    def stop(self) -> None:
        """Ends what was given until now."""
        for given in tuple(self.given):
            given.stopping.set()


@dataclass(frozen=True)
class Given:
    """A command that was given."""

    message: Message
    payload: bytes
    stopping: threading.Event = field(default_factory=threading.Event)
    said: "queue.SimpleQueue[Message]" = field(default_factory=queue.SimpleQueue)


def serve(is_own: bool = False) -> NoReturn:
    """Carries out commands until there is a reason to end, which ends this process.

    With `is_own` it is the child of a process of this user, not somebody's on another machine.
    """
    guarded()
    source, sink = _own_channel()
    messages = Messages(source, sink)
    state = State(tell=lambda **what: messages.send({"tell": what}), is_own=is_own)
    _gain_rights(state)
    status = 0
    with interruptible():
        work: queue.SimpleQueue[Given | None] = queue.SimpleQueue()
        worker = threading.Thread(target=_work, args=(messages, state, work), name="worker", daemon=True)
        try:
            messages.greet()
            Beats(messages, {"beat": True})
            worker.start()
            _read(messages, state, work)
        except (KeyboardInterrupt, EOFError, BrokenPipeError):
            pass  # the usual ends, of which nobody would read
        except (Error, OSError) as error:
            print(f"dumbbell remote serve: the other side {one_line(error)}", file=sys.stderr)
            status = 1
        with Undisturbed():
            work.put(None)
            _end(state, worker)
    sys.stderr.flush()
    os._exit(status)  # not even a command that does not stop keeps the process


def _own_channel() -> tuple[int, int]:
    """Descriptors of the connection that nobody else writes to by accident, or inherits."""
    source, sink = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return source, sink


def _gain_rights(state: State) -> None:
    """Becomes root in a user namespace, if this is an ordinary user; there is one thread yet."""
    state.is_root = os.geteuid() == 0
    if not state.is_root:
        try:
            _core.enter_user_namespace()
        except Error as error:
            state.no_namespaces = one_line(error)


def _read(messages: Messages, state: State, work: "queue.SimpleQueue[Given | None]") -> None:
    """Takes what comes, until the other side ends or is silent."""
    while True:
        message, payload = messages.receive(max_payload_bytes=lambda: MAX_PAYLOAD_BYTES)
        match message.get("do"):
            case "beat":
                pass
            case "stop":
                state.stop()
            case "say":
                if state.given:
                    if state.given[0].said.qsize() >= MAX_WAITING:
                        raise OSError(f"has said more than {MAX_WAITING} things that nobody hears")
                    state.given[0].said.put(message)
            case _ if len(state.given) >= MAX_WAITING:
                raise OSError(f"has given more than {MAX_WAITING} commands at a time")
            case _:
                given = Given(message, payload)
                state.given.append(given)
                work.put(given)


def _work(messages: Messages, state: State, work: "queue.SimpleQueue[Given | None]") -> None:
    """Carries out one command after the other."""
    with contextlib.suppress(OSError, Silence):  # nobody waits for the answer: the main thread finds that out too
        while (given := work.get()) is not None:
            answer, payload = _carry_out(state, given.message, given.payload)
            state.given.pop(0)
            try:
                head = framed(answer, payload)
            except UserError as error:  # it is too long, and who asks waits
                head, payload = framed({"error": one_line(error)}), b""
            messages.write(head, payload)


def _carry_out(state: State, message: Message, payload: bytes) -> Reply:
    name = message.pop("do", None)
    try:
        if not isinstance(name, str) or name not in COMMANDS:
            hint = nearest(str(name), COMMANDS)
            return {"error": f"unknown command `{name}`{hint}: allowed are {', '.join(COMMANDS)}"}, b""
        log.debug("%s begins", name)
        module, _, function = COMMANDS[name].rpartition(".")
        answer, out = getattr(import_module(f"dumbbell_remote.{module}"), function)(state, message, payload)
    except (Error, OSError) as error:
        log.error("%s failed: %s", name, one_line(error))
        return {"error": one_line(error)}, b""
    except BaseException as error:  # a mistake of ours, or a panic of the core, must not end the peer process
        log.exception("%s failed", name)
        return {"error": f"{name}: {type(error).__name__}: {one_line(error)}"}, b""
    log.debug("%s is done", name)
    return {"ok": answer}, out


def _end(state: State, worker: threading.Thread) -> None:
    """Ends the command at work, and lets go what commands held."""
    state.stop()
    if worker.ident is not None:
        worker.join(ENDS_WITHIN_S)
    try:
        state.held.close()
    except Exception as error:
        print(f"dumbbell remote serve: {one_line(error)}", file=sys.stderr)
