"""Files that schemes depend on: libraries, classes, weights.

Before runs they are located, and their digests recorded.
"""

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
    """Return the experiment with the absolute names and SHA-256 of its schemes' files.

    Names in a scheme file are relative to that file, names on the command line to the working directory.

    Raises:
        UserError: If a file cannot be read, or has changed since the experiment was resolved.
    """
    return replace(experiment, schemes={name: _pin_scheme(scheme) for name, scheme in experiment.schemes.items()})


def _pin_scheme(scheme: Scheme) -> Scheme:
    if scheme.real:
        return scheme
    parameters = dict(scheme.parameters)
    sums = {}
    if scheme.is_outside:  # before the file is loaded for its parameters
        sums[scheme.code] = _sum(scheme, scheme.code, plugin_file_kind(scheme.code), scheme.code)
        scheme = replace(scheme, files=scheme.files | sums)
    for name in _file_parameters(scheme) if parameters else ():
        if name in parameters:
            folder = Path.cwd() if name in scheme.assigned_parameters else Path(scheme.folder)
            file = parameters[name] = str(full_name(f"scheme `{scheme.name}`: `{name}`", folder / parameters[name]))
            sums[file] = _sum(scheme, file, PARAMETER, f"`{name}` = `{file}`")
    return replace(scheme, parameters=parameters, files=sums)


def _sum(scheme: Scheme, file: str, kind: Kind, key: str) -> str:
    """Return the SHA-256 of a file that a scheme names by `key`.

    Raises:
        UserError: If the file cannot be read, or has changed since the experiment was resolved.
    """
    try:
        current_sha256 = digest(Path(file), kind)
    except OSError as error:
        prefix = f"{scheme.file}: scheme `{scheme.name}`: "
        raise UserError(f"{prefix}{key}: {error.strerror or one_line(error)}") from None
    if scheme.files.get(file, current_sha256) != current_sha256:
        raise UserError(
            f"{scheme.file}: scheme `{scheme.name}`: {file} has changed: its SHA-256 is not the one under `files`"
        )
    return current_sha256


def _file_parameters(scheme: Scheme) -> list[str]:
    """Return the names of the parameters whose values are files."""
    controllers: Iterable[Controller] = (
        describe(scheme.code, scheme.files[scheme.code]) if scheme.is_outside else builtin_controllers()
    )
    return [
        parameter["name"]
        for controller in controllers
        if controller["name"] == scheme.controller
        for parameter in controller["parameters"]
        if parameter["kind"] == "file"
    ]
