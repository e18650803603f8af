"""Metrics of links and of all flows together, recomputed as `metrics.py` recomputes those of single flows."""

import math
from collections import defaultdict
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl

from support.by_hand.metrics import acklink, ccperf, pantheon
from support.by_hand.run import (
    BY_OPPORTUNITIES,
    DELIVER,
    DEQUEUE,
    DROP,
    ENQUEUE,
    MARK,
    OPPORTUNITY,
    SECOND,
    SEND,
    Flow,
    Run,
    Steps,
    Values,
    mbps,
    mean,
    nearest_rank,
    ns,
    ratio,
    scale,
    to_us,
    within,
)

HAVE_QUEUES = ("link", "shaper", *BY_OPPORTUNITIES)


def links_with_queues(elements: list[dict[str, Any]]) -> list[str]:
    return [element["name"] for element in elements if element["kind"] in HAVE_QUEUES]


@dataclass
class Passage:
    """Events at one link, in time order."""

    waits: list[tuple[int, int, int]] = field(default_factory=list)
    """Times at which packets left the queue, their time in it, and their bytes."""
    changes: list[tuple[int, int, int]] = field(default_factory=list)
    """Times at which packets entered or left the queue, and the changes of its packets and bytes."""
    arrivals: int = 0
    drops: int = 0
    marks: int = 0


def passages(run: Run) -> dict[str, Passage]:
    """Return the passages of the data direction's links with queues, by name; data pass these links in order."""
    by_link: dict[str, Passage] = defaultdict(Passage)
    for flow in run.flows:
        names = links_with_queues(flow.elements_passed("data"))
        waiting: dict[int, int] = {}
        passed_links: dict[int, int] = defaultdict(int)
        is_relevant = pl.col("event").is_in([ENQUEUE, DEQUEUE, DROP, MARK])
        for time, kind, seq, size in (
            flow.log.filter(is_relevant).select("time_ns", "event", "seq", "size_bytes").iter_rows()
        ):
            if passed_links[seq] == len(names):
                continue  # dropped behind all links
            link = by_link[names[passed_links[seq]]]
            if kind == ENQUEUE:
                waiting[seq] = time
                link.arrivals += 1
                link.changes.append((time, 1, size))
            elif kind == DEQUEUE:
                link.waits.append((time, time - waiting.pop(seq), size))
                link.changes.append((time, -1, -size))
                passed_links[seq] += 1
            elif kind == MARK:
                link.marks += 1
            else:
                link.drops += 1
                if seq in waiting:
                    del waiting[seq]
                    link.changes.append((time, -1, -size))
                else:
                    link.arrivals += 1
    for link in by_link.values():
        link.waits.sort()
        link.changes.sort(key=lambda change: change[0])
    return by_link


def link_metrics(run: Run) -> dict[str, Values]:
    """Return the metrics of links by name.

    The log does not say at which link an ACK was, so no ACK may pass these links.
    """
    elements = {f"data/{station['name']}": station for station in run.path["data"] if station["kind"] in HAVE_QUEUES}
    by_link = passages(run)
    return {name: of_link(run, element, by_link[element["name"]]) for name, element in elements.items()}


def of_link(run: Run, element: dict[str, Any], link: Passage) -> Values:
    framing = element.get("framing_bytes", 0)
    time, packets, amounts = (np.array(column) for column in zip(*link.changes, strict=True))
    lasting = np.append(time[1:] != time[:-1], values=True)
    lengths, sizes = Steps(time, packets.cumsum()), Steps(time, amounts.cumsum())
    waits = [wait for _, wait, _ in link.waits]
    values: Values = {
        "capacity_mbps": run.offered_bits(element, 0, run.end) / run.end * 1e3,
        "mean_queue_packets": lengths.integral(0, run.end) / run.end,
        "mean_queue_bytes": sizes.integral(0, run.end) / run.end,
        "max_queue_packets": int(lengths.value[lasting].max()),
        "max_queue_bytes": int(sizes.value[lasting].max()),
        "mean_queue_delay_ms": scale(mean(waits), 1e-6),
        "max_queue_delay_ms": max(waits) / 1e6,
        "packets_in": link.arrivals,
        "packets_dropped": link.drops,
        "total_qdisc_drops_l2": link.drops,
        "packets_marked": link.marks,
        "peak_queue_ms": None,
    }
    if run.last_change is not None:
        values["peak_queue_ms"] = max(wait for left, wait, _ in link.waits if left >= run.last_change) / 1e6
    values["mean_qdisc_length_l2"] = values["mean_queue_packets"]
    values["mean_qdisc_delay_l2"] = values["mean_queue_delay_ms"]
    if element["kind"] == "link":
        # When the next packet leaves the queue, all earlier ones have been sent.
        left, _, size = link.waits[-1]
        under_way = run.offered_bits(element, left, run.end) < 8 * (size + framing)
        sent_amounts = [amount + framing for _, _, amount in link.waits][: -1 if under_way else None]
        values["packets_out"] = len(sent_amounts)
        values["throughput_mbps"] = values["mean_sending_rate_l1"] = mbps(sum(sent_amounts), run.end)
        values["utilization"] = values["throughput_mbps"] / values["capacity_mbps"]
        values["ecn_mark_rate"] = ratio(link.marks, len(sent_amounts))
    return values


