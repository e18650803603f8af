"""Rules for the conduct of flows: loss, repeated payload, starvation, a standing queue, timeouts.

Each rule has a bound; `docs/reference/findings.md` has its reason and its source. A rule judges the repetitions of a
scheme, or of a mix, on a path. It does not judge runs without a metric that it needs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dumbbell.base.digits import decimal
from dumbbell.catalog.families import yields
from dumbbell.results.analysis.findings.means import mean_of
from dumbbell.results.analysis.findings.words import counted, listing, name, percent, span
from dumbbell.results.analysis.shares import flow_names
from dumbbell.results.analysis.summary import Repetitions
from dumbbell.results.numbers import value_of

if TYPE_CHECKING:
    from dumbbell.contract.statistics import FlowStats

MOST_LOST = 0.05
"""Fraction of the packets that queues may drop after the warm-up."""
_MOST_LOST_EVER = 0.5
"""Maximum loss for the smallest windows: a higher one means that twice the throughput is sent."""
MOST_REPEATED = 0.05
"""Fraction of the packets that may repeat payload which was not lost."""
LEAST_SHARE = 0.1
"""Least share of the payload, as a fraction of the fair share."""
MOST_STANDING = 2.0
"""Standing queue that is accepted, in base RTTs."""
LEAST_DRAINED = 0.2
"""Fraction of a full buffer that one flow has to drain now and then, if the buffer holds half a base RTT."""
MOST_TIMEOUTS = 6.0
"""Retransmission timeouts of a flow that are accepted in a minute."""
LEAST_RTTS = 30
"""Base RTTs that flows must last to be judged by loss, share, queue and timeouts: in less they have barely begun."""

_LEAST_TIMEOUTS = 3
"""Minimum timeouts of a flow: fewer are chance."""
_TIMER_MS = 200.0
"""Shortest retransmission timer (Linux). A longer wait in a queue, or an outage, may expire timers."""
_LEAST_WINDOW = 10
"""Packets of a small window: too few ACKs may follow a loss, and this many in a queue are a burst (RFC 6928)."""
_LEAST_QUEUE = 3.0
"""Packets in the longest queue below which the path has next to no buffer: each burst is lost."""
_LEAST_LOAD = 0.5
"""Part of the bottleneck's capacity that flows must send for its losses to be of congestion."""
_MOST_LOST_ACKS = 0.01
"""Fraction of lost ACKs above which timeouts may come from them."""
_PACKET_BITS = 1500 * 8
_UNKNOWN_RTT_MS = 300.0
"""Base RTT of runs that know none: few paths have a longer one."""
_JUST_BEGUN_S = 1.0
"""A flow that ends sooner, or begins so shortly before the run is over, may have received nothing."""


@dataclass(frozen=True)
class Doubt:
    """Suspicious conduct: `kind` groups equal doubts of several groups, `text` follows the group's name."""

    kind: str
    text: str
    value: float | None = None
    """Number in `text`; None if it has none that several groups could span."""


@dataclass(frozen=True)
class Rule:
    """A rule for conduct.

    `judge` returns the doubt about a group; None if nothing looks wrong. `summary` returns the text for several groups
    from their values. `is_compared` is true if comparisons show by themselves the fault that the rule finds.
    """

    kind: str
    judge: Callable[[Repetitions], Doubt | None]
    summary: Callable[[Sequence[float]], str]
    is_compared: bool = False


def accusations(group: Repetitions) -> Iterator[Doubt]:
    """Yield the suspicious conduct of the flows, in the order of the rules."""
    group = group.judged
    if group.good:
        for rule in CONDUCT.values():
            if (doubt := rule.judge(group)) is not None:
                yield doubt


def base_rtt_ms(group: Repetitions) -> float | None:
    """Return the longest base RTT of the group's flows, the smoothed RTT without queueing; None if unknown."""
    base_rtts = []
    for number in range(1, 1 + max(map(len, group.flows), default=0)):
        srtt, queue = (mean_of(group, ("flow", number, metric)) for metric in ("mean_srtt_l4", "mean_est_qdelay_l4"))
        if srtt is not None and queue is not None and srtt > queue:
            base_rtts.append(srtt - queue)
    return max(base_rtts, default=None)


def lasts_s(flow: FlowStats) -> float | None:
    """Return the planned time of a flow, s; None if unknown."""
    start, stop = flow.get("start_s"), flow.get("stop_s")
    return None if start is None or stop is None else float(stop) - float(start)


