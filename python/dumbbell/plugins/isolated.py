"""External controllers in a separate process, because loading one runs its code: queries and simulations.

If executed, this module is that process: it reads a question as a line of JSON on its input, and writes the answer as a
message (`base/inbox.py`) to its output.
"""

import contextlib
import faulthandler
import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import IO, Self, TypedDict, TypeVar, final

from dumbbell import core
from dumbbell.base.clock import SYSTEM_CLOCK, Clock, polling
from dumbbell.base.errors import UserError, one_line, with_hint
from dumbbell.base.guardian import Bounds, guarded, was_copied
from dumbbell.base.inbox import TOKEN_BYTES, GarbledMessage, Inbox, send
from dumbbell.base.interrupts import interruptible
from dumbbell.base.json_types import typed
from dumbbell.base.processes import ENDS_WITHIN_S, cause_of_death
from dumbbell.base.scratch import Scratch
from dumbbell.base.starting import PYTHON
from dumbbell.contract.controllers import ComparedFigures, ControllerFigures, PluginController, ScriptReport
from dumbbell.contract.statistics import SimulatedRun
from dumbbell.core import controllers as core_controllers, runs
from dumbbell.core.codec import Specification, encoded
from dumbbell.core.controllers import controller_cost, controllers_beside, describe_plugin, run_script

T = TypeVar("T")

_COMMAND = [*PYTHON, "-m", __name__]

PATIENCE_S = 30.0
"""Maximum time for loading a plug-in, s. The imports of a class may be large."""


class Question(TypedDict, total=False):
    """A question to the process: the keys of one function below, and common keys."""

    describe: str
    sha256: str
    cost: Specification
    beside: Sequence[Specification]
    record: Specification
    head: str
    scripts: list[str]
    specification: Specification
    steps: bool
    check: Sequence[Specification]
    real_packets: bool
    simulate: Specification
    directory: str
    watched: bool
    last_words: str
    token: str


@final
class ScriptRefusal(TypedDict):
    """Reason why a script was not run."""

    refusal: str


@cache
def describe(file: str, sha256: str) -> list[PluginController]:
    """Return `name`, `summary`, `parameters`, `fields` and `hears_ecn` of each controller in a file.

    Raises:
        UserError: If the file cannot be loaded, misbehaves, or has another SHA-256.
    """
    return _ask({"describe": file, "sha256": sha256}, [file], list[PluginController])


def cost(specification: Specification, files: Iterable[str]) -> ControllerFigures:
    """Return the cost of the controller of a run's first flow (run spec). `files` are those of its plug-ins.

    Raises:
        UserError: If a plug-in cannot be loaded, or misbehaves.
    """
    return _ask({"cost": specification}, files, ControllerFigures)


def cost_beside(specifications: Sequence[Specification], files: Iterable[str]) -> ComparedFigures:
    """Return the alternately measured costs of two runs' controllers (first flows). `files` are those of the plug-ins.

    Raises:
        UserError: If a plug-in cannot be loaded, or misbehaves.
    """
    return _ask({"beside": specifications}, files, ComparedFigures)


def run_scripts(
    scripts: list[str], specification: Specification, steps: bool, files: Iterable[str]
) -> list[ScriptReport | ScriptRefusal]:
    """Run scripts with the controller of a run's first flow; return the report or the `refusal` of each.

    Raises:
        UserError: If the plug-in in `files` cannot be loaded, or misbehaves.
    """
    files = list(files)
    question: Question = {"scripts": scripts, "specification": specification, "steps": steps}
    answers = _ask(question, files, list[dict[str, object]])
    if len(answers) != len(scripts):
        raise UserError(f"{_names_text(files)}: {_NO_ANSWER}")
    try:
        return [
            typed(answer, ScriptRefusal) if "refusal" in answer else typed(answer, ScriptReport) for answer in answers
        ]
    except UserError:
        raise UserError(f"{_names_text(files)}: {_NO_ANSWER}") from None


def record_script(specification: Specification, head: str, files: Iterable[str]) -> str:
    """Return the events and answers of the controller of a run with one flow, as a script that begins with `head`.

    Raises:
        UserError: If the plug-in in `files` cannot be loaded, or misbehaves.
    """
    return _ask({"record": specification, "head": head}, files, str)


