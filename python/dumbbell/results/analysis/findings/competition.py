"""Findings on competition: the shares of schemes beside each other."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from dumbbell.results.analysis.findings.carried import carries
from dumbbell.results.analysis.findings.evidence import Evidence, Sentence
from dumbbell.results.analysis.findings.words import counted, listing, name, percent, span
from dumbbell.results.analysis.shares import Share
from dumbbell.results.analysis.summary import Estimate, Repetitions

_COMPETITORS = "scheme"
"""Grid axis that names the competitors, which sentences name anyway."""
MOST_LISTED = 6
"""Maximum schemes beside one competitor in a list; of more, a sentence names both ends."""


@dataclass(frozen=True)
class Entry:
    """Share of a scheme's flows against competing flows, in one place."""

    scheme: str
    place: str
    at: str
    """Place as a part of a sentence."""
    share: Estimate
    fair: float | None
    """Fair share; None if flows start or stop meanwhile, so that the number of flows varies."""

    @property
    def side(self) -> int:
        """1 if the share is above the fair one, -1 below, 0 if the fair share lies within the interval or range."""
        low, high = self.share.low, self.share.high
        if self.fair is None or low is None or high is None or low <= self.fair <= high:
            return 0
        return 1 if low > self.fair else -1


def competition(evidence: Evidence) -> Iterator[Sentence]:
    """Yield one sentence for all mixes with a common competitor, competitor by competitor."""
    pairs = [(group, mix_shares) for group, mix_shares in evidence.mixed if len(mix_shares) == 2]
    rest = [(group, mix_shares) for group, mix_shares in evidence.mixed if len(mix_shares) > 2]
    importance = 1
    while pairs:
        competitor = _commonest(pairs)
        competitor_pairs = [pair for pair in pairs if _has(pair[1], competitor)]
        pairs = [pair for pair in pairs if not _has(pair[1], competitor)]
        entries = [entry for group, pair_shares in competitor_pairs for entry in _entries(evidence, group, pair_shares)]
        other_entries = [entry for entry in entries if entry.scheme != competitor]
        if other_entries:
            yield Sentence(
                importance, _beside(evidence, competitor, _late(competitor_pairs, competitor), other_entries)
            )
            importance += 3
    for group, mix_shares in rest:
        if entries_of_mix := _entries(evidence, group, mix_shares):
            yield Sentence(
                importance, f"Side by side{_where(evidence, entries_of_mix)}: {_list(evidence, entries_of_mix)}."
            )
            importance += 3
    if len(evidence.groups) == len(evidence.mixed) == 1:
        group, mix_shares = evidence.mixed[0]
        text = carries(evidence, group, f"Together {listing([name(share.scheme) for share in mix_shares])} carry")
        if text is not None:
            yield Sentence(2, text)


def _has(mix_shares: Sequence[Share], scheme: str) -> bool:
    return any(share.scheme == scheme for share in mix_shares)


def _commonest(pairs: Sequence[tuple[Repetitions, list[Share]]]) -> str:
    """Return the competitor in most mixes. A tie goes to a scheme that labels no run, else to the first."""
    count = Counter(scheme for _, mix_shares in pairs for scheme in dict.fromkeys(share.scheme for share in mix_shares))
    labels = {group.scheme for group, _ in pairs}
    return max(count, key=lambda scheme: (count[scheme], scheme not in labels))


def _entries(evidence: Evidence, group: Repetitions, mix_shares: Sequence[Share]) -> list[Entry]:
    """Return the known shares of the schemes of a mix."""
    place, at = evidence.place(group.path, _COMPETITORS), evidence.at(group.path, _COMPETITORS)
    steady = not evidence.comes_and_goes(group)
    return [
        Entry(
            share.scheme,
            place,
            at,
            share_estimate,
            share.fair if steady else None,
        )
        for share in mix_shares
        if (share_estimate := share.payload_share) is not None
    ]


def _beside(evidence: Evidence, competitor: str, late: bool, entries: Sequence[Entry]) -> str:
    """Return the sentence on one competitor."""
    place = _where(evidence, entries)
    return f"Beside {'late ' if late else ''}{name(competitor)}{place}: {_list(evidence, entries)}."


def _where(evidence: Evidence, entries: Sequence[Entry]) -> str:
    """Return ` on cable` or ` on 3 paths`; empty if schemes differ in their number of places."""
    places = {entry.at for entry in entries}
    if len(places) == 1:
        return f" {next(iter(places))}"
    return f" on {len(places)} {evidence.place_noun}s" if _everywhere(entries) else ""


