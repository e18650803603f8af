"""The page of one experiment."""

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import replace

from dumbbell.present.markup import tag, text
from dumbbell.present.model.words.wording import path_sentence, plain
from dumbbell.present.site.cell_tables import BOLD, CellTables, cell_table, overview
from dumbbell.present.site.judging.ccperf_line import ccperf_line
from dumbbell.present.site.judging.checks import Contradiction
from dumbbell.present.site.judging.competition import has_matches, matches
from dumbbell.present.site.judging.findings import Findings, MeasuredCell, MeasuredRun, Site
from dumbbell.present.site.matrix import HARM_RULE, SHARE_RULE, match_tables
from dumbbell.present.site.pictures.picture import MOST, Picture
from dumbbell.present.site.shell import Shell, command, experiment_page_name, facts, paragraphs
from dumbbell.present.tables import Field, Table
from dumbbell.results.analysis.findings import findings
from dumbbell.results.analysis.summary import bounds_legend
from dumbbell.results.directory import MISSING
from dumbbell.results.series.run_files import RUN_FILES

MOST_OPEN_CELLS = 4
"""Cells of an experiment whose tables are unfolded at once; of more, each unfolds by itself."""

MOST_ROWS = 12
MOST_OVERVIEWS = 4
_LEVELS = ("network", "flow", "link")


