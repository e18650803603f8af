"""The summary of results: tables with a row for each scheme on each path, and the notes below them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Protocol, TypeAlias

import dumbbell
from dumbbell.base.conventions import CORRECTED, PANTHEON, Convention
from dumbbell.base.errors import UserError, printable
from dumbbell.catalog.experiment_file import parse_mix
from dumbbell.catalog.families import family_name
from dumbbell.present.model.captions import runs_text, starts_sentence
from dumbbell.present.tables import Table, latex, terminal
from dumbbell.present.tables.terminal import number

Columns = tuple[tuple[str, str, float, int], ...]
"""Of each column its title, its metric, the factor of the values, and their digits."""

UTILISATION: Columns = (("utilisation of the whole run %", "utilization", 100.0, 1),)
"""The column of the bottleneck's utilisation in the data direction, over the whole run."""

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

_IS_MEDIA = "media.frames_decoded"


class _Places:
    """The columns that say where a row was measured: the path and, in a grid, each axis that has several values."""

    def __init__(self, results: dumbbell.Results) -> None:
        self._axes = results.axes
        names = dict.fromkeys(name for axes in self._axes.values() for name in axes if name != "path")
        values = {name: {_value(axes.get(name)) for axes in self._axes.values()} for name in names}
        self._shown = ["path", *(name for name in names if len(values[name]) > 1)]
        self.head = [dumbbell.axis_title(name) for name in self._shown]
        constant = {name: next(iter(found)) for name, found in values.items() if len(found) == 1}
        self.everywhere = [f"{dumbbell.axis_title(name)} {value}" for name, value in constant.items()]
        """Name and value of each axis that has the same value in all runs."""

    def words(self, path: str) -> list[str]:
        """Return the fields of these columns for the path, or the cell, of this name."""
        axes = self._axes.get(path, {"path": path})
        return [_value(axes.get(name)) for name in self._shown]


def _value(value: object) -> str:
    return "-" if value is None else dumbbell.axis_value(value)


def print_summary(results: dumbbell.Results, sort: str | None = None) -> None:
    """Print the tables of results: a row for each scheme on each path, or in each cell of a grid.

    The values are means over the runs, with where they lie. On each path the scheme that is best in the metric `sort`
    comes first. Without `sort` that metric is the throughput. `GIVEN` keeps the order of the experiment, `FAMILY` has
    the schemes of a family one below the other.
    """
    if results.findings:
        print("\n".join(results.findings), end="\n\n")
    places, shown = _Places(results), results.experiment.shown
    gathered = best_first(results, sort, shown.throughput.key)
    parts = _parts(gathered, results)
    print("\n\n".join(map(_text, _main_tables(parts, places, results, sort))))
    print("\n".join(_rules(results, parts)))
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


def print_latex(results: dumbbell.Results, sort: str | None = None) -> None:
    """Print the main tables in LaTeX, each with a caption that says all that it needs; findings are in comments."""
    places, shown = _Places(results), results.experiment.shown
    gathered = best_first(results, sort, shown.throughput.key)
    parts = _parts(gathered, results)
    print("".join(f"% {line}\n" for finding in results.findings for line in finding.splitlines()), end="")
    for table in _main_tables(parts, places, results, sort):
        rules = _rules(results, parts if table.name == SHARES else [])
        print_float(table, results, gathered, rules, places.everywhere)


def print_float(
    table: Table,
    results: dumbbell.Results,
    gathered: list[dumbbell.Repetitions],
    rules: Sequence[str] = (),
    everywhere: Sequence[str] = (),
) -> None:
    """Print a table whose first column is the path as a float; a single path is in the caption, not in a column."""
    if not table.rows:
        return
    table = _titled(table, results)
    paths = list(dict.fromkeys(row[0].text for row in table.rows))
    told, where, of = table, "", results.experiment.name
    if len(paths) == 1:
        (of,) = paths
        told, where = _without_first(table), f", on {of}"
    sentences = [
        f"{table.caption}{where}.",
        f"{runs_text([group.good for group in gathered], results.experiment.duration_s)}.",
        *([f"Everywhere: {', '.join(everywhere)}."] if everywhere else []),
        *rules,
        _legend(gathered),
    ]
    print(f"\n{latex.render(told, ' '.join(filter(None, sentences)), f'{table.name} {of}')}", end="")


