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
"""Title, metric, factor of the values and number of digits of each column."""

UTILISATION: Columns = (("utilisation of the whole run %", "utilization", 100.0, 1),)
"""Column of the bottleneck's utilisation in the data direction, over the whole run."""

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
"""Metrics that one end of a connection can know."""

_IS_MEDIA = "media.frames_decoded"


class _Places:
    """The columns for the place of a row: the path and, in a grid, each axis with several values."""

    def __init__(self, results: dumbbell.Results) -> None:
        self._axes = results.axes
        names = dict.fromkeys(name for axes in self._axes.values() for name in axes if name != "path")
        values = {name: {_value(axes.get(name)) for axes in self._axes.values()} for name in names}
        self._shown = ["path", *(name for name in names if len(values[name]) > 1)]
        self.head = [dumbbell.axis_title(name) for name in self._shown]
        constant = {name: next(iter(unique)) for name, unique in values.items() if len(unique) == 1}
        self.everywhere = [f"{dumbbell.axis_title(name)} {value}" for name, value in constant.items()]
        """Name and value of each axis with one value in all runs."""

    def words(self, path: str) -> list[str]:
        """Return the fields of these columns for the path, or the cell, of this name."""
        axes = self._axes.get(path, {"path": path})
        return [_value(axes.get(name)) for name in self._shown]


def _value(value: object) -> str:
    return "-" if value is None else dumbbell.axis_value(value)


def print_summary(results: dumbbell.Results, sort: str | None = None) -> None:
    """Print the tables of results: a row for each scheme on each path, or in each cell of a grid.

    The values are means over the runs, with their bounds. On each path the scheme that is best in the metric `sort`
    comes first; the default metric is the throughput. `GIVEN` keeps the order of the experiment, `FAMILY` keeps
    the schemes of a family together.
    """
    if results.findings:
        print("\n".join(results.findings), end="\n\n")
    places, convention = _Places(results), results.experiment.convention_shown
    groups = best_first(results, sort, convention.throughput.key)
    parts = _parts(groups, results)
    print("\n\n".join(map(_text, _main_tables(parts, places, results, sort))))
    print("\n".join(_rules(results, parts)))
    if places.everywhere:
        print(f"Everywhere: {', '.join(places.everywhere)}.")
    _print_one_end(groups, places)
    print_legend(groups)
    _print_media(groups, places)
    _print_published(results)
    if machine_lines := results.tested:
        print("\nThe tested machine, as the imported files describe it")
        for line in machine_lines:
            print(f"  {printable(line)}")
    _print_counterparts(results)


def print_latex(results: dumbbell.Results, sort: str | None = None) -> None:
    """Print the main tables in LaTeX, each with a complete caption; findings are comments."""
    places, convention = _Places(results), results.experiment.convention_shown
    groups = best_first(results, sort, convention.throughput.key)
    parts = _parts(groups, results)
    print("".join(f"% {line}\n" for finding in results.findings for line in finding.splitlines()), end="")
    for table in _main_tables(parts, places, results, sort):
        rules = _rules(results, parts if table.name == SHARES else [])
        print_float(table, results, groups, rules, places.everywhere)


def print_float(
    table: Table,
    results: dumbbell.Results,
    groups: list[dumbbell.Repetitions],
    rules: Sequence[str] = (),
    everywhere: Sequence[str] = (),
) -> None:
    """Print a table whose first column is the path as a float. A single path is in the caption, not in a column."""
    if not table.rows:
        return
    table = _titled(table, results)
    paths = list(dict.fromkeys(row[0].text for row in table.rows))
    float_table, place, subject = table, "", results.experiment.name
    if len(paths) == 1:
        (subject,) = paths
        float_table, place = _without_first(table), f", on {subject}"
    sentences = [
        f"{table.caption}{place}.",
        f"{runs_text([group.good for group in groups], results.experiment.duration_s)}.",
        *([f"Everywhere: {', '.join(everywhere)}."] if everywhere else []),
        *rules,
        _legend(groups),
    ]
    print(f"\n{latex.render(float_table, ' '.join(filter(None, sentences)), f'{table.name} {subject}')}", end="")


