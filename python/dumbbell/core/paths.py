"""Paths, and the configuration of transports and applications."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, cast

from dumbbell import _core
from dumbbell.contract.paths import PathDescription
from dumbbell.core.codec import decoded, encoded

if TYPE_CHECKING:
    from dumbbell.contract.specification import TransportSpec


def check_path(table: Mapping[str, object]) -> None:
    """Raise an error if a path cannot be built.

    Raises:
        Error: If the path is invalid; the message has the key and the allowed values.
    """
    _core.check_path(encoded(table))


def describe_path(table: Mapping[str, object]) -> PathDescription:
    """Return base RTT, capacity, loss, links and bottleneck of a path.

    Raises:
        Error: If the path cannot be built.
    """
    return _path(encoded(table))


@lru_cache(maxsize=256)
def _path(table: str) -> PathDescription:
    return decoded(_core.describe_path(table), PathDescription)


def opportunities(path: Mapping[str, object], direction: str, seed: int, seconds: float) -> list[int]:
    """Return the times at which a direction (`data` or `ack`) of a path can send, ns, in a run with this seed.

    Raises:
        Error: If the path cannot be built.
    """
    return _core.opportunities(encoded(path), direction, seed, seconds)


def complete_transport(table: Mapping[str, object] | None) -> TransportSpec:
    """Return the complete configuration for a transport table.

    Raises:
        Error: If the table has a key or value that is not allowed.
    """
    return _transport(encoded(table))


@lru_cache(maxsize=4096)
def _transport(table: str) -> TransportSpec:
    # msgspec has no unions of tables, which the receiver needs; the core has checked the table
    return cast("TransportSpec", json.loads(_core.transport(table)))


def check_application(table: Mapping[str, object]) -> None:
    """Raise an error for an application whose kind, keys or values are not allowed.

    Raises:
        Error: If the application is invalid; the message has the key and the allowed values.
    """
    _core.check_application(encoded(table))