def _judge_loss(group: Repetitions) -> Doubt | None:
    """Judge the packets that queues dropped, without losses of the path itself and at the start of flows."""
    rates = group.values.get(("network", 0, "packet_loss_rate"), [])
    sent_packets, dropped_packets, in_queues = (
        _total(group, "packets_sent"),
        _total(group, "packets_dropped"),
        _queue_drops(group),
    )
    window, base = _window(group), _rtt_ms(group)
    if len(rates) < group.good or not sent_packets or dropped_packets is None or in_queues is None or window is None:
        return None
    loss, by_path = sum(rates) / len(rates), max(0.0, dropped_packets - in_queues) / sent_packets
    at_start = (base + _longest_wait_ms(group)) / 1e3 / max(_longest_s(group), 1e-3)
    limit = max(MOST_LOST + at_start, min(1.5 / window**2, _MOST_LOST_EVER))
    if not _long(group) or not _loaded(group):
        return None
    if min(loss - by_path, in_queues / sent_packets) <= limit:
        return None
    path = f" (by the path itself: {percent(by_path)} %)" if by_path > 0 else ""
    return Doubt("loss", f"{_lost_text([loss])}{path}", loss)


def _lost_text(values: Sequence[float]) -> str:
    return f"{span(values, _share_text)} % of the packets are lost after the warm-up"


def _judge_repeats(group: Repetitions) -> Doubt | None:
    """Judge the packets that repeat payload: lost packets had to be sent again."""
    again, sent_packets, lost_packets = (
        _total(group, key) for key in ("retransmissions", "packets_sent", "packets_dropped")
    )
    if (
        again is None
        or lost_packets is None
        or not sent_packets
        or (again - lost_packets) / sent_packets <= MOST_REPEATED
    ):
        return None
    value = (again - lost_packets) / sent_packets
    return Doubt("repeats", _repeated_text([value]), value)


def _repeated_text(values: Sequence[float]) -> str:
    return f"{span(values, _share_text)} % of the packets repeat payload that was not lost"


def _judge_starvation(group: Repetitions) -> Doubt | None:
    """Judge flows that receive nothing, or less than a tenth of their fair share while all flows compete."""
    silent = [[flow for flow in flows if _received_nothing(flow)] for flows in group.flows]
    if any(silent):
        numbers = sorted({int(flow["flow"]) for flows in silent for flow in flows if "flow" in flow})
        flow_text = f"flow {numbers[0]}" if len(numbers) == 1 else counted(len(numbers), "flow")
        verb = "sent" if all(flow.get("packets_sent") == 0 for flows in silent for flow in flows) else "received"
        return Doubt("starved", f"{flow_text} {verb} nothing{_times(group, sum(map(bool, silent)))}", 0.0)
    hungry = [_hungry(group, number) for number in range(group.good)]
    if not any(hungry):
        return None
    values = [share for shares in hungry for share in shares.values()]
    names = list(dict.fromkeys(name for shares in hungry for name in shares))
    fair = span([1 / len(flows) for flows, shares in zip(group.flows, hungry, strict=True) if shares], percent)
    verb = "gets" if len(names) == 1 else "get"
    text = f"{listing(names)} {verb} {span(values, _share_text)} % of the payload (fair: {fair} %)"
    return Doubt("starved", f"{text}{_times(group, sum(map(bool, hungry)))}", max(values))


def _starved_text(values: Sequence[float]) -> str:
    return f"a flow gets {span(values, _share_text)} % of the payload, less than a tenth of its fair share"


def _received_nothing(flow: FlowStats) -> bool:
    return flow.get("packets_delivered") == 0 and (lasts_s(flow) or _JUST_BEGUN_S) >= _JUST_BEGUN_S


def _hungry(group: Repetitions, run: int) -> dict[str, float]:
    """Return the shares of the flows of a run that starve, by their names.

    Flows whose application limits their rate want no more. Schemes that yield to others want no fair share.
    """
    flows, network = group.flows[run], group.networks[run]
    first, last = (value_of(network, f"competing_{end}_s") for end in ("from", "to"))
    if first is None or last is None or (last - first) * 1e3 < LEAST_RTTS * _rtt_ms(group):
        return {}
    names = flow_names([str(flow["scheme"]) for flow in flows])
    yielding = {scheme for flow in flows if yields(scheme := str(flow["scheme"]))}
    ambitious = {str(flow["scheme"]) for flow in flows} - yielding
    shares = {}
    for flow, flow_name in zip(flows, names, strict=True):
        share = value_of(flow, "competing_share")
        is_limited = bool(group.links[run]) and value_of(flow, "starvation_time_s") is None
        if share is None or is_limited or (ambitious and flow["scheme"] in yielding):
            continue
        if share < LEAST_SHARE / len(flows):
            shares[name(flow_name)] = share
    return shares


