"""The report as one HTML file that asks for nothing else."""

from base64 import b64encode
from collections.abc import Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from urllib.parse import quote

from dumbbell.present.markup import details, link, tag, text
from dumbbell.present.plots import for_page, swatch, theme_ink
from dumbbell.present.report.content import PathEntry, ReportModel, RunEntry
from dumbbell.present.report.drawing import SHOWN, Figures
from dumbbell.present.report.drawn.staircase import CAPTION as STAIRCASE_CAPTION, KINDS as STAIRCASE
from dumbbell.present.report.over_time import CAPTION, IN_WORDS as OVER_TIME_WORDS, OverTime
from dumbbell.present.report.published import published_tables
from dumbbell.present.report.result_tables import (
    PathTables,
    definitions_table,
    run_flows,
    run_links,
    run_list,
    run_media,
    run_totals,
)
from dumbbell.present.report.texts import (
    command_sentence,
    kind_sentence,
    last_run,
    lists,
    mean_in_words,
    outcome,
    sentences,
    transfers_heading,
)
from dumbbell.present.report.words.wording import statistics_text
from dumbbell.present.tables import Table, html
from dumbbell.results.series.transfers import Transfers

_HERE = Path(__file__).parent
_SCRIPT = (_HERE / "page.js").read_text(encoding="utf-8")
# A browser runs this script alone: what gets into the page by a name or a log has another digest (W3C CSP 3, 2.3.1).
# Figures have their styles in attributes, which no digest can allow.
_POLICY = (
    "default-src 'none'; img-src data:; style-src 'unsafe-inline'; "
    f"script-src 'sha256-{b64encode(sha256(_SCRIPT.encode()).digest()).decode()}'; base-uri 'none'; form-action 'none'"
)


