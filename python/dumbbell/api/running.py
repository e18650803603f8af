"""Running experiments, and single runs in memory."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from dumbbell import catalog, core
from dumbbell.api.records.one_run import RunResults
from dumbbell.api.records.results import Results
from dumbbell.api.selection import DEFAULT, chosen_experiment_file, named, with_pantheon
from dumbbell.api.watching import showing
from dumbbell.base.backend import SIMULATION, executing_backend
from dumbbell.base.entry import Entry
from dumbbell.base.errors import UserError, argument, listed, with_hint
from dumbbell.base.progress import Progress
from dumbbell.base.request_fields import options, with_fields_of
from dumbbell.base.scratch import Scratch
from dumbbell.catalog.experiment_file import ExperimentFile, mix_label
from dumbbell.catalog.path import PathModel
from dumbbell.catalog.run_request import Assignments, RunRequest
from dumbbell.catalog.scheme import Scheme
from dumbbell.core.runs import simulate_in_memory
from dumbbell.execution.check import check
from dumbbell.execution.perform import Execution, perform_experiment_file
from dumbbell.execution.pool import Outcome
from dumbbell.execution.trust import agree_to, outside_code, require_known
from dumbbell.execution.until import Until
from dumbbell.experiment import pin, resolve
from dumbbell.plugins import isolated
from dumbbell.plugins.isolated import Watch
from dumbbell.results.directory import open_results
from dumbbell.results.series.run_files import FLOWS, LINKS, PACKETS, kept_files, read_table
from dumbbell.results.statistics import require_statistics

if TYPE_CHECKING:
    from dumbbell.contract.run import RunTable
    from dumbbell.contract.specification import RunSpec


class Interrupted(KeyboardInterrupt):
    """Ctrl-C while an experiment or a benchmark ran, or a disk that is full.

    What was finished is in `directory`, and `resume=True` continues it; `outcome` says what became of the other runs.
    """

    def __init__(self, directory: Path, outcome: Outcome) -> None:
        done = outcome.finished + len(outcome.degraded)
        why = f"stopped ({outcome.full})" if outcome.full else "interrupted"
        super().__init__(f"{why}: {directory} has what was finished, {done} runs of this time")
        self.directory = directory
        self.outcome = outcome


def run_request(request: RunRequest) -> Results:
    """Execute a request as `run` does, whose arguments are its fields."""
    content, outcome = perform_experiment_file(*selected(request))
    if outcome.interrupted:
        raise Interrupted(content.directory, outcome)
    return Results(content, outcome)


@with_fields_of(RunRequest)
def run(request: RunRequest) -> Results:
    """Runs an experiment and keeps its results in a directory, as `dumbbell run` does. Progress goes to stderr.

    What is not given is as the experiment says.

    Returns:
        All results; failed runs are among them, with their reasons.

    Raises:
        dumbbell.Error: something that cannot be run, in one line; nothing was run.
        dumbbell.Untrusted: an experiment file would execute what this user has not run before.
        dumbbell.Interrupted: by Ctrl-C, SIGTERM or SIGHUP.
    """
    return run_request(request)


def rerun(directory: str | PathLike[str], run: str, log: str | None = None) -> RunResults:
    """Make a simulated run again with all its files, where results kept only the numbers of runs.

    `run` is PATH/SCHEME/N, `log` is `packets` or `full`; without it the packet log is as the experiment says. The
    files are those that the run would have had, byte for byte.

    Raises:
        dumbbell.Error: there is no such run, it has its files, or it comes out with other numbers than were kept.
    """
    from dumbbell.execution.rerun import rerun as make_again

    content = open_results(Path(directory))
    wanted = content.named(run, argument="")
    with Progress() as progress:
        progress.doing(f"making {wanted.label}")
        make_again(content, wanted, log)
    return Results(content).run(wanted.path, wanted.scheme, wanted.run)


def selected(request: RunRequest) -> tuple[ExperimentFile, RunRequest, Execution]:
    """Return the experiment that a request names, the request with every name resolved, and how runs are executed.

    Raises:
        UserError: an unknown name or a value that is not allowed.
    """
    how = Execution(
        jobs=request.jobs,
        out=None if request.out is None else Path(request.out),
        resume=request.resume,
        cluster=request.cluster,
        shards=request.shards,
        database=None if request.database is None else Path(request.database),
        command=request.command,
        trust=request.trust,
        until=None if request.until is None else Until.parse(request.until),
        beside=showing(request.live, request.watch),
    )
    if how.resume and how.out is None:
        needed = argument("out", form="DIR")
        raise UserError(f"{argument('resume', 'True')} needs {needed}: the results to continue")
    resolved, own = named(request)
    experiment_file = own.of(chosen_experiment_file(resolved, how.out if how.resume else None))
    used = experiment_file.backend if request.backend is None else executing_backend(request.backend)
    if request.remote is not None and not used.capabilities.shared_link:
        for name, _ in options(type(request.remote)):
            if getattr(request.remote, name) is not None:
                problem = f"allowed with {argument('backend')} remote:HOST only, not {used}"
                raise UserError(problem, argument=f"remote.{name}")
    if request.pantheon_dir is not None:
        experiment_file = with_pantheon(experiment_file, resolved, Path(request.pantheon_dir))
    return experiment_file, resolved, how


def specification(
    scheme: str | Scheme | None = None,
    path: str | PathModel | PathLike[str] = "default",
    *,
    mix: str | None = None,
    run: int = 1,
    duration: float | None = None,
    flows: int | None = None,
    interval: float | None = None,
    warmup: float | None = None,
    seed: int | None = None,
    log: str | None = None,
    settings: Assignments = (),
) -> dict[str, Any]:
    """What the core is given for one simulated run: for `dumbbell.simulate`, as it is or changed.

    `scheme` or `mix` says who sends, `run` is the number of the repetition; the rest is as in `dumbbell.run`.
    ARCHITECTURE.md has the keys.

    Raises:
        dumbbell.Error: something that cannot be run, in one line.
    """
    request, own = named(
        RunRequest(
            schemes=() if scheme is None else scheme,
            path=path,
            mixes=() if mix is None else mix,
            runs=run,
            duration=duration,
            flows=flows,
            interval=interval,
            warmup=warmup,
            seed=seed,
            log=log,
            settings=settings,
        )
    )
    experiment = pin(resolve(own.of(DEFAULT), request))
    check(experiment)
    agree_to(experiment)
    runs = [each for each in experiment.all_runs() if each.run == run]
    if len(runs) > 1:
        raise UserError("a specification is of one run: give one of `scheme` and `mix`")
    if not runs:
        raise UserError(f"run = {run}: allowed is the number of a repetition, from 1")
    # whoever changes it changes no path or scheme
    return cast("dict[str, Any]", deepcopy(experiment.specification(runs[0])))


def simulate(specification: Mapping[str, Any], watch: Watch | None = None, trust: bool = False) -> RunResults:
    """Simulates one run in memory: no file is left, and other threads go on meanwhile.

    `specification` is what `dumbbell.specification` makes; its `log` says which packet events are kept. `watch` is
    called at the end of every sample interval with the time (s), and with the values of flows (by number) and of links
    (by name), each by field. What it raises ends the run. Plug-ins run in a process of their own,
    if they were given to `dumbbell.specification` here, or this user has run them before, or with `trust`.

    Raises:
        dumbbell.Untrusted: it has a plug-in of somebody else.
        dumbbell.Error: a key or value that is not allowed, or what a plug-in did wrong, in one line.
    """
    if not trust:
        require_known(specification)
    statistics, kept = _simulated(specification, watch)
    names = [str(flow["scheme"]) for flow in statistics["flows"]]
    mix = mix_label([(name, names.count(name)) for name in dict.fromkeys(names)])
    identity = {"scheme": mix, "path": "", "run": 1, "seed": specification["seed"]}
    made = identity | {"backend": SIMULATION.form, "status": "done", "reason": None} | statistics
    return RunResults(
        cast("RunTable", made),
        lambda: cast("RunSpec", specification),
        {name: table for name, table in kept.items() if table is not None},
        {scheme.name: scheme for scheme in catalog.schemes() if scheme.name in names},
    )


async def simulate_async(
    specification: Mapping[str, Any], watch: Watch | None = None, trust: bool = False
) -> RunResults:
    """Simulate one run as `simulate` does, in a thread of its own; to cancel the task ends the run.

    The run ends at the next sample interval after the task is cancelled, before `CancelledError` is raised: nothing
    of it goes on in the background.

    Raises:
        dumbbell.Error: as of `simulate`.
        asyncio.CancelledError: the task was cancelled.
    """
    import asyncio
    import threading

    cancelled = threading.Event()

    def look(time_s: float, flows: dict[int, dict[str, float]], links: dict[str, dict[str, float]]) -> None:
        if cancelled.is_set():
            raise _CancelledRunError
        if watch is not None:
            watch(time_s, flows, links)

    running = asyncio.get_running_loop().run_in_executor(None, simulate, specification, look, trust)
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        cancelled.set()
        await asyncio.wait([running])
        running.exception()  # nobody else asks for it
        raise


class _CancelledRunError(Exception):
    """Ends a run that nobody waits for any more."""


def _simulated(
    specification: Mapping[str, Any], watch: Watch | None
) -> tuple[dict[str, Any], Mapping[str, core.Table | None]]:
    """The statistics of a run, and its tables."""
    plugins = plugin_files(specification)
    if not plugins:
        try:
            found, packets, flows, links = simulate_in_memory(specification, watch)
        except core.Error as error:
            raise UserError(with_hint(str(error))) from None
        return {**found}, {PACKETS: packets, FLOWS: flows, LINKS: links}
    with Scratch("simulate") as folder:
        statistics: dict[str, Any] = {"status": "done", **isolated.simulate(specification, plugins, folder, watch)}
        require_statistics(f"{listed(plugins)}: told", statistics)
        return statistics, {name: read_table(name, file) for name, file in kept_files(Entry.of(folder)).items()}


def plugin_files(specification: Mapping[str, Any]) -> list[str]:
    """The schemes with controllers from outside, each with its file."""
    found = [f"{flow.get('scheme')} ({file})" for flow, _, file in outside_code(specification)]
    return list(dict.fromkeys(found))
