"""A peer process's part in a run between two machines: the commands `open`, `meet`, `ask`, `probe`, `run`, `finish`."""

import json
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from dumbbell import _core
from dumbbell.base.errors import UserError
from dumbbell.base.logs import logger
from dumbbell.machine.emulation_lock import lock_holder
from dumbbell_remote.allowed_programs import require
from dumbbell_remote.messages import Message
from dumbbell_remote.package_files import found
from dumbbell_remote.serve import Reply, State

log = logger(__name__)

TEST_CLOCK = "DUMBBELL_TEST_CLOCK"
"""Makes this peer's clock wrong, to try that out with one machine: `offset=37ms,drift=100ppm,step=+20ms@5s`."""
BEGINS_WITHIN_S = 60.0
"""So long the other side may take to be ready."""
LOCK_WITHIN_S = 60.0
"""Time to wait for the emulation lock, s: whoever waits may hold the other machine's meanwhile."""
_LOCK = "emulation lock"
_SIDE, _HELD = "side", "side is held"


def open_sockets(state: State, message: Message, _payload: bytes) -> Reply:
    """Opens the sockets of a run once it holds the emulation lock of this machine; their ports."""
    if message.get("turn") and _LOCK not in state.kept:
        state.kept[_LOCK] = _take_lock(state)
        state.held.callback(state.kept.pop, _LOCK, None)
    if _SIDE not in state.kept and os.environ.get(TEST_CLOCK):
        _core.distort_clock(os.environ[TEST_CLOCK])
    if _HELD not in state.kept:
        state.kept[_HELD] = state.held.callback(_stop, state)
    _stop(state)
    side = state.kept[_SIDE] = _core.RemoteEndpoint()
    return json.loads(side.open(json.dumps(message["request"]))), b""


def meet(state: State, message: Message, _payload: bytes) -> Reply:
    """Finds the other side."""
    with _stopping(state) as side:
        return json.loads(side.meet(json.dumps(message["request"]))), b""


def ask(state: State, message: Message, _payload: bytes) -> Reply:
    """Asks the other side for the time."""
    with _stopping(state) as side:
        return {"exchanges": json.loads(side.ask(float(message["seconds"]), float(message["per_s"])))}, b""


def probe(state: State, message: Message, _payload: bytes) -> Reply:
    """Sends bursts of packets and listens to those of the other side."""
    with _stopping(state) as side:
        return json.loads(side.probe(json.dumps(message["request"]))), b""


def run(state: State, message: Message, _payload: bytes) -> Reply:
    """Does this side's part. It tells when it is `ready`, and is said when to begin: `in_s`, or at `start_ns`."""
    specification, part = message["specification"], message["plan"]
    if not state.is_own:
        _require_allowed(specification, bool(part["sends"]))
    specification = found(specification, only_shipped=not state.is_own)
    flows = ", ".join(f"{number} {flow['scheme']}" for number, flow in enumerate(specification["flows"], 1))
    log.info("run begins seed=%s duration_s=%s flows=%s", specification["seed"], specification["duration_s"], flows)

    def begins() -> int:
        state.tell(ready=True)
        said = state.hear(BEGINS_WITHIN_S)
        start_ns = int(said["start_ns"]) if "start_ns" in said else _core.clock_ns() + int(said["in_s"] * 1e9)
        state.tell(starts_ns=start_ns)
        return start_ns

    with _stopping(state) as side:
        # at another machine's word no file is written
        live = message.get("live") if state.is_own else None
        side.run(json.dumps(specification), json.dumps(part), begins, live)
    return {}, b""


def finish(state: State, _message: Message, _payload: bytes) -> Reply:
    """What this side knows of the run, for who joins both."""
    side = state.kept.pop(_SIDE, None)
    if side is None:
        raise UserError("finish: there was no run")
    return {}, side.finish()


def _take_lock(state: State) -> _core.EmulationLock:
    """Waits for the emulation lock of this machine, and reports who holds it meanwhile.

    Raises:
        UserError: it does not come in time, or the command is to end.
    """
    stopping, whom = state.stopping, ""

    def waits(*holder: int) -> None:
        nonlocal whom
        whom = lock_holder(*holder)
        log.info("waits for the emulation lock%s", whom)
        state.tell(waits=f"another run goes on{whom}")

    try:
        return _core.take_emulation_lock(LOCK_WITHIN_S, stopping.is_set, waits)
    except _core.Error as error:
        if stopping.is_set():
            raise
        raise UserError(f"another run goes on{whom}, for {LOCK_WITHIN_S:.0f} s now") from error


def _stop(state: State) -> None:
    """Stops the side that there is; nothing else keeps one whose run is over."""
    if _SIDE in state.kept:
        state.kept[_SIDE].stop()


@contextmanager
def _stopping(state: State) -> "Iterator[_core.RemoteEndpoint]":
    """The side, which is stopped when the command is."""
    side = state.kept.get(_SIDE)
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
    """Refuses what the user of this machine has not named: at another machine's word nothing else is executed here.

    Raises:
        UserError: a program that is not in the allow file, or code of a plug-in.
    """
    for flow in specification["flows"]:
        if flow.get("plugin") or flow.get("python"):
            raise UserError(f"scheme `{flow['scheme']}` is a plug-in: its code is executed on its own machine only")
        program = flow.get("program")
        if program:
            side = "sender" if sends != bool(flow.get("reverse")) else "receiver"
            require(str(program[side][0]), program.get("environment", {}))
