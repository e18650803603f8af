"""From an experiment file and options to the list of runs: names looked up, numbers fixed, seeds derived."""

import hashlib
import json
import random
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

from dumbbell import _core, catalog
from dumbbell.catalog import FlowPlan, PathModel, Plan, Scheme, mix_label, parse_mix
from dumbbell.catalog.arrivals import expand
from dumbbell.catalog.available import missing
from dumbbell.catalog.grid import Scenario, scenarios
from dumbbell.catalog.published import Publication
from dumbbell.catalog.schemes import WHAT
from dumbbell.errors import UserError, listed, nearest, with_hint

MOST_LISTED = 6
"""Cells that a message lists."""

SEED_BITS = 53  # the widest whole number that every JSON reader keeps exact


@dataclass(frozen=True)
class Options:
    """What the command line changes about an experiment; `None` and empty leave it as the file says."""

    schemes: tuple[str, ...] = ()
    mixes: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    backend: str | None = None
    runs: int | None = None
    duration_s: float | None = None
    flows: int | None = None
    interval_s: float | None = None
    warmup_s: float | None = None
    seed: int | None = None
    log: str | None = None
    settings: tuple[str, ...] = ()
    cells: tuple[str, ...] = ()


@dataclass(frozen=True)
class Run:
    """One cell of the experiment: who, where, which repetition, and its seed."""

    path: str
    scheme: str
    run: int
    seed: int

    @property
    def directory(self) -> str:
        """Where its files live, below the results directory."""
        return f"runs/{slug(self.path)}/{slug(self.scheme)}/{self.run}"

    @property
    def label(self) -> str:
        """For messages."""
        return f"{self.scheme} on {self.path}, run {self.run}"


@dataclass(frozen=True)
class Experiment:
    """A resolved experiment. It depends on nothing outside: neither the catalogue nor the command line."""

    name: str
    title: str
    backend: str
    runs: int
    duration_s: float
    warmup_s: float
    seed: int
    random_order: bool
    sample_interval_s: float
    log: str
    flows: int
    interval_s: float
    start_spread_ms: float
    flow: tuple[FlowPlan, ...]
    labels: tuple[str, ...]
    mixes: tuple[str, ...]
    convergence_delta: float = 0.2
    intervals_s: float | None = None
    published: Publication = field(default_factory=Publication)
    schemes: dict[str, Scheme] = field(default_factory=dict)
    paths: dict[str, PathModel] = field(default_factory=dict)
    cells: dict[str, Scenario] = field(default_factory=dict)
    """The cells of a grid by the names of their paths; without a grid there are none."""
    file: str = field(default="", compare=False)
    """Where it was read from, for messages."""

    def all_runs(self) -> list[Run]:
        """Every run, in the order of execution: repetition by repetition, so that a killed experiment is balanced."""
        labels = [*self.labels, *self.mixes]
        if self.random_order:
            labels.sort(key=lambda label: derive_seed(self.seed, "order", label, 0))
        return [
            Run(path, label, run, derive_seed(self.seed, path, label, run))
            for run in range(1, self.runs + 1)
            for path in self.paths
            for label in labels
        ]

    def specification(self, run: Run) -> dict[str, Any]:
        """What the core is given for one run."""
        path = self.paths[run.path]
        return {
            "seed": run.seed,
            "duration_s": self.duration_s,
            "sample_interval_s": self.sample_interval_s,
            "convergence_delta": self.convergence_delta,
            "warmup_s": self.warmup_s,
            "log": self.log,
            "path": path.spec(),
            "flows": [self._flow(flow, path) for flow in self._spread(run)],
        }

    def _spread(self, run: Run) -> list[FlowPlan]:
        """The flows of a run, each up to `start_spread_ms` late: repetitions on a path without chance differ by it."""
        draw = random.Random(run.seed)
        spread_s = self.start_spread_ms / 1e3
        plans = expand(self.flow_plans(run.scheme, run.path), run.seed, self.duration_s - spread_s)
        if not spread_s:
            return plans
        return [replace(flow, start_s=flow.start_s + round(draw.uniform(0.0, spread_s), 6)) for flow in plans]

    def listed_flows(self, path: str) -> tuple[FlowPlan, ...]:
        """The flows that the experiment lists for its runs on `path`; none where label and `flows` tell."""
        return self.cells[path].flows if path in self.cells else self.flow

    def flow_plans(self, label: str, path: str) -> list[FlowPlan]:
        """The flows of a run of `label` on `path`, in order."""
        flows = self.listed_flows(path)
        if flows:
            return [replace(flow, scheme=flow.scheme or label) for flow in flows]
        names = [label] * self.flows
        if label in self.mixes:
            names = [name for name, count in parse_mix(label) for _ in range(count)]
        return [FlowPlan(name, start_s=index * self.interval_s) for index, name in enumerate(names)]

    def _flow(self, flow: FlowPlan, path: PathModel) -> dict[str, Any]:
        scheme = self.schemes[flow.scheme]
        return {
            "scheme": scheme.name,
            **_sender(replace(scheme, transport=scheme.transport | flow.transport), path),
            "application": flow.application or scheme.application,
            "start_s": flow.start_s,
            "stop_s": flow.stop_s,
            "rtt_ms": flow.rtt_ms,
            "reverse": flow.reverse,
            **flow.section(),
        }

    def table(self) -> dict[str, Any]:
        """The resolved experiment as TOML; it is itself an experiment file that can be run."""
        table: dict[str, Any] = {
            "name": self.name,
            "title": self.title,
            "schemes": list(self.labels),
            "mixes": list(self.mixes),
            "paths": list(self.paths),
            "backend": self.backend,
            "runs": self.runs,
            "duration_s": self.duration_s,
            "flows": self.flows,
            "interval_s": self.interval_s,
            "start_spread_ms": self.start_spread_ms,
            "warmup_s": self.warmup_s,
            "seed": self.seed,
            "random_order": self.random_order,
            "sample_interval_s": self.sample_interval_s,
            "convergence_delta": self.convergence_delta,
            "log": self.log,
        }
        if self.intervals_s is not None:
            table["intervals_s"] = self.intervals_s
        if self.flow and not self.cells:
            table["flow"] = [flow.table() for flow in self.flow]
        table |= self.published.table()
        table["scheme"] = {name: scheme.table() for name, scheme in self.schemes.items()}
        table["path"] = {name: path.table() for name, path in self.paths.items()}
        if self.cells:
            table["cell"] = {name: cell.table() for name, cell in self.cells.items()}
        return table


