"""The tables of an experiment's page: its cells, and flows, links and network of each with the schemes side by side."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from dumbbell.catalog.grids.cell import Cell
from dumbbell.present.site.judging.direction import NEITHER, Metric, best, decimals, number
from dumbbell.present.site.judging.findings import PATH, Findings, MeasuredCell, Site, estimate, is_many, rivals
from dumbbell.present.tables import Field, Table
from dumbbell.results.analysis.axis_words import axis_values
from dumbbell.results.analysis.summary import Estimate

NONE = "\u2013"
BOLD = "The best value is bold where one direction is better (\u2191 more, \u2193 less). "


@dataclass(frozen=True)
class Sheet:
    """A table with its heading."""

    heading: str
    table: Table


def row_of(estimates: Sequence[Estimate | None], better: int, compared: Sequence[object] | None = None) -> list[Field]:
    """Means beside each other in one row, the best of them marked: of all, or of each group that is `compared`."""
    every = [value for each in estimates if each for value in (each.mean, each.low, each.high) if value is not None]
    places = decimals(every)
    shown = [number(each.mean, places) if each else None for each in estimates]
    means = [each.mean if each else None for each in estimates]
    groups = list(compared or [None] * len(means))
    bold = [False] * len(means)
    for group in dict.fromkeys(groups):
        own = [index for index, each in enumerate(groups) if each == group]
        marks = best([shown[index] for index in own], [means[index] for index in own], better)
        for index, mark in zip(own, marks, strict=True):
            bold[index] = mark
    hover = "" if any(bold) else _why_none(better, shown)
    found = []
    for text, each, is_best in zip(shown, estimates, bold, strict=True):
        if text is None or each is None:
            found.append(Field(NONE))
            continue
        note = each.bounds_text(lambda value: number(value, places))
        found.append(Field(text, note, each.mean, best=is_best, hover=hover))
    return found


def _why_none(better: int, shown: Sequence[str | None]) -> str:
    """Return why none of the values of a row is bold."""
    if sum(text is not None for text in shown) < 2:
        return ""
    if better == NEITHER:
        return "none is the best: neither more nor less is better"
    if len({text for text in shown if text is not None}) < 2:
        return "none is the best: all are the same"
    return "none is the best: flows in other places, or transfers that others did not finish, do not compare"


def name_of(metric: Metric, interval_s: float, entity: str = "") -> Field:
    """The field that names a metric: its unit, better direction and, if it depends on one, the sampling interval."""
    unit = " ".join(part for part in (metric.unit, metric.arrow) if part)
    sampled = f"every {interval_s:g} s" if metric.sampled else ""
    return Field(metric.words, ", ".join(part for part in (unit, sampled, entity) if part), hover=metric.name)


class CellTables:
    """The tables of one cell."""

    def __init__(self, site: Site, findings: Findings, cell: MeasuredCell) -> None:
        self.site, self.findings, self.cell = site, findings, cell
        self.labels = findings.labels
        self.interval_s = findings.experiment.sample_interval_s

    def all(self) -> list[Sheet]:
        """Return the tables of flows, links and network."""
        return [self.flows(), self.links(), self.network()]

    def flows(self) -> Sheet:
        """A column for each flow of each scheme, or for each reduction where they are many."""
        columns = {label: self.cell.columns(label, self.site.titles) for label in self.labels}
        flat = [flows for found in columns.values() for flows in found]
        rows = []
        for metric in self.findings.metrics["flow"]:
            means = [estimate(self.cell.flow_values(flows, metric.name)) for flows in flat]
            # only flows in the same place are compared, and means with means
            finishing = rivals([self.cell], [flows.label for flows in flat], metric)
            groups_of = [(flows.plans, flows.reduce, group) for flows, group in zip(flat, finishing, strict=True)]
            rows.append((name_of(metric, self.interval_s), *row_of(means, metric.better, groups_of)))
        single = all(len(found) == 1 for found in columns.values())
        groups = () if single else (("", 1), *((self.site.title(label), len(columns[label])) for label in self.labels))
        names = [self.site.title(flows.label) if single else flows.heading for flows in flat]
        return Sheet("Flows" if not single else "Flow", self._table("flow", groups, names, rows))

    def links(self) -> Sheet:
        """The links that data passes, below each other."""
        rows = []
        links = self.cell.links
        for link in links:
            for metric in self.findings.metrics["link"]:
                means = [self.cell.estimate(label, metric, link) for label in self.labels]
                entity = link if len(links) > 1 else ""
                rows.append((name_of(metric, self.interval_s, entity), *row_of(means, metric.better)))
        return Sheet("Links" if len(links) > 1 else "Link", self._table("link", (), self._titles(), rows))

    def network(self) -> Sheet:
        """Over all flows of a run."""
        rows = []
        for metric in self.findings.metrics["network"]:
            means = [self.cell.estimate(label, metric) for label in self.labels]
            groups = rivals([self.cell], self.labels, metric)
            rows.append((name_of(metric, self.interval_s), *row_of(means, metric.better, groups)))
        return Sheet("Network", self._table("network", (), self._titles(), rows))

    def _titles(self) -> list[str]:
        return [self.site.title(label) for label in self.labels]

    def _table(
        self,
        level: str,
        groups: tuple[tuple[str, int], ...],
        columns: Sequence[str],
        rows: list[tuple[Field, ...]],
    ) -> Table:
        caption = f"#{self.findings.number} {self.findings.name}, {self.cell.name}: {level}."
        return Table(caption, groups, ("metric", *columns), tuple(rows))


def cell_table(findings: Findings, link: Callable[[MeasuredCell], str]) -> Table:
    """What each cell is: its place on the axes of the grid, and what its path comes to."""
    rows = []
    for cell in findings.cells:
        place = Field(cell.label(findings.axes), link=link(cell))
        plans = cell.plans[findings.labels[0]]
        count = None if any(map(is_many, plans)) else len(plans)
        rows.append(
            (
                place,
                Field(cell.base),
                Field(axis_values(cell.axis_values) or NONE),
                Field(queue_text(cell)),
                *path_figures(cell),
                Field("many" if count is None else str(count), sort=count),
            )
        )
    columns = ("cell", "path", "axes", "queue", "bw (Mbit/s)", "base RTT (ms)", "BDP (packets)", "flows")
    caption = (
        "bw is the rate of the narrowest link of the data direction, base RTT the sum of the constant delays, both as "
        "the run starts; the BDP counts packets of 1500 bytes."
    )
    return Table(caption, (), columns, tuple(rows), "llll")


def queue_text(cell: MeasuredCell) -> str:
    """The queue of the bottleneck and its limit."""
    queue = Cell(cell.path, ()).bottleneck.get("queue", {}) if cell.bottleneck else {}
    size = ", ".join(f"{queue[key]} {key}" for key in ("packets", "bytes", "ms") if key in queue)
    return f"{queue.get('kind', 'infinite')} {size}".strip()


def path_figures(cell: MeasuredCell) -> list[Field]:
    """Rate, base RTT and their product, where the path has them."""
    model = Cell(cell.path, ())
    rtt = model.base_rtt_ms
    rate = model.rate_mbps if cell.bottleneck else None
    bdp = model.bdp_packets if cell.bottleneck else None
    return [
        Field(NONE if rate is None else f"{rate:g}", sort=rate),
        Field(f"{rtt:g}", sort=rtt),
        Field(NONE if bdp is None else f"{bdp:.1f}", sort=bdp),
    ]


def overview(site: Site, findings: Findings, metric: Metric, link: Callable[[MeasuredCell], str]) -> Sheet:
    """One metric in every cell, a row for each."""
    axes = findings.axes
    rows = []
    for cell in findings.cells:
        names = [Field(cell.place(axis), link=link(cell) if axis == axes[0] else "") for axis in axes]
        means = [cell.estimate(label, metric) for label in findings.labels]
        rows.append((*names, *row_of(means, metric.better, rivals([cell], findings.labels, metric))))
    unit = f" ({metric.unit})" if metric.unit else ""
    heading = f"{metric.words}{unit}{f' {metric.arrow}' if metric.arrow else ''} in every cell"
    whose = "the mean over the flows under test" if metric.level == "flow" else f"of the {metric.level}"
    caption = f"#{findings.number} {findings.name}: {metric.words}, {whose}; means over the runs."
    columns = (*(axis if axis != PATH else "path" for axis in axes), *(site.title(name) for name in findings.labels))
    return Sheet(heading, Table(caption, (), columns, tuple(rows), "l" * len(axes)))
