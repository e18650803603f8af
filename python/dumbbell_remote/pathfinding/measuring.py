"""The steps of a path measurement, in order."""

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
from dumbbell_remote.pathfinding.probing import WAYS, ProbeResult, probe, questions
from dumbbell_remote.remote_run import BUSY_PER_S, Pair

if TYPE_CHECKING:
    from dumbbell.contract.specification import RunSpec

Doing = Callable[[str], None]
"""Function that is told the next step."""
Pairs = Callable[[bool], Pair]
"""Function that starts both peer processes: True with the clock references, False for transfers, which need none."""
_QUESTIONS_PER_S = 20.0
_QUESTIONS_MBPS = BUSY_PER_S * 76 * 8e-6
"""Rate of replies to timestamp exchanges during a run: 28 bytes of headers, 32 around the content, 16 of content."""
_LEAST_MBPS = 0.05


@dataclass
class _Measurement:
    pair: Pair
    budget: ProbeBudget
    doing: Doing
    notes: list[str]
    folder: Path
    sent_bytes: int = 0

    def note(self, text: str, _stands_still: bool | None = None, /) -> None:
        """Add a note for readers of the result."""
        if text not in self.notes and not text.startswith(
            "round trip"
        ):  # round trips are printed elsewhere with more digits
            self.notes.append(text)

    def run(self, specification: RunSpec, note: Note | None = None) -> tuple[list[FlowLog], Mapping[str, Any]]:
        """Return the flows of one run, and its statistics."""
        statistics = self.pair.run(specification, self.folder, note or (lambda *_: None))
        if statistics["status"] != "done":
            self.note(f"{statistics['status']}: {statistics['reason']}")
        flows = read_flows(self.folder / "packets.parquet", specification)
        self.sent_bytes += sum(int(flow.size_bytes.sum()) for flow in flows)
        return flows, statistics


def measure(pairs: Pairs, budget: ProbeBudget, doing: Doing) -> Findings:
    """Measure the path between two machines.

    Raises:
        UserError: the machines do not reach each other, or the connection to a peer process is lost.
    """
    with Scratch("path") as folder:
        doing("both peer processes start")
        with pairs(True) as pair:
            measurement = _Measurement(pair, budget, doing, [], folder)
            findings = _measure_idle(measurement)
        if budget.transfers:
            doing("both peer processes start anew")
            with pairs(False) as measurement.pair:
                for way in WAYS:
                    _measure_loaded(measurement, findings.ways[way], way == WAYS[1])
        findings.sent_bytes = measurement.sent_bytes
        return findings


def _measure_idle(measurement: _Measurement) -> Findings:
    """Return the properties that can be measured without filling the path."""
    measurement.doing("the sides meet")
    meeting = measurement.pair.meet(1, measurement.note)
    measurement.doing("round trips")
    trips = questions(measurement.pair, 2.0, _QUESTIONS_PER_S)
    rtt_s = (trips[-1] if trips else 1000.0) / 1e3
    jitter_ms = sum(trips) / len(trips) - trips[0] if trips else 0.0
    results = _trains(measurement, meeting["mtu_bytes"], rtt_s, jitter_ms)
    rates = {way: trains.rate(results[way].trains, jitter_ms) for way in WAYS}
    measurement.doing("round trips")
    trips = sorted(trips + questions(measurement.pair, 3.0, _QUESTIONS_PER_S))
    measurement.doing("few small packets")
    flows, statistics = measurement.run(traffic.idle(measurement.budget.idle_s), measurement.note)
    low, high = statistics["clocks"]["uncertainty_ms"]
    bounds = {WAYS[0]: (low, high), WAYS[1]: (-high, -low)}
    ways = {}
    for number, way in enumerate(WAYS):
        log = flows[number]
        ways[way] = Way(
            mtu_bytes=int(meeting["mtu"][way]),
            trains=rates[way],
            ecn=results[way].codepoints,
            marked_counts=results[way].marked_counts,
            delays=idle.delays(log, bounds[way]),
            idle_losses=idle.losses(log),
            idle_reordering=idle.reordering(log),
            copies=_copies(statistics, number, way) + results[way].duplicates,
            packets=len(log.sent_s) + sum(len(train.arrivals) for train in results[way].trains),
        )
    return Findings(
        ways=ways,
        rtt_ms=trips,
        hops=meeting["hops"],
        clocks=statistics["clocks"],
        sent_bytes=measurement.sent_bytes,
        notes=measurement.notes,
    )


def _copies(statistics: Mapping[str, Any], flow: int, way: str) -> int:
    """Return the number of duplicates in a flow's packets of one direction."""
    at_local, at_remote = statistics["remote"]["flows"][flow]["copies"]
    return int(at_remote if way == WAYS[0] else at_local)


