"""The link to a peer process, which is a child of this process or, on another machine, runs over ssh."""

import contextlib
import os
import shlex
import signal
import subprocess
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from typing import IO, Any, Self

from dumbbell.base.clock import SYSTEM_CLOCK, Clock
from dumbbell.base.errors import UserError, one_line, printable
from dumbbell.base.interrupts import Uninterrupted
from dumbbell.base.logs import VARIABLE, ForeignLog, levels, logger
from dumbbell.base.starting import PYTHON
from dumbbell.base.version import __version__
from dumbbell.machine.host import Host
from dumbbell_remote.messages import Beats, Message, Messages, Noise, Silence, framed
from dumbbell_remote.ssh import keep_lines, ssh_command, why_ssh_failed

log = logger(__name__)

GREETED_WITHIN_S = 30.0
"""Time in which a peer process must start, s: name look-up, ssh, a slow machine's Python."""
GONE_WITHIN_S = 20.0
"""Time in which a peer process must end everything that it started, s."""
ANSWERS_WITHIN_S = 60.0
"""Time in which a peer process must answer a command that is immediate, s."""
MAX_TOLD_BYTES = 2**14
"""Maximum length of an unrequested report of a peer process, bytes."""
_LOCAL = [*PYTHON, "-m", "dumbbell", "remote", "serve", "--own"]
MAX_LOG_LINES = 10_000
"""Maximum number of log lines that are kept from a peer process."""
_LAST_WORDS = 200
"""Number of lines of stderr that are kept."""
_NEVER_BEGUN_S = 1.0
"""Time in which a peer process must end that has not greeted, s: it has started nothing yet."""

Answer = tuple[Message, bytes]
OnReport = Callable[[Message], None]


@dataclass(frozen=True)
class Question:
    """A command that the peer process has not answered yet."""

    do: str
    answer: "Future[Answer]"
    due_s: float
    """Time by which the answer must come, by the monotonic clock, s."""
    max_payload_bytes: int


class LinkLost(UserError):
    """The peer process cannot be asked any more; the message has the reason."""


class CommandRefused(UserError):
    """The peer process refused a command; the message has its reason."""


