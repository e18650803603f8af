"""Starting processes from anybody's program."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType


@contextmanager
def apart_from_program() -> Iterator[None]:
    """Processes that are spawned meanwhile do not run the main file of this program once more.

    They need nothing of it, and a script without `if __name__ == "__main__"` would start its work again in each.
    """
    program = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = program
