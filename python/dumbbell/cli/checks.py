"""Checks of machines, printed."""

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
    """Prints checks, and `about_others` where one is not good that is not needed; 0 if all are good that are.

    The JSON has `more`, too.
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
