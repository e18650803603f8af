"""Folders of this user, by the XDG Base Directory Specification (https://specifications.freedesktop.org/basedir)."""

import os
from pathlib import Path


def user_folder(variable: str, below_home: str) -> Path:
    """Return the folder `dumbbell` in that of an environment variable; a relative path there counts for nothing.

    Raises:
        RuntimeError: the variable names none, and this user has no home.
    """
    given = Path(os.environ.get(variable, ""))
    return (given if given.is_absolute() else Path.home() / below_home) / "dumbbell"
