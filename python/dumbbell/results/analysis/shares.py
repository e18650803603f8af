"""Who got what beside whom: the parts of schemes that run together, and of their flows."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dumbbell.results.analysis.summary import Estimate, Repetitions
from dumbbell.results.clocks import Interval

MOST_SINGLE = 8
"""Flows of one scheme that have rows of their own."""


@dataclass(frozen=True)
class Share:
    """What a scheme got in a mix, all its flows together, or one of them.

    `payload_share` is a fraction of the payload delivered after the warm-up, `fair` what it is if all flows get the
    same, `goodput_mbps` the flows' sum. Delay and loss are of single flows.
    """

    name: str
    scheme: str
    single: bool
    fair: float
    payload_share: Estimate | None
    goodput_mbps: Estimate | None
    delay_p95_ms: Estimate | None = None
    loss_rate: Estimate | None = None


def flow_names(schemes: Sequence[str]) -> list[str]:
    """A name for each flow: its scheme's, numbered where that has several; `flow 1`, ... if all have one scheme."""
    if len(set(schemes)) < 2:
        return [f"flow {number}" for number in range(1, len(schemes) + 1)]
    total, met = Counter(schemes), Counter[str]()
    names = []
    for scheme in schemes:
        met[scheme] += 1
        names.append(scheme if total[scheme] == 1 else f"{scheme} {met[scheme]}")
    return names


def flow_schemes(group: Repetitions) -> list[str]:
    """The schemes of the flows of a mix, if all its runs have the same; nothing if there is only one scheme."""
    runs = [[str(flow["scheme"]) for flow in flows] for flows in group.flows]
    mixed = bool(runs) and len(set(runs[0])) > 1
    return runs[0] if mixed and all(schemes == runs[0] for schemes in runs) else []


def shares(group: Repetitions) -> list[Share]:
    """The schemes of a mix, those of several flows followed by these; nothing of runs whose flows have one scheme."""
    runs = group.flows
    planned = [str(flow["scheme"]) for flow in runs[0]] if runs else []
    if len(set(planned)) < 2:
        return []
    same = bool(flow_schemes(group))
    names = flow_names(planned)
    found = []
    for scheme in dict.fromkeys(planned):
        own = [[flow for flow in flows if flow["scheme"] == scheme] for flows in runs]
        fair = sum(len(some) / len(flows) for some, flows in zip(own, runs, strict=True)) / len(runs)
        numbers = [index for index, each in enumerate(planned) if each == scheme]
        if same and len(numbers) == 1:
            found.append(_single(group, numbers[0], scheme, scheme))
            continue
        title = f"{scheme} ({len(numbers)} flows)" if same else f"{scheme} (all flows)"
        sums = (_estimate([_sum(some, key) for some in own]) for key in ("payload_share", "goodput_mbps"))
        found.append(Share(title, scheme, False, fair, *sums))
        if same and len(numbers) <= MOST_SINGLE:
            found += [_single(group, number, scheme, names[number]) for number in numbers]
    return found if any(share.payload_share for share in found) else []


def _single(group: Repetitions, index: int, scheme: str, name: str) -> Share:
    keys = ("payload_share", "goodput_mbps", "delay_p95_ms", "loss_rate")
    fair = sum(1 / len(flows) for flows in group.flows) / len(group.flows)
    values = ([flows[index].get(key) for flows in group.flows] for key in keys)
    shifts = (group.shifts.get(("flow", index + 1, key), ()) for key in keys)
    return Share(name, scheme, True, fair, *map(_estimate, values, shifts))


def _sum(flows: Sequence[dict[str, Any]], key: str) -> float | None:
    known = [flow[key] for flow in flows if flow.get(key) is not None]
    return sum(known) if known else None


def _estimate(values: Sequence[float | None], shifts: Sequence[Interval] = ()) -> Estimate | None:
    known = [value for value in values if value is not None]
    return Estimate.of(known, shifts) if known else None
