"""What is said where an answer of the other machine is none: its name, and what stands in the way, in one line."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from dumbbell._core import Error
from dumbbell.base.errors import UserError, one_line
from dumbbell.base.json_shape import Table, require_shape
from dumbbell.machine.host import Host


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


def shaped(name: str, answer: dict[str, Any], shape: Table) -> dict[str, Any]:
    """Return the answer of the peer process with this `name` if it has the shape of one.

    Raises:
        UserError: it has another.
    """
    try:
        require_shape(answer, shape)
    except UserError as error:
        raise UserError(f"{name}: what it answers is not understood: {error}") from None
    return answer