def derive_seed(seed: int, path: str, scheme: str, run: int) -> int:
    """The seed of one run: a hash, so that adding a scheme, a path or a run changes no other run."""
    digest = hashlib.sha256(f"{seed}\n{path}\n{scheme}\n{run}".encode()).digest()
    return int.from_bytes(digest[:8], "big") >> (64 - SEED_BITS)


def slug(label: str) -> str:
    """A label as a directory name: `cubic*2+bbr` becomes `cubicx2+bbr`."""
    return "".join(letter if letter.isalnum() or letter in "._+-" else "x" for letter in label)


def _sender(scheme: Scheme, path: PathModel) -> dict[str, Any]:
    """What makes a flow's packets, as the core is told."""
    if scheme.program is not None:
        return {"program": scheme.program.spec(scheme.parameters)}
    if scheme.real:
        return {"kernel": {"congestion_control": scheme.controller}}
    return {
        "controller": scheme.controller,
        "parameters": scheme.parameters,
        "transport": fitted_transport(scheme, path),
    }


def fitted_transport(scheme: Scheme, path: PathModel) -> dict[str, Any]:
    """The scheme's transport, its packets made to fit the path's MTU unless it fixes `payload_bytes` itself.

    This is what path MTU discovery does for the programs behind the schemes: 1412 bytes in Pantheon's tunnel.
    """
    if "payload_bytes" in scheme.transport:
        return scheme.transport
    try:
        config = complete_transport(json.dumps(scheme.transport))
    except _core.Error:
        # `check` says what is wrong with it, and whether the scheme or a flow brings it.
        return scheme.transport
    room = path.mtu_bytes - path.overhead_bytes - int(config["header_bytes"])
    if room < 1:
        raise UserError(f"{path.file}: `mtu_bytes` = {path.mtu_bytes}: leaves no room for data of `{scheme.name}`")
    if int(config["payload_bytes"]) <= room:
        return scheme.transport
    return scheme.transport | {"payload_bytes": room}


@cache
def complete_transport(given: str) -> dict[str, Any]:
    """The whole configuration that a transport table (JSON) stands for."""
    complete: dict[str, Any] = json.loads(_core.transport(given))
    return complete


