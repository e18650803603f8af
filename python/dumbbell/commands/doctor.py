"""`dumbbell doctor`: whether everything is in place, and how to mend what is not."""

import importlib
import platform
import shutil
import sys
import tempfile
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from dumbbell import __version__, _core, catalog
from dumbbell.errors import UserError, one_line
from dumbbell.results import to_json

LEAST_FREE_BYTES = 2**30


@dataclass(frozen=True)
class Check:
    """One thing that has to be in place."""

    name: str
    good: bool
    found: str
    fix: str = ""


def doctor(as_json: bool) -> int:
    """Prints every check; 0 if all are good, 1 if not."""
    checks = [_guarded(check) for check in (_python, _module, _catalogue, _disk, _directory, _figures, _pdf)]
    if as_json:
        sys.stdout.write(to_json({"checks": [asdict(check) for check in checks]}))
    else:
        for check in checks:
            print(f"{'ok ' if check.good else 'BAD'}  {check.name}: {check.found}")
            if not check.good:
                print(f"     fix: {check.fix}")
    return 0 if all(check.good for check in checks) else 1


def _guarded(check: Callable[[], Check]) -> Check:
    try:
        return check()
    except Exception as error:  # a broken installation may break in any way; the point is to say so
        return Check(check.__name__.strip("_"), False, one_line(error), "reinstall with `make build`")


def _python() -> Check:
    good = sys.version_info >= (3, 11)
    return Check("python", good, platform.python_version(), "install Python 3.11 or later")


def _module() -> Check:
    same = _core.version() == __version__
    return Check("core module", same, f"dumbbell {_core.version()}", "rebuild it with `make build`")


def _catalogue() -> Check:
    try:
        found = f"{len(list(catalog.schemes()))} schemes, {len(list(catalog.paths()))} paths"
        found += f", {len(list(catalog.experiments()))} experiments"
    except UserError as error:
        return Check("catalogue", False, str(error), "mend the file, or reinstall with `make build`")
    return Check("catalogue", True, found)


def _disk() -> Check:
    free = shutil.disk_usage(Path.cwd()).free
    found = f"{free / 2**30:.1f} GiB free here"
    return Check("disk", free >= LEAST_FREE_BYTES, found, "free some space, or use --out on another disk")


def _directory() -> Check:
    try:
        with tempfile.TemporaryFile(dir=Path.cwd()):
            return Check("working directory", True, "writable")
    except OSError as error:
        return Check("working directory", False, one_line(error), "change to a writable directory, or use --out")


def _figures() -> Check:
    matplotlib = importlib.import_module("matplotlib")
    font = importlib.import_module("matplotlib.font_manager").findfont("DejaVu Sans")
    return Check("figures", Path(font).is_file(), f"matplotlib {matplotlib.__version__}, font {Path(font).name}")


def _pdf() -> Check:
    typst = importlib.import_module("typst")
    page = typst.compile(b"#set page(width: 4cm, height: 2cm)\nok")
    return Check("pdf", bytes(page[:4]) == b"%PDF", "typst makes PDF pages", "pip install --force-reinstall typst")
