"""JSON text between Python and the compiled module."""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Mapping
from functools import cache
from typing import Any, TypeVar, cast

from dumbbell import _core

T = TypeVar("T")

Specification = Mapping[str, object]
"""An unchecked run spec, which may come from an untrusted source. The core checks it."""


def decoded(text: str, kind: type[T]) -> T:
    """Return JSON of the core as a value of its type.

    Raises:
        msgspec.ValidationError: If the core wrote another type, which is a mistake of dumbbell.
    """
    return decoder(kind)(text)


def decoder(kind: type[T]) -> Callable[[str], T]:
    """Return the decoder of a type. It must be made before plug-ins run, because they may remove modules."""
    decode: Callable[[str], T] = _decoder(cast("Hashable", kind))
    return decode


@cache
def _decoder(kind: Hashable) -> Callable[[str], Any]:
    import msgspec  # commands that decode nothing start without it

    return msgspec.json.Decoder(kind).decode


def encoded(value: object) -> str:
    """Return a value as JSON for the core, which checks it.

    Raises:
        Error: If the value is not JSON.
    """
    try:
        return json.dumps(value)
    except (TypeError, ValueError, RecursionError) as error:
        raise _core.Error(f"no JSON: {' '.join(str(error).split())}") from None
