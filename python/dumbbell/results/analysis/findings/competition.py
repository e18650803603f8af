"""What schemes get beside each other: their shares."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from dumbbell.results.analysis.findings.carried import carries
from dumbbell.results.analysis.findings.evidence import Evidence, Sentence
from dumbbell.results.analysis.findings.words import counted, listing, name, percent, span
from dumbbell.results.analysis.shares import Share
from dumbbell.results.analysis.summary import Estimate, Repetitions

_COMPETITORS = "scheme"
"""The axis of grids that names them: a sentence has that name anyway."""
MOST_LISTED = 6
"""Schemes beside one competitor that a sentence lists; of more, it names both ends."""


@dataclass(frozen=True)
class Entry:
    """What all flows of a scheme got beside the others of a run, in one place."""

    scheme: str
    place: str
    at: str
    """The place as a sentence goes on with it."""
    share: Estimate
    fair: float | None
    """None where flows come and go: then it is not known how many share the path."""

    @property
    def side(self) -> int:
        """1 above the fair share, -1 below, 0 where that lies within the interval or the range."""
        low, high = self.share.low, self.share.high
        if self.fair is None or low is None or high is None or low <= self.fair <= high:
            return 0
        return 1 if low > self.fair else -1


def competition(evidence: Evidence) -> Iterator[Sentence]:
    """Say it in one sentence for all mixes with the same competitor, competitor by competitor."""
    pairs = [(group, found) for group, found in evidence.mixed if len(found) == 2]
    rest = [(group, found) for group, found in evidence.mixed if len(found) > 2]
    importance = 1
    while pairs:
        competitor = _commonest(pairs)
        own = [each for each in pairs if _has(each[1], competitor)]
        pairs = [each for each in pairs if not _has(each[1], competitor)]
        entries = [entry for group, both in own for entry in _entries(evidence, group, both)]
        others = [entry for entry in entries if entry.scheme != competitor]
        if others:
            yield Sentence(importance, _beside(evidence, competitor, _late(own, competitor), others))
            importance += 3
    for group, found in rest:
        if known := _entries(evidence, group, found):
            yield Sentence(importance, f"Side by side{_where(evidence, known)}: {_list(evidence, known)}.")
            importance += 3
    if len(evidence.groups) == len(evidence.mixed) == 1:
        group, found = evidence.mixed[0]
        text = carries(evidence, group, f"Together {listing([name(share.scheme) for share in found])} carry")
        if text is not None:
            yield Sentence(2, text)


def _has(both: Sequence[Share], scheme: str) -> bool:
    return any(share.scheme == scheme for share in both)


def _commonest(pairs: Sequence[tuple[Repetitions, list[Share]]]) -> str:
    """The competitor in most of the mixes; of several, one that no runs are named after, or else the first."""
    count = Counter(scheme for _, both in pairs for scheme in dict.fromkeys(share.scheme for share in both))
    labels = {group.scheme for group, _ in pairs}
    return max(count, key=lambda scheme: (count[scheme], scheme not in labels))


def _entries(evidence: Evidence, group: Repetitions, found: Sequence[Share]) -> list[Entry]:
    """What each scheme of a mix got, as far as that is known."""
    place, at = evidence.place(group.path, _COMPETITORS), evidence.at(group.path, _COMPETITORS)
    steady = not evidence.comes_and_goes(group)
    return [
        Entry(
            share.scheme,
            place,
            at,
            each,
            share.fair if steady else None,
        )
        for share in found
        if (each := share.payload_share) is not None
    ]


def _beside(evidence: Evidence, competitor: str, late: bool, entries: Sequence[Entry]) -> str:
    """The sentence on one competitor."""
    where = _where(evidence, entries)
    return f"Beside {'late ' if late else ''}{name(competitor)}{where}: {_list(evidence, entries)}."


def _where(evidence: Evidence, entries: Sequence[Entry]) -> str:
    """` on cable`, ` on 3 paths`; nothing where schemes were in different numbers of places, which are said of each."""
    places = {entry.at for entry in entries}
    if len(places) == 1:
        return f" {next(iter(places))}"
    return f" on {len(places)} {evidence.place_noun}s" if _everywhere(entries) else ""


def _everywhere(entries: Sequence[Entry]) -> bool:
    """Whether all schemes were in the same places, each once."""
    places = [sorted(entry.place for entry in entries if entry.scheme == scheme) for scheme in _schemes(entries)]
    return all(each == places[0] and len(set(each)) == len(each) for each in places)


def _schemes(entries: Sequence[Entry]) -> list[str]:
    return list(dict.fromkeys(entry.scheme for entry in entries))


def _late(own: Sequence[tuple[Repetitions, list[Share]]], competitor: str) -> bool:
    """Whether every flow of the competitor starts later than all others, by more than flows are spread anyway."""
    for group, _ in own:
        for flows in group.flows:
            starts: dict[bool, list[float]] = {True: [], False: []}
            for flow in flows:
                start_s = flow.get("start_s")
                if start_s is None:
                    return False
                starts[flow["scheme"] == competitor].append(start_s)
            if min(starts[True], default=0.0) < max(starts[False], default=0.0) + 1.0:
                return False
    return True


def _list(evidence: Evidence, entries: Sequence[Entry]) -> str:
    """`bbr 26 % [24, 28] and copa 13 % [12, 14] of the payload (fair: 50 %)`, and what is not resolved."""
    gathered = {scheme: [entry for entry in entries if entry.scheme == scheme] for scheme in _schemes(entries)}
    counted_each = not _everywhere(entries)
    fair = {"" if entry.fair is None else percent(entry.fair) for entry in entries}
    said = [_said(evidence, those, len(fair) > 1, counted_each) for those in gathered.values()]
    if len(said) > MOST_LISTED:
        ranked = sorted(gathered.values(), key=lambda those: sum(each.share.mean for each in those) / len(those))
        (least, low), (most, high) = ((name(those[0].scheme), _share(those)) for those in (ranked[0], ranked[-1]))
        text = f"of {len(said)} schemes {least} gets the least on average, {low} % of the payload, and {most} the most"
        text += f", {high} %"
    else:
        noun = evidence.place_noun
        spread = f", from {noun} to {noun}" if any(len(those) > 1 for those in gathered.values()) else ""
        text = f"{listing(said, MOST_LISTED)} of the payload{spread}"
    if len(fair) == 1 and "" not in fair:
        text += f" (fair: {fair.pop()} %)"
    return "; ".join(filter(None, [text, _unresolved(gathered)]))


def _said(evidence: Evidence, those: Sequence[Entry], with_fair: bool, with_count: bool) -> str:
    if len(those) > 1:
        where = f" on {len(those)} {evidence.place_noun}s" if with_count else ""
        return f"{name(those[0].scheme)} {_reach(those)}{where}"
    (entry,) = those
    text = f"{name(entry.scheme)} {percent(entry.share.mean)} % {entry.share.bounds_text(percent)}".strip()
    return f"{text} (fair: {percent(entry.fair)} %)" if with_fair and entry.fair is not None else text


def _reach(those: Sequence[Entry]) -> str:
    """Return from where to where the mean shares reach, in percent, with the places of both ends if they have names.

    An example: `41 % (bloat) to 85 % (dsl)`.
    """
    low, high = (end(those, key=lambda each: each.share.mean) for end in (min, max))
    if percent(low.share.mean) == percent(high.share.mean) or max(len(low.place), len(high.place)) > _LONGEST_PLACE:
        return f"{_share(those)} %"
    ends = [f"{percent(each.share.mean)} % ({name(each.place)})" for each in (low, high)]
    return " to ".join(ends)


_LONGEST_PLACE = 24
"""Letters of the name of a place that a list of schemes has room for."""


def _share(those: Sequence[Entry]) -> str:
    """The mean share, or from where to where the means reach, in percent without the sign."""
    return span([each.share.mean for each in those], percent)


def _unresolved(gathered: dict[str, list[Entry]]) -> str:
    """Whose share the runs do not tell from the fair one; nothing of many places, whose ranges say something else."""
    if any(len(those) > 1 or those[0].fair is None for those in gathered.values()):
        return ""
    entries = [entry for (entry,) in gathered.values()]
    runs = min(entry.share.count for entry in entries)
    if runs < 2:
        return f"of {counted(runs, 'run')} the noise is not known"
    what = (
        f"range ({runs} runs)" if any(entry.share.bounds == "range" for entry in entries) else f"interval ({runs} runs)"
    )
    open_ = [name(entry.scheme) for entry in entries if entry.side == 0]
    if not open_:
        return f"{'each' if len(entries) > 1 else 'the'} {what} excludes the fair share"
    whose = f" of {listing(open_)}" if len(entries) > 1 else ""
    return f"the {what}{whose} includes the fair share"
