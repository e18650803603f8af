"""`dumbbell benchmark`: runs every standard scenario for some schemes and writes the pages."""

import sys
from collections.abc import Mapping
from typing import Any

import dumbbell
from dumbbell.commands.run import tell_failures
from dumbbell.errors import printable
from dumbbell.json_text import to_json


def benchmark(arguments: Mapping[str, Any], as_json: bool) -> int:
    """Executes what the arguments of `dumbbell.run_benchmark` describe; 0 if every run is good, 1 if not."""
    try:
        made = dumbbell.run_benchmark(**arguments, command=sys.argv)
    except dumbbell.Interrupted as stopped:
        print(
            printable(f"interrupted: the same command with --resume --out {stopped.directory} continues"),
            file=sys.stderr,
        )
        return 1
    tell_failures(made.outcome)
    if as_json:
        note = {"directory": str(made.directory), "index": str(made.index), "database": str(made.database)}
        sys.stdout.write(to_json(note | {"finished": made.outcome.finished, "failed": len(made.outcome.failed)}))
    else:
        print(printable(made.index))
    return 1 if made.outcome.failed or made.outcome.unrecorded else 0
