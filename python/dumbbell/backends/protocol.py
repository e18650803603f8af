"""What a backend is: the way in which runs are made, and what follows from it."""

from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, runtime_checkable

if TYPE_CHECKING:
    from dumbbell.experiment import Experiment


@dataclass(frozen=True, kw_only=True)
class Capabilities:
    """What a backend can do.

    One that `executes` makes runs from specifications: they have seeds and can be made again. Others were made
    elsewhere. A `repeatable` one makes the same packets from the same seed. `real_packets` pass in real time, and can
    be those of real programs and kernels. `max_jobs` runs can go on at once, `None`: any number. The workers of a
    `cluster` can execute its runs. Its packets pass a `shared_link`, which others use, and which caps protect.
    """

    executes: bool = True
    repeatable: bool = False
    real_packets: bool = False
    max_jobs: int | None = None
    cluster: bool = False
    shared_link: bool = False


@dataclass(frozen=True)
class Wording:
    """How reports speak of a backend: `test` of a path, `tested` before what the path is; `note`: a sentence more.

    `brief` is what runs are made with, in two words.
    """

    test: str
    tested: str
    note: str = ""
    brief: str = ""


class Backend(Protocol):
    """A way of making runs. Its class is `BACKEND` of a module in this package and is called with the argument."""

    form: ClassVar[str]
    """As it is written in files and after `--backend`: a name, or `NAME:ARGUMENT` if it takes an argument."""
    refusal: ClassVar[str]
    """Why this version executes no runs with it, after its name; empty if it does: then it is an `Executor`."""
    capabilities: ClassVar[Capabilities]
    wording: ClassVar[Wording]

    @property
    def argument(self) -> str:
        """What follows the name and a colon; empty if it takes none."""


class Note(Protocol):
    """Says what happens to a run: a line of its log."""

    def __call__(self, line: str, stands_still: bool | None = None, /) -> None:
        """With `stands_still`, whether it waits for others, it is also for those who wait for the run, at once."""


@runtime_checkable
class Executor(Backend, Protocol):
    """A backend that executes runs."""

    def check(self, specification: str) -> None:
        """Asks whether the run (JSON) can be executed, which changes nothing.

        Raises:
            dumbbell._core.Error: the reason why not.
        """

    def prepared(self, experiment: "Experiment") -> AbstractContextManager[None]:
        """Holds this machine ready for the experiment's runs.

        Raises:
            UserError: it cannot be made ready.
        """

    def environment(self, experiment: "Experiment") -> dict[str, Any]:
        """What its numbers depend on beside what is recorded of every experiment."""

    def enter(self) -> str | None:
        """Called once in each process that executes runs, before it has a second thread; why it cannot, if so."""

    def run_one(self, specification: str, directory: Path, note: "Note") -> dict[str, Any]:
        """Executes a run into an empty directory; what `stats.json` says of it.

        `note` adds a line to its log.

        Raises:
            dumbbell._core.Error: the reason why it failed.
        """

    def clean_up(self) -> None:
        """Ends what runs that were cut short left behind."""