def _titled(table: Table, results: dumbbell.Results) -> Table:
    """Return the table with the titles of schemes, which figures have too, in place of their names."""
    experiment = results.experiment
    named = [index for index, name in enumerate(table.columns) if name in _NAMED]

    def title(name: str) -> str:
        if name in experiment.mixes:
            parts = parse_mix(name)
            return " + ".join(f"{count} {title(each)}" if count > 1 else title(each) for each, count in parts)
        known, _, number = name.partition(" ")
        return f"{experiment.schemes[known].title} {number}".rstrip() if known in experiment.schemes else name

    rows = []
    for row in table.rows:
        fields = list(row)
        for index in named:
            fields[index] = replace(fields[index], text=title(fields[index].text.strip()))
        rows.append(tuple(fields))
    return replace(table, rows=tuple(rows))


_NAMED = ("scheme", "flows of", "who")
"""Columns that have names of schemes."""

Parts: TypeAlias = "list[tuple[dumbbell.Repetitions, list[dumbbell.Share]]]"
"""The repetitions of each run with the shares of its flows; a run of one flow has none."""


def _parts(gathered: list[dumbbell.Repetitions], results: dumbbell.Results) -> Parts:
    alone = {(group.path, group.scheme): group for group in gathered}
    return [(group, dumbbell.shares(group, results.experiment.shown, alone)) for group in gathered]


def _has_harm(parts: Parts) -> bool:
    return any(share.harms is not None for _, shares in parts for share in shares)


def _rules(results: dumbbell.Results, parts: Parts) -> list[str]:
    """Return the rules of the main tables: the convention, the warm-up, when flows start, and harm if it is shown."""
    rules = [results.experiment.shown.sentence(results.experiment.warmup_s)]
    starts = starts_sentence(results.experiment.starts_apart_s, "of the column `flows of`")
    if starts and any(shares for _, shares in parts):
        rules.append(starts)
    if _has_harm(parts):
        rules.append(
            "Harm: what a flow lost of the throughput that its scheme had alone on the path; 50 % is half of it lost."
        )
    return rules


def _without_first(table: Table) -> Table:
    rows = tuple(row[1:] for row in table.rows)
    return replace(table, columns=table.columns[1:], rows=rows, align=table.align[1:])


MEANS, SHARES, TOTALS = "means", "shares", "totals"
"""The names of the main tables."""


def _main_tables(parts: Parts, places: _Places, results: dumbbell.Results, sort: str | None) -> list[Table]:
    """Return the means of flows by themselves, the shares of those that compete, and the totals of these, if any."""
    shown = results.experiment.shown
    # beside others a flow has what it got, and the total is nobody's
    mixes = [(group, shares) for group, shares in parts if shares]
    singles = [group for group, shares in parts if not shares]
    together = [group for group, _ in mixes]
    means = _heading("Means of all flows", results, singles)
    totals = _heading("All flows of a run together", results, together)
    if sort is None:  # the best total, which the shares do not show, is no order for them
        given = {(group.path, group.scheme): place for place, group in enumerate(results.summary())}
        mixes.sort(key=lambda part: given[part[0].path, part[0].scheme])
    tables = (
        replace(_totals(means, "scheme", singles, places, _columns(shown), sort == FAMILY), name=MEANS),
        replace(_shares(mixes, places, shown), name=SHARES),
        replace(_totals(totals, "flows of", together, places, (*_columns(shown), *UTILISATION)), name=TOTALS),
    )
    return [table for table in tables if table.rows]


GIVEN = "given"
"""The order of rows that is the experiment's own."""

FAMILY = "family"
"""The order of rows by families of schemes: the family of the best scheme comes first, and in each the best one."""


def best_first(results: dumbbell.Results, sort: str | None, first: str) -> list[dumbbell.Repetitions]:
    """Return the repetitions of each scheme on each path, the best first: in the metric `sort`, or else in `first`."""
    if sort == FAMILY:
        return _by_family(best_first(results, None, first))
    if sort is not None:
        return results.summary(None if sort == GIVEN else sort)
    try:
        return results.summary(first)
    except UserError:  # no run has it
        return results.summary()


