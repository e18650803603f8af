"""Running the benchmark, and what it gives."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from dumbbell.benchmark.model import DATABASE
from dumbbell.benchmark.selection import Note, examined, keep_plan, members, open_benchmark, part_directory, take
from dumbbell.catalog.scheme import Scheme
from dumbbell.errors import UserError
from dumbbell.execution.perform import Execution, perform
from dumbbell.library.results import Results
from dumbbell.library.running import Interrupted
from dumbbell.library.selection import Names, Schemes, listed_names
from dumbbell.results import Gathering, ResultsDirectory, locked, prepare
from dumbbell.results.environment import cpus
from dumbbell.results.files import require_beneath

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

    def __repr__(self) -> str:
        return f"<dumbbell.BenchmarkResults: {len(self.experiments)} experiments in {self.directory}>"


def run_benchmark(
    schemes: Schemes,
    *,
    quick: bool = False,
    only: Names = (),
    experiments: Files = (),
    jobs: int | None = None,
    out: str | PathLike[str] | None = None,
    resume: bool = False,
    cluster: str | None = None,
    database: str | PathLike[str] | None = None,
    command: Sequence[str] = (),
) -> BenchmarkResults:
    """Runs every standard experiment for some schemes and writes the pages, as `dumbbell benchmark` does.

    Args:
        schemes: those under test: names, files, or `dumbbell.Scheme`s; experiments add schemes to compare with.
        quick: fewer cells, one run each.
        only: only these experiments.
        experiments: TOML files of experiments of your own, beside the standard ones.
        jobs: processes; one per processor unless given.
        out: the directory; unless given one below `results` with the names of the schemes.
        resume: continue what is in `out`.
        cluster: address of a Dask scheduler whose workers execute the runs.
        database: the file that gets the numbers; unless given one in the directory.
        command: the words of the command line that this call comes from; recorded.

    Raises:
        dumbbell.Error: something that cannot be run, in one line; nothing was run.
        dumbbell.Interrupted: by Ctrl-C or SIGTERM; no pages were written.
    """
    from dumbbell.benchmark.site import write_site

    if resume and out is None:
        raise UserError("--resume needs --out DIR: the benchmark to continue")
    given: list[str | Scheme] = [schemes] if isinstance(schemes, str | Scheme) else list(schemes)
    tested = examined(given)
    files = [experiments] if isinstance(experiments, str | PathLike) else list(experiments)
    found = members(tested, quick, listed_names(only), tuple(map(str, files)))
    level = "quick" if quick else "full"
    directory = Path("results") / f"benchmark-{'-'.join(tested)}-{level}" if out is None else Path(out)
    words = tuple(each.name if isinstance(each, Scheme) else each for each in given)
    own_database = directory / DATABASE if database is None else Path(database)

    @contextmanager
    def hold() -> Iterator[list[ResultsDirectory]]:
        take(directory, Note(tuple(tested), quick, words), resume)
        with locked(directory):
            parts = []
            for plan, experiment in found:
                folder = part_directory(directory, plan)
                require_beneath(directory, folder)
                keep_plan(directory, plan)
                parts.append(prepare(folder, experiment, resume=(folder / "experiment.toml").exists()))
            yield parts

    how = Execution(
        jobs=jobs,
        cluster=cluster,
        database=None if database is None else own_database,
        command=command,
    )
    gathering = Gathering(own_database, copies=database is not None)
    parts, outcome = perform([experiment for _, experiment in found], how, hold, gathering)
    if outcome.interrupted:
        raise Interrupted(directory, outcome)
    index = write_site(open_benchmark(directory), jobs or cpus())
    made = {part.experiment.name: Results(part) for part in parts}
    return BenchmarkResults(directory, index, own_database, made, outcome)
