"""`dumbbell run`: executes an experiment."""

import datetime
import signal
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from types import FrameType

from dumbbell import backends, catalog
from dumbbell.backends import Executor
from dumbbell.catalog.pantheon import PREFIX, Checkout
from dumbbell.catalog.plan import Plan, parse_mix, parse_plan
from dumbbell.catalog.tables import read_toml
from dumbbell.commands.show import print_summary
from dumbbell.errors import UserError, listed
from dumbbell.execution.cluster import require_cluster
from dumbbell.execution.pool import Outcome, Work, execute
from dumbbell.experiment import Experiment, Overrides, Run, check, everything, pin, resolve, with_overrides
from dumbbell.plugins.schemes import given_schemes
from dumbbell.progress import Progress
from dumbbell.results import Database, Gathering, Results, locked, prepare, to_json, write_environment
from dumbbell.results.environment import cpus, environment


@dataclass(frozen=True, kw_only=True)
class Execution:
    """How and where runs are executed: what every command that executes experiments is told."""

    jobs: int | None = None
    out: Path | None = None
    resume: bool = False
    json: bool = False
    cluster: str | None = None
    database: Path | None = None


@dataclass(frozen=True, kw_only=True)
class RunCommand(Execution):
    """The command's arguments."""

    experiment: str | None
    overrides: Overrides
    pantheon_dir: Path | None
    plugins: tuple[str, ...] = ()


def run(command: RunCommand) -> int:
    """Executes the experiment; 0 if every run is good, 1 if not."""
    if command.resume and command.out is None:
        raise UserError("--resume needs --out DIR: the results to continue")
    if "backend" in command.overrides.settings:
        backends.require(command.overrides.settings["backend"])
    command = _with_plugins(command)
    results, outcome = perform(_with_pantheon(_plan(command), command), command)
    return tell(results, outcome, command)


def perform(plan: Plan, command: RunCommand) -> tuple[Results, Outcome]:
    """Executes the experiment that `plan` and the command's overrides describe."""
    experiment = pin(resolve(plan, command.overrides))
    backend = backends.require(experiment.backend)
    jobs = backends.choose_jobs(backend, command.jobs, cpus())
    if command.cluster is not None:
        if not backend.capabilities.cluster:
            allowed = listed(backends.forms(lambda can: can.cluster))
            raise UserError(f"--cluster: allowed with --backend {allowed} only, not {experiment.backend}")
        _refuse_outside(experiment)
        require_cluster(command.cluster)
    _tell_left_out(with_overrides(plan, command.overrides))
    check(experiment)
    if command.database is not None:
        Database(command.database, gathers=True).close()  # before anything else is written
    directory = command.out or _default_directory(experiment)
    with backend.prepared(experiment):
        results = prepare(directory, experiment, command.resume)
        with locked(directory):
            return results, _execute(results, backend, jobs, command)


def _refuse_outside(experiment: Experiment) -> None:
    for scheme in experiment.schemes.values():
        if scheme.is_outside:
            raise UserError(f"--cluster: scheme `{scheme.name}`: {scheme.code} is on this machine only")


def _with_plugins(command: RunCommand) -> RunCommand:
    """The command with the schemes of its plug-ins: these alone, unless others are named too."""
    if not command.plugins:
        return command
    named = [
        f"{text.partition(':')[0]}:{scheme.controller}" for text in command.plugins for scheme in given_schemes(text)
    ]
    overrides = replace(command.overrides, schemes=(*command.overrides.schemes, *named))
    return replace(command, overrides=overrides)


def _with_pantheon(plan: Plan, command: RunCommand) -> Plan:
    """The plan with the schemes of a Pantheon checkout that it uses."""
    if command.pantheon_dir is None:
        return plan
    checkout = Checkout(command.pantheon_dir)
    used = with_overrides(plan, command.overrides)
    names = [*used.schemes, *(flow.scheme for flow in used.flow)]
    names += [name for mix in used.mixes for name, _ in parse_mix(mix)]
    if "all" in names:
        names += checkout.names()
    own = {name: checkout.scheme(name) for name in dict.fromkeys(names) if name.startswith(PREFIX)}
    return replace(plan, own_schemes=plan.own_schemes | own)


def _tell_left_out(plan: Plan) -> None:
    """What `all` does not include because it cannot run here."""
    if "all" in plan.schemes:
        for name, reason in everything(plan)[1].items():
            print(f"left out: {name}: {reason}", file=sys.stderr)


def _plan(command: RunCommand) -> Plan:
    stored = command.out / "experiment.toml" if command.resume and command.out else None
    if command.experiment is not None:
        return catalog.experiments().find(command.experiment)
    if stored is not None and stored.is_file() and not (command.overrides.schemes or command.overrides.mixes):
        return parse_plan(read_toml(stored))
    if command.resume and not (command.overrides.schemes or command.overrides.mixes):
        raise UserError(f"{command.out}: nothing to resume: there is no experiment.toml in it")
    return Plan(name="run", paths=["default"])


def _default_directory(experiment: Experiment) -> Path:
    started = datetime.datetime.now(datetime.UTC).strftime("%Y%m%dT%H%M%SZ")
    return Path("results") / f"{experiment.name}-{started}"


def _execute(results: Results, backend: Executor, jobs: int, command: RunCommand) -> Outcome:
    write_environment(results, environment(sys.argv) | backend.environment(results.experiment))
    gathering = None if command.database is None else Gathering(command.database)
    return execute_unfinished([results], jobs, command.cluster, gathering)


def execute_unfinished(
    parts: list[Results], jobs: int, cluster: str | None = None, gathering: Gathering | None = None
) -> Outcome:
    """Executes all runs that are not finished yet; SIGTERM stops it as Ctrl-C does."""
    work = [Work(part, [run for run in part.experiment.all_runs() if not part.is_finished(run)]) for part in parts]
    todo, total = sum(len(part.runs) for part in work), sum(len(part.experiment.all_runs()) for part in parts)
    if todo < total:
        print(f"{total - todo} of {total} runs are finished already", file=sys.stderr)
    previous = signal.signal(signal.SIGTERM, _interrupt)
    try:
        return execute(work, jobs, Progress(todo), cluster, gathering)
    finally:
        signal.signal(signal.SIGTERM, previous)


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def tell(
    results: Results, outcome: Outcome, command: RunCommand, show: Callable[[Results], None] = print_summary
) -> int:
    """Prints what came out, and what did not; the exit status."""
    if command.json:
        sys.stdout.write(to_json(results.as_json() | {"directory": str(results.directory)}))
    else:
        show(results)
    tell_failures(outcome)
    if outcome.interrupted:
        print(f"interrupted: `dumbbell run --resume --out {results.directory}` continues", file=sys.stderr)
    print(f"results: {results.directory}", file=sys.stderr)
    return 1 if outcome.failed or outcome.interrupted or outcome.unrecorded else 0


def tell_failures(outcome: Outcome) -> None:
    """Lists what failed, is degraded, or is not in a database."""
    _list_runs("failed", outcome.failed)
    _list_runs("are degraded and stay out of averages", outcome.degraded)
    for failure in outcome.unrecorded:
        print(f"not all runs are in the database, the same command with --resume adds them: {failure}", file=sys.stderr)


def _list_runs(what: str, runs: list[tuple[Run, str]]) -> None:
    if runs:
        print(f"{len(runs)} runs {what}:", file=sys.stderr)
    for run, reason in runs:
        print(f"  {run.label}: {reason}", file=sys.stderr)
