"""Probes of packet trains and ECN codepoints, both ways, by the peer processes of both machines."""

from dataclasses import dataclass
from typing import Any

from dumbbell.core.machines import round_trips
from dumbbell_remote.pathfinding import probe_budget
from dumbbell_remote.pathfinding.ecn import Codepoints, codepoints
from dumbbell_remote.pathfinding.trains import Train
from dumbbell_remote.remote_run import MARGIN_S, Pair

WAYS = ("there", "back")
"""Directions: local to remote machine, and remote to local machine."""
_ECT0 = 2
_LINGER_S = 1.0


@dataclass(frozen=True)
class ProbeResult:
    """Results of the bursts in one direction."""

    trains: list[Train]
    codepoints: Codepoints
    marked_counts: tuple[int, int]
    """Number of marked arrivals, and of all arrivals that could be marked, in packets of trains."""
    duplicates: int


def probe(
    pair: Pair, trains: dict[str, tuple[int, int, float]], count: int, rtt_s: float, ecn: bool
) -> dict[str, ProbeResult]:
    """Send `count` trains each way. `trains` has the packets, their bytes and the gap in s, by direction.

    With `ecn`, codepoints are tried too, and trains can be marked. The directions take turns.
    """
    bursts = {way: _bursts(*trains[way], count, ecn, 0.0 if way == WAYS[0] else 0.5) for way in WAYS}
    last_s = max(burst["at_s"] for way_bursts in bursts.values() for burst in way_bursts)
    seconds = last_s + rtt_s + _LINGER_S
    peers = dict(zip(WAYS, (pair.local.peer, pair.remote.peer), strict=True))
    requests = {way: {"bursts": bursts[way], "seconds": seconds} for way in WAYS}
    work = {way: peers[way].begin("probe", within_s=seconds + MARGIN_S, request=requests[way]) for way in WAYS}
    reports = {way: pending.result()[0] for way, pending in work.items()}
    return {way: probe_result(bursts[way], reports[way], reports[other]) for way, other in (WAYS, WAYS[::-1])}


def _bursts(packets: int, size: int, gap_s: float, count: int, ecn: bool, turn: float) -> list[dict[str, Any]]:
    begin_s, single = 0.1, probe_budget.IDLE_BYTES
    bursts = []
    if ecn:
        for number in range(4 * probe_budget.CODEPOINTS_EACH):
            bursts.append({"at_s": begin_s + 0.01 * number, "packets": 1, "bytes": single, "ecn": number % 4})
        begin_s += 0.04 * probe_budget.CODEPOINTS_EACH + 0.2
    for number in range(count):
        at_s = begin_s + (number + turn) * gap_s
        bursts.append({"at_s": at_s, "packets": packets, "bytes": size, "ecn": _ECT0 if ecn else 0})
    return bursts


def probe_result(bursts: list[dict[str, Any]], sender: dict[str, Any], receiver: dict[str, Any]) -> ProbeResult:
    """Return the results of one direction, from the reports of its sender and its receiver."""
    arrivals = {int(number): (int(at_ns), int(size), int(ecn)) for number, _, at_ns, size, ecn in receiver["arrived"]}
    trains, singles = [], []
    marked_count = capable = 0
    for burst, (first, begin_ns, end_ns) in zip(bursts, sender["sent"], strict=False):
        if burst["packets"] == 1:
            singles.append((first, 1, burst["ecn"]))
            continue
        numbers = [number for number in range(first, first + burst["packets"]) if number in arrivals]
        left_mbps = burst["packets"] * burst["bytes"] * 8e3 / max(end_ns - begin_ns, 1)
        trains.append(Train(tuple((number, *arrivals[number][:2]) for number in numbers), left_mbps))
        if burst["ecn"]:
            capable += len(numbers)
            marked_count += sum(arrivals[number][2] == 3 for number in numbers)
    came = [(number, ecn) for number, (_, _, ecn) in arrivals.items()]
    return ProbeResult(trains, codepoints(singles, came), (marked_count, capable), int(receiver["duplicates"]))


def questions(pair: Pair, seconds: float, per_s: float) -> list[float]:
    """Return the round trips of timestamp exchanges, ms, sorted."""
    exchanges = pair.local.peer.ask("ask", within_s=seconds + MARGIN_S, seconds=seconds, per_s=per_s)[0]["exchanges"]
    return sorted(trip / 1e6 for trip in round_trips(exchanges, pair.remote.peer.name))
