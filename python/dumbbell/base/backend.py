"""What a backend is and can do, as data: whoever only asks needs not import what makes runs."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Protocol

from dumbbell.base.entry_points import entry_points
from dumbbell.base.errors import UserError, listed, nearest


@dataclass(frozen=True, kw_only=True)
class Capabilities:
    """What a backend can do."""

    executes: bool = True
    """It makes runs from specifications. The runs of others were made elsewhere."""
    repeatable: bool = False
    """It makes the same packets from the same seed."""
    real_packets: bool = False
    """Packets pass in real time, and can be those of real programs and kernels."""
    max_jobs: int | None = None
    """Maximum number of runs at once; None: any number."""
    cluster: bool = False
    """The workers of a cluster can execute its runs."""
    batches: bool = False
    """It makes many runs at once, inside the core, and keeps only their numbers."""
    shared_link: bool = False
    """Its packets pass a link that others use, and which caps protect."""

    @property
    def virtual_time(self) -> bool:
        """True if runs have a virtual time, which is the clock of both ends."""
        return self.executes and not self.real_packets


@dataclass(frozen=True)
class Wording:
    """How reports speak of a backend."""

    test: str
    """Of a path: `simulation of ...`."""
    tested: str
    """Before what the path is: `Tested in simulation: ...`."""
    note: str = ""
    """A sentence more."""
    brief: str = ""
    """What runs are made with, in two words."""


@dataclass(frozen=True)
class Backend:
    """A way of making runs."""

    form: str
    """As it is written in files and after `--backend`: a name, or `NAME:ARGUMENT` if it takes an argument."""
    capabilities: Capabilities
    wording: Wording
    refusal: str = ""
    """Why this version executes no runs with it, after its name; empty if it does."""
    executor: str = field(default="", kw_only=True)
    """The module whose class `EXECUTOR` makes the runs; empty if nothing does."""
    argument: str = field(default="", kw_only=True)
    """What follows the name and a colon; empty if it takes none."""

    @property
    def name(self) -> str:
        """Its name alone."""
        return self.form.partition(":")[0]

    @property
    def full_name(self) -> str:
        """As it is written in files: the form with its argument."""
        first, colon, _ = self.form.partition(":")
        return first + colon + self.argument

    def __str__(self) -> str:
        return self.full_name

    def require_executing(self) -> None:
        """Refuse a backend that executes no runs.

        Raises:
            UserError: says why.
        """
        if self.refusal:
            raise UserError(f"backend `{self}` {self.refusal}: allowed are {listed(backend_forms())}")


SIMULATION = Backend(
    "sim",
    Capabilities(repeatable=True, cluster=True, batches=True),
    Wording(test="simulation", tested="Tested in simulation", brief="virtual time"),
    executor="dumbbell.backends.sim",
)
EMULATION = Backend(
    "emu",
    Capabilities(real_packets=True, max_jobs=1),
    Wording(
        test="emulation",
        tested="Tested in emulation",
        brief="real packets",
        note="Backend emu: real packets passed these paths in real time, between network namespaces of one machine. "
        "How late they were is listed for each path; no two runs are equal.",
    ),
    executor="dumbbell.backends.emu",
)
IMPORTED = Backend(
    "import",
    Capabilities(executes=False),
    Wording(test="imported test", tested="Imported results"),
    refusal="marks imported results, which cannot be run again",
)

GROUP = "dumbbell.backends"
"""Group of the entry points by which other packages add backends: each is a module with a `BACKEND`."""


def _own() -> dict[str, Backend]:
    return {each.name: each for each in (EMULATION, IMPORTED, SIMULATION)}


def backends() -> dict[str, Backend]:
    """Return every backend by name, in the order of names.

    Raises:
        UserError: an entry point that leads nowhere.
    """
    added = {point.name: point.load().BACKEND for point in entry_points(GROUP)}
    return dict(sorted((_own() | added).items()))


def find_backend(text: str) -> Backend:
    """Return the backend that is written like this.

    Raises:
        UserError: there is none.
    """
    name, _, argument = text.partition(":")
    found = _own().get(name) or backends().get(name)
    if found is None:
        raise UserError(f"unknown backend `{text}`{nearest(name, backends())}: allowed are {listed(backend_forms())}")
    if (":" in found.form) != bool(argument):
        raise UserError(f"backend `{text}`: allowed is {found.form}")
    return replace(found, argument=argument)


def executing_backend(text: str) -> Backend:
    """Return the backend that is written like this, which has to be one that executes runs.

    Raises:
        UserError: it is unknown, or not such a one.
    """
    found = find_backend(text)
    found.require_executing()
    return found


def executing_backends() -> list[Backend]:
    """Return the backends that execute runs."""
    return [each for each in backends().values() if not each.refusal]


def backend_forms(wanted: Callable[[Capabilities], bool] = lambda _: True) -> list[str]:
    """Return the forms of the backends that execute runs and have the `wanted` capabilities."""
    return [each.form for each in executing_backends() if wanted(each.capabilities)]


class Note(Protocol):
    """Says what happens to a run: a line of its log."""

    def __call__(self, line: str, stands_still: bool | None = None, /) -> None:
        """With `stands_still`, whether it waits for others, it is also for those who wait for the run, at once."""
