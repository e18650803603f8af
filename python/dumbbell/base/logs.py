"""The logs of dumbbell: records of the loggers below `dumbbell`, and where they go.

    12:03:04.123 info  remote.link: started pid=4711 command=ssh -T ...

The time is UTC. The library only makes records. The command writes them to stderr (`configure`), a process that makes a
run writes them to the run's log (`RunLog`), and a peer process sends them to who asked for them (`send_to`). Events of
the core are lines of the same form, which it writes itself (`core.log_to`).
"""

import contextlib
import logging
import os
import re
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from dumbbell import core
from dumbbell.base.clock import SYSTEM_CLOCK, Clock
from dumbbell.base.errors import UserError, is_command, listed, nearest, printable
from dumbbell.base.progress import print_line

PACKAGE = "dumbbell"
"""The logger above all others."""
_BELOW = f"{PACKAGE}."
_BESIDE = f"{PACKAGE}_"
"""Beginning of the names of the packages beside this one."""
VARIABLE = "DUMBBELL_LOG"
"""The variable that says what the command writes to stderr, whatever `-v` says."""
LEVELS = {"error": logging.ERROR, "warn": logging.WARNING, "info": logging.INFO, "debug": logging.DEBUG}
_WORDS = {number: word for word, number in LEVELS.items()}
CORE = ("_core", "datapath", "endpoint", "plugin")
"""Loggers of the core, below `dumbbell`."""
MAX_TEXT = 16_000
"""Maximum length of a record in a log, characters."""
_INDENT = "  "
"""Before each further line of a record."""
_CLEARED = "\r\x1b[K"
"""Removes what a line of progress has left on a terminal."""


def logger(module: str) -> logging.Logger:
    """Return the logger of a module: that of `dumbbell_remote.link` is `dumbbell.remote.link`."""
    return logging.getLogger(module.replace("_", ".", 1) if module.startswith(_BESIDE) else module)


@dataclass(frozen=True)
class Levels:
    """The most detailed level that is wanted of each logger, by name. A logger without a name here is as its parent."""

    by_name: tuple[tuple[str, int], ...] = ((PACKAGE, logging.WARNING),)

    def wants(self, name: str, level: int) -> bool:
        """Return whether a record of this logger and level is wanted."""
        known = dict(self.by_name)
        while name not in known and "." in name:
            name = name.rpartition(".")[0]
        return level >= known.get(name, logging.WARNING)

    @property
    def most(self) -> int:
        """The most detailed level of all."""
        return min(level for _, level in self.by_name)

    def of_runs(self) -> "Levels":
        """Return the levels of the logs of runs: these, and at least `info`."""
        return Levels(tuple((name, min(level, logging.INFO)) for name, level in self.by_name))

    def words(self) -> list[tuple[str, str]]:
        """Return them as the core and messages have them: loggers without the package's name, levels in words."""
        return [(name.removeprefix(PACKAGE).removeprefix("."), _WORDS[level]) for name, level in self.by_name]

    def apply(self) -> None:
        """Set the levels of the loggers."""
        for name, level in self.by_name:
            logging.getLogger(name).setLevel(level)


RUNS = Levels().of_runs()
"""The levels of the logs of runs, unless more is wanted."""


def read_words(words: Iterable[Iterable[str]]) -> Levels:
    """Return the levels that `Levels.words` made.

    Raises:
        UserError: it has not made these.
    """
    found = []
    for name, level in words:
        if level not in LEVELS or not re.fullmatch(r"[a-z0-9_.]{0,100}", name):
            raise UserError(f"levels of logs: `{name}={level}`: allowed are {listed(LEVELS)}")
        found.append((f"{PACKAGE}.{name}" if name else PACKAGE, LEVELS[level]))
    return Levels(tuple(found))


def asked_for(verbosity: int, variable: str | None) -> Levels:
    """Return the levels that so many `-v` ask for, or `DUMBBELL_LOG`, if it is set.

    Raises:
        UserError: the variable has another form than `LEVEL` and `LOGGER=LEVEL`, with commas between them.
    """
    if not variable:
        return Levels(((PACKAGE, (logging.WARNING, logging.INFO, logging.DEBUG)[min(verbosity, 2)]),))
    found = {PACKAGE: logging.WARNING}
    for part in variable.split(","):
        name, equals, level = part.strip().rpartition("=")
        if level not in LEVELS:
            raise UserError(
                f"{VARIABLE}={variable}: level `{level}`{nearest(level, LEVELS)}: allowed are {listed(LEVELS)}"
            )
        if equals:
            _require_logger(variable, name)
        found[name if equals else PACKAGE] = LEVELS[level]
    return Levels(tuple(found.items()))


