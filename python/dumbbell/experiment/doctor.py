"""Checks of this installation and this machine, with the correction for each failure."""

import importlib
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from dumbbell import catalog, core
from dumbbell.base.distributions import installed_version
from dumbbell.base.errors import UserError, argument, one_line
from dumbbell.catalog.outside.availability import (
    LOADER,
    find_program,
    how_to_add,
    how_to_install,
    how_to_reinstall,
    kernel_controllers,
)
from dumbbell.machine import emulation
from dumbbell.machine.description import cpus

LEAST_FREE_BYTES = 2**30


@dataclass(frozen=True)
class Check:
    """A check. A check that is not `needed` matters for real packets only."""

    name: str
    good: bool
    found: str
    fix: str = ""
    needed: bool = True


def doctor() -> list[Check]:
    """Check this installation and this machine; return all checks."""
    always = (_python, _module, _catalog, _disk, _directory, _figures, _pdf)
    checks = [check for look in always for check in _guarded(look, is_needed=True)]
    for_emulation = (_emulation, _processors, _controllers, _bpf, _programs)
    return checks + [check for look in for_emulation for check in _guarded(look, is_needed=False)]


def _guarded(look: Callable[[], Check | list[Check]], is_needed: bool) -> list[Check]:
    try:
        result = look()
    except Exception as error:  # a broken installation may fail in any way, and the check reports it
        name = look.__name__.strip("_")
        return [Check(name, False, one_line(error), how_to_reinstall(), is_needed)]
    return result if isinstance(result, list) else [result]


def _python() -> Check:
    good = sys.version_info >= (3, 11)
    return Check("python", good, platform.python_version(), "install Python 3.11 or later")


def _module() -> Check:
    core_version, package_version = core.version(), installed_version("dumbbell")
    text = (
        f"dumbbell {core_version}"
        if core_version == package_version
        else f"dumbbell {core_version}, in an installation of {package_version}"
    )
    return Check("core module", core_version == package_version, text, how_to_reinstall())


def _catalog() -> Check:
    try:
        text = f"{len(list(catalog.schemes()))} schemes, {len(list(catalog.paths()))} paths"
        text += f", {len(list(catalog.experiments()))} experiments"
    except UserError as error:
        return Check("catalog", False, str(error), f"mend the file, if it is yours, or {how_to_reinstall()}")
    return Check("catalog", True, text)


def _disk() -> Check:
    free = shutil.disk_usage(Path.cwd()).free
    text = f"{free / 2**30:.1f} GiB free here"
    return Check("disk", free >= LEAST_FREE_BYTES, text, f"free some space, or use {argument('out')} on another disk")


def _directory() -> Check:
    try:
        with tempfile.TemporaryFile(dir=Path.cwd()):
            return Check("working directory", True, "writable")
    except OSError as error:
        return Check(
            "working directory", False, one_line(error), f"change to a writable directory, or use {argument('out')}"
        )


def _figures() -> Check:
    matplotlib = importlib.import_module("matplotlib")
    font = importlib.import_module("matplotlib.font_manager").findfont("DejaVu Sans")
    text = f"matplotlib {matplotlib.__version__}, font {Path(font).name}"
    return Check("figures", Path(font).is_file(), text, how_to_install("matplotlib"))


def _pdf() -> Check:
    typst = importlib.import_module("typst")
    page = typst.compile(b"#set page(width: 4cm, height: 2cm)\nok")
    return Check("pdf", bytes(page[:4]) == b"%PDF", "typst makes PDF pages", how_to_install("typst"))


def _emulation() -> list[Check]:
    return [_reported(check, bool(check["good"])) for check in emulation.checks()]


def _reported(check: Mapping[str, object], good: bool, about: str = "") -> Check:
    """Return a check from the result of another part."""
    return Check(f"{about}{check['name']}", good, str(check["found"]), str(check["fix"] or ""), needed=False)


def _processors() -> Check:
    """Return the check of the CPUs: real time needs one for the path and one for the sender."""
    count, load = cpus(), os.getloadavg()[0]
    good = count >= 2 and count - load >= 1.0
    fix = "emulate on two or more processors, with little else running"
    return Check("processors", good, f"{count}, load {load:.2f}", fix, needed=False)


def _controllers() -> Check:
    controllers = kernel_controllers()
    fix = "real packets need Linux; `modprobe tcp_NAME` adds a controller"
    return Check("kernel controllers", bool(controllers), ", ".join(controllers) or "none", fix, needed=False)


def _bpf() -> list[Check]:
    program = find_program(LOADER)
    if program is None:
        return [Check("BPF controllers", False, f"{LOADER} is not found", how_to_add(LOADER), needed=False)]
    try:
        process = subprocess.run([program, "check", "--json"], capture_output=True, text=True, check=False, timeout=60)
    except subprocess.TimeoutExpired:
        return [Check("BPF controllers", False, f"{program} did not answer in 60 s", "run it alone", needed=False)]
    return [_reported(check, check["passed"], "BPF: ") for check in json.loads(process.stdout)]


def _programs() -> list[Check]:
    """Return the checks of the programs of the listed schemes."""
    names = [name for scheme in catalog.schemes() if scheme.program for name in scheme.program.requires]
    return [_program(name) for name in dict.fromkeys(names)]


def _program(name: str) -> Check:
    file = find_program(name)
    return Check(f"program {name}", file is not None, file or "not found", how_to_add(name), needed=False)