class ExperimentPage:
    """One experiment as a page."""

    def __init__(
        self,
        site: Site,
        findings: Findings,
        pictures: Sequence[Picture],
        left_out: int,
        contradictions: Sequence[Contradiction],
    ) -> None:
        self.site, self.findings = site, findings
        self.shell = Shell(site, experiment_page_name(findings.name))
        self.whole = [picture for picture in pictures if not picture.cell]
        self.of_cell: dict[str, list[Picture]] = {}
        for picture in pictures:
            if picture.cell:
                self.of_cell.setdefault(picture.cell, []).append(picture)
        self.left_out = left_out
        self.contradictions = contradictions

    def render(self) -> str:
        """The whole file."""
        sections = [("settings", "Settings"), ("results", "Results"), ("runs", "Runs"), ("metrics", "Metrics")]
        title = f"{self.findings.title} \u2014 dumbbell benchmark"
        return self.shell.page(title, sections, self._content())

    def _content(self) -> Iterator[str]:
        found = self.findings
        yield tag("h1", text(found.title))
        yield tag("p", text(f"#{found.number} {found.name}, {found.membership.group.lower()}"), class_="lead")
        if said := findings(found.experiment, (run.content for run in found.all_runs)):
            yield tag("ul", *(tag("li", text(each)) for each in said), class_="findings")
        yield paragraphs(found.membership.text)
        yield self._schemes()
        yield from self._problems()
        yield tag("h2", "Settings", id="settings")
        yield from self._settings()
        yield tag("h2", "Results", id="results")
        yield tag("p", text(f"{bounds_legend(found.experiment.runs)} {BOLD}".strip()), class_="note")
        yield self.shell.figures(self.whole)
        if self.left_out:
            form = "a quick" if self.site.benchmark.quick else "one"
            noun = "figure is" if self.left_out == 1 else "figures are"
            words = f"{self.left_out} more {noun} left out: {form} benchmark draws {MOST[self.site.benchmark.quick]}."
            yield tag("p", words, class_="note")
        if has_matches(found):
            yield tag("p", text(f"{SHARE_RULE} {HARM_RULE}"), class_="note")
            for sheet in match_tables(self.shell, found, matches(found)):
                yield tag("h3", text(sheet.heading))
                yield self.shell.table(sheet.table, f"{sheet.heading}, {found.title}")
        if len(found.cells) > 1:
            yield from self._overviews()
        for cell in found.cells:
            yield from self._cell(cell)
        yield tag("h2", "Runs", id="runs")
        yield from self._runs()
        yield tag("h2", "Metrics", id="metrics")
        yield self._metrics()

    def _schemes(self) -> str:
        items = [tag("li", self.shell.scheme_link(name)) for name in self.findings.labels]
        others = dict.fromkeys(
            plan.scheme
            for cell in self.findings.cells
            for plans in cell.plans.values()
            for plan in plans
            if plan.scheme not in self.findings.labels
        )
        items += [tag("li", self.shell.scheme(name), " (beside them)") for name in others]
        return tag("ul", *items, class_="swatches")

    def _problems(self) -> Iterator[str]:
        if self.contradictions:
            rows = [(*_run_names(self.site, each.run), each.text) for each in self.contradictions]
            table = Table.of(("scheme", "cell", "run", "contradiction"), rows, "lllw")
            heading = tag("p", "These numbers contradict each other: do not rely on them.", class_="bad")
            yield tag("div", heading, self.shell.table(table, "Contradictions"), class_="alarm")
        bad = self.findings.unsuccessful
        if bad:
            total = len(self.findings.all_runs)
            reasons = [
                (*_run_names(self.site, run), run.content["status"], run.content.get("reason") or MISSING)
                for run in bad
            ]
            table = Table.of(("scheme", "cell", "run", "status", "reason"), reasons, "llllw")
            heading = tag("p", f"{total - len(bad)} of {total} runs succeeded. In no number here:", class_="bad")
            yield tag("div", heading, self.shell.table(table, "Runs that did not succeed"), class_="alarm")

    def _settings(self) -> Iterator[str]:
        found = self.findings
        experiment = found.experiment
        fixed = [
            (axis.name, f"{axis.name} {found.cells[0].place(axis.name)}")
            for axis in found.part.experiment_file.grid
            if axis.name not in found.axes
        ]
        listed = ", ".join(value for _, value in fixed)
        rows = [
            ("varied", text(", ".join(found.axes) if len(found.cells) > 1 else "nothing: one cell")),
            ("fixed", text(listed)),
            ("duration", f"{plain(experiment.duration_s)} s, warm-up of {plain(experiment.warmup_s)} s"),
            ("runs per cell and scheme", str(experiment.runs)),
            ("starts", f"up to {plain(experiment.start_spread_ms)} ms late" if experiment.start_spread_ms else ""),
            ("sampling interval", f"{plain(experiment.sample_interval_s)} s"),
            ("seed", str(experiment.seed)),
            ("backend", text(str(experiment.backend))),
        ]
        yield facts([(name, value) for name, value in rows if value])
        table = self.shell.table(cell_table(found, lambda cell: f"#{cell.anchor}"), f"Cells of {found.title}")
        yield self._folded(f"All {len(found.cells)} cells", table) if self.large else table
        yield tag("p", "To repeat these runs exactly, in the directory of the benchmark:")
        yield command(f"dumbbell run experiments/{found.name}/experiment.toml --out NEW")
        yield tag("p", "The experiment as it is shipped, with the same schemes:")
        yield command(shlex.join(["dumbbell", "run", found.name, "--schemes", ",".join(found.labels)]))

    def _overviews(self) -> Iterator[str]:
        """The headline first, then the other metrics that say most, each in every cell."""
        found = self.findings
        for metric in found.telling[:MOST_OVERVIEWS]:
            sheet = overview(self.site, found, metric, lambda cell: f"#{cell.anchor}")
            table = self.shell.table(sheet.table, f"{sheet.heading}, {found.title}", sortable=True)
            if self.large:
                yield self._folded(sheet.heading, table)
            else:
                yield tag("h3", text(sheet.heading))
                yield table

    @property
    def large(self) -> bool:
        """Whether tables with a row for each cell are folded."""
        return len(self.findings.cells) > MOST_ROWS

    def _folded(self, title: str, content: str) -> str:
        return tag("details", tag("summary", text(title)), content, class_="cell")

    def _cell(self, cell: MeasuredCell) -> Iterator[str]:
        """One cell. Among many, tables are folded, and with them all of a cell without figures."""
        name = cell.label(self.findings.axes)
        folded = len(self.findings.cells) > MOST_OPEN_CELLS
        pictures = self.of_cell.get(cell.name, [])
        tables = "\n".join(self._tables(cell))
        # a cell's title begins with that of the path it was made from, whose figures are no longer true
        path = replace(cell.path, title="") if cell.axis_values else cell.path
        note = tag("p", text(path_sentence(path, self.findings.experiment.backend)), class_="note")
        if folded and not pictures:
            yield tag("details", tag("summary", text(name)), note, tables, class_="cell", id=cell.anchor)
            return
        if folded:
            tables = self._folded(f"Tables: {name}", tables)
        yield tag("section", tag("h3", text(name)), note, self.shell.figures(pictures), tables, id=cell.anchor)

    def _tables(self, cell: MeasuredCell) -> Iterator[str]:
        yield self._commands(cell)
        for sheet in CellTables(self.site, self.findings, cell).all():
            if sheet.table.rows:
                yield tag("h4", text(sheet.heading))
                yield self.shell.table(sheet.table, f"{sheet.heading}: {cell.label(self.findings.axes)}")

    def _commands(self, cell: MeasuredCell) -> str:
        """What repeats the cell for the schemes under test, in ccperf's command line too where it has them."""
        found = self.findings
        examined = [label for label in found.labels if label in self.site.examined]
        words = ["dumbbell", "run", f"experiments/{found.name}/experiment.toml", "--cell", cell.name]
        content = [
            tag("p", "Exactly, in the directory of the benchmark:", class_="note"),
            command(shlex.join([*words, "--schemes", ",".join(examined or found.labels), "--out", "NEW"])),
        ]
        known = [line for line in (ccperf_line(found, cell, label) for label in examined) if line]
        if known:
            content += [tag("p", "In ccperf's command line:", class_="note"), *map(command, known)]
        return tag("details", tag("summary", "Commands that repeat this cell"), *content)

    def _runs(self) -> Iterator[str]:
        runs = self.findings.all_runs
        yield tag("p", f"{len(runs)} runs, each with its files: numbers, samples and, where kept, every packet.")
        rows = []
        for run in runs:
            name = Field(self.site.title(run.planned.scheme), scheme=run.planned.scheme)
            rows.append((name, *self._run_fields(run), *self._raw(run)))
        columns = ("scheme", "cell", "run", "seed", "status", *RUN_FILES)
        table = Table("", (), columns, tuple(rows), "l" * len(columns))
        content = self.shell.table(table, f"Runs of {self.findings.title}", sortable=True)
        yield tag("details", tag("summary", f"All {len(runs)} runs"), content)

    def _run_fields(self, run: MeasuredRun) -> list[Field]:
        status, bad = run.content["status"], not run.good
        place = next(cell for cell in self.findings.cells if cell.name == run.planned.path).label(self.findings.axes)
        number = Field(str(run.planned.run), sort=run.planned.run)
        return [Field(place), number, Field(str(run.planned.seed)), Field(status, bad=bad)]

    def _raw(self, run: MeasuredRun) -> Iterator[Field]:
        folder = self.findings.part.results.root / run.folder
        for name in RUN_FILES:
            there = (folder / name).is_file()
            target = self.shell.to(f"experiments/{self.findings.name}/{run.folder}/{name}")
            yield Field(name, link=target) if there else Field("")

    def _metrics(self) -> str:
        found = self.findings
        interval = f"{plain(found.experiment.sample_interval_s)} s"
        rows = []
        for level in _LEVELS:
            for metric in found.metrics[level]:
                better = {1: "more", -1: "less", 0: ""}[metric.better]
                sampled = interval if metric.sampled else ""
                names = (metric.words, metric.name, level, metric.unit, better, sampled)
                rows.append((*names, metric.formula, metric.source))
        heads = ("metric", "name", "level", "unit", "better", "sampled every", "formula", "source")
        return self.shell.table(Table.of(heads, rows, "llllllwl"), "Metrics")


def _run_names(site: Site, run: MeasuredRun) -> tuple[str, str, str]:
    return (site.title(run.planned.scheme), run.planned.path, str(run.planned.run))
