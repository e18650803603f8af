"""Findings on several paths, or on the cells of a grid: the best schemes, and changes along an axis."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from dumbbell.results.analysis.axis_words import axis_name, axis_phrase, axis_value
from dumbbell.results.analysis.findings.evidence import Evidence, Question, Sentence
from dumbbell.results.analysis.findings.means import mean_of
from dumbbell.results.analysis.findings.noise import Noise, Verdict, judged
from dumbbell.results.analysis.findings.words import by_convention, listing, name, number_of, span
from dumbbell.results.analysis.summary import MetricKey, Repetitions
from dumbbell.results.numbers import is_number

_MOST_WINNERS, _MOST_PLACES = 3, 3
_ALIKE = "several alike"


def places(evidence: Evidence) -> Iterator[Sentence]:
    """Yield the schemes with the most throughput or least delay by place, or the range of a single scheme."""
    if len(evidence.by_path) < 2 or len(evidence.compared) == 1:
        return
    if len({group.scheme for group in evidence.uniform}) == 1:
        yield from _range(evidence)
        return
    paths = list(evidence.by_path)
    bests = {question: _bests(evidence, question) for question in evidence.questions}
    if max(map(len, bests.values())) <= _MOST_PLACES:
        sentences = [(_at_place(evidence, path, bests), [path]) for path in paths]
    else:
        sentences = [(_over_places(evidence, question, best), paths) for question, best in bests.items()]
    for text, places in sentences:
        if text:
            yield Sentence(1, f"{evidence.alone(evidence.without(places) + text)}{by_convention(evidence.shown)}.")


def along(evidence: Evidence) -> Iterator[Sentence]:
    """Yield changes along an axis of numbers that hold in all cells: of the best scheme, and of the means."""
    for question in evidence.questions:
        for axis in evidence.varied:
            if (change := _change(evidence, axis, question)) is not None:
                before, last, after, first = change
                superlative = question.superlative(evidence.among(evidence.by_path, question.key))
                best = f"By the means {evidence.without(list(evidence.by_path))}{name(before)} has the {superlative}"
                last_text, first_text = (name(axis_phrase(axis, value)) for value in (last, first))
                values = sorted({float(value) for axes in evidence.axes.values() if is_number(value := axes.get(axis))})
                extent = f"{'at' if last == values[0] else 'up to'} {last_text}, and {name(after)} "
                extent += f"{f'at {first_text}' if first == values[-1] else f'from {first_text} on'}, in all cells"
                yield Sentence(4, f"{best} {extent}.")
    scope = "for every scheme " if len({group.scheme for group in evidence.uniform}) > 1 else ""
    for question in evidence.questions:
        trends = [(axis, way) for axis in evidence.varied if (way := _trend(evidence, axis, question.key))]
        if trends:
            trend_texts = listing(
                [f"{'grows' if way > 0 else 'falls'} with {name(axis_name(axis))}" for axis, way in trends]
            )
            yield Sentence(5, f"The mean {question.metric.title} {trend_texts}, {scope}in all cells.")


def _range(evidence: Evidence) -> Iterator[Sentence]:
    """Yield the range of the means of a single scheme."""
    convention, groups = evidence.shown, evidence.uniform
    means = [(group, mean) for group in groups if (mean := mean_of(group, evidence.throughput)) is not None]
    if not means:
        return
    means.sort(key=lambda entry: entry[1])
    number = number_of(convention.throughput)
    (lowest, low), (highest, high) = means[0], means[-1]
    text = f"On {len(means)} {evidence.place_noun}s {name(lowest.scheme)} carries "
    if number(low) == number(high):
        text += f"{number(low)} {convention.throughput.unit} of {convention.throughput.title}"
    else:
        text += (
            f"{number(low)} ({name(evidence.place(lowest.path))}) to {number(high)} {convention.throughput.unit} "
            f"({name(evidence.place(highest.path))}) of {convention.throughput.title}"
        )
    delays = [mean for group in groups if (mean := mean_of(group, evidence.delay)) is not None]
    if delays:
        reach = span(delays, number_of(convention.delay))
        text += f", at a {convention.delay.title} of {reach} {convention.delay.unit}"
    yield Sentence(1, f"{text}{by_convention(convention)}.")


@dataclass(frozen=True)
class _Best:
    """Best mean of a place, its schemes, and the judgement on their lead; None if all schemes are alike."""

    schemes: list[str]
    marked_names: list[str]
    mean: float
    verdict: Verdict | None


def _bests(evidence: Evidence, question: Question) -> dict[str, _Best]:
    """Return the best of each place with rivals. All leads are judged together."""
    rankings = {}
    for path in evidence.by_path:
        means = _rival_means(evidence, path, question.key)
        if len(means) > 1:
            rankings[path] = sorted(means, key=lambda entry: question.sign * entry[1])
    pairs = {
        path: (following, leader, question.key)
        for path, ((leader, first), (following, second), *_) in rankings.items()
        if first != second
    }
    verdicts = dict(zip(pairs, judged(list(pairs.values())), strict=True))
    return {
        path: _Best(
            [name(group.scheme) for group, mean in ranking if mean == ranking[0][1]],
            [evidence.marked_name(group) for group, mean in ranking if mean == ranking[0][1]],
            ranking[0][1],
            verdicts.get(path),
        )
        for path, ranking in rankings.items()
    }


def _at_place(evidence: Evidence, path: str, bests: Mapping[Question, Mapping[str, _Best]]) -> str:
    """Return `on cable most goodput: 9.65 Mbit/s, cubic; least p95 one-way delay: 24.0 ms, copa; both leads ...`."""
    clauses, verdicts = [], []
    for question, by_path in bests.items():
        if (best := by_path.get(path)) is None:
            continue
        clauses.append(question.best(evidence.among([path], question.key), best.mean, best.marked_names))
        if best.verdict is not None:
            verdicts.append((question.metric.title, best.verdict))
    if not clauses:
        return ""
    return f"{evidence.at(path)} {'; '.join(clauses)}{_doubt(verdicts, len(clauses))}"


def _doubt(verdicts: Sequence[tuple[str, Verdict]], clauses: int) -> str:
    """Return the judgement on the leads of one place: `; both leads are beyond ...`; empty if none has a lead."""
    if not verdicts:
        return ""
    if all(verdict.noise is Noise.SINGLE for _, verdict in verdicts):
        return "; one run each, so the noise is unknown"
    runs = f"the noise of {min(verdict.runs for _, verdict in verdicts)} runs"
    one_lead = f"the lead in {verdicts[0][0]} is" if clauses > 1 else "the lead is"
    leads = "both leads are" if len(verdicts) > 1 else one_lead
    clear = [title for title, verdict in verdicts if verdict.clear]
    if len(clear) == len(verdicts) == clauses:
        return f"; {leads} beyond {runs}"
    if clear:
        return f"; only the lead in {listing(clear)} is beyond {runs}"
    return f"; {leads} within {runs}"


def _over_places(evidence: Evidence, question: Question, bests: Mapping[str, _Best]) -> str:
    """Return `most goodput: bbr on 5 and cubic on 4 of 9 cells; beyond the noise of 5 runs on 7`.

    The text is empty if no place has rivals.
    """
    if not bests:
        return ""
    winners = [best.schemes[0] if len(best.schemes) == 1 else _ALIKE for best in bests.values()]
    head = question.superlative(evidence.among(evidence.by_path, question.key))
    text = f"{head}: {_counts(winners)} of {len(bests)} {evidence.place_noun}s"
    verdicts = [best.verdict for best in bests.values() if best.verdict is not None]
    if not verdicts:
        return text
    if all(verdict.noise is Noise.SINGLE for verdict in verdicts):
        return f"{text}; one run each, so the noise is unknown"
    counts = {verdict.runs for verdict in verdicts}
    runs = f" of {counts.pop()} runs" if len(counts) == 1 else ""
    return f"{text}; beyond the noise{runs} on {sum(verdict.clear for verdict in verdicts)}"


def _counts(best: Sequence[str]) -> str:
    """Return `bbr on 5, cubic on 3, others on 2 and several alike on 1`."""
    wins = Counter(scheme for scheme in best if scheme != _ALIKE)
    top_wins = wins.most_common(_MOST_WINNERS)
    texts = [f"{scheme} on {count}" for scheme, count in top_wins]
    if (other_wins := wins.total() - sum(count for _, count in top_wins)) > 0:
        texts.append(f"others on {other_wins}")
    if ties := best.count(_ALIKE):
        texts.append(f"{_ALIKE} on {ties}")
    return listing(texts, len(texts))


def _rival_means(evidence: Evidence, path: str, key: MetricKey) -> list[tuple[Repetitions, float]]:
    means = ((group, mean_of(group, key)) for group in evidence.rivals(path, key))
    return [(group, mean) for group, mean in means if mean is not None]


def _trend(evidence: Evidence, axis: str, key: MetricKey) -> int:
    """Return 1 if the means grow along the axis in all cells and for every scheme, -1 if they fall, else 0."""
    cell_axes = {path: axes for path, axes in evidence.axes.items() if axes}
    places = {path: float(value) for path, axes in cell_axes.items() if is_number(value := axes.get(axis))}
    values = set(places.values())
    if len(values) < 2 or len(places) < len(cell_axes):
        return 0
    rows: dict[tuple[str, ...], list[tuple[float, float]]] = {}
    for group in evidence.uniform:
        mean, axes = mean_of(group, key), cell_axes.get(group.path)
        if mean is None or axes is None:
            return 0
        row_key = (group.scheme, *(axis_value(axes.get(name)) for name in evidence.varied if name != axis))
        rows.setdefault(row_key, []).append((places[group.path], mean))
    if len(evidence.uniform) < len(evidence.groups) or any(len(row) < len(values) for row in rows.values()):
        return 0
    steps = [later[1] - earlier[1] for row in rows.values() for earlier, later in pairwise(sorted(row))]
    if all(step > 0 for step in steps):
        return 1
    return -1 if all(step < 0 for step in steps) else 0


def _change(evidence: Evidence, axis: str, question: Question) -> tuple[str, float, str, float] | None:
    """Return the best scheme up to a value of the axis, that value, the best scheme after it, and the next value.

    None if this does not hold in all cells.
    """
    best: dict[float, set[str]] = {}
    for path, axes in evidence.axes.items():
        means = sorted(_rival_means(evidence, path, question.key), key=lambda entry: question.sign * entry[1])
        if not means:
            continue
        place = axes.get(axis)
        if len(means) < 2 or means[0][1] == means[1][1] or not is_number(place):
            return None
        best.setdefault(float(place), set()).add(means[0][0].scheme)
    if any(len(winners) > 1 for winners in best.values()):
        return None
    ranking = [(value, next(iter(winners))) for value, winners in sorted(best.items())]
    changes = [(earlier, later) for earlier, later in pairwise(ranking) if earlier[1] != later[1]]
    if len(changes) != 1:
        return None
    (last, before), (first, after) = changes[0]
    return before, last, after, first