def jain(amounts: list[float]) -> float | None:
    return ratio(sum(amounts) ** 2, len(amounts) * sum(amount**2 for amount in amounts))


def network_metrics(run: Run) -> Values:
    departures, arrivals, opportunities = (run.events(kind) for kind in (SEND, DELIVER, OPPORTUNITY))
    values = pantheon(departures, arrivals) | acklink(run, None)
    values["capacity_mbps"] = values["capacity_utilization"] = None
    if len(opportunities.time):
        values["capacity_mbps"] = float(opportunities.size.sum() * 8 / np.ptp(to_us(opportunities.time)))
        values["capacity_utilization"] = values["throughput_mbps"] / values["capacity_mbps"]
    values["duration_s"] = np.ptp(to_us(arrivals.time)) / 1e6
    values["valid"] = bool(values["duration_s"] >= 0.8 * run.end / SECOND) and all(
        len(flow.sent.time) and len(flow.delivered.time) for flow in run.flows
    )
    measured_flows = [flow for flow in run.flows if flow.counted[0] <= flow.counted[1]]
    payload = sum(within(flow.stream.fresh, *flow.counted) for flow in measured_flows)
    span = max(flow.counted[1] for flow in run.flows) - min(flow.counted[0] for flow in run.flows)
    values["goodput_mbps"] = mbps(payload, span)
    delays = np.concatenate([to_us(flow.delivered.within(*flow.counted).delay) for flow in measured_flows])
    lost_packets = sum(len(flow.dropped.within(*flow.counted).time) for flow in measured_flows)
    values["packet_loss_rate"] = ratio(lost_packets, lost_packets + len(delays))
    for share in (50, 95, 99):
        values[f"owd_p{share}_ms"] = scale(nearest_rank(delays, share / 100), 1e-3)
    return (
        values
        | fairness(run)
        | competing(run)
        | means(run)
        | samples(run)
        | {"convergence_time_s": convergence(run)}
        | completions(run)
    )


JAIN_WINDOW = ns(0.1)


def jain_windows(run: Run) -> Values:
    """Return Jain's indices in windows of time: of the flows with arrivals, and of those active in the whole window."""
    deliveries = sorted(
        (int(time), number, int(size))
        for number, flow in enumerate(run.flows)
        for time, size in zip(flow.delivered.time, flow.delivered.size, strict=True)
    )
    windows: list[dict[int, int]] = []
    begin = -JAIN_WINDOW
    for time, number, size in deliveries:
        if time >= begin + JAIN_WINDOW:
            begin = time
            windows.append({})
        windows[-1][number] = windows[-1].get(number, 0) + size
    closed_windows = [list(window.values()) for window in windows[:-1]]
    of_seen = [jain([*map(float, now)]) for before, now in pairwise(closed_windows) if len(before) == len(now)]
    of_active = []
    for first in range(0, run.end - JAIN_WINDOW + 1, JAIN_WINDOW):
        window = (first, first + JAIN_WINDOW)
        active = [flow for flow in run.flows if flow.active[0] <= window[0] and window[1] <= flow.active[1]]
        amounts = [
            sum(
                int(size)
                for time, size in zip(flow.delivered.time, flow.delivered.size, strict=True)
                if window[0] <= time < window[1]
            )
            for flow in active
        ]
        if sum(amounts):
            of_active.append(jain([*map(float, amounts)]))
    values: Values = {}
    for rule, index_list in (("seen", of_seen), ("active", of_active)):
        defined_indices = np.array([index for index in index_list if index is not None])
        values[f"jain_{rule}_p50"] = float(np.median(defined_indices)) if len(defined_indices) else None
        values[f"jain_{rule}_p05"] = nearest_rank(defined_indices, 0.05) if len(defined_indices) else None
    return values


