"""`dumbbell doctor`: whether everything is in place, and how to mend what is not."""

import importlib
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from dumbbell import __version__, _core, catalog
from dumbbell.catalog.available import LOADER, find_program, how_to_add, kernel_controllers
from dumbbell.errors import UserError, one_line
from dumbbell.json_text import to_json
from dumbbell.machine import emulation
from dumbbell.results.environment import cpus

LEAST_FREE_BYTES = 2**30


@dataclass(frozen=True)
class Check:
    """One thing that has to be in place; what is not `needed` serves real packets only."""

    name: str
    good: bool
    found: str
    fix: str = ""
    needed: bool = True


def doctor(as_json: bool) -> int:
    """Prints every check; 0 if all are good that are needed, 1 if not."""
    always = (_python, _module, _catalog, _disk, _directory, _figures, _pdf)
    checks = [check for look in always for check in _guarded(look, needed=True)]
    for_emulation = (_emulation, _processors, _controllers, _bpf, _programs)
    checks += [check for look in for_emulation for check in _guarded(look, needed=False)]
    if as_json:
        sys.stdout.write(to_json({"checks": [asdict(check) for check in checks]}))
    else:
        for check in checks:
            print(f"{_mark(check)}  {check.name}: {check.found}")
            if not check.good and check.fix:
                print(f"     fix: {check.fix}")
        if any(not check.good and not check.needed for check in checks):
            print("What is marked -- is missing for real packets only; simulation works without it.")
    return 0 if all(check.good or not check.needed for check in checks) else 1


def _mark(check: Check) -> str:
    if check.good:
        return "ok "
    return "BAD" if check.needed else "-- "


def _guarded(look: Callable[[], Check | list[Check]], needed: bool) -> list[Check]:
    try:
        found = look()
    except Exception as error:  # a broken installation may break in any way; the point is to say so
        name = look.__name__.strip("_")
        return [Check(name, False, one_line(error), "reinstall with `make build`", needed)]
    return found if isinstance(found, list) else [found]


def _python() -> Check:
    good = sys.version_info >= (3, 11)
    return Check("python", good, platform.python_version(), "install Python 3.11 or later")


def _module() -> Check:
    same = _core.version() == __version__
    return Check("core module", same, f"dumbbell {_core.version()}", "rebuild it with `make build`")


def _catalog() -> Check:
    try:
        found = f"{len(list(catalog.schemes()))} schemes, {len(list(catalog.paths()))} paths"
        found += f", {len(list(catalog.experiments()))} experiments"
    except UserError as error:
        return Check("catalog", False, str(error), "mend the file, or reinstall with `make build`")
    return Check("catalog", True, found)


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


def _emulation() -> list[Check]:
    return [_reported(check, check["good"]) for check in emulation.checks()]


def _reported(check: dict[str, Any], good: bool, about: str = "") -> Check:
    """A check that another part made."""
    return Check(f"{about}{check['name']}", good, str(check["found"]), str(check["fix"] or ""), needed=False)


def _processors() -> Check:
    """Real time needs a processor for the path and one for what sends."""
    count, load = cpus(), os.getloadavg()[0]
    good = count >= 2 and count - load >= 1.0
    fix = "emulate on two or more processors, with little else running"
    return Check("processors", good, f"{count}, load {load:.2f}", fix, needed=False)


def _controllers() -> Check:
    offered = kernel_controllers()
    fix = "real packets need Linux; `modprobe tcp_NAME` adds a controller"
    return Check("kernel controllers", bool(offered), ", ".join(offered) or "none", fix, needed=False)


def _bpf() -> list[Check]:
    program = find_program(LOADER)
    if program is None:
        return [Check("BPF controllers", False, f"{LOADER} is not found", how_to_add(LOADER), needed=False)]
    done = subprocess.run([program, "check", "--json"], capture_output=True, text=True, check=False, timeout=30)
    return [_reported(check, check["passed"], "BPF: ") for check in json.loads(done.stdout)]


def _programs() -> list[Check]:
    """The programs behind the listed schemes."""
    names = [name for scheme in catalog.schemes() if scheme.program for name in scheme.program.requires]
    return [_program(name) for name in dict.fromkeys(names)]


def _program(name: str) -> Check:
    file = find_program(name)
    return Check(f"program {name}", file is not None, file or "not found", how_to_add(name), needed=False)