def resolve(plan: Plan, options: Options) -> Experiment:
    """The experiment that `plan` and `options` describe together.

    Raises:
        UserError: an unknown name, or values that contradict each other.
    """
    plan, settings = _experiment_settings(with_options(plan, options), options.settings)
    mixes = {mix_label(parse_mix(mix)): parse_mix(mix) for mix in plan.mixes}
    labels = _labels(plan)
    if not labels and not mixes:
        raise UserError("no scheme to run: name an experiment, or give --schemes or --mix")
    if not plan.paths:
        raise UserError("no path to run on: give --path")
    cells = _cells(plan)
    paths = [cell.path for cell in cells.values()] or _paths(plan)
    if options.cells:
        paths = _only(paths, options.cells)
        cells = {path.name: cells[path.name] for path in paths if path.name in cells}
    listed_flows = [flow for cell in cells.values() for flow in cell.flows] or list(plan.flow)
    if mixes and any(not flow.scheme for flow in listed_flows):
        raise UserError(f"{plan.file}: lists its flows: it takes --schemes, not --mix")
    used = [*labels, *(name for parts in mixes.values() for name, _ in parts), *(f.scheme for f in listed_flows)]
    found = {name: _scheme(plan, name) for name in used if name}
    canonical = {name: scheme.name for name, scheme in found.items()}
    schemes = _scheme_settings({scheme.name: scheme for scheme in found.values()}, settings)
    alone = tuple(dict.fromkeys(canonical[name] for name in labels))
    return Experiment(
        name=plan.name,
        title=plan.title,
        backend=plan.backend,
        runs=plan.runs,
        duration_s=plan.duration_s,
        warmup_s=plan.duration_s / 6 if plan.warmup_s is None else plan.warmup_s,
        seed=plan.seed,
        random_order=plan.random_order,
        sample_interval_s=plan.sample_interval_s,
        convergence_delta=plan.convergence_delta,
        log=plan.log,
        flows=plan.flows,
        interval_s=plan.interval_s,
        start_spread_ms=plan.start_spread_ms,
        flow=_named(plan.flow, canonical),
        labels=alone,
        mixes=tuple(mix_label([(canonical[name], count) for name, count in parts]) for parts in mixes.values()),
        intervals_s=plan.intervals_s,
        published=_published(plan, set(alone), {path.name for path in paths}),
        schemes=schemes,
        paths={path.name: path for path in paths},
        cells={name: replace(cell, flows=_named(cell.flows, canonical)) for name, cell in cells.items()},
        file=plan.file,
    )


def _named(flows: tuple[FlowPlan, ...], canonical: dict[str, str]) -> tuple[FlowPlan, ...]:
    return tuple(replace(flow, scheme=canonical.get(flow.scheme, "")) for flow in flows)


def _scheme(plan: Plan, name: str) -> Scheme:
    """The scheme that a plan means by the name.

    Raises:
        UserError: there is none. A name that stands in the experiment's file comes with the file.
    """
    with _naming(plan, name):
        return plan.own_schemes.get(name) or catalog.schemes().find(name)


def _path(plan: Plan, name: str) -> PathModel:
    """Likewise the path."""
    with _naming(plan, name):
        return plan.own_paths.get(name) or catalog.paths().find(name)


@contextmanager
def _naming(plan: Plan, name: str) -> Iterator[None]:
    try:
        yield
    except UserError as error:
        if not plan.file or name in plan.told:
            raise
        raise UserError(f"{plan.file}: {error}") from None


def _paths(plan: Plan) -> list[PathModel]:
    return [_path(plan, name) for name in plan.paths]


def _cells(plan: Plan) -> dict[str, Scenario]:
    """The cells of the plan's grid, on each path; those of a resolved experiment are there already."""
    if plan.cells:
        return plan.cells
    if not plan.grid:
        return {}
    template = plan.flow
    if not template and plan.flows > 1:
        template = tuple(FlowPlan(start_s=index * plan.interval_s) for index in range(plan.flows))
    source = plan.file or plan.name
    return {cell.path.name: cell for path in _paths(plan) for cell in scenarios(path, template, plan.grid, source)}