def _titled(table: Table, results: dumbbell.Results) -> Table:
    """Return the table with the titles of schemes instead of their names, as in figures."""
    experiment = results.experiment
    name_columns = [index for index, name in enumerate(table.columns) if name in _NAMED]

    def title(name: str) -> str:
        if name in experiment.mixes:
            parts = parse_mix(name)
            return " + ".join(f"{count} {title(scheme)}" if count > 1 else title(scheme) for scheme, count in parts)
        scheme_name, _, number = name.partition(" ")
        return (
            f"{experiment.schemes[scheme_name].title} {number}".rstrip() if scheme_name in experiment.schemes else name
        )

    rows = []
    for row in table.rows:
        fields = list(row)
        for index in name_columns:
            fields[index] = replace(fields[index], text=title(fields[index].text.strip()))
        rows.append(tuple(fields))
    return replace(table, rows=tuple(rows))


_NAMED = ("scheme", "flows of", "who")
"""Columns with names of schemes."""

Parts: TypeAlias = "list[tuple[dumbbell.Repetitions, list[dumbbell.Share]]]"
"""The repetitions of each run with the shares of its flows; empty for a run of one flow."""


def _parts(groups: list[dumbbell.Repetitions], results: dumbbell.Results) -> Parts:
    alone = {(group.path, group.scheme): group for group in groups}
    return [(group, dumbbell.shares(group, results.experiment.convention_shown, alone)) for group in groups]


def _has_harm(parts: Parts) -> bool:
    return any(share.harms is not None for _, shares in parts for share in shares)


def _rules(results: dumbbell.Results, parts: Parts) -> list[str]:
    """Return the rules of the main tables: the convention, the warm-up, the starts of flows, and harm if shown."""
    rules = [results.experiment.convention_shown.sentence(results.experiment.warmup_s)]
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
"""Names of the main tables."""


def _main_tables(parts: Parts, places: _Places, results: dumbbell.Results, sort: str | None) -> list[Table]:
    """Return the means of single flows, and the shares and totals of competing flows, if any."""
    convention = results.experiment.convention_shown
    # competing flows have shares; their total belongs to no scheme
    mixes = [(group, shares) for group, shares in parts if shares]
    singles = [group for group, shares in parts if not shares]
    together = [group for group, _ in mixes]
    means = _heading("Means of all flows", results, singles)
    totals = _heading("All flows of a run together", results, together)
    if sort is None:  # shares do not show the total, so they keep the experiment's order
        order = {(group.path, group.scheme): place for place, group in enumerate(results.summary())}
        mixes.sort(key=lambda part: order[part[0].path, part[0].scheme])
    tables = (
        replace(_totals(means, "scheme", singles, places, _columns(convention), sort == FAMILY), name=MEANS),
        replace(_shares(mixes, places, convention), name=SHARES),
        replace(_totals(totals, "flows of", together, places, (*_columns(convention), *UTILISATION)), name=TOTALS),
    )
    return [table for table in tables if table.rows]


GIVEN = "given"
"""Order of rows as in the experiment."""

FAMILY = "family"
"""Order of rows by families of schemes: the family of the best scheme is first, and in each family the best scheme."""


def best_first(results: dumbbell.Results, sort: str | None, first: str) -> list[dumbbell.Repetitions]:
    """Return the repetitions of each scheme on each path, the best first in the metric `sort`, else in `first`."""
    if sort == FAMILY:
        return _by_family(best_first(results, None, first))
    if sort is not None:
        return results.summary(None if sort == GIVEN else sort)
    try:
        return results.summary(first)
    except UserError:  # no run has the metric
        return results.summary()


def _by_family(best_first: list[dumbbell.Repetitions]) -> list[dumbbell.Repetitions]:
    first: dict[tuple[str, str], int] = {}
    for place, group in enumerate(best_first):
        first.setdefault((group.path, family_name(group.scheme)), place)
    return sorted(best_first, key=lambda group: first[group.path, family_name(group.scheme)])


def _print_counterparts(results: dumbbell.Results) -> None:
    """Print the schemes that simulate those measured by Pantheon, unless the names are equal and there is no note."""
    lines = []
    for key, counterpart in results.counterparts.items():
        if counterpart.scheme is None:
            lines.append(f"  {key}: nothing simulates it: {counterpart.note}")
        elif counterpart.scheme != key or counterpart.note:
            lines.append(f"  {key}: {counterpart.scheme}{f', {counterpart.note}' if counterpart.note else ''}")
    if lines:
        print("\n".join(["\nSchemes that simulate what Pantheon measured under other names", *lines]))