def _require_logger(variable: str, name: str) -> None:
    first, _, below = name.partition(".")
    folder = Path(__file__).parents[1]
    packages = [*folder.iterdir(), *folder.parent.glob(f"{_BESIDE}*")]
    names = (each.name.removeprefix(_BESIDE) for each in packages if (each / "__init__.py").is_file())
    known = sorted((*CORE, *names))
    if first != PACKAGE or (below and below.partition(".")[0] not in known):
        allowed = [PACKAGE, *(f"{PACKAGE}.{each}" for each in known)]
        hint = nearest(name, allowed)
        raise UserError(f"{VARIABLE}={variable}: logger `{name}`{hint}: allowed are {listed(allowed)}, and those below")


def levels() -> Levels:
    """Return the levels that loggers of this package were given, by the command or a program that uses the library."""
    found = {PACKAGE: logging.getLogger(PACKAGE).level or logging.WARNING}
    for name, each in logging.getLogger().manager.loggerDict.copy().items():
        if name.startswith(_BELOW) and isinstance(each, logging.Logger) and each.level:
            found[name] = each.level
    known = sorted(_WORDS)  # a program may have others between these
    return Levels(tuple((name, next((at for at in known if at >= level), known[-1])) for name, level in found.items()))


class _Lines(logging.Formatter):
    """Makes a line of a record."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line without its end."""
        text = record.getMessage()
        if getattr(record, "is_continued", False):
            return f"{_INDENT}{printable(text)}"
        if record.exc_info and record.exc_info[1]:
            text += _traceback(record.exc_info[1])
        level = next((word for number, word in _WORDS.items() if record.levelno >= number), "debug")
        return _line(getattr(record, "stamp", None) or _stamp(record.created), level, record.name, text)


def _line(stamp: str, level: str, name: str, text: str) -> str:
    """Return the line of a record. Further lines, of a traceback say, are indented."""
    lines = map(printable, text.rstrip()[:MAX_TEXT].split("\n"))
    return f"{stamp} {level:<5} {name.removeprefix(_BELOW)}: " + f"\n{_INDENT}".join(lines)


def line_of(name: str, level: str, text: str, error: BaseException | None = None, clock: Clock = SYSTEM_CLOCK) -> str:
    """Return the line of a record that no logger makes; with the traceback of `error`, if there is one."""
    return _line(_stamp(clock.time()), level, name, text if error is None else text + _traceback(error))


def _traceback(error: BaseException) -> str:
    return "\n" + "".join(traceback.format_exception(error))


def _stamp(created: float) -> str:
    """Return the time of day in UTC, to the millisecond."""
    return f"{time.strftime('%H:%M:%S', time.gmtime(created))}.{int(created * 1000) % 1000:03}"


_FORMATTER = _Lines()
_LINE = re.compile(r"(\d\d:\d\d:\d\d\.\d{3}) (error|warn|info|debug) +([a-z0-9_.]{1,100}): (.*)", re.DOTALL)


class _Written(logging.Handler):
    """Gives each record, as a line, to a function."""

    def __init__(self, write: Callable[[str], None]) -> None:
        super().__init__()
        self._write = write

    def emit(self, record: logging.LogRecord) -> None:
        """Write the record. That nobody reads any more ends no work."""
        with contextlib.suppress(OSError, ValueError):
            self._write(_FORMATTER.format(record))


_ours: list[logging.Handler] = []
"""The handler of a process of dumbbell's own."""


def _handle_by(handler: logging.Handler, wanted: Levels) -> None:
    _drop_ours()
    _ours.append(handler)
    package = logging.getLogger(PACKAGE)
    package.addHandler(handler)
    package.propagate = False
    wanted.apply()


def _drop_ours() -> None:
    while _ours:
        logging.getLogger(PACKAGE).removeHandler(_ours.pop())


def configure(wanted: Levels) -> None:
    """Write records and the core's events to stderr from now on.

    For the command alone: a library leaves that to the program that uses it.
    """
    _handle_by(_Written(print_line), wanted)
    with contextlib.suppress(OSError, ValueError, core.Error):  # stderr is closed
        core.log_to(sys.stderr.fileno(), wanted.words(), _CLEARED if sys.stderr.isatty() else "")


def send_to(send: Callable[[str], None], wanted: Levels) -> None:
    """Give records and the core's events to a function from now on, which any thread may call.

    The core writes to a pipe, so that no thread of it waits for Python.
    """
    _handle_by(_Written(send), wanted)
    source, sink = os.pipe()
    os.set_blocking(sink, False)  # what nobody reads in time is lost, and stops no thread of a run
    core.log_to(sink, wanted.words())
    os.close(sink)

    def read() -> None:
        with os.fdopen(source, encoding="utf-8", errors="replace") as lines:
            for line in lines:
                with contextlib.suppress(OSError, ValueError):  # as of records
                    send(line.rstrip("\n"))

    threading.Thread(target=read, name="core events", daemon=True).start()


