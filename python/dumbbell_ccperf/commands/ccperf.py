"""Run a command that ccperf prints."""

from __future__ import annotations

import argparse

import dumbbell
import dumbbell_ccperf
from dumbbell.cli.outcome import execute
from dumbbell.present.tables import Table, terminal


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    from dumbbell_ccperf.arguments import add_arguments

    add_arguments(parser)


def main(arguments: argparse.Namespace) -> int:
    """Run the experiment and print ccperf's tables. Return exit status 0 if all runs are good, else 1."""
    plan = dumbbell_ccperf.ccperf_plan(arguments)
    request = dumbbell.RunRequest(plan, jobs=1, out=arguments.out, database=arguments.db_path)
    return execute(request, arguments.json, _print_tables)


def _print_tables(results: dumbbell.Results) -> None:
    for number, table in enumerate(dumbbell_ccperf.ccperf_tables(results)):
        print("\n" * (number > 0) + f"{table.title}\n{terminal.render(Table.of(table.header, table.rows))}")
