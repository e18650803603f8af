"""Long form of the report as PDF, laid out by typst from the texts, tables and figures of the page."""

import json
from pathlib import Path
from typing import Any, TypeAlias

from dumbbell.present.model.content import PathEntry, ReportModel, RunEntry
from dumbbell.present.model.drawing import SHOWN, Figures
from dumbbell.present.model.over_time import OverTime
from dumbbell.present.model.published import published_tables
from dumbbell.present.model.result_tables import (
    PathTables,
    definitions_table,
    run_flows,
    run_links,
    run_list,
    run_media,
    run_totals,
)
from dumbbell.present.model.texts import (
    LONG_FORM,
    RunList,
    command_sentence,
    kind_sentence,
    last_run,
    lists,
    mean_in_words,
    outcome,
    sentences,
    transfers_heading,
)
from dumbbell.present.model.words.wording import statistics_text
from dumbbell.present.plots import for_print, print_ink, swatch
from dumbbell.present.plots.parts.typeset import MAIN
from dumbbell.present.report.summaries import summary_tables
from dumbbell.present.tables import typst
from dumbbell.results.series.transfers import Transfers

Sheet: TypeAlias = dict[str, Any]
"""Values for the template of a PDF report, by their names in the template."""

_FIRST_PATHS = 4  # paths with figures on the first page
_FEW_PATHS = 2  # number of paths up to which their figures stand one below the other
_FEW_FLOWS = 4  # number of flows up to which their statistics stay on one page
_SENTENCES, _ROWS = 5, 8  # of paths, and of lists of runs, on the first page
_SIDE_BY_SIDE = 3  # paths in the table of the summary
_WIDEST = 19.0  # columns of a table on an upright page, in columns of average width
_HERE = Path(__file__).parent


def sources(model: ReportModel, figures: Figures) -> dict[str, bytes]:
    """Return the files from which `typeset` makes the PDF, by name."""
    files = {f"{name}.svg": drawing.encode() for name, drawing in _drawings(model, figures).items()}
    files["data.json"] = json.dumps(_data(model, figures)).encode()
    files[MAIN] = (_HERE / "report.typ").read_bytes()
    return files | shared_layout()


def shared_layout() -> dict[str, bytes]:
    """Return the layout file that both forms import, by name."""
    return {"layout.typ": (_HERE / "layout.typ").read_bytes()}


def markers(model: ReportModel) -> tuple[dict[str, str], dict[str, str]]:
    """Return the markers of the schemes as SVG by file name, and the file names by scheme."""
    drawings, names = {}, {}
    for index, scheme in enumerate(model.schemes):
        marker = print_ink(swatch(model.styles[scheme.name]))
        names[scheme.name] = f"scheme{index}.svg"
        drawings[f"scheme{index}"] = (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="-0.7 -0.7 1.4 1.4">{marker}</svg>'
        )
    return drawings, names


def _drawings(model: ReportModel, figures: Figures) -> dict[str, str]:
    """Return the figures and the markers of the schemes as SVG, by name."""
    drawings = {}
    for index, path in enumerate(model.paths):
        drawings[f"path{index}mean"] = figures.means[path.name]
        drawings[f"path{index}every"] = figures.every_run[path.name]
        for more in figures.more(path.name):
            drawings |= {f"path{index}{kind}": drawing for kind, (drawing, _) in more.drawings.items()}
    for index, run in enumerate(model.runs):
        for name, drawing in figures.runs[run.folder].drawings.items():
            drawings[f"run{index}{name}"] = drawing
    return {name: for_print(drawing) for name, drawing in drawings.items() if drawing} | markers(model)[0]


def _data(model: ReportModel, figures: Figures) -> Sheet:
    _, swatches = markers(model)
    paths = [_path(model, figures, path, index, swatches) for index, path in enumerate(model.paths)]
    first = [path for path in paths if figures.overview.means[path["name"]]][:_FIRST_PATHS]
    return {
        "title": f"dumbbell report: {model.title or model.name}",
        "subtitle": model.title or model.name,
        "sentences": [*sentences(model, most_paths=_SENTENCES), LONG_FORM, *filter(None, [outcome(model)])],
        "lists": [_list(model, run_list, swatches) for run_list in lists(model)],
        "first": {
            "figures": [path["figures"][0] for path in first],
            "columns": 1 if len(first) <= _FEW_PATHS or any(path["wide"] for path in first) else 2,
            "caption": _first_caption(model, figures),
        },
        "summary": [
            {"heading": heading, **typst.render(table, swatches)}
            for heading, table in summary_tables(model, figures.overview, _SIDE_BY_SIDE)
        ],
        "command": model.command,
        "command_sentence": command_sentence(model),
        "records": [{"heading": record.heading, "text": record.text} for record in model.records],
        "paths": paths,
        "definitions": typst.render(definitions_table()),
    }


