"""Running of experiments, and of single runs in memory."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from dumbbell import catalog, core
from dumbbell.api.records.one_run import RunResults
from dumbbell.api.records.results import Results
from dumbbell.api.selection import DEFAULT, chosen_experiment_file, with_names, with_pantheon
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
    """An experiment or a benchmark was interrupted by Ctrl-C, or the disk is full.

    The finished runs are in `directory`, and `resume=True` continues them; `outcome` is the outcome of all runs.
    """

    def __init__(self, directory: Path, outcome: Outcome) -> None:
        finished_count = outcome.finished + len(outcome.degraded)
        reason = f"stopped ({outcome.full})" if outcome.full else "interrupted"
        super().__init__(f"{reason}: {directory} has what was finished, {finished_count} runs of this time")
        self.directory = directory
        self.outcome = outcome


def run_request(request: RunRequest) -> Results:
    """Execute a request, as `run` does for its fields."""
    content, outcome = perform_experiment_file(*select(request))
    if outcome.interrupted:
        raise Interrupted(content.directory, outcome)
    return Results(content, outcome)


@with_fields_of(RunRequest)
def run(request: RunRequest) -> Results:
    """Run an experiment and keep its results in a directory, as `dumbbell run` does. Progress goes to stderr.

    Unset arguments keep the experiment's values.

    Returns:
        All results, including failed runs with their reasons.

    Raises:
        dumbbell.Error: If the experiment cannot be run. Then nothing was run.
        dumbbell.Untrusted: If an experiment file would execute code that this user has not run before.
        dumbbell.Interrupted: On Ctrl-C, SIGTERM or SIGHUP.
    """
    return run_request(request)


def rerun(directory: str | PathLike[str], run: str, log: str | None = None) -> RunResults:
    """Make a simulated run again with all its files, for results that keep only the numbers of runs.

    `run` is PATH/SCHEME/N, `log` is `packets` or `full`; None keeps the experiment's packet log. The
    files equal those of an ordinary run, byte for byte.

    Raises:
        dumbbell.Error: If there is no such run, the run has its files, or its new numbers differ from the stored ones.
    """
    from dumbbell.execution.rerun import rerun as make_again

    content = open_results(Path(directory))
    stored_run = content.named(run, argument="")
    with Progress() as progress:
        progress.doing(f"making {stored_run.label}")
        make_again(content, stored_run, log)
    return Results(content).run(stored_run.path, stored_run.scheme, stored_run.run)


def select(request: RunRequest) -> tuple[ExperimentFile, RunRequest, Execution]:
    """Return the experiment of a request, the request with resolved names, and the settings of the execution.

    Raises:
        UserError: If a name is unknown, or a value is not allowed.
    """
    execution = Execution(
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
    if execution.resume and execution.out is None:
        out_argument = argument("out", form="DIR")
        raise UserError(f"{argument('resume', 'True')} needs {out_argument}: the results to continue")
    resolved_request, own_items = with_names(request)
    experiment_file = own_items.of(
        chosen_experiment_file(resolved_request, execution.out if execution.resume else None)
    )
    used = experiment_file.backend if request.backend is None else executing_backend(request.backend)
    if request.remote is not None and not used.capabilities.shared_link:
        for name, _ in options(type(request.remote)):
            if getattr(request.remote, name) is not None:
                problem = f"allowed with {argument('backend')} remote:HOST only, not {used}"
                raise UserError(problem, argument=f"remote.{name}")
    if request.pantheon_dir is not None:
        experiment_file = with_pantheon(experiment_file, resolved_request, Path(request.pantheon_dir))
    return experiment_file, resolved_request, execution


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
    """Return the run spec of one simulated run for `dumbbell.simulate`, which may be changed before.

    `scheme` or `mix` is the sender, `run` the number of the repetition; other arguments are as in `dumbbell.run`.
    ARCHITECTURE.md has the keys.

    Raises:
        dumbbell.Error: If the run is not possible.
    """
    request, own_items = with_names(
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
    experiment = pin(resolve(own_items.of(DEFAULT), request))
    check(experiment)
    agree_to(experiment)
    runs = [candidate for candidate in experiment.all_runs() if candidate.run == run]
    if len(runs) > 1:
        raise UserError("a specification is of one run: give one of `scheme` and `mix`")
    if not runs:
        raise UserError(f"run = {run}: allowed is the number of a repetition, from 1")
    # a copy, so that changes by the caller affect no path or scheme
    return cast("dict[str, Any]", deepcopy(experiment.specification(runs[0])))


def simulate(specification: Mapping[str, Any], watch: Watch | None = None, trust: bool = False) -> RunResults:
    """Simulate one run in memory, without files. Other threads continue meanwhile.

    `specification` comes from `dumbbell.specification`; its `log` selects the packet events that are kept. `watch` is
    called at the end of every sample interval with the time (s), and with the values of flows (by number) and of links
    (by name), each by field. An exception in `watch` ends the run. Plug-ins run in a separate process,
    if this program gave them to `dumbbell.specification`, if this user has run them before, or with `trust`.

    Raises:
        dumbbell.Untrusted: If the run spec has an unknown plug-in.
        dumbbell.Error: If a key or value is not allowed, or if a plug-in fails.
    """
    if not trust:
        require_known(specification)
    statistics, tables = _simulate(specification, watch)
    names = [str(flow["scheme"]) for flow in statistics["flows"]]
    mix = mix_label([(name, names.count(name)) for name in dict.fromkeys(names)])
    identity = {"scheme": mix, "path": "", "run": 1, "seed": specification["seed"]}
    complete = identity | {"backend": SIMULATION.form, "status": "done", "reason": None} | statistics
    return RunResults(
        cast("RunTable", complete),
        lambda: cast("RunSpec", specification),
        {name: table for name, table in tables.items() if table is not None},
        {scheme.name: scheme for scheme in catalog.schemes() if scheme.name in names},
    )


async def simulate_async(
    specification: Mapping[str, Any], watch: Watch | None = None, trust: bool = False
) -> RunResults:
    """Simulate one run as `simulate` does, in its own thread. Cancelling the task ends the run.

    The run ends at the next sample interval after the cancellation, before `CancelledError` is raised: nothing
    of it goes on in the background.

    Raises:
        dumbbell.Error: As for `simulate`.
        asyncio.CancelledError: If the task was cancelled.
    """
    import asyncio
    import threading

    cancel_event = threading.Event()

    def look(time_s: float, flows: dict[int, dict[str, float]], links: dict[str, dict[str, float]]) -> None:
        if cancel_event.is_set():
            raise _CancelledRunError
        if watch is not None:
            watch(time_s, flows, links)

    running = asyncio.get_running_loop().run_in_executor(None, simulate, specification, look, trust)
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        cancel_event.set()
        await asyncio.wait([running])
        running.exception()  # marks the exception as retrieved
        raise


class _CancelledRunError(Exception):
    """Exception that ends a cancelled run."""


def _simulate(
    specification: Mapping[str, Any], watch: Watch | None
) -> tuple[dict[str, Any], Mapping[str, core.Table | None]]:
    """Return the statistics of a run, and its tables."""
    plugins = plugin_files(specification)
    if not plugins:
        try:
            core_statistics, packets, flows, links = simulate_in_memory(specification, watch)
        except core.Error as error:
            raise UserError(with_hint(str(error))) from None
        return {**core_statistics}, {PACKETS: packets, FLOWS: flows, LINKS: links}
    with Scratch("simulate") as folder:
        statistics: dict[str, Any] = {"status": "done", **isolated.simulate(specification, plugins, folder, watch)}
        require_statistics(f"{listed(plugins)}: told", statistics)
        return statistics, {name: read_table(name, file) for name, file in kept_files(Entry.of(folder)).items()}


def plugin_files(specification: Mapping[str, Any]) -> list[str]:
    """Return the schemes with external controllers, each with its file."""
    descriptions = [f"{flow.get('scheme')} ({file})" for flow, _, file in outside_code(specification)]
    return list(dict.fromkeys(descriptions))
