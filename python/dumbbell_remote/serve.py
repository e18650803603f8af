"""`dumbbell remote serve`: a peer process that carries out a fixed set of commands from its standard input.

The main thread reads, and a worker thread carries out one command at a time, so that beats and stop requests
are handled at once. The process ends, with everything it started, when its input ends, after `SILENCE_S` without input,
and at SIGTERM, SIGHUP and SIGINT.
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

from dumbbell import core
from dumbbell.base.clock import SYSTEM_CLOCK, Clock
from dumbbell.base.errors import UserError, nearest, one_line
from dumbbell.base.guardian import guarded
from dumbbell.base.interrupts import Uninterrupted, interruptible
from dumbbell.base.logs import logger
from dumbbell.core import Error
from dumbbell_remote.messages import LOOK_S, Beats, Message, Messages, Silence, framed, taking

log = logger(__name__)

ENDS_WITHIN_S = 8.0
"""Time in which the running command must end when the peer process ends, s."""
MAX_WAITING = 16
"""Maximum number of waiting commands, and of waiting messages for the running command."""

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
"""Commands and their functions in this package: `(State, arguments, payload) -> Reply`."""


@dataclass
class State:
    """State that the commands of a peer process share."""

    tell: Callable[..., None]
    """Function that sends an unrequested report to the caller, at once."""
    commands: list["Command"] = field(default_factory=list)
    """Commands without an answer, the running one first."""
    resources: contextlib.ExitStack = field(default_factory=contextlib.ExitStack)
    """Resources that are released when the peer process ends."""
    objects: dict[str, Any] = field(default_factory=dict)
    """Objects that a command leaves for later commands."""
    is_root: bool = False
    """True if root started the peer process."""
    no_namespaces: str = ""
    """Reason why the peer process has no right to make network namespaces; empty if it has the right."""
    clock: Clock = SYSTEM_CLOCK
    is_own: bool = False
    """True if the process serves a process of the same user on this machine, which may execute everything."""

    @property
    def stopping(self) -> threading.Event:
        """Event that is set when the running command must end."""
        return self.commands[0].stopping

    def hear(self, within_s: float) -> Message:
        """Return the next message from the caller to the running command.

        Raises:
            UserError: the command was stopped, or no message came within `within_s`.
        """
        command = self.commands[0]
        until = self.clock.monotonic() + within_s
        while not command.stopping.is_set():
            for message in self.clock.wait(taking(command.messages), LOOK_S):
                return message
            if self.clock.monotonic() > until:
                raise UserError(f"nothing was said for {within_s:.0f} s about when to begin")
        raise UserError("stopped")

    def stop(self) -> None:
        """End all commands that were given until now."""
        for command in tuple(self.commands):
            command.stopping.set()


@dataclass(frozen=True)
class Command:
    """A command from the caller."""

    message: Message
    payload: bytes
    stopping: threading.Event = field(default_factory=threading.Event)
    messages: "queue.SimpleQueue[Message]" = field(default_factory=queue.SimpleQueue)


def serve(is_own: bool = False) -> NoReturn:
    """Carry out commands until the input ends or an error occurs, then end this process.

    `is_own`: the caller is a process of the same user on this machine.
    """
    guarded()
    source, sink = _own_channel()
    messages = Messages(source, sink)
    state = State(tell=lambda **report: messages.send({"tell": report}), is_own=is_own)
    _gain_rights(state)
    status = 0
    with interruptible():
        work: queue.SimpleQueue[Command | None] = queue.SimpleQueue()
        worker = threading.Thread(target=_work, args=(messages, state, work), name="worker", daemon=True)
        try:
            messages.greet()
            Beats(messages, {"beat": True})
            worker.start()
            _read(messages, state, work)
        except (KeyboardInterrupt, EOFError, BrokenPipeError):
            pass  # normal ends, without a reader for a message
        except (Error, OSError) as error:
            print(f"dumbbell remote serve: the other side {one_line(error)}", file=sys.stderr)
            status = 1
        with Uninterrupted():
            work.put(None)
            _end(state, worker)
    sys.stderr.flush()
    os._exit(status)  # a command that does not stop must not keep the process


def _own_channel() -> tuple[int, int]:
    """Return private descriptors of the connection, so that no other code writes to it or inherits it."""
    source, sink = os.dup(0), os.dup(1)
    null_descriptor = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null_descriptor, 0)
    os.close(null_descriptor)
    os.dup2(2, 1)
    return source, sink


def _gain_rights(state: State) -> None:
    """Enter a user namespace as root, unless the user is root. The process has a single thread here."""
    state.is_root = os.geteuid() == 0
    if not state.is_root:
        try:
            core.enter_user_namespace()
        except Error as error:
            state.no_namespaces = one_line(error)


def _read(messages: Messages, state: State, work: "queue.SimpleQueue[Command | None]") -> None:
    """Read messages until the other side ends or is silent."""
    while True:
        message, payload = messages.receive(max_payload_bytes=lambda: MAX_PAYLOAD_BYTES)
        match message.get("do"):
            case "beat":
                pass
            case "stop":
                state.stop()
            case "say":
                if state.commands:
                    if state.commands[0].messages.qsize() >= MAX_WAITING:
                        raise OSError(f"has said more than {MAX_WAITING} things that nobody hears")
                    state.commands[0].messages.put(message)
            case _ if len(state.commands) >= MAX_WAITING:
                raise OSError(f"has given more than {MAX_WAITING} commands at a time")
            case _:
                command = Command(message, payload)
                state.commands.append(command)
                work.put(command)


def _work(messages: Messages, state: State, work: "queue.SimpleQueue[Command | None]") -> None:
    """Carry out the commands in their order."""
    with contextlib.suppress(OSError, Silence):  # nobody waits for the answer; the main thread also notices
        while (command := work.get()) is not None:
            answer, payload = _carry_out(state, command.message, command.payload)
            state.commands.pop(0)
            try:
                head = framed(answer, payload)
            except UserError as error:  # the answer is too long, and the caller waits
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
    except BaseException as error:  # a bug, or a panic of the core, must not end the peer process
        log.exception("%s failed", name)
        return {"error": f"{name}: {type(error).__name__}: {one_line(error)}"}, b""
    log.debug("%s is done", name)
    return {"ok": answer}, out


def _end(state: State, worker: threading.Thread) -> None:
    """End the running command, and release the resources of commands."""
    state.stop()
    if worker.ident is not None:
        worker.join(ENDS_WITHIN_S)
    try:
        state.resources.close()
    except Exception as error:
        print(f"dumbbell remote serve: {one_line(error)}", file=sys.stderr)
