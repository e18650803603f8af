"""How much schemes carry on one path, each by itself, and at which delay."""

from collections.abc import Iterator, Sequence

from dumbbell.base.conventions import MainMetric
from dumbbell.results.analysis.findings.evidence import Evidence, Sentence
from dumbbell.results.analysis.findings.means import estimate
from dumbbell.results.analysis.findings.noise import Noise, Verdict, judged
from dumbbell.results.analysis.findings.words import (
    amount,
    bare,
    by_convention,
    counted,
    listing,
    name,
    number_of,
    percent,
)
from dumbbell.results.analysis.front import pareto_front
from dumbbell.results.analysis.summary import Estimate, MetricKey, Repetitions

CANDIDATES = 4
"""So many of the best schemes in a metric are compared with each other."""
FULL = 0.95
"""A link that is used this much is full, as far as schemes are compared by it."""


def carried(evidence: Evidence) -> Iterator[Sentence]:
    """Say what a single scheme carries, or which schemes are in front and by how much, if there is only one path."""
    paths = evidence.compared or list(evidence.by_path)
    if len(paths) != 1:
        return
    groups = evidence.candidates(paths[0])
    if len(groups) == 1:
        yield from _one(evidence, groups[0])
        return
    yield from _front(evidence, groups)
    yield from _best(evidence, paths[0])
    yield from _alike(evidence, evidence.by_path[paths[0]])


def _one(evidence: Evidence, group: Repetitions) -> Iterator[Sentence]:
    """Say `cubic carries 9.65 Mbit/s of goodput ... at a p95 one-way delay of ...`."""
    if (text := carries(evidence, group, _who(group))) is not None:
        yield Sentence(1, text)


def carries(evidence: Evidence, group: Repetitions, who: str) -> str | None:
    """Return what the flows of a group carry together, as a sentence; None if no run has a throughput."""
    shown = evidence.shown
    throughput = estimate(group, evidence.throughput)
    if throughput is None:
        return None
    parts = [f"{who} {amount(throughput, shown.throughput)} of {shown.throughput.title}{by_convention(shown)}"]
    parts.append(f"{evidence.at(group.path)}{_capacity(evidence, group)}")
    text = " ".join(parts)
    delay, round_trip = estimate(group, evidence.delay), estimate(group, ("flow", 1, "rtt_p95_ms"))
    if delay is not None:
        text += f", at a {shown.delay.title} of {amount(delay, shown.delay)}{_above_least(evidence, group)}"
    elif round_trip is not None and _flows(group) == 1:
        text += f", at a p95 RTT of {amount(round_trip, shown.delay)} (one end tells no one-way delay)"
    if (loss := estimate(group, evidence.loss)) is not None:
        lost = "nothing" if loss.mean == 0 else amount(loss, shown.loss)
        text += f"; lost: {lost}" if loss.mean >= 0 else ""
    return f"{text} ({counted(group.good, 'run')})."


def _capacity(evidence: Evidence, group: Repetitions) -> str:
    """Return what the bottleneck can carry. Its utilisation is not said: it is of the whole run, warm-up included."""
    capacity = estimate(group, ("link", 1, "capacity_mbps")) or estimate(group, ("network", 0, "capacity_mbps"))
    if capacity is None or not evidence.one_way(group):
        return ""
    return f", whose bottleneck can carry {capacity.mean:.4g} Mbit/s"


def _above_least(evidence: Evidence, group: Repetitions) -> str:
    """Return how far the delay is above the least one, for a single flow and the corrected convention."""
    above = estimate(group, ("flow", 1, "self_inflicted_delay_p95_ms"))
    if above is None or _flows(group) != 1 or evidence.shown.delay.key != "owd_p95_ms":
        return ""
    return f", {bare(above, evidence.shown.delay)} above the least"


def _flows(group: Repetitions) -> int | None:
    """Return the number of flows of each run; None if the runs differ in it."""
    counts = {len(flows) for flows in group.flows}
    return counts.pop() if len(counts) == 1 else None


def _who(group: Repetitions) -> str:
    scheme = next(name(flow["scheme"]) for flows in group.flows for flow in flows)
    flows = _flows(group)
    if flows == 1:
        return f"{scheme} carries"
    return f"{flows if flows else 'The'} flows of {scheme} together carry"


def _front(evidence: Evidence, groups: Sequence[Repetitions]) -> Iterator[Sentence]:
    """Say which schemes no other one beats in both throughput and delay, by the means."""
    shown = evidence.shown
    known = []
    for group in groups:
        throughput, delay = estimate(group, evidence.throughput), estimate(group, evidence.delay)
        if throughput is not None and delay is not None:
            known.append((group, throughput, delay))
    if len(known) < 2:
        return
    front = pareto_front([(delay.mean, throughput.mean) for _, throughput, delay in known])
    said = [
        f"{name(group.scheme)} ({bare(throughput, shown.throughput)}, {bare(delay, shown.delay)}{evidence.mark(group)})"
        for group, throughput, delay in (known[index] for index in front)
    ]
    place, title, waits = evidence.at(groups[0].path), shown.throughput.title, shown.delay.title
    which = by_convention(shown)
    if len(front) == 1:
        text = f"{place} no other scheme has more {title} or less {waits}{which} than {said[0]}"
    else:
        text = f"in front {place}, where no other beats them in both {title} and {waits}{which}: {listing(said)}"
    yield Sentence(1, f"{evidence.alone(evidence.without([groups[0].path]) + text)}.")


