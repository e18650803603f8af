"""Controllers from outside in a process of its own, because loading one runs its code: asked about, or simulated.

Executed as a module, it is that process: a question as a line of JSON on its input, the answer as one on its output.
"""

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from queue import SimpleQueue
from typing import IO, Any

from dumbbell import _core
from dumbbell.errors import UserError, one_line, with_hint
from dumbbell.execution.processes import cause_of_death

_COMMAND = [sys.executable, "-m", __name__]

PATIENCE_S = 30.0
"""How long loading a plug-in may take; what a class imports may be large."""


@cache
def describe(file: str) -> tuple[dict[str, Any], ...]:
    """The controllers of a library or of a file with classes: `name`, `summary`, `parameters` and `fields` of each.

    Raises:
        UserError: it cannot be loaded, or does something else than that.
    """
    return tuple(_ask({"describe": file}, [file]))


def cost(specification: str, files: Iterable[str]) -> dict[str, Any]:
    """What the controller of the first flow of a run (JSON) costs. `files` are those of its plug-ins.

    Raises:
        UserError: it cannot be loaded, or does something wrong.
    """
    figures: dict[str, Any] = _ask({"cost": specification}, files)
    return figures


def check(specifications: list[str], backend: str, files: Iterable[str]) -> list[str | None]:
    """For each run (JSON) why the core refuses it as one of `backend`, or None. `files` are those of its plug-ins.

    Raises:
        UserError: one of them cannot be loaded, or does something else than that.
    """
    refusals: list[str | None] = _ask({"check": specifications, "backend": backend}, files)
    return refusals


Watch = Callable[[float, dict[int, dict[str, float]], dict[str, dict[str, float]]], object]


def simulate(specification: str, plugins: Iterable[str], directory: Path, watch: Watch | None = None) -> str:
    """Simulates a run (JSON) with `plugins` into an empty directory; its statistics as JSON.

    `watch` is called in this process while the run waits; what it raises ends the run.

    Raises:
        UserError: the run failed, whatever its plug-ins did.
    """
    last_words = directory / "last-words"
    question = {"simulate": specification, "directory": str(directory), "watched": watch is not None}
    process = subprocess.Popen(
        _COMMAND,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,  # Ctrl-C reaches us, and we end it
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        _say(process.stdin, question | {"last_words": str(last_words)})
        for line in process.stdout:
            told = json.loads(line)
            if "moment" not in told:
                return str(_answer_in(told))
            time_s, flows, links = told["moment"]
            if watch is not None:
                watch(time_s, {int(number): fields for number, fields in flows.items()}, links)
            _say(process.stdin, None)
        raise UserError(cause_of_death(process.wait(), last_words, plugins))
    finally:
        process.kill()
        process.wait()
        with contextlib.suppress(OSError):
            process.stdin.close()
        process.stdout.close()


def _say(stream: IO[str], content: object) -> None:
    """A line of JSON; nobody may listen any more."""
    with contextlib.suppress(OSError):
        stream.write(f"{json.dumps(content)}\n")
        stream.flush()


def _ask(question: dict[str, Any], files: Iterable[str]) -> Any:  # noqa: ANN401 (JSON)
    named = ", ".join(dict.fromkeys(files))
    try:
        done = subprocess.run(
            _COMMAND, input=json.dumps(question), stdout=subprocess.PIPE, text=True, timeout=PATIENCE_S, check=False
        )
    except subprocess.TimeoutExpired:
        raise UserError(f"{named}: was not loaded within {PATIENCE_S:g} s: a plug-in does its work in runs") from None
    if done.returncode < 0:
        raise UserError(f"{named}: crashed while it was loaded ({signal.Signals(-done.returncode).name})")
    if done.returncode != 0 or not done.stdout:
        raise UserError(f"{named}: ended the process that loaded it (exit status {done.returncode})")
    return _answer_in(json.loads(done.stdout))


def _answer_in(told: dict[str, Any]) -> Any:  # noqa: ANN401 (JSON)
    if "refusal" in told:
        raise UserError(with_hint(told["refusal"]))
    return told["answer"]


def _answer(question: dict[str, Any], out: IO[str]) -> Any:  # noqa: ANN401 (JSON)
    if "describe" in question:
        return json.loads(_core.describe_plugin(question["describe"]))
    if "cost" in question:
        return json.loads(_core.controller_cost(question["cost"]))
    if "simulate" in question:
        return _simulated(question, out)
    refusals: list[str | None] = []
    for specification in question["check"]:
        try:
            _core.check_run(specification, question["backend"])
            refusals.append(None)
        except _core.Error as error:
            refusals.append(str(error))
    return refusals


def _simulated(question: dict[str, Any], out: IO[str]) -> str:
    """The statistics of a run; who asks for it is told of every moment and says when to go on, and may end."""
    _core.guard_process(question["last_words"])
    replies: SimpleQueue[str] = SimpleQueue()

    def listen() -> None:
        for line in sys.stdin:
            replies.put(line)
        os._exit(1)

    def watch(*moment: object) -> None:
        _say(out, {"moment": moment})
        replies.get()

    threading.Thread(target=listen, daemon=True).start()
    return _core.simulate(question["simulate"], question["directory"], watch if question["watched"] else None)


def _main() -> None:
    question = json.loads(sys.stdin.readline())
    # what the plug-in prints is no part of the answer
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    try:
        answer = {"answer": _answer(question, out)}
    except _core.Error as error:
        answer = {"refusal": one_line(error)}
    _say(out, answer)
    os._exit(0)  # whatever its threads and destructors are about to do


if __name__ == "__main__":
    _main()
