"""The planned runs of cases: one run of every scheme, and a second one that is disturbed at a moment of the first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from pathlib import Path

from dumbbell.base.backend import Backend
from dumbbell.base.errors import UserError, listed
from dumbbell.catalog.conformance_cases import Case, Moment, Write
from dumbbell.catalog.experiment_file import ExperimentFile
from dumbbell.catalog.grids.flows import FlowPlan
from dumbbell.catalog.open_tables import Element
from dumbbell.catalog.path import PathModel
from dumbbell.catalog.scheme import Scheme
from dumbbell.execution.trust import trusted_member
from dumbbell.experiment import Experiment
from dumbbell.results import ACCEPTED, ResultsDirectory
from dumbbell.results.series.run_files import kept_files
from dumbbell_conformance.derived import DERIVED
from dumbbell_conformance.view import NotReachedError, RunView

UNDISTURBED, DISTURBED = "undisturbed", "disturbed"
"""Folders of the first runs, and of the second, disturbed runs."""
MOST_EVENTS_PER_S = 5_000_000
"""Events that a judged run may need in one simulated second: a link of 1 Gbit/s takes about 1,000,000. A scheme that
nothing slows down fails early, and not when its packet log is larger than the memory."""
_STEP_MS = 1.0
"""Time between writes of an application that writes at a rate, ms."""
_PLENTY = 10**9
"""Bytes of an application that always has more to send."""


@dataclass(frozen=True)
class PlannedCase:
    """An experiment of a case: with all schemes, or with one scheme, disturbed at `moment_s`."""

    case: Case
    experiment: Experiment
    folder: Path
    moment_s: float | None = None


def first_plan(case: Case, schemes: Mapping[str, Scheme], backend: Backend, folder: Path) -> PlannedCase:
    """Return the undisturbed experiment of a case for some schemes.

    Raises:
        UserError: the experiment cannot be run with the schemes.
    """
    assert case.scenario is not None, f"{case.file} has no scenario"
    log = case.scenario.log if backend.capabilities.virtual_time else "packets"
    moment_s = case.moment.at_s if case.moment is not None else None
    experiment_file = replace(case.scenario, title=case.title, backend=backend, log=log)
    return PlannedCase(case, _experiment(experiment_file, schemes), folder / case.name, moment_s)


def _experiment(experiment_file: ExperimentFile, schemes: Mapping[str, Scheme]) -> Experiment:
    return trusted_member(bounded(experiment_file), list(schemes), dict(schemes))


def bounded(experiment_file: ExperimentFile) -> ExperimentFile:
    """Return the experiment with the event limit of judged runs, unless its file sets another limit."""
    if experiment_file.most_events_per_s != ExperimentFile.most_events_per_s:
        return experiment_file
    return replace(experiment_file, most_events_per_s=MOST_EVENTS_PER_S)


def is_two_runs(case: Case) -> bool:
    """Return True if the moment of a case's disturbance comes from a first run."""
    moment = case.moment
    return moment is not None and (bool(moment.phase) or moment.stops)


def second_plan(case: Case, scheme: Scheme, first: RunView, folder: Path) -> PlannedCase:
    """Return the experiment that is disturbed at the moment shown by a scheme's first run.

    Raises:
        UnseenError: the scheme does not report its phase.
        NotReachedError: the first run did not reach the moment.
        UserError: the experiment cannot be run.
    """
    assert case.scenario is not None, f"{case.file} has no scenario"
    assert case.moment is not None, f"{case.file} has no moment"
    moment_s = find_moment(case.moment, first)
    path = disturbed_path(case.path, case.moment, moment_s, case.file)
    flows = case.scenario.flow or (FlowPlan(),)
    if case.moment.stops:
        flows = (replace(flows[0], application=_application(case.moment, moment_s, first)), *flows[1:])
    experiment_file = replace(case.scenario, title=case.title, own_paths={case.name: path}, flow=flows)
    experiment = _experiment(experiment_file, {scheme.name: scheme})
    return PlannedCase(case, experiment, folder / case.name / scheme.name, moment_s)


def find_moment(moment: Moment, first: RunView) -> float:
    """Return the time of a run's disturbance, s.

    Raises:
        UnseenError: the scheme does not report its phase.
        NotReachedError: the run did not reach the moment.
    """
    if moment.at_s is not None:
        return moment.at_s
    first.require_phase(moment.phase)
    visits = [visit for visit in first.visits if visit.phase == moment.phase and visit.start_s >= moment.from_s]
    if len(visits) < moment.nth:
        raise NotReachedError(f"came to `{moment.phase}` {len(visits)} times: {moment.nth} are needed")
    return visits[moment.nth - 1].start_s


def disturbed_path(path: PathModel, moment: Moment, moment_s: float, source: str) -> PathModel:
    """Return the path whose elements change at the moment.

    Raises:
        UserError: an element does not exist.
    """
    data, ack = deepcopy(path.data), deepcopy(path.ack)
    by_name: dict[str, Element] = {
        str(element_of_path["name"]): element_of_path for element_of_path in (*data, *ack) if "name" in element_of_path
    }
    for change in moment.changes:
        if change.element not in by_name:
            raise UserError(f"{source}: `when.change`: no element `{change.element}`: there are {listed(by_name)}")
        step = {"at_s": round(moment_s + change.after_s, 9)} | deepcopy(dict(change.settings))
        element = by_name[change.element]
        element["schedule"] = [*element.get("schedule", []), step]
    return replace(path, data=data, ack=ack)


def _application(moment: Moment, moment_s: float, first: RunView) -> dict[str, object]:
    """Return the application: until the moment as in the first run, afterwards as in the case."""
    start_s = float(first.specification["flows"][0]["start_s"])
    sent_packets, losses = first.packets.of("send", 0.0, moment_s), first.packets.of("lost", 0.0, moment_s)
    before = int(sent_packets.data_bytes.sum() - losses.data_bytes.sum())
    writes: list[tuple[float, int]] = [(0.0, max(before, 1))]
    for write in moment.writes:
        writes += _writes(write, (moment_s - start_s) * 1e3)
    return {"kind": "trace", "writes": [list(write_item) for write_item in sorted(writes)]}


def _writes(write: Write, moment_ms: float) -> Sequence[tuple[float, int]]:
    begin_ms = moment_ms + write.after_s * 1e3
    if not write.rate_mbps:
        return [(begin_ms, write.bytes or _PLENTY)]
    write_bytes = round(write.rate_mbps * _STEP_MS * 1e3 / 8.0)
    return [(begin_ms + step * _STEP_MS, write_bytes) for step in range(round(write.lasts_s * 1e3 / _STEP_MS))]


def view_of(plan: PlannedCase, results: ResultsDirectory, scheme: Scheme) -> RunView:
    """Return the view of a scheme's run.

    Raises:
        NotReachedError: the run failed.
    """
    run = next(run_of_plan for run_of_plan in results.planned() if run_of_plan.scheme == scheme.name)
    statistics = results.readable(run)
    if statistics["status"] not in ACCEPTED:
        status = statistics["status"]
        outcome = "the run failed" if status == "failed" else f"the run is {status}"
        raise NotReachedError(f"{outcome}: {statistics['reason']}")
    specification = results.experiment.specification(run)
    return RunView(kept_files(results.folder(run)), statistics, specification, scheme.name, DERIVED, plan.moment_s)
