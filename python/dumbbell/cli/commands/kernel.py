"""Our controllers in the kernel, loaded to stay."""

from __future__ import annotations

import argparse
import subprocess

import dumbbell
from dumbbell.base.errors import UserError
from dumbbell.catalog.options.parser import StrictParser


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="list|load|unload", parser_class=StrictParser)
    actions.add_parser("list", help="which there are, and which are loaded").add_argument("--json", action="store_true")
    load = actions.add_parser("load", help="register one with the kernel until it is unloaded")
    load.add_argument("name", metavar="NAME")
    unload = actions.add_parser("unload", help="take one out of the kernel").add_mutually_exclusive_group(required=True)
    unload.add_argument("name", nargs="?", metavar="NAME")
    unload.add_argument("--all", action="store_true", help="all of ours")


def main(arguments: argparse.Namespace) -> int:
    """Pass `list`, `load` or `unload` to the program `dumbbell-kernel`; return its exit status."""
    flags = [f"--{name}" for name in ("json", "all") if getattr(arguments, name, False)]
    controller_names = [arguments.name] if getattr(arguments, "name", None) else []
    words = [*flags, *controller_names]
    for word in words:
        if not word.isprintable():
            raise UserError(f"kernel {arguments.action}: no controller is called `{word}`")
    return subprocess.run([dumbbell.bpf_loader(), arguments.action, *words], check=False).returncode
