"""From experiments to their results: checked, prepared, executed as far as they are not finished yet."""

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
    """How and where runs are executed.

    `jobs` are processes (None: what the backend and the machine allow), `out` the results directory (None: a new one
    below `results`), which `resume` continues; `cluster` is the address of a Dask scheduler, `shards` the URL of
    a folder that tables of batches pass through; `database` is a file that gathers the numbers of many experiments.
    `command` are the words of the command line that asks for it, if one does.
    `trust` agrees to run the programs and plug-ins that an experiment file names. With `until`, runs are added until
    the means are known as well as it says. `beside` goes on while runs are executed: it shows them to somebody.
    `pool` has the workers of a command that executes several times: they wait for the next time.
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
"""The results directories of experiments, held for this writer."""


def perform_experiment_file(
    experiment_file: ExperimentFile, request: RunRequest, how: Execution
) -> tuple[ResultsDirectory, Outcome]:
    """Executes the experiment that `experiment_file` and `request` describe.

    Raises:
        UserError: it cannot be run as described; nothing was run, and nothing is left behind.
    """
    experiment = trusted(experiment_file, request, how.trust)
    _tell_left_out(with_request(experiment_file, request))
    directory = how.out or default_directory(experiment.name)

    @contextmanager
    def hold() -> Iterator[list[ResultsDirectory]]:
        with locked(directory):
            yield [prepare(directory, experiment, how.resume)]

    gathering = None if how.database is None else Gathering(how.database)
    with interruptible(), Progress() as progress:
        (results,), outcome = perform([experiment], how, hold, gathering, progress)
    return results, outcome


def perform(
    experiments: Sequence[Experiment],
    how: Execution,
    hold: Callable[[], Holding],
    gathering: Gathering | None,
    progress: Progress,
) -> tuple[list[ResultsDirectory], Outcome]:
    """Executes what is not finished of experiments of one backend.

    Their directories are made ready by `hold` as soon as it is known that all can be run; it is left when they were.

    Raises:
        UserError: one cannot be run as described; nothing was run, and `hold` was not called.
    """
    is_campaign = any(experiment.every_s is not None for experiment in experiments)
    if is_campaign and how.until is not None:
        raise UserError(f"not with {argument('every')}, which says how many rounds there are", argument="until")
    if is_campaign and len(experiments) > 1:
        raise UserError("`every_s`: allowed of an experiment that runs alone: there are several here")
    jobs = examine(experiments, how, progress)
    progress.doing("preparing")
    if how.database is not None:
        Database(how.database, gathers=True).close()  # before anything else is written
    with ExitStack() as held:
        ready = held.enter_context(ExitStack())
        for experiment in experiments:
            ready.enter_context(find_executor(experiment).prepared(experiment))
        parts = held.enter_context(hold())
        if how.beside is not None:
            held.enter_context(how.beside(parts, progress))
        made = environment(list(how.command))
        for results in parts:
            own = find_executor(results.experiment).environment(results.experiment)
            write_environment(results, made | own)
        if not is_campaign:
            pool = how.pool or held.enter_context(Pool(progress.clock))
            outcome = _execute_unfinished(parts, jobs, pool, how, gathering, progress)
            if how.until is not None:
                parts, outcome = _execute_more(how.until, parts, outcome, jobs, pool, how, gathering, progress)
            return parts, outcome
        ready.close()  # between rounds a machine is left alone
        (results,) = parts
        return parts, _execute_rounds(results, jobs, how.cluster, gathering, progress)


def perform_apart(
    planned: Sequence[tuple[Path, Experiment]], how: Execution, progress: Progress
) -> tuple[list[ResultsDirectory], Outcome]:
    """Executes experiments of one backend, each into an unused directory of its own.

    Raises:
        UserError: one cannot be run as described, or a directory is in use; nothing was run.
    """

    @contextmanager
    def hold() -> Iterator[list[ResultsDirectory]]:
        with ExitStack() as held:
            parts = []
            for directory, experiment in planned:
                held.enter_context(locked(directory))
                parts.append(prepare(directory, experiment, resume=False))
            yield parts

    return perform([experiment for _, experiment in planned], how, hold, None, progress)


def examine(experiments: Sequence[Experiment], how: Execution, progress: Progress | None = None) -> int:
    """Sees that all of the experiments, of one backend, can be run; on how many processes they are.

    Raises:
        UserError: one cannot be run as described.
    """
    for experiment in experiments:
        if experiment.keeps_numbers:
            require_batches(experiment, how.database is not None)
    if how.shards is not None:
        _require_shards(experiments, how.cluster, how.shards)
    jobs = _choose_jobs(experiments, how)
    for experiment in experiments:
        if progress is not None:
            progress.doing(f"checking {experiment.name}")
        check(experiment)
    return jobs


def _require_shards(experiments: Sequence[Experiment], cluster: str | None, shards: str) -> None:
    """Refuse a store that nothing passes through, or that cannot be reached.

    Raises:
        UserError: says why.
    """
    if cluster is None or not all(experiment.keeps_numbers for experiment in experiments):
        allowed = f"allowed with {argument('cluster')} and {argument('keep', form=NUMBERS)} only"
        raise UserError(allowed, argument="shards", value=shards)
    from dumbbell.execution.cluster_batches import Store

    Store(shards)


def _choose_jobs(experiments: Sequence[Experiment], how: Execution) -> int:
    """How many runs go on at once.

    Raises:
        UserError: more than the backend can do, or a cluster that does not take these experiments.
    """
    backend = experiments[0].backend
    backend.require_executing()
    jobs = choose_jobs(backend, how.jobs, cpus())
    if how.cluster is not None:
        if not backend.capabilities.cluster:
            allowed = listed(backend_forms(lambda can: can.cluster))
            problem = f"allowed with {argument('backend')} {allowed} only, not {backend}"
            raise UserError(problem, argument="cluster")
        for scheme in (scheme for experiment in experiments for scheme in experiment.schemes.values()):
            if scheme.is_outside:
                problem = f"scheme `{scheme.name}`: {scheme.code} is on this machine only"
                raise UserError(problem, argument="cluster")
        from dumbbell.execution.cluster import require_cluster

        require_cluster(how.cluster)
    return jobs


def _tell_left_out(experiment_file: ExperimentFile) -> None:
    """What `all` does not include because it cannot run here."""
    if "all" in experiment_file.schemes:
        for name, reason in everything(experiment_file)[1].items():
            print(printable(f"left out: {name}: {reason}"), file=sys.stderr)


def default_directory(name: str, clock: Clock = SYSTEM_CLOCK) -> Path:
    """Return an unused place below `results` for results that are called so."""
    started = clock.utc().strftime("%Y%m%dT%H%M%SZ")
    wanted = Path("results") / f"{name}-{started}"
    # two in one second
    more = (wanted.with_name(f"{wanted.name}-{number}") for number in itertools.count(2))
    return next(path for path in itertools.chain([wanted], more) if not path.exists())


def _execute_unfinished(
    parts: list[ResultsDirectory],
    jobs: int,
    pool: Pool,
    how: Execution,
    gathering: Gathering | None,
    progress: Progress,
) -> Outcome:
    """Executes all runs that are not finished yet."""
    outcome = Outcome()
    if numbered := [part for part in parts if part.experiment.keeps_numbers]:
        outcome = _execute_in_batches(numbered, jobs, pool, how, progress)
    parts = [part for part in parts if not part.experiment.keeps_numbers]
    if not parts or outcome.interrupted:
        return outcome
    work = [Work(part, _unfinished(part, progress)) for part in parts]
    todo, total = sum(len(part.runs) for part in work), sum(len(part.experiment.all_runs()) for part in parts)
    if todo < total:
        _tell_finished(total - todo, total, progress)
    return outcome.with_more(execute(work, jobs, progress, pool, how.cluster, gathering))


def _execute_in_batches(
    parts: list[ResultsDirectory], jobs: int, pool: Pool, how: Execution, progress: Progress
) -> Outcome:
    """Executes all runs of which only the numbers are kept, and which are not finished yet."""
    progress.doing("looking for what is finished")
    work = [Work(part, unfinished_runs(part, progress)) for part in parts]
    todo, total = sum(len(part.runs) for part in work), sum(part.experiment.count for part in parts)
    if todo < total:
        _tell_finished(total - todo, total, progress)
    if how.cluster is None:
        has_plugins = any(part.experiment.has_plugins for part in parts)
        make_each_apart = partial(make_guarded, jobs=min(jobs, todo), pool=pool)
        return execute_batches(work, make_each_apart if has_plugins else partial(make_here, threads=jobs), progress)
    from dumbbell.execution.cluster_batches import make_there

    return execute_batches(work, partial(make_there, address=how.cluster, shards=how.shards), progress)


def _tell_finished(finished: int, total: int, progress: Progress) -> None:
    progress.line(f"{finished} of {total} runs are finished already")


def _execute_more(
    until: Enough,
    parts: list[ResultsDirectory],
    outcome: Outcome,
    jobs: int,
    pool: Pool,
    how: Execution,
    gathering: Gathering | None,
    progress: Progress,
) -> tuple[list[ResultsDirectory], Outcome]:
    """Executes more runs until the means are known well enough, or there are too many runs."""
    while not (outcome.interrupted or outcome.full):
        needed = [until.missing(part) for part in parts]
        lacking = [(part.experiment.runs, wanted, names) for part, (wanted, names) in zip(parts, needed, strict=True)]
        lacking = [each for each in lacking if each[2]]
        if not lacking:
            break
        named = listing([name for *_, names in lacking for name in names], _MOST_NAMED)
        few = f"{max(had for had, *_ in lacking)} runs are not enough for {named}"
        if all(wanted <= had for had, wanted, _ in lacking):
            progress.line(printable(f"{few}: no more are made"))
            break
        progress.line(printable(f"{few}: {max(wanted for _, wanted, _ in lacking)} are made"))
        parts = [extended(part, wanted) for part, (wanted, _) in zip(parts, needed, strict=True)]
        outcome = outcome.with_more(_execute_unfinished(parts, jobs, pool, how, gathering, progress))
    return parts, outcome


_MOST_NAMED = 3
"""Names of means that a line of progress has room for."""


def _execute_rounds(
    results: ResultsDirectory, jobs: int, cluster: str | None, gathering: Gathering | None, progress: Progress
) -> Outcome:
    """Executes the rounds of a campaign. The machine is made ready for each anew, and let go of after it."""
    experiment = results.experiment

    def make(runs: list[Run], tell: Tell) -> Outcome:
        with find_executor(experiment).prepared(experiment), Pool(progress.clock) as pool:
            return execute([Work(results, runs)], jobs, progress, pool, cluster, gathering, tell)

    return perform_campaign(results, _unfinished(results, progress), make, jobs, progress, progress.clock)


def _unfinished(results: ResultsDirectory, progress: Progress) -> list[Run]:
    """The runs that are to be made. Those that were finished and are damaged are among them, and said.

    To look through the files of many runs takes its time: that is said too.
    """
    runs = results.experiment.all_runs()
    todo = []
    has_finished = False
    with ThreadPoolExecutor(cpus()) as pool:
        looked = zip(runs, pool.map(_looked, repeat(results), runs), strict=True)
        for number, (run, (finished, fault)) in enumerate(looked, 1):
            if not finished:
                todo.append(run)
            if fault:
                progress.line(printable(f"damaged, made again: {run.label}: {fault}"))
            has_finished = has_finished or finished or bool(fault)
            if has_finished:  # in a new directory there is nothing to check
                progress.doing(f"checking the files of finished runs: {number} of {len(runs)}")
    return todo


def _looked(results: ResultsDirectory, run: Run) -> tuple[bool, str]:
    """Whether a run is finished, and why not, if it was."""
    try:
        return results.is_finished(run), ""
    except UserError as error:
        return False, str(error)
