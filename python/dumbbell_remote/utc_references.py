"""Clock references of two machines: both know UTC, from an NTP server or from chrony."""

from collections.abc import Mapping, Sequence
from typing import Any

from dumbbell.base.backend import Note
from dumbbell.base.errors import UserError, printable
from dumbbell_remote.link import Peer

MOST_DRIFT = 500e-6
"""Largest drift of a clock: the limit of the kernel's correction (adjtimex(2), `freq`). Oscillators drift less."""


def references(peers: Sequence[Peer], ntp: str | None, note: Note) -> list[dict[str, Any]]:
    """Return the offset of the remote clock by each common UTC source, for `join_sides`.

    `peers` are the local and the remote one; both are asked at the same time. A missing reading becomes a note.
    """
    work = [peer.begin("time", ntp=ntp) for peer in peers]
    readings = []
    for peer, pending in zip(peers, work, strict=True):
        answer = pending.result()[0]
        for reason in answer["failed"].values():
            note(f"clock of {peer.name}: {printable(str(reason))}", False)
        readings.append(answer["known"])
    try:
        return [
            best_reference(source, readings[0][source], readings[1][source])
            for source in readings[0]
            if source in readings[1]
        ]
    except (KeyError, TypeError, ValueError) as error:
        raise UserError(f"what peer processes know of the time is not understood: {error}") from None


def best_reference(
    source: str, local: Sequence[Mapping[str, int]], remote: Sequence[Mapping[str, int]]
) -> dict[str, Any]:
    """Return the reference from two machines' readings of one source, with the smallest error bound."""
    return min(
        (_pair(source, local_reading, remote_reading) for local_reading in local for remote_reading in remote),
        key=lambda pair: pair["error_ns"],
    )


def _pair(source: str, local: Mapping[str, int], remote: Mapping[str, int]) -> dict[str, Any]:
    offset_ns = local["ahead_ns"] - remote["ahead_ns"]
    # The readings are from different moments, between which both clocks may drift.
    apart_ns = abs(remote["at_ns"] - offset_ns - local["at_ns"])
    drift_ns = int(2 * MOST_DRIFT * apart_ns) + 1
    error_ns = local["error_ns"] + remote["error_ns"] + drift_ns
    return {"at_ns": local["at_ns"], "offset_ns": offset_ns, "error_ns": error_ns, "source": source}
