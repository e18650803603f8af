"""`dumbbell plugin`: what controllers from outside need, and what makes them of a kernel's source."""

import dumbbell


def print_include() -> int:
    """Prints the folder of the C interface, for the compiler's -I."""
    print(dumbbell.plugin_include())
    return 0


def compile_kernel(source: str, library: str | None) -> int:
    """Makes a plug-in and a scheme file of a controller of the Linux kernel."""
    made = dumbbell.compile_kernel_controller(source, library)
    scheme = made.scheme if made.scheme.is_absolute() else f"./{made.scheme}"
    print(f"{made.library}: run it by its scheme file: dumbbell run --schemes {scheme}")
    return 0