def _times(group: Repetitions, runs: int) -> str:
    return "" if runs == group.good else f" in {runs} of {group.good} runs"


def _judge_queue(group: Repetitions) -> Doubt | None:
    """Judge the least queueing delay of nine tenths of the packets."""
    flows = max(map(len, group.flows), default=0)
    delays = [mean_of(group, ("flow", number, "self_inflicted_delay_p10_ms")) for number in range(1, flows + 1)]
    known_delays = [delay for delay in delays if delay is not None]
    base, links = base_rtt_ms(group), _links(group, "data")
    if not known_delays or len(known_delays) < flows or base is None or not links or not _long(group):
        return None
    # waiting ACKs come in bursts, which makes packets come in bursts
    trip = base + max((_queue(group, number)[1] for number in _links(group, "ack")), default=0.0)
    queues = [_queue(group, number) for number in links]
    longest = max((delay for packets, delay in queues if packets >= _LEAST_WINDOW * flows), default=0.0)
    # delays that the path itself adds: its delay changes, or it holds packets back
    means = [mean_of(group, ("flow", number, "queueing_delay_mean_ms")) or 0.0 for number in range(1, flows + 1)]
    path_delay = max(0.0, max(means) - sum(delay for _, delay in queues))
    standing = min(known_delays) - path_delay
    deep = min(standing, longest) > MOST_STANDING * trip
    if not deep and not (_buffer_stays_full(group, standing) and min(standing, longest) > trip / 2):
        return None
    text = f"{_standing_text([standing])} (base RTT: {decimal(base, 0)} ms)"
    return Doubt("queue", text, standing)


def _buffer_stays_full(group: Repetitions, standing_ms: float) -> bool:
    """Return True if a standing queue takes nearly all of a buffer that overflows.

    Of several flows, which do not reduce their windows together, each drains a part.
    """
    flows = max(map(len, group.flows))
    waits = [mean_of(group, ("link", number, "max_queue_delay_ms")) or 0.0 for number in _links(group, "data")]
    overflows = (_queue_drops(group) or 0.0) > 0
    return overflows and standing_ms > (1 - LEAST_DRAINED / flows) * max(waits, default=0.0) > 0


def _queue(group: Repetitions, number: int) -> tuple[float, float]:
    """Return the mean length of a link's queue, packets, and the mean delay in it, ms; 0 where unknown."""
    packets, delay = (mean_of(group, ("link", number, f"mean_queue_{key}")) for key in ("packets", "delay_ms"))
    return packets or 0.0, delay or 0.0


def _standing_text(values: Sequence[float]) -> str:
    return f"a queue stands: nine of ten packets wait at least {span(values, _ms_text)} ms"


def _ms_text(value: float) -> str:
    return decimal(value, 0)


def _judge_timeouts(group: Repetitions) -> Doubt | None:
    """Judge the timeouts of flows whose path neither loses packets itself nor holds them for long."""
    count, in_queues, dropped_packets = _total(group, "timeouts"), _queue_drops(group), _total(group, "packets_dropped")
    flows = [flow for flows in group.flows for flow in flows]
    times = [lasts_s(flow) for flow in flows]
    known_times = [time for time in times if time is not None]
    if (
        count is None
        or dropped_packets is None
        or in_queues is None
        or len(known_times) < len(flows)
        or not sum(known_times)
    ):
        return None
    rate = 60.0 * count / sum(known_times)
    if rate <= MOST_TIMEOUTS or count < _LEAST_TIMEOUTS * len(flows) or not _long(group):
        return None
    lost_acks = [value_of(flow, "acklink.loss_rate") or 0.0 for flow in flows]
    path_may_cause = (
        dropped_packets > in_queues or _longest_wait_ms(group) >= _TIMER_MS or max(lost_acks) > _MOST_LOST_ACKS
    )
    base, capacity = base_rtt_ms(group), mean_of(group, ("link", 1, "capacity_mbps"))
    queue = mean_of(group, ("link", 1, "max_queue_packets"))
    if path_may_cause or base is None or capacity is None or queue is None or queue < _LEAST_QUEUE:
        return None
    window = capacity * 1e3 * base / _PACKET_BITS / max(map(len, group.flows))
    return Doubt("timeouts", _timeouts_text([rate]), rate) if window >= _LEAST_WINDOW else None


