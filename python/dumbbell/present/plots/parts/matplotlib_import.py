"""Import of matplotlib, before any other module of it, without settings from the working directory.

The working directory may be somebody else's results. A `matplotlibrc` there can be endless, and can start LaTeX. A
program that uses the library keeps its own settings for its own figures; dumbbell's figures ignore them.
"""

import ctypes
import os
import sys
from importlib import import_module
from importlib.util import find_spec
from multiprocessing import parent_process
from pathlib import Path
from threading import Thread

from dumbbell.base.errors import is_command

_CLONE_FS = 0x200  # <linux/sched.h>: the working directory, among others


def _import() -> bool:
    """Import matplotlib without foreign settings if the process is dumbbell's own; return True if that was done."""
    spec = find_spec("matplotlib")
    is_own_process = is_command() or parent_process() is not None
    if not is_own_process or "matplotlib" in sys.modules or spec is None or spec.origin is None:
        return False
    elsewhere = Thread(target=_import_from, args=(Path(spec.origin).parent / "mpl-data",))
    elsewhere.start()
    elsewhere.join()
    return "matplotlib" in sys.modules


def _import_from(folder: Path) -> None:
    """Import matplotlib from `folder`, which has its default settings.

    For this thread alone, the folder is the working directory.
    """
    if ctypes.CDLL(None, use_errno=True).unshare(_CLONE_FS) == 0:
        os.chdir(folder)
        import_module("matplotlib")


_IS_AS_IT_COMES = _import()


def defaults() -> dict[str, object]:
    """Return matplotlib's default settings except the backend for screens; empty if they are in force."""
    if _IS_AS_IT_COMES:
        return {}
    import matplotlib

    return {name: value for name, value in matplotlib.rcParamsDefault.items() if name != "backend"}
