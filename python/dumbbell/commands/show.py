"""`dumbbell show`, `dumbbell report` and `dumbbell diff`: what came out."""

import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

from dumbbell.benchmark.selection import NOTE, open_benchmark
from dumbbell.catalog.published import Figure
from dumbbell.commands.text import columns, number
from dumbbell.errors import UserError, nearest
from dumbbell.results import ACCEPTED, Results, open_results, to_json
from dumbbell.results.compare import MAIN_METRICS, compare
from dumbbell.results.environment import cpus
from dumbbell.results.numbers import definitions
from dumbbell.results.published import beside
from dumbbell.results.summary import Estimate, Repetitions, repetitions
from dumbbell.results.transfers import VIEWS, Transfers, measure_transfers

SHOWN = (
    ("throughput Mbit/s", "throughput_mbps", 1.0, 2),
    ("p95 delay ms", "delay_p95_ms", 1.0, 1),
    ("loss %", "loss_rate", 100.0, 2),
)

MEDIA = (
    ("bitrate Mbit/s", "media_rate_mbps", 1.0, 2),
    ("utilisation %", "media_utilization", 100.0, 1),
    ("frame delay p50 ms", "frame_delay_p50_ms", 1.0, 1),
    ("p95", "frame_delay_p95_ms", 1.0, 1),
    ("p99", "frame_delay_p99_ms", 1.0, 1),
    ("stalled %", "stall_ratio", 100.0, 2),
    ("stalls", "stalls", 1.0, 0),
    ("frames written", "frames_written", 1.0, 0),
    ("skipped", "frames_skipped", 1.0, 0),
    ("decoded", "frames_decoded", 1.0, 0),
)


def show(directory: Path, as_json: bool, interval_s: float | None = None, metrics: tuple[str, ...] = ()) -> int:
    """Prints the results, or the `metrics`, or with an interval what was transferred in each.

    0 if every run is at most degraded.
    """
    if metrics and (as_json or interval_s is not None):
        raise UserError(f"--metrics: not with {'--json, which has all of them' if as_json else '--intervals'}")
    results = open_results(directory)
    known = {each.name for each in definitions()}
    for name in metrics:
        if name not in known:
            raise UserError(f"unknown metric `{name}`{nearest(name, known)}: `dumbbell list metrics` shows all")
    content = results.as_json()
    if interval_s is not None:
        for run in content["runs"]:
            transfers = _transfers(results, run, interval_s)
            if as_json:
                run["transfers"] = transfers and asdict(transfers)
            else:
                _print_transfers(run, transfers)
    elif metrics:
        _print_metrics(content["runs"], metrics)
    elif not as_json:
        print_summary(results)
    if as_json:
        sys.stdout.write(to_json(content))
    else:
        _list_bad(content["runs"])
    return 0 if all(run["status"] in ACCEPTED for run in content["runs"]) else 1


def print_summary(results: Results) -> None:
    """One line per path and scheme: means over the runs, with 95 % confidence intervals."""
    runs = results.runs()
    gathered = list(repetitions(runs).values())
    rows = [_summary_row(group) for group in gathered]
    print(columns(["path", "scheme", "runs", *(title for title, *_ in SHOWN)], rows))
    _print_media(gathered)
    _print_published(results, runs)


def _print_metrics(runs: list[dict[str, Any]], metrics: tuple[str, ...]) -> None:
    """One line per path, scheme and whatever has one of the metrics: means over the runs, with intervals."""
    rows = []
    had = {name for run in repetitions(runs).values() for _, _, name in run.values}
    for name in metrics:
        if name not in had:
            print(f"no run has `{name}`", file=sys.stderr)
    for group in repetitions(runs).values():
        for entity, index in sorted({(entity, index) for entity, index, name in group.values if name in metrics}):
            of = entity if entity == "network" else f"{entity} {index}"
            values = [_estimate(group.estimate((entity, index, name)), 1.0, 4) for name in metrics]
            rows.append([group.path, group.scheme, of, *values])
    units = {each.name: each.unit for each in definitions()}
    head = [f"{name} ({units[name]})" if units[name] else name for name in metrics]
    print(columns(["path", "scheme", "of", *head], rows))


def _print_media(gathered: list[Repetitions]) -> None:
    """What viewers of live sources got: means over the runs, one line per flow that is one; nothing if none is."""
    rows = []
    for group in gathered:
        flows = sorted(number for entity, number, name in group.values if (entity, name) == _IS_MEDIA)
        for flow in flows:
            values = []
            for _, metric, factor, digits in MEDIA:
                found = group.estimate(("flow", flow, f"media.{metric}"))
                # a mean of counts is no whole number
                shown = max(digits, 1) if found and found.count > 1 else digits
                values.append(number(found.mean * factor if found else None, shown))
            rows.append([group.path, group.scheme, str(flow), *values])
    if rows:
        print(f"\nMedia\n{columns(['path', 'scheme', 'flow', *(title for title, *_ in MEDIA)], rows)}")


