"""Running the benchmark, and what it gives."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from dumbbell import catalog
from dumbbell.api.records.results import Results
from dumbbell.api.running import Interrupted
from dumbbell.api.watching import showing
from dumbbell.base.entry import Entry
from dumbbell.base.errors import UserError, argument, printable
from dumbbell.base.interrupts import interruptible
from dumbbell.base.json_text import read_json
from dumbbell.base.progress import Progress
from dumbbell.base.request_fields import with_fields_of
from dumbbell.catalog.experiment_file import ExperimentFile
from dumbbell.catalog.experiment_settings import NUMBERS
from dumbbell.catalog.path import PathModel
from dumbbell.catalog.run_request import names_of, schemes_of
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
from dumbbell.studies.benchmark.request import BenchmarkRequest

if TYPE_CHECKING:
    from dumbbell.execution.pool import Outcome


@dataclass(frozen=True)
class BenchmarkResults:
    """What `dumbbell.run_benchmark` made: where everything is, the first of the pages, and the file with every number.

    `experiments` are the results of each experiment by its name; `outcome` says what became of the runs made just now.
    `database` is None if `keep` is `numbers` in every experiment: the tables of these have the numbers.
    """

    directory: Path
    index: Path
    database: Path | None
    experiments: dict[str, Results]
    outcome: "Outcome"

    @cached_property
    def verdicts(self) -> list[dict[str, object]]:
        """Return the rows of `verdicts.json`: in how many cells a scheme is better or worse than a baseline.

        There is a row for each scheme under test, baseline, experiment and metric (docs/how-to/benchmark.md).
        """
        return read_json(Entry.of(self.directory) / VERDICTS, list[dict[str, object]])

    def __repr__(self) -> str:
        return f"<dumbbell.BenchmarkResults: {len(self.experiments)} experiments in {self.directory}>"


def run_benchmark_request(request: BenchmarkRequest) -> BenchmarkResults:
    """Execute a request as `run_benchmark` does, whose arguments are its fields."""
    with Progress() as progress:
        progress.doing("reading the experiments")
        planned = planned_benchmark(request)
        progress.doing("starting")
        from dumbbell.present.serve.benchmark_pages import expect_benchmark, write_benchmark  # slow to import

        drawing_jobs = planned.how.jobs or cpus()
        with interruptible():
            made = [experiment for _, experiment in planned.found]
            expect_benchmark(progress, made, request.quick, drawing_jobs)
            parts, outcome = perform(made, planned.how, planned.hold, planned.gathering, progress)
            if outcome.interrupted:
                raise Interrupted(planned.directory, outcome)
            try:
                index = write_benchmark(open_benchmark(planned.directory), drawing_jobs, progress)
            except KeyboardInterrupt:
                raise Interrupted(planned.directory, outcome) from None
            numbered = [part for part in parts if part.experiment.keeps_numbers]
            for part in numbered:
                told = f"{part.experiment.name}: `keep` = {NUMBERS}: in no database, but in the tables below"
                progress.line(printable(f"{told} {part.numbers.folder}"))
    results = {part.experiment.name: Results(part) for part in parts}
    database = None if len(numbered) == len(parts) else planned.gathering.file
    return BenchmarkResults(planned.directory, index, database, results, outcome)


@with_fields_of(BenchmarkRequest)
def run_benchmark(request: BenchmarkRequest) -> BenchmarkResults:
    """Runs every standard experiment for some schemes and writes the pages, as `dumbbell benchmark` does.

    Returns:
        The results of each experiment, and where everything is.

    Raises:
        dumbbell.Error: something that cannot be run, in one line; nothing was run.
        dumbbell.Interrupted: by Ctrl-C, SIGTERM or SIGHUP; the pages are not complete.
    """
    return run_benchmark_request(request)


@dataclass(frozen=True)
class PlannedBenchmark:
    """The experiments of a benchmark, the place of their results, and how they are executed."""

    note: Note
    found: list[tuple[ExperimentFile, Experiment]]
    directory: Path
    how: Execution
    gathering: Gathering

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


def planned_benchmark(request: BenchmarkRequest) -> PlannedBenchmark:
    """Return what a request asks for, with every name resolved.

    Raises:
        UserError: an unknown name or a value that is not allowed.
    """
    if request.resume and request.out is None:
        needed = argument("out", form="DIR")
        raise UserError(f"{argument('resume', 'True')} needs {needed}: the benchmark to continue")
    named = schemes_of(request.schemes)
    tested = examined(named)
    beside = examined(schemes_of(request.baselines))
    for name in beside:
        if name in tested:
            raise UserError("is under test", argument="baselines", value=name, fix="name another one")
    experiments = request.experiments
    files = [experiments] if isinstance(experiments, str | PathLike) else list(experiments)
    path = request.path
    where = path if isinstance(path, PathModel | None) else catalog.paths().find(str(path))
    found, left_out = members(tested, request.quick, names_of(request.only), tuple(map(str, files)), where, beside)
    for name, reason in left_out.items():
        print(f"left out: {name}: {reason}", file=sys.stderr)
    level = "quick" if request.quick else "full"
    parts_of_name = [*tested, *([where.name] if where else []), level]
    directory = Path("results") / f"benchmark-{'-'.join(parts_of_name)}" if request.out is None else Path(request.out)
    words = tuple(each.name if isinstance(each, Scheme) else each for each in named)
    own_database = directory / DATABASE if request.database is None else Path(request.database)
    how = Execution(
        jobs=request.jobs,
        resume=request.resume,
        cluster=request.cluster,
        database=None if request.database is None else own_database,
        command=request.command,
        beside=showing(request.live, request.watch),
    )
    note = Note(tuple(tested), request.quick, words, where.name if where else "", tuple(beside) or BASELINES)
    gathering = Gathering(own_database, copies=request.database is not None)
    return PlannedBenchmark(note, found, directory, how, gathering)
