"""Metrics of flows, recomputed plainly and slowly from a run's files and its run spec alone.

The formulas follow the definitions in docs/reference/metrics.md, not the code that computes the metrics. Times are
whole ns, amounts bytes, rates Mbit/s. `network.py` has the metrics of links and of the network.
"""

import math
from collections import deque
from itertools import pairwise

import numpy as np

from support.by_hand.run import (
    ACK_DELIVER,
    ACK_SEND,
    LOST,
    MARK,
    SECOND,
    Amounts,
    Events,
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
    variation,
    within,
)


def pantheon(departures: Events, arrivals: Events) -> Values:
    """Return Pantheon's metrics of whole logs, in which times are whole microseconds."""

    def rate(events: Events) -> float:
        span = np.ptp(to_us(events.time)) if len(events.time) else 0
        return float(events.size.sum() * 8 / span) if span else 0.0

    return {
        "throughput_mbps": rate(arrivals),
        "ingress_mbps": rate(departures),
        "delay_p95_ms": scale(nearest_rank(to_us(arrivals.delay), 0.95), 1e-3),
        "loss_rate": None if not departures.size.sum() else 1 - arrivals.size.sum() / departures.size.sum(),
    }


def acklink(run: Run, flow: int | None) -> Values:
    departures, arrivals = run.events(ACK_SEND, flow), run.events(ACK_DELIVER, flow)
    if not len(departures.time):
        return {"acklink": None}
    values = pantheon(departures, arrivals)
    return {f"acklink.{name}": value for name, value in values.items() if name != "ingress_mbps"}


def corrected_values(flow: Flow) -> Values:
    first, last = flow.counted
    arrival_delays, drops = to_us(flow.delivered.within(first, last).delay), flow.dropped.within(first, last)
    least = scale(min(to_us(flow.delivered.delay), default=None), 1e-3)
    beside = [other for other in flow.run.flows if other.directions == flow.directions]
    amounts = {other.number: within(other.stream.fresh, *other.counted) for other in beside}
    values: Values = {
        "payload_share": ratio(amounts[flow.number], sum(amounts.values())),
        "goodput_mbps": mbps(within(flow.stream.fresh, first, last), last - first) if first < last else None,
        "packet_loss_rate": ratio(len(drops.time), len(drops.time) + len(arrival_delays)),
        "owd_min_ms": least,
        "owd_mean_ms": scale(mean(arrival_delays), 1e-3),
        "owd_max_ms": scale(max(arrival_delays, default=None), 1e-3),
    }
    values |= {f"owd_p{share}_ms": scale(nearest_rank(arrival_delays, share / 100), 1e-3) for share in (50, 95, 99)}
    low = scale(nearest_rank(arrival_delays, 0.1), 1e-3)
    for name, delay in (("mean", values["owd_mean_ms"]), ("p95", values["owd_p95_ms"]), ("p10", low)):
        values[f"self_inflicted_delay_{name}_ms"] = None if delay is None else delay - least
    mean_delay = scale(mean(to_us(flow.delivered.delay)), 1e-3)
    values["queueing_delay_mean_ms"] = None if mean_delay is None else mean_delay - least
    return values


def competing(flow: Flow) -> Values:
    """Return the metrics of the time in which all flows are active."""
    names = ("goodput_mbps", "share", "owd_p95_ms", "loss_rate")
    time = flow.run.competing
    if time is None:
        return {f"competing_{name}": None for name in names}
    arrival_delays, drops = to_us(flow.delivered.within(*time).delay), flow.dropped.within(*time)
    beside = [other for other in flow.run.flows if other.directions == flow.directions]
    own_bytes = within(flow.stream.fresh, *time)
    values = (
        mbps(own_bytes, time[1] - time[0]),
        ratio(own_bytes, sum(within(other.stream.fresh, *time) for other in beside)),
        scale(nearest_rank(arrival_delays, 0.95), 1e-3),
        ratio(len(drops.time), len(drops.time) + len(arrival_delays)),
    )
    return {f"competing_{name}": value for name, value in zip(names, values, strict=True)}


