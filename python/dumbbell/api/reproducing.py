"""Simulate runs that were measured elsewhere, and compare both: `dumbbell reproduce`."""

import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from os import PathLike
from pathlib import Path

from dumbbell import catalog
from dumbbell.api.convert import import_iperf3, import_pantheon, import_pcap, import_qlog, pantheon_sets
from dumbbell.api.records.results import Results
from dumbbell.api.running import Interrupted
from dumbbell.api.selection import Names, listed_names
from dumbbell.base.errors import UserError, listed, nearest
from dumbbell.base.interrupts import interruptible
from dumbbell.base.names import fitted, unlike
from dumbbell.base.progress import Piece, Progress, span
from dumbbell.catalog.path import PathModel
from dumbbell.execution.check import check
from dumbbell.execution.estimate import pieces, seconds_of
from dumbbell.execution.perform import Execution, perform
from dumbbell.formats.log_sets import SUFFIXES, log_sets
from dumbbell.formats.staging import refuse_used
from dumbbell.machine.description import cpus
from dumbbell.present.tables import Table
from dumbbell.results import ResultsDirectory, locked, open_results, prepare
from dumbbell.studies.reproduce.causes import Evidence, causes, estimate, exclusions
from dumbbell.studies.reproduce.host import HostEstimate, HostProfile
from dumbbell.studies.reproduce.measured import MeasuredRun, MeasuredSet, measured_set, require_known, without_copies
from dumbbell.studies.reproduce.measured_path import MeasuredPath, given_paths, measured_paths, require_paths
from dumbbell.studies.reproduce.reproduction import Found, Held, ranked
from dumbbell.studies.reproduce.score import Cause, Row, compare
from dumbbell.studies.reproduce.sides import seen_by_senders
from dumbbell.studies.reproduce.simulated import (
    LINUX,
    OTHER_SOCKETS,
    SOCKETS,
    SUSPECT,
    Made,
    Plan,
    Simulated,
    is_suspected,
    plan,
)
from dumbbell.studies.reproduce.trace_lookup import TraceFiles

RUNS = 5
"""Simulated repetitions unless asked for others."""
MEASURED, SIMULATED, HOSTED = "measured", "simulated", "simulated-hosts"
"""Folders of the results directories."""
TRACES = "traces"
"""Folder of the trace files made from logs."""
SEEN = "-seen"
"""Ending of the folders with the same simulated runs as their senders saw them."""

Key = tuple[str, str, int]


