"""The command line: calls the command that was parsed, turns errors into one line and an exit status."""

import contextlib
import os
import sys
from typing import TYPE_CHECKING, Any

from dumbbell import Error
from dumbbell.errors import UserError, one_line, option_words, require_text, with_hint
from dumbbell.parser import command_parser

if TYPE_CHECKING:
    import argparse

GOOD, SOME_FAILED, BAD_USAGE = 0, 1, 2


def _execution(arguments: "argparse.Namespace") -> dict[str, Any]:
    """The values of `_execution_options` as commands call them."""
    same = ("jobs", "out", "resume", "json", "cluster")
    return {name: getattr(arguments, name) for name in same} | {"database": arguments.db_path}


def _path(arguments: "argparse.Namespace", both_ways: bool = False) -> Any:  # noqa: ANN401 (as each command takes it)
    """The path that is named, or the one that the words of `_path_words` make; `both_ways`: `--rate` is of each."""
    import dumbbell
    from dumbbell.catalog.one_line import OPTIONS

    words = {name: value for name in OPTIONS if (value := getattr(arguments, name)) is not None}
    if not words:
        return arguments.path
    if arguments.path:
        told = ", ".join(f"--{name.replace('_', '-')}" for name in words)
        raise UserError(f"--path: not with {told}: they make a path of their own (a trace file is --trace FILE there)")
    if both_ways and "rate" in words:
        words.setdefault("rate_down", words["rate"])
    path = dumbbell.make_path(**words)
    if not getattr(arguments, "quiet", False):
        print(f"path {path.name}: {path.title}", file=sys.stderr)
    return path


def _run(arguments: "argparse.Namespace") -> int:
    import dumbbell
    from dumbbell.commands.run import dry_run, run
    from dumbbell.library.running import OF_NETWORKS

    values = ("backend", "runs", "duration", "flows", "interval", "warmup", "seed", "log", "trust")
    same = ("experiment", "schemes", *values, "pantheon_dir")
    given = {name: getattr(arguments, name) for name in same} | {"path": _path(arguments)}
    given |= {"mixes": arguments.mix, "cells": arguments.cell, "settings": arguments.set}
    given |= {"plugins": arguments.plugin} | {name: getattr(arguments, name) for name in OF_NETWORKS}
    campaign = ("every", "lasts", "disk_quota", "bandwidth_cap", "data_cap")
    given |= {name: getattr(arguments, name) for name in campaign}
    given |= {"random_order": arguments.random_order or None, "exact": arguments.exact}
    how = _execution(arguments)
    as_json = how.pop("json")
    if arguments.dry_run:
        return dry_run(dumbbell.preview(**given, **how), as_json)
    return run(given | how, as_json)


def _benchmark(arguments: "argparse.Namespace") -> int:
    import dumbbell
    from dumbbell.commands.benchmark import benchmark
    from dumbbell.commands.run import dry_run

    given = {name: getattr(arguments, name) for name in ("schemes", "quick", "only")}
    how = _execution(arguments)
    as_json = how.pop("json")
    given |= {"experiments": arguments.experiment, "path": _path(arguments)} | how
    if arguments.dry_run:
        return dry_run(dumbbell.preview_benchmark(**given), as_json)
    return benchmark(given, as_json)


def _emulate(arguments: "argparse.Namespace") -> int:
    import dumbbell

    given = {name: getattr(arguments, name) for name in ("server", "seed", "log", "quiet")}
    path = _path(arguments, both_ways=True)
    if path is None:
        raise UserError("emulate: give --path, or a path in one line like --rate 20mbit --rtt 40ms")
    return dumbbell.emulate(path, arguments.words, **given)


def _plugin(arguments: "argparse.Namespace") -> int:
    from dumbbell.commands.plugin import compile_kernel, print_cost, print_include

    if arguments.action == "cost":
        return print_cost(tuple(arguments.controllers), arguments.json)
    if arguments.action == "kernel":
        return compile_kernel(arguments.source, arguments.out)
    return print_include()


def _kernel(arguments: "argparse.Namespace") -> int:
    from dumbbell.commands.kernel import kernel

    flags = [f"--{name}" for name in ("json", "all") if getattr(arguments, name, False)]
    named = [arguments.name] if getattr(arguments, "name", None) else []
    return kernel(arguments.action, [*flags, *named])


def _remote(arguments: "argparse.Namespace") -> int:
    if arguments.action == "serve":
        from dumbbell.remote.serve import serve

        serve(arguments.own)
    from dumbbell.commands.remote import check, install

    if arguments.action == "check":
        return check(arguments.host, arguments.json)
    return install(arguments.host, arguments.wheel, arguments.offline)


def _measure_path(arguments: "argparse.Namespace") -> int:
    from dumbbell.commands.path import path

    same = ("name", "ntp", "remote_address", "bandwidth_cap", "data_cap")
    given = {name: value for name in same if (value := getattr(arguments, name)) is not None}
    given |= {"duration": arguments.duration, "udp_ports": arguments.udp_ports}
    return path(arguments.host, given, arguments.out, arguments.json)


def _calibrate(arguments: "argparse.Namespace") -> int:
    from dumbbell.commands.calibrate import calibrate

    of_target = ("path", "schemes", "runs", "duration", "flows", "interval", "overhead_bytes")
    of_search = (
        "name",
        "models",
        "folds",
        "evaluations",
        "equal_weights",
        "minutes",
        "seed",
        "jobs",
        "cluster",
        "resume",
    )
    given = {name: getattr(arguments, name) for name in (*of_target, *of_search)} | {
        "stands_for": dict(arguments.stands_for)
    }
    return calibrate(arguments.target, given, arguments.out, arguments.json)


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
        case "remote":
            return _remote(arguments)
        case "path":
            return _measure_path(arguments)
        case "calibrate":
            return _calibrate(arguments)
        case "plugin":
            return _plugin(arguments)
        case "report":
            from dumbbell.commands.show import report

            return report(arguments.directory, arguments.html, arguments.pdf)
        case "figure":
            from dumbbell.commands.figure import figure

            of = (arguments.path, arguments.scheme, arguments.run)
            files = (arguments.out, arguments.data)
            return figure(arguments.directory, arguments.kind, of, *files, arguments.beside, arguments.legacy)
        case "show":
            from dumbbell.commands.show import show

            chosen = (arguments.intervals, arguments.metrics, arguments.sort, arguments.csv)
            return show(arguments.directory, arguments.json, *chosen)
        case "list":
            from dumbbell.commands.list import print_catalog

            text = " ".join(arguments.text)
            return print_catalog(arguments.what, text, arguments.kind, arguments.json, tuple(arguments.plugin))
        case "import":
            from dumbbell.commands.exchange import import_results

            return import_results(arguments)
        case "export":
            from dumbbell.commands.exchange import export_results

            return export_results(arguments)
        case "vectors":
            from dumbbell.commands.vectors import vectors

            return vectors(arguments.scheme, arguments.out, arguments.check)
        case "train":
            from dumbbell.commands.train import train

            others = ("command", "kind", "version")
            return train(arguments.kind, {name: value for name, value in vars(arguments).items() if name not in others})
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
        with option_words():
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
