"""Simulation of measured runs on their paths, and the comparison of both: `dumbbell reproduce`."""

import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from os import PathLike
from pathlib import Path

from dumbbell import catalog
from dumbbell.api.convert import import_results
from dumbbell.api.running import Interrupted
from dumbbell.base.errors import UserError, argument
from dumbbell.base.interrupts import interruptible
from dumbbell.base.names import fitted, unlike
from dumbbell.base.progress import Piece, Progress, span
from dumbbell.catalog.path import PathModel
from dumbbell.catalog.run_request import Names, names_of
from dumbbell.execution.check import check
from dumbbell.execution.estimate import pieces, seconds_of
from dumbbell.execution.perform import Execution, perform
from dumbbell.formats.pantheon_metadata import data_directories
from dumbbell.formats.staging import refuse_used
from dumbbell.machine.description import cpus
from dumbbell.present.tables import Table
from dumbbell.results import ResultsDirectory, locked, open_results, prepare
from dumbbell_reproduce.causes import Evidence, causes, estimate, exclusions
from dumbbell_reproduce.experiments import PlannedExperiment, Trial, experiments_on, fitted_host
from dumbbell_reproduce.kernel_tcp import LINUX, require_sockets
from dumbbell_reproduce.log_sets import SUFFIXES, log_sets
from dumbbell_reproduce.measured_path import MeasuredPath, given_paths, measured_paths, require_paths
from dumbbell_reproduce.measured_set import (
    Key,
    MeasuredRun,
    MeasuredSet,
    measured_set,
    require_known,
    without_copies,
)
from dumbbell_reproduce.reproduction import FittedHost, ReproductionData, ranked
from dumbbell_reproduce.score import Cause, Row, compare
from dumbbell_reproduce.sender_view import seen_by_senders
from dumbbell_reproduce.simulated import (
    OTHER_SOCKETS,
    SUSPECT,
    Plan,
    SimulatedPlan,
    is_suspected,
    plan,
)
from dumbbell_reproduce.trace_lookup import TraceFiles

RUNS = 5
"""Default number of simulated repetitions."""
MEASURED, SIMULATED, HOSTED = "measured", "simulated", "simulated-hosts"
"""Folders of the results directories."""
TRACES = "traces"
"""Folder of the trace files made from logs."""
SEEN = "-seen"
"""Ending of the folders with the simulated runs as their senders see them."""


class Reproduction(ReproductionData):
    """All measured runs with their simulated runs, and the causes of differences."""

    def save(self, directory: str | PathLike[str]) -> list[Path]:
        """Write `reproduce.html`, `reproduce.json` and `reproduce.csv` into a directory.

        Raises:
            OSError: a file cannot be written.
        """
        from dumbbell_reproduce.page import write

        return write(self, Path(directory))

    def table(self) -> Table:
        """Return the table of measured and simulated runs, most surprising first."""
        from dumbbell_reproduce.page import table

        return table(self)


