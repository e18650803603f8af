"""Several paths, or the cells of a grid: who is best where, and what changes along an axis."""

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
    """Say who carries most and who waits least in how many of the places, or what a single scheme reaches in them."""
    if len(evidence.by_path) < 2 or len(evidence.compared) == 1:
        return
    if len({group.scheme for group in evidence.uniform}) == 1:
        yield from _range(evidence)
        return
    asked = [(evidence.throughput, -1.0, evidence.shown.throughput), (evidence.delay, 1.0, evidence.shown.delay)]
    clauses = []
    for key, sign, metric in asked:
        if text := _winners(evidence, key, sign, metric):
            clauses.append(text)
    if clauses:
        without = evidence.without(list(evidence.by_path))
        yield Sentence(1, f"{evidence.alone(without + '; '.join(clauses))}{by_convention(evidence.shown)}.")


def along(evidence: Evidence) -> Iterator[Sentence]:
    """Say what changes along an axis of numbers, where it does in all cells: who is best, and what grows or falls."""
    asked = ((evidence.throughput, -1.0, evidence.shown.throughput), (evidence.delay, 1.0, evidence.shown.delay))
    for key, sign, metric in asked:
        for axis in evidence.varied:
            if (change := _change(evidence, axis, key, sign)) is not None:
                before, last, after, first = change
                among = evidence.among(evidence.by_path, key)
                most = f"{'most' if sign < 0 else 'least'} {metric.title}{among}"
                best = f"By the means {evidence.without(list(evidence.by_path))}{name(before)} has the {most}"
                one, other = (name(axis_phrase(axis, value)) for value in (last, first))
                values = sorted({float(each) for axes in evidence.axes.values() if is_number(each := axes.get(axis))})
                where = f"{'at' if last == values[0] else 'up to'} {one}, and {name(after)} "
                where += f"{f'at {other}' if first == values[-1] else f'from {other} on'}, in all cells"
                yield Sentence(4, f"{best} {where}.")
    whose = "for every scheme " if len({group.scheme for group in evidence.uniform}) > 1 else ""
    for key, _, metric in asked:
        found = [(axis, way) for axis in evidence.varied if (way := _trend(evidence, axis, key))]
        if found:
            said = listing([f"{'grows' if way > 0 else 'falls'} with {name(axis_name(axis))}" for axis, way in found])
            yield Sentence(5, f"The mean {metric.title} {said}, {whose}in all cells.")


def _range(evidence: Evidence) -> Iterator[Sentence]:
    """Say between which values the means of a single scheme lie."""
    shown, groups = evidence.shown, evidence.uniform
    known = [(group, mean) for group in groups if (mean := mean_of(group, evidence.throughput)) is not None]
    if not known:
        return
    known.sort(key=lambda each: each[1])
    number = number_of(shown.throughput)
    (least, low), (most, high) = known[0], known[-1]
    text = f"On {len(known)} {evidence.place_noun}s {name(least.scheme)} carries "
    if number(low) == number(high):
        text += f"{number(low)} {shown.throughput.unit} of {shown.throughput.title}"
    else:
        text += (
            f"{number(low)} ({name(evidence.place(least.path))}) to {number(high)} {shown.throughput.unit} "
            f"({name(evidence.place(most.path))}) of {shown.throughput.title}"
        )
    delays = [mean for group in groups if (mean := mean_of(group, evidence.delay)) is not None]
    if delays:
        reach = span(delays, number_of(shown.delay))
        text += f", at a {shown.delay.title} of {reach} {shown.delay.unit}"
    yield Sentence(1, f"{text}{by_convention(shown)}.")


def _winners(evidence: Evidence, key: MetricKey, sign: float, metric: MainMetric) -> str:
    """Return `most goodput of 9 cells: bbr on 5 and cubic on 4`. Few places have their names. Empty without rivals."""
    best: list[tuple[list[str], str, float, str]] = []
    pairs: list[Pair] = []
    places: list[str] = []
    for path in evidence.by_path:
        known = _known(evidence, path, key)
        if len(known) < 2:
            continue
        (leader, first), (following, second), *_ = sorted(known, key=lambda each: sign * each[1])
        who = [name(group.scheme) for group, mean in known if mean == first]
        best.append((who, path, first, evidence.mark(leader)))
        if first != second:
            pairs.append((following, leader, key))
            places.append(evidence.at(path))
    if not best:
        return ""
    most = f"{'most' if sign < 0 else 'least'} {metric.title}{evidence.among(evidence.by_path, key)}"
    if len(best) <= _MOST_PLACES:
        number = number_of(metric)
        said = [
            f"{listing(who)} {evidence.at(path)} ({number(value)} {metric.unit}{mark})"
            for who, path, value, mark in best
        ]
        return f"{most}: {listing(said)}{_noise(pairs, len(best), places)}"
    winners = [who[0] if len(who) == 1 else _ALIKE for who, *_ in best]
    return f"{most} of {len(best)} {evidence.place_noun}s: {_counts(winners)}{_noise(pairs, len(best))}"


