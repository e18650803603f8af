"""Folders of this user, by the XDG Base Directory Specification (https://specifications.freedesktop.org/basedir)."""

import os
from pathlib import Path


def user_folder(variable: str, below_home: str) -> Path:
    """Return the folder `dumbbell` in that of an environment variable. A relative path in the variable is ignored.

    Raises:
        RuntimeError: If the variable names no folder, and this user has no home.
    """
    chosen_folder = Path(os.environ.get(variable, ""))
    return (chosen_folder if chosen_folder.is_absolute() else Path.home() / below_home) / "dumbbell"
