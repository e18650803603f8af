"""The command `dumbbell remote`: check, install and serve."""

from __future__ import annotations

import argparse
from pathlib import Path

import dumbbell_remote
from dumbbell.base.errors import printable
from dumbbell.catalog.options.parser import StrictParser
from dumbbell.cli.checks import print_checks


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `dumbbell remote`."""
    from dumbbell.machine.host import FORM

    actions = parser.add_subparsers(dest="action", required=True, metavar="check|install", parser_class=StrictParser)
    check = actions.add_parser("check", help="what runs with another machine need, and whether it is there")
    install = actions.add_parser("install", help="put this dumbbell there, over ssh")
    for action in (check, install):
        action.add_argument("host", metavar="HOST", help=FORM)
    check.add_argument("--json", action="store_true")
    add = install.add_argument
    add("--from", dest="wheel", type=Path, metavar="WHEEL", help="default: one is made of the dumbbell that runs")
    add("--offline", action="store_true", help="also send what it depends on, as it is installed here")
    serve = actions.add_parser(
        "serve", help="a peer process on standard input and output: what other machines start over ssh"
    )
    serve.add_argument("--own", action="store_true", help=argparse.SUPPRESS)


def main(arguments: argparse.Namespace) -> int:
    """Check or install; or serve, which ends the process."""
    if arguments.action == "serve":
        from dumbbell_remote.serve import serve

        serve(arguments.own)
    if arguments.action == "check":
        return _check(arguments.host, arguments.json)
    return _install(arguments.host, arguments.wheel, arguments.offline)


def _check(host: str, as_json: bool) -> int:
    """Print the checks. Return 0 if all needed ones are good, else 1."""
    remark = "What is marked -- is missing for some schemes, or for precision; runs with other schemes work without it."
    return print_checks(dumbbell_remote.check_remote(host), as_json, remark)


def _install(host: str, wheel: Path | None, offline: bool) -> int:
    """Install dumbbell on the machine, and print its folder."""
    installation = dumbbell_remote.install_remote(host, wheel, offline)
    print(
        printable(f"{host}: dumbbell {installation.version} for Python {installation.python} in {installation.folder}")
    )
    return 0
