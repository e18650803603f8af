"""Print the JSON Schema of a kind of TOML file, for editors."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import dumbbell
from dumbbell.base.errors import printable
from dumbbell.base.json_text import to_json
from dumbbell.catalog.options.values import Choice


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    from dumbbell.catalog.schema.files import FILES

    add = parser.add_argument
    add("kind", type=Choice(*FILES), metavar="|".join(FILES), help="of which files")
    to = parser.add_mutually_exclusive_group()
    to.add_argument("--out", type=Path, metavar="FILE", help="write it there, instead of printing it")
    to.add_argument("--where", action="store_true", help="print the name of the installed file, for `#:schema NAME`")


def main(arguments: argparse.Namespace) -> int:
    """Print or write a schema (draft-07)."""
    if arguments.where:
        print(printable(dumbbell.schema_file(arguments.kind)))
        return 0
    if arguments.out is None:
        sys.stdout.write(to_json(dumbbell.schema(arguments.kind)))
    else:
        print(printable(dumbbell.export_schema(arguments.kind, arguments.out)))
    return 0
