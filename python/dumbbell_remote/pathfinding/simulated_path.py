"""A path to simulate, of what was found out about a real one."""

from datetime import date
from typing import Any

from dumbbell.catalog.open_tables import Element
from dumbbell.catalog.path import PathModel
from dumbbell_remote.pathfinding.findings import Findings, Way
from dumbbell_remote.pathfinding.idle import LEAST_JITTER_MS
from dumbbell_remote.pathfinding.probing import WAYS

LEAST_DELAY_MS = 0.001
_SHORT_QUEUE_BDP = 1.0
"""Queue that is assumed where none was seen full, in bandwidth-delay products."""
LEAST_SWAPS = 1e-5
"""Less than this is what machines do to packets, and less than `LEAST_JITTER_MS`."""
_LEAST_CASES = 2
"""What happened to fewer packets is chance."""


def path_model(found: Findings, name: str, title: str, day: date) -> PathModel:
    """The path; its provenance says of every value how it was measured, and how sure that is."""
    there, back = (found.ways[way] for way in WAYS)
    rtt_ms = found.least_rtt_ms or 0.0
    return PathModel(
        name=name,
        title=title,
        provenance=provenance(found, day),
        mtu_bytes=min(there.mtu_bytes, back.mtu_bytes),
        data=elements(there, rtt_ms),
        ack=elements(back, rtt_ms),
    )


def elements(way: Way, rtt_ms: float) -> list[Element]:
    """One direction: policer, link, delay, and what happens to packets behind it."""
    found: list[Element] = []
    mbps = way.rate.value
    if way.policer is not None and way.policer.burst_bytes.value is not None:
        burst = max(round(way.policer.burst_bytes.value), way.packet_bytes)
        found.append({"kind": "policer", "rate_mbps": _rounded(way.policer.rate_mbps.value), "burst_bytes": burst})
        mbps = way.trains.value
    if mbps is not None:
        queue = {"kind": "droptail", "bytes": _queue_bytes(way, mbps, rtt_ms)}
        found.append({"kind": "link", "name": "bottleneck", "rate_mbps": _rounded(mbps), "queue": queue})
    loss = way.loss
    if loss.value is not None and loss.value > 0.0:
        found.append({"kind": "loss", "probability": _rounded(loss.value)})
    copies = way.duplication
    if copies.value is not None and way.copies >= _LEAST_CASES:
        found.append({"kind": "duplicate", "probability": _rounded(copies.value)})
    found += _delays(way, mbps)
    return found


def _queue_bytes(way: Way, mbps: float, rtt_ms: float) -> int:
    """What was seen; where it was never full, one bandwidth-delay product, or what was seen at least."""
    length = way.queue_bytes
    if way.policer is None and length.value is not None:
        return round(length.value)
    assumed = _SHORT_QUEUE_BDP * mbps * 125.0 * rtt_ms
    return round(max(assumed, length.low or 0.0, 2 * way.packet_bytes))


def _delays(way: Way, mbps: float | None) -> list[Element]:
    """The constant delay, without what the link takes for the packet that measured it, and what varies."""
    if way.delays is None or way.delays.least.value is None:
        return [{"kind": "delay", "delay_ms": LEAST_DELAY_MS}]
    serial_ms = way.delays.packet_bytes * 8e-3 / mbps if mbps else 0.0
    least_ms = max(way.delays.least.value - serial_ms, LEAST_DELAY_MS)
    found: list[Element] = [{"kind": "delay", "delay_ms": _rounded(least_ms)}]
    if way.delays.jitters:
        mean_ms = _rounded(way.delays.mean_above)
        found.append({"kind": "jitter", "distribution": "exponential", "mean_ms": mean_ms})
    order = way.reordering
    swaps, held_ms = order.share.low or 0.0, order.held_ms or 0.0
    if swaps > LEAST_SWAPS and held_ms > LEAST_JITTER_MS:
        held = {"probability": _rounded(order.share.value), "delay_ms": _rounded(held_ms)}
        found.append({"kind": "reorder"} | held)
    return found


def provenance(found: Findings, day: date) -> str:
    """Where the numbers are from."""
    parts = [
        f"Measured with `dumbbell path` on {day.isoformat()}: a first model, which calibration refines.",
        "Intervals hold the true value in 95 of 100 cases if nothing else disturbed it, those of delays in all.",
        f"Round trip of small packets: {_quantiles(found)}.",
    ]
    for name, way in found.ways.items():
        parts.append(f"{'Data' if name == WAYS[0] else 'ACKs'} ({name}): {'; '.join(_words(way))}.")
    parts += [f"Note: {note}." for note in found.notes]
    return " ".join(parts)


def _quantiles(found: Findings) -> str:
    return ", ".join(f"{name} {value:.4g} ms" for name, value in found.rtt().items())


def _words(way: Way) -> list[str]:
    """What is known of a direction."""
    rows = []
    for name, estimate in rows_of(way):
        how = f" [{estimate.how}]" if estimate.how else ""
        rows.append(f"{name} {estimate.text()}{how}")
    if (way.queue is None or not way.queue.full) and way.policer is None and way.rate.value is not None:
        rows.append(f"queue assumed: {_SHORT_QUEUE_BDP:g} bandwidth-delay product")
    if way.delays is not None:
        above = ", ".join(f"{name} {value:.3g}" for name, value in way.delays.quantiles_above.items())
        rows.append(f"delay above the least: mean {way.delays.mean_above:.3g}, {above} ms")
    rows.append(f"ECN: {way.ecn.words()}")
    return rows


def rows_of(way: Way) -> "list[tuple[str, Any]]":
    """The estimates of a direction with their names, those that there are."""
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
    """As many digits as mean something."""
    return float(f"{value or 0.0:.5g}")
