"""Whether this user has agreed to what an experiment file would execute on this machine.

Whoever types the name of a plug-in or of a scheme file means to run it. An experiment file may be anybody's, wherever
it lies and whatever lies beside it: what it would execute is compared with the digests of what this user has run
before, or agreed to.
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
    """An experiment file would execute what this user has not run before.

    `what` lists all of it, in words; `trust=True` runs it.
    """

    def __init__(self, file: str, codes: Mapping[str, str]) -> None:
        """`codes` are words for each piece of code, by its digest."""
        self.file = file
        self.what = what = list(codes.values())
        self._codes = tuple(codes)
        super().__init__(
            f"{file}: would execute on this machine what you have not run before: {listed(what)}",
            fix=f"{argument('trust', 'True')} runs it",
        )

    def agree(self) -> None:
        """Remember that this user agrees to what was listed, and to nothing else that the file may have by now."""
        _agreed.update(self._codes)
        _remember(self._codes)


_agreed: set[str] = set()
"""Digests of the code that the user has agreed to in this process. They count even if the record cannot be written."""


def is_foreign(experiment_file: ExperimentFile) -> bool:
    """Return whether somebody else may have written the experiment: it was read from a file that is not dumbbell's own.

    Where the file lies says nothing: whoever sends it chooses what lies beside it, and links to it.
    """
    return experiment_file.file.endswith((".toml", "TOML")) and not catalog.experiments().is_shipped(
        experiment_file.file
    )


def trusted(experiment_file: ExperimentFile, request: RunRequest, trust: bool) -> Experiment:
    """Return the experiment that both describe, with its files pinned. Nothing of it is loaded before it is trusted.

    Raises:
        Untrusted: as of `require_trust`, or the experiment file names a plug-in that is unknown.
        UserError: it cannot be run as described.
    """
    experiment = _resolved(experiment_file, request, trust)
    require_trust(with_request(experiment_file, request), experiment, trust)
    return pin(experiment)


def trusted_member(experiment_file: ExperimentFile, labels: Sequence[str], own: dict[str, Scheme]) -> Experiment:
    """Return the experiment that `experiment_file` describes for the schemes `labels`, as of `trusted`.

    `own` are schemes that the user has named, by their names.

    Raises:
        Untrusted: the experiment file brings code of its own that this user has not run.
        UserError: it cannot be run as described.
    """
    full = replace(experiment_file, schemes=list(labels), mixes=[], own_schemes=experiment_file.own_schemes | own)
    experiment = _resolved(full, RunRequest(), trust=False)
    require_trust(
        replace(experiment_file, told=frozenset(scheme.file for scheme in own.values())), experiment, trust=False
    )
    return pin(experiment)


def _resolved(experiment_file: ExperimentFile, request: RunRequest, trust: bool) -> Experiment:
    """Return the experiment that both describe. A plug-in that is unknown is not loaded.

    Raises:
        Untrusted: the experiment file's file names such a plug-in.
        UserError: it cannot be run as described.
    """
    known = _remembered() if is_foreign(experiment_file) and not trust else None
    try:
        return resolve(replace(experiment_file, known_plugins=known), request)
    except UnknownPlugin as unknown:
        codes = {code: f"plug-in {file}" for file, code in unknown.plugins.items()}
        brought = _brought(
            with_request(experiment_file, request), _unknown_code([with_sha256(each) for each in unknown.others])
        )
        raise Untrusted(experiment_file.file, codes | brought) from None


def agree_to(experiment: Experiment) -> None:
    """Take what the experiment would execute for this user's choice, in this process: a program has named it."""
    _agreed.update(code for code, _ in _unknown_code(experiment.schemes.values()))


def outside_code(specification: Mapping[str, object]) -> Iterator[tuple[Mapping[str, Any], Mapping[str, Any], str]]:
    """Yield each flow with a controller from outside, the table that names its code, and the file.

    `specification` may be anything that JSON can hold.
    """
    flows = specification.get("flows")
    for flow in flows if isinstance(flows, (list, tuple)) else []:  # both are lists in JSON
        for kind, key in CODE.items():
            code = flow.get(kind) if isinstance(flow, Mapping) else None
            if isinstance(code, Mapping):
                yield flow, code, str(code.get(key))


def require_known(specification: Mapping[str, object]) -> None:
    """See that the plug-ins of a run specification are those of this user: it may come with somebody's results.

    Raises:
        Untrusted: one of them has not been run before.
    """
    brought = {}
    for _, code, file in outside_code(specification):
        brought[plugin_digest(file, str(code.get("sha256")))] = f"plug-in {file}"
    known = _remembered() if brought else set()
    if unknown := {code: words for code, words in brought.items() if code not in known}:
        raise Untrusted("the specification", unknown)


