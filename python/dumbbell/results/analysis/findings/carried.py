"""Findings on throughput: the amount that schemes carry on one path, each by itself, and the delay."""

from collections.abc import Iterator, Sequence

from dumbbell.base.conventions import MainMetric
from dumbbell.results.analysis.findings.evidence import Evidence, Question, Sentence
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
from dumbbell.results.analysis.summary import Estimate, Repetitions

CANDIDATES = 4
"""Number of best schemes in a metric that are compared with each other."""
FULL = 0.95
"""Utilisation from which a link counts as full when schemes are compared."""


def carried(evidence: Evidence) -> Iterator[Sentence]:
    """Yield the throughput of a single scheme, or the schemes in front and their lead, if there is only one path."""
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
    """Yield `cubic carries 9.65 Mbit/s of goodput ... at a p95 one-way delay of ...`."""
    if (text := carries(evidence, group, _who(group))) is not None:
        yield Sentence(1, text)


def carries(evidence: Evidence, group: Repetitions, subject: str) -> str | None:
    """Return the total throughput of the flows of a group as a sentence; None if no run has a throughput."""
    convention = evidence.shown
    throughput = estimate(group, evidence.throughput)
    if throughput is None:
        return None
    parts = [
        f"{subject} {amount(throughput, convention.throughput)} of {convention.throughput.title}"
        f"{by_convention(convention)}"
    ]
    parts.append(f"{evidence.at(group.path)}{_capacity(evidence, group)}")
    text = " ".join(parts)
    delay, round_trip = estimate(group, evidence.delay), estimate(group, ("flow", 1, "rtt_p95_ms"))
    if delay is not None:
        text += f", at a {convention.delay.title} of {amount(delay, convention.delay)}{_above_least(evidence, group)}"
    elif round_trip is not None and _flows(group) == 1:
        text += f", at a p95 RTT of {amount(round_trip, convention.delay)} (one end tells no one-way delay)"
    if (loss := estimate(group, evidence.loss)) is not None:
        loss_text = "nothing" if loss.mean == 0 else amount(loss, convention.loss)
        text += f"; lost: {loss_text}" if loss.mean >= 0 else ""
    return f"{text} ({counted(group.good, 'run')})."


def _capacity(evidence: Evidence, group: Repetitions) -> str:
    """Return the capacity of the bottleneck, without its utilisation, which is of the whole run with warm-up."""
    capacity = estimate(group, ("link", 1, "capacity_mbps")) or estimate(group, ("network", 0, "capacity_mbps"))
    if capacity is None or not evidence.one_way(group):
        return ""
    return f", whose bottleneck can carry {capacity.mean:.4g} Mbit/s"


def _above_least(evidence: Evidence, group: Repetitions) -> str:
    """Return the delay above the least one, for a single flow and the corrected convention."""
    above = estimate(group, ("flow", 1, "self_inflicted_delay_p95_ms"))
    if above is None or _flows(group) != 1 or evidence.shown.delay.key != "owd_p95_ms":
        return ""
    return f", {bare(above, evidence.shown.delay)} above the least"


def _flows(group: Repetitions) -> int | None:
    """Return the number of flows of each run; None if runs differ in it."""
    counts = {len(flows) for flows in group.flows}
    return counts.pop() if len(counts) == 1 else None


def _who(group: Repetitions) -> str:
    scheme = next(name(flow["scheme"]) for flows in group.flows for flow in flows)
    flows = _flows(group)
    if flows == 1:
        return f"{scheme} carries"
    return f"{flows if flows else 'The'} flows of {scheme} together carry"


def _front(evidence: Evidence, groups: Sequence[Repetitions]) -> Iterator[Sentence]:
    """Yield the schemes that no other scheme beats in both throughput and delay, by the means."""
    convention = evidence.shown
    measured_groups = []
    for group in groups:
        throughput, delay = estimate(group, evidence.throughput), estimate(group, evidence.delay)
        if throughput is not None and delay is not None:
            measured_groups.append((group, throughput, delay))
    if len(measured_groups) < 2:
        return
    front = pareto_front([(delay.mean, throughput.mean) for _, throughput, delay in measured_groups])
    place, title, waits = evidence.at(groups[0].path), convention.throughput.title, convention.delay.title
    texts = [
        f"{name(group.scheme)} ({bare(throughput, convention.throughput)}, {bare(delay, convention.delay)}"
        f"{f', {mark}' if (mark := evidence.mark(group)) else ''})"
        for group, throughput, delay in (measured_groups[index] for index in front)
    ]
    convention_text = by_convention(convention)
    if len(front) == 1:
        text = f"{place} most {title} and least {waits}{convention_text}: {texts[0]}"
    else:
        text = f"{place} no scheme beats these in both {title} and {waits}{convention_text}: {listing(texts)}"
    yield Sentence(1, f"{evidence.alone(evidence.without([groups[0].path]) + text)}.")