def counter_values(flow: Flow) -> Values:
    packets = [len(events.time) for events in (flow.sent, flow.delivered, flow.dropped)]
    episodes, over = recoveries(flow)
    return {
        "packets_sent": packets[0],
        "packets_delivered": packets[1],
        "packets_dropped": packets[2],
        "packets_marked": len(flow.run.events(MARK, flow.number).time),
        "packets_in_flight_at_end": max(0, packets[0] - packets[1] - packets[2]),
        "bytes_sent": int(flow.sent.size.sum()),
        "bytes_delivered": int(flow.delivered.size.sum()),
        "data_bytes_delivered": sum(amount for _, amount in flow.stream.fresh),
        "retransmissions": flow.stream.resent,
        "total_retransmissions_l4": flow.stream.resent,
        "timeouts": flow.stream.timeouts,
        "total_rtos_l4": flow.stream.timeouts,
        "loss_episodes": episodes,
        "mean_recovery_time_l4": scale(mean(over), 1e-6),
    }


def recoveries(flow: Flow) -> tuple[int, list[int]]:
    """Return the number of recoveries that losses began, and the durations of the completed ones, ns.

    A recovery ends when all packets sent before it have been acknowledged. The next one may begin at once. Marks begin
    recoveries too, but those repair nothing.
    """
    changes = list(zip(*(column.tolist() for column in flow.run.rows(flow.number, "recovery")), strict=True))
    losses = set(flow.run.events(LOST, flow.number).time.tolist())
    begin_count, over = 0, []
    since, until = None, 0
    acknowledgements = deque(flow.stream.acknowledged)
    for time, recovering in [*changes, (flow.run.end, -1.0)]:
        while since is not None and acknowledgements and acknowledgements[0][0] < time:
            at, amount = acknowledgements.popleft()
            if amount >= until:
                over.append((since, at - since))
                since, until = at, sum(part for start, part in flow.stream.first_sent if start < at)
                begin_count += since in losses
        if since is not None and recovering == 0.0:
            over.append((since, time - since))
            since = None
        if since is None and recovering == 1.0:
            since, until = time, sum(part for start, part in flow.stream.first_sent if start < time)
            begin_count += time in losses
            acknowledgements = deque(entry for entry in flow.stream.acknowledged if entry[0] > time)
    return begin_count, [length for since, length in over if since in losses]


def ccperf(flow: Flow) -> Values:
    """Return ccperf's metrics, from the flow's start until its stop, the end of its transfer or the end of the run."""
    run, stream = flow.run, flow.stream
    first, last = flow.start, flow.over
    length = last - first
    cwnd, srtt, in_flight = (run.steps(flow.number, field) for field in ("window", "srtt", "in_flight"))
    rates = run.steps(flow.number, "delivery_rate")
    rates = Steps(rates.time[rates.value > 0], rates.value[rates.value > 0])
    throughput = mbps(within(stream.read, first, last), length)
    window = cwnd.integral(first, last) / length if len(cwnd.time) else None
    pipe = in_flight.integral(first, last) / length
    segment = flow.transport["payload_bytes"]
    mean_rtt = srtt.mean(first, last)
    values: Values = {
        "mean_throughput_l4": throughput,
        "mean_throughput_l7": throughput,
        "mean_sending_rate_l4": mbps(flow.sent.within(first, last).data.sum(), length),
        "mean_delivery_rate_l4": rates.mean(first, last),
        "mean_cwnd_bytes": window,
        "mean_cwnd_l4": scale(window, 1 / segment),
        "mean_in_flight_bytes": pipe,
        "mean_in_flight_l4": pipe / segment,
        "mean_srtt_ms": mean_rtt,
        "mean_srtt_l4": mean_rtt,
        "mean_est_qdelay_l4": None,
        "flow_completion_time_l4": (last - first) / SECOND if not flow.total or flow.completed else None,
    }
    if mean_rtt is not None:
        values["mean_est_qdelay_l4"] = mean_rtt - flow.base_rtt_ms(max(first, int(srtt.time[0])), last)
    of_capacity: Values = dict.fromkeys(("mean_utilization_bw_l4", "mean_in_flight_bdp", "mean_utilization_bdp_l4"))
    if not any(other.is_confined for other in run.flows) or not flow.is_confined:
        capacity = flow.capacity(*flow.active)
        full = segment + flow.transport["header_bytes"] + run.path.get("overhead_bytes", 0)
        full += flow.links[0].get("framing_bytes", 0)
        bdp = capacity * flow.base_rtt_ms(first, last) * 125 / full
        pipe /= segment
        of_capacity = {
            "mean_utilization_bw_l4": throughput / capacity,
            "mean_in_flight_bdp": pipe / bdp,
            "mean_utilization_bdp_l4": pipe / (bdp * segment / full),
        }
    return values | of_capacity