def _by_family(best_first: list[dumbbell.Repetitions]) -> list[dumbbell.Repetitions]:
    first: dict[tuple[str, str], int] = {}
    for place, group in enumerate(best_first):
        first.setdefault((group.path, family_name(group.scheme)), place)
    return sorted(best_first, key=lambda group: first[group.path, family_name(group.scheme)])


def _print_counterparts(results: dumbbell.Results) -> None:
    """Print which schemes simulate those that Pantheon measured, without those that have the same name and no note."""
    lines = []
    for key, found in results.counterparts.items():
        if found.scheme is None:
            lines.append(f"  {key}: nothing simulates it: {found.note}")
        elif found.scheme != key or found.note:
            lines.append(f"  {key}: {found.scheme}{f', {found.note}' if found.note else ''}")
    if lines:
        print("\n".join(["\nSchemes that simulate what Pantheon measured under other names", *lines]))


def print_legend(gathered: list[dumbbell.Repetitions]) -> None:
    """Print what the texts in brackets and parentheses behind the means say, if there are any."""
    if legend := _legend(gathered):
        print(legend)


def _legend(gathered: list[dumbbell.Repetitions]) -> str:
    clocks = any(group.shifts for group in gathered)
    return dumbbell.bounds_legend(max((group.good for group in gathered), default=0), clocks)


def _columns(shown: Convention) -> Columns:
    """Return the columns of the main metrics."""
    return tuple((metric.heading, metric.key, metric.factor, metric.digits) for metric in shown.metrics)


def _heading(what: str, results: dumbbell.Results, gathered: list[dumbbell.Repetitions]) -> str:
    """Return the title of a table of totals with the seconds that are counted, if these are the same in all rows."""
    experiment = results.experiment
    if experiment.shown is CORRECTED:
        times = {dumbbell.counted_text(group, experiment.warmup_s) for group in gathered}
        what = ", ".join(filter(None, (what, *(times if len(times) == 1 else ()))))
    return f"{what} ({experiment.shown.label})"


def _totals(
    title: str,
    name: str,
    gathered: list[dumbbell.Repetitions],
    places: _Places,
    columns: Columns,
    families: bool = False,
) -> Table:
    """Return a table of the totals over all flows of a run, with a row for the repetitions of each run.

    With `families` it has a column for the families of the schemes.
    """
    remarks = [dumbbell.remark(group) for group in gathered]
    told = any(remarks)
    rows = [
        [
            *places.words(group.path),
            *([family_name(group.scheme)] if families else []),
            group.scheme,
            group.runs_text,
            *_means(group, "network", 0, columns),
            *([remark or "-"] if told else []),
        ]
        for group, remark in zip(gathered, remarks, strict=True)
    ]
    names = [*(["family"] if families else []), name, "runs"]
    table = _table(title, [*places.head, *names, *_titles(columns), *(["remark"] if told else [])], rows)
    return replace(table, align=f"{table.align[:-1]}w") if told else table


def _shares(parts: Parts, places: _Places, shown: Convention) -> Table:
    """Return the table of shares: a row for each scheme in runs of several flows, and for each of its flows."""
    times = [dumbbell.competing_text(group) if shown is CORRECTED else "" for group, _ in parts]
    same = len(set(times)) == 1
    harmed = _has_harm(parts)
    columns = (
        ("share %", "payload_share", 100.0, 1),
        (shown.throughput.heading, "throughput_mbps", 1.0, shown.throughput.digits),
        (shown.delay.heading, "delay_p95_ms", 1.0, shown.delay.digits),
        (shown.loss.heading, "loss_rate", 100.0, shown.loss.digits),
    )
    rows = []
    for (group, shares), time in zip(parts, times, strict=True):
        for share in shares:
            values = [estimate_text(getattr(share, metric), factor, digits) for _, metric, factor, digits in columns]
            name = f"  {share.name}" if share.single and share.name != share.scheme else share.name
            when = [] if same else [time or "each its own"]
            harm = [estimate_text(share.harms, 100.0, 1)] if harmed else []
            fair = f"{100 * share.fair:.1f}"
            rows.append([*places.words(group.path), group.scheme, *when, name, fair, *values, *harm])
    head = [*places.head, "flows of", *([] if same else ["time"]), "who", "fair share %", *_titles(columns)]
    common = dumbbell.competing_heading(times)
    title = f"Shares, {common}" if common else "Shares"
    return _table(f"{title} ({shown.label})", [*head, *(["harm %"] if harmed else [])], rows)


