"""What a trainer is: its name, its settings, and the function that trains."""

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dumbbell.base.errors import UserError

if TYPE_CHECKING:
    from dumbbell_train.job import Job


@dataclass(frozen=True)
class Setting:
    """A setting of one trainer. `parse` makes its value of a text and says in one line what is allowed."""

    name: str
    parse: Callable[[str], Any]
    default: Any
    metavar: str
    meaning: str

    @property
    def option(self) -> str:
        """As it is written on the command line."""
        return self.name.replace("_", "-")

    @property
    def help(self) -> str:
        """What the command line says of it."""
        return self.meaning if self.default is None else f"{self.meaning}; default: {_text(self.default)}"

    def value(self, given: object) -> Any:  # noqa: ANN401 (as the setting has it)
        """The value that is given, or the default.

        Raises:
            UserError: it is not allowed.
        """
        if given is None:
            return self.default
        try:
            return self.parse(_text(given)) if not isinstance(given, type(self.default)) else given
        except argparse.ArgumentTypeError as error:
            raise UserError(f"{self.name}: {error}") from None


def _text(value: object) -> str:
    if isinstance(value, tuple):
        return ",".join(each if isinstance(each, str) else f"{each:g}" for each in value) or "none"
    return f"{value:.3g}" if isinstance(value, float) else str(value)


@dataclass(frozen=True)
class Trainer:
    """One kind of training. `train` does all of a job's work and tells the job what it has learned."""

    name: str
    summary: str
    suffix: str
    """Of the files that it writes."""
    minutes: float
    """How long it trains unless told otherwise."""
    settings: tuple[Setting, ...]
    train: "Callable[[Job], None]"