def print_legend(groups: list[dumbbell.Repetitions]) -> None:
    """Print the legend of the brackets and parentheses after means, if there are any."""
    if legend := _legend(groups):
        print(legend)


def _legend(groups: list[dumbbell.Repetitions]) -> str:
    clocks = any(group.shifts for group in groups)
    return dumbbell.bounds_legend(max((group.good for group in groups), default=0), clocks)


def _columns(convention: Convention) -> Columns:
    """Return the columns of the main metrics."""
    return tuple((metric.heading, metric.key, metric.factor, metric.digits) for metric in convention.metrics)


def _heading(title: str, results: dumbbell.Results, groups: list[dumbbell.Repetitions]) -> str:
    """Return the title of a table of totals, with the counted seconds if they are equal in all rows."""
    experiment = results.experiment
    if experiment.convention_shown is CORRECTED:
        times = {dumbbell.counted_text(group, experiment.warmup_s) for group in groups}
        title = ", ".join(filter(None, (title, *(times if len(times) == 1 else ()))))
    return f"{title} ({experiment.convention_shown.label})"


def _totals(
    title: str,
    name: str,
    groups: list[dumbbell.Repetitions],
    places: _Places,
    columns: Columns,
    families: bool = False,
) -> Table:
    """Return a table of the totals over all flows of a run, with a row for the repetitions of each run.

    With `families` the table has a column for the families of the schemes.
    """
    remarks = [dumbbell.remark(group) for group in groups]
    has_remarks = any(remarks)
    rows = [
        [
            *places.words(group.path),
            *([family_name(group.scheme)] if families else []),
            group.scheme,
            group.runs_text,
            *_means(group, "network", 0, columns),
            *([remark or "-"] if has_remarks else []),
        ]
        for group, remark in zip(groups, remarks, strict=True)
    ]
    names = [*(["family"] if families else []), name, "runs"]
    table = _table(title, [*places.head, *names, *_titles(columns), *(["remark"] if has_remarks else [])], rows)
    return replace(table, align=f"{table.align[:-1]}w") if has_remarks else table


def _shares(parts: Parts, places: _Places, convention: Convention) -> Table:
    """Return the table of shares: a row for each scheme in runs of several flows, and for each of its flows."""
    times = [dumbbell.competing_text(group) if convention is CORRECTED else "" for group, _ in parts]
    is_common = len(set(times)) == 1
    has_harm = _has_harm(parts)
    columns = (
        ("share %", "payload_share", 100.0, 1),
        (convention.throughput.heading, "throughput_mbps", 1.0, convention.throughput.digits),
        (convention.delay.heading, "delay_p95_ms", 1.0, convention.delay.digits),
        (convention.loss.heading, "loss_rate", 100.0, convention.loss.digits),
    )
    rows = []
    for (group, shares), time in zip(parts, times, strict=True):
        for share in shares:
            values = [estimate_text(getattr(share, metric), factor, digits) for _, metric, factor, digits in columns]
            name = f"  {share.name}" if share.single and share.name != share.scheme else share.name
            time_field = [] if is_common else [time or "each its own"]
            harm = [estimate_text(share.harms, 100.0, 1)] if has_harm else []
            fair = f"{100 * share.fair:.1f}"
            rows.append([*places.words(group.path), group.scheme, *time_field, name, fair, *values, *harm])
    head = [*places.head, "flows of", *([] if is_common else ["time"]), "who", "fair share %", *_titles(columns)]
    common = dumbbell.competing_heading(times)
    title = f"Shares, {common}" if common else "Shares"
    return _table(f"{title} ({convention.label})", [*head, *(["harm %"] if has_harm else [])], rows)


def _print_one_end(groups: list[dumbbell.Repetitions], places: _Places) -> None:
    """Print the metrics of one end for runs without one-way delays."""
    rows = []
    for group in groups:
        if group.estimate(("network", 0, "delay_p95_ms")) is not None:
            continue
        flows = sorted({number for entity, number, _ in group.values if entity == "flow"})
        for flow in flows:
            rows.append([*places.words(group.path), group.scheme, str(flow), *_means(group, "flow", flow, ONE_END)])
    _print_part("As one end saw it", [*places.head, "scheme", "flow", *_titles(ONE_END)], rows)


