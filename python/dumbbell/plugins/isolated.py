"""Asks the core about controllers from outside in a process of its own, because loading one runs its code.

Executed as a module, it is that process: a question as JSON on its input, the answer as JSON on its output.
"""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterable
from functools import cache
from typing import Any

from dumbbell import _core
from dumbbell.errors import UserError, one_line

PATIENCE_S = 30.0
"""How long loading a plug-in may take; what a class imports may be large."""


@cache
def describe(file: str) -> tuple[dict[str, Any], ...]:
    """The controllers of a library or of a file with classes: `name`, `summary`, `parameters` and `fields` of each.

    Raises:
        UserError: it cannot be loaded, or does something else than that.
    """
    return tuple(_ask({"describe": file}, [file]))


def check(specifications: list[str], backend: str, files: Iterable[str]) -> list[str | None]:
    """For each run (JSON) why the core refuses it as one of `backend`, or None. `files` are those of its plug-ins.

    Raises:
        UserError: one of them cannot be loaded, or does something else than that.
    """
    refusals: list[str | None] = _ask({"check": specifications, "backend": backend}, files)
    return refusals


def _ask(question: dict[str, Any], files: Iterable[str]) -> Any:  # noqa: ANN401 (JSON)
    command = [sys.executable, "-m", __name__]
    named = ", ".join(dict.fromkeys(files))
    try:
        done = subprocess.run(
            command, input=json.dumps(question), stdout=subprocess.PIPE, text=True, timeout=PATIENCE_S, check=False
        )
    except subprocess.TimeoutExpired:
        raise UserError(f"{named}: was not loaded within {PATIENCE_S:g} s: a plug-in does its work in runs") from None
    if done.returncode < 0:
        raise UserError(f"{named}: crashed while it was loaded ({signal.Signals(-done.returncode).name})")
    if done.returncode != 0 or not done.stdout:
        raise UserError(f"{named}: ended the process that loaded it (exit status {done.returncode})")
    answer = json.loads(done.stdout)
    if "refusal" in answer:
        raise UserError(answer["refusal"])
    return answer["answer"]


def _answer(question: dict[str, Any]) -> Any:  # noqa: ANN401 (JSON)
    if "describe" in question:
        return json.loads(_core.describe_plugin(question["describe"]))
    refusals: list[str | None] = []
    for specification in question["check"]:
        try:
            _core.check_run(specification, question["backend"])
            refusals.append(None)
        except _core.Error as error:
            refusals.append(str(error))
    return refusals


def _main() -> None:
    question = json.load(sys.stdin)
    # what the plug-in prints is no part of the answer
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    try:
        answer = {"answer": _answer(question)}
    except _core.Error as error:
        answer = {"refusal": one_line(error)}
    json.dump(answer, out)
    out.close()
    os._exit(0)  # whatever its threads and destructors are about to do


if __name__ == "__main__":
    _main()
