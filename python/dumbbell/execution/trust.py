"""What an experiment out of a results directory would execute on this machine, and whether this user has agreed to it.

Whoever types the name of a program, of a plug-in or of a file with them means to run it; the experiment that a results
directory has kept may be anybody's. What a user has run before, or agreed to, is remembered by its digest.
"""

import contextlib
import hashlib
import json
import os
import shlex
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path

from dumbbell import catalog
from dumbbell.catalog.plan import Plan
from dumbbell.catalog.scheme import WHAT, Scheme
from dumbbell.errors import UserError, listed
from dumbbell.experiment import Experiment, Overrides, pin, resolve, with_overrides
from dumbbell.input_files import digest

KEPT_BESIDE = ("environment.json", "runs")
"""What lies beside the experiment of a results directory."""


class Untrusted(UserError):
    """An experiment of a results directory would execute what this user has not run before.

    `what` lists it, in words; `trust=True` runs it.
    """

    def __init__(self, file: str, what: list[str]) -> None:
        self.file = file
        self.what = what
        super().__init__(
            f"{file}: would execute on this machine what you have not run before: {listed(what)}: --trust runs it"
        )


def is_of_results(file: str) -> bool:
    """Whether an experiment file is that of a results directory."""
    return bool(file) and any((Path(file).parent / name).exists() for name in KEPT_BESIDE)


def trusted(plan: Plan, overrides: Overrides, trust: bool) -> Experiment:
    """The experiment that both describe, with its files pinned: before it is trusted, nothing of it is loaded.

    Raises:
        Untrusted: as of `require_trust`.
        UserError: it cannot be run as described.
    """
    experiment = resolve(replace(plan, doubted=not trust and is_of_results(plan.file)), overrides)
    require_trust(with_overrides(plan, overrides), experiment, trust)
    return pin(experiment)


def require_trust(plan: Plan, experiment: Experiment, trust: bool) -> None:
    """Sees that everything the experiment executes is this user's choice, and remembers it. Executes nothing itself.

    Raises:
        Untrusted: `plan` was kept in a results directory, and has code that is unknown; `trust` is the word for it.
    """
    bringing = {
        name: _digest(scheme)
        for name, scheme in experiment.schemes.items()
        if _has_code(scheme) and not _is_listed(scheme)
    }
    if not bringing:
        return
    known = _remembered()
    unknown = [name for name, code in bringing.items() if code not in known]
    if not trust and is_of_results(plan.file):
        schemes = [experiment.schemes[name] for name in unknown]
        brought = [
            _in_words(scheme) for scheme in schemes if scheme.name in plan.own_schemes or _is_named(plan, scheme)
        ]
        if brought:
            raise Untrusted(plan.file, brought)
    _remember(dict.fromkeys(bringing[name] for name in unknown))


def _is_named(plan: Plan, scheme: Scheme) -> bool:
    """Whether the plan has the scheme by its file, and not the command line."""
    file = scheme.file
    return file.endswith(".toml") and file not in plan.told and not catalog.schemes().is_shipped(file)


def _has_code(scheme: Scheme) -> bool:
    return scheme.is_outside or scheme.program is not None


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
    sides = (shlex.join(scheme.program.sender), shlex.join(scheme.program.receiver))
    return f"scheme `{scheme.name}`, {WHAT[scheme.kind]}: `{sides[0]}` and `{sides[1]}`"


def _digest(scheme: Scheme) -> str:
    """Of what is executed: the words of a program, or the content of a plug-in and where it is."""
    content = ""
    if scheme.is_outside:
        with contextlib.suppress(OSError, UserError):
            content = digest(Path(scheme.code))
    words = None if scheme.program is None else scheme.program.table()
    parameters = {} if scheme.program is None else scheme.parameters
    described = json.dumps([scheme.kind, scheme.code, content, words, parameters], sort_keys=True)
    return hashlib.sha256(described.encode()).hexdigest()


def _file() -> Path:
    """Where digests are remembered, for this user."""
    state = Path(os.environ.get("XDG_STATE_HOME", ""))
    return (state if state.is_absolute() else Path.home() / ".local" / "state") / "dumbbell" / "trusted"


def _remembered() -> set[str]:
    try:
        return set(_file().read_text(encoding="ascii").split())
    except (OSError, RuntimeError, UnicodeDecodeError):  # no home: nothing is remembered, so all is asked
        return set()


def _remember(new: Collection[str]) -> None:
    if not new:
        return
    with contextlib.suppress(OSError, RuntimeError):  # where nothing can be kept, it is asked again
        file = _file()
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, "a", encoding="ascii") as stream:
            stream.write("".join(f"{each}\n" for each in new))
