"""The whole measurement of a path, in order."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dumbbell.base.backend import Note
from dumbbell.base.scratch import Scratch
from dumbbell_remote.pathfinding import idle, load, probe_budget, traffic, trains
from dumbbell_remote.pathfinding.findings import Findings, Way
from dumbbell_remote.pathfinding.flow_log import FlowLog, read_flows
from dumbbell_remote.pathfinding.intervals import Estimate
from dumbbell_remote.pathfinding.policer import policer
from dumbbell_remote.pathfinding.probe_budget import ProbeBudget
from dumbbell_remote.pathfinding.probing import WAYS, Probed, probe, questions
from dumbbell_remote.remote_run import BUSY_PER_S, Pair

if TYPE_CHECKING:
    from dumbbell.contract.specification import RunSpec

Doing = Callable[[str], None]
"""Told what is done next."""
Pairs = Callable[[bool], Pair]
"""Starts both peer processes: with what is known of clocks from elsewhere, or for transfers, which need none of it."""
_QUESTIONS_PER_S = 20.0
_QUESTIONS_MBPS = BUSY_PER_S * 76 * 8e-6
"""Answers to questions for the time, while a run goes on: 28 bytes of headers, 32 around the content, 16 of content."""
_LEAST_MBPS = 0.05


@dataclass
class _Measuring:
    pair: Pair
    budget: ProbeBudget
    doing: Doing
    notes: list[str]
    folder: Path
    sent_bytes: int = 0

    def note(self, text: str, _stands_still: bool | None = None, /) -> None:
        """Something that a reader of the result has to know."""
        if text not in self.notes and not text.startswith("round trip"):  # that is told with more digits
            self.notes.append(text)

    def run(self, specification: RunSpec, note: Note | None = None) -> tuple[list[FlowLog], Mapping[str, Any]]:
        """One run; its flows, and what else is known of it."""
        statistics = self.pair.run(specification, self.folder, note or (lambda *_: None))
        if statistics["status"] != "done":
            self.note(f"{statistics['status']}: {statistics['reason']}")
        flows = read_flows(self.folder / "packets.parquet", specification)
        self.sent_bytes += sum(int(flow.size_bytes.sum()) for flow in flows)
        return flows, statistics


def measure(pairs: Pairs, wanted: ProbeBudget, doing: Doing) -> Findings:
    """Measures the path between two sides.

    Raises:
        UserError: the sides do not reach each other, or one of them is lost.
    """
    with Scratch("path") as folder:
        doing("both peer processes start")
        with pairs(True) as pair:
            it = _Measuring(pair, wanted, doing, [], folder)
            found = _quiet(it)
        if wanted.transfers:
            doing("both peer processes start anew")
            with pairs(False) as it.pair:
                for way in WAYS:
                    _fill(it, found.ways[way], way == WAYS[1])
        found.sent_bytes = it.sent_bytes
        return found


def _quiet(it: _Measuring) -> Findings:
    """What can be found without filling the path."""
    it.doing("the sides meet")
    met = it.pair.meet(1, it.note)
    it.doing("round trips")
    trips = questions(it.pair, 2.0, _QUESTIONS_PER_S)
    rtt_s = (trips[-1] if trips else 1000.0) / 1e3
    jitter_ms = sum(trips) / len(trips) - trips[0] if trips else 0.0
    probed = _trains(it, met["mtu_bytes"], rtt_s, jitter_ms)
    rates = {way: trains.rate(probed[way].trains, jitter_ms) for way in WAYS}
    it.doing("round trips")
    trips = sorted(trips + questions(it.pair, 3.0, _QUESTIONS_PER_S))
    it.doing("few small packets")
    flows, statistics = it.run(traffic.idle(it.budget.idle_s), it.note)
    low, high = statistics["clocks"]["uncertainty_ms"]
    bounds = {WAYS[0]: (low, high), WAYS[1]: (-high, -low)}
    ways = {}
    for number, way in enumerate(WAYS):
        log = flows[number]
        ways[way] = Way(
            mtu_bytes=int(met["mtu"][way]),
            trains=rates[way],
            ecn=probed[way].codepoints,
            marked=probed[way].marked,
            delays=idle.delays(log, bounds[way]),
            idle_losses=idle.losses(log),
            idle_reordering=idle.reordering(log),
            copies=_copies(statistics, number, way) + probed[way].duplicates,
            packets=len(log.sent_s) + sum(len(each.arrivals) for each in probed[way].trains),
        )
    return Findings(
        ways=ways,
        rtt_ms=trips,
        hops=met["hops"],
        clocks=statistics["clocks"],
        sent_bytes=it.sent_bytes,
        notes=it.notes,
    )


def _copies(statistics: Mapping[str, Any], flow: int, way: str) -> int:
    """Packets of a flow that came twice in this direction."""
    at_local, at_remote = statistics["remote"]["flows"][flow]["copies"]
    return int(at_remote if way == WAYS[0] else at_local)


def _trains(it: _Measuring, mtu_bytes: int, rtt_s: float, jitter_ms: float) -> dict[str, Probed]:
    """Packet trains, of which the first ones say how long the others are."""
    scout_gap_s = it.budget.spaced_s(probe_budget.SCOUT_PACKETS, mtu_bytes, probe_budget.LEAST_GAP_S)
    scout = (probe_budget.SCOUT_PACKETS, mtu_bytes, scout_gap_s)
    it.doing("first packet trains")
    scouts = probe(it.pair, dict.fromkeys(WAYS, scout), probe_budget.SCOUTS, rtt_s, ecn=False)
    shapes = {}
    for way in WAYS:
        packets, gap_s = probe_budget.train_packets(_told(trains.rate(scouts[way].trains)), mtu_bytes, jitter_ms / 1e3)
        packets = min(packets, it.budget.train_packets(mtu_bytes))
        shapes[way] = (packets, mtu_bytes, it.budget.spaced_s(packets, mtu_bytes, gap_s))
        it.sent_bytes += (packets * probe_budget.TRAINS + probe_budget.SCOUT_PACKETS * probe_budget.SCOUTS) * mtu_bytes
    gap_s = max(gap_s for _, _, gap_s in shapes.values())
    shapes = {way: (packets, size, gap_s) for way, (packets, size, _) in shapes.items()}
    it.doing("packet trains and codepoints")
    return probe(it.pair, shapes, probe_budget.TRAINS, rtt_s, ecn=True)


def _told(rate: Estimate) -> float | None:
    """What a rate is, or is at least."""
    return rate.value if rate.value is not None else rate.low


def _fill(it: _Measuring, way: Way, reverse: bool) -> None:
    """Fills the path in one direction: with a transfer, then, if its queue was not seen full, at a constant rate."""
    name, told = WAYS[reverse], _told(way.trains)
    mbps = max(told if told is not None else _LEAST_MBPS, _LEAST_MBPS)
    seconds = it.budget.transfer_of_s(mbps)
    it.doing(f"a transfer, {name}")
    logs = [_look(it, way, traffic.transfer(seconds, reverse, it.budget.transfer_bytes), "a transfer")]
    if way.queue is None or not way.queue.full:
        rate = min(probe_budget.FLOODS_AT * mbps, probe_budget.MOST_FLOOD_MBPS)
        seconds = it.budget.flood_of_s(rate)
        if seconds < probe_budget.LEAST_FLOOD_S:
            rate, seconds = rate * seconds / probe_budget.LEAST_FLOOD_S, probe_budget.LEAST_FLOOD_S
        it.doing(f"a constant rate, {name}")
        run = traffic.flood(rate, seconds, reverse, it.budget.flood_bytes)
        logs.append(_look(it, way, run, f"a constant rate of {rate:.3g} Mbit/s"))
        way.policer = policer(logs[-1], told if told is not None else math.inf)
    if way.queue is not None and way.queue.depth_ms.value is not None:
        way.random_losses = load.random_losses(logs, way.queue.depth_ms.value)
    if way.loss.value and way.rate.value is not None and way.policer is None:
        _lose(it, way, way.rate.value, reverse)


def _lose(it: _Measuring, way: Way, mbps: float, reverse: bool) -> None:
    """Counts losses at a constant rate below that of the path: many packets, and no queue."""
    it.doing(f"a constant rate below that of the path, {WAYS[reverse]}")
    rate = min(probe_budget.STEADY_AT * mbps, probe_budget.MOST_FLOOD_MBPS)
    seconds = min(probe_budget.STEADY_S, it.budget.steady_bytes * 8e-6 / rate)
    [log], _ = it.run(traffic.flood(rate, seconds, reverse, it.budget.steady_bytes))
    hits, cases = way.random_losses
    more, others = idle.losses(log)
    way.random_losses = hits + more, cases + others


def _look(it: _Measuring, way: Way, run: RunSpec, what: str) -> FlowLog:
    """What a run that fills the path says of it."""
    [log], statistics = it.run(run)
    log = log.full()
    way.copies += _copies(statistics, 0, WAYS[run["flows"][0]["reverse"]])
    way.packets += len(log.sent_s)
    if not len(log.sent_s) or log.lost.all():
        return log
    busy = load.busy_rate(log, f"packets of {what} that had to wait", _QUESTIONS_MBPS)
    way.busy = busy if busy.value is not None else way.busy
    way.queue = load.queue(log)
    way.packet_bytes = int(log.size_bytes.max())
    way.load_loss = load.loss_under_load(log)
    way.load_reordering = idle.reordering(log)
    return log
