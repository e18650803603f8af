"""`dumbbell benchmark`: runs every standard scenario for some schemes and writes the pages."""

import sys
from dataclasses import asdict, dataclass
from pathlib import Path

from dumbbell import backends
from dumbbell.benchmark import members, open_benchmark
from dumbbell.benchmark.model import DATABASE
from dumbbell.benchmark.selection import NOTE, Note, keep_plan, part_directory, read_note
from dumbbell.commands.run import tell_failures
from dumbbell.errors import UserError
from dumbbell.execution.cluster import require_cluster
from dumbbell.execution.perform import Execution, execute_unfinished
from dumbbell.experiment import check
from dumbbell.results import Database, Gathering, locked, prepare, to_json, write_atomically, write_environment
from dumbbell.results.environment import cpus, environment


@dataclass(frozen=True, kw_only=True)
class BenchmarkCommand(Execution):
    """The command's arguments."""

    schemes: tuple[str, ...]
    quick: bool
    only: tuple[str, ...]
    files: tuple[str, ...]
    json: bool


def benchmark(command: BenchmarkCommand) -> int:
    """Runs what is not finished, writes database and pages; 0 if every run is good, 1 if not."""
    from dumbbell.benchmark.site import write_site

    if command.resume and command.out is None:
        raise UserError("--resume needs --out DIR: the benchmark to continue")
    experiments = members(command.schemes, command.quick, command.only, command.files)
    for _, experiment in experiments:
        check(experiment)
    level = "quick" if command.quick else "full"
    directory = command.out or Path("results") / f"benchmark-{'-'.join(command.schemes)}-{level}"
    jobs = backends.choose_jobs(backends.require(experiments[0][1].backend), command.jobs, cpus())
    if command.cluster is not None:
        require_cluster(command.cluster)
    if command.database is not None:
        Database(command.database, gathers=True).close()  # before anything else is written
    _take(directory, command)
    with locked(directory):
        made = environment(sys.argv)
        results = []
        for plan, experiment in experiments:
            folder = part_directory(directory, plan)
            keep_plan(directory, plan)
            results.append(prepare(folder, experiment, resume=(folder / "experiment.toml").exists()))
            write_environment(results[-1], made)
        gathering = Gathering(command.database or directory / DATABASE, copies=command.database is not None)
        outcome = execute_unfinished(results, jobs, command.cluster, gathering)
        if outcome.interrupted:
            print(f"interrupted: the same command with --resume --out {directory} continues", file=sys.stderr)
            return 1
        index = write_site(open_benchmark(directory), jobs)
    tell_failures(outcome)
    if command.json:
        note = {"directory": str(directory), "index": str(index), "database": str(gathering.file)}
        sys.stdout.write(to_json(note | {"finished": outcome.finished, "failed": len(outcome.failed)}))
    else:
        print(index)
    return 1 if outcome.failed or outcome.unrecorded else 0


def _take(directory: Path, command: BenchmarkCommand) -> None:
    """Makes the directory this benchmark's, or sees that it is."""
    wanted = Note(command.schemes, command.quick)
    stored = read_note(directory)
    if stored is not None:
        if not command.resume:
            raise UserError(
                f"{directory}: has a benchmark already: add --resume to continue it, or choose another --out"
            )
        if stored != wanted:
            raise UserError(f"{directory}: cannot resume: it is the {stored.in_words}, not the {wanted.in_words}")
        return
    if directory.exists() and (not directory.is_dir() or any(directory.iterdir())):
        raise UserError(f"{directory}: is neither empty nor a benchmark's directory: choose another --out")
    try:
        directory.mkdir(parents=True, exist_ok=True)
        write_atomically(directory / NOTE, to_json(asdict(wanted)))
    except OSError as error:
        raise UserError(f"cannot write to {directory}: {error.strerror or error}") from None
