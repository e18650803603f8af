"""Leads in goodput that are due to headers: schemes differ in the payload of a packet."""

from collections.abc import Iterator

from dumbbell.base.conventions import CORRECTED
from dumbbell.base.digits import decimal
from dumbbell.results.analysis.findings.evidence import Evidence, Sentence
from dumbbell.results.analysis.findings.means import mean_of
from dumbbell.results.analysis.findings.words import name
from dumbbell.results.analysis.summary import Repetitions
from dumbbell.results.numbers import value_of


def headers(evidence: Evidence) -> Iterator[Sentence]:
    """Yield a sentence if the scheme with the most goodput carries no more bytes than the next, with headers."""
    if evidence.shown != CORRECTED:
        return
    leads: list[tuple[str, Repetitions, Repetitions]] = []
    count = 0
    for path in evidence.by_path:
        candidates = evidence.candidates(path)
        means = [(mean, group) for group in candidates if (mean := mean_of(group, evidence.throughput))]
        if len(means) < 2:
            continue
        count += 1
        (highest, best), (less, after) = sorted(means, key=lambda entry: -entry[0])[:2]
        best_payload, next_payload = payload_part(best), payload_part(after)
        if (
            highest > less
            and best_payload
            and next_payload
            and best_payload > next_payload
            and highest / best_payload <= less / next_payload
        ):
            leads.append((path, best, after))
    if not leads:
        return
    path, best, after = leads[0]
    places = evidence.at(path) if len(leads) == 1 else f"on {len(leads)} of {count} {evidence.place_noun}s"
    scheme_pairs = {(first.scheme, second.scheme) for _, first, second in leads}
    if len(scheme_pairs) == 1:
        parts = [decimal(100 * (payload_part(group) or 0), 1) for group in (best, after)]
        text = f"{name(best.scheme)} has more goodput than {name(after.scheme)} {places} by its smaller headers only: "
        text += f"{parts[0]} % of its bytes are payload, and {parts[1]} % of those of {name(after.scheme)}"
    else:
        text = (
            f"{places} the scheme with the most goodput owes its lead to smaller headers: with headers, the next one "
        )
        text += "carries as many bytes or more"
    yield Sentence(3, f"{evidence.alone(evidence.without([path for path, *_ in leads]) + text)}.")


def payload_part(group: Repetitions) -> float | None:
    """Return the payload as a fraction of the delivered bytes; None if unknown."""
    flows = [flow for flows in group.judged.flows for flow in flows]
    payload, total = (
        [value for flow in flows if (value := value_of(flow, key))]
        for key in ("data_bytes_delivered", "bytes_delivered")
    )
    return sum(payload) / sum(total) if total and len(payload) == len(total) == len(flows) else None