def sampled_values(flow: Flow) -> Values:
    """Return statistics over the sample intervals. The sender's state is the one just before the end of an interval."""
    rates = [flow.throughput(interval) for interval in flow.intervals]
    positive = [rate for rate in rates if rate > 0]
    srtt, in_flight = (flow.run.steps(flow.number, field) for field in ("srtt", "in_flight"))
    rtts = [srtt.before(last) for _, last in flow.intervals]
    waiting = [in_flight.before(last) or 0.0 for _, last in flow.intervals]
    spacing = spacings(flow.stream.fresh)
    mean_spacings = [spacing.before(last) for _, last in flow.intervals]
    return {
        "mean_network_power_l4": mean([rate / rtt * 1e3 for rate, rtt in zip(rates, rtts, strict=True) if rtt]),
        "mean_utility_pf_l4": mean(np.log(positive)),
        "mean_utility_mpdf_l4": mean([-1 / rate for rate in positive]),
        "zero_samples_l4": len(rates) - len(positive) if rates else None,
        "cov_throughput_l4": variation(rates),
        "var_throughput_l4": float(np.var(rates, ddof=1)) if len(rates) > 1 else None,
        "cov_in_flight_l4": variation(waiting),
        "mean_idt_ewma_l4": mean([value for value in mean_spacings if value is not None]),
    }


def spacings(fresh: Amounts) -> Steps:
    """Return the smoothed time between arrivals of new payload, ms."""
    arrivals = [time for time, amount in fresh if amount]
    averages: list[float] = []
    for before, after in pairwise(arrivals):
        gap = (after - before) / 1e6
        averages.append(averages[-1] + (gap - averages[-1]) / 8 if averages else gap)
    return Steps(np.array(arrivals[1:]), np.array(averages))


def at_the_application(flow: Flow) -> Values:
    """Return the bytes that the socket took from the application, and the delays until they were read.

    The socket takes as many bytes as its buffer holds. Without a buffer it takes what is sent at once.
    """
    stream, buffer = flow.stream, flow.transport["send_buffer_bytes"]
    taken_bytes = sum(amount for _, amount in stream.first_sent)
    waits = [(amount, wait) for time, amount, wait in stream.waited if time <= flow.stop]
    if buffer:
        set_up = int(flow.run.events(ACK_DELIVER, flow.number).time[0])
        room = [
            (max(time, set_up), min(amount + buffer, flow.total or math.inf)) for time, amount in stream.acknowledged
        ]
        taken_bytes = int(room[-1][1])
        waits, read, writes = [], 0, deque(room)
        for time, amount in [entry for entry in stream.read if entry[0] <= flow.stop]:
            until = read + amount
            while read < until:
                write_time, end = writes[0]
                part = int(min(until, end)) - read
                waits.append((part, time - write_time))
                read += part
                if read == end:
                    writes.popleft()
    delay = ratio(sum(amount * wait for amount, wait in waits), sum(amount for amount, _ in waits))
    return {
        "mean_sending_rate_l7": mbps(taken_bytes, flow.over - flow.start),
        "mean_one_way_delay_l7": scale(delay, 1e-6),
    }


