"""Run a command that ccperf prints."""

from __future__ import annotations

import argparse

import dumbbell
import dumbbell_ccperf
from dumbbell.cli.outcome import execute
from dumbbell.present.tables import Table, terminal


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds its arguments."""
    from dumbbell_ccperf.arguments import add_arguments

    add_arguments(parser)


def main(arguments: argparse.Namespace) -> int:
    """Executes the experiment that the options describe and prints ccperf's tables; 0 if it is good, 1 if not."""
    how = {"jobs": 1, "out": arguments.out, "database": arguments.db_path}
    return execute({"experiment": dumbbell_ccperf.ccperf_plan(arguments)} | how, arguments.json, _print_tables)


def _print_tables(results: dumbbell.Results) -> None:
    for number, table in enumerate(dumbbell_ccperf.ccperf_tables(results)):
        print("\n" * (number > 0) + f"{table.title}\n{terminal.render(Table.of(table.header, table.rows))}")
