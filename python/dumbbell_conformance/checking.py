"""The cases of a suite with some schemes: the applicable cases, their runs, and the verdicts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from dumbbell.base.backend import Backend
from dumbbell.base.errors import UserError, listed
from dumbbell.base.progress import Piece, Progress
from dumbbell.catalog.conformance_cases import Case, Check, Suite
from dumbbell.catalog.outside.plugin_schemes import NO_ECN, plugin_sha256, uses_ecn
from dumbbell.catalog.scheme import Scheme
from dumbbell.execution import check as execution_check
from dumbbell.results import ResultsDirectory
from dumbbell_conformance.judging import FAIL, NOT_APPLICABLE, NOT_REACHED, PASS, Verdict, judge_run
from dumbbell_conformance.measures import require_measure
from dumbbell_conformance.plans import (
    DISTURBED,
    UNDISTURBED,
    PlannedCase,
    first_plan,
    is_two_runs,
    second_plan,
    view_of,
)
from dumbbell_conformance.vectors.scripts import ScriptResult
from dumbbell_conformance.view import NotReachedError, UnseenError

Perform = Callable[[Sequence[PlannedCase]], Sequence[ResultsDirectory]]
"""Function that makes the runs of planned experiments."""

RunScripts = Callable[[str, Scheme], Sequence[ScriptResult]]
"""Function that runs the scripts of a group with a scheme's controller."""


def chosen_cases(suite: Suite, numbers_or_labels: Iterable[str]) -> tuple[Case, ...]:
    """Return the cases with some numbers (`7` means 7a and 7b), or all without numbers.

    Raises:
        UserError: a number has no case, or a case has an invalid check.
    """
    labels = [case.label for case in suite.cases]
    numbers = [str(case.number) for case in suite.cases]
    names = list(numbers_or_labels)
    for name in names:
        if name not in labels and name not in numbers:
            raise UserError(f"`{suite.name}` has no such case", argument="cases", value=name, allowed=labels)
    cases = [case for case in suite.cases if not names or case.label in names or str(case.number) in names]
    for case in cases:
        for check in case.checks:
            require_measure(check)
    return tuple(cases)


def why_not(suite: Suite, case: Case, scheme: Scheme, backend: Backend) -> str:
    """Return the reason why a case does not apply to a scheme; empty if it applies."""
    can = backend.capabilities
    if case.kind == "script" and not scheme.is_outside and scheme.name not in case.controllers:
        return f"its scripts are about {listed(case.controllers)}"
    if not scheme.is_outside and not suite.covers(scheme.name, scheme.controller if scheme.kind == "core" else ""):
        return f"{suite.title} is about {listed([*suite.controllers, *suite.real])}"
    is_of_both = case.kind == "script" and not scheme.is_outside  # the built-in controllers serve both transports
    if not is_of_both and not set(case.transports) & set(scheme.transports):
        return f"holds for {listed(case.transports)}: the scheme's transport is that of {listed(scheme.transports)}"
    if scheme.real and not can.real_packets:
        return "needs real packets: `--backend emu`"
    if case.controllers and scheme.kind == "core" and scheme.controller not in case.controllers:
        return case.otherwise or f"the case is about {listed(case.controllers)}"
    if scheme.is_outside and _gives_ecn(case):
        sha256 = plugin_sha256(scheme.code)
        if not uses_ecn(scheme.controller, scheme.code, sha256, scheme.transport):
            return NO_ECN
    if scheme.real and _sets_up_sender(case):
        return "the case sets up the built-in transport or its application"
    if can.real_packets and is_two_runs(case):
        return "its moment is found by repeating a run, which real packets do not do"
    if can.real_packets and all(needs_state(check) for check in case.checks if not check.reach):
        return "needs the controller's state"
    return ""


def _refusal(case: Case, scheme: Scheme, backend: Backend, out: Path) -> str:
    """Return the reason why a scheme cannot have the transport of a case; empty if it can."""
    if case.scenario is None or not any(flow.transport for flow in case.scenario.flow if not flow.scheme):
        return ""
    try:
        execution_check.check(first_plan(case, {scheme.name: scheme}, backend, out).experiment)
    except UserError as error:
        return f"the scheme cannot have the transport of the case: {error}"
    return ""


