"""Check that the files of results are as they were recorded."""

from __future__ import annotations

import argparse
from pathlib import Path

import dumbbell
from dumbbell.base.errors import printable
from dumbbell.catalog.options.values import count


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds its arguments."""
    parser.add_argument("directories", type=Path, nargs="+", metavar="DIR")
    parser.add_argument("--deep", action="store_true", help="compute the numbers of all runs again from their packets")
    parser.add_argument("--sample", type=count, metavar="N", help="the same of N runs of each DIR, drawn at random")


def main(arguments: argparse.Namespace) -> int:
    """Prints every file that is damaged or missing, and how much was checked; 0 if all is whole."""
    # what cannot be opened is said before the files of others are read, which can take long
    opened = [dumbbell.open(directory) for directory in arguments.directories]
    is_deep = arguments.deep or arguments.sample is not None
    finished, whole, wrong, unrecorded, recomputed, false = 0, 0, 0, 0, 0, 0
    for results in opened:
        # a common table that is damaged is wrong of thousands of runs: `batch_faults` says so once
        is_common = bool(results.damaged_batches)
        for run, faults in results.faults():
            for fault in faults if not is_common else ():
                print(printable(f"damaged: {results.directory}: {run.label}: {fault}"), flush=True)
            finished += 1
            whole += not faults
            wrong += len(faults) if not is_common else 0
            unrecorded += not faults and "files" not in run.statistics and not results.experiment.keeps_numbers
        for fault in results.batch_faults():
            print(printable(f"damaged: {results.directory}: {fault}"), flush=True)
            wrong += 1
        for fault in results.index_faults():
            print(printable(f"wrong: {results.directory}: {fault}"), flush=True)
            wrong += 1
        if is_deep:
            for run, difference in results.recompute(arguments.sample):
                recomputed += 1
                if difference is not None:
                    print(printable(f"wrong: {results.directory}: {run.label}: {difference}"), flush=True)
                    false += 1
    others = sum(len(results.runs) for results in opened) - finished
    said = [f"{whole} of {finished} finished runs are whole, {wrong} files damaged or missing"]
    if others:
        said.append(f"{others} other runs are not finished")
    if unrecorded:
        said.append(f"of {unrecorded} runs no digests were recorded")
    if is_deep:
        said.append(f"{recomputed} runs were computed again, {false} of them have other numbers")
    print("; ".join(said))
    return 1 if wrong or false else 0