def _everywhere(entries: Sequence[Entry]) -> bool:
    """Return True if all schemes were in the same places, each once."""
    places = [sorted(entry.place for entry in entries if entry.scheme == scheme) for scheme in _schemes(entries)]
    return all(scheme_places == places[0] and len(set(scheme_places)) == len(scheme_places) for scheme_places in places)


def _schemes(entries: Sequence[Entry]) -> list[str]:
    return list(dict.fromkeys(entry.scheme for entry in entries))


def _late(mixes: Sequence[tuple[Repetitions, list[Share]]], competitor: str) -> bool:
    """Return True if every flow of the competitor starts over a second later than all others: it is no coincidence."""
    for group, _ in mixes:
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
    """Return `bbr 26 % [24, 28] and copa 13 % [12, 14] of the payload (fair: 50 %)`, and the unresolved shares."""
    entries_by_scheme = {scheme: [entry for entry in entries if entry.scheme == scheme] for scheme in _schemes(entries)}
    counted_each = not _everywhere(entries)
    fair = {"" if entry.fair is None else percent(entry.fair) for entry in entries}
    texts = [
        _entry_text(evidence, scheme_entries, len(fair) > 1, counted_each)
        for scheme_entries in entries_by_scheme.values()
    ]
    if len(texts) > MOST_LISTED:
        ranking = sorted(
            entries_by_scheme.values(),
            key=lambda scheme_entries: sum(entry.share.mean for entry in scheme_entries) / len(scheme_entries),
        )
        (least, low), (highest, high) = (
            (name(scheme_entries[0].scheme), _share(scheme_entries)) for scheme_entries in (ranking[0], ranking[-1])
        )
        text = (
            f"of {len(texts)} schemes {least} gets the least on average, {low} % of the payload, and {highest} the most"
        )
        text += f", {high} %"
    else:
        noun = evidence.place_noun
        spread = (
            f", from {noun} to {noun}"
            if any(len(scheme_entries) > 1 for scheme_entries in entries_by_scheme.values())
            else ""
        )
        text = f"{listing(texts, MOST_LISTED)} of the payload{spread}"
    if len(fair) == 1 and "" not in fair:
        text += f" (fair: {fair.pop()} %)"
    return "; ".join(filter(None, [text, _unresolved(entries_by_scheme)]))


def _entry_text(evidence: Evidence, entries: Sequence[Entry], with_fair: bool, with_count: bool) -> str:
    if len(entries) > 1:
        places = f" on {len(entries)} {evidence.place_noun}s" if with_count else ""
        return f"{name(entries[0].scheme)} {_reach(entries)}{places}"
    (entry,) = entries
    text = f"{name(entry.scheme)} {percent(entry.share.mean)} % {entry.share.bounds_text(percent)}".strip()
    return f"{text} (fair: {percent(entry.fair)} %)" if with_fair and entry.fair is not None else text


def _reach(entries: Sequence[Entry]) -> str:
    """Return the range of the mean shares in percent, with the names of both places if these are short.

    An example: `41 % (bloat) to 85 % (dsl)`.
    """
    low, high = (end(entries, key=lambda entry: entry.share.mean) for end in (min, max))
    if percent(low.share.mean) == percent(high.share.mean) or max(len(low.place), len(high.place)) > _LONGEST_PLACE:
        return f"{_share(entries)} %"
    ends = [f"{percent(entry.share.mean)} % ({name(entry.place)})" for entry in (low, high)]
    return " to ".join(ends)


_LONGEST_PLACE = 24
"""Maximum letters of the name of a place in a list of schemes."""


def _share(entries: Sequence[Entry]) -> str:
    """Return the mean share, or the range of the means, in percent without the sign."""
    return span([entry.share.mean for entry in entries], percent)


def _unresolved(entries_by_scheme: dict[str, list[Entry]]) -> str:
    """Return the shares that the runs do not separate from the fair one; empty if a scheme has several places."""
    if any(len(scheme_entries) > 1 or scheme_entries[0].fair is None for scheme_entries in entries_by_scheme.values()):
        return ""
    entries = [entry for (entry,) in entries_by_scheme.values()]
    runs = min(entry.share.count for entry in entries)
    if runs < 2:
        return f"of {counted(runs, 'run')} the noise is not known"
    bounds_noun = (
        f"range ({runs} runs)" if any(entry.share.bounds == "range" for entry in entries) else f"interval ({runs} runs)"
    )
    open_ = [name(entry.scheme) for entry in entries if entry.side == 0]
    if not open_:
        return f"{'each' if len(entries) > 1 else 'the'} {bounds_noun} excludes the fair share"
    schemes_text = f" of {listing(open_)}" if len(entries) > 1 else ""
    return f"the {bounds_noun}{schemes_text} includes the fair share"
