"""Description of a trainer: its name, its settings, and the function that trains."""

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dumbbell.base.errors import UserError

if TYPE_CHECKING:
    from dumbbell_train.job import Job


@dataclass(frozen=True)
class Setting:
    """Setting of a trainer. `parse` converts its string, or raises an error with a line that says what is allowed."""

    name: str
    parse: Callable[[str], Any]
    default: Any
    metavar: str
    meaning: str

    @property
    def option(self) -> str:
        """Name of the option on the command line."""
        return self.name.replace("_", "-")

    @property
    def help(self) -> str:
        """Help of the option on the command line."""
        return self.meaning if self.default is None else f"{self.meaning}; default: {_text(self.default)}"

    def value(self, text_or_value: object) -> Any:  # noqa: ANN401 (as the setting has it)
        """Return the value in `given`, or the default for None.

        Raises:
            UserError: it is not allowed.
        """
        if text_or_value is None:
            return self.default
        try:
            return (
                self.parse(_text(text_or_value)) if not isinstance(text_or_value, type(self.default)) else text_or_value
            )
        except argparse.ArgumentTypeError as error:
            raise UserError(f"{self.name}: {error}") from None


def _text(value: object) -> str:
    if isinstance(value, tuple):
        return ",".join(item if isinstance(item, str) else f"{item:g}" for item in value) or "none"
    return f"{value:.3g}" if isinstance(value, float) else str(value)


@dataclass(frozen=True)
class Trainer:
    """Kind of training. `train` does the whole job and passes results to the job."""

    name: str
    summary: str
    suffix: str
    """Suffix of the files that it writes."""
    minutes: float
    """Default duration of a training, min."""
    settings: tuple[Setting, ...]
    train: "Callable[[Job], None]"
