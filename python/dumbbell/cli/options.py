"""Options that several commands have, and what was given by them."""

from __future__ import annotations

import argparse
import os
import resource
import sys
from pathlib import Path
from typing import Any

import dumbbell
from dumbbell.base.conventions import CONVENTIONS
from dumbbell.base.errors import UserError
from dumbbell.catalog.options.values import Choice, Suggestion, count, names

DRAWING_MIB = 420
"""Address space that drawing takes: matplotlib, typst, and what they stand on."""
_LONG_FORM_MIB = 150
_DRAWING_PER_CPU_MIB = 40
_MOST_CPUS = 64
"""The long form of a report takes more. Numpy's linear algebra (OpenBLAS) takes some for each processor."""


def require_room_to_draw(long_form: bool = False) -> None:
    """Refuse a limit of address space that drawing does not fit in: libraries end the process there as they like.

    Raises:
        UserError: the limit is too small.
    """
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    needed_mib = DRAWING_MIB + _DRAWING_PER_CPU_MIB * min(os.cpu_count() or 1, _MOST_CPUS)
    needed_mib += _LONG_FORM_MIB * long_form
    if limit != resource.RLIM_INFINITY and limit < needed_mib * 2**20:
        given = f"ulimit -v {limit // 2**10}: is {limit // 2**20} MiB of address space"
        raise UserError(f"{given}: figures need {needed_mib} MiB or more")


def plugin_option(parser: argparse.ArgumentParser) -> None:
    """Adds `--plugin`."""
    parser.add_argument(
        "--plugin",
        dest="plugins",
        action="append",
        default=[],
        metavar="FILE[:NAME]",
        help="controllers of your own: a library (.so) or classes in Python (.py); repeatable",
    )


def convention_option(parser: argparse.ArgumentParser) -> None:
    """Adds `--convention`."""
    parser.add_argument(
        "--convention",
        type=Choice(*CONVENTIONS),
        metavar="|".join(CONVENTIONS),
        help="which throughput, delay and loss are shown (docs/metrics.md); default: as the experiment says",
    )


def selection_options(parser: argparse.ArgumentParser, path: str, schemes: str) -> None:
    """Adds `--path` and `--schemes`, which choose among the runs of results; the two texts are their help."""
    parser.add_argument("--path", type=names, default=(), metavar="P[,P2]", help=path)
    parser.add_argument("--schemes", type=names, default=(), metavar="A,B", help=schemes)


def path_options(parser: argparse.ArgumentParser) -> None:
    """A path in one line, the same for every command that takes a path."""
    from dumbbell.catalog.options.path_options import AQMS, OPTIONS

    group = parser.add_argument_group("a path in one line, instead of --path")
    for name, (example, meaning) in OPTIONS.items():
        values = Suggestion(*AQMS) if name == "aqm" else str
        group.add_argument(f"--{name.replace('_', '-')}", type=values, metavar=example, help=meaning.replace("%", "%%"))


def execution_options(parser: argparse.ArgumentParser, directory: str, database: str) -> None:
    """How and where runs are executed, the same for every command that executes experiments."""
    add = parser.add_argument
    add("--jobs", type=count, metavar="N", help="processes; default: one per processor; with real packets: 1")
    add("--cluster", metavar="tcp://HOST:PORT", help="a Dask scheduler whose workers execute the runs")
    add("--out", type=Path, metavar="DIR", help=f"default: {directory}")
    add("--db-path", type=Path, metavar="FILE", help=f"the numbers {database}")
    add("--resume", action="store_true", help="continue what is in DIR")
    add("--json", action="store_true", help="results as JSON on stdout")
    live_options(parser)
    add("--dry-run", action="store_true", help="only print what would be run and how long it would take")


def live_options(parser: argparse.ArgumentParser) -> None:
    """Adds `--live` and `--watch`."""
    add = parser.add_argument
    add("--live", action="store_true", help="show what goes on in the browser; its address is printed")
    add("--watch", action="store_true", help="show what goes on here: rate, delay, state of each flow of real packets")


def execution(arguments: argparse.Namespace) -> dict[str, Any]:
    """The values of `execution_options` as commands call them."""
    same = ("jobs", "out", "resume", "json", "cluster")
    return {name: getattr(arguments, name) for name in same} | {"database": arguments.db_path}


def chosen_path(arguments: argparse.Namespace, both_ways: bool = False) -> Any:  # noqa: ANN401 (as each command takes it)
    """The path that is named, or the one that the words of `path_options` make; `both_ways`: `--rate` is of each."""
    from dumbbell.catalog.options.path_options import OPTIONS

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