def _only(paths: list[PathModel], names: tuple[str, ...]) -> list[PathModel]:
    """The paths, be they cells of a grid or not, that `--cell` names."""
    known = {path.name: path for path in paths}
    for name in names:
        if name not in known:
            more = f" and {len(known) - MOST_LISTED} more" if len(known) > MOST_LISTED else ""
            some = listed(list(known)[:MOST_LISTED])
            raise UserError(f"--cell: unknown cell `{name}`{nearest(name, known)}: allowed are {some}{more}")
    return [known[name] for name in dict.fromkeys(names)]


def _published(plan: Plan, labels: set[str], paths: set[str]) -> Publication:
    """The published rows of the paths that run. A scheme that does not run keeps only its title."""
    rows, bare = [], replace(plan, file="")
    for index, row in enumerate(plan.published.rows):
        try:
            scheme = _scheme(bare, row.scheme) if row.scheme else None
            path = _path(bare, row.path).name if row.path else ""
        except UserError as error:
            raise UserError(f"{plan.file}: `published[{index}]`: {error}") from None
        if scheme is not None:
            name = scheme.name if scheme.name in labels else ""
            row = replace(row, scheme=name, title=row.title or scheme.title)
        if not path or path in paths:
            rows.append(replace(row, path=path))
    return replace(plan.published, rows=tuple(rows))


def check(experiment: Experiment) -> None:
    """Asks the core whether every combination can run, before anything runs.

    Raises:
        UserError: names the file at fault and the core's reason.
    """
    for path in experiment.paths.values():
        try:
            _core.check_path(json.dumps(path.spec()))
        except _core.Error as error:
            raise UserError(f"{path.file}: path `{path.name}`: {with_hint(str(error))}") from None
    for scheme in experiment.schemes.values():
        if scheme.real:
            _check_real(scheme, experiment.backend)
            continue
        try:
            _core.check_parameters(scheme.controller, scheme.parameters)
            _core.transport(json.dumps(scheme.transport))
            _core.check_application(json.dumps(scheme.application))
        except _core.Error as error:
            raise UserError(f"{scheme.file}: scheme `{scheme.name}`: {with_hint(str(error))}") from None
    for run in replace(experiment, runs=1).all_runs():
        count = len(experiment.flow_plans(run.scheme, run.path))
        for flow in experiment.flow_plans(run.scheme, run.path):
            if flow.transport and experiment.schemes[flow.scheme].real:
                real = WHAT[experiment.schemes[flow.scheme].kind]
                raise UserError(f"flow of `{flow.scheme}`: `transport`: allowed is none: {real} brings its own")
        if not experiment.listed_flows(run.path) and (count - 1) * experiment.interval_s >= experiment.duration_s:
            raise UserError(
                f"{count} flows, {experiment.interval_s:g} s apart, do not all start within the duration of "
                f"{experiment.duration_s:g} s"
            )
        try:
            _core.check_run(json.dumps(experiment.specification(run)), experiment.backend)
        except _core.Error as error:
            file = f"{experiment.file}: " if experiment.file and experiment.listed_flows(run.path) else ""
            raise UserError(f"{file}{run.scheme} on {run.path}: {with_hint(str(error))}") from None


def _check_real(scheme: Scheme, backend: str) -> None:
    if backend == "sim":
        raise UserError(f"scheme `{scheme.name}` is {WHAT[scheme.kind]}: it runs with --backend emu only")
    reason = missing(scheme)
    if reason is not None:
        raise UserError(f"scheme `{scheme.name}` cannot run here: {reason}")


def everything(plan: Plan) -> tuple[list[Scheme], dict[str, str]]:
    """What `all` stands for, and what is left out with the reason: in simulation, all that needs real packets."""
    known = {scheme.name: scheme for scheme in catalog.schemes() if not scheme.is_traffic} | plan.own_schemes
    if plan.backend == "sim":
        return [scheme for scheme in known.values() if not scheme.real], {}
    reasons = {name: missing(scheme) for name, scheme in known.items()}
    chosen = [scheme for name, scheme in known.items() if reasons[name] is None]
    return chosen, {name: reason for name, reason in reasons.items() if reason is not None}


