"""Shares of schemes and flows that compete on a path."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dumbbell import core
from dumbbell.base.conventions import CORRECTED, Convention
from dumbbell.results.analysis.summary import Estimate, Repetitions
from dumbbell.results.clocks import Interval
from dumbbell.results.numbers import value_of

if TYPE_CHECKING:
    from dumbbell.contract.statistics import FlowStats

MOST_SINGLE = 8
"""Maximum flows of one scheme with rows of their own."""


@dataclass(frozen=True)
class Share:
    """Share of all flows of a scheme, or of one of its flows, in runs of several flows.

    `payload_share` is a fraction of the payload; `fair` is this fraction if all flows get the same. `throughput_mbps`
    is the sum over the flows; only single flows have a delay and a loss. These three follow the given convention. In
    the corrected convention all values are of the time in which all flows compete, if there is one (`competing`).
    `harms` is the part of its throughput alone on the path that the flow lost (Ware et al. 2019), over the runs; None
    if the scheme was not run alone.
    """

    name: str
    scheme: str
    single: bool
    fair: float
    payload_share: Estimate | None
    throughput_mbps: Estimate | None
    delay_p95_ms: Estimate | None = None
    loss_rate: Estimate | None = None
    harms: Estimate | None = None


@dataclass(frozen=True)
class _Keys:
    """Metrics of a flow that rows show."""

    share: str
    throughput: str
    delay: str
    loss: str


_COMPETING = _Keys("competing_share", "competing_goodput_mbps", "competing_owd_p95_ms", "competing_loss_rate")


def competing(group: Repetitions) -> tuple[float, float] | None:
    """Return the time in which all flows of the runs compete, s: from the latest beginning to the earliest end.

    None for a single flow, or if one of the runs has no such time.
    """
    ends = [[value_of(network, f"competing_{end}_s") for network in group.networks] for end in ("from", "to")]
    first, last = ([float(value) for value in end_values if value is not None] for end_values in ends)
    if not first or not len(first) == len(last) == len(group.networks):
        return None
    return max(first), min(last)


def competing_text(group: Repetitions) -> str:
    """Return the time in which all flows of the runs compete as `10 to 60 s`; an empty text if there is none."""
    return _seconds_text(competing(group))


def counted_text(group: Repetitions, warmup_s: float) -> str:
    """Return the time that the corrected metrics of all flows together cover, as `2 to 60 s`.

    The time begins with the first flow, after the warm-up, and ends with the last flow. The text is empty if the start
    or end of a flow is unknown.
    """
    first, last = [], []
    for flows in group.flows:
        times = [(flow.get("start_s"), flow.get("stop_s")) for flow in flows]
        known_times = [(float(start), float(stop)) for start, stop in times if start is not None and stop is not None]
        if not known_times or len(known_times) < len(times):
            return ""
        first.append(max(warmup_s, min(start for start, _ in known_times)))
        last.append(max(stop for _, stop in known_times))
    return _seconds_text((max(first), min(last)) if first else None)


def _seconds_text(time: tuple[float, float] | None) -> str:
    return "" if time is None else f"{round(time[0], 1):g} to {round(time[1], 1):g} s"


def competing_heading(times: Collection[str]) -> str:
    """Return the heading for the `competing_text` of several groups: `10 to 60 s, while all flows compete`.

    The seconds are left out if the groups differ in them. The text is empty if no group has such a time.
    """
    if not any(times):
        return ""
    return f"{next(iter(times))}, {_COMPETE}" if len(set(times)) == 1 else _COMPETE


_COMPETE = "while all flows compete"


def share_of(flow: FlowStats) -> float | None:
    """Return a flow's share of the payload: while all flows compete, or over its own time if they never do."""
    share = flow.get("competing_share")
    return flow.get("payload_share") if share is None else share


def flow_names(schemes: Sequence[str]) -> list[str]:
    """Return a name for each flow: its scheme, numbered if it has several flows; `flow 1`, ... for a single scheme."""
    if len(set(schemes)) < 2:
        return [f"flow {number}" for number in range(1, len(schemes) + 1)]
    total, counts = Counter(schemes), Counter[str]()
    names = []
    for scheme in schemes:
        counts[scheme] += 1
        names.append(scheme if total[scheme] == 1 else f"{scheme} {counts[scheme]}")
    return names


def is_mixed(group: Repetitions) -> bool:
    """Return True if the flows of a run have several schemes."""
    return any(len({flow["scheme"] for flow in flows}) > 1 for flows in group.flows)


def flow_schemes(group: Repetitions) -> list[str]:
    """Return the schemes of the flows of a mix; an empty list for a single scheme, and if the runs differ in them."""
    runs = [[str(flow["scheme"]) for flow in flows] for flows in group.flows]
    is_mix = bool(runs) and len(set(runs[0])) > 1
    return runs[0] if is_mix and all(schemes == runs[0] for schemes in runs) else []


