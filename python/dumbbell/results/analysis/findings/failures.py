"""What is in no number: runs that failed, are degraded, damaged or invalid, and those that were not made."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from dumbbell.results.analysis.findings.evidence import Evidence, Sentence
from dumbbell.results.analysis.findings.words import listing, name

if TYPE_CHECKING:
    from dumbbell.contract.run import RunTable

_BAD = ("failed", "invalid", "damaged", "degraded")
_MOST_REASON = 160
_MOST_NAMED = 3


def failures(evidence: Evidence) -> Iterator[Sentence]:
    """Say how many of how many, of whom if that is not everybody, and the commonest reason."""
    count, total = evidence.states, evidence.states.total()
    bad = [run for run in evidence.runs if run["status"] in _BAD]
    if bad:
        kinds = listing([f"{count[status]} {_verb(status, count[status])}" for status in _BAD if count[status]])
        reasons = Counter(" ".join(str(run.get("reason") or "").split()) for run in bad)
        reason, times = reasons.most_common(1)[0]
        most = "" if times == len(bad) else f"most often ({times} times), "
        why = f"{most}{_brief(reason)}" if reason else "no reason was recorded"
        who = f"Of {total} runs {kinds}{_whose(evidence, bad)}"
        if total == 1:
            who = f"The only run {_verb(str(bad[0]['status']), 1)}"
        yield Sentence(0, f"{who}, and {'counts' if len(bad) == 1 else 'count'} in no number: {why}.")
    missing = count["missing"]
    if missing and evidence.experiment.every_s is not None:
        made = f"{total - missing} of the campaign's {total} runs are made"
        yield Sentence(0, f"{made}: the other {missing} were missed, or are still to come.")
    elif missing:
        yield Sentence(0, f"{total - missing} of {total} runs are made, {missing} {_verb('missing', missing)}.")


def _verb(status: str, count: int) -> str:
    return status if status == "failed" else f"{'is' if count == 1 else 'are'} {status}"


def _whose(evidence: Evidence, bad: list[RunTable]) -> str:
    """` (all of copa)`, where it is the runs of a few schemes among others."""
    schemes = list(dict.fromkeys(str(run["scheme"]) for run in bad))
    everybody = {run["scheme"] for run in evidence.runs}
    few = len(schemes) <= _MOST_NAMED and len(schemes) < len(everybody)
    return f" (all of {listing(list(map(name, schemes)))})" if few else ""


def _brief(reason: str) -> str:
    text = name(reason).rstrip(".")
    return text if len(text) <= _MOST_REASON else f"{text[:_MOST_REASON]}..."
