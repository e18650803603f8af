"""What is said where an answer of the other machine is none: its name, and what stands in the way, in one line."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeVar

from dumbbell.base.errors import UserError, one_line
from dumbbell.base.json_types import typed
from dumbbell.core import Error
from dumbbell.machine.host import Host

T = TypeVar("T")


@contextmanager
def understanding(host: Host) -> Iterator[None]:
    """Takes what goes wrong with the contents of answers meanwhile for something that the other machine has said.

    Raises:
        UserError: something went wrong.
    """
    try:
        yield
    except Error:
        raise  # a `ValueError` too
    except KeyError as error:
        raise UserError(f"{host}: what it answers is not understood: key {error} is missing") from error
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        what = f"{type(error).__name__}: {one_line(error)}"
        raise UserError(f"{host}: what it answers is not understood: {what}") from error


def shaped(name: str, answer: object, kind: type[T]) -> T:
    """Return the answer of the peer process with this `name` as one of its type.

    Raises:
        UserError: it is none.
    """
    try:
        return typed(answer, kind)
    except UserError as error:
        raise UserError(f"{name}: what it answers is not understood: {error}") from None
