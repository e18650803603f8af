"""How evenly flows of one scheme share the path: Jain's index, 1 where all get the same."""

from collections.abc import Iterator

from dumbbell.base.digits import decimal
from dumbbell.results.analysis.findings.evidence import Evidence, Sentence
from dumbbell.results.analysis.findings.means import estimate
from dumbbell.results.analysis.findings.words import listing, name, span
from dumbbell.results.analysis.summary import Estimate

JAIN = ("network", 0, "jain_index")
_MOST_LISTED = 4


def fairness(evidence: Evidence) -> Iterator[Sentence]:
    """Say it of each scheme that ran with several flows: with its interval, or from least to most even."""
    found: dict[str, list[Estimate]] = {}
    for group in evidence.uniform:
        if max(map(len, group.flows)) > 1 and (index := estimate(group, JAIN)) is not None:
            found.setdefault(group.scheme, []).append(index)
    if not found:
        return
    said = []
    for scheme, indices in found.items():
        if len(indices) == 1:
            said.append(f"{name(scheme)} {_number(indices[0].mean)} {indices[0].bounds_text(_number)}".strip())
        else:
            means = span([each.mean for each in indices], _number)
            said.append(f"{name(scheme)} {means} on {len(indices)} {evidence.place_noun}s")
    if len(said) > _MOST_LISTED:
        ranked = sorted(found, key=lambda scheme: sum(each.mean for each in found[scheme]) / len(found[scheme]))
        ends = [f"{name(each)} {span([one.mean for one in found[each]], _number)}" for each in (ranked[0], ranked[-1])]
        text = f"from {ends[0]} to {ends[1]}, of {len(said)} schemes by their means"
    else:
        text = listing(said)
    counts = {len(flows) for group in evidence.uniform for flows in group.flows if len(flows) > 1}
    flows = f"{counts.pop()} flows" if len(counts) == 1 else "flows"
    yield Sentence(2, f"Jain's index of {flows} of one scheme (1: all get the same): {text}.")


def _number(value: float) -> str:
    return decimal(value, 3)