class Others:
    """Makes records of the lines of another log, as far as they are wanted here."""

    def __init__(self, where: str) -> None:
        """`where` says in each record whose log it is."""
        self._where = where
        self._last: tuple[str, int] | None = None

    def take(self, text: str) -> None:
        """Take one line or several. A further line of a record counts as the record does."""
        for line in text.split("\n"):
            found = _LINE.fullmatch(line)
            if found:
                name, level = f"{PACKAGE}.{found[3]}", LEVELS[found[2]]
                self._last = (name, level) if levels().wants(name, level) else None
                self._handle(f"[{self._where}] {found[4]}", stamp=found[1])
            elif line.startswith(_INDENT):
                self._handle(line.removeprefix(_INDENT), is_continued=True)

    def _handle(self, text: str, **more: object) -> None:
        if self._last is not None:
            record = logging.LogRecord(*self._last, "", 0, text, None, None)
            vars(record).update(more)
            logging.getLogger(PACKAGE).handle(record)  # not a logger of its name, which somebody else has chosen


class RunLog:
    """The log of a run while a process makes it: records of this thread, and of threads that make no run themselves."""

    def __init__(self, file: Path, wanted: Levels) -> None:
        """Open the file. It is made, or added to if it is there.

        Raises:
            OSError: it cannot be opened.
        """
        self._descriptor = _opened(file)
        self.levels = wanted

    def __enter__(self) -> "RunLog":
        _runs.begin(self)
        with contextlib.suppress(core.Error):
            core.log_to(self._descriptor, self.levels.words())
        return self

    def __exit__(self, *_: object) -> None:
        core.log_to(None)
        _runs.end(self)
        with contextlib.suppress(OSError):  # a plug-in may have closed it
            os.close(self._descriptor)

    def write(self, *lines: str) -> None:
        """Add lines as they are."""
        with contextlib.suppress(OSError):
            os.write(self._descriptor, "".join(f"{line}\n" for line in lines).encode(errors="replace"))


class _Runs(logging.Handler):
    """Writes records to the logs of the runs that this process makes."""

    def __init__(self) -> None:
        super().__init__()
        self._open: list[RunLog] = []
        self._own = threading.local()
        self._levels: Levels | None = None

    def emit(self, record: logging.LogRecord) -> None:
        """Write a record to the log of this thread's run, or of the newest."""
        log: RunLog | None = getattr(self._own, "log", None) or next(iter(self._open[-1:]), None)
        if log is not None and log.levels.wants(record.name, record.levelno):
            log.write(_FORMATTER.format(record))

    def begin(self, log: RunLog) -> None:
        """A run begins in this thread. Once a process makes runs, its loggers have their levels."""
        self._own.log = log
        self._open.append(log)
        if self._levels != log.levels:
            with _changing:
                _drop_ours()  # a copy of the command's process says in the log what it does
                logging.getLogger(PACKAGE).addHandler(self)
                log.levels.apply()
                self._levels = log.levels

    def forget(self) -> None:
        """Let the next run set the levels of the loggers anew."""
        self._levels = None

    def end(self, log: RunLog) -> None:
        """The run of this thread is over."""
        self._own.log = None
        self._open.remove(log)


_runs = _Runs()
_changing = threading.Lock()


@contextlib.contextmanager
def lent_to_runs() -> Iterator[None]:
    """Lend the logs of this process to runs that it makes meanwhile. Afterwards they are as they were."""
    before = {name: logging.getLogger(name).level for name, _ in levels().by_name}
    wanted, is_commands = levels(), bool(_ours)
    try:
        yield
    finally:
        with _changing:
            logging.getLogger(PACKAGE).removeHandler(_runs)
            _runs.forget()
            if is_commands:
                configure(wanted)
            for name, level in before.items():
                logging.getLogger(name).setLevel(level)


def _opened(file: Path) -> int:
    return os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o666)


def append(file: Path, lines: Iterable[str]) -> None:
    """Add lines to a log that no process writes to any more.

    Raises:
        OSError: it cannot be written.
    """
    descriptor = _opened(file)
    try:
        os.write(descriptor, "".join(f"{line}\n" for line in lines).encode(errors="replace"))
    finally:
        os.close(descriptor)


# a library says nothing unless the program that uses it asks for it
logging.getLogger(PACKAGE).addHandler(logging.NullHandler())
if is_command():
    configure(Levels())
