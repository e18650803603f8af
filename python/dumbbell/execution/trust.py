"""The user's consent to the code that an experiment file would execute on this machine.

Typing the name of a plug-in or of a scheme file is consent. An experiment file may come from anybody, wherever it is
and whatever is beside it. So its code is compared with the digests of code that this user has run before, or has agreed
to.
"""

import contextlib
import hashlib
import json
import os
import shlex
import stat
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from dumbbell import catalog
from dumbbell.base.backend import Backend
from dumbbell.base.errors import UserError, argument, listed
from dumbbell.base.input_files import TRUSTED, read_text
from dumbbell.base.user_folders import user_folder
from dumbbell.catalog.experiment_file import ExperimentFile
from dumbbell.catalog.outside.plugin_schemes import plugin_digest, plugin_sha256, with_sha256
from dumbbell.catalog.programs import SIDES, unescaped
from dumbbell.catalog.run_request import RunRequest
from dumbbell.catalog.scheme import CODE, WHAT, Scheme
from dumbbell.experiment import Experiment, pin, resolve, with_request
from dumbbell.experiment.resolve import UnknownPlugin


class Untrusted(UserError):
    """An experiment file would execute code that this user has not run before.

    `what` describes all of the code; `trust=True` runs it.
    """

    def __init__(self, file: str, codes: Mapping[str, str]) -> None:
        """Make the error; `codes` describes each piece of code, by its digest."""
        self.file = file
        self.what = descriptions = list(codes.values())
        self._codes = tuple(codes)
        super().__init__(
            f"{file}: would execute on this machine what you have not run before: {listed(descriptions)}",
            fix=f"{argument('trust', 'True')} runs it",
        )

    def agree(self) -> None:
        """Record that this user agrees to the listed code, and to no other code in the file."""
        _agreed_digests.update(self._codes)
        _remember(self._codes)


_agreed_digests: set[str] = set()
"""Digests of code that the user agreed to in this process. They count even if the record cannot be written."""


def is_foreign(experiment_file: ExperimentFile) -> bool:
    """Return True if somebody else may have written the experiment: its file is not one of dumbbell's own.

    The place of the file proves nothing: its sender chooses the files beside it, and links to it.
    """
    return experiment_file.file.endswith((".toml", "TOML")) and not catalog.experiments().is_shipped(
        experiment_file.file
    )


def trusted(experiment_file: ExperimentFile, request: RunRequest, trust: bool) -> Experiment:
    """Return the experiment of both arguments, with its files pinned. None of its code is loaded before it is trusted.

    Raises:
        Untrusted: As for `require_trust`, or if the experiment file names an unknown plug-in.
        UserError: If the experiment cannot be run.
    """
    experiment = _resolved(experiment_file, request, trust)
    require_trust(with_request(experiment_file, request), experiment, trust)
    return pin(experiment)


def trusted_member(
    experiment_file: ExperimentFile, labels: Sequence[str], user_schemes: dict[str, Scheme]
) -> Experiment:
    """Return the experiment in `experiment_file` for the schemes `labels`, as for `trusted`.

    `user_schemes` are schemes that the user has named, by name.

    Raises:
        Untrusted: If the experiment file has code that this user has not run.
        UserError: If the experiment cannot be run.
    """
    full = replace(
        experiment_file, schemes=list(labels), mixes=[], own_schemes=experiment_file.own_schemes | user_schemes
    )
    experiment = _resolved(full, RunRequest(), trust=False)
    require_trust(
        replace(experiment_file, command_line_names=frozenset(scheme.file for scheme in user_schemes.values())),
        experiment,
        trust=False,
    )
    return pin(experiment)


def _resolved(experiment_file: ExperimentFile, request: RunRequest, trust: bool) -> Experiment:
    """Return the experiment of both arguments. An unknown plug-in is not loaded.

    Raises:
        Untrusted: If the file of the experiment names an unknown plug-in.
        UserError: If the experiment cannot be run.
    """
    known_digests = _read_record() if is_foreign(experiment_file) and not trust else None
    try:
        return resolve(replace(experiment_file, known_plugins=known_digests), request)
    except UnknownPlugin as unknown:
        codes = {code: f"plug-in {file}" for file, code in unknown.plugins.items()}
        file_code = _file_code(
            with_request(experiment_file, request),
            _unknown_code([with_sha256(scheme) for scheme in unknown.other_schemes]),
        )
        raise Untrusted(experiment_file.file, codes | file_code) from None


def agree_to(experiment: Experiment) -> None:
    """Record the code of the experiment as agreed, in this process: a program has named it."""
    _agreed_digests.update(code for code, _ in _unknown_code(experiment.schemes.values()))


def outside_code(specification: Mapping[str, object]) -> Iterator[tuple[Mapping[str, Any], Mapping[str, Any], str]]:
    """Yield each flow with an external controller, the table that names its code, and the file.

    `specification` may be any JSON value.
    """
    flows = specification.get("flows")
    for flow in flows if isinstance(flows, (list, tuple)) else []:  # both are lists in JSON
        for kind, key in CODE.items():
            code = flow.get(kind) if isinstance(flow, Mapping) else None
            if isinstance(code, Mapping):
                yield flow, code, str(code.get(key))


def require_known(specification: Mapping[str, object]) -> None:
    """Raise an error unless this user knows the plug-ins of a run spec, which may come with foreign results.

    Raises:
        Untrusted: If a plug-in has not been run before.
    """
    plugins = {}
    for _, code, file in outside_code(specification):
        plugins[plugin_digest(file, str(code.get("sha256")))] = f"plug-in {file}"
    known_digests = _read_record() if plugins else set()
    if unknown := {code: words for code, words in plugins.items() if code not in known_digests}:
        raise Untrusted("the specification", unknown)