def reproduce(
    source: str | PathLike[str],
    out: str | PathLike[str],
    *,
    runs: int = RUNS,
    stands_for: Mapping[str, str] | None = None,
    hold_out: Names = (),
    path: str | PathLike[str] | PathModel | None = None,
    sockets: str = LINUX,
    traces: str | PathLike[str] | None = None,
    seed: int = 1,
    jobs: int | None = None,
    resume: bool = False,
    most_minutes: float | None = None,
    command: Sequence[str] = (),
) -> Reproduction:
    """Simulate measured runs on the paths in their logs, as `dumbbell reproduce` does. Progress goes to stderr.

    docs/how-to/reproduce.md describes the steps. `out` gets the measured runs (`measured`) and the simulated ones
    (`simulated`, and `simulated-hosts` with host profiles) as results directories, and opportunities of logged links
    (`traces`).

    Args:
        source: data directories of Pantheon, captures, qlogs or JSON of iperf3, in it or below it; or results of
            `dumbbell import`.
        out: a new directory.
        runs: simulated repetitions.
        stands_for: built-in schemes by the measured schemes that they simulate: `{"NAME": "SCHEME"}`.
        hold_out: schemes whose runs get the host estimated from all other runs; by default each gets the host that
            fits the other runs on its path.
        path: path for all runs, by name or file, which replaces the paths in the logs.
        sockets: buffers of schemes of the kernel's TCP: `linux`, with Linux's defaults, or
            `unlimited`.
        traces: a directory with the trace files that Pantheon's metadata name, which is searched first.
        seed: seed of all random draws.
        jobs: processes; one per CPU by default.
        resume: go on with what is in `out`.
        most_minutes: refuse before any simulation if the printed estimate is longer than these minutes.
        command: arguments of the calling command line, which are recorded.

    Raises:
        dumbbell.Error: invalid input, described in one line.
        dumbbell.Interrupted: by Ctrl-C, SIGTERM or SIGHUP.
    """
    place, names = Path(out), names_of(hold_out)
    require_sockets(sockets)
    if path is not None and traces is not None:
        raise UserError(f"not beside {argument('path')}, which gives the whole path", argument="traces")
    given_model = None if path is None else path if isinstance(path, PathModel) else catalog.paths().find(str(path))
    if not resume:
        refuse_used(place, f", or add {argument('resume', 'True')} to go on")
    elif (
        place.exists()
        and any(place.iterdir())
        and not any((place / folder).is_dir() for folder in (MEASURED, SIMULATED))
    ):
        remedy = f"choose another {argument('out')}"
        raise UserError(f"{place}: is neither empty nor a reproduction's directory", fix=remedy)
    with _removed_if_refused(place):
        sets, left = _measured(Path(source), place / MEASURED, stands_for or {}, list(command))
        files = _trace_files(Path(source), sets, traces, place / TRACES)
        sets = without_copies(sets)
        require_known(sets, stands_for or {})
        _require_held(sets, names)
        left += [f"{data_set.name}: {reason}" for data_set in sets for reason in data_set.left_out]
        paths: list[tuple[MeasuredSet, MeasuredPath]] = []
        exact_plans: list[Plan] = []
        for data_set in sets:
            set_paths, set_reasons = (
                measured_paths(data_set, files) if given_model is None else given_paths(data_set, given_model)
            )
            left += [f"{data_set.name}: {reason}" for reason in set_reasons]
            for known_path in set_paths:
                try:
                    new_plan = plan(data_set, known_path, runs, seed, sockets)
                    check(new_plan.experiment)
                except UserError as error:
                    left.append(f"{data_set.name}: {error}")
                else:
                    exact_plans.append(new_plan)
                    paths.append((data_set, known_path))
        require_paths([path for _, path in paths], str(source), left)
        _say_how_long(exact_plans, jobs or cpus(), most_minutes)
    execution = Execution(jobs=jobs, command=command, resume=resume)
    with interruptible():
        exact = _performed(exact_plans, place / SIMULATED, execution)
        evidence = _evidence(exact)
        estimates = {key: estimate(run_evidence) for key, run_evidence in evidence.items()}
        plan_again = partial(plan, runs=runs, seed=seed, sockets=sockets)
        exclusion_causes = {key: exclusions(run_evidence, estimates[key]) for key, run_evidence in evidence.items()}
        comparisons = {
            key: compare(run_evidence.run, 0, run_evidence.simulated_runs)
            for key, run_evidence in evidence.items()
            if not exclusion_causes[key]
        }
        counted_estimates = {key: estimates[key] for key in comparisons}
        groups = _groups([run for _, path in paths for run in path.runs], names)
        trials = _trials(
            list(experiments_on(paths, comparisons, counted_estimates, groups, sockets, plan_again)),
            place / HOSTED,
            execution,
        )
        witnesses = {key for key, run_evidence in evidence.items() if run_evidence.run.name not in names}
        rows: list[Row] = []
        used: dict[Trial, list[float]] = {}
        for key, measured_evidence in evidence.items():
            of_path = [trial for trial in trials if trial.experiment.plan.path is measured_evidence.path]
            fitted_to = (
                fitted_host(measured_evidence.run, of_path, comparisons, witnesses) if key in comparisons else None
            )
            if fitted_to is not None:
                used.setdefault(fitted_to[0], []).append(fitted_to[1])
            rows += _rows(
                measured_evidence, exclusion_causes[key], of_path, None if fitted_to is None else fitted_to[0]
            )
        hosts = [
            FittedHost(
                experiment.plan.path.model.name, experiment.change.host, experiment.told_by, len(gains), min(gains)
            )
            for experiment, gains in ((trial.experiment, used[trial]) for trial in trials if trial in used)
        ]
    return Reproduction(
        source=Path(source),
        rows=ranked(rows),
        paths=tuple(path for _, path in paths),
        hosts=tuple(hosts),
        left_out=tuple(left),
        runs=runs,
    )


@contextmanager
def _removed_if_refused(out: Path) -> Iterator[None]:
    """Remove the imported files if a `UserError` shows that nothing can be simulated."""
    was_there, was_used = out.exists(), (out / MEASURED).exists()
    try:
        yield
    except UserError:
        if not was_used:
            for path in (out / MEASURED, out / TRACES) if was_there else (out,):
                shutil.rmtree(path, ignore_errors=True)
        raise