def _first_caption(model: ReportModel, figures: Figures) -> str:
    """Return the caption of the figures on the first page."""
    names = [path.name for path in model.paths if figures.overview.means[path.name]]
    rest = len(names) - _FIRST_PATHS
    more = f" {rest} more {'path follows' if rest == 1 else 'paths follow'} below." if rest > 0 else ""
    return f"{figures.overview.caption(names[0])}{more}" if names else ""


def _list(model: ReportModel, entries: RunList, swatches: dict[str, str]) -> Sheet:
    rest = len(entries.rows) - _ROWS
    reasons_place = (
        "of which `dumbbell show` has the reasons" if model.folders_without_section else "each with its reason below"
    )
    more = f"and {rest} more, {reasons_place}" if rest > 0 else ""
    table = typst.render(run_list(model, entries.rows[:_ROWS]), swatches)
    return {"sentence": entries.sentence, "bad": entries.bad, "table": table, "more": more}


def _path(model: ReportModel, figures: Figures, path: PathEntry, index: int, swatches: dict[str, str]) -> Sheet:
    tables = PathTables(model, path.name)
    all_tables = [*published_tables(model, path.name), *tables.all(), *OverTime(model).tables(path.name)]
    numbers = {run.folder: number for number, run in enumerate(model.runs)}
    return {
        "name": path.name,
        "title": path.heading,
        "provenance": path.provenance,
        "caption": figures.overview.caption(path.name),
        "wide": figures.overview.is_wide(path.name),
        "figures": [
            {"file": f"path{index}mean.svg", "alt": mean_in_words(tables)},
            {"file": f"path{index}every.svg", "alt": "Average throughput over 95th percentile delay, every run"},
        ]
        if figures.means[path.name]
        else [],
        "more": [
            {
                "caption": more.caption,
                "figures": [
                    {"file": f"path{index}{kind}.svg", "alt": words} for kind, (_, words) in more.drawings.items()
                ],
            }
            for more in figures.more(path.name)
        ],
        "tables": [
            {"heading": heading, "wide": typst.width(table) > _WIDEST, **typst.render(table, swatches)}
            for heading, table in all_tables
        ],
        "runs": [
            _run(model, figures, run, f"run{numbers[run.folder]}")
            for run in model.of(path.name)
            if run.folder not in model.folders_without_section
        ],
    }


def _run(model: ReportModel, figures: Figures, run: RunEntry, name: str) -> Sheet:
    title = model.scheme_title(run.scheme)
    scheme = next(scheme for scheme in model.schemes if scheme.name == run.scheme)
    facts = run_totals(run)
    if run.seed is not None:
        facts.append(("seed", str(run.seed)))
    tables = [run_flows(model, run)] if run.flows else []
    tables += filter(None, [run_media(model, run)])
    tables += [run_links(run)] if run.links else []
    return {
        "heading": f"Run {run.number}: Statistics of {title}",
        "figures_heading": f"Run {run.number}: Report of {title} \u2014 Data Link",
        "short": len(run.flows) <= _FEW_FLOWS,
        "failure": "" if run.good else f"{run.status.capitalize()}: {run.reason}",
        "remark": f"Counted here; Pantheon's analysis would drop it: {run.remark}" if run.remark else "",
        "negative": run.negative_delays,
        "statistics": statistics_text(run.times, run.content, model.generated_at),
        "facts": facts,
        "command": run.command,
        "command_makes": last_run(run),
        "folder": run.folder,
        "files": run.files,
        "transfers_heading": transfers_heading(run.transfers) if run.transfers else "",
        "transfers": [[view.capitalize(), run.transfers.text(view)] for view in Transfers.VIEWS]
        if run.transfers
        else [],
        "untransferred": f"Transfers are missing: {run.transfers_problem}" if run.transfers_problem else "",
        "kind": kind_sentence(scheme) if model.backend.capabilities.real_packets and scheme.kind else "",
        "tables": [typst.render(table) for table in tables],
        "problem": figures.runs[run.folder].problem,
        "figures": [
            {"file": f"{name}{kind}.svg", "alt": f"{SHOWN[kind]}, run {run.number} of {title}"}
            for kind in figures.runs[run.folder].drawings
        ],
    }
