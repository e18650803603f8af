"""The command line: calls the command that was parsed, turns errors into one line and an exit status."""

import contextlib
import os
import sys
from typing import TYPE_CHECKING, Any

from dumbbell import Error
from dumbbell.errors import one_line, require_text, with_hint
from dumbbell.parser import command_parser

if TYPE_CHECKING:
    import argparse

GOOD, SOME_FAILED, BAD_USAGE = 0, 1, 2


def _execution(arguments: "argparse.Namespace") -> dict[str, Any]:
    """The values of `_execution_options` as commands call them."""
    same = ("jobs", "out", "resume", "json", "cluster")
    return {name: getattr(arguments, name) for name in same} | {"database": arguments.db_path}


def _run(arguments: "argparse.Namespace") -> int:
    from dumbbell.commands.run import run

    values = ("backend", "runs", "duration", "flows", "interval", "warmup", "seed", "log", "trust")
    same = ("experiment", "schemes", "path", *values, "pantheon_dir")
    given = {name: getattr(arguments, name) for name in same}
    given |= {"mixes": arguments.mix, "cells": arguments.cell, "settings": arguments.set}
    given |= {"plugins": arguments.plugin}
    how = _execution(arguments)
    as_json = how.pop("json")
    return run(given | how, as_json)


def _benchmark(arguments: "argparse.Namespace") -> int:
    from dumbbell.commands.benchmark import benchmark

    given = {name: getattr(arguments, name) for name in ("schemes", "quick", "only")}
    how = _execution(arguments)
    as_json = how.pop("json")
    return benchmark(given | {"experiments": arguments.experiment} | how, as_json)


def _emulate(arguments: "argparse.Namespace") -> int:
    import dumbbell

    same = ("path", "server", "queue", "seed", "log", "quiet")
    given = {name: getattr(arguments, name) for name in same}
    return dumbbell.emulate(command=arguments.words, delay_ms=arguments.delay, **given)


def _kernel(arguments: "argparse.Namespace") -> int:
    from dumbbell.commands.kernel import kernel

    flags = [f"--{name}" for name in ("json", "all") if getattr(arguments, name, False)]
    named = [arguments.name] if getattr(arguments, "name", None) else []
    return kernel(arguments.action, [*flags, *named])


def _dispatch(arguments: "argparse.Namespace") -> int:
    match arguments.command:
        case "run":
            return _run(arguments)
        case "benchmark":
            return _benchmark(arguments)
        case "ccperf":
            from dumbbell.commands.ccperf import ccperf

            return ccperf(arguments)
        case "emulate":
            return _emulate(arguments)
        case "kernel":
            return _kernel(arguments)
        case "plugin":
            from dumbbell.commands.plugin import print_include

            return print_include()
        case "report":
            from dumbbell.commands.show import report

            return report(arguments.directory, arguments.html, arguments.pdf)
        case "show":
            from dumbbell.commands.show import show

            return show(arguments.directory, arguments.json, arguments.intervals, arguments.metrics)
        case "list":
            from dumbbell.commands.list import print_catalog

            return print_catalog(arguments.kind, arguments.json, tuple(arguments.plugin))
        case "import":
            from dumbbell.commands.exchange import import_results

            return import_results(arguments)
        case "export":
            from dumbbell.commands.exchange import export_results

            return export_results(arguments)
        case "vectors":
            from dumbbell.commands.vectors import vectors

            return vectors(arguments.scheme, arguments.out, arguments.check)
        case "diff":
            from dumbbell.commands.show import diff

            return diff(arguments.first, arguments.second, arguments.all, arguments.json)
        case "completion":
            from dumbbell.commands.completion import print_completion

            return print_completion(arguments.shell)
        case _:
            from dumbbell.commands.doctor import doctor

            return doctor(arguments.json)


def main(arguments: list[str] | None = None) -> int:
    """The `dumbbell` command. Exit status: 0 all good, 1 some runs failed, 2 bad usage."""
    try:
        if "_ARGCOMPLETE" in os.environ:
            from dumbbell.commands.completion import answer

            answer(command_parser(whole=True))
        for argument in sys.argv[1:] if arguments is None else arguments:
            require_text("argument", argument)
        status = _dispatch(command_parser().parse_args(arguments))
        sys.stdout.flush()
        return status
    except BrokenPipeError:
        with contextlib.suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return GOOD
    except KeyboardInterrupt:
        print("dumbbell: interrupted", file=sys.stderr)
        return SOME_FAILED
    except (Error, OSError) as error:
        print(f"dumbbell: {with_hint(one_line(error))}", file=sys.stderr)
        return BAD_USAGE
