"""Running experiments, and single runs in memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack, cast

from dumbbell import catalog, core
from dumbbell.api.records.one_run import RunResults
from dumbbell.api.records.results import Results
from dumbbell.api.run_arguments import (
    OF_NETWORKS,
    Budget,
    Campaign,
    FormerArguments,
    Remote,
    RunArguments,
    settings_of,
)
from dumbbell.api.selection import (
    DEFAULT,
    Assignments,
    Names,
    Paths,
    Schemes,
    chosen_experiment_file,
    select,
    with_pantheon,
)
from dumbbell.api.watching import showing
from dumbbell.base.backend import SIMULATION, executing_backend
from dumbbell.base.entry import Entry
from dumbbell.base.errors import UserError, listed, with_hint
from dumbbell.base.scratch import Scratch
from dumbbell.catalog.experiment_file import ExperimentFile, mix_label
from dumbbell.catalog.experiment_settings import Settings
from dumbbell.catalog.path import PathModel
from dumbbell.catalog.scheme import Scheme
from dumbbell.core.runs import simulate_in_memory
from dumbbell.execution.check import check
from dumbbell.execution.perform import Execution, perform_experiment_file
from dumbbell.execution.pool import Outcome
from dumbbell.execution.trust import agree_to, outside_code, require_known
from dumbbell.execution.until import Until
from dumbbell.experiment import Overrides, pin, resolve
from dumbbell.plugins import isolated
from dumbbell.plugins.isolated import Watch
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


def run(
    experiment: str | PathLike[str] | ExperimentFile | None = None,
    *,
    schemes: Schemes = (),
    path: Paths = (),
    mixes: Names = (),
    cells: Names = (),
    backend: str | None = None,
    runs: int | None = None,
    until: str | None = None,
    duration: float | None = None,
    flows: int | None = None,
    interval: float | None = None,
    warmup: float | None = None,
    seed: int | None = None,
    log: str | None = None,
    convention: str | None = None,
    random_order: bool | None = None,
    exact: bool = False,
    remote: Remote | None = None,
    campaign: Campaign | None = None,
    budget: Budget | None = None,
    settings: Assignments = (),
    jobs: int | None = None,
    out: str | PathLike[str] | None = None,
    resume: bool = False,
    cluster: str | None = None,
    database: str | PathLike[str] | None = None,
    plugins: Names = (),
    pantheon_dir: str | PathLike[str] | None = None,
    trust: bool = False,
    live: bool = False,
    watch: bool = False,
    command: Sequence[str] = (),
    **former: Unpack[FormerArguments],
) -> Results:
    """Runs an experiment and keeps its results in a directory, as `dumbbell run` does. Progress goes to stderr.

    What is not given is as the experiment says.

    Args:
        experiment: a listed one, a TOML file, or a `dumbbell.ExperimentFile`; without it, `schemes` or `mixes` run on
            the path `default`.
        schemes: names (`all`: every one that can run here), TOML files, or `dumbbell.Scheme`s.
        path: names, TOML files, mahimahi traces, or `dumbbell.PathModel`s.
        mixes: flows of several schemes in one run, like `cubic*2+bbr`.
        cells: only these cells: paths as they are named in results.
        backend: `sim` (virtual time), `emu` (real packets) or `remote:HOST` (to and from another machine).
        runs: repetitions of each scheme on each path.
        until: `ci=2%`, `modes` or both, `ci=2%,modes`: more runs are made until means are known so well.
        duration: of each run, s.
        flows: flows of the same scheme in each run.
        interval: between the starts of flows, s.
        warmup: what the corrected metrics leave out at the start, s.
        seed: what every random draw follows from.
        log: `none`, `packets` or `full`: what is kept of packets.
        convention: `corrected` or `pantheon`: which metrics tables and figures show (docs/metrics.md).
        random_order: schemes in random order, in a campaign another one in each round.
        exact: simulated hosts answer in no time, and flows start when they are told.
        remote: how runs between two machines are made.
        campaign: runs at their times: a run of each scheme every so many seconds, for so many seconds.
        budget: what runs may use up: disk, bandwidth, data.
        settings: anything else, by name: `copa.delta`, `reno.transport.ack_every`, `warmup_s`; or texts KEY=VALUE.
        jobs: processes; one per processor unless given, one with real packets.
        out: the results directory; unless given a new one below `results`.
        resume: continue what is in `out`.
        cluster: address of a Dask scheduler whose workers execute the runs.
        database: a file that also gets the numbers.
        plugins: files of controllers of your own, `./libmine.so` or `mine.py`: all schemes in them run, too.
        pantheon_dir: a Pantheon checkout: its wrappers become schemes `pantheon-NAME`.
        trust: run the programs and plug-ins that an experiment file names, also new ones (SECURITY.md).
        live: show the runs in the browser while they are made; the address goes to stderr.
        watch: show the flows of runs with real packets on stderr while they are made.
        command: the words of the command line that this call comes from; recorded.
        former: names of the fields of `remote`, `campaign` and `budget` before these; they go with the next release.

    Returns:
        All results; failed runs are among them, with their reasons.

    Raises:
        dumbbell.Error: something that cannot be run, in one line; nothing was run.
        dumbbell.Untrusted: an experiment file would execute what this user has not run before.
        dumbbell.Interrupted: by Ctrl-C, SIGTERM or SIGHUP.
    """
    given = RunArguments(
        experiment=experiment,
        schemes=schemes,
        path=path,
        mixes=mixes,
        cells=cells,
        backend=backend,
        runs=runs,
        until=until,
        duration=duration,
        flows=flows,
        interval=interval,
        warmup=warmup,
        seed=seed,
        log=log,
        convention=convention,
        random_order=random_order,
        exact=exact,
        remote=remote,
        campaign=campaign,
        budget=budget,
        settings=settings,
        jobs=jobs,
        out=out,
        resume=resume,
        cluster=cluster,
        database=database,
        plugins=plugins,
        pantheon_dir=pantheon_dir,
        trust=trust,
        live=live,
        watch=watch,
        command=command,
        former=former,
    )
    content, outcome = perform_experiment_file(*run_request(given))
    if outcome.interrupted:
        raise Interrupted(content.directory, outcome)
    return Results(content, outcome)


def run_request(given: RunArguments) -> tuple[ExperimentFile, Overrides, Execution]:
    """What the arguments of `run` ask for.

    Raises:
        UserError: an unknown name or a value that is not allowed.
        TypeError: a name that is no argument.
    """
    how = Execution(
        jobs=given.jobs,
        out=None if given.out is None else Path(given.out),
        resume=given.resume,
        cluster=given.cluster,
        database=None if given.database is None else Path(given.database),
        command=given.command,
        trust=given.trust,
        until=None if given.until is None else Until.parse(given.until),
        beside=showing(given.live, given.watch),
    )
    if how.resume and how.out is None:
        raise UserError("--resume needs --out DIR: the results to continue")
    if given.backend is not None:
        executing_backend(given.backend)
    chosen = given.chosen()
    if given.exact:
        chosen |= Settings.EXACT
    named = given.schemes, given.path, given.mixes, given.cells
    selection = select(*named, chosen, given.settings, given.plugins)
    experiment_file = selection.of(
        chosen_experiment_file(given.experiment, selection.overrides, how.out if how.resume else None)
    )
    used = given.backend or experiment_file.backend
    for name in OF_NETWORKS:
        if chosen[name] is not None and not executing_backend(used).capabilities.shared_link:
            option = name.replace("_", "-")
            raise UserError(f"--{option}: allowed with --backend remote:HOST only, not {used}")
    if given.pantheon_dir is not None:
        experiment_file = with_pantheon(experiment_file, selection.overrides, Path(given.pantheon_dir))
    return experiment_file, selection.overrides, how


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
    given = settings_of(run, duration, flows, interval, warmup, seed, log)
    selection = select(() if scheme is None else scheme, path, () if mix is None else mix, (), given, settings)
    experiment = pin(resolve(selection.of(DEFAULT), selection.overrides))
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