def _timeouts_text(values: Sequence[float]) -> str:
    return f"{span(values, _ms_text)} timeouts a minute in each flow"


CONDUCT = {
    rule.kind: rule
    for rule in (
        Rule("loss", _judge_loss, _lost_text),
        Rule("repeats", _judge_repeats, _repeated_text),
        Rule("starved", _judge_starvation, _starved_text),
        Rule("queue", _judge_queue, _standing_text, is_compared=True),
        Rule("timeouts", _judge_timeouts, _timeouts_text),
    )
}
"""Rules by their kinds, in the order of their sentences."""


def _share_text(value: float) -> str:
    """Return a share in percent, with a decimal: 99.3 and 100 are not the same."""
    return decimal(100.0 * value, 1)


def _total(group: Repetitions, key: str) -> float | None:
    """Return the sum of a counter over all flows of all runs; None if a flow lacks the counter."""
    values = [value_of(flow, key) for flows in group.flows for flow in flows]
    known_values = [value for value in values if value is not None]
    return sum(known_values) if known_values and len(known_values) == len(values) else None


def _links(group: Repetitions, direction: str) -> list[int]:
    """Return the numbers of the links of a direction; empty if a run has no links, or runs have different ones."""
    numbers_of_runs = {
        tuple(at for at, link in enumerate(links, 1) if link.get("direction") == direction) for links in group.links
    }
    return list(numbers_of_runs.pop()) if len(numbers_of_runs) == 1 else []


def _queue_drops(group: Repetitions) -> float | None:
    """Return the packets that queues dropped in the data direction in all runs; None if a run has no such number."""
    numbers = _links(group, "data")
    values = [group.values.get(("link", number, "packets_dropped"), []) for number in numbers]
    return sum(map(sum, values)) if numbers and all(len(drops) == group.good for drops in values) else None


def _window(group: Repetitions) -> float | None:
    """Return the packets of a flow in flight, from its delivered rate and its delays both ways; None if unknown.

    A path whose whole delay is in the ACK direction shows none in the data direction.
    """
    delivered_packets = _total(group, "packets_delivered")
    times = [lasts_s(flow) for flows in group.flows for flow in flows]
    known_times = [time for time in times if time is not None]
    delays = [(value_of(flow, "owd_mean_ms"), value_of(flow, "owd_min_ms")) for flows in group.flows for flow in flows]
    trips = [mean + least for mean, least in delays if mean is not None and least is not None]
    if not delivered_packets or len(known_times) < len(times) or sum(known_times) <= 0 or sum(trips) <= 0:
        return None
    return delivered_packets / sum(known_times) * sum(trips) / len(trips) / 1e3


def _loaded(group: Repetitions) -> bool:
    """Return True if the flows send at half of the bottleneck's capacity: below, only bursts overflow its queue."""
    sent_mbps, capacity = mean_of(group, ("network", 0, "ingress_mbps")), mean_of(group, ("link", 1, "capacity_mbps"))
    return sent_mbps is not None and (capacity is None or sent_mbps >= _LEAST_LOAD * capacity)


def _longest_wait_ms(group: Repetitions) -> float:
    return max(
        (value for key, values in group.values.items() if key[2] == "max_queue_delay_ms" for value in values),
        default=0.0,
    )


def _longest_s(group: Repetitions) -> float:
    """Return the time of the longest flow, s; 0 if no time is known."""
    return max((time for flows in group.flows for flow in flows if (time := lasts_s(flow)) is not None), default=0.0)


def _rtt_ms(group: Repetitions) -> float:
    """Return the base RTT, or an estimate: twice the smallest one-way delay, or else a long one."""
    least = [value for flows in group.flows for flow in flows if (value := value_of(flow, "owd_min_ms"))]
    return base_rtt_ms(group) or 2 * max(least, default=_UNKNOWN_RTT_MS / 2)


def _long(group: Repetitions) -> bool:
    """Return True if the longest flow lasts for enough base RTTs."""
    return _longest_s(group) * 1e3 >= LEAST_RTTS * _rtt_ms(group)
