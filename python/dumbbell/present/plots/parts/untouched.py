"""Imports matplotlib, before any other module of it, without the settings that lie in the working directory.

The working directory may be somebody else's results. A `matplotlibrc` there can be endless, and can have LaTeX run.
A program that uses the library keeps its own settings for its own figures; ours are drawn without them all the same.
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
    """Import matplotlib without foreign settings if this process is ours; return whether that was done."""
    found = find_spec("matplotlib")
    ours = is_command() or parent_process() is not None
    if not ours or "matplotlib" in sys.modules or found is None or found.origin is None:
        return False
    elsewhere = Thread(target=_import_from, args=(Path(found.origin).parent / "mpl-data",))
    elsewhere.start()
    elsewhere.join()
    return "matplotlib" in sys.modules


def _import_from(folder: Path) -> None:
    """Import it with `folder`, where its own settings are, as the working directory of this thread alone."""
    if ctypes.CDLL(None, use_errno=True).unshare(_CLONE_FS) == 0:
        os.chdir(folder)
        import_module("matplotlib")


_IS_AS_IT_COMES = _import()


def defaults() -> dict[str, object]:
    """Return the settings that make matplotlib draw as it comes; what shows figures on a screen stays as it is."""
    if _IS_AS_IT_COMES:
        return {}
    import matplotlib

    return {name: value for name, value in matplotlib.rcParamsDefault.items() if name != "backend"}
