"""Running the benchmark, and its results."""

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
    """Results of `dumbbell.run_benchmark`: the directory, the first of the pages, and the file with every number.

    `experiments` are the results of each experiment by its name; `outcome` is that of the runs made just now.
    `database` is None if `keep` is `numbers` in every experiment: the tables of these have the numbers.
    """

    directory: Path
    index: Path
    database: Path | None
    experiments: dict[str, Results]
    outcome: "Outcome"

    @cached_property
    def verdicts(self) -> list[dict[str, object]]:
        """Return the rows of `verdicts.json`: in each row, the cells in which a scheme beats or misses a baseline.

        There is a row for each scheme under test, baseline, experiment and metric (docs/how-to/benchmark.md).
        """
        return read_json(Entry.of(self.directory) / VERDICTS, list[dict[str, object]])

    def __repr__(self) -> str:
        return f"<dumbbell.BenchmarkResults: {len(self.experiments)} experiments in {self.directory}>"


def run_benchmark_request(request: BenchmarkRequest) -> BenchmarkResults:
    """Execute a request, as `run_benchmark` does with the fields of the request as arguments."""
    with Progress() as progress:
        progress.doing("reading the experiments")
        plan = planned_benchmark(request)
        progress.doing("starting")
        from dumbbell.present.serve.benchmark_pages import expect_benchmark, write_benchmark  # slow to import

        drawing_jobs = plan.execution.jobs or cpus()
        with interruptible():
            experiments = [experiment for _, experiment in plan.members]
            expect_benchmark(progress, experiments, request.quick, drawing_jobs)
            parts, outcome = perform(experiments, plan.execution, plan.hold, plan.gathering, progress)
            if outcome.interrupted:
                raise Interrupted(plan.directory, outcome)
            try:
                index = write_benchmark(open_benchmark(plan.directory), drawing_jobs, progress)
            except KeyboardInterrupt:
                raise Interrupted(plan.directory, outcome) from None
            number_parts = [part for part in parts if part.experiment.keeps_numbers]
            for part in number_parts:
                note = f"{part.experiment.name}: `keep` = {NUMBERS}: in no database, but in the tables below"
                progress.line(printable(f"{note} {part.numbers.folder}"))
    results = {part.experiment.name: Results(part) for part in parts}
    database = None if len(number_parts) == len(parts) else plan.gathering.file
    return BenchmarkResults(plan.directory, index, database, results, outcome)


@with_fields_of(BenchmarkRequest)
def run_benchmark(request: BenchmarkRequest) -> BenchmarkResults:
    """Run every standard experiment for some schemes and write the pages, as `dumbbell benchmark` does.

    Returns:
        The results of each experiment, and the places of all files.

    Raises:
        dumbbell.Error: Something cannot be run, in one line; nothing was run.
        dumbbell.Interrupted: Ctrl-C, SIGTERM or SIGHUP ended the run; the pages are not complete.
    """
    return run_benchmark_request(request)


@dataclass(frozen=True)
class PlannedBenchmark:
    """Experiments of a benchmark, the place of their results, and the settings of their execution."""

    note: Note
    members: list[tuple[ExperimentFile, Experiment]]
    directory: Path
    execution: Execution
    gathering: Gathering

    @contextmanager
    def hold(self) -> Iterator[list[ResultsDirectory]]:
        """Hold the results directories of the experiments for this writer."""
        with locked(self.directory):
            require_own_folders(self.directory)
            take(self.directory, self.note, self.execution.resume)
            if self.execution.database is None:  # the benchmark's own database
                start_anew(self.directory / DATABASE)
            parts = []
            for experiment_file, experiment in self.members:
                folder = part_directory(self.directory, experiment_file)
                Entry.at(self.directory, folder).require_beneath()
                keep_experiment_file(self.directory, experiment_file, changed=bool(self.note.path))
                parts.append(prepare(folder, experiment, resume=(folder / "experiment.toml").exists()))
            yield parts


def planned_benchmark(request: BenchmarkRequest) -> PlannedBenchmark:
    """Return the plan of a request, with every name resolved.

    Raises:
        UserError: A name is unknown, or a value is not allowed.
    """
    if request.resume and request.out is None:
        missing_argument = argument("out", form="DIR")
        raise UserError(f"{argument('resume', 'True')} needs {missing_argument}: the benchmark to continue")
    schemes = schemes_of(request.schemes)
    test_schemes = examined(schemes)
    baseline_schemes = examined(schemes_of(request.baselines))
    for name in baseline_schemes:
        if name in test_schemes:
            raise UserError("is under test", argument="baselines", value=name, fix="name another one")
    experiments = request.experiments
    files = [experiments] if isinstance(experiments, str | PathLike) else list(experiments)
    path = request.path
    path_model = path if isinstance(path, PathModel | None) else catalog.paths().find(str(path))
    resolved_members, left_out = members(
        test_schemes, request.quick, names_of(request.only), tuple(map(str, files)), path_model, baseline_schemes
    )
    for name, reason in left_out.items():
        print(f"left out: {name}: {reason}", file=sys.stderr)
    level = "quick" if request.quick else "full"
    parts_of_name = [*test_schemes, *([path_model.name] if path_model else []), level]
    directory = Path("results") / f"benchmark-{'-'.join(parts_of_name)}" if request.out is None else Path(request.out)
    words = tuple(scheme.name if isinstance(scheme, Scheme) else scheme for scheme in schemes)
    own_database = directory / DATABASE if request.database is None else Path(request.database)
    execution = Execution(
        jobs=request.jobs,
        resume=request.resume,
        cluster=request.cluster,
        database=None if request.database is None else own_database,
        command=request.command,
        beside=showing(request.live, request.watch),
    )
    note = Note(
        tuple(test_schemes),
        request.quick,
        words,
        path_model.name if path_model else "",
        tuple(baseline_schemes) or BASELINES,
    )
    gathering = Gathering(own_database, copies=request.database is not None)
    return PlannedBenchmark(note, resolved_members, directory, execution, gathering)
