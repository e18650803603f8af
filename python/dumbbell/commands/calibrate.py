"""`dumbbell calibrate`: the path model under which our schemes behave as they were measured."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import dumbbell
from dumbbell.commands.text import listing
from dumbbell.errors import UserError, printable
from dumbbell.json_text import to_json


def calibrate(target: str, given: Mapping[str, Any], out: Path, as_json: bool) -> int:
    """Calibrates, prints what was found, and writes the path file."""
    _require_writable(out, given["resume"])
    try:
        found = dumbbell.calibrate_path(target, out, **given)
    except KeyboardInterrupt:
        print(printable(f"dumbbell: interrupted: the same command with --resume goes on ({out})"), file=sys.stderr)
        return 1
    written = found.save(out)
    if as_json:
        sys.stdout.write(to_json(found.as_json()))
    else:
        _print(found)
    for file in written:
        print(printable(f"wrote {file}"), file=sys.stderr)
    return 0


def _require_writable(out: Path, resumed: bool) -> None:
    """Minutes of searching are not for nothing."""
    if out.suffix != ".toml":
        raise UserError(f"--out {out}: allowed is a file name that ends in .toml")
    if not out.absolute().parent.is_dir():
        raise UserError(f"--out {out}: there is no directory {out.parent}")
    if out.exists() and not resumed:
        raise UserError(f"--out {out}: is there already: choose another name, or remove it")


def _print(found: dumbbell.CalibratedPath) -> None:
    print(listing(["model", "error", "held out", ""], found.compared()))
    print()
    print(listing(["parameter", "found (95 % of draws)"], [[each.knob.name, each.text()] for each in found.parameters]))
