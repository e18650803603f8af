"""What controllers of your own need."""

from __future__ import annotations

import argparse
import sys
from dataclasses import asdict

import dumbbell
from dumbbell.base.json_text import to_json
from dumbbell.catalog.options.parser import StrictParser
from dumbbell.present.tables import Table, terminal


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    actions = parser.add_subparsers(
        dest="action", required=True, metavar="include|kernel|cost", parser_class=StrictParser
    )
    actions.add_parser("include", help="print the folder that has dumbbell.h")
    kernel = actions.add_parser("kernel", help="compile a controller of a Linux source tree into a plug-in")
    kernel.add_argument("source", metavar="FILE", help="for example net/ipv4/tcp_illinois.c")
    cost = actions.add_parser("cost", help="measure what controllers cost: ns for each ACK")
    cost.add_argument("controllers", nargs="+", metavar="SCHEME", help="files of plug-ins, or listed schemes")
    cost.add_argument("--json", action="store_true")
    kernel.add_argument("--out", metavar="FILE.so", help="library to write; default: libtcp_illinois.so here")


def main(arguments: argparse.Namespace) -> int:
    """Print the folder of the C interface or the cost of controllers, or compile a kernel controller."""
    if arguments.action == "cost":
        return _print_cost(tuple(arguments.controllers), arguments.json)
    if arguments.action == "kernel":
        return _compile_kernel(arguments.source, arguments.out)
    return _print_include()


def _print_include() -> int:
    """Print the folder of the C interface, for the compiler's -I."""
    print(dumbbell.plugin_include())
    return 0


def _print_cost(schemes: tuple[str, ...], as_json: bool) -> int:
    """Print the cost of the schemes' controllers for each ACK."""
    costs = [dumbbell.controller_cost(scheme) for scheme in schemes]
    if as_json:
        sys.stdout.write(to_json([asdict(cost) for cost in costs]))
        return 0
    rows = [[cost.scheme, f"{cost.ns_per_ack:.0f}", str(cost.acks), f"{cost.throughput_mbps:.1f}"] for cost in costs]
    print(terminal.fit(Table.of(("scheme", "ns per ACK", "ACKs", "Mbit/s"), rows)))
    return 0


def _compile_kernel(source: str, library: str | None) -> int:
    """Make a plug-in and a scheme file from a controller of the Linux kernel."""
    plugin = dumbbell.compile_kernel_controller(source, library)
    scheme = plugin.scheme if plugin.scheme.is_absolute() else f"./{plugin.scheme}"
    print(f"{plugin.library}: run it by its scheme file: dumbbell run --schemes {scheme}")
    return 0
