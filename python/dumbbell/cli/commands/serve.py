"""Look into results in the browser."""

from __future__ import annotations

import argparse
import sys
import webbrowser
from pathlib import Path

import dumbbell
from dumbbell.catalog.options.values import count


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    add = parser.add_argument
    add("directories", type=Path, nargs="+", metavar="DIR")
    add("--port", type=count, metavar="N", default=0, help="of this machine; default: a free one")
    add("--open", action="store_true", help="open the browser")


def main(arguments: argparse.Namespace) -> int:
    """Serve the results to browsers on this machine until Ctrl-C."""
    server = dumbbell.serve(*arguments.directories, port=arguments.port)
    server.prepare()

    def ready() -> None:
        print(server.address, flush=True)
        print("only this machine can open it; Ctrl-C ends it", file=sys.stderr)
        if arguments.open:
            webbrowser.open(server.address)

    server.serve(ready)
    return 0
