"""The long form of the report as HTML: Pantheon's layout, in its order."""

from collections.abc import Iterator

from dumbbell.present.markup import details, link, tag, text
from dumbbell.present.model.content import PathEntry, ReportModel
from dumbbell.present.model.drawing import Figures
from dumbbell.present.model.over_time import OverTime
from dumbbell.present.model.published import published_tables
from dumbbell.present.model.result_tables import PathTables, definitions_table, run_list
from dumbbell.present.model.texts import (
    LONG_FORM,
    command_sentence,
    kind_sentence,
    lists,
    mean_in_words,
    outcome,
    sentences,
)
from dumbbell.present.plots import for_page
from dumbbell.present.report.document import Document
from dumbbell.present.report.run_page import RunSection
from dumbbell.present.tables import html


class ReportPage:
    """The report with every run as a page."""

    def __init__(self, model: ReportModel, figures: Figures) -> None:
        self.model = model
        self.figures = figures
        self.document = Document(model)
        self.run = RunSection(self.document, figures, level=4)
        numbered = enumerate(model.runs)
        self.anchors = {run.folder: f"run{index}" for index, run in numbered if run.folder not in model.unsectioned}
        self.sections = {path.name: f"path{index}" for index, path in enumerate(model.paths)}

    def render(self) -> str:
        """The whole file."""
        title = f"dumbbell report: {self.model.title or self.model.name}"
        return self.document.render(title, self._contents(), self._main())

    def _contents(self) -> str:
        items = [link("#overview", "Overview")]
        for path in self.model.paths:
            section = self.sections[path.name]
            below = [
                link(f"#{section}{self.document.symbols[scheme.name]}", scheme.title) for scheme in self.model.schemes
            ]
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
        for sentence in [*sentences(model), LONG_FORM]:
            yield tag("p", text(sentence))
        if outcome(model):
            yield tag("p", outcome(model))
        for found in lists(model):
            yield tag("p", text(found.sentence), class_="bad" if found.bad else None)
            yield self.document.table(run_list(model, found.rows, self.anchors), found.sentence)
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
        wide = "whole" if self.figures.overview.is_wide(path.name) else None
        shown = (tag("figure", for_page(drawing, words), class_=wide) for drawing, words in drawings if drawing)
        yield tag("div", *shown, class_="pair")
        yield tag("p", text(self.figures.overview.caption(path.name)), class_="note")
        for more in self.figures.more(path.name):
            yield tag("div", *(tag("figure", for_page(*drawing)) for drawing in more.drawings.values()), class_="pair")
            yield tag("p", text(more.caption), class_="note")
        shown_tables = [*published_tables(self.model, path.name), *tables.all()]
        for heading, table in [*shown_tables, *OverTime(self.model).tables(path.name)]:
            yield tag("h3", heading)
            yield tag("p", text(table.caption), class_="note")
            yield self.document.table(table, f"{heading}, {path.heading}", sortable=True)
        for scheme in self.model.schemes:
            yield tag("h3", self.document.scheme(scheme.name), id=f"{section}{self.document.symbols[scheme.name]}")
            if self.model.backend.capabilities.real_packets and scheme.kind:
                yield tag("p", text(kind_sentence(scheme)), class_="note")
            for run in self.model.of(path.name, scheme.name):
                if anchor := self.anchors.get(run.folder):
                    yield tag("section", "\n".join(self.run.parts(run)), class_="run", id=anchor)


def _definitions() -> Iterator[str]:
    yield tag("h2", "Definitions of the metrics", id="definitions")
    yield tag(
        "p",
        "Every number above is computed by one of these rules, in one place, and stored in the stats.json of its run.",
    )
    yield html.render(definitions_table(), "Definitions of the metrics")
