"""Simulate runs that were measured elsewhere, and compare both: `dumbbell reproduce`."""

import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from os import PathLike
from pathlib import Path

from dumbbell.api.convert import import_pantheon, pantheon_sets
from dumbbell.api.running import Interrupted
from dumbbell.api.selection import Names, listed_names
from dumbbell.base.errors import UserError, listed, nearest
from dumbbell.base.interrupts import interruptible
from dumbbell.base.names import fitted
from dumbbell.base.progress import Piece, Progress
from dumbbell.execution.perform import Execution, perform
from dumbbell.formats.staging import refuse_used
from dumbbell.present.tables import Table
from dumbbell.results import ResultsDirectory, locked, open_results, prepare
from dumbbell.studies.reproduce.causes import Evidence, causes, estimate
from dumbbell.studies.reproduce.host import HostEstimate, HostProfile
from dumbbell.studies.reproduce.measured import MeasuredRun, MeasuredSet, measured_set, require_known, without_copies
from dumbbell.studies.reproduce.measured_path import MeasuredPath, measured_paths, require_paths
from dumbbell.studies.reproduce.reproduction import Found, Held, ranked
from dumbbell.studies.reproduce.score import Row, compare
from dumbbell.studies.reproduce.simulated import MODULES, SUSPECT, Plan, Simulated, plan, simulated

RUNS = 5
"""Simulated repetitions unless asked for others."""
MEASURED, SIMULATED, HOSTED = "measured", "simulated", "simulated-hosts"
"""Folders of the results directories."""

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
    seed: int = 1,
    jobs: int | None = None,
    command: Sequence[str] = (),
) -> Reproduction:
    """Simulates measured runs on the paths that their logs tell, as `dumbbell reproduce` does; progress goes to stderr.

    docs/reproduce.md says what is done. `out` gets the measured runs (`measured`) and the simulated ones (`simulated`,
    and `simulated-hosts` with host profiles) as results directories.

    Args:
        source: a data directory of Pantheon, one with several of them below it, or results of `dumbbell import`.
        out: a new directory.
        runs: simulated repetitions.
        stands_for: schemes of the measured runs by the name of ours that simulates each.
        hold_out: schemes for whose runs the host profile is used, as all others tell it; unless given each half of all
            runs has the profile that the other half tells.
        seed: what every random draw follows from.
        jobs: processes; one per processor unless given.
        command: the words of the command line that this call comes from; recorded.

    Raises:
        dumbbell.Error: something that is not allowed, in one line.
        dumbbell.Interrupted: by Ctrl-C, SIGTERM or SIGHUP.
    """
    place, names = Path(out), listed_names(hold_out)
    refuse_used(place)
    with _removed_if_refused(place):
        sets = without_copies(_measured(Path(source), place / MEASURED, stands_for or {}, list(command)))
        require_known(sets, stands_for or {})
        _require_held(sets, names)
        left = [f"{each.name}: {reason}" for each in sets for reason in each.left_out]
        paths: list[tuple[MeasuredSet, MeasuredPath]] = []
        for each in sets:
            known, unknown = measured_paths(each)
            paths += [(each, path) for path in known]
            left += [f"{each.name}: {reason}" for reason in unknown]
        require_paths([path for _, path in paths], str(source), left)
    how = Execution(jobs=jobs, command=command)
    with interruptible(), Progress() as progress:
        exact = _performed([plan(of, path, runs, seed) for of, path in paths], place / SIMULATED, how, progress)
        evidence = _evidence(exact, progress)
        estimates = {key: estimate(each) for key, each in evidence.items()}
        held, plans = _held([(of, path) for of, path in paths], estimates, names, runs, seed)
        hosted = _performed(plans, place / HOSTED, how, progress) if plans else []
        beside = {
            run.key: simulated(results, each.experiment.name, run.scheme.name)
            for each, results in hosted
            for run in each.runs
        }
        buffers = {run.key: each.host.buffer_packets for each, _ in hosted if each.host for run in each.runs}
        rows = []
        for key, one in evidence.items():
            rows += _rows(one, estimates[key], beside.get(key), buffers.get(key))
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
    was_there = out.exists()
    try:
        yield
    except (UserError, KeyboardInterrupt):
        shutil.rmtree(out / MEASURED if was_there else out, ignore_errors=True)
        raise


