"""Whose lead in goodput is a matter of headers: schemes differ in how much of a packet is payload."""

from collections.abc import Iterator

from dumbbell.base.conventions import CORRECTED
from dumbbell.base.digits import decimal
from dumbbell.results.analysis.findings.evidence import Evidence, Sentence
from dumbbell.results.analysis.findings.means import mean_of
from dumbbell.results.analysis.findings.words import name
from dumbbell.results.analysis.summary import Repetitions
from dumbbell.results.numbers import value_of


def headers(evidence: Evidence) -> Iterator[Sentence]:
    """Say where the scheme with the most goodput carries no more bytes than the next one, headers included."""
    if evidence.shown != CORRECTED:
        return
    found: list[tuple[str, Repetitions, Repetitions]] = []
    compared = 0
    for path in evidence.by_path:
        candidates = evidence.candidates(path)
        known = [(mean, group) for group in candidates if (mean := mean_of(group, evidence.throughput))]
        if len(known) < 2:
            continue
        compared += 1
        (most, best), (less, after) = sorted(known, key=lambda each: -each[0])[:2]
        ours, theirs = payload_part(best), payload_part(after)
        if most > less and ours and theirs and ours > theirs and most / ours <= less / theirs:
            found.append((path, best, after))
    if not found:
        return
    path, best, after = found[0]
    where = evidence.at(path) if len(found) == 1 else f"on {len(found)} of {compared} {evidence.place_noun}s"
    same = {(one.scheme, other.scheme) for _, one, other in found}
    if len(same) == 1:
        parts = [decimal(100 * (payload_part(group) or 0), 1) for group in (best, after)]
        text = f"{name(best.scheme)} has more goodput than {name(after.scheme)} {where} by its smaller headers only: "
        text += f"{parts[0]} % of its bytes are payload, and {parts[1]} % of those of {name(after.scheme)}"
    else:
        text = f"{where} the scheme with the most goodput owes its lead to smaller headers: with headers, the next one "
        text += "carries as many bytes or more"
    yield Sentence(3, f"{evidence.alone(evidence.without([path for path, *_ in found]) + text)}.")


def payload_part(group: Repetitions) -> float | None:
    """Return which part of the bytes that arrived was payload, from 0 to 1; None where it is not known."""
    flows = [flow for flows in group.judged.flows for flow in flows]
    payload, whole = (
        [value for flow in flows if (value := value_of(flow, key))]
        for key in ("data_bytes_delivered", "bytes_delivered")
    )
    return sum(payload) / sum(whole) if whole and len(payload) == len(whole) == len(flows) else None