def _best(evidence: Evidence, path: str) -> Iterator[Sentence]:
    """Say who has the most throughput and the least delay, and whether the runs tell them from the others."""
    shown = evidence.shown
    asked = [(evidence.throughput, -1.0, shown.throughput), (evidence.delay, 1.0, shown.delay)]
    ranked = [(key, _ranked(evidence.rivals(path, key), key, sign)[:CANDIDATES], metric) for key, sign, metric in asked]
    ranked = [each for each in ranked if len(each[1]) > 1]
    pairs = [
        (other, one, key)
        for key, those, _ in ranked
        for index, (one, _) in enumerate(those)
        for other, _ in those[index + 1 :]
    ]
    verdicts = dict(zip([(one.scheme, other.scheme, key) for other, one, key in pairs], judged(pairs), strict=True))
    clauses = []
    for key, those, metric in ranked:
        (best, mean), *others = those
        found = [(other.scheme, verdicts[best.scheme, other.scheme, key]) for other, _ in others]
        clauses.append(_clause(best.scheme, mean, found, metric, evidence.among([path], key), evidence.mark(best)))
    if clauses:
        yield Sentence(3, f"{evidence.alone(evidence.without([path]) + '; '.join(clauses))}{by_convention(shown)}.")


def _ranked(groups: Sequence[Repetitions], key: MetricKey, sign: float) -> list[tuple[Repetitions, Estimate]]:
    known = [(group, found) for group in groups if (found := estimate(group, key)) is not None]
    return sorted(known, key=lambda each: sign * each[1].mean)


def _clause(
    best: str, mean: Estimate, others: Sequence[tuple[str, Verdict]], metric: MainMetric, among: str, mark: str
) -> str:
    """Return `most goodput: cubic (9.65 Mbit/s), 0.30 Mbit/s [0.22, 0.38] more than bbr, the next`.

    `among` says which schemes are compared, if not all, and `mark` what looks wrong in the best.
    """
    most = "most" if metric.key in ("goodput_mbps", "throughput_mbps") else "least"
    equal = [other for other, verdict in others if verdict.noise is Noise.EQUAL]
    if len(equal) == len(others):
        return f"in {metric.title}{among} {listing([name(each) for each in (best, *equal)])} are equal in every run"
    head = (
        f"{most} {metric.title}{among}: {listing([name(each) for each in (best, *equal)])} ({bare(mean, metric)}{mark})"
    )
    rest = [(other, verdict) for other, verdict in others if verdict.noise is not Noise.EQUAL]
    unclear = [(other, verdict) for other, verdict in rest if not verdict.clear]
    if not unclear:
        return f"{head}, {_lead(rest[0][0], rest[0][1], metric, 'more' if most == 'most' else 'less')}"
    return f"{head}, {_doubtful(unclear, metric)}"


def _lead(other: str, verdict: Verdict, metric: MainMetric, word: str) -> str:
    """Return by how much the best is ahead of the next."""
    number = number_of(metric)
    ahead = f"{number(abs(verdict.difference))} {metric.unit}"
    if verdict.low is not None and verdict.high is not None and verdict.noise is Noise.RESOLVED:
        low, high = sorted((abs(verdict.low), abs(verdict.high)))
        return f"{ahead} [{number(low)}, {number(high)}] {word} than {name(other)}, the next"
    return f"{ahead} {word} than {name(other)}, the next (the ranges of the {verdict.runs} runs do not overlap)"


def _doubtful(unclear: Sequence[tuple[str, Verdict]], metric: MainMetric) -> str:
    """Return the schemes that the runs do not tell from the best, and the reason."""
    names = listing([name(other) for other, _ in unclear])
    kinds = {verdict.noise for _, verdict in unclear}
    runs = min(verdict.runs for _, verdict in unclear)
    if Noise.SINGLE in kinds:
        return f"but a single run does not tell it from {names}"
    if Noise.OVERLAP in kinds:
        return f"but the ranges of {runs} runs overlap with those of {names}"
    if Noise.CLOCKS in kinds:
        return f"but the clocks of both ends do not tell it from {names}"
    number = number_of(metric)
    first = unclear[0][1]
    ends = ""
    if len(unclear) == 1 and first.low is not None and first.high is not None:
        ends = f" (difference {number(first.difference)} {metric.unit} [{number(first.low)}, {number(first.high)}])"
    return f"but {runs} runs do not tell it from {names}{ends}"


def _alike(evidence: Evidence, groups: Sequence[Repetitions]) -> Iterator[Sentence]:
    """Say if every scheme fills the link without loss: then their throughput does not tell them apart."""
    lost = [estimate(group, ("network", 0, "packet_loss_rate")) for group in groups]
    used = [estimate(group, ("network", 0, "utilization")) for group in groups]
    full = [each.mean for each in used if each is not None and each.mean >= FULL]
    lossless = all(each is not None and each.mean == 0 for each in lost)
    if len(full) == len(groups) and lossless and all(map(evidence.one_way, groups)):
        ends = f"{percent(min(full))} % or more"
        yield Sentence(5, f"All {len(groups)} schemes fill the link ({ends}) and lose nothing after the warm-up.")
