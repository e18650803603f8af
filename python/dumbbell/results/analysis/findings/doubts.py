"""Doubts about repetitions with their reasons, for tables and sentences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from dumbbell.base.conventions import CORRECTED, PANTHEON
from dumbbell.base.digits import decimal
from dumbbell.base.errors import capitalized
from dumbbell.results.analysis.findings.conduct import CONDUCT, Doubt, accusations, base_rtt_ms, lasts_s
from dumbbell.results.analysis.findings.evidence import ALWAYS, Evidence, Sentence
from dumbbell.results.analysis.findings.words import listing, name, number_of, percent
from dumbbell.results.analysis.modes import two_modes
from dumbbell.results.analysis.summary import Repetitions

if TYPE_CHECKING:
    from dumbbell.contract.run import RunTable
    from dumbbell.contract.statistics import FlowStats

LEAST_RTTS = 10
"""Base RTTs below which flows, or a warm-up, are too short for conclusions."""
FULL = 0.8
"""Utilisation below which a link is not full."""
NO_QUEUE_MS = 1.0
"""Mean queueing delay, ms, below which only single packets wait."""


def doubts_of(group: Repetitions) -> Iterator[Doubt]:
    """Yield the reasons for doubts about the runs, the worst first; `conduct.py` has the faults of flows."""
    if group.identical:
        yield Doubt("identical", f"all {group.good} runs are identical: there was no chance in them")
    group = group.judged
    yield from _modes(group)
    yield from _short(group)
    yield from _sender_limited(group)
    yield from _early_losses(group)


def remark(group: Repetitions) -> str:
    """Return the remark for a table's row: all faults of conduct, or else the worst doubt; or an empty string."""
    faults = "; ".join(doubt.text for doubt in accusations(group))
    return faults or next((doubt.text for doubt in doubts_of(group)), "")


def run_remarks(run: RunTable) -> list[str]:
    """Return a sentence for each rule for conduct that a run, given as in `show --json`, breaks."""
    group = Repetitions(run["path"], run["scheme"])
    group.add(run)
    return [f"{capitalized(doubt.text)}." for doubt in accusations(group)]


def misconduct(evidence: Evidence) -> Iterator[Sentence]:
    """Yield the schemes that break a rule for conduct, with the extent: a sentence for each rule."""
    for kind, rule in CONDUCT.items():
        accused_groups = [
            (group, doubt) for group in evidence.groups for doubt in evidence.accused(group) if doubt.kind == kind
        ]
        if accused_groups:
            texts = {doubt.text for _, doubt in accused_groups}
            values = [doubt.value for _, doubt in accused_groups if doubt.value is not None]
            subject = _who(evidence, [group for group, _ in accused_groups])
            yield Sentence(ALWAYS, f"{subject}: {texts.pop() if len(texts) == 1 else rule.summary(values)}.")


def doubts(evidence: Evidence) -> Iterator[Sentence]:
    """Yield the reasons for doubts about the runs, with their groups; the worst first."""
    doubts_by_kind: dict[str, list[tuple[Repetitions, Doubt]]] = {}
    for group in evidence.groups:
        for doubt in doubts_of(group):
            doubts_by_kind.setdefault(doubt.kind, []).append((group, doubt))
    for kind in sorted(doubts_by_kind, key=_KINDS.index):
        entries = doubts_by_kind[kind]
        subject = _who(evidence, [group for group, _ in entries])
        texts = {doubt.text for _, doubt in entries}
        yield Sentence(
            2 if kind in _GRAVE else 6, f"{subject}: {texts.pop() if len(texts) == 1 else _KIND_TEXTS[kind]}."
        )
    yield from _warm_up(evidence)


_MOST_PLACES = 3


def _who(evidence: Evidence, groups: Sequence[Repetitions]) -> str:
    """Return the schemes and places of the groups: exactly these pairs, or their number."""
    if len(evidence.groups) > 1 and len(groups) == len(evidence.groups):
        return "Everywhere"
    schemes: dict[str, list[str]] = {}
    for group in groups:
        schemes.setdefault(group.path, []).append(name(group.scheme))
    if len({group.path for group in evidence.groups}) == 1:
        return listing(schemes[groups[0].path])
    sets = {frozenset(names) for names in schemes.values()}
    if len(sets) == 1 and 1 < len(schemes) <= _MOST_PLACES:
        return f"{listing(schemes[groups[0].path])} {listing([evidence.at(path) for path in schemes])}"
    if len(sets) == 1 and len(schemes) > 1:
        return f"{listing(schemes[groups[0].path])} on {len(schemes)} {evidence.place_noun}s"
    if len(schemes) <= _MOST_PLACES:
        return "; ".join(f"{listing(names)} {evidence.at(path)}" for path, names in schemes.items())
    return f"{len(groups)} of {len(evidence.groups)} pairs of scheme and {evidence.place_noun}"


