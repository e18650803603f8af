"""Short report as PDF, laid out by typst from the texts, tables and figures of the page."""

import json
from dataclasses import replace
from pathlib import Path

from dumbbell.present.model.content import PathEntry
from dumbbell.present.model.published import published_tables
from dumbbell.present.model.result_tables import run_list
from dumbbell.present.model.texts import command_sentence, lists, mean_in_words
from dumbbell.present.plots import for_print
from dumbbell.present.plots.parts.typeset import MAIN
from dumbbell.present.report.sheets import markers, shared_layout
from dumbbell.present.report.short.content import ShortContent
from dumbbell.present.report.short.texts import (
    ALL_CELLS,
    ALONG,
    BESIDE,
    DRAWN,
    FAILED,
    MADE,
    REACH,
    SHARES,
    cut_sentence,
    heading,
    opening,
    origin_sentences,
    rest_sentence,
    run_command,
)
from dumbbell.present.tables import Table, typst
from dumbbell.results.import_metadata import first_lines

_MOST_LISTED = 30
"""Maximum number of rows in a list of runs."""
_MOST_ROWS = 160
"""Maximum number of rows in a table of all cells."""
_MOST_LINES = 60
"""Maximum number of lines of a machine's record."""
_REST = "The page report.html has all columns, every run, and what was recorded in full."


def sources(content: ShortContent) -> dict[str, bytes]:
    """Return the files from which `typeset` makes the PDF, by name."""
    model, figures = content.model, content.figures
    drawings, swatches = markers(model)
    across: list[dict[str, object]] = []
    for title, figures_across in ((BESIDE, content.across.shares), (ALONG, content.across.sweeps)):
        names = [(f"across{len(across)}-{number}", figure) for number, figure in enumerate(figures_across)]
        drawings |= {name: for_print(figure.drawing) for name, figure in names}
        entries = [{"file": f"{name}.svg", "alt": figure.title, "command": figure.command} for name, figure in names]
        across += [{"title": title, "drawn": DRAWN, "figures": entries}] if entries else []
    paths = []
    for index, path in enumerate(() if content.is_grid else content.paths):
        path_drawings = {f"path{index}": figures.means[path.name]}
        for more in figures.more(path.name):
            path_drawings |= {f"path{index}{kind}": drawing for kind, (drawing, _) in more.drawings.items()}
        drawings |= {name: for_print(drawing) for name, drawing in path_drawings.items() if drawing}
        paths.append(_path(content, path, f"path{index}", swatches))
    data = {
        "title": f"dumbbell report: {heading(model)}",
        "heading": heading(model),
        "findings": model.findings,
        "opening": opening(model),
        "across": across,
        "all_cells": ALL_CELLS,
        "cells": [_cells(name, table, swatches) for name, table in content.cell_tables()],
        "paths": paths,
        "reach": REACH,
        "failed": FAILED,
        "lists": [
            {
                "sentence": run_list_entry.sentence,
                "bad": run_list_entry.bad,
                "table": typst.render(run_list(model, run_list_entry.rows[:_MOST_LISTED]), swatches),
                "more": rest_sentence(run_list_entry, _MOST_LISTED),
            }
            for run_list_entry in lists(model, sections=False)
        ],
        "made": MADE,
        "sentences": [*origin_sentences(model), _REST],
        "command": model.command,
        "command_sentence": command_sentence(model),
        "records": [
            {"heading": record.heading, "text": first_lines(record.text, _MOST_LINES)} for record in model.records
        ],
    }
    layout = {MAIN: (Path(__file__).parent / "short.typ").read_bytes(), "data.json": json.dumps(data).encode()}
    return {f"{name}.svg": drawing.encode() for name, drawing in drawings.items()} | shared_layout() | layout


def _path(content: ShortContent, path: PathEntry, name: str, swatches: dict[str, str]) -> dict[str, object]:
    model, figures, tables = content.model, content.figures, content.tables(path.name)
    shares = tables.shares()
    figure = {"file": f"{name}.svg", "alt": mean_in_words(tables.all_columns)}
    return {
        "title": path.heading,
        "sentence": path.sentence,
        "shares": _table(SHARES, shares, swatches) if shares.rows else None,
        "figures": [figure] if figures.means[path.name] else [],
        "wide": figures.overview.is_wide(path.name),
        "caption": figures.overview.caption(path.name),
        "more": [
            {
                "caption": more.caption,
                "figures": [{"file": f"{name}{kind}.svg", "alt": words} for kind, (_, words) in more.drawings.items()],
            }
            for more in figures.more(path.name)
        ],
        "tables": [
            _table(name, table, swatches) for name, table in [*tables.means(), *published_tables(model, path.name)]
        ],
        "command": run_command(model, path.name),
    }


def _cells(name: str, table: Table, swatches: dict[str, str]) -> dict[str, object]:
    """Return a table of all cells, cut to the rows that have room."""
    count = len(table.rows)
    more = cut_sentence(count, _MOST_ROWS) if count > _MOST_ROWS else ""
    return _table(name, replace(table, rows=table.rows[:_MOST_ROWS]), swatches) | {"more": more}


def _table(name: str, table: Table, swatches: dict[str, str]) -> dict[str, object]:
    return {"heading": name, **typst.render(table, swatches)}
