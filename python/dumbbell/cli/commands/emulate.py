"""Run any command behind an emulated path."""

from __future__ import annotations

import argparse
from pathlib import Path

import dumbbell
from dumbbell.base.errors import UserError
from dumbbell.catalog.options.values import seed
from dumbbell.cli.options import chosen_path, live_options, path_options


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.usage = "dumbbell emulate --path P [OPTIONS] [ -- COMMAND ... ]"
    add = parser.add_argument
    add("--path", metavar="P", help="a listed path, a TOML file, or mahimahi traces UP[,DOWN]")
    path_options(parser)
    add("--server", metavar="CMD", help="runs at the far end while COMMAND runs")
    add("--internet", action="store_true", help="COMMAND reaches through the path what this machine reaches")
    add("--log", type=Path, metavar="FILE.parquet", help="packet log")
    add("--seed", type=seed, default=1, metavar="N")
    add("--quiet", action="store_true", help="no word of where the other end is, and no statistics")
    live_options(parser)
    add("words", nargs="*", metavar="COMMAND", help="default: a shell")


def main(arguments: argparse.Namespace) -> int:
    """Run the command, or a shell; return its exit status."""
    names = ("server", "internet", "seed", "log", "quiet", "live", "watch")
    options = {name: getattr(arguments, name) for name in names}
    path = chosen_path(arguments, both_ways=True)
    if path is None:
        raise UserError("emulate: give --path, or a path in one line like --rate 20mbit --rtt 40ms")
    return dumbbell.emulate(path, arguments.words, **options)