def _script_verdicts(case: Case, scheme: Scheme, results: Sequence[ScriptResult]) -> Verdict:
    """Return the verdict on scripts: all their conditions must hold."""
    checks = [(result.name, check) for result in results for check in result.checks]
    failed_checks = [(name, check) for name, check in checks if check.holds is False]
    by_script = {result.name: _script_verdict(result) for result in results}
    if failed_checks:
        name, check = failed_checks[0]
        reason = (
            f"{len(failed_checks)} of {len(checks)} conditions do not hold, first in `{name}`, line {check.line}, "
            f"{check.time_s:g} s: {check.condition} expected, {check.found} found ({check.source})"
        )
        return Verdict(case, scheme.name, scheme.controller, FAIL, reason=reason, scripts=by_script)
    held_count = sum(check.holds is True for _, check in checks)
    verdict = PASS if held_count else NOT_APPLICABLE
    left_out = [
        f"`{result.name}` is not applicable: {result.not_applicable}" for result in results if result.not_applicable
    ]
    reason = "; ".join([f"{held_count} of {len(checks)} conditions are seen", *left_out])
    return Verdict(case, scheme.name, scheme.controller, verdict, reason=reason, scripts=by_script)


def _script_verdict(result: ScriptResult) -> str:
    """Return the verdict on one script. Known failures of the built-in controller excuse no other controller."""
    if any(check.holds is False for check in result.checks):
        return FAIL
    return PASS if any(check.holds for check in result.checks) else NOT_APPLICABLE


def _sets_up_sender(case: Case) -> bool:
    flows = () if case.scenario is None else case.scenario.flow
    return any(not flow.scheme and (flow.transport or flow.application) for flow in flows)


def _gives_ecn(case: Case) -> bool:
    """Return True if a case enables ECN in the flows that it judges."""
    flows = () if case.scenario is None else case.scenario.flow
    return any(not flow.scheme and flow.transport.get("ecn", "off") != "off" for flow in flows)


def needs_state(check: Check) -> bool:
    """Return True if a check needs more than packets."""
    return "phase" in check.arguments or "phases" in check.arguments or "field" in check.arguments


def verdicts(
    suite: Suite,
    cases: Sequence[Case],
    schemes: Mapping[str, Scheme],
    backend: Backend,
    out: Path,
    perform: Perform,
    run_scripts: RunScripts,
    progress: Progress,
) -> list[Verdict]:
    """Return the verdicts on all cases with all schemes, case by case. The runs are made below `out`."""
    by_case: dict[tuple[str, str], Verdict] = {}
    first: list[PlannedCase] = []
    for case in cases:
        fitting: dict[str, Scheme] = {}
        for name, scheme in schemes.items():
            if reason := why_not(suite, case, scheme, backend) or _refusal(case, scheme, backend, out):
                by_case[case.label, name] = Verdict(case, name, scheme.controller, NOT_APPLICABLE, reason=reason)
            elif case.kind == "script":
                by_case[case.label, name] = _script_verdicts(case, scheme, run_scripts(case.script, scheme))
            else:
                fitting[name] = scheme
        if fitting:
            first.append(first_plan(case, fitting, backend, out / UNDISTURBED))
    second: list[PlannedCase] = []

    def judge(plan: PlannedCase, results: ResultsDirectory, name: str, is_last: bool) -> None:
        """Judge the run of a scheme, or plan its disturbed run."""
        case, scheme = plan.case, schemes[name]
        try:
            view = view_of(plan, results, scheme)
            if is_last:
                by_case[case.label, name] = judge_run(case, name, scheme.controller, view)
            else:
                second.append(second_plan(case, scheme, view, out / DISTURBED))
        except (UnseenError, NotReachedError) as error:
            verdict = NOT_APPLICABLE if isinstance(error, UnseenError) else NOT_REACHED
            by_case[case.label, name] = Verdict(case, name, scheme.controller, verdict, reason=str(error))

    for plans in (first, second):
        plan_results = list(zip(plans, perform(plans), strict=True)) if plans else []
        runs = [(plan, results, name) for plan, results in plan_results for name in plan.experiment.labels]
        stage = progress.expect("runs judged", [Piece(f"{item[0].case.label} {item[2]}", 0.3) for item in runs])
        for plan, results, name in stage.iterate(runs):
            judge(plan, results, name, is_last=plans is second or not is_two_runs(plan.case))
    return [by_case[case.label, name] for case in cases for name in schemes]
