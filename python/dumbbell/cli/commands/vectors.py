"""Golden traces of a controller, for its implementers."""

from __future__ import annotations

import argparse
from pathlib import Path

import dumbbell
from dumbbell.base.errors import UserError, printable

_SHOWN = 160
"""Letters of a line that differs."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds its arguments."""
    add = parser.add_argument
    add("scheme", nargs="?", metavar="SCHEME")
    add("--out", type=Path, metavar="DIR", help="default: vectors-SCHEME")
    add("--check", type=Path, metavar="DIR", help="compare what is in DIR with what comes out today")


def main(arguments: argparse.Namespace) -> int:
    """Writes the vectors of a scheme (0), or compares those in a directory: 0 if all are the same, 1 if not."""
    scheme, out, compare = arguments.scheme, arguments.out, arguments.check
    if compare is not None:
        if scheme is not None:
            raise UserError(f"--check compares all that is in {compare}: no scheme `{scheme}` is needed")
        if out is not None:
            raise UserError("--out: allowed when vectors are written, not with --check")
        return _compare(compare)
    if scheme is None:
        raise UserError("vectors: name a scheme, or give --check DIR")
    for folder in dumbbell.write_vectors(scheme, out or Path(f"vectors-{Path(scheme).stem}")):
        print(printable(folder))
    return 0


def _compare(directory: Path) -> int:
    differences = dumbbell.check_vectors(directory)
    for name, found in differences.items():
        if found is None:
            print(printable(f"{name}: the same"))
        else:
            print(printable(f"{name}: differs: {found.file}, line {found.line}"))
            print(f"  there: {printable(found.stored[:_SHOWN])}\n  now:   {printable(found.now[:_SHOWN])}")
    return 1 if any(differences.values()) else 0
