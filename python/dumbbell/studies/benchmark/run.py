"""Running the benchmark, and what it gives."""

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dumbbell import catalog
from dumbbell.api.records.results import Results
from dumbbell.api.running import Interrupted
from dumbbell.api.selection import Names, Schemes, listed_names
from dumbbell.api.watching import showing
from dumbbell.base.entry import Entry
from dumbbell.base.errors import UserError
from dumbbell.base.interrupts import interruptible
from dumbbell.base.json_text import read_json
from dumbbell.base.progress import Progress
from dumbbell.catalog.experiment_file import ExperimentFile
from dumbbell.catalog.path import PathModel
from dumbbell.catalog.scheme import Scheme
from dumbbell.execution.perform import Execution, perform
from dumbbell.experiment import Experiment
from dumbbell.machine.description import cpus
from dumbbell.results import Gathering, ResultsDirectory, locked, prepare
from dumbbell.results.benchmark_directory import (
    Note,
    keep_experiment_file,
    open_benchmark,
    part_directory,
    take,
)
from dumbbell.results.benchmark_results import BASELINES, DATABASE, VERDICTS, require_own_folders
from dumbbell.results.sql.database import start_anew
from dumbbell.studies.benchmark.members import examined, members

if TYPE_CHECKING:
    from dumbbell.execution.pool import Outcome

Files = str | PathLike[str] | Iterable[str | PathLike[str]]


@dataclass(frozen=True)
class BenchmarkResults:
    """What `dumbbell.run_benchmark` made: where everything is, the first of the pages, and the file with every number.

    `experiments` are the results of each experiment by its name; `outcome` says what became of the runs made just now.
    """

    directory: Path
    index: Path
    database: Path
    experiments: dict[str, Results]
    outcome: "Outcome"

    @cached_property
    def verdicts(self) -> list[dict[str, object]]:
        """Return the rows of `verdicts.json`: in how many cells a scheme is better or worse than a baseline.

        There is a row for each scheme under test, baseline, experiment and metric (docs/benchmark.md).
        """
        found: list[dict[str, object]] = read_json(Entry.of(self.directory) / VERDICTS)
        return found

    def __repr__(self) -> str:
        return f"<dumbbell.BenchmarkResults: {len(self.experiments)} experiments in {self.directory}>"


def run_benchmark(
    schemes: Schemes,
    *,
    quick: bool = False,
    only: Names = (),
    experiments: Files = (),
    path: str | PathModel | PathLike[str] | None = None,
    baselines: Schemes = (),
    jobs: int | None = None,
    out: str | PathLike[str] | None = None,
    resume: bool = False,
    cluster: str | None = None,
    database: str | PathLike[str] | None = None,
    live: bool = False,
    watch: bool = False,
    command: Sequence[str] = (),
) -> BenchmarkResults:
    """Runs every standard experiment for some schemes and writes the pages, as `dumbbell benchmark` does.

    Args:
        schemes: those under test: names, files, or `dumbbell.Scheme`s; experiments add schemes to compare with.
        quick: fewer cells, one run each.
        only: only these experiments.
        experiments: TOML files of experiments of your own, beside the standard ones.
        path: the experiments that use the path `default` use this one instead; the others are left out.
        baselines: what verdicts compare the schemes with, in every experiment; unless given CUBIC and BBR, in the
            experiments that have them.
        jobs: processes; one per processor unless given.
        out: the directory; unless given one below `results` with the names of the schemes.
        resume: continue what is in `out`.
        cluster: address of a Dask scheduler whose workers execute the runs.
        database: the file that gets the numbers; unless given one in the directory.
        live: show the runs in the browser while they are made; the address goes to stderr.
        watch: show the flows of runs with real packets on stderr while they are made.
        command: the words of the command line that this call comes from; recorded.

    Raises:
        dumbbell.Error: something that cannot be run, in one line; nothing was run.
        dumbbell.Interrupted: by Ctrl-C, SIGTERM or SIGHUP; the pages are not complete.
    """
    given = locals()
    with Progress() as progress:
        progress.doing("reading the experiments")
        request = benchmark_request(given)
        progress.doing("starting")
        from dumbbell.present.serve.benchmark_pages import expect_benchmark, write_benchmark  # slow to import

        drawing_jobs = request.how.jobs or cpus()
        with interruptible():
            made = [experiment for _, experiment in request.found]
            expect_benchmark(progress, made, quick, drawing_jobs)
            parts, outcome = perform(made, request.how, request.hold, request.gathering, progress)
            if outcome.interrupted:
                raise Interrupted(request.directory, outcome)
            try:
                index = write_benchmark(open_benchmark(request.directory), drawing_jobs, progress)
            except KeyboardInterrupt:
                raise Interrupted(request.directory, outcome) from None
    results = {part.experiment.name: Results(part) for part in parts}
    return BenchmarkResults(request.directory, index, request.gathering.file, results, outcome)


