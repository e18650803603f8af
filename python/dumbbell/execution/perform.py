"""From experiments to results: check, preparation, and execution of the unfinished runs."""

import itertools
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import repeat
from pathlib import Path
from typing import TypeAlias

from dumbbell.backends import choose_jobs, find_executor
from dumbbell.base.backend import backend_forms
from dumbbell.base.clock import SYSTEM_CLOCK, Clock
from dumbbell.base.errors import UserError, argument, listed, printable
from dumbbell.base.interrupts import interruptible
from dumbbell.base.progress import Progress
from dumbbell.catalog.experiment_file import ExperimentFile
from dumbbell.catalog.experiment_settings import NUMBERS
from dumbbell.catalog.run_request import RunRequest
from dumbbell.execution.batches import execute_batches, make_here, require_batches, unfinished_runs
from dumbbell.execution.check import check
from dumbbell.execution.guarded_batches import make_guarded
from dumbbell.execution.pool import Outcome, Pool, Tell, Work, execute
from dumbbell.execution.scheduler import perform_campaign
from dumbbell.execution.trust import trusted
from dumbbell.execution.until import Enough
from dumbbell.experiment import Experiment, Run, everything, with_request
from dumbbell.machine.description import cpus
from dumbbell.results import Database, Gathering, ResultsDirectory, extended, locked, prepare, write_environment
from dumbbell.results.analysis.findings.words import listing
from dumbbell.results.environment import environment

Beside: TypeAlias = Callable[[Sequence[ResultsDirectory], Progress], AbstractContextManager[None]]


@dataclass(frozen=True, kw_only=True)
class Execution:
    """Settings of an execution: place and kind.

    `jobs` is the number of processes (None: chosen for backend and machine). `out` is the results directory (None: a
    new one below `results`), which `resume` continues. `cluster` is the address of a Dask scheduler, `shards` the URL
    of a folder for tables of batches. `database` is a file that gathers the numbers of many experiments. `command` has
    the words of the command line, if any. `trust` is the consent to run the programs and plug-ins of an experiment
    file. With `until`, runs are added until the means are known well enough. `beside` is a context during the runs,
    which shows them. `pool` has the workers of a command that executes several times: they wait for the next time.
    """

    jobs: int | None = None
    out: Path | None = None
    resume: bool = False
    cluster: str | None = None
    shards: str | None = None
    database: Path | None = None
    command: Sequence[str] = ()
    trust: bool = False
    until: Enough | None = None
    beside: Beside | None = None
    pool: Pool | None = None


Holding = AbstractContextManager[list[ResultsDirectory]]
"""Context that holds the results directories of experiments for this writer."""


def perform_experiment_file(
    experiment_file: ExperimentFile, request: RunRequest, execution: Execution
) -> tuple[ResultsDirectory, Outcome]:
    """Execute the experiment in `experiment_file` with the changes of `request`.

    Raises:
        UserError: If the experiment cannot be run. Then nothing was run, and no files are left.
    """
    experiment = trusted(experiment_file, request, execution.trust)
    _tell_left_out(with_request(experiment_file, request))
    directory = execution.out or default_directory(experiment.name)

    @contextmanager
    def hold() -> Iterator[list[ResultsDirectory]]:
        with locked(directory):
            yield [prepare(directory, experiment, execution.resume)]

    gathering = None if execution.database is None else Gathering(execution.database)
    with interruptible(), Progress() as progress:
        (results,), outcome = perform([experiment], execution, hold, gathering, progress)
    return results, outcome


def perform(
    experiments: Sequence[Experiment],
    execution: Execution,
    hold: Callable[[], Holding],
    gathering: Gathering | None,
    progress: Progress,
) -> tuple[list[ResultsDirectory], Outcome]:
    """Execute the unfinished runs of experiments of one backend.

    The context `hold` prepares their directories after the check that all can be run, and lasts during the runs.

    Raises:
        UserError: If an experiment cannot be run. Then nothing was run, and `hold` was not called.
    """
    is_campaign = any(experiment.every_s is not None for experiment in experiments)
    if is_campaign and execution.until is not None:
        raise UserError(f"not with {argument('every')}, which says how many rounds there are", argument="until")
    if is_campaign and len(experiments) > 1:
        raise UserError("`every_s`: allowed of an experiment that runs alone: there are several here")
    jobs = examine(experiments, execution, progress)
    progress.doing("preparing")
    if execution.database is not None:
        Database(execution.database, gathers=True).close()  # before anything else is written
    with ExitStack() as stack:
        ready = stack.enter_context(ExitStack())
        for experiment in experiments:
            ready.enter_context(find_executor(experiment).prepared(experiment))
        parts = stack.enter_context(hold())
        if execution.beside is not None:
            stack.enter_context(execution.beside(parts, progress))
        head = environment(list(execution.command))
        for results in parts:
            backend_part = find_executor(results.experiment).environment(results.experiment)
            write_environment(results, head | backend_part)
        if not is_campaign:
            pool = execution.pool or stack.enter_context(Pool(progress.clock))
            outcome = _execute_unfinished(parts, jobs, pool, execution, gathering, progress)
            if execution.until is not None:
                parts, outcome = _execute_more(
                    execution.until, parts, outcome, jobs, pool, execution, gathering, progress
                )
            return parts, outcome
        ready.close()  # between rounds the machine stays unchanged
        (results,) = parts
        return parts, _execute_rounds(results, jobs, execution.cluster, gathering, progress)


