"""Tables of the report's summary: all schemes on the first paths, and the front on each path."""

from dumbbell.base.digits import decimal
from dumbbell.present.model.content import ReportModel
from dumbbell.present.model.overview import Overview
from dumbbell.present.model.words.wording import NO_DATA
from dumbbell.present.tables import Field, Table
from dumbbell.results.analysis.summary import Estimate
from dumbbell.results.clocks import LEGEND, Interval, clocks_text

_METRICS = (("throughput_mbps", "Mbit/s", 1.0, 2), ("delay_p95_ms", "ms", 1.0, 1), ("loss_rate", "loss %", 100.0, 2))


def summary_tables(model: ReportModel, overview: Overview, most_paths: int) -> list[tuple[str, Table]]:
    """Return the tables with their headings, with at most `most_paths` paths side by side."""
    tables = []
    if any(overview.means.values()):
        tables.append(("Schemes", _schemes(model, overview, most_paths)))
        tables.append(("In front", _fronts(model, overview)))
    return tables


def _schemes(model: ReportModel, overview: Overview, most_paths: int) -> Table:
    paths = model.paths[:most_paths]
    repetitions = model.groups
    fronts = {path.name: {mean.scheme for mean in overview.means[path.name] if mean.in_front} for path in paths}
    rows = []
    for scheme in model.schemes:
        row = [Field(scheme.title, scheme=scheme.name)]
        for path in paths:
            group = repetitions.get((path.name, scheme.name))
            for metric, _, factor, decimals in _METRICS:
                estimate = group.estimate(("network", 0, metric)) if group else None
                row.append(_field(estimate, factor, decimals, scheme.name in fronts[path.name]))
        rows.append(tuple(row))
    rest = len(model.paths) - len(paths)
    caption = (
        "Means over the runs, Pantheon convention: average throughput, 95th percentile of the one-way delay, loss. In "
        "bold: schemes that no other beats in both throughput and delay."
    )
    if any(group.shifts for group in repetitions.values()):
        caption += f" {LEGEND}"
    if rest:
        caption += f" The first {len(paths)} of {len(model.paths)} paths; each path has its own tables below."
    groups = (("", 1), *((path.heading, len(_METRICS)) for path in paths))
    return Table(caption, groups, ("scheme", *[unit for _, unit, *_ in _METRICS] * len(paths)), tuple(rows))


def _field(estimate: Estimate | None, factor: float, decimals: int, in_front: bool) -> Field:
    if estimate is None:
        return Field(NO_DATA)

    def number(value: float) -> str:
        return decimal(value * factor, decimals)

    return Field(number(estimate.mean), clocks_text(estimate.clocks, number), estimate.mean, best=in_front)


def _least_interval(model: ReportModel, path: str, least_ms: float) -> Interval | None:
    """Return the interval of the true least delay of a path, if two clocks measured the least delay."""
    intervals = (
        run.interval("flow", flow["flow"], "owd_min_ms")
        for run in model.of(path)
        for flow in run.flows
        if flow.get("owd_min_ms") == least_ms
    )
    return next(intervals, None)


def _delay_words(delay: Estimate) -> str:
    clocks = clocks_text(delay.clocks, "{:.4g}".format)
    return f"{delay.mean:.4g} ms{f', {clocks}' if clocks else ''}"


def _fronts(model: ReportModel, overview: Overview) -> Table:
    rows = []
    for path in model.paths:
        limits = overview.limits(path.name)
        front = [mean for mean in overview.means[path.name] if mean.in_front]
        front.sort(key=lambda mean: mean.x.mean)
        capacity = NO_DATA
        if limits.capacity_mbps:
            low, high = (f"{limit:.4g}" for limit in limits.capacity_mbps)
            capacity = low if low == high else f"{low} to {high}"
        names = [
            f"{model.scheme_title(mean.scheme)} ({mean.y.mean:.4g} Mbit/s, {_delay_words(mean.x)})" for mean in front
        ]
        least = Field(NO_DATA)
        if limits.least_delay_ms is not None:
            clocks = clocks_text(_least_interval(model, path.name, limits.least_delay_ms), "{:.4g}".format)
            least = Field(f"{limits.least_delay_ms:.4g}", clocks)
        rows.append((Field(path.heading), Field("; ".join(names) or NO_DATA), Field(capacity), least))
    caption = "On each path the schemes that no other beats in both throughput and delay, by growing delay."
    columns = ("path", "in front", "capacity (Mbit/s)", "least delay (ms)")
    return Table(caption, (), columns, tuple(rows), "ll")
