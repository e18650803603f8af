"""Check the installation."""

from __future__ import annotations

import argparse
from dataclasses import asdict

import dumbbell
from dumbbell.base.errors import printable
from dumbbell.base.progress import Progress
from dumbbell.cli.checks import print_checks
from dumbbell.present.tables import Table, terminal

_ABOUT_OTHERS = "What is marked -- is missing for real packets only; simulation works without it."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    add = parser.add_argument
    add("--measure", action="store_true", help="also measure which rates this machine carries with real packets (10 s)")
    add("--json", action="store_true")


def main(arguments: argparse.Namespace) -> int:
    """Print every check; return 0 if all required ones are good, else 1."""
    with Progress() as progress:
        progress.doing("checking this machine")
        checks = dumbbell.doctor()
    capacity = dumbbell.measure_capacity() if arguments.measure else None
    more = {} if capacity is None else {"capacity": asdict(capacity)}
    status = print_checks(checks, arguments.json, _ABOUT_OTHERS, more)
    if capacity is not None and not arguments.json:
        _print_capacity(capacity)
    return status


def _print_capacity(capacity: dumbbell.Capacity) -> None:
    columns = ("sender", "link Mbit/s", "goodput Mbit/s", "p50 late us", "p99 late us", "lost outside", "verdict")
    rows = [
        (
            rate.sender,
            f"{rate.rate_mbps:g}",
            f"{rate.goodput_mbps:.1f}",
            f"{rate.late_p50_us:g}",
            f"{rate.late_p99_us:g}",
            f"{rate.lost_outside}",
            rate.verdict,
        )
        for rate in capacity.rates
    ]
    print(f"\n{terminal.fit(Table.of(columns, rows, 'lrrrrrw'))}")
    for rate in capacity.rates:
        if rate.reason:
            print(printable(f"{rate.sender} at {rate.rate_mbps:g} Mbit/s: {rate.reason}"))
    for sender in dict.fromkeys(rate.sender for rate in capacity.rates):
        max_mbps = capacity.most_mbps(sender)
        capacity_text = f"up to {max_mbps:g} Mbit/s" if max_mbps is not None else "no rate that was tried"
        print(f"This machine carries {capacity_text} of {sender}.")
    print(f"Load of the minute before: {capacity.load:.1f}, on {capacity.processors} processors.")
    print("Keep the links of experiments at or below these rates, and measure again when the machine is busier.")