class Reproduction(Found):
    """Every measured run beside the simulated ones, and what explains the differences."""

    def save(self, directory: str | PathLike[str]) -> list[Path]:
        """Writes `reproduce.html`, `reproduce.json` and `reproduce.csv` into a directory.

        Raises:
            OSError: one cannot be written.
        """
        from dumbbell.studies.reproduce.page import write

        return write(self, Path(directory))

    def table(self) -> Table:
        """The measured runs beside the simulated ones, most surprising first."""
        from dumbbell.studies.reproduce.page import table

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

    docs/reproduce.md says what is done. `out` gets the measured runs (`measured`) and the simulated ones (`simulated`,
    and `simulated-hosts` with host profiles) as results directories, and opportunities of logged links (`traces`).

    Args:
        source: data directories of Pantheon, captures, qlogs or JSON of iperf3, in it or below it; or results of
            `dumbbell import`.
        out: a new directory.
        runs: simulated repetitions.
        stands_for: the scheme of ours that simulates each of these measured schemes: `{"theirs": "ours"}`.
        hold_out: schemes for whose runs the host profile is used, as all others tell it; unless given each half of all
            runs has the profile that the other half tells.
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
    place, names = Path(out), listed_names(hold_out)
    if sockets not in SOCKETS:
        raise UserError(f"--sockets {sockets}{nearest(sockets, SOCKETS)}: allowed are {listed(SOCKETS)}")
    if path is not None and traces is not None:
        raise UserError("--traces: not beside --path, which gives the whole path")
    given = None if path is None else path if isinstance(path, PathModel) else catalog.paths().find(str(path))
    if not resume:
        refuse_used(place, ", or add --resume to go on")
    elif place.exists() and any(place.iterdir()) and not any((place / each).is_dir() for each in (MEASURED, SIMULATED)):
        raise UserError(f"{place}: is neither empty nor a reproduction's directory: choose another --out")
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
        trusted = {key: HostEstimate() if excluded[key] else each for key, each in estimates.items()}
        held, plans = _held([(of, path) for of, path in paths], trusted, names, simulated)
        hosted = _performed(plans, place / HOSTED, how) if plans else []
        beside = {run.key: each.beside(run) for each in hosted for run in each.plan.runs}
        buffers = {
            run.key: each.plan.host.buffer_packets for each in hosted if each.plan.host for run in each.plan.runs
        }
        rows = []
        for key, one in evidence.items():
            rows += _rows(one, estimates[key], excluded[key], beside.get(key), buffers.get(key))
    return Reproduction(
        source=Path(source),
        rows=ranked(rows),
        paths=tuple(path for _, path in paths),
        hosts=tuple(held),
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
_IMPORTS: Mapping[str, Callable[..., Results]] = {
    PANTHEON: import_pantheon,
    "pcap": import_pcap,
    "qlog": import_qlog,
    "iperf3": import_iperf3,
}
"""How each kind of set is imported."""


def _named_sets(source: Path) -> list[tuple[Path, str, str]]:
    """The sets at or below `source`: directory, kind, and a name for each. What Pantheon left is Pantheon's.

    Raises:
        UserError: there is none.
    """
    pantheon = pantheon_sets(source)
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
    return open_results(_IMPORTS[kind](place, out, command=command).directory)


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
            raise UserError(
                f"--hold-out {name}: no run is of `{name}`{nearest(name, known)}: there are {listed(known)}"
            )
    if names and not set(known) - set(names):
        raise UserError("--hold-out: all schemes: some have to tell the host profile")


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
        raise UserError(f"--most-minutes {most_minutes:g}: {what}: ask for fewer --runs, or take shorter logs")
    with Progress() as progress:
        progress.line(f"{what}, and those with host profiles up to as long again")


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


def _held(
    paths: list[tuple[MeasuredSet, MeasuredPath]],
    estimates: Mapping[Key, HostEstimate],
    names: tuple[str, ...],
    simulated: Callable[..., Plan],
) -> tuple[list[Held], list[Plan]]:
    """Host profiles, and what is simulated with each: the runs on a path that did not tell it."""
    everything = sorted((run for _, path in paths for run in path.runs), key=lambda run: (run.name, run.key))
    held, plans = [], []
    for number, used in enumerate(_groups(everything, names), 1):
        keys = {run.key for run in used}
        for of, path in paths:
            only = [run for run in path.runs if run.key in keys]
            same_path = [estimates[run.key] for run in path.runs if run.key not in keys]
            same_host = [
                estimates[run.key]
                for other, beside in paths
                for run in beside.runs
                if other.host == of.host and run.key not in keys
            ]
            profile = HostProfile.of(same_path, same_host)
            if only and not profile.is_empty:
                held.append(Held(path.model.name, profile, len(same_path), len(only)))
                plans.append(simulated(of, path, host=profile, only=only, suffix=f"-host-{number}"))
    return held, plans


def _groups(everything: list[MeasuredRun], names: tuple[str, ...]) -> list[list[MeasuredRun]]:
    """The runs that are held out together: those of some schemes, else every second run."""
    if names:
        return [[run for run in everything if run.name in names]]
    return [everything[::2], everything[1::2]] if len(everything) > 1 else []


def _rows(
    evidence: Evidence,
    told: HostEstimate,
    excluded: tuple[Cause, ...],
    hosted: Simulated | None,
    buffer_packets: int | None,
) -> list[Row]:
    """The flows of a measured run; causes are told of all together."""
    run, path = evidence.run, evidence.path.model.name
    simulated = next(iter((hosted or evidence.beside).folders), None)
    found = excluded
    rows: list[Row] = []
    for flow in run.flows:
        exact = compare(run, flow, evidence.beside)
        host = None if hosted is None else compare(run, flow, hosted)
        if flow == 0 and not excluded:
            found = causes(evidence, told, exact, host, buffer_packets)
        rows.append(Row(run, flow, path, exact, host, found, simulated))
    return rows
