"""`dumbbell plugin`: what controllers of your own need."""

import dumbbell


def print_include() -> int:
    """Prints the folder of the C interface, for the compiler's -I."""
    print(dumbbell.plugin_include())
    return 0
