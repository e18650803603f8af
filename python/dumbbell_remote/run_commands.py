"""The commands of a peer process in a run between two machines: `open`, `meet`, `ask`, `probe`, `run`, `finish`."""

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from dumbbell import core
from dumbbell.base.errors import UserError
from dumbbell.base.logs import logger
from dumbbell.core.machines import RemoteEndpoint
from dumbbell.machine.emulation_lock import lock_holder
from dumbbell_remote.allowed_programs import require
from dumbbell_remote.messages import Message
from dumbbell_remote.package_files import localized
from dumbbell_remote.serve import Reply, State

log = logger(__name__)

TEST_CLOCK = "DUMBBELL_TEST_CLOCK"
"""Variable that distorts the clock of a peer process, for tests: `offset=37ms,drift=100ppm,step=+20ms@5s`."""
BEGINS_WITHIN_S = 60.0
"""Time in which the other machine must become ready, s."""
LOCK_WITHIN_S = 60.0
"""Time to wait for the emulation lock, s. A waiting run may hold the lock of the other machine."""
_LOCK = "emulation lock"
_SIDE, _HELD = "side", "side is held"


def open_sockets(state: State, message: Message, _payload: bytes) -> Reply:
    """Take the emulation lock of this machine, open the sockets of a run, and return their ports."""
    if message.get("turn") and _LOCK not in state.objects:
        state.objects[_LOCK] = _take_lock(state)
        state.resources.callback(state.objects.pop, _LOCK, None)
    if _SIDE not in state.objects and os.environ.get(TEST_CLOCK):
        core.distort_clock(os.environ[TEST_CLOCK])
    if _HELD not in state.objects:
        state.objects[_HELD] = state.resources.callback(_stop, state)
    _stop(state)
    side = state.objects[_SIDE] = RemoteEndpoint()
    return side.open(message["request"]), b""


def meet(state: State, message: Message, _payload: bytes) -> Reply:
    """Find the other machine."""
    with _stopping(state) as side:
        return side.meet(message["request"]), b""


def ask(state: State, message: Message, _payload: bytes) -> Reply:
    """Exchange timestamps with the other machine."""
    with _stopping(state) as side:
        return {"exchanges": side.ask(float(message["seconds"]), float(message["per_s"]))}, b""


def probe(state: State, message: Message, _payload: bytes) -> Reply:
    """Send bursts of packets, and receive those of the other machine."""
    with _stopping(state) as side:
        return side.probe(message["request"]), b""


def run(state: State, message: Message, _payload: bytes) -> Reply:
    """Do this machine's part of a run. Report `ready`, then receive the start time `in_s` or `start_ns`."""
    specification, part = message["specification"], message["plan"]
    if not state.is_own:
        _require_allowed(specification, bool(part["sends"]))
    specification = localized(specification, only_shipped=not state.is_own)
    flows = ", ".join(f"{number} {flow['scheme']}" for number, flow in enumerate(specification["flows"], 1))
    log.info("run begins seed=%s duration_s=%s flows=%s", specification["seed"], specification["duration_s"], flows)

    def begins() -> int:
        state.tell(ready=True)
        start = state.hear(BEGINS_WITHIN_S)
        start_ns = int(start["start_ns"]) if "start_ns" in start else core.clock_ns() + int(start["in_s"] * 1e9)
        state.tell(starts_ns=start_ns)
        return start_ns

    with _stopping(state) as side:
        # no file is written on behalf of another machine
        live = message.get("live") if state.is_own else None
        side.run(specification, part, begins, live)
    return {}, b""


def finish(state: State, _message: Message, _payload: bytes) -> Reply:
    """Return this machine's data of the run, for the process that joins both machines' data."""
    side = state.objects.pop(_SIDE, None)
    if side is None:
        raise UserError("finish: there was no run")
    return {}, side.finish()


def _take_lock(state: State) -> core.EmulationLock:
    """Wait for the emulation lock of this machine, and report its holder meanwhile.

    Raises:
        UserError: the lock is not free in time, or the command was stopped.
    """
    stopping, holder_words = state.stopping, ""

    def waits(*holder: int) -> None:
        nonlocal holder_words
        holder_words = lock_holder(*holder)
        log.info("waits for the emulation lock%s", holder_words)
        state.tell(waits=f"another run goes on{holder_words}")

    try:
        return core.take_emulation_lock(LOCK_WITHIN_S, stopping.is_set, waits)
    except core.Error as error:
        if stopping.is_set():
            raise
        raise UserError(f"another run goes on{holder_words}, for {LOCK_WITHIN_S:.0f} s now") from error


def _stop(state: State) -> None:
    """Stop the current side, since nothing else keeps one after its run."""
    if _SIDE in state.objects:
        state.objects[_SIDE].stop()


@contextmanager
def _stopping(state: State) -> "Iterator[RemoteEndpoint]":
    """Provide the side, which is stopped together with the command."""
    side = state.objects.get(_SIDE)
    if side is None:
        raise UserError("no sockets are open: `open` comes first")
    stopping, over = state.stopping, threading.Event()

    def watch(stop: Callable[[], None]) -> None:
        while not over.is_set():
            if state.clock.wait(stopping.wait, 0.1):
                stop()
                return

    threading.Thread(target=watch, args=(side.stop,), name="stopping", daemon=True).start()
    try:
        yield side
    finally:
        over.set()


def _require_allowed(specification: dict[str, Any], sends: bool) -> None:
    """Refuse programs that this machine's user has not named: other machines may execute nothing else.

    Raises:
        UserError: a program is not in the allow file, or a flow has code of a plug-in.
    """
    for flow in specification["flows"]:
        if flow.get("plugin") or flow.get("python"):
            raise UserError(f"scheme `{flow['scheme']}` is a plug-in: its code is executed on its own machine only")
        program = flow.get("program")
        if program:
            side = "sender" if sends != bool(flow.get("reverse")) else "receiver"
            require(str(program[side][0]), program.get("environment", {}))