def _print_one_end(gathered: list[dumbbell.Repetitions], places: _Places) -> None:
    """Print what one end saw of its flows, for runs without one-way delays."""
    rows = []
    for group in gathered:
        if group.estimate(("network", 0, "delay_p95_ms")) is not None:
            continue
        flows = sorted({number for entity, number, _ in group.values if entity == "flow"})
        for flow in flows:
            rows.append([*places.words(group.path), group.scheme, str(flow), *_means(group, "flow", flow, ONE_END)])
    _print_part("As one end saw it", [*places.head, "scheme", "flow", *_titles(ONE_END)], rows)


def _print_media(gathered: list[dumbbell.Repetitions], places: _Places) -> None:
    """Print what viewers of live sources got: means over the runs, with a row for each flow that is a live source."""
    rows = []
    for group in gathered:
        for _, flow in sorted(group.having(_IS_MEDIA)):
            values = []
            for _, metric, factor, digits in MEDIA:
                found = group.estimate(("flow", flow, f"media.{metric}"))
                # a mean of counts is no whole number
                shown = max(digits, 1) if found and found.count > 1 else digits
                values.append(_media_value(found, factor, shown))
            rows.append([*places.words(group.path), group.scheme, str(flow), *values])
    _print_part("Media", [*places.head, "scheme", "flow", *_titles(MEDIA)], rows)


class _Timed(Protocol):
    """A mean, and the interval in which the true mean lies as far as the clocks tell."""

    @property
    def mean(self) -> float: ...
    @property
    def clocks(self) -> tuple[float, float] | None: ...


def _media_value(found: _Timed | None, factor: float, digits: int) -> str:
    """Return a mean as text, and for a delay between two clocks also where the true mean lies."""
    if found is None or found.clocks is None:
        return number(found.mean * factor if found else None, digits)
    low, high = (number(value * factor, digits) for value in found.clocks)
    return f"{number(found.mean * factor, digits)} clocks {low} to {high}"


def _print_published(results: dumbbell.Results) -> None:
    """Print our means beside the published ones, each with its smallest and largest run."""
    rows = results.published()
    replications = {each.path: each for each in results.replications()}
    columns = _columns(PANTHEON)
    head = ["scheme", *(f"{title}{side}" for title, *_ in columns for side in ("", ", published")), "errors %"]
    for path in dict.fromkeys(row.path for row in rows):
        table = [
            [
                row.scheme or row.title,
                *(
                    estimate_text(side[metric], factor, digits)
                    for _, metric, factor, digits in columns
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
    """Return the errors of throughput, delay and loss (in percentage points), and why they do not count, if so."""
    known = [errors["throughput_mbps"], errors["delay_p95_ms"]]
    texts = ["-" if each is None else f"{each * 100:+.0f}" for each in known]
    loss = errors["loss_rate"]
    texts.append("-" if loss is None else f"{loss * 100:+.2f}")
    return " / ".join(texts) + f" (not counted: {uncounted})" * bool(uncounted)


def _titles(columns: Columns) -> list[str]:
    return [title for title, *_ in columns]


def _table(title: str, head: Sequence[str], rows: list[list[str]]) -> Table:
    """Return a table of plain texts; its caption is the title."""
    return replace(Table.of(head, rows), caption=title)


def _text(table: Table) -> str:
    return f"{table.caption}\n{terminal.render(table)}"


def _print_part(title: str, head: Sequence[str], rows: list[list[str]]) -> None:
    """Print a table below others; print nothing without rows."""
    if rows:
        print(f"\n{_text(_table(title, head, rows))}")


def _means(group: dumbbell.Repetitions, entity: str, number: int, shown: Columns) -> list[str]:
    """Return the means of an entity's metrics, with where they lie."""
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