class Peer:
    """A process that carries out commands: on another machine, or, without a host, as a child on this machine.

    Use it with `with`: afterwards it leaves nothing on this machine, and nothing on the other one within seconds.
    Several threads may ask; the answers come in order.
    """

    def __init__(
        self,
        host: Host | None = None,
        on_report: OnReport | None = None,
        any_version: bool = False,
        clock: Clock = SYSTEM_CLOCK,
    ) -> None:
        """Start the process, and wait for its answer to `hello`.

        `on_report` is called, from a thread, with unrequested reports of the peer process. `any_version`: a peer
        process of another version sets `other_version`, and is not an error.

        Raises:
            LinkLost: the process could not be started; the message is one line.
        """
        self.name = str(host) if host else "this machine"
        self._host = host
        self._on_report = on_report
        self._clock = clock
        self._log = ForeignLog(self.name)
        self._log_lines = 0
        self._waiting: deque[Question] = deque()
        self._asking = threading.Lock()
        """Held while a command is written, since answers come in the order of commands."""
        self._knowing = threading.Lock()
        """Held while `_waiting` and `_lost` are read or changed."""
        self._lost: str | None = None
        self._over = False
        self._greeted = False
        self._beats: Beats | None = None
        is_started = False
        try:
            with Uninterrupted() as starting:  # an unregistered process would survive
                self._start()
                is_started = True
            if starting.was_interrupted:
                raise KeyboardInterrupt
            self._greet()
            self._greeted = True
            self._beats = Beats(self._messages, {"do": "beat"})
            self._threads.append(threading.Thread(target=self._read, name=f"link {self.name}", daemon=True))
            self._threads[1].start()
            self.hello = self.ask("hello", levels=levels().words())[0]
            facts = (self.hello.get(key) for key in ("version", "commit", "python", "kernel"))
            log.info("%s: dumbbell %s commit=%s python=%s kernel=%s", self.name, *facts)
            self.other_version = self._other_version()
            if self.other_version and not any_version:
                raise LinkLost(f"{self.name}: has {self.other_version}{self._mend()}")
        except BaseException:
            if is_started:
                self.close()
            raise

    def _start(self) -> None:
        """Start the process, and the thread that reads its stderr."""
        command = ssh_command(self._host) if self._host else _LOCAL
        # the log of the peer process comes over the link
        environment = {name: value for name, value in os.environ.items() if name != VARIABLE}
        try:
            self._process = subprocess.Popen(
                command,
                env=environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,  # Ctrl-C is for this process, which ends the child
            )
        except OSError as error:
            program = "ssh" if self._host else "a peer process"
            raise LinkLost(f"{self.name}: cannot start {program}: {one_line(error)}") from None
        log.info("%s: a peer process is started pid=%d command=%s", self.name, self._process.pid, shlex.join(command))
        source, sink, errors = self._process.stdout, self._process.stdin, self._process.stderr
        assert source is not None
        assert sink is not None
        assert errors is not None
        self._pipes: tuple[IO[bytes], ...] = (sink, source, errors)
        self._messages = Messages(source.fileno(), sink.fileno(), self._clock)
        self._last_words: deque[str] = deque(maxlen=_LAST_WORDS)
        self._threads = [threading.Thread(target=keep_lines, args=(errors, self._last_words), daemon=True)]
        self._threads[0].start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def lost(self) -> str | None:
        """Reason why the peer process cannot be asked any more; None while it can."""
        return self._lost

    def ask(
        self,
        do: str,
        payload: bytes = b"",
        *,
        within_s: float = ANSWERS_WITHIN_S,
        max_payload_bytes: int = 0,
        **arguments: Any,  # noqa: ANN401 (any JSON value)
    ) -> Answer:
        """Return the answer of the peer process to a command: an object, and bytes. See `begin`.

        Raises:
            CommandRefused: the peer process's reason.
            LinkLost: the process has ended, or did not answer in time.
        """
        question = self.begin(do, payload, within_s=within_s, max_payload_bytes=max_payload_bytes, **arguments)
        return question.result()

    def begin(
        self,
        do: str,
        payload: bytes = b"",
        *,
        within_s: float = ANSWERS_WITHIN_S,
        max_payload_bytes: int = 0,
        **arguments: Any,  # noqa: ANN401 (as `ask`)
    ) -> "Future[Answer]":
        """Give a command. The `result()` of the returned future is the answer, or raises as `ask` does.

        Args:
            do: Name of the command.
            payload: Bytes that go with it.
            within_s: Time within which the answer has to begin, s; after that the peer process is lost.
            max_payload_bytes: Maximum length of the payload of the answer, bytes.
            **arguments: Arguments of the command.
        """
        log.debug("%s: is asked to %s within_s=%g", self.name, do, within_s)
        question = Question(do, Future(), self._clock.monotonic() + within_s, max_payload_bytes)
        head = framed({"do": do} | arguments, payload)
        with self._asking:
            with self._knowing:
                if self._lost is not None:
                    raise LinkLost(self._lost)
                self._waiting.append(question)
            try:
                self._messages.write(head, payload)
            except OSError:
                pass  # the reading thread has the reason
            except Silence as error:
                self._break(f"{self.name}: {one_line(error)}")
                self._kill()
            except BaseException:  # on Ctrl-C: nothing can follow half a command
                self._kill()
                raise
        return question.answer

    def say(self, **arguments: Any) -> None:  # noqa: ANN401 (any JSON value)
        """Send arguments to the running command."""
        with contextlib.suppress(OSError, Silence):
            self._messages.send({"do": "say"} | arguments)

    def stop(self) -> None:
        """Tell the peer process to end the running command, which is then answered."""
        with contextlib.suppress(OSError, Silence):
            self._messages.send({"do": "stop"})

    def close(self) -> None:
        """End the peer process with everything that it started.

        Afterwards none of its processes is left on this machine.
        """
        if self._beats is not None:
            self._beats.stop()
        self._lose(f"{self.name}: the link was closed")
        if not self._messages.finish(within_s=1.0):
            self._kill()  # nobody reads the message in the pipe
            self._messages.finish(GONE_WITHIN_S)
        with contextlib.suppress(OSError):
            self._pipes[0].close()  # the end of its input makes the process end
        try:
            self._process.wait(GONE_WITHIN_S if self._greeted else _NEVER_BEGUN_S)
        except subprocess.TimeoutExpired:
            self._kill()
            self._process.wait()
        self._over = True
        for thread, pipe in zip(self._threads, reversed(self._pipes), strict=False):
            thread.join(2.0)
            if not thread.is_alive():  # a shared connection of ssh may keep stderr open for longer
                pipe.close()

    def _greet(self) -> None:
        try:
            self._messages.skip_to_greeting(GREETED_WITHIN_S)
        except EOFError:
            raise LinkLost(f"{self.name}: {self._why_ended()}") from None
        except Silence:
            self._kill()
            fix = f": does `ssh {self._host.name} true` work?" if self._host else ""
            raise LinkLost(f"{self.name}: no answer within {GREETED_WITHIN_S:.0f} s{fix}") from None
        except Noise as error:
            self._kill()  # the process does not listen
            raise LinkLost(f"{self.name}: {error}{self._mend()}") from None

    def _other_version(self) -> str | None:
        """Return both versions if they differ, since results of two versions must not mix; else None."""
        from dumbbell.results.installation import installation

        own_installation = installation()
        peer_version = (self.hello.get("version"), self.hello.get("commit"))
        commits = {str(commit).removesuffix("+") for commit in (own_installation.commit, peer_version[1]) if commit}
        same_commit = len(commits) < 2  # not every build knows its commit
        if peer_version[0] == __version__ and same_commit:
            return None
        return f"dumbbell {_named(*peer_version)}, this machine has {_named(__version__, own_installation.commit)}"

    def _mend(self) -> str:
        return f": `dumbbell remote install {self._host}`" if self._host else ""

    def _read(self) -> None:
        """Pass answers to the waiting callers, until the peer process ends."""
        try:
            while True:
                message, payload = self._messages.receive(
                    waiting=self._require_in_time, max_payload_bytes=self._max_payload_bytes
                )
                if "ok" in message or "error" in message:
                    self._give(message, payload)
                elif payload:
                    raise Noise("sent a payload that nobody asked for")
                elif "tell" in message:
                    if self._messages.object_bytes > MAX_TOLD_BYTES:
                        raise Noise(f"tells {self._messages.object_bytes} bytes at once: at most {MAX_TOLD_BYTES}")
                    if not isinstance(message["tell"], dict):
                        raise Noise("tells what is no object")
                    if "log" in message["tell"]:
                        self._take_log(str(message["tell"]["log"]))
                    elif self._on_report is not None:
                        self._on_report(message["tell"])
        except EOFError:
            self._break(f"{self.name}: {self._why_ended()}")
        except Silence as error:
            self._break(f"{self.name}: {one_line(error)}: the connection was lost")
        except Exception as error:  # invalid messages, or an error of `_on_report`
            self._break(f"{self.name}: {one_line(error)}")
        finally:
            if not self._over:
                self._kill()  # otherwise a thread that writes to the process would wait for ever

    def _take_log(self, text: str) -> None:
        """Make log records of the peer process's log lines."""
        self._log_lines += 1
        if self._log_lines <= MAX_LOG_LINES:
            self._log.take(text)
        elif self._log_lines == MAX_LOG_LINES + 1:
            log.warning("%s: its log is longer than %d lines: the rest is dropped", self.name, MAX_LOG_LINES)

    def _require_in_time(self) -> None:
        """Raise an error if the link is closed, or the peer process has not answered in time."""
        if self._over:
            raise EOFError
        with self._knowing:
            first = self._waiting[0] if self._waiting else None
        if first is not None and self._clock.monotonic() > first.due_s:
            raise Noise(f"has not answered `{first.do}` in time: it is stuck, or does not want to")

    def _max_payload_bytes(self) -> int:
        with self._knowing:
            return self._waiting[0].max_payload_bytes if self._waiting else 0

    def _kill(self) -> None:
        """End the process and its session on this machine, once: later the number may be another process's."""
        if self._process.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)

    def _give(self, message: Message, payload: bytes) -> None:
        with self._knowing:
            if self._lost is not None:
                return
            if not self._waiting:
                raise Noise("answered what it was not asked")
            future = self._waiting.popleft().answer
        if "error" in message:
            log.info("%s: refuses: %s", self.name, message["error"])
            future.set_exception(CommandRefused(f"{self.name}: {printable(str(message['error']))}"))
        elif isinstance(message["ok"], dict):
            future.set_result((message["ok"], payload))
        else:
            future.set_exception(LinkLost(f"{self.name}: its answer is no object"))

    def _break(self, reason: str) -> None:
        """Record that the link ended, unless it was closed."""
        if self._lost is None:
            log.warning("the link has ended: %s", reason)
        self._lose(reason)

    def _lose(self, reason: str) -> None:
        """Fail all waiting commands."""
        with self._knowing:
            self._lost = self._lost or reason
            while self._waiting:
                self._waiting.popleft().answer.set_exception(LinkLost(self._lost))

    def _why_ended(self) -> str:
        """Return the reason why the process's output ended."""
        status: int | None = None
        with contextlib.suppress(subprocess.TimeoutExpired):
            status = self._process.wait(GONE_WITHIN_S)
        self._threads[0].join(1.0)  # another process may keep stderr open
        stderr_text = "".join(self._last_words)
        log.info("%s: the peer process has ended status=%s stderr:\n%s", self.name, status, stderr_text or "(nothing)")
        if self._host and not (status is not None and status < 0):
            if self._greeted and not stderr_text.strip():
                return "its peer process was killed, or the connection was closed"
            return why_ssh_failed(self._host, status, stderr_text)
        last = (stderr_text.strip().splitlines() or [""])[-1]
        program = "the ssh to it" if self._host else "its peer process"
        ending = (
            f"{program} ended by signal {-status}" if status and status < 0 else f"{program} ended with status {status}"
        )
        return f"{ending}: {printable(last)}" if last else ending


def _named(version: object, commit: object) -> str:
    return f"{version} ({commit})" if commit else str(version)