def _measured(source: Path, out: Path, stands_for: Mapping[str, str], command: list[str]) -> list[MeasuredSet]:
    """The measured runs as results: imported into `out`, unless they are results already."""
    if not source.is_dir():
        raise UserError(f"{source}: no such directory")
    if (source / "experiment.toml").is_file():
        return [_of_results(source, stands_for)]
    places = pantheon_sets(source)
    if not places:
        raise UserError(f"{source}: no measured runs: needed is pantheon_metadata.json, in it or below it")
    found: list[MeasuredSet] = []
    for place in places:
        relative = "-".join(place.relative_to(source).parts) or source.resolve().name
        name = fitted(relative, "measured")
        if any(each.name == name for each in found):
            name = fitted(f"{name}-{len(found) + 1}", "measured")
        results = import_pantheon(place, out / name, command=command)
        found.append(measured_set(open_results(results.directory), name, place, stands_for))
    return found


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


def _performed(
    plans: list[Plan], place: Path, how: Execution, progress: Progress
) -> list[tuple[Plan, ResultsDirectory]]:
    """Every plan with its results, which are below `place` in a directory of its path's name."""

    @contextmanager
    def hold() -> Iterator[list[ResultsDirectory]]:
        with ExitStack() as held:
            found = []
            for each in plans:
                directory = place / each.experiment.name
                held.enter_context(locked(directory))
                found.append(prepare(directory, each.experiment, resume=False))
            yield found

    results, outcome = perform([each.experiment for each in plans], how, hold, None, progress)
    if outcome.interrupted:
        raise Interrupted(place, outcome)
    return list(zip(plans, results, strict=True))


def _evidence(exact: list[tuple[Plan, ResultsDirectory]], progress: Progress) -> dict[Key, Evidence]:
    """Each measured run with the simulated ones beside it."""
    found: dict[Key, Evidence] = {}
    runs = [(each, results, run) for each, results in exact for run in each.runs]
    stage = progress.expect("measured runs", [Piece(run.label, 0.5) for _, _, run in runs])
    for each, results, run in stage.each(runs):
        own, cubic = [
            tuple(simulated(results, each.experiment.name, name) for name in (first, f"{first}-buffered"))
            if run.name in MODULES
            else ()
            for first in (run.scheme.name, SUSPECT)
        ]
        siblings = [other for other in each.runs if other.name == run.name and other.key != run.key]
        measured = [other for other in each.runs if other.scheme.name == SUSPECT] if run.name in MODULES else []
        beside = simulated(results, each.experiment.name, run.scheme.name)
        found[run.key] = Evidence(run, each.path, beside, own, cubic, siblings, measured)
    return found


def _held(
    paths: list[tuple[MeasuredSet, MeasuredPath]],
    estimates: Mapping[Key, HostEstimate],
    names: tuple[str, ...],
    runs: int,
    seed: int,
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
                plans.append(plan(of, path, runs, seed, profile, only, f"-host-{number}"))
    return held, plans


def _groups(everything: list[MeasuredRun], names: tuple[str, ...]) -> list[list[MeasuredRun]]:
    """The runs that are held out together: those of some schemes, else every second run."""
    if names:
        return [[run for run in everything if run.name in names]]
    return [everything[::2], everything[1::2]] if len(everything) > 1 else []


def _rows(evidence: Evidence, told: HostEstimate, hosted: Simulated | None, buffer_packets: int | None) -> list[Row]:
    """The flows of a measured run; causes are told of all together."""
    run, path = evidence.run, evidence.path.model.name
    rows: list[Row] = []
    for flow in run.flows:
        exact = compare(run, flow, evidence.beside)
        host = None if hosted is None else compare(run, flow, hosted)
        found = causes(evidence, told, exact, host, buffer_packets) if flow == 0 else rows[0].causes
        rows.append(Row(run, flow, path, exact, host, found))
    return rows
