"""`dumbbell ccperf`: a command that ccperf prints, run as it is."""

import argparse

from dumbbell.ccperf.arguments import check_program
from dumbbell.ccperf.experiment import plan
from dumbbell.ccperf.tables import print_tables
from dumbbell.commands.run import run


def ccperf(arguments: argparse.Namespace) -> int:
    """Executes the experiment and prints ccperf's tables; 0 if it is good, 1 if not."""
    check_program(arguments.program)
    how = {"jobs": 1, "out": arguments.out, "database": arguments.db_path}
    return run({"experiment": plan(arguments)} | how, arguments.json, print_tables)