@dataclass(frozen=True)
class BenchmarkRequest:
    """Request to `run_benchmark`: the experiments, the place of their results, and how they are executed."""

    note: Note
    found: list[tuple[ExperimentFile, Experiment]]
    directory: Path
    how: Execution
    gathering: Gathering

    @property
    def quick(self) -> bool:
        """Whether it is the short one."""
        return self.note.quick

    @contextmanager
    def hold(self) -> Iterator[list[ResultsDirectory]]:
        """The results directories of its experiments, held for this writer."""
        with locked(self.directory):
            require_own_folders(self.directory)
            take(self.directory, self.note, self.how.resume)
            if self.how.database is None:  # its own one
                start_anew(self.directory / DATABASE)
            parts = []
            for experiment_file, experiment in self.found:
                folder = part_directory(self.directory, experiment_file)
                Entry.at(self.directory, folder).require_beneath()
                keep_experiment_file(self.directory, experiment_file, changed=bool(self.note.path))
                parts.append(prepare(folder, experiment, resume=(folder / "experiment.toml").exists()))
            yield parts


def benchmark_request(given: Mapping[str, Any]) -> BenchmarkRequest:
    """What the arguments of `run_benchmark`, by their names, ask for.

    Raises:
        UserError: an unknown name or a value that is not allowed.
    """
    schemes, out, database, quick = (given[name] for name in ("schemes", "out", "database", "quick"))
    if given["resume"] and out is None:
        raise UserError("--resume needs --out DIR: the benchmark to continue")
    named: list[str | Scheme] = [schemes] if isinstance(schemes, str | Scheme) else list(schemes)
    tested = examined(named)
    judged_by = given["baselines"]
    beside = examined([judged_by] if isinstance(judged_by, str | Scheme) else list(judged_by))
    for name in beside:
        if name in tested:
            raise UserError(f"--baselines {name}: is under test: name another one")
    experiments = given["experiments"]
    files = [experiments] if isinstance(experiments, str | PathLike) else list(experiments)
    path = given["path"]
    where = path if isinstance(path, PathModel | None) else catalog.paths().find(str(path))
    found, left_out = members(tested, quick, listed_names(given["only"]), tuple(map(str, files)), where, beside)
    for name, reason in left_out.items():
        print(f"left out: {name}: {reason}", file=sys.stderr)
    level = "quick" if quick else "full"
    parts_of_name = [*tested, *([where.name] if where else []), level]
    directory = Path("results") / f"benchmark-{'-'.join(parts_of_name)}" if out is None else Path(out)
    words = tuple(each.name if isinstance(each, Scheme) else each for each in named)
    own_database = directory / DATABASE if database is None else Path(database)
    how = Execution(
        jobs=given["jobs"],
        resume=given["resume"],
        cluster=given["cluster"],
        database=None if database is None else own_database,
        command=given["command"],
        beside=showing(given["live"], given["watch"]),
    )
    note = Note(tuple(tested), quick, words, where.name if where else "", tuple(beside) or BASELINES)
    return BenchmarkRequest(note, found, directory, how, Gathering(own_database, copies=database is not None))
