"""`dumbbell plugin`: what controllers of your own need."""

from pathlib import Path

from dumbbell import plugins

INCLUDE = Path(plugins.__file__).parent / "include"


def print_include() -> int:
    """Prints the folder of the C interface, for the compiler's -I."""
    print(INCLUDE)
    return 0
