"""Runs between two machines: this machine's side, and the join of both reports."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from dumbbell import _core
from dumbbell.contract.statistics import JoinedRun
from dumbbell.core.codec import Specification, decoded, encoded

Exchanges = Sequence[object]
"""Timestamp exchanges, in a form that only the core reads."""


class RemoteEndpoint:
    """This machine's side of a run between two. Requests and answers pass between the two cores."""

    def __init__(self) -> None:
        self._endpoint = _core.RemoteEndpoint()

    def open(self, request: Mapping[str, object]) -> dict[str, object]:
        """Open sockets and return their ports."""
        return decoded(self._endpoint.open(encoded(request)), dict[str, object])

    def meet(self, request: Mapping[str, object]) -> dict[str, object]:
        """Find the remote side."""
        return decoded(self._endpoint.meet(encoded(request)), dict[str, object])

    def ask(self, seconds: float, per_s: float) -> Exchanges:
        """Request the time of the remote side, and return the exchanges."""
        return decoded(self._endpoint.ask(seconds, per_s), list[object])

    def probe(self, request: Mapping[str, object]) -> dict[str, object]:
        """Send bursts of packets and receive those of the remote side; return the sent and received packets."""
        return decoded(self._endpoint.probe(encoded(request)), dict[str, object])

    def run(
        self,
        specification: Specification,
        part: Mapping[str, object],
        ready: Callable[[], int],
        live: str | None = None,
    ) -> None:
        """Do this side's part of a run. `ready` returns the start, ns on this machine's clock.

        `live` is a file that shows the run while it goes on.
        """
        self._endpoint.run(encoded(specification), encoded(part), ready, live)

    def finish(self) -> bytes:
        """Return this side's report on its run."""
        return self._endpoint.finish()

    def stop(self) -> None:
        """End all activity of this side."""
        self._endpoint.stop()


def join_sides(
    specification: Specification,
    local_sends: bool,
    local: bytes,
    remote: bytes,
    max_report_bytes: int,
    references: Sequence[Mapping[str, object]] = (),
    directory: Path | None = None,
) -> JoinedRun:
    """Make one run of the reports of its two sides and return its statistics.

    `references` are clock offsets from other sources.

    Raises:
        Error: If a report is damaged, or belongs to another run.
    """
    reference_text, folder = encoded(list(references)), None if directory is None else str(directory)
    text = _core.join_sides(
        encoded(specification), local_sends, local, remote, max_report_bytes, reference_text, folder
    )
    return decoded(text, JoinedRun)


def clock_offset(exchanges: Exchanges, machine: str) -> tuple[int, int]:
    """Return the clock offset from the exchange with the shortest round trip, and this round trip, ns.

    Exchanges with impossible times of `machine` do not count.

    Raises:
        Error: If no request was answered.
    """
    return _core.clock_offset(encoded(exchanges), machine)


def round_trips(exchanges: Exchanges, machine: str) -> list[int]:
    """Return round trips, ns, in the order of the exchanges with `machine`, without those with impossible times."""
    return _core.round_trips(encoded(exchanges), machine)