_KIND_TEXTS = {
    "identical": "the repetitions are identical: there was no chance in them",
    "modes": "the runs fall into two modes, and no run is like their mean",
    "short": f"flows last for fewer than {LEAST_RTTS} base RTTs",
    "sender": f"the link is used to less than {percent(FULL)} %, with no loss and no queue: the sender, or its "
    "application, is the limit",
    "early": "all losses are outside the counted time, which begins after the warm-up",
}
_KINDS = list(_KIND_TEXTS)
_GRAVE = ("identical", "modes", "short")


def _modes(group: Repetitions) -> Iterator[Doubt]:
    """Yield a doubt if the runs have two modes, in throughput or else in delay."""
    for convention in (CORRECTED, PANTHEON):
        for metric in (convention.throughput, convention.delay):
            values = group.values.get(("network", 0, metric.key), [])
            modes = two_modes(values)
            if modes is not None:
                number = number_of(metric)
                first, second = (f"{number(mode.mean)} {metric.unit} ({mode.runs}" for mode in modes)
                yield Doubt("modes", f"two modes of {metric.title}: {first} of {len(values)} runs) and {second})")
                return


def _short(group: Repetitions) -> Iterator[Doubt]:
    """Yield a doubt if flows end before a controller has had time to act."""
    base_ms = base_rtt_ms(group)
    lasts = [lasts_s(flow) for flows in group.flows for flow in flows]
    known_times = [time for time in lasts if time is not None]
    if base_ms is None or not known_times or len(known_times) < len(lasts):
        return
    rtts = max(known_times) * 1e3 / base_ms
    if 0 < rtts < LEAST_RTTS:
        yield Doubt("short", f"flows last for {decimal(rtts, 1)} base RTTs")


def _sender_limited(group: Repetitions) -> Iterator[Doubt]:
    """Yield a doubt if a link is not full although nothing was lost or marked and nothing waited."""
    flows = [flow for flows in group.flows for flow in flows]
    utilizations = group.values.get(("network", 0, "utilization"), [])
    links = [key for key in group.values if key[0] == "link" and key[2] == "mean_queue_delay_ms"]
    waiting = [value for key in links for value in group.values[key]]
    if (
        len(utilizations) < group.good
        or len(waiting) < group.good
        or not _none(flows, "packets_dropped", "packets_marked")
    ):
        return
    if max(utilizations) < FULL and max(waiting) < NO_QUEUE_MS and all(flow.get("packets_delivered") for flow in flows):
        mean = sum(utilizations) / len(utilizations)
        text = f"the link is used to {percent(mean)} %, with no loss and no queue: the sender, or its application, "
        yield Doubt("sender", f"{text}is the limit")


def _early_losses(group: Repetitions) -> Iterator[Doubt]:
    """Yield a doubt if Pantheon's convention counts losses and the corrected one none: those of the warm-up."""
    flows = [flow for flows in group.flows for flow in flows]
    drops = [flow.get("packets_dropped") for flow in flows]
    stops = {flow.get("stop_s") for flow in flows}
    late = any(flow.get("packet_loss_rate") != 0 for flow in flows)
    known_drops = [drop for drop in drops if isinstance(drop, int | float)]
    total = sum(known_drops)
    # drops after the stop of a flow do not belong to the warm-up
    if late or len(known_drops) < len(drops) or not total or len(stops) != 1 or None in stops:
        return
    runs = f" in {len(group.flows)} runs" if len(group.flows) > 1 else ""
    yield Doubt("early", f"all losses ({total:.0f} packets{runs}) are outside the counted time")


def _warm_up(evidence: Evidence) -> Iterator[Sentence]:
    """Yield a sentence if the warm-up has only a few RTTs: numbers then include the start of flows."""
    warm_up_s = evidence.experiment.warmup_s
    bases = [base for group in evidence.groups if (base := base_rtt_ms(group)) is not None]
    if not bases or not warm_up_s:
        return
    rtts = warm_up_s * 1e3 / max(bases)
    if rtts < LEAST_RTTS:
        length = f"The warm-up of {decimal(warm_up_s, 2)} s is {decimal(rtts, 1)} base RTTs"
        place = " where they are longest" if len(set(bases)) > 1 and max(bases) > 1.5 * min(bases) else ""
        yield Sentence(7, f"{length}{place}: the start of flows may be in the numbers.")


def _none(flows: Sequence[FlowStats], *keys: str) -> bool:
    """Return True if all of these counters are known and zero in each flow."""
    return bool(flows) and all(flow.get(key) == 0 for flow in flows for key in keys)