def _print_published(results: Results, runs: list[dict[str, Any]]) -> None:
    """Our means beside the published ones, each with its smallest and largest run; nothing if nothing is published."""
    rows = beside(results.experiment, runs)
    head = ["scheme", *(f"{title}{side}" for title, *_ in SHOWN for side in ("", ", published"))]
    for path in dict.fromkeys(row.path for row in rows):
        table = [
            [
                row.scheme or row.title,
                *(
                    _figure(side[metric], factor, digits)
                    for _, metric, factor, digits in SHOWN
                    for side in (row.ours, row.published)
                ),
            ]
            for row in rows
            if row.path == path
        ]
        print(f"\nOurs on {path} beside published: {results.experiment.published.source}\n{columns(head, table)}")


def _transfers(results: Results, run: dict[str, Any], interval_s: float) -> Transfers | None:
    folder = results.directory / run["directory"]
    return measure_transfers(folder, run, results.experiment.duration_s, interval_s)


def _print_transfers(run: dict[str, Any], transfers: Transfers | None) -> None:
    if transfers is None:
        print(f"{run['scheme']} on {run['path']}, run {run['run']}: no packet log, so no intervals\n")
        return
    note = "" if transfers.payload else " (packets with their headers: the log does not tell payload)"
    for view in VIEWS:
        print(f"{view.capitalize()}: {run['scheme']} on {run['path']}, run {run['run']}{note}")
        print(f"{transfers.text(view)}\n")


def _summary_row(group: Repetitions) -> list[str]:
    row = [
        group.path,
        group.scheme,
        str(group.good) if group.good == group.runs else f"{group.good} of {group.runs}",
    ]
    for _, metric, factor, digits in SHOWN:
        row.append(_estimate(group.estimate(("network", 0, metric)), factor, digits))
    return row


def _estimate(estimate: Estimate | None, factor: float, digits: int) -> str:
    if estimate is None:
        return "-"
    text = number(estimate.mean * factor, digits)
    if estimate.low is None or estimate.high is None:
        return text
    return f"{text} [{number(estimate.low * factor, digits)}, {number(estimate.high * factor, digits)}]"


def _figure(figure: Figure | None, factor: float, digits: int) -> str:
    if figure is None:
        return "-"
    text = number(figure.mean * factor, digits)
    if figure.low is None or figure.high is None:
        return text
    return f"{text} [{number(figure.low * factor, digits)}, {number(figure.high * factor, digits)}]"


def _list_bad(runs: list[dict[str, object]]) -> None:
    for run in runs:
        if run["status"] != "done":
            print(f"{run['status']}: {run['scheme']} on {run['path']}, run {run['run']}: {run['reason']}")


def report(directory: Path, html: bool, pdf: bool) -> int:
    """Writes the report; both forms unless one is asked for. Of a benchmark: its pages."""
    if (directory / NOTE).is_file():
        return _pages(directory, pdf and not html)
    open_results(directory)
    try:
        from dumbbell.report import write_report
    except ModuleNotFoundError as error:
        raise UserError(f"the report needs the package `{error.name}`, which is not installed") from None
    both = html == pdf
    for file in write_report(directory, html=html or both, pdf=pdf or both):
        print(file)
    return 0


def _pages(directory: Path, only_pdf: bool) -> int:
    if only_pdf:
        raise UserError(f"{directory}: --pdf: a benchmark has pages only; its experiments have reports of their own")
    from dumbbell.benchmark.site import write_site

    print(write_site(open_benchmark(directory), cpus()))
    return 0


def diff(first: Path, second: Path, every_metric: bool, as_json: bool) -> int:
    """Prints the differences between two results directories, metric by metric."""
    rows = compare(open_results(first), open_results(second), None if every_metric else MAIN_METRICS)
    if as_json:
        sys.stdout.write(to_json({"a": str(first), "b": str(second), "rows": rows}))
        return 0
    verdicts = {True: "overlap", False: "differ", None: "one run only"}
    table = []
    for row in rows:
        entity = row["entity"] if row["entity"] == "network" else f"{row['entity']} {row['number']}"
        a, b = row["a"], row["b"]
        verdict = verdicts[row["intervals_overlap"]] if a and b else "only in " + ("A" if a else "B")
        table.append(
            [
                *(row["path"], row["scheme"], entity, row["metric"]),
                *(number(side["mean"] if side else None, 4) for side in (a, b)),
                *("-" if row[key] is None else f"{row[key]:+.{digits}{kind}}" for key, digits, kind in _DIFFERENCES),
                verdict,
            ]
        )
    print(columns(["path", "scheme", "of", "metric", "A", "B", "difference", "relative", "intervals"], table))
    return 0


_IS_MEDIA = ("flow", "media.frames_decoded")
_DIFFERENCES = (("difference", 4, "f"), ("relative", 1, "%"))
