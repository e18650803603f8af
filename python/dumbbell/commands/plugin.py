"""`dumbbell plugin`: what controllers from outside need, and what makes them of a kernel's source."""

import sys
from dataclasses import asdict

import dumbbell
from dumbbell.commands.text import listing
from dumbbell.json_text import to_json


def print_include() -> int:
    """Prints the folder of the C interface, for the compiler's -I."""
    print(dumbbell.plugin_include())
    return 0


def print_cost(schemes: tuple[str, ...], as_json: bool) -> int:
    """Prints what the controllers of schemes cost for each ACK."""
    found = [dumbbell.controller_cost(scheme) for scheme in schemes]
    if as_json:
        sys.stdout.write(to_json([asdict(cost) for cost in found]))
        return 0
    rows = [[cost.scheme, f"{cost.ns_per_ack:.0f}", str(cost.acks), f"{cost.throughput_mbps:.1f}"] for cost in found]
    print(listing(("scheme", "ns per ACK", "ACKs", "Mbit/s"), rows))
    return 0


def compile_kernel(source: str, library: str | None) -> int:
    """Makes a plug-in and a scheme file of a controller of the Linux kernel."""
    made = dumbbell.compile_kernel_controller(source, library)
    scheme = made.scheme if made.scheme.is_absolute() else f"./{made.scheme}"
    print(f"{made.library}: run it by its scheme file: dumbbell run --schemes {scheme}")
    return 0
