"""`dumbbell ccperf`: a command that ccperf prints, run as it is."""

import argparse

from dumbbell.ccperf.arguments import check_program
from dumbbell.ccperf.experiment import plan
from dumbbell.ccperf.tables import print_tables
from dumbbell.commands.run import RunCommand, perform, tell
from dumbbell.experiment import Overrides


def ccperf(arguments: argparse.Namespace) -> int:
    """Executes the experiment and prints ccperf's tables; 0 if it is good, 1 if not."""
    check_program(arguments.program)
    command = RunCommand(
        experiment=None,
        overrides=Overrides(),
        pantheon_dir=None,
        jobs=1,
        out=arguments.out,
        json=arguments.json,
        database=arguments.db_path,
    )
    results, outcome = perform(plan(arguments), command)
    return tell(results, outcome, command, print_tables)
