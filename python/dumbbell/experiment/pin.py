"""Files that schemes depend on: libraries, classes, weights. Before runs they are found, and their sums recorded."""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from dumbbell.base.errors import UserError, full_name, one_line
from dumbbell.base.input_files import PARAMETER, Kind, digest
from dumbbell.catalog.outside.plugin_schemes import plugin_file_kind
from dumbbell.catalog.scheme import Scheme
from dumbbell.contract.controllers import Controller
from dumbbell.core.controllers import builtin_controllers
from dumbbell.experiment.planned import Experiment
from dumbbell.plugins.isolated import describe


def pin(experiment: Experiment) -> Experiment:
    """The experiment with the files of its schemes by their full names, and their SHA-256.

    Names in a file of a scheme are relative to that file, those that the command line gives to where it is typed.

    Raises:
        UserError: one cannot be read, or is not the one that the experiment was resolved with.
    """
    return replace(experiment, schemes={name: _pinned(scheme) for name, scheme in experiment.schemes.items()})


def _pinned(scheme: Scheme) -> Scheme:
    if scheme.real:
        return scheme
    parameters = dict(scheme.parameters)
    sums = {}
    if scheme.is_outside:  # before it is loaded, to be asked for its parameters
        sums[scheme.code] = _sum(scheme, scheme.code, plugin_file_kind(scheme.code), scheme.code)
        scheme = replace(scheme, files=scheme.files | sums)
    for name in _file_parameters(scheme) if parameters else ():
        if name in parameters:
            folder = Path.cwd() if name in scheme.assigned else Path(scheme.folder)
            file = parameters[name] = str(full_name(f"scheme `{scheme.name}`: `{name}`", folder / parameters[name]))
            sums[file] = _sum(scheme, file, PARAMETER, f"`{name}` = `{file}`")
    return replace(scheme, parameters=parameters, files=sums)


def _sum(scheme: Scheme, file: str, kind: Kind, key: str) -> str:
    """Return the SHA-256 of a file that a scheme names by `key`.

    Raises:
        UserError: it cannot be read, or is not the one that the experiment was resolved with.
    """
    try:
        found = digest(Path(file), kind)
    except OSError as error:
        where = f"{scheme.file}: scheme `{scheme.name}`: "
        raise UserError(f"{where}{key}: {error.strerror or one_line(error)}") from None
    if scheme.files.get(file, found) != found:
        raise UserError(
            f"{scheme.file}: scheme `{scheme.name}`: {file} has changed: its SHA-256 is not the one under `files`"
        )
    return found


def _file_parameters(scheme: Scheme) -> list[str]:
    """The names of the parameters whose values are files."""
    listed: Iterable[Controller] = (
        describe(scheme.code, scheme.files[scheme.code]) if scheme.is_outside else builtin_controllers()
    )
    return [
        parameter["name"]
        for controller in listed
        if controller["name"] == scheme.controller
        for parameter in controller["parameters"]
        if parameter["kind"] == "file"
    ]
