"""Where a run with real packets shows itself while it goes on.

Who executes runs imports this, and as little else as possible: before it makes namespaces a process has one thread.
"""

from pathlib import Path

SUFFIX = ".live.json"


def live_file(directory: Path) -> Path:
    """Return the file that shows the run which is made in a directory; absolute, for other processes."""
    return Path(f"{directory.absolute()}{SUFFIX}")
