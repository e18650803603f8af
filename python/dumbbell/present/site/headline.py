"""The number that stands for an experiment, for each scheme."""

from collections.abc import Sequence

from dumbbell.present.site.cell_tables import NONE
from dumbbell.present.site.judging.competition import Match, has_matches, matches
from dumbbell.present.site.judging.direction import Metric, best, decimals, metric, number
from dumbbell.present.site.judging.findings import Findings, rivals
from dumbbell.present.tables import Field

_PLACES = 2


DELAY = metric("network", "owd_p95_ms")
"""What stands beside every headline: a share of the capacity alone says little."""

_ELSEWHERE = "not compared: its mean is over other cells, or over other transfers, than that of others"


def headline_fields(found: Findings, labels: Sequence[str]) -> list[Field]:
    """One field for each label: the mean over the experiment's cells with their range, or the share beside others."""
    if has_matches(found):
        every = matches(found)
        return [_share([match for match in every if match.label == label]) for label in labels]
    return mean_fields(found, labels, found.headline)


def mean_fields(found: Findings, labels: Sequence[str], each: Metric) -> list[Field]:
    """One field for each label: a metric's mean over the experiment's cells, with their range."""
    own = [[value for _, value in found.means_of(label, each)] for label in labels]
    places = decimals(value for values in own for value in values)
    means = [sum(values) / len(values) if values else None for values in own]
    shown = [None if mean is None else number(mean, places) for mean in means]
    # means over different cells or different transfers cannot be compared
    comparable = len({len(values) for values in own if values}) == 1
    comparable &= not any(rivals(found.cells, [label for label in labels if label in found.labels], each))
    bold = best(shown, means, each.better if comparable else 0)
    hover = "" if comparable else _ELSEWHERE
    made = []
    for values, mean, said, is_best in zip(own, means, shown, bold, strict=True):
        if said is None:
            made.append(Field(NONE))
            continue
        note = f"[{number(min(values), places)}, {number(max(values), places)}]" if len(values) > 1 else ""
        made.append(Field(said, note, mean, best=is_best, hover=hover))
    return made


def headline_name(found: Findings) -> Field:
    """What the headline is."""
    return Field("share of the capacity") if has_matches(found) else named(found.headline)


def named(each: Metric) -> Field:
    """A metric in words with its unit; its identifier is told on hovering."""
    return Field(f"{each.words} {each.arrow}".strip(), each.unit, hover=each.name)


def _share(own: Sequence[Match]) -> Field:
    known = [(match.share.mean, match.fair) for match in own if match.share]
    if not known:
        return Field(NONE)
    mean, fair = (sum(values) / len(values) for values in zip(*known, strict=True))
    return Field(number(mean, _PLACES), f"equal: {number(fair, _PLACES)}", mean)
