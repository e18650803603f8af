"""Findings: what looks wrong, and at most five sentences that answer; `docs/reference/findings.md` lists the rules.

Each rule has a file of its own. It takes the evidence and yields sentences with their importance, made from metrics and
their intervals; nothing here is measured or computed anew.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, TypedDict

from dumbbell.experiment import Experiment
from dumbbell.results.analysis.findings.carried import carried
from dumbbell.results.analysis.findings.competition import competition
from dumbbell.results.analysis.findings.doubts import doubts, misconduct, remark, run_remarks
from dumbbell.results.analysis.findings.evidence import ALWAYS, Evidence, Sentence
from dumbbell.results.analysis.findings.failures import failures
from dumbbell.results.analysis.findings.fairness import fairness
from dumbbell.results.analysis.findings.headers import headers
from dumbbell.results.analysis.findings.places import along, places
from dumbbell.results.analysis.summary import Repetitions, repetitions

if TYPE_CHECKING:
    from dumbbell.contract.run import RunTable

__all__ = ["MOST", "Findings", "all_findings", "findings", "remark", "run_remarks"]

MOST = 5

Rule = Callable[[Evidence], Iterator[Sentence]]

RULES: tuple[Rule, ...] = (failures, misconduct, carried, places, headers, competition, fairness, along, doubts)
"""In the order in which their sentences are read."""

_OF_MIXES: tuple[Rule, ...] = (failures, misconduct, competition, carried, places, headers, fairness, along, doubts)
"""The order where no flow is alone: who gets what beside whom is the question then."""


class Findings(TypedDict):
    """Findings of an experiment, as the explorer reads them."""

    sentences: list[str]
    left_out: dict[str, list[str]]
    """Schemes that comparisons leave out for their conduct, by the name of the path; no path without such."""


def findings(
    experiment: Experiment,
    runs: Iterable[RunTable],
    gathered: Mapping[tuple[str, str], Repetitions] | None = None,
    states: Mapping[str, int] | None = None,
) -> list[str]:
    """Return what looks wrong in the conduct of flows, and at most `MOST` other sentences.

    `runs` are as in `show --json`, `gathered` are their `repetitions`, if at hand. Of many runs they may be those that
    failed and some others; then `states` is how many of all runs have each status.
    They are of the convention that the experiment shows. The most important of the others stay where there are more.
    """
    return all_findings(experiment, runs, gathered, states)["sentences"]


def all_findings(
    experiment: Experiment,
    runs: Iterable[RunTable],
    gathered: Mapping[tuple[str, str], Repetitions] | None = None,
    states: Mapping[str, int] | None = None,
) -> Findings:
    """Return the sentences of `findings`, and the schemes that comparisons leave out."""
    runs = list(runs)
    evidence = Evidence(experiment, runs, repetitions(runs) if gathered is None else gathered, states)
    alone = any(len(flows) == 1 for group in evidence.groups for flows in group.flows)
    rules = _OF_MIXES if evidence.mixed and not alone else RULES
    found = [sentence for rule in rules for sentence in rule(evidence)]
    always = sum(sentence.importance == ALWAYS for sentence in found)
    kept = sorted(range(len(found)), key=lambda place: (found[place].importance, place))[: always + MOST]
    return {"sentences": [found[place].text for place in sorted(kept)], "left_out": evidence.left_out()}
