"""Findings from results: suspicious conduct, and at most five sentences; `docs/reference/findings.md` lists the rules.

Each rule has a file of its own. It takes the evidence and yields sentences with their importance, made from metrics and
their intervals; rules neither measure nor compute anything anew.
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
"""Rules in the order of their sentences."""

_OF_MIXES: tuple[Rule, ...] = (failures, misconduct, competition, carried, places, headers, fairness, along, doubts)
"""Order of rules if no flow is alone: the shares of competitors are then most interesting."""


class Findings(TypedDict):
    """Findings of an experiment, as the explorer reads them."""

    sentences: list[str]
    left_out: dict[str, list[str]]
    """Schemes that comparisons leave out for their conduct, by path; paths without such schemes are absent."""


def findings(
    experiment: Experiment,
    runs: Iterable[RunTable],
    groups: Mapping[tuple[str, str], Repetitions] | None = None,
    states: Mapping[str, int] | None = None,
) -> list[str]:
    """Return suspicious conduct of flows, and at most `MOST` other sentences, the most important ones.

    `runs` are as in `show --json`, `groups` their `repetitions`, if at hand. Of many runs, `runs` may have those that
    failed and some others; then `states` has the number of all runs of each status. Metrics follow the convention that
    the experiment shows.
    """
    return all_findings(experiment, runs, groups, states)["sentences"]


def all_findings(
    experiment: Experiment,
    runs: Iterable[RunTable],
    groups: Mapping[tuple[str, str], Repetitions] | None = None,
    states: Mapping[str, int] | None = None,
) -> Findings:
    """Return the sentences of `findings`, and the schemes that comparisons leave out."""
    runs = list(runs)
    evidence = Evidence(experiment, runs, repetitions(runs) if groups is None else groups, states)
    alone = any(len(flows) == 1 for group in evidence.groups for flows in group.flows)
    rules = _OF_MIXES if evidence.mixed and not alone else RULES
    sentences = [sentence for rule in rules for sentence in rule(evidence)]
    always = sum(sentence.importance == ALWAYS for sentence in sentences)
    selection = sorted(range(len(sentences)), key=lambda place: (sentences[place].importance, place))[: always + MOST]
    return {"sentences": [sentences[place].text for place in sorted(selection)], "left_out": evidence.left_out()}
