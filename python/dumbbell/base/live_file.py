"""Name of the file that shows the state of an active run with real packets.

The code that executes runs imports this module and few others: a process that makes namespaces must have one thread.
"""

from pathlib import Path

SUFFIX = ".live.json"


def live_file(directory: Path) -> Path:
    """Return the file that shows the active run in `directory`, as an absolute path for other processes."""
    return Path(f"{directory.absolute()}{SUFFIX}")
