"""Check that the files of results are as they were recorded."""

from __future__ import annotations

import argparse
from pathlib import Path

import dumbbell
from dumbbell.base.errors import printable


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds its arguments."""
    parser.add_argument("directories", type=Path, nargs="+", metavar="DIR")


def main(arguments: argparse.Namespace) -> int:
    """Prints every file that is damaged or missing, and how much was checked; 0 if all is whole."""
    # what cannot be opened is said before the files of others are read, which can take long
    opened = [dumbbell.open(directory) for directory in arguments.directories]
    finished, whole, wrong, unrecorded = 0, 0, 0, 0
    for results in opened:
        for run, faults in results.faults():
            for fault in faults:
                print(printable(f"damaged: {results.directory}: {run.label}: {fault}"), flush=True)
            finished += 1
            whole += not faults
            wrong += len(faults)
            unrecorded += not faults and "files" not in run.statistics
    others = sum(len(results.runs) for results in opened) - finished
    said = [f"{whole} of {finished} finished runs are whole, {wrong} files damaged or missing"]
    if others:
        said.append(f"{others} other runs are not finished")
    if unrecorded:
        said.append(f"of {unrecorded} runs no digests were recorded")
    print("; ".join(said))
    return 1 if wrong else 0
