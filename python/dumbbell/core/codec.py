"""JSON text between Python and the compiled module."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    import msgspec

T = TypeVar("T")

Specification = Mapping[str, object]
"""The specification of a run. The core checks it: it may come from anybody."""


def decoded(text: str, kind: type[T]) -> T:
    """Return JSON of the core as a value of its type.

    Raises:
        msgspec.ValidationError: the type is not that of what the core wrote, which is a mistake of dumbbell.
    """
    return _decoder(kind).decode(text)


@cache
def _decoder(kind: type[T]) -> msgspec.json.Decoder[T]:
    import msgspec  # what lists schemes is faster without it

    return msgspec.json.Decoder(kind)


def encoded(value: object) -> str:
    """Return a value as JSON for the core, which checks it.

    Raises:
        TypeError, ValueError, RecursionError: the value is not JSON.
    """
    return json.dumps(value)
