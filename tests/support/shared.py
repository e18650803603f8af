"""Directories that all processes of pytest read; slow ones are made once per session."""

import fcntl
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from tempfile import mkdtemp

import pytest


def shared_folder(factory: pytest.TempPathFactory, name: str) -> Path:
    """Return a folder of the session, the same in all workers of pytest-xdist."""
    base = factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / name
    folder.mkdir(exist_ok=True)
    return folder


def made_once(place: Path, make: Callable[[Path], None]) -> Path:
    """Return the directory `place`; the first process that asks lets `make` fill it, and others wait.

    The directory gets its name when it is complete, so that a failed attempt is made anew.
    """
    with place.with_name(f"{place.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not place.exists():
            building = Path(mkdtemp(prefix=f"{place.name}-", dir=place.parent))
            try:
                make(building)
            except BaseException:
                shutil.rmtree(building, ignore_errors=True)
                raise
            building.rename(place)
    return place