def _print_media(groups: list[dumbbell.Repetitions], places: _Places) -> None:
    """Print the metrics of viewers: means over the runs, with a row for each flow of a live source."""
    rows = []
    for group in groups:
        for _, flow in sorted(group.having(_IS_MEDIA)):
            values = []
            for _, metric, factor, digits in MEDIA:
                estimate = group.estimate(("flow", flow, f"media.{metric}"))
                # a mean of counts is no integer
                shown_digits = max(digits, 1) if estimate and estimate.count > 1 else digits
                values.append(_media_value(estimate, factor, shown_digits))
            rows.append([*places.words(group.path), group.scheme, str(flow), *values])
    _print_part("Media", [*places.head, "scheme", "flow", *_titles(MEDIA)], rows)


class _ClockedMean(Protocol):
    """A mean, and the interval of the true mean according to the clocks."""

    @property
    def mean(self) -> float: ...
    @property
    def clocks(self) -> tuple[float, float] | None: ...


def _media_value(clocked_mean: _ClockedMean | None, factor: float, digits: int) -> str:
    """Return a mean as text; for a delay between two clocks with the interval of the true mean."""
    if clocked_mean is None or clocked_mean.clocks is None:
        return number(clocked_mean.mean * factor if clocked_mean else None, digits)
    low, high = (number(value * factor, digits) for value in clocked_mean.clocks)
    return f"{number(clocked_mean.mean * factor, digits)} clocks {low} to {high}"


def _print_published(results: dumbbell.Results) -> None:
    """Print the simulated means beside the published ones, each with its smallest and largest run."""
    rows = results.published()
    replications = {replication.path: replication for replication in results.replications()}
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
        source = printable(results.experiment.publication.source)
        print(f"\nOurs on {path} beside published: {source}\n{terminal.render(Table.of(head, table))}")
        if (replication := replications.get(path)) is not None:
            parts = f"throughput {replication.throughput * 100:.1f} %, delay {replication.delay * 100:.1f} %"
            print(
                f"replication error: {replication.error * 100:.1f} % ({parts}) over {len(replication.schemes)} schemes"
            )


def _errors(errors: dict[str, float | None], reason: str) -> str:
    """Return the errors of throughput, delay and loss (percentage points), with the reason if they do not count."""
    main_errors = [errors["throughput_mbps"], errors["delay_p95_ms"]]
    texts = ["-" if error is None else f"{error * 100:+.0f}" for error in main_errors]
    loss = errors["loss_rate"]
    texts.append("-" if loss is None else f"{loss * 100:+.2f}")
    return " / ".join(texts) + f" (not counted: {reason})" * bool(reason)


def _titles(columns: Columns) -> list[str]:
    return [title for title, *_ in columns]


def _table(title: str, head: Sequence[str], rows: list[list[str]]) -> Table:
    """Return a table of plain texts, with the title as its caption."""
    return replace(Table.of(head, rows), caption=title)


def _text(table: Table) -> str:
    return f"{table.caption}\n{terminal.render(table)}"


def _print_part(title: str, head: Sequence[str], rows: list[list[str]]) -> None:
    """Print a table below others; without rows print nothing."""
    if rows:
        print(f"\n{_text(_table(title, head, rows))}")


def _means(group: dumbbell.Repetitions, entity: str, number: int, columns: Columns) -> list[str]:
    """Return the means of an entity's metrics, with their bounds."""
    return [
        estimate_text(group.estimate((entity, number, metric)), factor, digits) for _, metric, factor, digits in columns
    ]


class _Estimate(Protocol):
    """A mean with its bounds."""

    @property
    def mean(self) -> float: ...
    def bounds_text(self, number: Callable[[float], str]) -> str: ...


def estimate_text(estimate: _Estimate | None, factor: float, digits: int) -> str:
    """Return a mean times a factor, with its bounds; `-` for None."""
    if estimate is None:
        return "-"
    text = number(estimate.mean * factor, digits)
    return f"{text} {estimate.bounds_text(lambda value: number(value * factor, digits))}".strip()