def shares(
    group: Repetitions, convention: Convention = CORRECTED, alone: Mapping[tuple[str, str], Repetitions] | None = None
) -> list[Share]:
    """Return the shares of each scheme, and of each of its flows, in runs of several flows; otherwise an empty list.

    Flows of a single scheme have rows of their own, if there are not too many. `alone` has repetitions by path and
    scheme, among them the runs of a scheme alone, with which harm is computed.
    """
    runs = group.flows
    planned_schemes = [str(flow["scheme"]) for flow in runs[0]] if runs else []
    schemes = list(dict.fromkeys(planned_schemes))
    if len(planned_schemes) < 2 or (len(schemes) == 1 and len(planned_schemes) > MOST_SINGLE):
        return []
    is_constant = all([str(flow["scheme"]) for flow in flows] == planned_schemes for flows in runs)
    if len(schemes) == 1 and not is_constant:
        return []
    keys = _Keys("payload_share", *convention.keys)
    if convention is CORRECTED and competing(group) is not None:
        keys = _COMPETING
    names = _starts(group, flow_names(planned_schemes)) if is_constant else []
    rows = []
    for scheme in schemes:
        scheme_flows = [[flow for flow in flows if flow["scheme"] == scheme] for flows in runs]
        fair = sum(
            len(flows_of_scheme) / len(flows) for flows_of_scheme, flows in zip(scheme_flows, runs, strict=True)
        ) / len(runs)
        numbers = [index for index, name in enumerate(planned_schemes) if name == scheme]
        lone_runs = (alone or {}).get((group.path, scheme))
        if is_constant and len(numbers) == 1:
            rows.append(_single(group, numbers[0], scheme, keys, lone_runs))
            continue
        if len(schemes) > 1:
            title = f"{scheme} ({len(numbers)} flows)" if is_constant else f"{scheme} (all flows)"
            share = _estimate([_sum(flows_of_scheme, keys.share) for flows_of_scheme in scheme_flows], fraction=True)
            rate = _estimate([_sum(flows_of_scheme, keys.throughput) for flows_of_scheme in scheme_flows])
            rows.append(Share(title, scheme, False, fair, share, rate))
        if is_constant and len(numbers) <= MOST_SINGLE:
            rows += [_single(group, number, names[number], keys, lone_runs) for number in numbers]
    return rows if any(share.payload_share for share in rows) else []


def _starts(group: Repetitions, names: list[str]) -> list[str]:
    """Return the names of the flows, with the latest start of each flow if they do not start together."""
    starts_by_flow = [[flows[index].get("start_s") for flows in group.flows] for index in range(len(names))]
    starts = [
        round(max(flow_starts), 1)
        for flow_starts in ([value for value in flow_values if value is not None] for flow_values in starts_by_flow)
        if flow_starts
    ]
    if len(starts) < len(names) or max(starts) - min(starts) < _LEAST_LATE_S:
        return names
    return [f"{name} from {start:g} s" for name, start in zip(names, starts, strict=True)]


_LEAST_LATE_S = 0.5
"""Minimum distance of starts, s: closer flows start together."""


def _harms(alone: Repetitions | None, group: Repetitions, index: int, keys: _Keys) -> Estimate | None:
    """Return the throughput that a flow lost in each run, compared with its scheme alone; None without runs alone.

    A run is compared with the run alone of the same random draws. If these are missing for a run, each run is compared
    with the mean alone.
    """
    if alone is None or any(len(flows) != 1 for flows in alone.flows):
        return None
    before = ("flow", 1, "goodput_mbps" if keys is _COMPETING else keys.throughput)
    beside = ("flow", index + 1, keys.throughput)
    if before not in alone.values or beside not in group.values:
        return None
    had, has = alone.by_seed[before], group.by_seed[beside]
    if None not in has and has.keys() <= had.keys():
        pairs = [(had[seed], rate) for seed, rate in has.items()]
    else:
        mean = sum(alone.values[before]) / len(alone.values[before])
        pairs = [(mean, rate) for rate in group.values[beside]]
    return _estimate([core.harm(lone, rate, True) for lone, rate in pairs], fraction=True)


def _single(group: Repetitions, index: int, name: str, keys: _Keys, alone: Repetitions | None) -> Share:
    """Return the share of one flow; `alone` are the runs of its scheme alone, or with other flows of its own."""
    fair = sum(1 / len(flows) for flows in group.flows) / len(group.flows)
    metrics = (keys.share, keys.throughput, keys.delay, keys.loss)
    values = ([value_of(flows[index], key) for flows in group.flows] for key in metrics)
    shifts = (group.shifts.get(("flow", index + 1, key), ()) for key in metrics)
    share, rate, delay, loss = map(_estimate, values, shifts, (True, False, False, False))
    harms = _harms(alone, group, index, keys)
    scheme = str(group.flows[0][index]["scheme"])
    return Share(name, scheme, True, fair, share, rate, delay, loss, harms)


def _sum(flows: Sequence[FlowStats], key: str) -> float | None:
    values = [value for flow in flows if (value := value_of(flow, key)) is not None]
    return sum(values) if values else None


def _estimate(
    values: Sequence[float | None], shifts: Sequence[Interval] = (), fraction: bool = False
) -> Estimate | None:
    known_values = [value for value in values if value is not None]
    return Estimate.of(known_values, shifts, fraction) if known_values else None
