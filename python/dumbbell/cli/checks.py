"""Printing of machine checks."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import asdict

import dumbbell
from dumbbell.base.errors import printable
from dumbbell.base.json_text import to_json


def print_checks(
    checks: list[dumbbell.Check], as_json: bool, about_others: str, more: Mapping[str, object] | None = None
) -> int:
    """Print checks; return 0 if all required checks are good. A bad optional check adds the line `about_others`.

    The JSON contains `more`, too.
    """
    if as_json:
        sys.stdout.write(to_json({"checks": [asdict(check) for check in checks], **(more or {})}))
    else:
        for check in checks:
            print(f"{_mark(check)}  {printable(check.name)}: {printable(check.found)}")
            if not check.good and check.fix:
                print(f"     fix: {printable(check.fix)}")
        if any(not check.good and not check.needed for check in checks):
            print(about_others)
    return 0 if all(check.good or not check.needed for check in checks) else 1


def _mark(check: dumbbell.Check) -> str:
    if check.good:
        return "ok "
    return "BAD" if check.needed else "-- "
