"""Fairness of the flows of one scheme: Jain's index, 1 if all get the same."""

from collections.abc import Iterator

from dumbbell.base.digits import decimal
from dumbbell.results.analysis.findings.evidence import Evidence, Sentence
from dumbbell.results.analysis.findings.means import estimate
from dumbbell.results.analysis.findings.words import listing, name, span
from dumbbell.results.analysis.summary import Estimate

JAIN = ("network", 0, "jain_index")
_MOST_LISTED = 4


def fairness(evidence: Evidence) -> Iterator[Sentence]:
    """Yield the index of each scheme that ran with several flows: with its interval, or from least to most even."""
    indices_by_scheme: dict[str, list[Estimate]] = {}
    for group in evidence.uniform:
        if max(map(len, group.flows)) > 1 and (index := estimate(group, JAIN)) is not None:
            indices_by_scheme.setdefault(group.scheme, []).append(index)
    if not indices_by_scheme:
        return
    texts = []
    for scheme, indices in indices_by_scheme.items():
        if len(indices) == 1:
            texts.append(f"{name(scheme)} {_number(indices[0].mean)} {indices[0].bounds_text(_number)}".strip())
        else:
            means = span([estimate.mean for estimate in indices], _number)
            texts.append(f"{name(scheme)} {means} on {len(indices)} {evidence.place_noun}s")
    if len(texts) > _MOST_LISTED:
        ranking = sorted(
            indices_by_scheme,
            key=lambda scheme: (
                sum(estimate.mean for estimate in indices_by_scheme[scheme]) / len(indices_by_scheme[scheme])
            ),
        )
        ends = [
            f"{name(scheme)} {span([estimate.mean for estimate in indices_by_scheme[scheme]], _number)}"
            for scheme in (ranking[0], ranking[-1])
        ]
        text = f"from {ends[0]} to {ends[1]}, of {len(texts)} schemes by their means"
    else:
        text = listing(texts)
    counts = {len(flows) for group in evidence.uniform for flows in group.flows if len(flows) > 1}
    flows = f"{counts.pop()} flows" if len(counts) == 1 else "flows"
    yield Sentence(2, f"Jain's index of {flows} of one scheme (1: all get the same): {text}.")


def _number(value: float) -> str:
    return decimal(value, 3)
