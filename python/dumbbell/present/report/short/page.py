"""The short report as one HTML page."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from dumbbell.base.errors import capitalized
from dumbbell.present.markup import details, link, tag, text
from dumbbell.present.model.content import PathEntry
from dumbbell.present.model.over_time import OverTime
from dumbbell.present.model.published import published_tables
from dumbbell.present.model.result_tables import run_list
from dumbbell.present.model.texts import command_sentence, lists, mean_in_words
from dumbbell.present.plots import for_page
from dumbbell.present.report.document import Document
from dumbbell.present.report.short.across import AcrossFigure
from dumbbell.present.report.short.content import ShortContent
from dumbbell.present.report.short.planes import Plane, Planes
from dumbbell.present.report.short.tables import ShortTables
from dumbbell.present.report.short.texts import (
    ALL_CELLS,
    ALONG,
    BESIDE,
    DRAWN,
    EACH_CELL,
    FAILED,
    MADE,
    REACH,
    SHARES,
    cut_sentence,
    heading,
    opening,
    origin_sentences,
    places_sentence,
    rest_sentence,
    run_command,
)

_MOST_LISTED = 200
"""Maximum number of rows in a list of runs."""
_MOST_ROWS = 1000
"""Maximum number of rows in a table of all cells."""


class ShortPage:
    """The short report as a page."""

    def __init__(self, content: ShortContent) -> None:
        self.content = content
        self.model = content.model
        self.figures = content.figures
        self.planes = Planes(content.model)
        self.document = Document(content.model)
        self.sections = {path.name: f"path{index}" for index, path in enumerate(content.paths)}

    def render(self) -> str:
        """Return the whole file."""
        title = f"dumbbell report: {heading(self.model)}"
        return self.document.render(title, self._contents(), self._main())

    def _contents(self) -> str:
        items = [link("#overview", "Findings" if self.model.findings else "Overview")]
        items += [link(f"#{mark}", title) for title, mark in self._parts()]
        items += [link("#failed", FAILED)] if lists(self.model) else []
        items.append(link("#made", MADE))
        return tag("nav", tag("h2", "Contents"), tag("ul", *(tag("li", item) for item in items)), aria_label="Contents")

    def _main(self) -> Iterator[str]:
        model = self.model
        yield tag("h1", text(heading(model)), id="overview")
        if model.findings:
            yield tag("ul", *(tag("li", text(finding)) for finding in model.findings), class_="findings")
        yield tag("p", text(opening(model)), class_="lead")
        yield tag("span", id="results")
        across = self.content.across
        yield from self._across(BESIDE, "beside", across.shares)
        yield from self._across(ALONG, "along", across.sweeps)
        if self.content.is_grid:
            yield from self._cells()
        else:
            for path in self.content.paths:
                yield tag("h2", text(path.heading), id=self.sections[path.name])
                yield from self._path(path)
        yield from self._failures()
        yield from self._origin()

    def _parts(self) -> Iterator[tuple[str, str]]:
        """Yield the headings between the findings and the end, and their marks."""
        across = self.content.across
        if across.shares:
            yield BESIDE, "beside"
        if across.sweeps:
            yield ALONG, "along"
        if self.content.is_grid:
            yield ALL_CELLS, "cells"
            yield EACH_CELL, "each"
        else:
            yield from ((path.heading, self.sections[path.name]) for path in self.content.paths)

    def _across(self, title: str, mark: str, figures: Sequence[AcrossFigure]) -> Iterator[str]:
        """Yield figures of many paths or cells, each with the command that draws it."""
        if not figures:
            return
        yield tag("h2", title, id=mark)
        for figure in figures:
            yield tag("figure", for_page(figure.drawing, figure.title), class_="whole")
            yield tag("p", text(DRAWN), " ", tag("code", text(figure.command)), class_="note")

    def _cells(self) -> Iterator[str]:
        """Yield the tables of all cells and a section for each cell."""
        yield tag("h2", ALL_CELLS, id="cells")
        for name, table in self.content.cell_tables():
            visible_table = replace(table, rows=table.rows[:_MOST_ROWS])
            yield tag("h3", name)
            yield tag("p", text(table.caption), class_="note")
            yield self.document.table(visible_table, f"{name}, {ALL_CELLS}", sortable=True, look="filtered")
            if len(table.rows) > _MOST_ROWS:
                yield tag("p", text(cut_sentence(len(table.rows), _MOST_ROWS)), class_="note")
        yield tag("h2", EACH_CELL, id="each")
        if sentence := places_sentence(self.model, self.content.is_grid):
            yield tag("p", text(sentence), class_="note")
        for path in self.content.paths:
            summary = tag("summary", text(path.heading))
            yield tag("details", summary, *self._path(path), id=self.sections[path.name])

    def _path(self, path: PathEntry) -> Iterator[str]:
        model, overview = self.model, self.figures.overview
        tables = self.content.tables(path.name)
        yield tag("p", text(path.sentence), class_="note")
        shares = tables.shares()
        if shares.rows:
            yield tag("h3", SHARES)
            yield tag("p", text(shares.caption), class_="note")
            yield self.document.table(shares, f"Shares, {path.heading}", sortable=True)
        drawing, words = self.figures.means[path.name], mean_in_words(tables.all_columns)
        first = Plane(overview.title, drawing, overview.caption(path.name), overview.is_wide(path.name))
        other_planes = (_plane(plane, plane.title, hidden=True) for plane in self.planes.of(path.name))
        yield tag("div", _plane(first, words), *other_planes, class_="planes")
        for more in self.figures.more(path.name):
            yield tag("div", *(tag("figure", for_page(*drawing)) for drawing in more.drawings.values()), class_="pair")
            yield tag("p", text(more.caption), class_="note")
        for name, means in tables.means():
            yield tag("h3", name)
            yield tag("p", text(means.caption), class_="note")
            yield self.document.table(means, f"{name}, {path.heading}", sortable=True, look="brief filtered")
        if command := run_command(model, path.name):
            yield tag("p", text(REACH), " ", tag("code", text(command)), class_="note")
        for name, table in published_tables(model, path.name):
            yield tag("h3", name)
            yield tag("p", text(table.caption), class_="note")
            yield self.document.table(table, f"{name}, {path.heading}", sortable=True)
        yield self._fold("All columns", self._all_columns(path, tables))
        every = self.document.table(tables.every_run(), f"Every run, {path.heading}", sortable=True, look="filtered")
        yield self._fold("Every run, with its raw logs", [every])

    def _all_columns(self, path: PathEntry, tables: ShortTables) -> Iterator[str]:
        for name, table in [*tables.all_columns.all(), *OverTime(self.model).tables(path.name)]:
            yield tag("h3", name)
            yield tag("p", text(table.caption), class_="note")
            yield self.document.table(table, f"{name}, {path.heading}", sortable=True)

    def _fold(self, title: str, parts: Iterator[str] | list[str]) -> str:
        return tag("details", tag("summary", text(title)), *parts)

    def _failures(self) -> Iterator[str]:
        run_lists = lists(self.model, sections=False)
        if run_lists:
            yield tag("h2", FAILED, id="failed")
        for run_list_entry in run_lists:
            yield tag("p", text(run_list_entry.sentence), class_="bad" if run_list_entry.bad else None)
            yield self.document.table(run_list(self.model, run_list_entry.rows[:_MOST_LISTED]), run_list_entry.sentence)
            if rest := rest_sentence(run_list_entry, _MOST_LISTED):
                yield tag("p", text(rest), class_="note")

    def _origin(self) -> Iterator[str]:
        yield tag("h2", MADE, id="made")
        for sentence in origin_sentences(self.model):
            yield tag("p", text(sentence))
        if self.model.command:
            yield tag("p", text(command_sentence(self.model)))
            yield tag("pre", tag("code", text(self.model.command)))
        for record in self.model.records:
            yield details(record.heading, record.text)


def _plane(plane: Plane, words: str, *, hidden: bool = False) -> str:
    """Return a plane with its caption; the page's script lets readers choose a plane of a path."""
    look = "whole" if plane.is_wide else "plane"
    figure = tag("figure", for_page(plane.drawing, words), class_=look) if plane.drawing else ""
    note = tag("p", text(plane.caption), class_="note")
    return tag("div", figure, note, data_title=capitalized(plane.title), hidden=hidden)
