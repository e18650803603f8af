"""The logs of dumbbell: records of the loggers below `dumbbell`, and their destinations.

    12:03:04.123 info  remote.link: started pid=4711 command=ssh -T ...

The time is UTC. The library only makes records. The command writes them to stderr (`configure`), a process that makes a
run writes them to the run's log (`RunLog`), and a peer process sends them to its client (`send_to`). The core writes
its events itself, as lines of this form (`core.log_to`).
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
"""Prefix of the names of dumbbell's other packages."""
VARIABLE = "DUMBBELL_LOG"
"""Environment variable with the log levels on stderr. It overrides `-v`."""
LEVELS = {"error": logging.ERROR, "warn": logging.WARNING, "info": logging.INFO, "debug": logging.DEBUG}
_WORDS = {number: word for word, number in LEVELS.items()}
CORE = ("_core", "datapath", "endpoint", "plugin")
"""Loggers of the core, below `dumbbell`."""
MAX_TEXT = 16_000
"""Maximum length of a record in a log, characters."""
_INDENT = "  "
"""Prefix of each further line of a record."""
_CLEARED = "\r\x1b[K"
"""Control sequence that clears a progress line on a terminal."""


def logger(module: str) -> logging.Logger:
    """Return the logger of a module: that of `dumbbell_remote.link` is `dumbbell.remote.link`."""
    return logging.getLogger(module.replace("_", ".", 1) if module.startswith(_BESIDE) else module)


@dataclass(frozen=True)
class Levels:
    """Most detailed level of each logger, by name. A logger without an entry has the level of its parent."""

    by_name: tuple[tuple[str, int], ...] = ((PACKAGE, logging.WARNING),)

    def wants(self, name: str, level: int) -> bool:
        """Return True if a record of this logger and level is in the log."""
        level_of = dict(self.by_name)
        while name not in level_of and "." in name:
            name = name.rpartition(".")[0]
        return level >= level_of.get(name, logging.WARNING)

    @property
    def most_detailed(self) -> int:
        """The most detailed level of all loggers."""
        return min(level for _, level in self.by_name)

    def of_runs(self) -> "Levels":
        """Return the levels for the logs of runs: these levels, and at least `info`."""
        return Levels(tuple((name, min(level, logging.INFO)) for name, level in self.by_name))

    def words(self) -> list[tuple[str, str]]:
        """Return name (without the package's) and level word of each logger, for the core and for messages."""
        return [(name.removeprefix(PACKAGE).removeprefix("."), _WORDS[level]) for name, level in self.by_name]

    def apply(self) -> None:
        """Set the levels of the loggers."""
        for name, level in self.by_name:
            logging.getLogger(name).setLevel(level)


RUNS = Levels().of_runs()
"""Default levels of the logs of runs."""


def read_words(words: Iterable[Iterable[str]]) -> Levels:
    """Return the levels from the result of `Levels.words`.

    Raises:
        UserError: If the words are invalid.
    """
    pairs = []
    for name, level in words:
        if level not in LEVELS or not re.fullmatch(r"[a-z0-9_.]{0,100}", name):
            raise UserError(f"levels of logs: `{name}={level}`: allowed are {listed(LEVELS)}")
        pairs.append((f"{PACKAGE}.{name}" if name else PACKAGE, LEVELS[level]))
    return Levels(tuple(pairs))


def asked_for(verbosity: int, variable: str | None) -> Levels:
    """Return the levels that `DUMBBELL_LOG` contains; if it is not set, those for a number of `-v` options.

    Raises:
        UserError: If the variable is no list of `LEVEL` and `LOGGER=LEVEL`, separated by commas.
    """
    if not variable:
        return Levels(((PACKAGE, (logging.WARNING, logging.INFO, logging.DEBUG)[min(verbosity, 2)]),))
    level_of = {PACKAGE: logging.WARNING}
    for part in variable.split(","):
        name, equals, level = part.strip().rpartition("=")
        if level not in LEVELS:
            raise UserError(
                f"{VARIABLE}={variable}: level `{level}`{nearest(level, LEVELS)}: allowed are {listed(LEVELS)}"
            )
        if equals:
            _require_logger(variable, name)
        level_of[name if equals else PACKAGE] = LEVELS[level]
    return Levels(tuple(level_of.items()))


