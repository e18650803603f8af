"""`dumbbell show`, `dumbbell report` and `dumbbell diff`: what came out."""

import sys
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Protocol, TextIO

import dumbbell
from dumbbell.commands.text import columns, number
from dumbbell.errors import UserError, printable
from dumbbell.json_text import to_json

Columns = tuple[tuple[str, str, float, int], ...]
"""Title, metric, what it is multiplied by, and digits of each column."""

SHOWN: Columns = (
    ("throughput Mbit/s", "throughput_mbps", 1.0, 2),
    ("p95 delay ms", "delay_p95_ms", 1.0, 1),
    ("loss %", "loss_rate", 100.0, 2),
)

SHARED: Columns = (
    ("share %", "payload_share", 100.0, 1),
    ("goodput Mbit/s", "goodput_mbps", 1.0, 2),
    ("p95 delay ms", "delay_p95_ms", 1.0, 1),
    ("loss %", "loss_rate", 100.0, 2),
)

MEDIA: Columns = (
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

ONE_END: Columns = (
    ("sent Mbit/s", "ingress_mbps", 1.0, 2),
    ("goodput Mbit/s", "goodput_mbps", 1.0, 2),
    ("RTT min ms", "rtt_min_ms", 1.0, 2),
    ("p50", "rtt_p50_ms", 1.0, 2),
    ("p95", "rtt_p95_ms", 1.0, 2),
    ("SRTT ms", "mean_srtt_ms", 1.0, 2),
    ("cwnd kB", "mean_cwnd_bytes", 1e-3, 1),
    ("in flight kB", "mean_in_flight_bytes", 1e-3, 1),
    ("resent", "retransmissions", 1.0, 0),
    ("lost %", "packet_loss_rate", 100.0, 3),
)
"""What one end of a connection can know."""


def show(
    directory: Path,
    as_json: bool,
    interval_s: float | None = None,
    metrics: tuple[str, ...] = (),
    sort: str | None = None,
    as_csv: bool = False,
) -> int:
    """Prints the results, or the `metrics`, or with an interval what was transferred in each.

    0 if every run is at most degraded.
    """
    for option, given in (("--metrics", metrics), ("--sort", sort), ("--csv", as_csv)):
        if given and (as_json or interval_s is not None):
            raise UserError(f"{option}: not with {'--json, which has all of it' if as_json else '--intervals'}")
    results = dumbbell.open(directory)
    dumbbell.check_metrics((*metrics, *([] if sort is None else [sort])))
    transfers = None if interval_s is None else [run.transfers(interval_s) for run in results.runs]
    if as_json:
        _print_json(results, transfers)
    elif transfers is not None:
        for run, found in zip(results.runs, transfers, strict=True):
            _print_transfers(run, found)
    elif as_csv:
        sys.stdout.write(results.means(metrics, sort).as_csv())
    elif metrics:
        _print_metrics(results, metrics, sort)
    else:
        _print_campaign(results)
        if results.running and results.campaign is None:
            made = sum(run.status != "missing" for run in results.runs)
            print(f"running: {made} of {len(results.runs)} runs are made\n")
        print_summary(results, sort)
    if not as_json:
        _list_bad(results, sys.stderr if as_csv else sys.stdout)
    return 0 if results.good and "damaged" not in results.environment else 1


def _print_json(results: dumbbell.Results, transfers: list[dumbbell.Transfers | None] | None) -> None:
    content = results.as_json()
    if transfers is not None:
        for run, found in zip(content["runs"], transfers, strict=True):
            run["transfers"] = found and asdict(found)
    sys.stdout.write(to_json(content))


def _print_campaign(results: dumbbell.Results) -> None:
    """Where a campaign stands, unless it is over and whole."""
    campaign = results.campaign
    if campaign and (campaign["state"] != "done" or campaign["missed"]):
        print(f"{printable(campaign['in_words'])}\n")


def print_summary(results: dumbbell.Results, sort: str | None = None) -> None:
    """One line per path and scheme: means over the runs, and where they lie."""
    gathered = results.summary(sort)
    rows = [[group.path, group.scheme, group.runs_text, *_means(group, "network", 0, SHOWN)] for group in gathered]
    print(columns(["path", "scheme", "runs", *(title for title, *_ in SHOWN)], rows))
    _print_shares(gathered)
    _print_one_end(gathered)
    _print_legend(gathered)
    _print_media(gathered)
    _print_published(results)
    if tested := results.tested:
        print("\nThe tested machine, as the imported files describe it")
        for line in tested:
            print(f"  {printable(line)}")
    _print_counterparts(results)


def _print_counterparts(results: dumbbell.Results) -> None:
    """Which schemes simulate those that Pantheon measured, as far as that is not plain from their names."""
    lines = []
    for key, found in results.counterparts.items():
        if found.scheme is None:
            lines.append(f"  {key}: nothing simulates it: {found.note}")
        elif found.scheme != key or found.note:
            lines.append(f"  {key}: {found.scheme}{f', {found.note}' if found.note else ''}")
    if lines:
        print("\n".join(["\nSchemes that simulate what Pantheon measured under other names", *lines]))


def _print_metrics(results: dumbbell.Results, metrics: tuple[str, ...], sort: str | None) -> None:
    """One line per path, scheme and whatever has one of the metrics: means over the runs, with intervals."""
    rows = []
    gathered = results.summary(sort)
    had = {name for group in gathered for _, _, name in group.values}
    for name in metrics:
        if name not in had:
            print(f"no run has `{name}`", file=sys.stderr)
    for group in gathered:
        for entity, index in sorted({(entity, index) for entity, index, name in group.values if name in metrics}):
            of = entity if entity == "network" else f"{entity} {index}"
            values = [_estimate(group.estimate((entity, index, name)), 1.0, 4) for name in metrics]
            rows.append([group.path, group.scheme, of, *values])
    units = {each["name"]: each["unit"] for each in dumbbell.metrics()}
    head = [f"{name} ({units[name]})" if units[name] else name for name in metrics]
    print(columns(["path", "scheme", "of", *head], rows))
    _print_legend(gathered)


def _print_legend(gathered: list[dumbbell.Repetitions]) -> None:
    """What stands behind the means, if anything does."""
    clocks = any(group.shifts for group in gathered)
    if legend := dumbbell.bounds_legend(max((group.good for group in gathered), default=0), clocks):
        print(legend)


def _print_shares(gathered: list[dumbbell.Repetitions]) -> None:
    """Who got what in runs of several schemes; nothing if there are none."""
    rows = []
    for group in gathered:
        for share in dumbbell.shares(group):
            values = [_estimate(getattr(share, metric), factor, digits) for _, metric, factor, digits in SHARED]
            name = f"  {share.name}" if share.single and share.name != share.scheme else share.name
            rows.append([group.path, group.scheme, name, f"{100 * share.fair:.1f}", *values])
    _print_part("Shares", ("path", "mix", "who", "fair share %"), SHARED, rows)


def _print_one_end(gathered: list[dumbbell.Repetitions]) -> None:
    """What one end saw of its flows, where nothing tells one-way delays; nothing if something does."""
    rows = []
    for group in gathered:
        if group.estimate(("network", 0, "delay_p95_ms")) is not None:
            continue
        flows = sorted({number for entity, number, _ in group.values if entity == "flow"})
        for flow in flows:
            rows.append([group.path, group.scheme, str(flow), *_means(group, "flow", flow, ONE_END)])
    _print_part("As one end saw it", ("path", "scheme", "flow"), ONE_END, rows)


def _print_media(gathered: list[dumbbell.Repetitions]) -> None:
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
                values.append(_media_value(found, factor, shown))
            rows.append([group.path, group.scheme, str(flow), *values])
    _print_part("Media", ("path", "scheme", "flow"), MEDIA, rows)


class _Timed(Protocol):
    """A mean, and what clocks leave open."""

    @property
    def mean(self) -> float: ...
    @property
    def clocks(self) -> tuple[float, float] | None: ...


def _media_value(found: _Timed | None, factor: float, digits: int) -> str:
    """A mean; of a delay between two clocks also where the true one lies."""
    if found is None or found.clocks is None:
        return number(found.mean * factor if found else None, digits)
    low, high = (number(value * factor, digits) for value in found.clocks)
    return f"{number(found.mean * factor, digits)} clocks {low} to {high}"


def _print_published(results: dumbbell.Results) -> None:
    """Our means beside the published ones, each with its smallest and largest run; nothing if nothing is published."""
    rows = results.published()
    replications = {each.path: each for each in results.replications()}
    head = ["scheme", *(f"{title}{side}" for title, *_ in SHOWN for side in ("", ", published")), "errors %"]
    for path in dict.fromkeys(row.path for row in rows):
        table = [
            [
                row.scheme or row.title,
                *(
                    _estimate(side[metric], factor, digits)
                    for _, metric, factor, digits in SHOWN
                    for side in (row.ours, row.published)
                ),
                _errors(row.error, row.uncounted),
            ]
            for row in rows
            if row.path == path
        ]
        source = printable(results.experiment.published.source)
        print(f"\nOurs on {path} beside published: {source}\n{columns(head, table)}")
        if (found := replications.get(path)) is not None:
            parts = f"throughput {found.throughput * 100:.1f} %, delay {found.delay * 100:.1f} %"
            print(f"replication error: {found.error * 100:.1f} % ({parts}) over {len(found.schemes)} schemes")


def _errors(errors: dict[str, float | None], uncounted: str) -> str:
    """Relative errors of throughput and delay, and the difference of the losses in points; why they do not count."""
    known = [errors["throughput_mbps"], errors["delay_p95_ms"]]
    texts = ["-" if each is None else f"{each * 100:+.0f}" for each in known]
    loss = errors["loss_rate"]
    texts.append("-" if loss is None else f"{loss * 100:+.2f}")
    return " / ".join(texts) + f" (not counted: {uncounted})" * bool(uncounted)


def _print_transfers(run: dumbbell.RunResults, transfers: dumbbell.Transfers | None) -> None:
    if transfers is None:
        print(f"{run.label}: no packet log, so no intervals\n")
        return
    note = "" if transfers.payload else " (packets with their headers: the log does not tell payload)"
    for view in dumbbell.Transfers.VIEWS:
        print(f"{view.capitalize()}: {run.label}{note}")
        print(f"{transfers.text(view)}\n")


def _print_part(title: str, head: Sequence[str], shown: Columns, rows: list[list[str]]) -> None:
    """A table below its title; nothing without rows."""
    if rows:
        print(f"\n{title}\n{columns([*head, *(title for title, *_ in shown)], rows)}")


def _means(group: dumbbell.Repetitions, entity: str, number: int, shown: Columns) -> list[str]:
    """The means of an entity's metrics, with where they lie."""
    return [_estimate(group.estimate((entity, number, metric)), factor, digits) for _, metric, factor, digits in shown]


class _Estimate(Protocol):
    """A mean, and where it lies."""

    @property
    def mean(self) -> float: ...
    def bounds_text(self, number: Callable[[float], str]) -> str: ...


def _estimate(estimate: _Estimate | None, factor: float, digits: int) -> str:
    if estimate is None:
        return "-"
    text = number(estimate.mean * factor, digits)
    return f"{text} {estimate.bounds_text(lambda value: number(value * factor, digits))}".strip()


def _list_bad(results: dumbbell.Results, stream: TextIO) -> None:
    if problem := results.environment.get("damaged"):
        print(printable(f"damaged: {problem}"), file=stream)
    for run in results.runs:
        if run.status not in ("done", "missing"):
            print(printable(f"{run.status}: {run.label}: {run.reason}"), file=stream)
    missing = Counter(run.reason for run in results.runs if run.status == "missing")
    for reason, count in missing.items():
        print(printable(f"missing: {count} of {len(results.runs)} runs: {reason}"), file=stream)


def report(directory: Path, html: bool, pdf: bool) -> int:
    """Writes the report; both forms unless one is asked for. Of a benchmark: its pages."""
    both = html == pdf
    for file in dumbbell.write_report(directory, html=html or both, pdf=pdf or both):
        print(printable(file))
    return 0


def diff(first: Path, second: Path, every_metric: bool, as_json: bool) -> int:
    """Print the differences between two results directories, metric by metric; 1 if runs are damaged (listed)."""
    sides = (dumbbell.open(first), dumbbell.open(second))
    rows = dumbbell.compare(*sides, None) if every_metric else dumbbell.compare(*sides)
    bad = [(side, run) for side in sides for run in side.runs if run.status == "damaged"]
    damaged = [f"{side.directory}: {run.label}: {run.reason}" for side, run in bad]
    for line in damaged:
        print(printable(f"damaged: {line}"), file=sys.stderr)
    if as_json:
        sys.stdout.write(to_json({"a": str(first), "b": str(second), "rows": rows}))
        return 1 if damaged else 0
    table = []
    for row in rows:
        entity = row["entity"] if row["entity"] == "network" else f"{row['entity']} {row['number']}"
        a, b = row["a"], row["b"]
        table.append(
            [
                *(row["path"], row["scheme"], entity, row["metric"]),
                *(_side(side) for side in (a, b)),
                *("-" if row[key] is None else f"{row[key]:+.{digits}{kind}}" for key, digits, kind in _DIFFERENCES),
                "-" if row["low"] is None else f"[{row['low']:+.4f}, {row['high']:+.4f}]",
                row["verdict"],
            ]
        )
    head = ["path", "scheme", "of", "metric", "A", "B", "difference", "relative", "95 % of it", "verdict"]
    print(columns(head, table))
    print(_tests_made(rows))
    return 1 if damaged else 0


def _side(side: dict[str, Any] | None) -> str:
    """A mean; of a one-way delay between two clocks also where the true one lies."""
    mean = number(side["mean"] if side else None, 4)
    if side is None or "clocks" not in side:
        return mean
    low, high = side["clocks"]
    return f"{mean} clocks {number(low, 4)} to {number(high, 4)}"


def _tests_made(rows: list[dict[str, Any]]) -> str:
    """How the verdicts were found."""
    tested = [row for row in rows if row["p"] is not None]
    if not tested:
        return "Ranges of the runs are compared: intervals and tests need five runs on either side."
    pairs = sum(row["paired"] for row in tested)
    by_chance = sum(row["verdict"] == "different alone" for row in tested)
    return (
        f"{len(tested)} differences tested by Student's t, {pairs} in pairs of runs with the same seed; different: at "
        f"5 % for all of them together (Holm); different alone ({by_chance}): at 5 % for that row only."
    )


_IS_MEDIA = ("flow", "media.frames_decoded")
_DIFFERENCES = (("difference", 4, "f"), ("relative", 1, "%"))
