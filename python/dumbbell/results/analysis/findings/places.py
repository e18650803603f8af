"""Findings on several paths, or on the cells of a grid: the best schemes, and changes along an axis."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise

from dumbbell.base.conventions import MainMetric
from dumbbell.results.analysis.axis_words import axis_name, axis_phrase, axis_value
from dumbbell.results.analysis.findings.evidence import Evidence, Sentence
from dumbbell.results.analysis.findings.means import mean_of
from dumbbell.results.analysis.findings.noise import Noise, Pair, judged
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
    questions = [(evidence.throughput, -1.0, evidence.shown.throughput), (evidence.delay, 1.0, evidence.shown.delay)]
    clauses = []
    for key, sign, metric in questions:
        if text := _winners(evidence, key, sign, metric):
            clauses.append(text)
    if clauses:
        without = evidence.without(list(evidence.by_path))
        yield Sentence(1, f"{evidence.alone(without + '; '.join(clauses))}{by_convention(evidence.shown)}.")


def along(evidence: Evidence) -> Iterator[Sentence]:
    """Yield changes along an axis of numbers that hold in all cells: of the best scheme, and of the means."""
    questions = ((evidence.throughput, -1.0, evidence.shown.throughput), (evidence.delay, 1.0, evidence.shown.delay))
    for key, sign, metric in questions:
        for axis in evidence.varied:
            if (change := _change(evidence, axis, key, sign)) is not None:
                before, last, after, first = change
                among = evidence.among(evidence.by_path, key)
                superlative = f"{'most' if sign < 0 else 'least'} {metric.title}{among}"
                best = f"By the means {evidence.without(list(evidence.by_path))}{name(before)} has the {superlative}"
                last_text, first_text = (name(axis_phrase(axis, value)) for value in (last, first))
                values = sorted({float(value) for axes in evidence.axes.values() if is_number(value := axes.get(axis))})
                extent = f"{'at' if last == values[0] else 'up to'} {last_text}, and {name(after)} "
                extent += f"{f'at {first_text}' if first == values[-1] else f'from {first_text} on'}, in all cells"
                yield Sentence(4, f"{best} {extent}.")
    scope = "for every scheme " if len({group.scheme for group in evidence.uniform}) > 1 else ""
    for key, _, metric in questions:
        trends = [(axis, way) for axis in evidence.varied if (way := _trend(evidence, axis, key))]
        if trends:
            trend_texts = listing(
                [f"{'grows' if way > 0 else 'falls'} with {name(axis_name(axis))}" for axis, way in trends]
            )
            yield Sentence(5, f"The mean {metric.title} {trend_texts}, {scope}in all cells.")


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


def _winners(evidence: Evidence, key: MetricKey, sign: float, metric: MainMetric) -> str:
    """Return `most goodput of 9 cells: bbr on 5 and cubic on 4`; empty without rivals. Few places have their names."""
    best: list[tuple[list[str], str, float, str]] = []
    pairs: list[Pair] = []
    places: list[str] = []
    for path in evidence.by_path:
        means = _rival_means(evidence, path, key)
        if len(means) < 2:
            continue
        (leader, first), (following, second), *_ = sorted(means, key=lambda entry: sign * entry[1])
        leaders = [name(group.scheme) for group, mean in means if mean == first]
        best.append((leaders, path, first, evidence.mark(leader)))
        if first != second:
            pairs.append((following, leader, key))
            places.append(evidence.at(path))
    if not best:
        return ""
    superlative = f"{'most' if sign < 0 else 'least'} {metric.title}{evidence.among(evidence.by_path, key)}"
    if len(best) <= _MOST_PLACES:
        number = number_of(metric)
        texts = [
            f"{listing(leaders)} {evidence.at(path)} ({number(value)} {metric.unit}{mark})"
            for leaders, path, value, mark in best
        ]
        return f"{superlative}: {listing(texts)}{_noise(pairs, len(best), places)}"
    winners = [leaders[0] if len(leaders) == 1 else _ALIKE for leaders, *_ in best]
    return f"{superlative} of {len(best)} {evidence.place_noun}s: {_counts(winners)}{_noise(pairs, len(best))}"


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


def _noise(pairs: Sequence[Pair], places: int, names: Sequence[str] = ()) -> str:
    """Return the number of places without a tie in which the runs prove the best, and the names of the others.

    `names` are those of the places; without them the text names none.
    """
    if not pairs:
        return ""
    verdicts = judged(pairs)
    kinds = Counter(verdict.noise for verdict in verdicts)
    if kinds[Noise.SINGLE] == len(verdicts):
        return " (one run each: the noise is not known)"
    clear = sum(verdict.clear for verdict in verdicts)
    counts = {verdict.runs for verdict in verdicts}
    runs = f"{counts.pop()} runs" if len(counts) == 1 else ""
    place_text = f"on {clear} of {len(verdicts)}" + (" without a tie" if len(verdicts) < places else "")
    unclear = [place for place, verdict in zip(names, verdicts, strict=False) if not verdict.clear]
    place_text += f", not {listing(unclear)}" if unclear and clear else ""
    if kinds[Noise.APART] + kinds[Noise.OVERLAP] > 0:
        runs_note = f", each of {runs}," if runs else ""
        return f" (the ranges of the best and the next{runs_note} do not overlap {place_text})"
    by = f" by {runs}" if runs else ""
    return f" (told from the next{by} {place_text})"


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


def _change(evidence: Evidence, axis: str, key: MetricKey, sign: float) -> tuple[str, float, str, float] | None:
    """Return the best scheme up to a value of the axis, that value, the best scheme after it, and the next value.

    None if this does not hold in all cells.
    """
    best: dict[float, set[str]] = {}
    for path, axes in evidence.axes.items():
        means = sorted(_rival_means(evidence, path, key), key=lambda entry: sign * entry[1])
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