def response(flow: Flow) -> Values:
    """Return starvation, and the times in which the flow follows the path's last change."""
    run, change = flow.run, flow.run.last_change
    starvation_s, to_90, settling_s = 0.0, None, None
    beside = [other for other in run.flows if other.directions == flow.directions]
    for interval in flow.intervals:
        first, last = interval
        capacity = flow.capacity(first, last)
        fair = capacity / sum(interval in other.intervals for other in beside)
        starvation_s += run.interval / SECOND * (flow.throughput(interval) < fair / 10)
        if change is None or first < change:
            continue
        sent_rate, delivered_rate = (flow.rate(events.amounts(), interval) for events in (flow.sent, flow.delivered))
        fell = capacity < flow.capacity((change - 1) // run.interval * run.interval, change)
        if to_90 is None and (sent_rate <= 1.1 * fair if fell else delivered_rate >= 0.9 * fair):
            to_90 = (last - change) / SECOND
        if abs(delivered_rate - fair) > 0.2 * fair:
            settling_s = None
        elif settling_s is None:
            settling_s = (last - change) / SECOND
    if any(other.is_confined for other in run.flows):
        to_90 = settling_s = None
    elastic = flow.spec["application"]["kind"] in ("greedy", "fixed")
    is_measurable = elastic and flow.intervals and not any(other.is_confined for other in run.flows)
    return {
        "starvation_time_s": starvation_s if is_measurable else None,
        "time_to_90_s": to_90,
        "settling_time_s": settling_s,
    }


def media(flow: Flow) -> Values:
    """Return the metrics of a live source's frames, whose decoding times, delays and sizes are in `flows.parquet`."""
    source = flow.spec["application"]
    if source["kind"] != "encoder":
        return {}
    first, last = flow.counted
    times, delays = (column.tolist() for column in flow.run.rows(flow.number, "frame_delay"))
    sizes = flow.run.rows(flow.number, "frame_size")[1].tolist()
    pauses = [(flow.start + ns(begin), flow.start + ns(over)) for begin, over in source.get("pauses", [])]

    def playing(since: int, until: int) -> int:
        """Return the part of an interval in which no planned pause was going on, ns."""
        return until - since - sum(max(0, min(over, until) - max(begin, since)) for begin, over in pauses)

    between = [playing(before, after) for before, after in pairwise(times)]
    stalls = []
    for index, length in enumerate([*between, playing(times[-1], last)] if times else []):
        average = mean(between[max(0, index - 30) : index])
        ends = [*times[1:], last][index]
        if average is not None and length >= max(3 * average, average + 150e6) and first <= ends <= last:
            stalls.append(length)
    frames = [(delay, size) for time, delay, size in zip(times, delays, sizes, strict=True) if first <= time <= last]
    length = playing(first, last)
    rate = mbps(sum(size for _, size in frames), length)
    beside = sum(other.directions == flow.directions for other in flow.run.flows)
    share = flow.capacity(0, flow.run.end) / beside
    values = {
        "media_rate_mbps": rate,
        "media_utilization": rate / min(share, source.get("max_rate_mbps", 2.5)),
        "stalls": len(stalls),
        "stall_time_s": sum(stalls) / SECOND,
        "stall_ratio": sum(stalls) / length,
        "frames_decoded": len(times),
    }
    waits = to_us(np.round(np.array([delay for delay, _ in frames]) * 1e6).astype(int))
    values |= {f"frame_delay_p{share}_ms": scale(nearest_rank(waits, share / 100), 1e-3) for share in (50, 95, 99)}
    return {f"media.{name}": value for name, value in values.items()}


def flow_metrics(flow: Flow) -> Values:
    return (
        pantheon(flow.sent, flow.delivered)
        | acklink(flow.run, flow.number)
        | corrected_values(flow)
        | competing(flow)
        | counter_values(flow)
        | ccperf(flow)
        | sampled_values(flow)
        | at_the_application(flow)
        | response(flow)
        | media(flow)
    )