def check(
    specifications: Sequence[Specification], real_packets: bool, files: Iterable[str], clock: Clock = SYSTEM_CLOCK
) -> list[str | None]:
    """Return the core's reason for refusing each run, or None. `files` are those of the plug-ins.

    Raises:
        UserError: If a plug-in cannot be loaded, or misbehaves.
    """
    files = list(files)
    question: Question = {"check": specifications, "real_packets": real_packets}
    refusals = _ask(question, files, list[str | None], clock)
    if len(refusals) != len(specifications):
        raise UserError(f"{_names_text(files)}: {_NO_ANSWER}")
    return refusals


Watch = Callable[[float, dict[int, dict[str, float]], dict[str, dict[str, float]]], object]


def simulate(
    specification: Specification, plugins: Iterable[str], directory: Path, watch: Watch | None = None
) -> SimulatedRun:
    """Simulate a run with `plugins` into an empty directory; return its statistics.

    `watch` is called in this process while the run waits. An exception in `watch` ends the run.

    Raises:
        UserError: If the run failed, whatever its plug-ins did.
    """
    last_words = directory / "last-words"
    question: Question = {"simulate": specification, "directory": str(directory), "watched": watch is not None}
    with _PluginProcess(question, last_words) as plugin_process:
        try:
            for message in plugin_process.answers():
                if "moment" not in message:
                    return _answer_in(message, SimulatedRun)
                moment = _moment(message["moment"])
                if watch is not None:
                    watch(*moment)
                plugin_process.say(None)
        except GarbledMessage as error:
            raise UserError(cause_of_death(plugin_process.end(), None, plugins, str(error))) from None
        raise UserError(cause_of_death(plugin_process.end(), last_words, plugins))


def _moment(content: object) -> tuple[float, dict[int, dict[str, float]], dict[str, dict[str, float]]]:
    """Return the time of a sample moment, s, the samples of flows by number, and those of links by name.

    Raises:
        GarbledMessage: If the content is no message of a run.
    """
    try:
        time_s, flows, links = typed(content, tuple[float, dict[str, dict[str, float]], dict[str, dict[str, float]]])
        return time_s, {int(number): fields for number, fields in flows.items()}, links
    except ValueError:
        raise GarbledMessage(_NO_ANSWER) from None


_NO_ANSWER = "told what is no answer"


def _names_text(files: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(files))


def _ask(
    question: Question,
    files: Iterable[str],
    kind: type[T],
    clock: Clock = SYSTEM_CLOCK,
) -> T:
    names_text = _names_text(files)
    with (
        interruptible(),
        Scratch("plugin") as folder,
        _PluginProcess(question, last_words := folder / "words", clock) as plugin_process,
    ):
        try:
            for message in plugin_process.answers(PATIENCE_S):
                return _answer_in(message, kind)
        except TimeoutError:
            raise UserError(
                f"{names_text}: was not loaded within {PATIENCE_S:g} s: a plug-in does its work in runs"
            ) from None
        except GarbledMessage as error:
            raise UserError(f"{names_text}: {error}") from None
        status = plugin_process.end()
        if last_words.is_file():
            raise UserError(f"{names_text}: {cause_of_death(status, last_words, ())}")
    if status < 0:
        raise UserError(f"{names_text}: crashed while it was loaded ({signal.Signals(-status).name})")
    raise UserError(f"{names_text}: ended the process that loaded it (exit status {status})")


