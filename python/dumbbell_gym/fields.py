"""Lists from the core: fields of a step, sights of policies, rewards and agents."""

from dataclasses import dataclass
from functools import cache

from dumbbell.core.environments import environment_fields

_LISTED = environment_fields()


@dataclass(frozen=True)
class Field:
    """Name of a number, with its unit."""

    name: str
    unit: str
    help: str


@dataclass(frozen=True)
class Sight:
    """Input that a `Policy` can use, with its bounds."""

    name: str
    low: float
    high: float
    help: str


STEP = tuple(Field(*entry) for entry in _LISTED["fields"])
"""Fields in the information on every step."""

ORACLE = tuple(Field(*entry) for entry in _LISTED["oracle"])
"""Fields that only the path knows."""

SIGHTS = {entry[0]: Sight(*entry) for entry in _LISTED["sights"]}
"""Inputs that a `Policy` can use."""

REWARDS: dict[str, str] = dict(_LISTED["rewards"])
"""Rewards by name, with their explanation."""


@cache
def agents() -> tuple[str, ...]:
    """Return the schemes whose decisions an external policy can make."""
    return tuple(name for name in _LISTED["agents"] if name != OWN)


OWN = "neural"
"""Scheme that runs a `Policy`."""
