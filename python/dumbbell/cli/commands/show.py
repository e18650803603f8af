"""Print results."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TextIO

import dumbbell
from dumbbell.base.errors import UserError, one_line, printable
from dumbbell.base.json_text import to_json
from dumbbell.base.progress import Piece, Progress
from dumbbell.catalog.options.values import duration, names
from dumbbell.cli.options import convention_option, selection_options
from dumbbell.cli.summary import (
    FAMILY,
    GIVEN,
    best_first,
    estimate_text,
    print_float,
    print_latex,
    print_legend,
    print_summary,
)
from dumbbell.present.tables import Table, terminal


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    add = parser.add_argument
    add("directory", type=Path, metavar="DIR")
    add("--json", action="store_true", help="everything, for programs")
    selection_options(parser, "only these paths, or cells of a grid", "only these schemes, and mixes")
    add("--metrics", type=names, default=(), metavar="A[,B]", help="these metrics, instead of the main ones")
    convention_option(parser)
    add(
        "--sort",
        metavar="METRIC|given|family",
        help="on each path the best of this metric first, or in the given order, or by family; default: by the first "
        "column",
    )
    add("--csv", action="store_true", help="means and intervals as comma-separated values, one row per path and scheme")
    add("--tex", action="store_true", help="the tables in LaTeX (booktabs), with captions and labels, for a paper")
    add(
        "--intervals",
        type=duration,
        nargs="?",
        const=1.0,
        metavar="S",
        help="what each flow transferred every S seconds (1), at both ends, as iperf 2 prints it",
    )


def main(arguments: argparse.Namespace) -> int:
    """Print the results, or metrics, or the transfers of each interval.

    Return 0 if every run is done or degraded, and if all requested data can be read; else 1.
    """
    metrics, sort, interval_s = arguments.metrics, arguments.sort, arguments.intervals
    if arguments.tex and arguments.csv:
        raise UserError("--tex: not with --csv: allowed is one of them")
    for option, value in (("--metrics", metrics), ("--sort", sort), ("--csv", arguments.csv), ("--tex", arguments.tex)):
        if value and (arguments.json or interval_s is not None):
            raise UserError(f"{option}: not with {'--json, which has all of it' if arguments.json else '--intervals'}")
    if sort == FAMILY and arguments.csv:
        raise UserError("--sort family: not with --csv, which has no families")
    with Progress() as progress:
        progress.doing("reading the results")
        results = dumbbell.open(arguments.directory, arguments.convention).only(arguments.path, arguments.schemes)
        is_good = results.good
    dumbbell.check_metrics((*metrics, *([] if sort in (None, GIVEN, FAMILY) else [sort])))
    transfers = None if interval_s is None else _all_transfers(results.runs, interval_s)
    if arguments.json:
        _print_json(results, transfers)
    elif transfers is not None:
        for run, transfer in zip(results.runs, transfers, strict=True):
            _print_transfers(run, transfer)
    elif arguments.csv:
        sys.stdout.write(results.means(metrics, None if sort == GIVEN else sort).as_csv())
    elif metrics:
        _print_metrics(results, metrics, sort, arguments.tex)
    elif arguments.tex:
        print_latex(results, sort)
    else:
        _print_campaign(results)
        if results.running and results.campaign is None:
            total = sum(results.states.values())
            print(f"running: {total - results.states.get('missing', 0)} of {total} runs are made\n")
        print_summary(results, sort)
    damaged_parts = [
        str(part["damaged"]) for part in (results.environment, results.campaign or {}) if "damaged" in part
    ]
    damaged_parts += results.damaged_batches
    if not arguments.json:
        _list_bad(results, damaged_parts, sys.stderr if arguments.csv or arguments.tex else sys.stdout)
    unreadable = [transfer for transfer in transfers or () if isinstance(transfer, dumbbell.Error)]
    return 0 if is_good and not unreadable and not damaged_parts else 1


def _print_json(
    results: dumbbell.Results, transfers: Sequence[dumbbell.Transfers | dumbbell.Error | None] | None
) -> None:
    content = results.as_json()
    if transfers is not None:
        content["runs"] = [
            {**run.statistics, "transfers": asdict(transfer) if isinstance(transfer, dumbbell.Transfers) else None}
            for run, transfer in zip(results.runs, transfers, strict=True)
        ]
    sys.stdout.write(to_json(content))


def _print_campaign(results: dumbbell.Results) -> None:
    """Print the state of a campaign, unless it is over and complete."""
    campaign = results.campaign
    if campaign and "damaged" not in campaign and (campaign["state"] != "done" or campaign["missed"]):
        print(f"{printable(campaign['in_words'])}\n")


def _print_metrics(results: dumbbell.Results, metrics: tuple[str, ...], sort: str | None, tex: bool) -> None:
    """Print a row for each path, scheme and entity with one of the metrics: means over the runs, with intervals."""
    rows = []
    groups = best_first(results, sort, metrics[0])
    for name in metrics:
        if not any(group.having(name) for group in groups):
            print(f"no run has `{name}`", file=sys.stderr)
    for group in groups:
        for entity, index in sorted(group.having(*metrics)):
            entity_text = entity if entity == "network" else f"{entity} {index}"
            values = [estimate_text(group.estimate((entity, index, name)), 1.0, 4) for name in metrics]
            rows.append([group.path, group.scheme, entity_text, *values])
    definition_of = {definition["name"]: definition for definition in dumbbell.metrics()}
    units = {name: definition_of[name]["unit"] for name in metrics}
    head = [f"{name} ({units[name]})" if units[name] else name for name in metrics]
    table = Table.of(["path", "scheme", "of", *head], rows)
    if tex:
        conventions = ", ".join(f"{name}: {definition_of[name]['convention']}" for name in metrics)
        float_table = replace(table, caption=f"Means over the runs ({conventions})", name="metrics")
        print_float(float_table, results, groups)
    else:
        print(terminal.render(table))
        print_legend(groups)


def _print_transfers(run: dumbbell.RunResults, transfers: dumbbell.Transfers | dumbbell.Error | None) -> None:
    if isinstance(transfers, dumbbell.Error):
        return
    if transfers is None:
        print(f"{run.label}: no packet log, so no intervals\n")
        return
    note = "" if transfers.payload else " (packets with their headers: the log does not tell payload)"
    for view in dumbbell.Transfers.VIEWS:
        print(f"{view.capitalize()}: {run.label}{note}")
        print(f"{transfers.text(view)}\n")


def _all_transfers(
    runs: Sequence[dumbbell.RunResults], interval_s: float
) -> list[dumbbell.Transfers | dumbbell.Error | None]:
    with Progress() as progress:
        stage = progress.expect("transfers of runs", [Piece(run.label, 1.0) for run in runs])
        return [_transfers(run, interval_s) for run in stage.iterate(runs)]


def _transfers(run: dumbbell.RunResults, interval_s: float) -> dumbbell.Transfers | dumbbell.Error | None:
    """Return the transfers of a run; None without a packet log. For a damaged log, print and return the reason."""
    try:
        return run.transfers(interval_s)
    except dumbbell.Error as error:
        print(printable(f"{run.label}: {one_line(error)}"), file=sys.stderr)
        return error


def _list_bad(results: dumbbell.Results, damaged_parts: list[str], stream: TextIO) -> None:
    """Print the damaged files, the bad runs, and further notes."""
    for problem in damaged_parts:
        print(printable(f"damaged: {problem}"), file=stream)
    for run in results.noteworthy:
        if run.status not in ("done", "missing"):
            print(printable(f"{run.status}: {run.label}: {run.reason}"), file=stream)
        if run.statistics.get("emulation") or run.statistics.get("remote"):  # imported files may have thousands
            for note in run.notes:
                print(printable(f"note: {run.label}: {note}"), file=stream)
        for qlog in run.qlogs:
            print(printable(f"qlog: {run.label}: {qlog}"), file=stream)
    for reason, count in results.missing.items():
        print(printable(f"missing: {count} of {sum(results.states.values())} runs: {reason}"), file=stream)
