"""What environments tell, as the core lists it."""

import json
from dataclasses import dataclass
from functools import cache
from typing import Any

from dumbbell import _core

_LISTED: dict[str, Any] = json.loads(_core.environment_fields())


@dataclass(frozen=True)
class Field:
    """A number with its unit."""

    name: str
    unit: str
    help: str


@dataclass(frozen=True)
class Sight:
    """What a policy of one's own can see, with its bounds."""

    name: str
    low: float
    high: float
    help: str


STEP = tuple(Field(*each) for each in _LISTED["fields"])
"""What is told of every step."""

ORACLE = tuple(Field(*each) for each in _LISTED["oracle"])
"""What only the path knows."""

SIGHTS = {each[0]: Sight(*each) for each in _LISTED["sights"]}
"""What a policy of one's own can see."""

REWARDS: dict[str, str] = dict(_LISTED["rewards"])
"""What can be rewarded, and how."""


@cache
def agents() -> tuple[str, ...]:
    """The schemes whose policy can be decided for from outside."""
    return tuple(name for name in _LISTED["agents"] if name != OWN)


OWN = "neural"
"""The scheme of policies of one's own."""
