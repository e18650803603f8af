"""An experiment with the names and settings of a request in the place of its own."""

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
        UserError: an unknown setting, or a value that is not allowed.
    """
    given = read_settings(TomlTable(request.chosen(), "the settings")) | _assigned(request.assignments)
    changes: SettingValues = dict(given)
    if "runs" in given and "every_s" in given:
        raise UserError(f"`runs` = {given['runs']}: allowed without a schedule, which says how many there are")
    if "runs" in given:  # the schedule of a file gives way: a run of a campaign can be made again by itself
        changes |= {"every_s": None, "for_s": None}
    shorter: float | None = given.get("duration_s")
    if shorter is not None and "warmup_s" not in given and (experiment_file.warmup_s or 0.0) >= shorter:
        changes["warmup_s"] = None  # that of the file would leave nothing: a sixth of the duration, as without one
    mixes = [parse_mix(mix) for mix in request.mix_names]
    if request.schemes or request.mixes:
        changes |= {"schemes": list(request.scheme_names), "mixes": list(request.mix_names)}
    if request.path and experiment_file.cells:
        # the flows of a cell are made for its path and mean nothing on another
        raise UserError(
            f"{experiment_file.file or experiment_file.name} has cells: choose some of them with {argument('cells')}",
            argument="path",
        )
    if request.path:
        changes["paths"] = list(request.path_names)
    named = (*request.scheme_names, *request.path_names, *(name for mix in mixes for name, _ in mix))
    changes["told"] = frozenset((*named, *([given["backend"].full_name] if "backend" in given else ())))
    if "flows" in given or "interval_s" in given:
        changes["flow"] = ()
    return replace(experiment_file, **changes)


def _assigned(assignments: tuple[str, ...]) -> SettingValues:
    """The settings among the assignments: those without a dot."""
    given: SettingValues = {}
    for key, value in map(_split, assignments):
        if "." in key:
            continue
        if key not in READERS:
            hint = nearest(key, READERS)
            allowed = f"allowed are SCHEME.KEY, {listed(READERS)}"
            raise UserError(f"unknown key `{key}`{hint}: {allowed}", argument="settings")
        given |= read_settings(TomlTable({key: _literal(value)}, argument("settings")), (key,))
    return given


def _split(assignment: str) -> tuple[str, str]:
    key, equals, value = assignment.partition("=")
    if not equals or not key.strip() or not value.strip():
        allowed = "KEY=VALUE, like copa.delta=0.1 or warmup_s=2"
        raise UserError(argument="settings", value=f"`{assignment}`", allowed=allowed)
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
            problem = f"no scheme `{given}` in this experiment{nearest(given, schemes)}: {listed(schemes)}"
            raise UserError(problem, argument="settings")
        schemes = schemes | {name: _assign(schemes[name], key.removeprefix(f"{name}."), value)}
    return schemes


def _assign(scheme: Scheme, item: str, value: str) -> Scheme:
    if scheme.real and item not in scheme.parameters:
        allowed = f"allowed are {listed(scheme.parameters)}{nearest(item, scheme.parameters)}"
        raise UserError(f"{WHAT[scheme.kind]} as `{scheme.name}` has no `{item}`: {allowed}", argument="settings")
    if item.startswith("transport."):
        transport = scheme.transport | {item.removeprefix("transport."): _literal(value)}
        return replace(scheme, transport=transport, file=argument("settings"), origin=scheme.origin or scheme.file)
    if item.startswith("application."):
        application = scheme.application | {item.removeprefix("application."): _literal(value)}
        return replace(scheme, application=application, file=argument("settings"), origin=scheme.origin or scheme.file)
    return replace(
        scheme,
        parameters=scheme.parameters | {item: value},
        assigned=scheme.assigned | {item},
        file=argument("settings"),
        origin=scheme.origin or scheme.file,
    )


def _literal(value: str) -> object:
    """A value typed on the command line: a number, a switch or a table where it reads as one, else a text."""
    try:
        literal: object = parse_json(value)
    except BadJson:
        return value
    return literal if isinstance(literal, int | float | bool | dict) else value