def perform_apart(
    folders: Sequence[tuple[Path, Experiment]], execution: Execution, progress: Progress
) -> tuple[list[ResultsDirectory], Outcome]:
    """Execute experiments of one backend, each into its own unused directory.

    Raises:
        UserError: If an experiment cannot be run, or a directory is in use. Then nothing was run.
    """

    @contextmanager
    def hold() -> Iterator[list[ResultsDirectory]]:
        with ExitStack() as stack:
            parts = []
            for directory, experiment in folders:
                stack.enter_context(locked(directory))
                parts.append(prepare(directory, experiment, resume=False))
            yield parts

    return perform([experiment for _, experiment in folders], execution, hold, None, progress)


def examine(experiments: Sequence[Experiment], execution: Execution, progress: Progress | None = None) -> int:
    """Check that all experiments, of one backend, can be run; return the number of processes.

    Raises:
        UserError: If an experiment cannot be run.
    """
    for experiment in experiments:
        if experiment.keeps_numbers:
            require_batches(experiment, execution.database is not None)
    if execution.shards is not None:
        _require_shards(experiments, execution.cluster, execution.shards)
    jobs = _choose_jobs(experiments, execution)
    for experiment in experiments:
        if progress is not None:
            progress.doing(f"checking {experiment.name}")
        check(experiment)
    return jobs


def _require_shards(experiments: Sequence[Experiment], cluster: str | None, shards: str) -> None:
    """Raise an error for a store that is not used, or that cannot be reached.

    Raises:
        UserError: If the store is not used, or unreachable; the message has the reason.
    """
    if cluster is None or not all(experiment.keeps_numbers for experiment in experiments):
        problem = f"allowed with {argument('cluster')} and {argument('keep', form=NUMBERS)} only"
        raise UserError(problem, argument="shards", value=shards)
    from dumbbell.execution.cluster_batches import Store

    Store(shards)


def _choose_jobs(experiments: Sequence[Experiment], execution: Execution) -> int:
    """Return the number of simultaneous runs.

    Raises:
        UserError: If the backend cannot run so many, or if the cluster cannot run these experiments.
    """
    backend = experiments[0].backend
    backend.require_executing()
    jobs = choose_jobs(backend, execution.jobs, cpus())
    if execution.cluster is not None:
        if not backend.capabilities.cluster:
            able = listed(backend_forms(lambda can: can.cluster))
            problem = f"allowed with {argument('backend')} {able} only, not {backend}"
            raise UserError(problem, argument="cluster")
        for scheme in (scheme for experiment in experiments for scheme in experiment.schemes.values()):
            if scheme.is_outside:
                problem = f"scheme `{scheme.name}`: {scheme.code} is on this machine only"
                raise UserError(problem, argument="cluster")
        from dumbbell.execution.cluster import require_cluster

        require_cluster(execution.cluster)
    return jobs


def _tell_left_out(experiment_file: ExperimentFile) -> None:
    """Print the schemes of `all` that are left out because they cannot run on this machine."""
    if "all" in experiment_file.schemes:
        for name, reason in everything(experiment_file)[1].items():
            print(printable(f"left out: {name}: {reason}"), file=sys.stderr)


def default_directory(name: str, clock: Clock = SYSTEM_CLOCK) -> Path:
    """Return an unused directory below `results` with this name."""
    start_text = clock.utc().strftime("%Y%m%dT%H%M%SZ")
    first_choice = Path("results") / f"{name}-{start_text}"
    # for two starts in one second
    more = (first_choice.with_name(f"{first_choice.name}-{number}") for number in itertools.count(2))
    return next(path for path in itertools.chain([first_choice], more) if not path.exists())