def fairness(run: Run) -> Values:
    """Return the fairness in the time in which all flows are active, until the first complete transfer."""
    first = max(max(flow.active[0] for flow in run.flows), run.warmup)
    last = min(flow.active[1] for flow in run.flows)
    bin_ns = ns(0.5)
    bins = [(begin, begin + bin_ns) for begin in range(first, last - bin_ns + 1, bin_ns)]
    indices = [jain([flow.rate(flow.stream.fresh, interval_bin) for flow in run.flows]) for interval_bin in bins]
    flow_bytes = [within(flow.stream.fresh, first, last) for flow in run.flows]
    values = {
        "jain_index": jain(flow_bytes),
        "jain_index_mean": mean([index for index in indices if index is not None]),
    }
    return values | jain_windows(run)


def competing(run: Run) -> Values:
    """Return the time in which all flows are active, and their goodput in this time."""
    time = run.competing
    if time is None:
        return dict.fromkeys(("competing_from_s", "competing_to_s", "competing_goodput_mbps"))
    amount = sum(within(flow.stream.fresh, *time) for flow in run.flows)
    return {
        "competing_from_s": time[0] / SECOND,
        "competing_to_s": time[1] / SECOND,
        "competing_goodput_mbps": mbps(amount, time[1] - time[0]),
    }


def means(run: Run) -> Values:
    """Return sums over the flows of each one's part of the mean, from the first start to the last end."""
    span = max(flow.over for flow in run.flows) - min(flow.start for flow in run.flows)
    own_values = [(ccperf(flow), flow.over - flow.start) for flow in run.flows]
    values: Values = {}
    for name in ("throughput", "in_flight", "utilization_bw", "utilization_bdp"):
        parts = [(metrics[f"mean_{name}_l4"], length) for metrics, length in own_values]
        is_complete = all(part is not None for part, _ in parts)
        values[f"mean_agg_{name}_l4"] = sum(part * length for part, length in parts) / span if is_complete else None
    return values


def samples(run: Run) -> Values:
    """Return the metrics over the flows that are active in a whole sample interval."""
    rates = [
        [flow.throughput(interval) for flow in run.flows if interval in flow.intervals] for interval in run.intervals
    ]
    rates = [row for row in rates if row]
    moving = [[rate for rate in row if rate > 0] for row in rates if any(row)]
    shares = [[rate / sum(row) for rate in row] for row in moving]
    return {
        "mean_agg_utility_pf_l4": mean([sum(math.log(rate) for rate in row) for row in moving]),
        "mean_agg_utility_mpdf_l4": mean([sum(-1 / rate for rate in row) for row in moving]),
        "mean_jains_fairness_throughput_l4": mean([index for index in map(jain, rates) if index is not None]),
        "mean_entropy_fairness_throughput_l4": mean([-sum(p * math.log(p) for p in row) for row in shares]),
        "mean_product_fairness_throughput_l4": mean([math.prod(row) for row in rates]),
    }


def convergence(run: Run) -> float | None:
    """Return the time at which each second's shares become fair and stay so, checked after each sample interval."""
    together = [interval for interval in run.intervals if all(interval in flow.intervals for flow in run.flows)]
    count = SECOND // run.interval
    convergence_s = None
    for earlier, latest in zip(together, together[count - 1 :], strict=False):
        amounts = [flow.throughput((earlier[0], latest[1])) for flow in run.flows]
        fair, delta = sum(amounts) / len(amounts), run.specification["convergence_delta"]
        if any(abs(amount - fair) > delta * fair for amount in amounts):
            convergence_s = None
        elif convergence_s is None:
            convergence_s = (latest[1] - max(flow.start for flow in run.flows)) / SECOND
    return convergence_s if len(run.flows) > 1 else None


def completions(run: Run) -> Values:
    transfers = [flow for flow in run.flows if flow.total]

    def completion_values(flows: list[Flow]) -> Values:
        times = [(flow.completed - flow.start) / SECOND for flow in flows if flow.completed is not None]
        shares = {f"p{share}_s": nearest_rank(times, share / 100) for share in (50, 95, 99)}
        return {"flows": len(flows), "completed": len(times), "mean_s": mean(times)} | shares

    every = completion_values(transfers)
    sizes = sorted({flow.total for flow in transfers})
    return {f"fct_{name}": every[name] for name in ("mean_s", "p50_s", "p95_s", "p99_s")} | {
        "fct_incomplete": every["flows"] - every["completed"],
        "completions": [
            {"bytes": size} | completion_values([flow for flow in transfers if flow.total == size]) for size in sizes
        ],
    }
