"""Runs that are in no number: failed, degraded, damaged, invalid, or not made."""

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
    """Yield the number of failed runs, their schemes if not all, and the most frequent reason."""
    count, total = evidence.states, evidence.states.total()
    bad = [run for run in evidence.runs if run["status"] in _BAD]
    if bad:
        kinds = listing([f"{count[status]} {_verb(status, count[status])}" for status in _BAD if count[status]])
        reasons = Counter(" ".join(str(run.get("reason") or "").split()) for run in bad)
        reason, times = reasons.most_common(1)[0]
        frequency = "" if times == len(bad) else f"most often ({times} times), "
        explanation = f"{frequency}{_brief(reason)}" if reason else "no reason was recorded"
        subject = f"Of {total} runs {kinds}{_scheme_note(evidence, bad)}"
        if total == 1:
            subject = f"The only run {_verb(str(bad[0]['status']), 1)}"
        yield Sentence(0, f"{subject}, and {'counts' if len(bad) == 1 else 'count'} in no number: {explanation}.")
    missing = count["missing"]
    if missing and evidence.experiment.every_s is not None:
        progress_text = f"{total - missing} of the campaign's {total} runs are made"
        yield Sentence(0, f"{progress_text}: the other {missing} were missed, or are still to come.")
    elif missing:
        yield Sentence(0, f"{total - missing} of {total} runs are made, {missing} {_verb('missing', missing)}.")


def _verb(status: str, count: int) -> str:
    return status if status == "failed" else f"{'is' if count == 1 else 'are'} {status}"


def _scheme_note(evidence: Evidence, bad: list[RunTable]) -> str:
    """Return ` (all of copa)` if the runs are of a few schemes among others."""
    schemes = list(dict.fromkeys(str(run["scheme"]) for run in bad))
    everybody = {run["scheme"] for run in evidence.runs}
    is_few = len(schemes) <= _MOST_NAMED and len(schemes) < len(everybody)
    return f" (all of {listing(list(map(name, schemes)))})" if is_few else ""


def _brief(reason: str) -> str:
    text = name(reason).rstrip(".")
    return text if len(text) <= _MOST_REASON else f"{text[:_MOST_REASON]}..."