def _execute_unfinished(
    parts: list[ResultsDirectory],
    jobs: int,
    pool: Pool,
    execution: Execution,
    gathering: Gathering | None,
    progress: Progress,
) -> Outcome:
    """Execute all unfinished runs."""
    outcome = Outcome()
    if batched_parts := [part for part in parts if part.experiment.keeps_numbers]:
        outcome = _execute_in_batches(batched_parts, jobs, pool, execution, progress)
    parts = [part for part in parts if not part.experiment.keeps_numbers]
    if not parts or outcome.interrupted:
        return outcome
    work = [Work(part, _unfinished(part, progress)) for part in parts]
    todo, total = sum(len(part.runs) for part in work), sum(len(part.experiment.all_runs()) for part in parts)
    if todo < total:
        _tell_finished(total - todo, total, progress)
    return outcome.with_more(execute(work, jobs, progress, pool, execution.cluster, gathering))


def _execute_in_batches(
    parts: list[ResultsDirectory], jobs: int, pool: Pool, execution: Execution, progress: Progress
) -> Outcome:
    """Execute the unfinished runs that keep only their numbers."""
    progress.doing("looking for what is finished")
    work = [Work(part, unfinished_runs(part, progress)) for part in parts]
    todo, total = sum(len(part.runs) for part in work), sum(part.experiment.count for part in parts)
    if todo < total:
        _tell_finished(total - todo, total, progress)
    if execution.cluster is None:
        has_plugins = any(part.experiment.has_plugins for part in parts)
        make_each_apart = partial(make_guarded, jobs=min(jobs, todo), pool=pool)
        return execute_batches(work, make_each_apart if has_plugins else partial(make_here, threads=jobs), progress)
    from dumbbell.execution.cluster_batches import make_there

    return execute_batches(work, partial(make_there, address=execution.cluster, shards=execution.shards), progress)


def _tell_finished(finished_count: int, total: int, progress: Progress) -> None:
    progress.line(f"{finished_count} of {total} runs are finished already")


def _execute_more(
    until: Enough,
    parts: list[ResultsDirectory],
    outcome: Outcome,
    jobs: int,
    pool: Pool,
    execution: Execution,
    gathering: Gathering | None,
    progress: Progress,
) -> tuple[list[ResultsDirectory], Outcome]:
    """Execute further runs until the means are known well enough, or the maximum number of runs is reached."""
    while not (outcome.interrupted or outcome.full):
        needs = [until.missing(part) for part in parts]
        lacking = [(part.experiment.runs, target, names) for part, (target, names) in zip(parts, needs, strict=True)]
        lacking = [part for part in lacking if part[2]]
        if not lacking:
            break
        means = listing([name for *_, names in lacking for name in names], _MOST_NAMED)
        problem = f"{max(had for had, *_ in lacking)} runs are not enough for {means}"
        if all(target <= had for had, target, _ in lacking):
            progress.line(printable(f"{problem}: no more are made"))
            break
        progress.line(printable(f"{problem}: {max(target for _, target, _ in lacking)} are made"))
        parts = [extended(part, target) for part, (target, _) in zip(parts, needs, strict=True)]
        outcome = outcome.with_more(_execute_unfinished(parts, jobs, pool, execution, gathering, progress))
    return parts, outcome


_MOST_NAMED = 3
"""Maximum number of means in a line of progress."""


def _execute_rounds(
    results: ResultsDirectory, jobs: int, cluster: str | None, gathering: Gathering | None, progress: Progress
) -> Outcome:
    """Execute the rounds of a campaign. The machine is prepared for each round, and restored after it."""
    experiment = results.experiment

    def make(runs: list[Run], tell: Tell) -> Outcome:
        with find_executor(experiment).prepared(experiment), Pool(progress.clock) as pool:
            return execute([Work(results, runs)], jobs, progress, pool, cluster, gathering, tell)

    return perform_campaign(results, _unfinished(results, progress), make, jobs, progress, progress.clock)


def _unfinished(results: ResultsDirectory, progress: Progress) -> list[Run]:
    """Return the runs to make, among them finished runs that are damaged, which are reported.

    Checking the files of many runs takes time, so progress is shown.
    """
    runs = results.experiment.all_runs()
    todo = []
    has_finished = False
    with ThreadPoolExecutor(cpus()) as pool:
        checks = zip(runs, pool.map(_check_run, repeat(results), runs), strict=True)
        for number, (run, (is_finished, fault)) in enumerate(checks, 1):
            if not is_finished:
                todo.append(run)
            if fault:
                progress.line(printable(f"damaged, made again: {run.label}: {fault}"))
            has_finished = has_finished or is_finished or bool(fault)
            if has_finished:  # in a new directory there is nothing to check
                progress.doing(f"checking the files of finished runs: {number} of {len(runs)}")
    return todo


def _check_run(results: ResultsDirectory, run: Run) -> tuple[bool, str]:
    """Return True if a run is finished, and the reason if a finished run is damaged."""
    try:
        return results.is_finished(run), ""
    except UserError as error:
        return False, str(error)
