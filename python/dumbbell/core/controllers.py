"""Controllers: built-in ones, those of plug-ins, their cost, and scripts that drive them."""

from __future__ import annotations

from functools import cache

from dumbbell import _core
from dumbbell.contract.controllers import (
    ComparedFigures,
    Controller,
    ControllerFigures,
    PluginController,
    ScriptHead,
    ScriptReport,
)
from dumbbell.core.codec import Specification, decoded, encoded


@cache
def builtin_controllers() -> list[Controller]:
    """Return all built-in controllers."""
    return decoded(_core.controllers(), list[Controller])


def describe_plugin(file: str, sha256: str) -> list[PluginController]:
    """Return the controllers of a library, or of a file with classes in Python.

    The file must contain the code with this SHA-256. The code runs in this process, and may end the process.
    """
    return decoded(_core.describe_plugin(file, sha256), list[PluginController])


def controller_cost(specification: Specification) -> ControllerFigures:
    """Measure the cost of the controller of the first flow of a run."""
    return decoded(_core.controller_cost(encoded(specification)), ControllerFigures)


def controllers_beside(candidate: Specification, baseline: Specification) -> ComparedFigures:
    """Measure the controllers of the first flows of two runs in turn."""
    return decoded(_core.controllers_beside(encoded(candidate), encoded(baseline)), ComparedFigures)


def describe_script(text: str) -> ScriptHead:
    """Return the head of a script.

    Raises:
        Error: If a line of the script is not allowed.
    """
    return decoded(_core.describe_script(text), ScriptHead)


def run_script(text: str, specification: Specification | None = None, steps: bool = False) -> ScriptReport:
    """Run a script and return its conditions with their results, and with `steps` every event.

    The controller is the script's own, or that of the first flow of a run, `specification`.

    Raises:
        Error: If an event or condition is not allowed.
    """
    specification_text = None if specification is None else encoded(specification)
    return decoded(_core.run_script(text, specification_text, steps), ScriptReport)


def record_script(specification: Specification, head: str) -> str:
    """Simulate a run of one flow and return the events and answers of its controller as a script.

    The header of the script begins with the lines `head`.

    Raises:
        Error: If the run failed.
    """
    return _core.record_script(encoded(specification), head)