def with_options(plan: Plan, options: Options) -> Plan:
    """The plan as the command line changes it."""
    single = ("backend", "runs", "duration_s", "flows", "interval_s", "warmup_s", "seed", "log")
    changes = {key: getattr(options, key) for key in single if getattr(options, key) is not None}
    mixes = [parse_mix(mix) for mix in options.mixes]
    if options.schemes or options.mixes:
        changes |= {"schemes": list(options.schemes), "mixes": list(options.mixes)}
    if options.paths and plan.cells:
        # its flows belong to the cells: elsewhere they would be others
        raise UserError(f"--path: {plan.file or plan.name} has cells: choose some of them with --cell")
    if options.paths:
        changes["paths"] = list(options.paths)
    changes["told"] = frozenset((*options.schemes, *options.paths, *(name for mix in mixes for name, _ in mix)))
    if options.flows is not None or options.interval_s is not None:
        changes["flow"] = ()
    return replace(plan, **changes)


def _labels(plan: Plan) -> list[str]:
    labels: list[str] = []
    for name in plan.schemes:
        labels += [scheme.name for scheme in everything(plan)[0]] if name == "all" else [name]
    return labels


def _split(setting: str) -> tuple[str, str]:
    key, equals, value = setting.partition("=")
    if not equals or not key.strip() or not value.strip():
        raise UserError(f"--set `{setting}`: allowed is KEY=VALUE, like copa.delta=0.1 or warmup_s=2")
    return key.strip(), value.strip()


EXPERIMENT_SETTINGS: dict[str, type] = {
    "warmup_s": float,
    "start_spread_ms": float,
    "sample_interval_s": float,
    "convergence_delta": float,
    "random_order": bool,
}


def _experiment_settings(plan: Plan, settings: Iterable[str]) -> tuple[Plan, list[tuple[str, str]]]:
    """Applies the settings without a dot; returns those with one."""
    rest = []
    for setting in settings:
        key, value = _split(setting)
        if "." in key:
            rest.append((key, value))
            continue
        kind = EXPERIMENT_SETTINGS.get(key)
        if kind is None:
            hint = nearest(key, EXPERIMENT_SETTINGS)
            raise UserError(f"--set: unknown key `{key}`{hint}: allowed are SCHEME.KEY, {listed(EXPERIMENT_SETTINGS)}")
        changed: dict[str, Any] = {key: _typed(setting, value, kind)}
        plan = replace(plan, **changed)
    return plan, rest


def _typed(setting: str, value: str, kind: type) -> float | bool:
    if kind is bool:
        if value not in ("true", "false"):
            raise UserError(f"--set `{setting}`: allowed is true or false")
        return value == "true"
    try:
        number = float(value)
    except ValueError:
        number = -1.0
    if not 0.0 <= number < 1e6:
        raise UserError(f"--set `{setting}`: allowed is a number, at least 0")
    return number


def _scheme_settings(schemes: dict[str, Scheme], settings: list[tuple[str, str]]) -> dict[str, Scheme]:
    """Applies `SCHEME.PARAMETER=VALUE`, `SCHEME.transport.KEY=VALUE` and `SCHEME.application.KEY=VALUE`."""
    for key, value in settings:
        name = next((name for name in schemes if key.startswith(f"{name}.")), None)
        if name is None:
            given = key.partition(".")[0]
            raise UserError(
                f"--set: no scheme `{given}` in this experiment{nearest(given, schemes)}: {listed(schemes)}"
            )
        scheme, item = schemes[name], key.removeprefix(f"{name}.")
        if scheme.real and item not in scheme.parameters:
            allowed = f"allowed are {listed(scheme.parameters)}{nearest(item, scheme.parameters)}"
            raise UserError(f"--set: {WHAT[scheme.kind]} as `{name}` has no `{item}`: {allowed}")
        if item.startswith("transport."):
            transport = scheme.transport | {item.removeprefix("transport."): _literal(value)}
            schemes = schemes | {name: replace(scheme, transport=transport, file="--set")}
        elif item.startswith("application."):
            application = scheme.application | {item.removeprefix("application."): _literal(value)}
            schemes = schemes | {name: replace(scheme, application=application, file="--set")}
        else:
            schemes = schemes | {name: replace(scheme, parameters=scheme.parameters | {item: value}, file="--set")}
    return schemes


def _literal(value: str) -> object:
    """A value typed on the command line: a number, a switch or a table where it reads as one, else a text."""
    try:
        literal: object = json.loads(value)
    except ValueError:
        return value
    return literal if isinstance(literal, int | float | bool | dict) else value
