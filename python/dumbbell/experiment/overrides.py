"""What a command line or a program changes about an experiment."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from dumbbell.base.errors import UserError, listed, nearest
from dumbbell.base.json_text import BadJson, parse_json
from dumbbell.catalog.experiment_file import ExperimentFile, parse_mix
from dumbbell.catalog.experiment_settings import READERS, SettingValues, read_settings
from dumbbell.catalog.scheme import WHAT, Scheme
from dumbbell.catalog.toml_tables import TomlTable


@dataclass(frozen=True, kw_only=True)
class Overrides:
    """What differs from the experiment as written; what is empty leaves it as it is.

    `settings` are fields of `Settings` by name, `assignments` texts KEY=VALUE as `--set` takes them; `cells` are the
    only paths or cells to run.
    """

    schemes: tuple[str, ...] = ()
    mixes: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    assignments: tuple[str, ...] = ()
    cells: tuple[str, ...] = ()


def with_overrides(experiment_file: ExperimentFile, overrides: Overrides) -> ExperimentFile:
    """The experiment file with other names and settings.

    Raises:
        UserError: an unknown setting, or a value that is not allowed.
    """
    given = read_settings(_table(dict(overrides.settings), "the settings")) | _assigned(overrides.assignments)
    changes: SettingValues = dict(given)
    if "runs" in given and "every_s" in given:
        raise UserError(f"`runs` = {given['runs']}: allowed without a schedule, which says how many there are")
    if "runs" in given:  # the schedule of a file gives way: a run of a campaign can be made again by itself
        changes |= {"every_s": None, "for_s": None}
    shorter: float | None = given.get("duration_s")
    if shorter is not None and "warmup_s" not in given and (experiment_file.warmup_s or 0.0) >= shorter:
        changes["warmup_s"] = None  # that of the file would leave nothing: a sixth of the duration, as without one
    mixes = [parse_mix(mix) for mix in overrides.mixes]
    if overrides.schemes or overrides.mixes:
        changes |= {"schemes": list(overrides.schemes), "mixes": list(overrides.mixes)}
    if overrides.paths and experiment_file.cells:
        # the flows of a cell are made for its path and mean nothing on another
        raise UserError(
            f"--path: {experiment_file.file or experiment_file.name} has cells: choose some of them with --cell"
        )
    if overrides.paths:
        changes["paths"] = list(overrides.paths)
    named = (*overrides.schemes, *overrides.paths, *(name for mix in mixes for name, _ in mix))
    changes["told"] = frozenset((*named, *([given["backend"]] if "backend" in given else ())))
    if "flows" in given or "interval_s" in given:
        changes["flow"] = ()
    return replace(experiment_file, **changes)


def _table(given: SettingValues, source: str) -> TomlTable:
    """A table of settings and nothing else."""
    for name in given:
        if name not in READERS:
            raise UserError(f"{source}: unknown key `{name}`{nearest(name, READERS)}: allowed are {listed(READERS)}")
    return TomlTable(given, source)


def _assigned(assignments: tuple[str, ...]) -> SettingValues:
    """The settings among the assignments: those without a dot."""
    given: SettingValues = {}
    for key, value in map(_split, assignments):
        if "." in key:
            continue
        if key not in READERS:
            hint = nearest(key, READERS)
            raise UserError(f"--set: unknown key `{key}`{hint}: allowed are SCHEME.KEY, {listed(READERS)}")
        given |= read_settings(TomlTable({key: _literal(value)}, "--set"), (key,))
    return given


def _split(assignment: str) -> tuple[str, str]:
    key, equals, value = assignment.partition("=")
    if not equals or not key.strip() or not value.strip():
        raise UserError(f"--set `{assignment}`: allowed is KEY=VALUE, like copa.delta=0.1 or warmup_s=2")
    return key.strip(), value.strip()


def with_assignments(schemes: dict[str, Scheme], assignments: tuple[str, ...]) -> dict[str, Scheme]:
    """The schemes with `SCHEME.PARAMETER=VALUE`, `SCHEME.transport.KEY=VALUE`, `SCHEME.application.KEY=VALUE` applied.

    Raises:
        UserError: no such scheme, or one of a kind that has no such key.
    """
    for key, value in map(_split, assignments):
        if "." not in key:
            continue
        name = next((name for name in schemes if key.startswith(f"{name}.")), None)
        if name is None:
            given = key.partition(".")[0]
            raise UserError(
                f"--set: no scheme `{given}` in this experiment{nearest(given, schemes)}: {listed(schemes)}"
            )
        schemes = schemes | {name: _assign(schemes[name], key.removeprefix(f"{name}."), value)}
    return schemes


def _assign(scheme: Scheme, item: str, value: str) -> Scheme:
    if scheme.real and item not in scheme.parameters:
        allowed = f"allowed are {listed(scheme.parameters)}{nearest(item, scheme.parameters)}"
        raise UserError(f"--set: {WHAT[scheme.kind]} as `{scheme.name}` has no `{item}`: {allowed}")
    if item.startswith("transport."):
        transport = scheme.transport | {item.removeprefix("transport."): _literal(value)}
        return replace(scheme, transport=transport, file="--set", origin=scheme.origin or scheme.file)
    if item.startswith("application."):
        application = scheme.application | {item.removeprefix("application."): _literal(value)}
        return replace(scheme, application=application, file="--set", origin=scheme.origin or scheme.file)
    return replace(
        scheme,
        parameters=scheme.parameters | {item: value},
        assigned=scheme.assigned | {item},
        file="--set",
        origin=scheme.origin or scheme.file,
    )


def _literal(value: str) -> object:
    """A value typed on the command line: a number, a switch or a table where it reads as one, else a text."""
    try:
        literal: object = parse_json(value)
    except BadJson:
        return value
    return literal if isinstance(literal, int | float | bool | dict) else value