class _PluginProcess:
    """Process that answers a question. The end of the context ends the process and all its descendants."""

    def __init__(self, question: Question, last_words: Path, clock: Clock = SYSTEM_CLOCK) -> None:
        self._clock = clock
        self._process = subprocess.Popen(
            _COMMAND,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,  # Ctrl-C reaches only this process, which ends the other
        )
        token = os.urandom(TOKEN_BYTES)
        assert self._process.stdout is not None
        self._inbox = Inbox(self._process.stdout, token)
        self.say({**question, "last_words": str(last_words), "token": token.hex()})

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()
        for stream in (self._process.stdin, self._process.stdout):
            with contextlib.suppress(OSError):
                stream.close()  # type: ignore[union-attr]  # they are pipes

    def say(self, content: object) -> None:
        """Send a value; a closed connection is ignored."""
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):
            self._process.stdin.write(f"{encoded(content)}\n".encode())
            self._process.stdin.flush()

    def answers(self, within_s: float | None = None) -> Iterator[dict[str, object]]:
        """Yield the messages until the process ends, for at most `within_s` seconds.

        Raises:
            TimeoutError: If the process has not ended by then.
            GarbledMessage: If the process wrote other bytes than messages.
        """
        assert self._process.stdout is not None
        poll = select.poll()
        poll.register(self._process.stdout.fileno(), select.POLLIN)
        until = None if within_s is None else self._clock.monotonic() + within_s
        while True:
            left_s = None if until is None else max(0.0, until - self._clock.monotonic())
            if not self._clock.wait(polling(poll), left_s):
                raise TimeoutError
            try:
                yield from self._inbox.take()
            except EOFError:
                return

    def end(self) -> int:
        """End the process with all its descendants, unless it has ended; return its exit code."""
        if self._process.stdout is not None and self._process.poll() is None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                # a process that has closed its output is about to end
                self._process.wait(0.2)
        self._process.terminate()
        try:
            return self._process.wait(ENDS_WITHIN_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            return self._process.wait()


def _answer_in(message: dict[str, object], kind: type[T]) -> T:
    """Return the answer in a message.

    Raises:
        UserError: If the message is a refusal.
        GarbledMessage: If the answer has another type.
    """
    if "refusal" in message:
        raise UserError(with_hint(str(message["refusal"])))
    try:
        return typed(message.get("answer"), kind)
    except UserError:
        raise GarbledMessage(_NO_ANSWER) from None


class _Out:
    """Pipe to which this process writes its answers."""

    def __init__(self, descriptor: int, token: bytes) -> None:
        self._descriptor = descriptor
        self._token = token

    def fileno(self) -> int:
        """Return the descriptor of the pipe."""
        return self._descriptor

    def say(self, message: dict[str, object]) -> None:
        """Send a message; a closed pipe is ignored."""
        with contextlib.suppress(OSError):
            send(self, self._token, message)


def _answer(question: Question, replies: IO[str], out: _Out) -> object:
    if "describe" in question:
        return describe_plugin(question["describe"], question["sha256"])
    if "cost" in question:
        return controller_cost(question["cost"])
    if "beside" in question:
        return controllers_beside(*question["beside"])
    if "record" in question:
        return core_controllers.record_script(question["record"], question["head"])
    if "scripts" in question:
        return [_script_report(text, question) for text in question["scripts"]]
    if "simulate" in question:
        return _simulate_watched(question, replies, out)
    refusals: list[str | None] = []
    for specification in question["check"]:
        try:
            runs.check_run(specification, "emu" if question["real_packets"] else "sim")
            refusals.append(None)
        except core.Error as error:
            refusals.append(str(error))
    return refusals


def _script_report(text: str, question: Question) -> ScriptReport | ScriptRefusal:
    try:
        return run_script(text, question["specification"], question["steps"])
    except core.Error as error:
        return {"refusal": str(error)}


def _simulate_watched(question: Question, replies: IO[str], out: _Out) -> SimulatedRun:
    """Return the statistics of a run.

    The asking process receives every sample moment, and tells the run to continue.
    """
    core.guard_process(question["last_words"])
    faulthandler.enable(2, all_threads=False)
    own_pid = os.getpid()

    def watch(*moment: object) -> None:
        out.say({"moment": moment})
        replies.readline()

    statistics = runs.simulate(
        question["simulate"], Path(question["directory"]), watch if question["watched"] else None
    )
    if os.getpid() != own_pid or was_copied(Path(question["last_words"])):
        os._exit(1)
    return statistics


def _main() -> None:
    question: Question = json.loads(sys.stdin.readline())  # from the parent
    replies, out = os.dup(0), os.dup(1)
    # output that the plug-in prints is no part of the answer
    guarded(0, 0.0, Bounds(Path(question["last_words"])), [replies, out])
    own_pid = os.getpid()
    answers = _Out(out, bytes.fromhex(question.pop("token")))
    try:
        answer = {"answer": _answer(question, os.fdopen(replies, encoding="utf-8"), answers)}
    except core.Error as error:
        answer = {"refusal": one_line(error)}
    if os.getpid() == own_pid:  # not in a copy that the plug-in has made
        answers.say(answer)
    os._exit(0)  # no thread or destructor may delay the end


if __name__ == "__main__":
    _main()
