"""`dumbbell ccperf`: a command that ccperf prints, run as it is."""

import argparse

import dumbbell
from dumbbell.commands.run import run
from dumbbell.commands.text import columns


def ccperf(arguments: argparse.Namespace) -> int:
    """Executes the experiment that the options describe and prints ccperf's tables; 0 if it is good, 1 if not."""
    how = {"jobs": 1, "out": arguments.out, "database": arguments.db_path}
    return run({"experiment": dumbbell.ccperf_plan(arguments)} | how, arguments.json, _print_tables)


def _print_tables(results: dumbbell.Results) -> None:
    tables = dumbbell.ccperf_tables(results)
    print("\n\n".join(f"{table.title}\n{columns(table.header, table.rows)}" for table in tables))