def _counts(best: Sequence[str]) -> str:
    """Return `bbr on 5, cubic on 3, others on 2 and several alike on 1`."""
    wins = Counter(who for who in best if who != _ALIKE)
    listed = wins.most_common(_MOST_WINNERS)
    said = [f"{who} on {count}" for who, count in listed]
    if (others := wins.total() - sum(count for _, count in listed)) > 0:
        said.append(f"others on {others}")
    if ties := best.count(_ALIKE):
        said.append(f"{_ALIKE} on {ties}")
    return listing(said, len(said))


def _known(evidence: Evidence, path: str, key: MetricKey) -> list[tuple[Repetitions, float]]:
    found = ((group, mean_of(group, key)) for group in evidence.rivals(path, key))
    return [(group, mean) for group, mean in found if mean is not None]


def _noise(pairs: Sequence[Pair], places: int, names: Sequence[str] = ()) -> str:
    """Return in how many of the places without a tie the runs tell the best from the next, and in which they do not.

    `names` are those of the places; without them it does not say which.
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
    where = f"on {clear} of {len(verdicts)}" + (" without a tie" if len(verdicts) < places else "")
    unclear = [place for place, verdict in zip(names, verdicts, strict=False) if not verdict.clear]
    where += f", not {listing(unclear)}" if unclear and clear else ""
    if kinds[Noise.APART] + kinds[Noise.OVERLAP] > 0:
        each = f", each of {runs}," if runs else ""
        return f" (the ranges of the best and the next{each} do not overlap {where})"
    by = f" by {runs}" if runs else ""
    return f" (told from the next{by} {where})"


def _trend(evidence: Evidence, axis: str, key: MetricKey) -> int:
    """Return 1 if the means grow along the axis in all cells and for every scheme, -1 if they fall, else 0."""
    made = {path: axes for path, axes in evidence.axes.items() if axes}
    places = {path: float(value) for path, axes in made.items() if is_number(value := axes.get(axis))}
    values = set(places.values())
    if len(values) < 2 or len(places) < len(made):
        return 0
    rows: dict[tuple[str, ...], list[tuple[float, float]]] = {}
    for group in evidence.uniform:
        mean, axes = mean_of(group, key), made.get(group.path)
        if mean is None or axes is None:
            return 0
        others = (group.scheme, *(axis_value(axes.get(other)) for other in evidence.varied if other != axis))
        rows.setdefault(others, []).append((places[group.path], mean))
    if len(evidence.uniform) < len(evidence.groups) or any(len(row) < len(values) for row in rows.values()):
        return 0
    steps = [later[1] - earlier[1] for row in rows.values() for earlier, later in pairwise(sorted(row))]
    if all(step > 0 for step in steps):
        return 1
    return -1 if all(step < 0 for step in steps) else 0


def _change(evidence: Evidence, axis: str, key: MetricKey, sign: float) -> tuple[str, float, str, float] | None:
    """Return who is best up to a value of the axis, that value, who is best from the next one on, and that one.

    None if this does not hold in all cells.
    """
    best: dict[float, set[str]] = {}
    for path, axes in evidence.axes.items():
        known = sorted(_known(evidence, path, key), key=lambda each: sign * each[1])
        if not known:
            continue
        place = axes.get(axis)
        if len(known) < 2 or known[0][1] == known[1][1] or not is_number(place):
            return None
        best.setdefault(float(place), set()).add(known[0][0].scheme)
    if any(len(found) > 1 for found in best.values()):
        return None
    ranked = [(value, next(iter(found))) for value, found in sorted(best.items())]
    changes = [(one, other) for one, other in pairwise(ranked) if one[1] != other[1]]
    if len(changes) != 1:
        return None
    (last, before), (first, after) = changes[0]
    return before, last, after, first
