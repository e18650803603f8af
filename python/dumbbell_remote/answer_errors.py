"""Errors for invalid answers of another machine: one line with its name and the fault."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeVar

from dumbbell.base.errors import UserError, one_line
from dumbbell.base.json_types import typed
from dumbbell.core import Error
from dumbbell.machine.host import Host

T = TypeVar("T")


@contextmanager
def naming_answer_errors(host: Host) -> Iterator[None]:
    """Raise errors in the contents of a machine's answers as `UserError`, with the machine's name.

    Raises:
        UserError: an answer is invalid.
    """
    try:
        yield
    except Error:
        raise  # `Error` is also a `ValueError`, and already names the cause
    except KeyError as error:
        raise UserError(f"{host}: what it answers is not understood: key {error} is missing") from error
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        fault = f"{type(error).__name__}: {one_line(error)}"
        raise UserError(f"{host}: what it answers is not understood: {fault}") from error


def typed_answer(name: str, answer: object, kind: type[T]) -> T:
    """Return the answer of the peer process `name` as a value of type `kind`.

    Raises:
        UserError: the answer has another type.
    """
    try:
        return typed(answer, kind)
    except UserError as error:
        raise UserError(f"{name}: what it answers is not understood: {error}") from None
