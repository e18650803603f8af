"""`dumbbell path`: what the network to another machine is like."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import dumbbell
from dumbbell.commands.text import listing
from dumbbell.errors import UserError, printable
from dumbbell.json_text import to_json


def path(host: str, given: Mapping[str, Any], out: Path | None, as_json: bool) -> int:
    """Measures and prints what was found; writes the path file."""
    if out is not None:
        _require_writable(out)
    found = dumbbell.measure_path(host, **given)
    if as_json:
        sys.stdout.write(to_json(found.as_json()))
    else:
        _print(found)
    if out is not None:
        found.save(out)
        print(printable(f"path: {out}: `dumbbell run --path {out}` simulates it"), file=sys.stderr)
    return 0


def _require_writable(out: Path) -> None:
    """Minutes of measurement are not for nothing."""
    if out.suffix != ".toml":
        raise UserError(f"--out {out}: allowed is a file name that ends in .toml")
    if not out.absolute().parent.is_dir():
        raise UserError(f"--out {out}: there is no directory {out.parent}")


def _print(found: dumbbell.MeasuredPath) -> None:
    rtt = found.findings.rtt()
    print("round trip: " + ", ".join(f"{name} {value:.4g} ms" for name, value in rtt.items()))
    for hop in found.findings.hops:
        print(f"  hop {hop['hops']}: {printable(str(hop['router']))}, {hop['rtt_ms']:.3g} ms")
    print()
    print(listing(["way", "", "found (95 %)", "how"], found.rows(), optional=["how"]))
    for reference in found.findings.clocks["references"]:
        verdict = f"refused: {reference['refused']}" if reference["refused"] else "taken in"
        print(printable(f"clocks: {reference['source']}: {verdict}"))
    for note in found.findings.notes:
        print(printable(f"note: {note}"))
    print(f"{found.findings.sent_bytes / 1e6:.1f} MB were sent")
