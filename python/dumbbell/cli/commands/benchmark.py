"""Every standard scenario for schemes."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from typing import Any

import dumbbell
from dumbbell.base.errors import printable
from dumbbell.base.json_text import to_json
from dumbbell.catalog.options.values import names
from dumbbell.cli.options import chosen_path, execution, execution_options, path_options
from dumbbell.cli.outcome import dry_run, tell_failures
from dumbbell.present.tables import terminal


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds its arguments."""
    add = parser.add_argument
    add(
        "--schemes",
        type=names,
        required=True,
        metavar="A[,B]",
        help="the schemes under test; reference schemes are added",
    )
    level = parser.add_mutually_exclusive_group()
    level.add_argument(
        "--quick", action="store_true", help="fewer cells, one run each: under three minutes for one scheme"
    )
    level.add_argument("--full", action="store_true", help="everything (the default)")
    add("--only", type=names, default=(), metavar="NAME[,NAME]", help="only these experiments")
    add("--path", metavar="P", help="experiments that use the path `default` use this one, the others are left out")
    path_options(parser)
    add(
        "--baselines",
        type=names,
        default=(),
        metavar="A[,B]",
        help="judge the schemes beside these, in every experiment; default: cubic,bbr where an experiment has them",
    )
    add(
        "--experiment",
        type=names,
        action="extend",
        default=[],
        metavar="FILE.toml[,FILE.toml]",
        help="experiments of your own, beside the standard ones",
    )
    execution_options(
        parser,
        "results/benchmark-SCHEMES-quick or -full",
        "go to this database, which may hold many; default: benchmark.sqlite in DIR",
    )


def main(arguments: argparse.Namespace) -> int:
    """Runs the scenarios and writes their pages, or tells what would be run; 0 if every run is good, 1 if not."""
    given = {name: getattr(arguments, name) for name in ("schemes", "quick", "only", "baselines")}
    how = execution(arguments)
    as_json = how.pop("json")
    given |= {"experiments": arguments.experiment, "path": chosen_path(arguments)} | how
    if arguments.dry_run:
        return dry_run(dumbbell.preview_benchmark(**given), as_json)
    return _benchmark(given | {"live": arguments.live, "watch": arguments.watch}, as_json)


def _benchmark(arguments: Mapping[str, Any], as_json: bool) -> int:
    """Executes what the arguments of `dumbbell.run_benchmark` describe; 0 if every run is good, 1 if not."""
    try:
        made = dumbbell.run_benchmark(**arguments, command=sys.argv)
    except dumbbell.Interrupted as stopped:
        again = f"the same command with --resume --out {stopped.directory} continues"
        print(printable(f"dumbbell: {stopped}: {again}"), file=sys.stderr)
        return 1
    tell_failures(made.outcome)
    if as_json:
        note = {"directory": str(made.directory), "index": str(made.index), "database": str(made.database)}
        counts = {"finished": made.outcome.finished, "failed": len(made.outcome.failed)}
        sys.stdout.write(to_json(note | counts | {"verdicts": made.verdicts}))
    else:
        from dumbbell.present.tables.verdicts import LEGEND, by_group  # slow to import

        if made.verdicts:
            print(f"{terminal.fit(by_group(made.verdicts))}\n{LEGEND}\n")
        print(printable(made.index))
    return 1 if made.outcome.failed or made.outcome.unrecorded else 0