def _trains(measurement: _Measurement, mtu_bytes: int, rtt_s: float, jitter_ms: float) -> dict[str, ProbeResult]:
    """Send packet trains both ways. The first trains determine the length of the others."""
    scout_gap_s = measurement.budget.spaced_s(probe_budget.SCOUT_PACKETS, mtu_bytes, probe_budget.LEAST_GAP_S)
    scout = (probe_budget.SCOUT_PACKETS, mtu_bytes, scout_gap_s)
    measurement.doing("first packet trains")
    scouts = probe(measurement.pair, dict.fromkeys(WAYS, scout), probe_budget.SCOUTS, rtt_s, ecn=False)
    shapes = {}
    for way in WAYS:
        packets, gap_s = probe_budget.train_packets(
            _value_or_lower_bound(trains.rate(scouts[way].trains)), mtu_bytes, jitter_ms / 1e3
        )
        packets = min(packets, measurement.budget.train_packets(mtu_bytes))
        shapes[way] = (packets, mtu_bytes, measurement.budget.spaced_s(packets, mtu_bytes, gap_s))
        measurement.sent_bytes += (
            packets * probe_budget.TRAINS + probe_budget.SCOUT_PACKETS * probe_budget.SCOUTS
        ) * mtu_bytes
    gap_s = max(gap_s for _, _, gap_s in shapes.values())
    shapes = {way: (packets, size, gap_s) for way, (packets, size, _) in shapes.items()}
    measurement.doing("packet trains and codepoints")
    return probe(measurement.pair, shapes, probe_budget.TRAINS, rtt_s, ecn=True)


def _value_or_lower_bound(rate: Estimate) -> float | None:
    """Return the value of a rate, or its lower bound."""
    return rate.value if rate.value is not None else rate.low


def _measure_loaded(measurement: _Measurement, way: Way, reverse: bool) -> None:
    """Fill one direction with a transfer, and then at a constant rate if the queue was not seen full."""
    name, train_mbps = WAYS[reverse], _value_or_lower_bound(way.trains)
    mbps = max(train_mbps if train_mbps is not None else _LEAST_MBPS, _LEAST_MBPS)
    seconds = measurement.budget.transfer_of_s(mbps)
    measurement.doing(f"a transfer, {name}")
    logs = [
        _measure_flow(
            measurement, way, traffic.transfer(seconds, reverse, measurement.budget.transfer_bytes), "a transfer"
        )
    ]
    if way.queue is None or not way.queue.full:
        rate = min(probe_budget.FLOODS_AT * mbps, probe_budget.MOST_FLOOD_MBPS)
        seconds = measurement.budget.flood_of_s(rate)
        if seconds < probe_budget.LEAST_FLOOD_S:
            rate, seconds = rate * seconds / probe_budget.LEAST_FLOOD_S, probe_budget.LEAST_FLOOD_S
        measurement.doing(f"a constant rate, {name}")
        run = traffic.flood(rate, seconds, reverse, measurement.budget.flood_bytes)
        logs.append(_measure_flow(measurement, way, run, f"a constant rate of {rate:.3g} Mbit/s"))
        way.policer = policer(logs[-1], train_mbps if train_mbps is not None else math.inf)
    if way.queue is not None and way.queue.depth_ms.value is not None:
        way.random_losses = load.random_losses(logs, way.queue.depth_ms.value)
    if way.loss.value and way.rate.value is not None and way.policer is None:
        _count_random_loss(measurement, way, way.rate.value, reverse)


def _count_random_loss(measurement: _Measurement, way: Way, mbps: float, reverse: bool) -> None:
    """Count losses at a constant rate below that of the path: many packets without a queue."""
    measurement.doing(f"a constant rate below that of the path, {WAYS[reverse]}")
    rate = min(probe_budget.STEADY_AT * mbps, probe_budget.MOST_FLOOD_MBPS)
    seconds = min(probe_budget.STEADY_S, measurement.budget.steady_bytes * 8e-6 / rate)
    [log], _ = measurement.run(traffic.flood(rate, seconds, reverse, measurement.budget.steady_bytes))
    hits, cases = way.random_losses
    more, packets = idle.losses(log)
    way.random_losses = hits + more, cases + packets


def _measure_flow(measurement: _Measurement, way: Way, run: RunSpec, words: str) -> FlowLog:
    """Make a run that fills the path, and add its results to the direction. Return its packets."""
    [log], statistics = measurement.run(run)
    log = log.full()
    way.copies += _copies(statistics, 0, WAYS[run["flows"][0]["reverse"]])
    way.packets += len(log.sent_s)
    if not len(log.sent_s) or log.lost.all():
        return log
    busy = load.busy_rate(log, f"packets of {words} that had to wait", _QUESTIONS_MBPS)
    way.busy = busy if busy.value is not None else way.busy
    way.queue = load.queue(log)
    way.packet_bytes = int(log.size_bytes.max())
    way.load_loss = load.loss_under_load(log)
    way.load_reordering = idle.reordering(log)
    return log
