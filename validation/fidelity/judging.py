"""Verdicts on all results of the scorecard."""

from collections.abc import Mapping
from pathlib import Path

from validation.fidelity import checks
from validation.fidelity.claims import check_mattering
from validation.fidelity.published_check import Results
from validation.fidelity.registration import verify
from validation.fidelity.verdict import JudgedResult, judge

SCORECARD = Path(__file__).resolve().parent.parent / "data" / "scorecard.json"


def judge_results(results: Mapping[str, Results]) -> list[JudgedResult]:
    """Return all results with their verdicts.

    Raises:
        UserError: A claim's file is wrong, or too many rows matter.
        UnregisteredError: A claim lacks a tolerance that was committed once.
    """
    judged_results = []
    for check in checks.every():
        claim, past = verify(check.file)
        judged_results.append(judge(claim, results.get(check.id), past))
    check_mattering(judged_result.claim for judged_result in judged_results)
    return judged_results