class ReportPage:
    """One report as a page."""

    def __init__(self, model: ReportModel, figures: Figures) -> None:
        self.model = model
        self.figures = figures
        self.symbols = {scheme.name: f"s{index}" for index, scheme in enumerate(model.schemes)}
        numbered = enumerate(model.runs)
        self.anchors = {run.folder: f"run{index}" for index, run in numbered if run.folder not in model.unsectioned}
        self.sections = {path.name: f"path{index}" for index, path in enumerate(model.paths)}

    def render(self) -> str:
        """The whole file."""
        title = f"dumbbell report: {self.model.title or self.model.name}"
        head = [
            '<meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">',
            '<link rel="icon" href="data:,">',
            tag("title", text(title)),
            tag("style", (_HERE / "page.css").read_text(encoding="utf-8")),
        ]
        body = [
            tag("a", "To the results", class_="skip", href="#results"),
            self._symbols(),
            self._contents(),
            tag("main", "\n".join(self._main())),
            tag("script", _SCRIPT),
        ]
        page = tag("html", tag("head", "\n".join(head)), "\n", tag("body", "\n".join(body)), lang="en")
        return f"<!DOCTYPE html>\n{page}\n"

    def _symbols(self) -> str:
        symbols = [
            tag("symbol", theme_ink(swatch(self.figures.styles[name])), id=symbol, viewBox="-0.7 -0.7 1.4 1.4")
            for name, symbol in self.symbols.items()
        ]
        return tag("svg", *symbols, width=0, height=0, style="position:absolute", aria_hidden="true")

    def _contents(self) -> str:
        items = [link("#overview", "Overview")]
        for path in self.model.paths:
            section = self.sections[path.name]
            below = [link(f"#{section}{self.symbols[scheme.name]}", scheme.title) for scheme in self.model.schemes]
            items.append(link(f"#{section}", path.heading) + tag("ul", *(tag("li", item) for item in below)))
        items.append(link("#definitions", "Definitions of the metrics"))
        return tag("nav", tag("h2", "Contents"), tag("ul", *(tag("li", item) for item in items)), aria_label="Contents")

    def _main(self) -> Iterator[str]:
        yield from self._overview()
        for index, path in enumerate(self.model.paths):
            yield from self._path(path, "results" if index == 0 else None)
        yield from _definitions()

    def _overview(self) -> Iterator[str]:
        model = self.model
        yield tag("h1", "dumbbell report", id="overview")
        yield tag("p", text(model.title or model.name), class_="lead")
        for sentence in sentences(model):
            yield tag("p", text(sentence))
        if outcome(model):
            yield tag("p", outcome(model))
        for found in lists(model):
            yield tag("p", text(found.sentence), class_="bad" if found.bad else None)
            yield self._table(run_list(model, found.rows, self.anchors), found.sentence)
        if model.command:
            yield tag("p", text(command_sentence(model)))
            yield tag("pre", tag("code", text(model.command)))
        for record in model.records:
            yield details(record.heading, record.text)

    def _path(self, path: PathEntry, mark: str | None) -> Iterator[str]:
        section, tables = self.sections[path.name], PathTables(self.model, path.name)
        yield tag("h2", text(path.heading), tag("span", id=mark) if mark else "", id=section)
        if path.provenance:
            yield tag("p", text(path.provenance), class_="note")
        mean, every = self.figures.means[path.name], self.figures.every_run[path.name]
        every_in_words = "Average throughput over 95th percentile one-way delay, every run; the values follow below"
        drawings = ((mean, mean_in_words(tables)), (every, every_in_words))
        wide = "whole" if self.figures.overview.is_keyed(path.name) else None
        shown = (tag("figure", for_page(drawing, words), class_=wide) for drawing, words in drawings if drawing)
        yield tag("div", *shown, class_="pair")
        yield tag("p", text(self.figures.overview.caption(path.name)), class_="note")
        yield from self._more(self.figures.over_time[path.name], OVER_TIME_WORDS, CAPTION)
        yield from self._more(self.figures.staircase[path.name], STAIRCASE, STAIRCASE_CAPTION)
        shown_tables = [*published_tables(self.model, path.name), *tables.all()]
        for heading, table in [*shown_tables, *OverTime(self.model).tables(path.name)]:
            yield tag("h3", heading)
            yield tag("p", text(table.caption), class_="note")
            yield self._table(table, f"{heading}, {path.heading}", sortable=True)
        for scheme in self.model.schemes:
            yield tag("h3", self._scheme(scheme.name), id=f"{section}{self.symbols[scheme.name]}")
            if self.model.backend.capabilities.real_packets and scheme.kind:
                yield tag("p", text(kind_sentence(scheme)), class_="note")
            for run in self.model.of(path.name, scheme.name):
                if anchor := self.anchors.get(run.folder):
                    yield tag("section", "\n".join(self._run(run)), class_="run", id=anchor)

    def _more(self, drawings: Mapping[str, str], words: Mapping[str, str], caption: str) -> Iterator[str]:
        """Figures of a path that not every experiment has, by kind; `words` say what each shows."""
        if drawings:
            shown = (tag("figure", for_page(drawing, words[kind])) for kind, drawing in drawings.items() if drawing)
            yield tag("div", *shown, class_="pair")
            yield tag("p", text(caption), class_="note")

    def _scheme(self, name: str) -> str:
        title = text(self.model.scheme_title(name))
        if name not in self.symbols:
            return title
        use = f'<use href="#{self.symbols[name]}"></use>'
        return tag("svg", use, class_="swatch", aria_hidden="true") + title

    def _table(self, table: Table, label: str, sortable: bool = False) -> str:
        return html.render(table, label, self._scheme, sortable)

    def _run(self, run: RunEntry) -> Iterator[str]:
        name = self.model.scheme_title(run.scheme)
        yield tag("h4", text(f"Run {run.number}: Statistics of {name}"))
        if not run.good:
            yield tag("p", text(f"{run.status.capitalize()}: {run.reason}"), class_="bad")
        if run.remark:
            yield tag("p", text(f"Counted here; Pantheon's analysis would drop it: {run.remark}"), class_="note")
        if run.negative_delays:
            yield tag("p", text(run.negative_delays), class_="note")
        statistics = statistics_text(run.times, run.content, self.model.generated_at)
        yield tag("p", "Pantheon convention:" if run.flows else "When:", class_="note")
        yield tag("div", tag("pre", text(statistics)), tag("dl", *self._facts(run), class_="facts"), class_="pair")
        if run.command:
            yield tag("p", "To repeat it: ", tag("code", text(run.command)), last_run(run), class_="note")
        if run.flows:
            yield self._table(run_flows(self.model, run), f"Flows of run {run.number} of {name}")
        media = run_media(self.model, run)
        if media:
            yield self._table(media, f"Media of run {run.number} of {name}")
        if run.links:
            yield self._table(run_links(run), f"Links of run {run.number} of {name}")
        if run.transfers:
            yield self._transfers(run.transfers)
        if run.untransferred:
            yield tag("p", text(f"Transfers are missing: {run.untransferred}"), class_="missing")
        yield tag("h4", text(f"Run {run.number}: Report of {name} \u2014 Data Link"))
        yield self._run_figures(run, name)

    def _transfers(self, transfers: Transfers) -> str:
        views = [
            tag("div", tag("p", view.capitalize(), class_="note"), tag("pre", text(transfers.text(view))))
            for view in Transfers.VIEWS
        ]
        return tag("details", tag("summary", text(transfers_heading(transfers))), tag("div", *views, class_="pair"))

    def _facts(self, run: RunEntry) -> Iterator[str]:
        for heading, value in run_totals(run):
            yield _fact(heading, text(value))
        if run.seed is not None:
            yield _fact("seed", text(run.seed))
        wall = run.content.get("sim_wall_s")
        if wall is not None:
            yield _fact("simulated in", f"{wall:.2f} s" if wall >= 1 else f"{wall * 1e3:.0f} ms")
        links = [link(quote(f"{run.folder}/{name}"), name) for name in run.files]
        yield _fact("raw logs", ", ".join(links) or "none")

    def _run_figures(self, run: RunEntry, name: str) -> str:
        figures = self.figures.runs[run.folder]
        if figures.problem:
            return tag("p", text(f"Figure is missing: {figures.problem}"), class_="missing")
        what = f"run {run.number} of {name}, {len(run.flows)} flow{'' if len(run.flows) == 1 else 's'}"
        drawings = [
            tag("figure", for_page(drawing, f"{SHOWN[kind]}, {what}")) for kind, drawing in figures.drawings.items()
        ]
        return tag("div", *drawings, class_="pair")


def _definitions() -> Iterator[str]:
    yield tag("h2", "Definitions of the metrics", id="definitions")
    yield tag(
        "p",
        "Every number above is computed by one of these rules, in one place, and stored in the stats.json of its run.",
    )
    yield html.render(definitions_table(), "Definitions of the metrics")


def _fact(name: str, value: str) -> str:
    return tag("dt", text(name)) + tag("dd", value)