def _require_logger(variable: str, name: str) -> None:
    first, _, below = name.partition(".")
    folder = Path(__file__).parents[1]
    packages = [*folder.iterdir(), *folder.parent.glob(f"{_BESIDE}*")]
    names = (package.name.removeprefix(_BESIDE) for package in packages if (package / "__init__.py").is_file())
    top_names = sorted((*CORE, *names))
    if first != PACKAGE or (below and below.partition(".")[0] not in top_names):
        choices = [PACKAGE, *(f"{PACKAGE}.{name_}" for name_ in top_names)]
        hint = nearest(name, choices)
        raise UserError(f"{VARIABLE}={variable}: logger `{name}`{hint}: allowed are {listed(choices)}, and those below")


def levels() -> Levels:
    """Return the levels that the command, or a program that uses the library, has set for loggers of this package."""
    level_of = {PACKAGE: logging.getLogger(PACKAGE).level or logging.WARNING}
    for name, candidate in logging.getLogger().manager.loggerDict.copy().items():
        if name.startswith(_BELOW) and isinstance(candidate, logging.Logger) and candidate.level:
            level_of[name] = candidate.level
    standard = sorted(_WORDS)  # a program may have set a level between these
    return Levels(
        tuple((name, next((at for at in standard if at >= level), standard[-1])) for name, level in level_of.items())
    )


class _Lines(logging.Formatter):
    """Formatter that makes a line of a record."""

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
    """Return the line of a record. Further lines, for example of a traceback, are indented."""
    lines = map(printable, text.rstrip()[:MAX_TEXT].split("\n"))
    return f"{stamp} {level:<5} {name.removeprefix(_BELOW)}: " + f"\n{_INDENT}".join(lines)


def line_of(name: str, level: str, text: str, error: BaseException | None = None, clock: Clock = SYSTEM_CLOCK) -> str:
    """Return a log line without a logger; with the traceback of `error`, if given."""
    return _line(_stamp(clock.time()), level, name, text if error is None else text + _traceback(error))


def _traceback(error: BaseException) -> str:
    return "\n" + "".join(traceback.format_exception(error))


def _stamp(created_s: float) -> str:
    """Return the time of day in UTC, to the millisecond."""
    return f"{time.strftime('%H:%M:%S', time.gmtime(created_s))}.{int(created_s * 1000) % 1000:03}"


_FORMATTER = _Lines()
_LINE = re.compile(r"(\d\d:\d\d:\d\d\.\d{3}) (error|warn|info|debug) +([a-z0-9_.]{1,100}): (.*)", re.DOTALL)


class _LineHandler(logging.Handler):
    """Handler that passes each record, as a line, to a function."""

    def __init__(self, write: Callable[[str], None]) -> None:
        super().__init__()
        self._write = write

    def emit(self, record: logging.LogRecord) -> None:
        """Write the record. A closed destination is ignored."""
        with contextlib.suppress(OSError, ValueError):
            self._write(_FORMATTER.format(record))


_handlers: list[logging.Handler] = []
"""The handler of a process of dumbbell; at most one."""


def _handle_by(handler: logging.Handler, new_levels: Levels) -> None:
    _drop_handlers()
    _handlers.append(handler)
    package = logging.getLogger(PACKAGE)
    package.addHandler(handler)
    package.propagate = False
    new_levels.apply()


def _drop_handlers() -> None:
    while _handlers:
        logging.getLogger(PACKAGE).removeHandler(_handlers.pop())


def configure(new_levels: Levels) -> None:
    """Write records and the core's events to stderr from now on.

    Only the command calls this: in a library, this choice belongs to the program.
    """
    _handle_by(_LineHandler(print_line), new_levels)
    with contextlib.suppress(OSError, ValueError, core.Error):  # stderr is closed
        core.log_to(sys.stderr.fileno(), new_levels.words(), _CLEARED if sys.stderr.isatty() else "")


def send_to(send: Callable[[str], None], new_levels: Levels) -> None:
    """Pass records and the core's events to a function from now on. Any thread may call the function.

    The core writes to a pipe, so that no thread of the core waits for Python.
    """
    _handle_by(_LineHandler(send), new_levels)
    source, sink = os.pipe()
    os.set_blocking(sink, False)  # a full pipe drops lines instead of stopping a run
    core.log_to(sink, new_levels.words())
    os.close(sink)

    def read() -> None:
        with os.fdopen(source, encoding="utf-8", errors="replace") as lines:
            for line in lines:
                with contextlib.suppress(OSError, ValueError):  # as for records
                    send(line.rstrip("\n"))

    threading.Thread(target=read, name="core events", daemon=True).start()


