"""The model of a measured path, for the simulator."""

from datetime import date
from typing import Any

from dumbbell.catalog.open_tables import Element
from dumbbell.catalog.path import PathModel
from dumbbell_remote.pathfinding.findings import Findings, Way
from dumbbell_remote.pathfinding.idle import LEAST_JITTER_MS
from dumbbell_remote.pathfinding.probing import WAYS

LEAST_DELAY_MS = 0.001
_SHORT_QUEUE_BDP = 1.0
"""Assumed queue if no queue was seen full, in bandwidth-delay products."""
LEAST_SWAPS = 1e-5
"""Smallest share of reordered packets in a model. Machines cause smaller shares, and delays below `LEAST_JITTER_MS`."""
_LEAST_CASES = 2
"""Smallest number of duplicates in a model. Fewer are chance."""


def path_model(findings: Findings, name: str, title: str, day: date) -> PathModel:
    """Return the model of the path. Its provenance has the method and interval of each value."""
    data_way, ack_way = (findings.ways[way] for way in WAYS)
    rtt_ms = findings.least_rtt_ms or 0.0
    return PathModel(
        name=name,
        title=title,
        provenance=provenance(findings, day),
        mtu_bytes=min(data_way.mtu_bytes, ack_way.mtu_bytes),
        data=elements(data_way, rtt_ms),
        ack=elements(ack_way, rtt_ms),
    )


def elements(way: Way, rtt_ms: float) -> list[Element]:
    """Return the elements of one direction: policer, link, and the effects behind the link."""
    result: list[Element] = []
    mbps = way.rate.value
    if way.policer is not None and way.policer.burst_bytes.value is not None:
        burst = max(round(way.policer.burst_bytes.value), way.packet_bytes)
        result.append({"kind": "policer", "rate_mbps": _rounded(way.policer.rate_mbps.value), "burst_bytes": burst})
        mbps = way.trains.value
    if mbps is not None:
        queue = {"kind": "droptail", "bytes": _queue_bytes(way, mbps, rtt_ms)}
        result.append({"kind": "link", "name": "bottleneck", "rate_mbps": _rounded(mbps), "queue": queue})
    loss = way.loss
    if loss.value is not None and loss.value > 0.0:
        result.append({"kind": "loss", "probability": _rounded(loss.value)})
    copies = way.duplication
    if copies.value is not None and way.copies >= _LEAST_CASES:
        result.append({"kind": "duplicate", "probability": _rounded(copies.value)})
    result += _delays(way, mbps)
    return result


def _queue_bytes(way: Way, mbps: float, rtt_ms: float) -> int:
    """Return the measured queue, bytes. Without a full queue: a bandwidth-delay product, or the largest seen."""
    length = way.queue_bytes
    if way.policer is None and length.value is not None:
        return round(length.value)
    assumed_bytes = _SHORT_QUEUE_BDP * mbps * 125.0 * rtt_ms
    return round(max(assumed_bytes, length.low or 0.0, 2 * way.packet_bytes))


def _delays(way: Way, mbps: float | None) -> list[Element]:
    """Return the elements for constant delay without the link's time for the probe, jitter and reordering."""
    if way.delays is None or way.delays.least.value is None:
        return [{"kind": "delay", "delay_ms": LEAST_DELAY_MS}]
    serial_ms = way.delays.packet_bytes * 8e-3 / mbps if mbps else 0.0
    least_ms = max(way.delays.least.value - serial_ms, LEAST_DELAY_MS)
    result: list[Element] = [{"kind": "delay", "delay_ms": _rounded(least_ms)}]
    if way.delays.jitters:
        mean_ms = _rounded(way.delays.mean_above)
        result.append({"kind": "jitter", "distribution": "exponential", "mean_ms": mean_ms})
    order = way.reordering
    swaps, held_ms = order.share.low or 0.0, order.held_ms or 0.0
    if swaps > LEAST_SWAPS and held_ms > LEAST_JITTER_MS:
        reordering = {"probability": _rounded(order.share.value), "delay_ms": _rounded(held_ms)}
        result.append({"kind": "reorder"} | reordering)
    return result


def provenance(findings: Findings, day: date) -> str:
    """Return the provenance of the numbers."""
    parts = [
        f"Measured with `dumbbell path` on {day.isoformat()}: a first model, which calibration refines.",
        "Intervals hold the true value in 95 of 100 cases if nothing else disturbed it, those of delays in all.",
        f"Round trip of small packets: {_quantiles(findings)}.",
    ]
    for name, way in findings.ways.items():
        parts.append(f"{'Data' if name == WAYS[0] else 'ACKs'} ({name}): {'; '.join(_words(way))}.")
    parts += [f"Note: {note}." for note in findings.notes]
    return " ".join(parts)


def _quantiles(findings: Findings) -> str:
    return ", ".join(f"{name} {value:.4g} ms" for name, value in findings.rtt().items())


def _words(way: Way) -> list[str]:
    """Return the measured values of a direction, in words."""
    rows = []
    for name, estimate in rows_of(way):
        method = f" [{estimate.how}]" if estimate.how else ""
        rows.append(f"{name} {estimate.text()}{method}")
    if (way.queue is None or not way.queue.full) and way.policer is None and way.rate.value is not None:
        rows.append(f"queue assumed: {_SHORT_QUEUE_BDP:g} bandwidth-delay product")
    if way.delays is not None:
        above = ", ".join(f"{name} {value:.3g}" for name, value in way.delays.quantiles_above.items())
        rows.append(f"delay above the least: mean {way.delays.mean_above:.3g}, {above} ms")
    rows.append(f"ECN: {way.ecn.words()}")
    return rows


def rows_of(way: Way) -> "list[tuple[str, Any]]":
    """Return the estimates of a direction that exist, with their names."""
    rows: list[tuple[str, Any]] = [("rate", way.rate)]
    if way.rate is not way.trains:
        rows.append(("rate of trains", way.trains))
    if way.policer is not None:
        rows.append(("burst of a policer", way.policer.burst_bytes))
    if way.delays is not None:
        rows.append(("one-way delay", way.delays.least))
    rows.append(("loss", way.loss))
    if way.load_loss is not None:
        rows.append(("loss under load", way.load_loss))
    if way.queue is not None and way.policer is None:
        rows += [("queue", way.queue.depth_ms), ("queue", way.queue_bytes)]
    rows += [("reordering", way.reordering.share), ("duplication", way.duplication)]
    return rows


def _rounded(value: float | None) -> float:
    """Return the value with its significant digits; 0 for None."""
    return float(f"{value or 0.0:.5g}")