def require_trust(experiment_file: ExperimentFile, experiment: Experiment, trust: bool) -> None:
    """Raise an error unless this user agrees to all code of the experiment; record the consent. No code is executed.

    Raises:
        Untrusted: If the experiment comes from a file with code that this user has not run, without `trust`.
    """
    unknown, host = _unknown_code(experiment.schemes.values()), _unknown_host(experiment.backend)
    file_code = _file_code(experiment_file, unknown) | (
        {} if experiment.backend.full_name in experiment_file.command_line_names else host
    )
    if not trust and is_foreign(experiment_file) and file_code:
        raise Untrusted(experiment_file.file, file_code)
    _remember([*dict.fromkeys(code for code, _ in unknown), *host])


def _unknown_host(backend: Backend) -> dict[str, str]:
    """Return a description of a remote backend's machine, by digest; empty if this user has made runs with it."""
    if not backend.argument:
        return {}
    code = hashlib.sha256(backend.full_name.encode()).hexdigest()
    if code in _read_record():
        return {}
    return {code: f"`{shlex.join(['ssh', backend.argument])}`, to make runs with that machine"}


def _unknown_code(schemes: Collection[Scheme]) -> list[tuple[str, Scheme]]:
    """Return the schemes with code that this user has not run, each with the digest of its code."""
    bringing = [
        (_digest(scheme), scheme)
        for scheme in schemes
        if (scheme.is_outside or scheme.program is not None) and not _is_listed(scheme)
    ]
    known_digests = _read_record() if bringing else set()
    return [(code, scheme) for code, scheme in bringing if code not in known_digests]


def _file_code(experiment_file: ExperimentFile, unknown: Sequence[tuple[str, Scheme]]) -> dict[str, str]:
    """Return descriptions, by digest, of the code in `unknown` that comes from the file of the experiment."""
    return {
        code: _in_words(scheme)
        for code, scheme in unknown
        if scheme.name in experiment_file.own_schemes or _is_named(experiment_file, scheme)
    }


def _is_named(experiment_file: ExperimentFile, scheme: Scheme) -> bool:
    """Return True if the experiment file names the file of the scheme, and the command line does not."""
    file = scheme.origin or scheme.file
    return (
        file.endswith(".toml")
        and file not in experiment_file.command_line_names
        and not catalog.schemes().is_shipped(file)
    )


def _is_listed(scheme: Scheme) -> bool:
    """Return True if the scheme executes the code of the listed scheme of its name."""
    with contextlib.suppress(UserError):
        if scheme.name in catalog.schemes().names():
            listed_one = catalog.schemes().find(scheme.name)
            return (scheme.kind, scheme.program, scheme.code) == (
                listed_one.kind,
                listed_one.program,
                listed_one.code,
            ) and scheme.parameters == listed_one.parameters
    return False


def _in_words(scheme: Scheme) -> str:
    if scheme.program is None:
        return f"scheme `{scheme.name}`, {WHAT[scheme.kind]}: {scheme.code}"
    does = scheme.program.spec(scheme.parameters)
    sides = [shlex.join(map(unescaped, does[side])) for side in SIDES]
    variables = shlex.join(f"{name}={value}" for name, value in does["environment"].items())
    with_them = f" with `{variables}`" if variables else ""
    other_programs = [name for name in scheme.program.requires if name not in (does[side][0] for side in SIDES)]
    version_calls = "".join(f", `{shlex.join([name, '--version'])}`" for name in other_programs)
    return f"scheme `{scheme.name}`, {WHAT[scheme.kind]}: `{sides[1]}` and `{sides[0]}`{with_them}{version_calls}"


def _digest(scheme: Scheme) -> str:
    """Return the digest of a scheme's code: of a plug-in, or of a program's arguments and parameters.

    Raises:
        UserError: If a plug-in cannot be read, or differs from the one in the scheme: nobody can agree to it.
    """
    if scheme.is_outside:
        current_sha256 = plugin_sha256(scheme.code)
        if scheme.files.get(scheme.code) != current_sha256:
            problem = f"{scheme.code} has changed: its SHA-256 is not the one under `files`"
            raise UserError(f"{scheme.file}: scheme `{scheme.name}`: {problem}")
        return plugin_digest(scheme.code, current_sha256)
    words = None if scheme.program is None else scheme.program.table()
    description = json.dumps([scheme.kind, scheme.code, words, scheme.parameters], sort_keys=True)
    return hashlib.sha256(description.encode()).hexdigest()


def _file() -> Path:
    """Return the file with the digests of this user."""
    return user_folder("XDG_STATE_HOME", ".local/state") / "trusted"


def _read_record() -> set[str]:
    """Return the digests that this user has agreed to. An unreadable record counts as empty."""
    try:
        file = _file()
        status = file.lstat()
        if not stat.S_ISREG(status.st_mode) or status.st_uid != os.geteuid() or status.st_mode & 0o022:
            return set(_agreed_digests)  # somebody else may have written the record
        return _agreed_digests | set(read_text(file, TRUSTED, encoding="ascii").split())
    except (OSError, RuntimeError, UserError, UnicodeDecodeError):  # no home: there is no record, so the user is asked
        return set(_agreed_digests)


def _remember(new: Collection[str]) -> None:
    if not new:
        return
    with contextlib.suppress(OSError, RuntimeError):  # without a record, the user is asked again
        file = _file()
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor = os.open(
            file, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOFOLLOW, 0o600
        )
        with os.fdopen(descriptor, "a", encoding="ascii") as stream:
            stream.write("".join(f"{digest}\n" for digest in new))