def require_trust(experiment_file: ExperimentFile, experiment: Experiment, trust: bool) -> None:
    """See that everything the experiment executes is this user's choice, and remember it. Executes nothing itself.

    Raises:
        Untrusted: `experiment_file` was read from a file and has code that this user has not run; `trust` agrees to it.
    """
    unknown, host = _unknown_code(experiment.schemes.values()), _unknown_host(experiment.backend)
    brought = _brought(experiment_file, unknown) | (
        {} if experiment.backend.full_name in experiment_file.told else host
    )
    if not trust and is_foreign(experiment_file) and brought:
        raise Untrusted(experiment_file.file, brought)
    _remember([*dict.fromkeys(code for code, _ in unknown), *host])


def _unknown_host(backend: Backend) -> dict[str, str]:
    """Return the words for the machine of a remote backend, by digest; nothing if this user has made runs with it."""
    if not backend.argument:
        return {}
    code = hashlib.sha256(backend.full_name.encode()).hexdigest()
    if code in _remembered():
        return {}
    return {code: f"`{shlex.join(['ssh', backend.argument])}`, to make runs with that machine"}


def _unknown_code(schemes: Collection[Scheme]) -> list[tuple[str, Scheme]]:
    """Return the schemes with code that this user has not run, each behind the digest of its code."""
    bringing = [
        (_digest(scheme), scheme)
        for scheme in schemes
        if (scheme.is_outside or scheme.program is not None) and not _is_listed(scheme)
    ]
    known = _remembered() if bringing else set()
    return [(code, scheme) for code, scheme in bringing if code not in known]


def _brought(experiment_file: ExperimentFile, unknown: Sequence[tuple[str, Scheme]]) -> dict[str, str]:
    """Return in words, by digest, the code among `unknown` that the experiment file's file brings."""
    return {
        code: _in_words(scheme)
        for code, scheme in unknown
        if scheme.name in experiment_file.own_schemes or _is_named(experiment_file, scheme)
    }


def _is_named(experiment_file: ExperimentFile, scheme: Scheme) -> bool:
    """Return whether the experiment file names the file of the scheme, and the command line does not."""
    file = scheme.origin or scheme.file
    return file.endswith(".toml") and file not in experiment_file.told and not catalog.schemes().is_shipped(file)


def _is_listed(scheme: Scheme) -> bool:
    """Whether it does the same as the listed scheme of its name."""
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
    others = [name for name in scheme.program.requires if name not in (does[side][0] for side in SIDES)]
    asked = "".join(f", `{shlex.join([name, '--version'])}`" for name in others)
    return f"scheme `{scheme.name}`, {WHAT[scheme.kind]}: `{sides[1]}` and `{sides[0]}`{with_them}{asked}"


def _digest(scheme: Scheme) -> str:
    """Return the digest of a scheme's code: of a plug-in, or of a program's arguments and parameters.

    Raises:
        UserError: a plug-in cannot be read, or is not the one that the scheme says: nobody agrees to what is not there.
    """
    if scheme.is_outside:
        there = plugin_sha256(scheme.code)
        if scheme.files.get(scheme.code) != there:
            what = f"{scheme.code} has changed: its SHA-256 is not the one under `files`"
            raise UserError(f"{scheme.file}: scheme `{scheme.name}`: {what}")
        return plugin_digest(scheme.code, there)
    words = None if scheme.program is None else scheme.program.table()
    described = json.dumps([scheme.kind, scheme.code, words, scheme.parameters], sort_keys=True)
    return hashlib.sha256(described.encode()).hexdigest()


def _file() -> Path:
    """Where digests are remembered, for this user."""
    return user_folder("XDG_STATE_HOME", ".local/state") / "trusted"


def _remembered() -> set[str]:
    """Return the digests that this user has agreed to; a record that cannot be read has none."""
    try:
        file = _file()
        found = file.lstat()
        if not stat.S_ISREG(found.st_mode) or found.st_uid != os.geteuid() or found.st_mode & 0o022:
            return set(_agreed)  # somebody else may have written it
        return _agreed | set(read_text(file, TRUSTED, encoding="ascii").split())
    except (OSError, RuntimeError, UserError, UnicodeDecodeError):  # no home: nothing is remembered, so all is asked
        return set(_agreed)


def _remember(new: Collection[str]) -> None:
    if not new:
        return
    with contextlib.suppress(OSError, RuntimeError):  # where nothing can be kept, it is asked again
        file = _file()
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor = os.open(
            file, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOFOLLOW, 0o600
        )
        with os.fdopen(descriptor, "a", encoding="ascii") as stream:
            stream.write("".join(f"{each}\n" for each in new))