def _measured(
    source: Path, out: Path, stands_for: Mapping[str, str], command: list[str]
) -> tuple[list[MeasuredSet], list[str]]:
    """Return the measured runs as results, and the reasons for unusable sets.

    Other sources are imported into `out` first.
    """
    if not source.is_dir():
        raise UserError(f"{source}: no such directory")
    if (source / "experiment.toml").is_file():
        return [_set_of_results(source, stands_for)], []
    sets: list[MeasuredSet] = []
    unusable: list[str] = []
    for place, kind, name in _named_sets(source):
        _require_import_of(out / name, place)
        try:
            content = _imported(place, kind, out / name, command)
            sets.append(measured_set(content, name, place, stands_for))
        except UserError as error:
            unusable.append(str(error))
    if not sets:
        more = f"; and {len(unusable) - 3} more" if len(unusable) > 3 else ""
        raise UserError("; ".join(unusable[:3]) + more)
    return sets, unusable


PANTHEON = "pantheon"


def _named_sets(source: Path) -> list[tuple[Path, str, str]]:
    """Return the sets at or below `source`: directory, kind and name.

    Files inside Pantheon's data belong to Pantheon's set.

    Raises:
        UserError: there is no set.
    """
    pantheon = data_directories(source)
    other_logs = [
        (place, kind)
        for place, kind in log_sets(source)
        if not any(directory in (place, *place.parents) for directory in pantheon)
    ]
    if not pantheon and not other_logs:
        ends = ", ".join(f"*{suffix}" for suffixes in SUFFIXES.values() for suffix in suffixes)
        raise UserError(f"{source}: no measured runs: needed is pantheon_metadata.json, or {ends}, in it or below it")
    named_sets: list[tuple[Path, str, str]] = []
    for place, kind in [*((place, PANTHEON) for place in pantheon), *other_logs]:
        name = "-".join(place.relative_to(source).parts) or source.resolve().name
        several = len({log_kind for directory, log_kind in other_logs if directory == place}) > 1
        name = fitted(f"{name}-{kind}" if several else name, "measured")
        named_sets.append((place, kind, unlike(name, [earlier_name for _, _, earlier_name in named_sets])))
    return named_sets


def _imported(place: Path, kind: str, out: Path, command: list[str]) -> ResultsDirectory:
    """Return the results of an import, and import first if there are none.

    Raises:
        UserError: nothing can be imported.
    """
    if (out / "experiment.toml").is_file():
        return open_results(out)
    return open_results(import_results(kind, place, out, command=command).directory)


def _trace_files(
    source: Path, sets: list[MeasuredSet], given_directory: str | PathLike[str] | None, kept_directory: Path
) -> TraceFiles:
    """Return the trace files below `source`, or below the import's source if `source` has results.

    Raises:
        UserError: `given_directory` is no directory.
    """
    places = [data_set.source for data_set in sets]
    below = places[0] if (source / "experiment.toml").is_file() else source
    return TraceFiles(below, places, None if given_directory is None else Path(given_directory), kept_directory)


def _require_import_of(out: Path, place: Path) -> None:
    """Refuse to resume with results that were imported from another source.

    Raises:
        UserError: the source differs.
    """
    if (out / "experiment.toml").is_file():
        source = (open_results(out).shown_environment().get("imported") or {}).get("source")
        if source != str(place.resolve()):
            raise UserError(f"{out}: cannot resume: it is an import of {source}, not of {place}")


def _set_of_results(source: Path, stands_for: Mapping[str, str]) -> MeasuredSet:
    """Return the set in results of an import, whose source may be gone."""
    content = open_results(source)
    if content.experiment.capabilities.executes:
        raise UserError(f"{source}: was not measured elsewhere: allowed are results of `dumbbell import`")
    import_facts = content.shown_environment().get("imported") or {}
    import_source = Path(str(import_facts.get("source") or source))
    return measured_set(content, fitted(source.resolve().name, "measured"), import_source, stands_for)


def _require_held(sets: list[MeasuredSet], names: tuple[str, ...]) -> None:
    names_in_sets = sorted({run.name for data_set in sets for run in data_set.runs})
    for name in names:
        if name not in names_in_sets:
            raise UserError("no run is of this scheme", argument="hold_out", value=name, allowed=names_in_sets)
    if names and not set(names_in_sets) - set(names):
        raise UserError("all schemes: some have to tell the host profile", argument="hold_out")


def _say_how_long(plans: list[Plan], jobs: int, most_minutes: float | None) -> None:
    """Print the estimated duration of the simulated runs.

    Raises:
        UserError: the estimate is longer than `most_minutes`.
    """
    costs = [
        piece.seconds
        for plan_to_run in plans
        for piece in pieces(plan_to_run.experiment, plan_to_run.experiment.all_runs())
    ]
    takes_s = seconds_of(costs, jobs)
    longest_s = max(plan_to_run.experiment.duration_s for plan_to_run in plans)
    estimate_text = f"{len(costs)} simulated runs of {longest_s:g} s at most take about {span(takes_s)}"
    if most_minutes is not None and takes_s > 60.0 * most_minutes:
        remedy = f"ask for fewer {argument('runs')}, or take shorter logs"
        raise UserError(estimate_text, argument="most_minutes", value=f"{most_minutes:g}", fix=remedy)
    with Progress() as progress:
        progress.line(f"{estimate_text}, and the experiments on runs that are off up to ten times as long")


