"""The command line: call of the parsed command, and conversion of errors into one line and an exit status."""

import contextlib
import os
import re
import sys

from dumbbell.base.errors import one_line, require_text, with_hint, words_of
from dumbbell.base.starting import INTERNAL_ERROR, MISTAKE, stop_once
from dumbbell.cli.parser import command, command_parser, option_words, take_verbosity
from dumbbell.core import Error

GOOD, SOME_FAILED, BAD_USAGE = 0, 1, 2


def main(arguments: list[str] | None = None) -> int:
    """Run the `dumbbell` command. Exit status: 0 all good, 1 some runs failed, 2 bad usage, 3 a mistake of dumbbell."""
    try:
        _hold_standard_descriptors()
        if "_ARGCOMPLETE" in os.environ:
            from dumbbell.cli.completing import answer

            answer(command_parser(is_complete=True))
        with words_of(option_words):
            for argument in sys.argv[1:] if arguments is None else arguments:
                require_text("argument", argument)
            options = command_parser().parse_args(arguments)
            _write_logs(take_verbosity(options))
            status: int = command(options.command).main(options)
        sys.stdout.flush()
        return status
    except BrokenPipeError:
        with contextlib.suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return GOOD
    except KeyboardInterrupt:
        stop_once()
        print("dumbbell: interrupted", file=sys.stderr)
        return SOME_FAILED
    except MemoryError:
        return _no_memory()
    except (Error, OSError) as error:
        print(f"dumbbell: {with_hint(one_line(error))}", file=sys.stderr)
        return BAD_USAGE
    except SystemExit:
        raise
    except BaseException as error:  # a panic of the core is no `Exception`
        if _is_of_memory(error):
            return _no_memory()
        sys.__excepthook__(*sys.exc_info())
        print(MISTAKE, file=sys.stderr)
        return INTERNAL_ERROR
    finally:
        stop_once()


def _no_memory() -> int:
    print("dumbbell: there is not enough memory for this", file=sys.stderr)
    return BAD_USAGE


_OF_MEMORY = re.compile(r"failed to map segment from shared object$|annot allocate memory|can't start new thread")
"""Messages of Python and of the dynamic loader without free memory, or above the limit of `ulimit -v`."""


def _is_of_memory(error: BaseException) -> bool:
    """Return True if an exception with another message is caused by missing memory."""
    return isinstance(error, ImportError | RuntimeError) and bool(_OF_MEMORY.search(str(error)))


def _write_logs(verbosity: int) -> None:
    """Write the logs that `-v` and `DUMBBELL_LOG` request to stderr.

    By default these are warnings. Modules that warn import `logs` themselves, so most commands need no set-up here.

    Raises:
        UserError: If the variable has another form.
    """
    variable = os.environ.get("DUMBBELL_LOG")
    if verbosity or variable or "dumbbell.base.logs" in sys.modules:
        from dumbbell.base import logs

        logs.configure(logs.asked_for(verbosity, variable))


def _hold_standard_descriptors() -> None:
    """Open `/dev/null` for each standard stream that was closed before the start (`>&-`).

    Otherwise the next file that is opened, for example one of the results, gets the number of that stream.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the lowest number that is free
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "r" if name == "stdin" else "w", encoding="utf-8"))  # noqa: PTH123, SIM115
