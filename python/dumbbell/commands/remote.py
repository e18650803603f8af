"""`dumbbell remote`: what another machine has that runs with it need, and how dumbbell gets there."""

from pathlib import Path

import dumbbell
from dumbbell.commands.doctor import print_checks
from dumbbell.errors import printable


def check(host: str, as_json: bool) -> int:
    """Prints what was found there; 0 if all is good that is needed, 1 if not."""
    others = "What is marked -- is missing for some schemes, or for precision; runs with other schemes work without it."
    return print_checks(dumbbell.check_remote(host), as_json, others)


def install(host: str, wheel: Path | None, offline: bool) -> int:
    """Puts dumbbell there, and says where it is."""
    done = dumbbell.install_remote(host, wheel, offline)
    print(printable(f"{host}: dumbbell {done.version} for Python {done.python} in {done.folder}"))
    return 0
