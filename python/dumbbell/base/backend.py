"""Capabilities and wording of each backend, as data. This module does not import the code that makes runs."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Protocol

from dumbbell.base.entry_points import entry_points
from dumbbell.base.errors import UserError, listed, nearest


@dataclass(frozen=True, kw_only=True)
class Capabilities:
    """Capabilities of a backend."""

    executes: bool = True
    """True if the backend makes runs from specifications; False if its runs were made elsewhere."""
    repeatable: bool = False
    """True if equal seeds give equal packets."""
    real_packets: bool = False
    """True if real packets pass in real time. Flows can then be programs and the kernel's TCP."""
    max_jobs: int | None = None
    """Maximum number of simultaneous runs; None: no maximum."""
    cluster: bool = False
    """True if the workers of a cluster can execute the runs."""
    batches: bool = False
    """True if the core can make many runs at once. Such a batch keeps only the numbers of its runs."""
    shared_link: bool = False
    """True if the packets pass a link that other people use. Bandwidth caps protect this link."""

    @property
    def virtual_time(self) -> bool:
        """True if runs have a virtual time, which is the clock of both ends."""
        return self.executes and not self.real_packets


@dataclass(frozen=True)
class Wording:
    """Words with which reports describe a backend."""

    test: str
    """Noun before the name of a path: `simulation of ...`."""
    path_prefix: str
    """Text before the description of a path: `Tested in simulation: ...`."""
    note: str = ""
    """An additional sentence about the backend."""
    brief: str = ""
    """Description of the backend in two words."""


@dataclass(frozen=True)
class Backend:
    """A way of making runs."""

    form: str
    """Form in files and after `--backend`: a name, or `NAME:ARGUMENT` if the backend takes an argument."""
    capabilities: Capabilities
    wording: Wording
    refusal: str = ""
    """Reason why this version executes no runs with the backend, to be read after its name; else empty."""
    executor: str = field(default="", kw_only=True)
    """Name of the module whose class `EXECUTOR` makes the runs; empty if the backend makes none."""
    argument: str = field(default="", kw_only=True)
    """The argument after the name and a colon; empty if the backend takes none."""

    @property
    def name(self) -> str:
        """Name of the backend, without its argument."""
        return self.form.partition(":")[0]

    @property
    def full_name(self) -> str:
        """Name with the argument, as files contain it."""
        first, colon, _ = self.form.partition(":")
        return first + colon + self.argument

    def __str__(self) -> str:
        return self.full_name

    def require_executing(self) -> None:
        """Raise an error if the backend executes no runs.

        Raises:
            UserError: If the backend executes no runs.
        """
        if self.refusal:
            raise UserError(f"backend `{self}` {self.refusal}: allowed are {listed(backend_forms())}")


SIMULATION = Backend(
    "sim",
    Capabilities(repeatable=True, cluster=True, batches=True),
    Wording(test="simulation", path_prefix="Tested in simulation", brief="virtual time"),
    executor="dumbbell.backends.sim",
)
EMULATION = Backend(
    "emu",
    Capabilities(real_packets=True, max_jobs=1),
    Wording(
        test="emulation",
        path_prefix="Tested in emulation",
        brief="real packets",
        note="Backend emu: real packets passed these paths in real time, between network namespaces of one machine. "
        "How late they were is listed for each path; no two runs are equal.",
    ),
    executor="dumbbell.backends.emu",
)
IMPORTED = Backend(
    "import",
    Capabilities(executes=False),
    Wording(test="imported test", path_prefix="Imported results"),
    refusal="marks imported results, which cannot be run again",
)

GROUP = "dumbbell.backends"
"""Group of the entry points by which other packages add backends: each is a module with a `BACKEND`."""


def _own() -> dict[str, Backend]:
    return {backend.name: backend for backend in (EMULATION, IMPORTED, SIMULATION)}


def backends() -> dict[str, Backend]:
    """Return every backend by name, in the order of names.

    Raises:
        UserError: If a module of an entry point cannot be imported.
    """
    external = {point.name: point.load().BACKEND for point in entry_points(GROUP)}
    return dict(sorted((_own() | external).items()))


def find_backend(text: str) -> Backend:
    """Return the backend of the form `text`: `NAME` or `NAME:ARGUMENT`.

    Raises:
        UserError: If there is no such backend.
    """
    name, _, argument = text.partition(":")
    backend = _own().get(name) or backends().get(name)
    if backend is None:
        raise UserError(f"unknown backend `{text}`{nearest(name, backends())}: allowed are {listed(backend_forms())}")
    if (":" in backend.form) != bool(argument):
        raise UserError(f"backend `{text}`: allowed is {backend.form}")
    return replace(backend, argument=argument)


def executing_backend(text: str) -> Backend:
    """Return the backend of the form `text`, if it executes runs.

    Raises:
        UserError: If the backend is unknown, or executes no runs.
    """
    backend = find_backend(text)
    backend.require_executing()
    return backend


def executing_backends() -> list[Backend]:
    """Return the backends that execute runs."""
    return [backend for backend in backends().values() if not backend.refusal]


def backend_forms(is_wanted: Callable[[Capabilities], bool] = lambda _: True) -> list[str]:
    """Return the forms of the backends that execute runs and whose capabilities satisfy `is_wanted`."""
    return [backend.form for backend in executing_backends() if is_wanted(backend.capabilities)]


class Note(Protocol):
    """Function that writes a line to the log of a run."""

    def __call__(self, line: str, stands_still: bool | None = None, /) -> None:
        """Write `line`.

        If `stands_still` is given, the command shows it at once; True if the run waits for other runs.
        """