def _best(evidence: Evidence, path: str) -> Iterator[Sentence]:
    """Yield the schemes with the most throughput and the least delay, and if the runs prove their lead."""
    convention = evidence.shown
    rankings = {question: _ranked(evidence.rivals(path, question.key), question) for question in evidence.questions}
    rankings = {question: ranking for question, ranking in rankings.items() if len(ranking) > 1}
    pairs = [
        (follower, leader, question.key)
        for question, ranking in rankings.items()
        for index, (leader, _) in enumerate(ranking)
        for follower, _ in ranking[index + 1 :]
    ]
    verdicts = dict(
        zip([(leader.scheme, follower.scheme, key) for follower, leader, key in pairs], judged(pairs), strict=True)
    )
    for question, ranking in rankings.items():
        (best, mean), *followers = ranking
        judged_followers = [
            (follower, verdicts[best.scheme, follower.scheme, question.key]) for follower, _ in followers
        ]
        leaders = [best, *(follower for follower, verdict in judged_followers if verdict.noise is Noise.EQUAL)]
        rest = [
            (follower.scheme, verdict) for follower, verdict in judged_followers if verdict.noise is not Noise.EQUAL
        ]
        among = evidence.among([path], question.key)
        text = _clause(question, [evidence.marked_name(leader) for leader in leaders], mean.mean, rest, among)
        yield Sentence(3, f"{evidence.alone(evidence.without([path]) + text)}{by_convention(convention)}.")


def _ranked(groups: Sequence[Repetitions], question: Question) -> list[tuple[Repetitions, Estimate]]:
    estimates = [(group, mean) for group in groups if (mean := estimate(group, question.key)) is not None]
    return sorted(estimates, key=lambda entry: question.sign * entry[1].mean)[:CANDIDATES]


def _clause(
    question: Question, leaders: Sequence[str], mean: float, rest: Sequence[tuple[str, Verdict]], among: str
) -> str:
    """Return `most goodput: 9.65 Mbit/s, cubic; 0.30 Mbit/s [0.22, 0.38] more than bbr, the next`.

    `leaders` are equal in every run, `rest` are the other schemes, and `among` names the compared ones, if not all.
    """
    metric = question.metric
    if not rest:
        return f"in {metric.title}{among} {listing(leaders)} are equal in every run"
    head = question.best(among, mean, leaders)
    unclear = [(follower, verdict) for follower, verdict in rest if not verdict.clear]
    if not unclear:
        return f"{head}; {_lead(rest[0][0], rest[0][1], metric, 'more' if question.sign < 0 else 'less')}"
    return f"{head}; {_doubtful(unclear, metric)}"


def _lead(follower: str, verdict: Verdict, metric: MainMetric, word: str) -> str:
    """Return the lead of the best over the next."""
    number = number_of(metric)
    ahead = f"{number(abs(verdict.difference))} {metric.unit}"
    if verdict.low is not None and verdict.high is not None and verdict.noise is Noise.RESOLVED:
        low, high = sorted((abs(verdict.low), abs(verdict.high)))
        return f"{ahead} [{number(low)}, {number(high)}] {word} than {name(follower)}, the next"
    return f"{ahead} {word} than {name(follower)}, the next; the ranges of {verdict.runs} runs do not overlap"


def _doubtful(unclear: Sequence[tuple[str, Verdict]], metric: MainMetric) -> str:
    """Return the schemes that the runs do not separate from the best, and the reason."""
    names = listing([name(scheme) for scheme, _ in unclear])
    kinds = {verdict.noise for _, verdict in unclear}
    runs = min(verdict.runs for _, verdict in unclear)
    if Noise.SINGLE in kinds:
        return f"one run does not separate it from {names}"
    if Noise.OVERLAP in kinds:
        return f"the ranges of {runs} runs overlap with those of {names}"
    if Noise.CLOCKS in kinds:
        return f"the clocks of both ends do not separate it from {names}"
    number = number_of(metric)
    first = unclear[0][1]
    ends = ""
    if len(unclear) == 1 and first.low is not None and first.high is not None:
        ends = f" (difference {number(first.difference)} {metric.unit} [{number(first.low)}, {number(first.high)}])"
    return f"{runs} runs do not separate it from {names}{ends}"


def _alike(evidence: Evidence, groups: Sequence[Repetitions]) -> Iterator[Sentence]:
    """Yield a sentence if every scheme fills the link without loss, which makes their throughputs alike."""
    losses = [estimate(group, ("network", 0, "packet_loss_rate")) for group in groups]
    utilizations = [estimate(group, ("network", 0, "utilization")) for group in groups]
    full = [mean.mean for mean in utilizations if mean is not None and mean.mean >= FULL]
    lossless = all(mean is not None and mean.mean == 0 for mean in losses)
    if len(full) == len(groups) and lossless and all(map(evidence.one_way, groups)):
        ends = f"{percent(min(full))} % or more"
        yield Sentence(5, f"All {len(groups)} schemes fill the link ({ends}) and lose nothing after the warm-up.")
