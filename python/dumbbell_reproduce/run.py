"""Simulate runs that were measured elsewhere, and compare both: `dumbbell reproduce`."""

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
from dumbbell_reproduce.experiments import Planned, Trial, experiments_on, fitted_host
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
from dumbbell_reproduce.reproduction import FittedHost, Found, ranked
from dumbbell_reproduce.score import Cause, Row, compare
from dumbbell_reproduce.sender_view import seen_by_senders
from dumbbell_reproduce.simulated import (
    OTHER_SOCKETS,
    SUSPECT,
    Made,
    Plan,
    is_suspected,
    plan,
)
from dumbbell_reproduce.trace_lookup import TraceFiles

RUNS = 5
"""Simulated repetitions unless asked for others."""
MEASURED, SIMULATED, HOSTED = "measured", "simulated", "simulated-hosts"
"""Folders of the results directories."""
TRACES = "traces"
"""Folder of the trace files made from logs."""
SEEN = "-seen"
"""Ending of the folders with the same simulated runs as their senders saw them."""


class Reproduction(Found):
    """Every measured run beside the simulated ones, and what explains the differences."""

    def save(self, directory: str | PathLike[str]) -> list[Path]:
        """Writes `reproduce.html`, `reproduce.json` and `reproduce.csv` into a directory.

        Raises:
            OSError: one cannot be written.
        """
        from dumbbell_reproduce.page import write

        return write(self, Path(directory))

    def table(self) -> Table:
        """The measured runs beside the simulated ones, most surprising first."""
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
    """Simulates measured runs on the paths that their logs tell, as `dumbbell reproduce` does; progress goes to stderr.

    docs/how-to/reproduce.md says what is done. `out` gets the measured runs (`measured`) and the simulated ones
    (`simulated`, and `simulated-hosts` with host profiles) as results directories, and opportunities of logged links
    (`traces`).

    Args:
        source: data directories of Pantheon, captures, qlogs or JSON of iperf3, in it or below it; or results of
            `dumbbell import`.
        out: a new directory.
        runs: simulated repetitions.
        stands_for: the scheme of ours that simulates each of these measured schemes: `{"theirs": "ours"}`.
        hold_out: schemes whose runs have the host that all others tell; unless given each run has the host that fits
            the other runs on its path.
        path: over which all runs are simulated, by name or file, whatever the logs tell.
        sockets: buffers of schemes of the kernel's TCP: `linux`, as they are unless somebody changes them, or
            `unlimited`.
        traces: a directory with the trace files that Pantheon's metadata name, which is searched first.
        seed: what every random draw follows from.
        jobs: processes; one per processor unless given.
        resume: go on with what is in `out`.
        most_minutes: refuse, before anything is simulated, what takes longer by the estimate, which is printed.
        command: the words of the command line that this call comes from; recorded.

    Raises:
        dumbbell.Error: something that is not allowed, in one line.
        dumbbell.Interrupted: by Ctrl-C, SIGTERM or SIGHUP.
    """
    place, names = Path(out), names_of(hold_out)
    require_sockets(sockets)
    if path is not None and traces is not None:
        raise UserError(f"not beside {argument('path')}, which gives the whole path", argument="traces")
    given = None if path is None else path if isinstance(path, PathModel) else catalog.paths().find(str(path))
    if not resume:
        refuse_used(place, f", or add {argument('resume', 'True')} to go on")
    elif place.exists() and any(place.iterdir()) and not any((place / each).is_dir() for each in (MEASURED, SIMULATED)):
        remedy = f"choose another {argument('out')}"
        raise UserError(f"{place}: is neither empty nor a reproduction's directory", fix=remedy)
    with _removed_if_refused(place):
        sets, left = _measured(Path(source), place / MEASURED, stands_for or {}, list(command))
        files = _trace_files(Path(source), sets, traces, place / TRACES)
        sets = without_copies(sets)
        require_known(sets, stands_for or {})
        _require_held(sets, names)
        left += [f"{each.name}: {reason}" for each in sets for reason in each.left_out]
        paths: list[tuple[MeasuredSet, MeasuredPath]] = []
        exact_plans: list[Plan] = []
        for each in sets:
            known, unknown = measured_paths(each, files) if given is None else given_paths(each, given)
            left += [f"{each.name}: {reason}" for reason in unknown]
            for known_path in known:
                try:
                    planned = plan(each, known_path, runs, seed, sockets)
                    check(planned.experiment)
                except UserError as error:
                    left.append(f"{each.name}: {error}")
                else:
                    exact_plans.append(planned)
                    paths.append((each, known_path))
        require_paths([path for _, path in paths], str(source), left)
        _say_how_long(exact_plans, jobs or cpus(), most_minutes)
    how = Execution(jobs=jobs, command=command, resume=resume)
    with interruptible():
        exact = _performed(exact_plans, place / SIMULATED, how)
        evidence = _evidence(exact)
        estimates = {key: estimate(each) for key, each in evidence.items()}
        simulated = partial(plan, runs=runs, seed=seed, sockets=sockets)
        excluded = {key: exclusions(each, estimates[key]) for key, each in evidence.items()}
        counted = {key: compare(each.run, 0, each.beside) for key, each in evidence.items() if not excluded[key]}
        told = {key: estimates[key] for key in counted}
        groups = _groups([run for _, path in paths for run in path.runs], names)
        trials = _trials(list(experiments_on(paths, counted, told, groups, sockets, simulated)), place / HOSTED, how)
        witnesses = {key for key, each in evidence.items() if each.run.name not in names}
        rows: list[Row] = []
        used: dict[Trial, list[float]] = {}
        for key, one in evidence.items():
            of_path = [each for each in trials if each.planned.plan.path is one.path]
            fitted_to = fitted_host(one.run, of_path, counted, witnesses) if key in counted else None
            if fitted_to is not None:
                used.setdefault(fitted_to[0], []).append(fitted_to[1])
            rows += _rows(one, excluded[key], of_path, None if fitted_to is None else fitted_to[0])
        hosts = [
            FittedHost(of.plan.path.model.name, of.change.host, of.told_by, len(gains), min(gains))
            for of, gains in ((trial.planned, used[trial]) for trial in trials if trial in used)
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
    """Nothing that was imported is left where it turns out that there is nothing to simulate."""
    was_there, was_used = out.exists(), (out / MEASURED).exists()
    try:
        yield
    except UserError:
        if not was_used:
            for made in (out / MEASURED, out / TRACES) if was_there else (out,):
                shutil.rmtree(made, ignore_errors=True)
        raise


def _measured(
    source: Path, out: Path, stands_for: Mapping[str, str], command: list[str]
) -> tuple[list[MeasuredSet], list[str]]:
    """The measured runs as results: imported into `out`, unless they are results already; and what is unusable."""
    if not source.is_dir():
        raise UserError(f"{source}: no such directory")
    if (source / "experiment.toml").is_file():
        return [_of_results(source, stands_for)], []
    found: list[MeasuredSet] = []
    unusable: list[str] = []
    for place, kind, name in _named_sets(source):
        _require_import_of(out / name, place)
        try:
            content = _imported(place, kind, out / name, command)
            found.append(measured_set(content, name, place, stands_for))
        except UserError as error:
            unusable.append(str(error))
    if not found:
        more = f"; and {len(unusable) - 3} more" if len(unusable) > 3 else ""
        raise UserError("; ".join(unusable[:3]) + more)
    return found, unusable


PANTHEON = "pantheon"


def _named_sets(source: Path) -> list[tuple[Path, str, str]]:
    """The sets at or below `source`: directory, kind, and a name for each. What Pantheon left is Pantheon's.

    Raises:
        UserError: there is none.
    """
    pantheon = data_directories(source)
    others = [
        (place, kind)
        for place, kind in log_sets(source)
        if not any(each in (place, *place.parents) for each in pantheon)
    ]
    if not pantheon and not others:
        ends = ", ".join(f"*{each}" for suffixes in SUFFIXES.values() for each in suffixes)
        raise UserError(f"{source}: no measured runs: needed is pantheon_metadata.json, or {ends}, in it or below it")
    found: list[tuple[Path, str, str]] = []
    for place, kind in [*((place, PANTHEON) for place in pantheon), *others]:
        name = "-".join(place.relative_to(source).parts) or source.resolve().name
        several = len({each for of, each in others if of == place}) > 1
        name = fitted(f"{name}-{kind}" if several else name, "measured")
        found.append((place, kind, unlike(name, [each for _, _, each in found])))
    return found


def _imported(place: Path, kind: str, out: Path, command: list[str]) -> ResultsDirectory:
    """The results of an import, which may have been made before.

    Raises:
        UserError: nothing can be imported.
    """
    if (out / "experiment.toml").is_file():
        return open_results(out)
    return open_results(import_results(kind, place, out, command=command).directory)


def _trace_files(source: Path, sets: list[MeasuredSet], given: str | PathLike[str] | None, kept: Path) -> TraceFiles:
    """The trace files beside the measured sets; beside what was imported, if `source` has results.

    Raises:
        UserError: `given` is no directory.
    """
    places = [each.source for each in sets]
    below = places[0] if (source / "experiment.toml").is_file() else source
    return TraceFiles(below, places, None if given is None else Path(given), kept)


def _require_import_of(out: Path, place: Path) -> None:
    """Refuse to go on with what was imported before from other files.

    Raises:
        UserError: it was.
    """
    if (out / "experiment.toml").is_file():
        source = (open_results(out).shown_environment().get("imported") or {}).get("source")
        if source != str(place.resolve()):
            raise UserError(f"{out}: cannot resume: it is an import of {source}, not of {place}")


def _of_results(source: Path, stands_for: Mapping[str, str]) -> MeasuredSet:
    """Results of an import, whose source may be gone."""
    content = open_results(source)
    if content.experiment.capabilities.executes:
        raise UserError(f"{source}: was not measured elsewhere: allowed are results of `dumbbell import`")
    imported = content.shown_environment().get("imported") or {}
    where = Path(str(imported.get("source") or source))
    return measured_set(content, fitted(source.resolve().name, "measured"), where, stands_for)


def _require_held(sets: list[MeasuredSet], names: tuple[str, ...]) -> None:
    known = sorted({run.name for each in sets for run in each.runs})
    for name in names:
        if name not in known:
            raise UserError("no run is of this scheme", argument="hold_out", value=name, allowed=known)
    if names and not set(known) - set(names):
        raise UserError("all schemes: some have to tell the host profile", argument="hold_out")


def _say_how_long(plans: list[Plan], jobs: int, most_minutes: float | None) -> None:
    """Say how long the simulated runs take, by the estimate.

    Raises:
        UserError: that is longer than allowed.
    """
    costs = [piece.seconds for each in plans for piece in pieces(each.experiment, each.experiment.all_runs())]
    takes_s = seconds_of(costs, jobs)
    longest_s = max(each.experiment.duration_s for each in plans)
    what = f"{len(costs)} simulated runs of {longest_s:g} s at most take about {span(takes_s)}"
    if most_minutes is not None and takes_s > 60.0 * most_minutes:
        remedy = f"ask for fewer {argument('runs')}, or take shorter logs"
        raise UserError(what, argument="most_minutes", value=f"{most_minutes:g}", fix=remedy)
    with Progress() as progress:
        progress.line(f"{what}, and the experiments on runs that are off up to ten times as long")


def _performed(plans: list[Plan], place: Path, how: Execution) -> list[Made]:
    """Every plan with its results, which are below `place` in a directory of its path's name."""

    @contextmanager
    def hold() -> Iterator[list[ResultsDirectory]]:
        with ExitStack() as held:
            found = []
            for each in plans:
                directory = place / each.experiment.name
                held.enter_context(locked(directory))
                # one that was stopped may have begun some of them
                found.append(prepare(directory, each.experiment, how.resume))
            yield found

    with Progress() as progress:
        parts, outcome = perform([each.experiment for each in plans], how, hold, None, progress)
    if outcome.interrupted:
        raise Interrupted(place, outcome)
    return [_seen(each, results, place) for each, results in zip(plans, parts, strict=True)]


def _seen(of: Plan, results: ResultsDirectory, place: Path) -> Made:
    if not any(run.view.sees_sender for run in of.runs):
        return Made(of, results)
    return Made(of, results, seen_by_senders(results, place.with_name(place.name + SEEN) / of.experiment.name))


def _evidence(exact: list[Made]) -> dict[Key, Evidence]:
    """Each measured run with the simulated ones beside it."""
    found: dict[Key, Evidence] = {}
    runs = [(each, run) for each in exact for run in each.plan.runs]
    with Progress() as progress:
        stage = progress.expect("measured runs", [Piece(run.label, 0.5) for _, run in runs])
        for each, run in stage.each(runs):
            own, cubic = [
                tuple(each.beside(run, name) for name in (first, first + OTHER_SOCKETS)) if is_suspected(run) else ()
                for first in (run.scheme.name, SUSPECT)
            ]
            others = each.plan.runs
            siblings = [other for other in others if other.name == run.name and other.key != run.key]
            measured = [other for other in others if other.scheme.controller == SUSPECT] if is_suspected(run) else []
            found[run.key] = Evidence(run, each.plan.path, each.beside(run), own, cubic, siblings, measured)
    return found


def _trials(every: Sequence[Planned], place: Path, how: Execution) -> list[Trial]:
    """The experiments with their simulated runs."""
    if not every:
        return []
    made = _performed([each.plan for each in every], place, how)
    return [
        Trial(each, {run.key: of.beside(run) for run in each.plan.runs}) for each, of in zip(every, made, strict=True)
    ]


def _groups(everything: list[MeasuredRun], names: tuple[str, ...]) -> list[list[Key]]:
    """The runs that are held out together: those of some schemes, else every second run."""
    if names:
        return [[run.key for run in everything if run.name in names]]
    keys = [run.key for run in sorted(everything, key=lambda run: (run.name, run.key))]
    return [keys[::2], keys[1::2]]


def _rows(evidence: Evidence, excluded: tuple[Cause, ...], trials: Sequence[Trial], host: Trial | None) -> list[Row]:
    """The flows of a measured run; causes are told of all together."""
    run, path = evidence.run, evidence.path.model.name
    beside = evidence.beside if host is None else host.found[run.key]
    simulated = next(iter(beside.folders), None)
    found = excluded
    rows: list[Row] = []
    for flow in run.flows:
        exact = compare(run, flow, evidence.beside)
        if flow == 0 and not excluded:
            made = [(each.planned.change, each.comparisons[run.key]) for each in trials if run.key in each.comparisons]
            found = causes(evidence, exact, made)
        hosted = None if host is None else compare(run, flow, beside)
        rows.append(Row(run, flow, path, exact, hosted, found, simulated))
    return rows
