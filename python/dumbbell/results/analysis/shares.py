"""What each scheme and each flow gets where several flows share a path."""

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
"""Flows of one scheme that have rows of their own."""


@dataclass(frozen=True)
class Share:
    """What all flows of a scheme, or one of its flows, got in runs of several flows.

    `payload_share` is a fraction of the payload. `fair` is this fraction if all flows get the same. `throughput_mbps`
    is the sum over the flows; only single flows have a delay and a loss. These three are by the convention that was
    asked for. In the corrected convention all values are of the time in which all flows compete, if there is one
    (`competing`). `harms` is the part of its throughput alone on the path that the flow lost (Ware et al. 2019), over
    the runs; None if the scheme was not run alone.
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
    """The metrics of a flow that rows show."""

    share: str
    throughput: str
    delay: str
    loss: str


_COMPETING = _Keys("competing_share", "competing_goodput_mbps", "competing_owd_p95_ms", "competing_loss_rate")


def competing(group: Repetitions) -> tuple[float, float] | None:
    """Return the time in which all flows of the runs compete, s, from the latest beginning to the earliest end.

    None if there is one flow, or there is no such time in one of the runs.
    """
    ends = [[value_of(network, f"competing_{end}_s") for network in group.networks] for end in ("from", "to")]
    first, last = ([float(each) for each in found if each is not None] for found in ends)
    if not first or not len(first) == len(last) == len(group.networks):
        return None
    return max(first), min(last)


def competing_text(group: Repetitions) -> str:
    """Return the time in which all flows of the runs compete as `10 to 60 s`; an empty text if there is none."""
    return _seconds_text(competing(group))


def counted_text(group: Repetitions, warmup_s: float) -> str:
    """Return the time that the corrected metrics of all flows together are of, as `2 to 60 s`.

    It begins with the first flow, after the warm-up, and ends with the last one. The text is empty if the start or end
    of a flow is not known.
    """
    first, last = [], []
    for flows in group.flows:
        times = [(flow.get("start_s"), flow.get("stop_s")) for flow in flows]
        known = [(float(start), float(stop)) for start, stop in times if start is not None and stop is not None]
        if not known or len(known) < len(times):
            return ""
        first.append(max(warmup_s, min(start for start, _ in known)))
        last.append(max(stop for _, stop in known))
    return _seconds_text((max(first), min(last)) if first else None)


def _seconds_text(time: tuple[float, float] | None) -> str:
    return "" if time is None else f"{round(time[0], 1):g} to {round(time[1], 1):g} s"


def competing_heading(times: Collection[str]) -> str:
    """Return what a heading says of the `competing_text` of several groups: `10 to 60 s, while all flows compete`.

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
    total, met = Counter(schemes), Counter[str]()
    names = []
    for scheme in schemes:
        met[scheme] += 1
        names.append(scheme if total[scheme] == 1 else f"{scheme} {met[scheme]}")
    return names


def is_mixed(group: Repetitions) -> bool:
    """Return whether the flows of a run have several schemes."""
    return any(len({flow["scheme"] for flow in flows}) > 1 for flows in group.flows)


def flow_schemes(group: Repetitions) -> list[str]:
    """Return the schemes of the flows of a mix; an empty list for a single scheme, and if the runs differ in them."""
    runs = [[str(flow["scheme"]) for flow in flows] for flows in group.flows]
    mixed = bool(runs) and len(set(runs[0])) > 1
    return runs[0] if mixed and all(schemes == runs[0] for schemes in runs) else []


def shares(
    group: Repetitions, shown: Convention = CORRECTED, alone: Mapping[tuple[str, str], Repetitions] | None = None
) -> list[Share]:
    """Return what each scheme, and each of its flows, got in runs of several flows. Runs of one flow have no shares.

    Flows of a single scheme have rows of their own, if there are not too many. `alone` has repetitions by path and
    scheme: among them are the runs of a scheme alone, with which harm is computed.
    """
    runs = group.flows
    planned = [str(flow["scheme"]) for flow in runs[0]] if runs else []
    schemes = list(dict.fromkeys(planned))
    if len(planned) < 2 or (len(schemes) == 1 and len(planned) > MOST_SINGLE):
        return []
    same = all([str(flow["scheme"]) for flow in flows] == planned for flows in runs)
    if len(schemes) == 1 and not same:
        return []
    keys = _Keys("payload_share", *shown.keys)
    if shown is CORRECTED and competing(group) is not None:
        keys = _COMPETING
    names = _starts(group, flow_names(planned)) if same else []
    found = []
    for scheme in schemes:
        own = [[flow for flow in flows if flow["scheme"] == scheme] for flows in runs]
        fair = sum(len(some) / len(flows) for some, flows in zip(own, runs, strict=True)) / len(runs)
        numbers = [index for index, each in enumerate(planned) if each == scheme]
        before = (alone or {}).get((group.path, scheme))
        if same and len(numbers) == 1:
            found.append(_single(group, numbers[0], scheme, keys, before))
            continue
        if len(schemes) > 1:
            title = f"{scheme} ({len(numbers)} flows)" if same else f"{scheme} (all flows)"
            share = _estimate([_sum(some, keys.share) for some in own], fraction=True)
            rate = _estimate([_sum(some, keys.throughput) for some in own])
            found.append(Share(title, scheme, False, fair, share, rate))
        if same and len(numbers) <= MOST_SINGLE:
            found += [_single(group, number, names[number], keys, before) for number in numbers]
    return found if any(share.payload_share for share in found) else []


def _starts(group: Repetitions, names: list[str]) -> list[str]:
    """Return the names of the flows, with the latest start of each flow if they do not start together."""
    known = [[flows[index].get("start_s") for flows in group.flows] for index in range(len(names))]
    starts = [round(max(each), 1) for each in ([value for value in of if value is not None] for of in known) if each]
    if len(starts) < len(names) or max(starts) - min(starts) < _LEAST_LATE_S:
        return names
    return [f"{name} from {start:g} s" for name, start in zip(names, starts, strict=True)]


_LEAST_LATE_S = 0.5
"""Flows that start closer together than this start together."""


def _harms(alone: Repetitions | None, group: Repetitions, index: int, keys: _Keys) -> Estimate | None:
    """Return what a flow lost, in each run, of the throughput that its scheme has alone; None if it was not run alone.

    A run is compared with the run alone that met the same draws. If there are none for all runs, each is compared with
    the mean alone.
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
    """Return what one flow got; `alone` are the runs of its scheme alone, or with other flows of its own."""
    fair = sum(1 / len(flows) for flows in group.flows) / len(group.flows)
    of = (keys.share, keys.throughput, keys.delay, keys.loss)
    values = ([value_of(flows[index], key) for flows in group.flows] for key in of)
    shifts = (group.shifts.get(("flow", index + 1, key), ()) for key in of)
    share, rate, delay, loss = map(_estimate, values, shifts, (True, False, False, False))
    harms = _harms(alone, group, index, keys)
    scheme = str(group.flows[0][index]["scheme"])
    return Share(name, scheme, True, fair, share, rate, delay, loss, harms)


def _sum(flows: Sequence[FlowStats], key: str) -> float | None:
    known = [value for flow in flows if (value := value_of(flow, key)) is not None]
    return sum(known) if known else None


def _estimate(
    values: Sequence[float | None], shifts: Sequence[Interval] = (), fraction: bool = False
) -> Estimate | None:
    known = [value for value in values if value is not None]
    return Estimate.of(known, shifts, fraction) if known else None
