"""The summary of results: a line for each path and scheme, and what stands below."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

import dumbbell
from dumbbell.base.errors import printable
from dumbbell.present.tables import Table, terminal
from dumbbell.present.tables.terminal import number

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

_IS_MEDIA = ("flow", "media.frames_decoded")


class _Places:
    """The columns that say where a row was measured: the path and, in a grid, each axis that has several values."""

    def __init__(self, results: dumbbell.Results) -> None:
        self._axes = {run.path: run.axes for run in results.runs if run.axes}
        names = dict.fromkeys(name for axes in self._axes.values() for name in axes if name != "path")
        values = {name: {_axis_value(axes.get(name)) for axes in self._axes.values()} for name in names}
        self._shown = ["path", *(name for name in names if len(values[name]) > 1)]
        self.head = [_AXES.get(name, name) for name in self._shown]
        constant = {name: next(iter(found)) for name, found in values.items() if len(found) == 1}
        self.everywhere = [f"{_AXES.get(name, name)} {value}" for name, value in constant.items()]
        """Name and value of each axis that has the same value in all runs."""

    def words(self, path: str) -> list[str]:
        """Return the fields of these columns for the path, or the cell, of this name."""
        axes = self._axes.get(path, {"path": path})
        return [_axis_value(axes.get(name)) for name in self._shown]


_AXES = {"scheme": "beside"}
"""The title of an axis, by its name, where another column has that name as its title."""


def _axis_value(value: object) -> str:
    if value is None:
        return "-"
    return f"{value:g}" if isinstance(value, float) else str(value)


def print_summary(results: dumbbell.Results, sort: str | None = None) -> None:
    """One line per path, or cell of a grid, and scheme: means over the runs, and where they lie."""
    gathered = results.summary(sort)
    places = _Places(results)
    parts = [(group, dumbbell.shares(group)) for group in gathered]
    # beside other schemes a scheme has what its flows got, and the total is nobody's
    mixes = [(group, shares) for group, shares in parts if shares]
    tables = (
        _totals("", "scheme", [group for group, shares in parts if not shares], places),
        _shares(mixes, places),
        _totals("All flows of a mix together", "mix", [group for group, _ in mixes], places),
    )
    print("\n\n".join(filter(None, tables)))
    if places.everywhere:
        print(f"Everywhere: {', '.join(places.everywhere)}.")
    _print_one_end(gathered, places)
    print_legend(gathered)
    _print_media(gathered, places)
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


def print_legend(gathered: list[dumbbell.Repetitions]) -> None:
    """What stands behind the means, if anything does."""
    clocks = any(group.shifts for group in gathered)
    if legend := dumbbell.bounds_legend(max((group.good for group in gathered), default=0), clocks):
        print(legend)


def _totals(title: str, name: str, gathered: list[dumbbell.Repetitions], places: _Places) -> str:
    """Return a table of the totals over all flows of a run, with a row for the repetitions of each run."""
    rows = [
        [*places.words(group.path), group.scheme, group.runs_text, *_means(group, "network", 0, SHOWN)]
        for group in gathered
    ]
    return _part(title, (*places.head, name, "runs"), SHOWN, rows)


def _shares(parts: list[tuple[dumbbell.Repetitions, list[dumbbell.Share]]], places: _Places) -> str:
    """Return a table of what each scheme, and each of its flows, got beside the others."""
    rows = []
    for group, shares in parts:
        for share in shares:
            values = [estimate_text(getattr(share, metric), factor, digits) for _, metric, factor, digits in SHARED]
            name = f"  {share.name}" if share.single and share.name != share.scheme else share.name
            rows.append([*places.words(group.path), group.scheme, name, f"{100 * share.fair:.1f}", *values])
    return _part("Shares", (*places.head, "mix", "who", "fair share %"), SHARED, rows)


def _print_one_end(gathered: list[dumbbell.Repetitions], places: _Places) -> None:
    """What one end saw of its flows, where nothing tells one-way delays; nothing if something does."""
    rows = []
    for group in gathered:
        if group.estimate(("network", 0, "delay_p95_ms")) is not None:
            continue
        flows = sorted({number for entity, number, _ in group.values if entity == "flow"})
        for flow in flows:
            rows.append([*places.words(group.path), group.scheme, str(flow), *_means(group, "flow", flow, ONE_END)])
    _print_part("As one end saw it", (*places.head, "scheme", "flow"), ONE_END, rows)


def _print_media(gathered: list[dumbbell.Repetitions], places: _Places) -> None:
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
            rows.append([*places.words(group.path), group.scheme, str(flow), *values])
    _print_part("Media", (*places.head, "scheme", "flow"), MEDIA, rows)


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
                    estimate_text(side[metric], factor, digits)
                    for _, metric, factor, digits in SHOWN
                    for side in (row.ours, row.published)
                ),
                _errors(row.error, row.uncounted),
            ]
            for row in rows
            if row.path == path
        ]
        source = printable(results.experiment.published.source)
        print(f"\nOurs on {path} beside published: {source}\n{terminal.render(Table.of(head, table))}")
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


def _part(title: str, head: Sequence[str], shown: Columns, rows: list[list[str]]) -> str:
    """Return a table below its title, if it has one; an empty text without rows."""
    if not rows:
        return ""
    table = terminal.render(Table.of([*head, *(title for title, *_ in shown)], rows))
    return f"{title}\n{table}" if title else table


def _print_part(title: str, head: Sequence[str], shown: Columns, rows: list[list[str]]) -> None:
    """Print a table below others; print nothing without rows."""
    if text := _part(title, head, shown, rows):
        print(f"\n{text}")


def _means(group: dumbbell.Repetitions, entity: str, number: int, shown: Columns) -> list[str]:
    """The means of an entity's metrics, with where they lie."""
    return [
        estimate_text(group.estimate((entity, number, metric)), factor, digits) for _, metric, factor, digits in shown
    ]


class _Estimate(Protocol):
    """A mean, and where it lies."""

    @property
    def mean(self) -> float: ...
    def bounds_text(self, number: Callable[[float], str]) -> str: ...


def estimate_text(estimate: _Estimate | None, factor: float, digits: int) -> str:
    """Return a mean times a factor, with where it lies; `-` for none."""
    if estimate is None:
        return "-"
    text = number(estimate.mean * factor, digits)
    return f"{text} {estimate.bounds_text(lambda value: number(value * factor, digits))}".strip()
