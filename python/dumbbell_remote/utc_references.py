"""What is known of the clocks of two machines from elsewhere: both know UTC, from an NTP server or from chrony."""

from collections.abc import Mapping, Sequence
from typing import Any

from dumbbell.base.backend import Note
from dumbbell.base.errors import UserError, printable
from dumbbell_remote.link import Peer

MOST_DRIFT = 500e-6
"""A clock is never faster or slower by more: as far as a kernel lets one be corrected (adjtimex(2), `freq`), and more
than oscillators are off."""


def references(peers: Sequence[Peer], ntp: str | None, note: Note) -> list[dict[str, Any]]:
    """How far the remote clock is ahead, as both know the time from elsewhere, as `_core.join_sides` takes it.

    `peers` are the local and the remote one; both are asked at the same time. What cannot be known is a note.
    """
    work = [peer.begin("time", ntp=ntp) for peer in peers]
    told = []
    for peer, each in zip(peers, work, strict=True):
        answer = each.result()[0]
        for why in answer["failed"].values():
            note(f"clock of {peer.name}: {printable(str(why))}", False)
        told.append(answer["known"])
    try:
        return [compared(source, told[0][source], told[1][source]) for source in told[0] if source in told[1]]
    except (KeyError, TypeError, ValueError) as error:
        raise UserError(f"what peer processes know of the time is not understood: {error}") from None


def compared(source: str, local: Sequence[Mapping[str, int]], remote: Sequence[Mapping[str, int]]) -> dict[str, Any]:
    """The reference that two machines' knowledge of the same time makes: of their answers those that say it best."""
    return min((_pair(source, here, there) for here in local for there in remote), key=lambda pair: pair["error_ns"])


def _pair(source: str, here: Mapping[str, int], there: Mapping[str, int]) -> dict[str, Any]:
    offset_ns = here["ahead_ns"] - there["ahead_ns"]
    # They were not asked at the same moment: meanwhile both clocks may have drifted.
    apart_ns = abs(there["at_ns"] - offset_ns - here["at_ns"])
    drift_ns = int(2 * MOST_DRIFT * apart_ns) + 1
    error_ns = here["error_ns"] + there["error_ns"] + drift_ns
    return {"at_ns": here["at_ns"], "offset_ns": offset_ns, "error_ns": error_ns, "source": source}
