"""Waits of tests for an event: patient with a busy machine, and over as soon as the event has happened."""

import threading
import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

TIMEOUT_S = 600.0
"""Longest wait for anything, s: only a failing test waits so long."""
_LOOK_EVERY_S = 0.005


def wait_for(condition: Callable[[], T], description: object = None) -> T:
    """Return the first true value of `condition`, which is called again and again.

    Raises:
        AssertionError: It was not true within `TIMEOUT_S`; `description` says more (a function is called then).
    """
    until_s = time.monotonic() + TIMEOUT_S
    never = threading.Event()
    while not (result := condition()):
        text = description() if callable(description) else description
        assert time.monotonic() < until_s, f"nothing happened within {TIMEOUT_S:g} s: {text or condition}"
        never.wait(_LOOK_EVERY_S)
    return result
