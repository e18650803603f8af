"""Check, simulation and emulation of runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from dumbbell import _core
from dumbbell.contract.controllers import EmulationCheck
from dumbbell.contract.statistics import EmulatedRun, SimulatedRun
from dumbbell.core.codec import Specification, decoded, decoder, encoded

if TYPE_CHECKING:
    from dumbbell._core import Table, Watch


def check_run(specification: Specification, backend: str = "sim") -> None:
    """Raise an error for a run that `backend` (`sim` or `emu`) cannot execute.

    Raises:
        Error: If the run cannot be executed; the message has the reason.
    """
    _core.check_run(encoded(specification), backend)


def simulate(specification: Specification, directory: Path | None = None, watch: Watch | None = None) -> SimulatedRun:
    """Execute a run and return its statistics; `packets`, `flows` and `links.parquet` are written to `directory`.

    `watch` is called at the end of every sample interval. An exception of `watch` ends the run, and so does Ctrl-C,
    with `KeyboardInterrupt`. The interpreter lock is released meanwhile.

    Raises:
        Error: If the run failed.
    """
    folder = None if directory is None else str(directory)
    decode = decoder(SimulatedRun)
    return decode(_core.simulate(encoded(specification), folder, watch))


def simulate_in_memory(
    specification: Specification, watch: Watch | None = None
) -> tuple[SimulatedRun, Table | None, Table, Table]:
    """Execute a run without files, otherwise as `simulate`.

    Return statistics, the packet log (None if the run keeps none), and the samples of flows and of links.

    Raises:
        Error: If the run failed.
    """
    text, packets, flows, links = _core.simulate_in_memory(encoded(specification), watch)
    return decoded(text, SimulatedRun), packets, flows, links


def emulate(
    specification: Specification,
    directory: Path | None = None,
    waits: Callable[..., object] | None = None,
    live: tuple[str, int] | None = None,
) -> EmulatedRun:
    """Execute a run with real packets in real time and return its statistics. A machine executes one run at a time.

    `waits` is called with True, the process that the run waits for, and its start (s since 1970), whenever this is
    another process; with True alone if the process is not known; and with False at the end of the wait. `live` is a
    file that shows the run while it goes on, and the number of the attempt.

    Raises:
        Error: If the run failed; the message ends with a program's last lines.
    """
    folder = None if directory is None else str(directory)
    decode = decoder(EmulatedRun)
    return decode(_core.emulate(encoded(specification), folder, waits, live))


def emulate_shell(specification: Mapping[str, object]) -> int:
    """Run a command behind an emulated path and return its exit status.

    Keys: `seed`, `path`, `command` and `server` (lists of words; `server` may be None), `interactive` (True if a person
    types at the command), `log` (a file for the packet log, or None), `quiet`, `live` (a file that shows the path, or
    None) and `watched` (True if the caller prints statistics of `live`).

    Raises:
        Error: If the command was not started.
    """
    return _core.emulate_shell(encoded(specification))


def check_emulation() -> list[EmulationCheck]:
    """Return the requirements of emulation on this machine."""
    return decoded(_core.check_emulation(), list[EmulationCheck])
