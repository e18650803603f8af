"""Print what makes a shell complete these words."""

from __future__ import annotations

import argparse

from dumbbell.catalog.options.values import Choice

SHELLS = ("bash", "zsh", "fish")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument("shell", type=Choice(*SHELLS), metavar="|".join(SHELLS))


def main(arguments: argparse.Namespace) -> int:
    """Print the code that a shell must read once."""
    from dumbbell.cli.completing import shell_code  # needs argcomplete

    print(shell_code(arguments.shell))
    return 0
