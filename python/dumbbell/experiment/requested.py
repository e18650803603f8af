"""An experiment in which the names and settings of a request replace those of the file."""

from dataclasses import replace

from dumbbell.base.errors import UserError, argument, listed, nearest
from dumbbell.base.json_text import BadJson, parse_json
from dumbbell.catalog.experiment_file import ExperimentFile, parse_mix
from dumbbell.catalog.experiment_settings import READERS, SettingValues, read_settings
from dumbbell.catalog.run_request import RunRequest
from dumbbell.catalog.scheme import WHAT, Scheme
from dumbbell.catalog.toml_tables import TomlTable


def with_request(experiment_file: ExperimentFile, request: RunRequest) -> ExperimentFile:
    """Return the experiment file with the names and settings of a request.

    Raises:
        UserError: If a setting is unknown, or a value is not allowed.
    """
    values = read_settings(TomlTable(request.chosen(), "the settings")) | _assigned_settings(request.assignments)
    changes: SettingValues = dict(values)
    if "runs" in values and "every_s" in values:
        raise UserError(f"`runs` = {values['runs']}: allowed without a schedule, which says how many there are")
    if "runs" in values:  # `runs` overrides the schedule of a file, so that a run of a campaign can be repeated alone
        changes |= {"every_s": None, "for_s": None}
    shorter: float | None = values.get("duration_s")
    if shorter is not None and "warmup_s" not in values and (experiment_file.warmup_s or 0.0) >= shorter:
        changes["warmup_s"] = None  # the file's warm-up would leave no time: use the default, a sixth of the duration
    mixes = [parse_mix(mix) for mix in request.mix_names]
    if request.schemes or request.mixes:
        changes |= {"schemes": list(request.scheme_names), "mixes": list(request.mix_names)}
    if request.path and experiment_file.cells:
        # the flows of a cell belong to its path, and have no meaning on another
        raise UserError(
            f"{experiment_file.file or experiment_file.name} has cells: choose some of them with {argument('cells')}",
            argument="path",
        )
    if request.path:
        changes["paths"] = list(request.path_names)
    names = (*request.scheme_names, *request.path_names, *(name for mix in mixes for name, _ in mix))
    changes["command_line_names"] = frozenset((*names, *([values["backend"].full_name] if "backend" in values else ())))
    if "flows" in values or "interval_s" in values:
        changes["flow"] = ()
    return replace(experiment_file, **changes)


def _assigned_settings(assignments: tuple[str, ...]) -> SettingValues:
    """Return the settings among the assignments: those without a dot."""
    values: SettingValues = {}
    for key, value in map(_split, assignments):
        if "." in key:
            continue
        if key not in READERS:
            hint = nearest(key, READERS)
            hint_text = f"allowed are SCHEME.KEY, {listed(READERS)}"
            raise UserError(f"unknown key `{key}`{hint}: {hint_text}", argument="settings")
        values |= read_settings(TomlTable({key: _literal(value)}, argument("settings")), (key,))
    return values


def _split(assignment: str) -> tuple[str, str]:
    key, equals, value = assignment.partition("=")
    if not equals or not key.strip() or not value.strip():
        form = "KEY=VALUE, like copa.delta=0.1 or warmup_s=2"
        raise UserError(argument="settings", value=f"`{assignment}`", allowed=form)
    return key.strip(), value.strip()


def with_assignments(schemes: dict[str, Scheme], assignments: tuple[str, ...]) -> dict[str, Scheme]:
    """Return the schemes with the assignments `SCHEME.[transport.|application.]KEY=VALUE` applied.

    Raises:
        UserError: If there is no such scheme, or its kind has no such key.
    """
    for key, value in map(_split, assignments):
        if "." not in key:
            continue
        name = next((name for name in schemes if key.startswith(f"{name}.")), None)
        if name is None:
            scheme_name = key.partition(".")[0]
            problem = f"no scheme `{scheme_name}` in this experiment{nearest(scheme_name, schemes)}: {listed(schemes)}"
            raise UserError(problem, argument="settings")
        schemes = schemes | {name: _assign(schemes[name], key.removeprefix(f"{name}."), value)}
    return schemes


def _assign(scheme: Scheme, item: str, value: str) -> Scheme:
    if scheme.real and item not in scheme.parameters:
        hint_text = f"allowed are {listed(scheme.parameters)}{nearest(item, scheme.parameters)}"
        raise UserError(f"{WHAT[scheme.kind]} as `{scheme.name}` has no `{item}`: {hint_text}", argument="settings")
    if item.startswith("transport."):
        transport = scheme.transport | {item.removeprefix("transport."): _literal(value)}
        return replace(scheme, transport=transport, file=argument("settings"), origin=scheme.origin or scheme.file)
    if item.startswith("application."):
        application = scheme.application | {item.removeprefix("application."): _literal(value)}
        return replace(scheme, application=application, file=argument("settings"), origin=scheme.origin or scheme.file)
    return replace(
        scheme,
        parameters=scheme.parameters | {item: value},
        assigned_parameters=scheme.assigned_parameters | {item},
        file=argument("settings"),
        origin=scheme.origin or scheme.file,
    )


def _literal(value: str) -> object:
    """Return a value of the command line: a number, a switch or a table if it is valid JSON, else a string."""
    try:
        literal: object = parse_json(value)
    except BadJson:
        return value
    return literal if isinstance(literal, int | float | bool | dict) else value