def _performed(plans: list[Plan], place: Path, execution: Execution) -> list[SimulatedPlan]:
    """Return all plans with their results, which are below `place` in directories named after the paths."""

    @contextmanager
    def hold() -> Iterator[list[ResultsDirectory]]:
        with ExitStack() as locks:
            directories = []
            for plan_to_run in plans:
                directory = place / plan_to_run.experiment.name
                locks.enter_context(locked(directory))
                # an interrupted call may have begun some of the runs
                directories.append(prepare(directory, plan_to_run.experiment, execution.resume))
            yield directories

    with Progress() as progress:
        parts, outcome = perform([plan_to_run.experiment for plan_to_run in plans], execution, hold, None, progress)
    if outcome.interrupted:
        raise Interrupted(place, outcome)
    return [_in_sender_view(plan_to_run, results, place) for plan_to_run, results in zip(plans, parts, strict=True)]


def _in_sender_view(done_plan: Plan, results: ResultsDirectory, place: Path) -> SimulatedPlan:
    if not any(run.view.sees_sender for run in done_plan.runs):
        return SimulatedPlan(done_plan, results)
    return SimulatedPlan(
        done_plan, results, seen_by_senders(results, place.with_name(place.name + SEEN) / done_plan.experiment.name)
    )


def _evidence(exact: list[SimulatedPlan]) -> dict[Key, Evidence]:
    """Return each measured run with its simulated runs."""
    by_run: dict[Key, Evidence] = {}
    runs = [(simulated_plan, run) for simulated_plan in exact for run in simulated_plan.plan.runs]
    with Progress() as progress:
        stage = progress.expect("measured runs", [Piece(run.label, 0.5) for _, run in runs])
        for simulated_plan, run in stage.iterate(runs):
            scheme_runs, cubic_runs = [
                tuple(simulated_plan.simulated_runs(run, name) for name in (first, first + OTHER_SOCKETS))
                if is_suspected(run)
                else ()
                for first in (run.scheme.name, SUSPECT)
            ]
            plan_runs = simulated_plan.plan.runs
            siblings = [other for other in plan_runs if other.name == run.name and other.key != run.key]
            measured_cubic = (
                [other for other in plan_runs if other.scheme.controller == SUSPECT] if is_suspected(run) else []
            )
            by_run[run.key] = Evidence(
                run,
                simulated_plan.plan.path,
                simulated_plan.simulated_runs(run),
                scheme_runs,
                cubic_runs,
                siblings,
                measured_cubic,
            )
    return by_run


def _trials(experiments: Sequence[PlannedExperiment], place: Path, execution: Execution) -> list[Trial]:
    """Return the experiments with their simulated runs."""
    if not experiments:
        return []
    performed_plans = _performed([experiment.plan for experiment in experiments], place, execution)
    return [
        Trial(experiment, {run.key: performed_plan.simulated_runs(run) for run in experiment.plan.runs})
        for experiment, performed_plan in zip(experiments, performed_plans, strict=True)
    ]


def _groups(all_runs: list[MeasuredRun], names: tuple[str, ...]) -> list[list[Key]]:
    """Return the groups of runs that are held out together: the runs of some schemes, else every second run."""
    if names:
        return [[run.key for run in all_runs if run.name in names]]
    keys = [run.key for run in sorted(all_runs, key=lambda run: (run.name, run.key))]
    return [keys[::2], keys[1::2]]


def _rows(
    evidence: Evidence, exclusion_causes: tuple[Cause, ...], trials: Sequence[Trial], host: Trial | None
) -> list[Row]:
    """Return the rows for the flows of a measured run. Only the row of all flows together has causes of its own."""
    run, path = evidence.run, evidence.path.model.name
    beside = evidence.simulated_runs if host is None else host.simulated_runs[run.key]
    folder = next(iter(beside.folders), None)
    row_causes = exclusion_causes
    rows: list[Row] = []
    for flow in run.flows:
        exact = compare(run, flow, evidence.simulated_runs)
        if flow == 0 and not exclusion_causes:
            changes = [
                (trial.experiment.change, trial.comparisons[run.key])
                for trial in trials
                if run.key in trial.comparisons
            ]
            row_causes = causes(evidence, exact, changes)
        host_comparison = None if host is None else compare(run, flow, beside)
        rows.append(Row(run, flow, path, exact, host_comparison, row_causes, folder))
    return rows
