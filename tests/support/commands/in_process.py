"""The command without a process of its own: `main(argv)` with captured output, in a test's working directory."""

import contextlib
import io
import logging
import os
import signal
import subprocess
import sys
import tempfile
import traceback
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path

from dumbbell.base import logs
from dumbbell.base.interrupts import ENDING
from dumbbell.cli.main import main


def run_in_process(arguments: Sequence[str], folder: Path) -> "subprocess.CompletedProcess[str]":
    """Run `dumbbell ARGUMENTS` in `folder`; return its exit status and its output."""
    with _files() as (out, errors), _restore(folder, arguments), contextlib.redirect_stdout(out):
        with contextlib.redirect_stderr(errors):
            status = _status(list(arguments))
        text, error_text = _text(out), _text(errors)
    return subprocess.CompletedProcess(list(arguments), status, text, error_text)


def _status(arguments: list[str]) -> int:
    try:
        return main(arguments)
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except Exception:
        traceback.print_exc()
        return 1


@contextlib.contextmanager
def _files() -> Iterator[tuple[io.TextIOWrapper, io.TextIOWrapper]]:
    """Return two files for the standard streams. They have descriptors, which the core writes to."""
    with (
        tempfile.TemporaryFile("w+", encoding="utf-8") as out,
        tempfile.TemporaryFile("w+", encoding="utf-8", errors="backslashreplace") as errors,
    ):
        yield out, errors  # type: ignore[misc]  # (typeshed has the private wrapper of a temporary file)


def _text(file: io.TextIOWrapper) -> str:
    file.flush()
    file.seek(0)
    return file.read()


def _levels() -> dict[str, int]:
    """Return the levels of dumbbell's root logger and of its loggers that have a level of their own."""
    names = [name for name in logging.getLogger().manager.loggerDict if name.startswith(f"{logs.PACKAGE}.")]
    level_of = {name: logging.getLogger(name).level for name in (logs.PACKAGE, *names)}
    return {name: level for name, level in level_of.items() if level or name == logs.PACKAGE}


@contextlib.contextmanager
def _restore(folder: Path, arguments: Sequence[str]) -> Iterator[None]:
    """Restore the process state that a command may change: many tests share one process."""
    directory, environment, argv = Path.cwd(), dict(os.environ), sys.argv
    handlers = {number: signal.getsignal(number) for number in ENDING}
    package = logging.getLogger(logs.PACKAGE)
    levels, propagate, old_handlers = _levels(), package.propagate, list(package.handlers)
    os.chdir(folder)
    sys.argv = ["dumbbell", *arguments]
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Glyph .* missing from font", UserWarning)  # as people see it
            yield
    finally:
        os.chdir(directory)
        sys.argv = argv
        for name in os.environ.keys() - environment.keys():
            del os.environ[name]
        os.environ.update(environment)
        for number, handler in handlers.items():
            signal.signal(number, handler)
        for name in _levels():
            logging.getLogger(name).setLevel(levels.get(name, logging.NOTSET))
        package.propagate = propagate
        for handler in [entry for entry in package.handlers if entry not in old_handlers]:
            package.removeHandler(handler)
