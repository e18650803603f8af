"""Check that the files of results are as they were recorded."""

from __future__ import annotations

import argparse
from pathlib import Path

import dumbbell
from dumbbell.base.errors import printable
from dumbbell.catalog.options.values import count


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument("directories", type=Path, nargs="+", metavar="DIR")
    parser.add_argument("--deep", action="store_true", help="compute the numbers of all runs again from their packets")
    parser.add_argument("--sample", type=count, metavar="N", help="the same of N runs of each DIR, drawn at random")


def main(arguments: argparse.Namespace) -> int:
    """Print every damaged or missing file and the number of checked runs; return 0 if all files are intact."""
    # open all directories first: reading their files can take long
    all_results = [dumbbell.open(directory) for directory in arguments.directories]
    is_deep = arguments.deep or arguments.sample is not None
    finished_count, intact_count, wrong, unrecorded_count, recomputed_count, false = 0, 0, 0, 0, 0, 0
    for results in all_results:
        # a damaged common table affects thousands of runs: `batch_faults` reports it once
        is_common = bool(results.damaged_batches)
        for run, faults in results.faults():
            for fault in faults if not is_common else ():
                print(printable(f"damaged: {results.directory}: {run.label}: {fault}"), flush=True)
            finished_count += 1
            intact_count += not faults
            wrong += len(faults) if not is_common else 0
            unrecorded_count += not faults and "files" not in run.statistics and not results.experiment.keeps_numbers
        for fault in results.batch_faults():
            print(printable(f"damaged: {results.directory}: {fault}"), flush=True)
            wrong += 1
        for fault in results.index_faults():
            print(printable(f"wrong: {results.directory}: {fault}"), flush=True)
            wrong += 1
        if is_deep:
            for run, difference in results.recompute(arguments.sample):
                recomputed_count += 1
                if difference is not None:
                    print(printable(f"wrong: {results.directory}: {run.label}: {difference}"), flush=True)
                    false += 1
    unfinished_count = sum(len(results.runs) for results in all_results) - finished_count
    parts = [f"{intact_count} of {finished_count} finished runs are whole, {wrong} files damaged or missing"]
    if unfinished_count:
        parts.append(f"{unfinished_count} other runs are not finished")
    if unrecorded_count:
        parts.append(f"of {unrecorded_count} runs no digests were recorded")
    if is_deep:
        parts.append(f"{recomputed_count} runs were computed again, {false} of them have other numbers")
    print("; ".join(parts))
    return 1 if wrong or false else 0