class ForeignLog:
    """Records made from the lines of another process's log, if the local levels include them."""

    def __init__(self, source: str) -> None:
        """Set the name of the log's source, which is in each record."""
        self._where = source
        self._last: tuple[str, int] | None = None

    def take(self, text: str) -> None:
        """Take one or several lines. A further line of a record is treated as the record."""
        for line in text.split("\n"):
            match = _LINE.fullmatch(line)
            if match:
                name, level = f"{PACKAGE}.{match[3]}", LEVELS[match[2]]
                self._last = (name, level) if levels().wants(name, level) else None
                self._handle(f"[{self._where}] {match[4]}", stamp=match[1])
            elif line.startswith(_INDENT):
                self._handle(line.removeprefix(_INDENT), is_continued=True)

    def _handle(self, text: str, **more: object) -> None:
        if self._last is not None:
            record = logging.LogRecord(*self._last, "", 0, text, None, None)
            vars(record).update(more)
            logging.getLogger(PACKAGE).handle(record)  # the sender chose the name, so no logger is made for it


class RunLog:
    """The log of a run during the run: records of its thread, and of threads that make no run."""

    def __init__(self, file: Path, run_levels: Levels) -> None:
        """Open the file for appending; create it if it does not exist.

        Raises:
            OSError: If the file cannot be opened.
        """
        self._descriptor = _opened(file)
        self.levels = run_levels

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
        """Add lines without a prefix."""
        with contextlib.suppress(OSError):
            os.write(self._descriptor, "".join(f"{line}\n" for line in lines).encode(errors="replace"))


class _Runs(logging.Handler):
    """Handler that writes records to the logs of the runs of this process."""

    def __init__(self) -> None:
        super().__init__()
        self._open: list[RunLog] = []
        self._own = threading.local()
        self._levels: Levels | None = None

    def emit(self, record: logging.LogRecord) -> None:
        """Write a record to the log of this thread's run, or of the newest run."""
        log: RunLog | None = getattr(self._own, "log", None) or next(iter(self._open[-1:]), None)
        if log is not None and log.levels.wants(record.name, record.levelno):
            log.write(_FORMATTER.format(record))

    def begin(self, log: RunLog) -> None:
        """Register a run of this thread. Its log sets the levels of the loggers."""
        self._own.log = log
        self._open.append(log)
        if self._levels != log.levels:
            with _changing:
                _drop_handlers()  # a copy of the command's process writes to the log instead
                logging.getLogger(PACKAGE).addHandler(self)
                log.levels.apply()
                self._levels = log.levels

    def forget(self) -> None:
        """Let the next run set the levels of the loggers anew."""
        self._levels = None

    def end(self, log: RunLog) -> None:
        """Unregister the run of this thread."""
        self._own.log = None
        self._open.remove(log)


_runs = _Runs()
_changing = threading.Lock()


@contextlib.contextmanager
def lent_to_runs() -> Iterator[None]:
    """Lend the logs of this process to the runs that it makes during the context; restore them afterwards."""
    before = {name: logging.getLogger(name).level for name, _ in levels().by_name}
    own_levels, is_commands = levels(), bool(_handlers)
    try:
        yield
    finally:
        with _changing:
            logging.getLogger(PACKAGE).removeHandler(_runs)
            _runs.forget()
            if is_commands:
                configure(own_levels)
            for name, level in before.items():
                logging.getLogger(name).setLevel(level)


def _opened(file: Path) -> int:
    return os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o666)


def append(file: Path, lines: Iterable[str]) -> None:
    """Add lines to a log that no process writes to any more.

    Raises:
        OSError: If the file cannot be written.
    """
    descriptor = _opened(file)
    try:
        os.write(descriptor, "".join(f"{line}\n" for line in lines).encode(errors="replace"))
    finally:
        os.close(descriptor)


# a library logs only if its program configures logging
logging.getLogger(PACKAGE).addHandler(logging.NullHandler())
if is_command():
    configure(Levels())
