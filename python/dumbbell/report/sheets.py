"""The report as PDF, laid out by typst from the same texts, tables and figures as the page."""

import json
import os
import tempfile
from pathlib import Path
from typing import Any

import matplotlib
import typst

from dumbbell.figures import for_print, print_ink, swatch
from dumbbell.report.drawing import Figures
from dumbbell.report.fields import Field, Table
from dumbbell.report.model import PathEntry, ReportModel, RunEntry
from dumbbell.report.published import published_tables
from dumbbell.report.source import definitions
from dumbbell.report.tables import PathTables, run_flows, run_links, run_media, run_totals
from dumbbell.report.texts import (
    command_sentence,
    kind_sentence,
    last_run,
    lists,
    mean_in_words,
    outcome,
    sentences,
    transfers_heading,
)
from dumbbell.report.wording import statistics_text
from dumbbell.results.transfers import Transfers

_FLOWS_ON_ONE_PAGE = 2  # with the figures; the statistics of more fill a page of their own
_SAMPLED = (("window", "Congestion window"), ("rtt", "Smoothed RTT"))
_TEMPLATE = Path(__file__).parent / "report.typ"
_DEFINITION_KEYS = ("name", "level", "unit", "convention", "formula", "source")


def write_pdf(model: ReportModel, figures: Figures, file: Path) -> None:
    """Writes the PDF; `file` is replaced at once when it is complete."""
    with tempfile.TemporaryDirectory(prefix="dumbbell-report-") as name:
        folder = Path(name)
        _write_figures(model, figures, folder)
        (folder / "data.json").write_text(json.dumps(_data(model, figures)), encoding="utf-8")
        (folder / "report.typ").write_bytes(_TEMPLATE.read_bytes())
        fonts = str(Path(matplotlib.get_data_path()) / "fonts" / "ttf")
        pdf = typst.compile(str(folder / "report.typ"), root=name, font_paths=[fonts], ignore_system_fonts=True)
    temporary = file.with_name(f".{file.name}.{os.getpid()}.tmp")
    try:
        temporary.write_bytes(pdf)
        temporary.replace(file)
    finally:
        temporary.unlink(missing_ok=True)


def _write_figures(model: ReportModel, figures: Figures, folder: Path) -> None:
    drawings = {}
    for index, path in enumerate(model.paths):
        drawings[f"path{index}mean"] = figures.means[path.name]
        drawings[f"path{index}every"] = figures.every_run[path.name]
    for index, run in enumerate(model.runs):
        for name in ("throughput", "delay", "window", "rtt", "media"):
            drawings[f"run{index}{name}"] = getattr(figures.runs[run.folder], name)
    for name, drawing in drawings.items():
        if drawing:
            (folder / f"{name}.svg").write_text(for_print(drawing), encoding="utf-8")
    for index, scheme in enumerate(model.schemes):
        marker = print_ink(swatch(figures.styles[scheme.name]))
        drawing = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="-0.7 -0.7 1.4 1.4">{marker}</svg>'
        (folder / f"scheme{index}.svg").write_text(drawing, encoding="utf-8")


def _data(model: ReportModel, figures: Figures) -> dict[str, Any]:
    swatches = {scheme.name: f"scheme{index}.svg" for index, scheme in enumerate(model.schemes)}
    return {
        "title": f"dumbbell report: {model.title or model.name}",
        "subtitle": model.title or model.name,
        "sentences": [*sentences(model), *filter(None, [outcome(model)])],
        "lists": [
            {
                "sentence": found.sentence,
                "bad": found.bad,
                "rows": [
                    [model.scheme_title(run.scheme), str(run.number), run.path, run.status, reason]
                    for run, reason in found.rows
                ],
            }
            for found in lists(model)
        ],
        "command": model.command,
        "command_sentence": command_sentence(model),
        "records": [{"heading": record.heading, "text": record.text} for record in model.records],
        "paths": [_path(model, figures, path, index, swatches) for index, path in enumerate(model.paths)],
        "definitions": [[definition[key] for key in _DEFINITION_KEYS] for definition in definitions()],
    }


def _path(
    model: ReportModel, figures: Figures, path: PathEntry, index: int, swatches: dict[str, str]
) -> dict[str, Any]:
    tables = PathTables(model, path.name)
    shown = [*published_tables(model, path.name), *tables.all()]
    numbers = {run.folder: number for number, run in enumerate(model.runs)}
    return {
        "title": path.heading,
        "provenance": path.provenance,
        "figures": [
            {"file": f"path{index}mean.svg", "alt": mean_in_words(tables)},
            {"file": f"path{index}every.svg", "alt": "Average throughput over 95th percentile delay, every run"},
        ],
        "tables": [{"heading": heading, **_table(table, swatches)} for heading, table in shown],
        "runs": [_run(model, figures, run, f"run{numbers[run.folder]}") for run in model.of(path.name)],
    }


def _table(table: Table, swatches: dict[str, str]) -> dict[str, Any]:
    return {
        "caption": table.caption,
        "groups": table.groups,
        "columns": table.columns,
        "names": table.names,
        "rows": [[_field(field, swatches) for field in row] for row in table.rows],
    }


def _field(field: Field, swatches: dict[str, str]) -> dict[str, str]:
    return {"text": field.text, "note": field.note, "swatch": swatches.get(field.scheme, "")}


def _run(model: ReportModel, figures: Figures, run: RunEntry, name: str) -> dict[str, Any]:
    title = model.scheme_title(run.scheme)
    scheme = next(scheme for scheme in model.schemes if scheme.name == run.scheme)
    facts = run_totals(run)
    has_media = bool(figures.runs[run.folder].media)
    long = len(run.flows) > _FLOWS_ON_ONE_PAGE or run.transfers is not None or has_media
    if run.seed is not None:
        facts.append(("seed", str(run.seed)))
    tables = [run_flows(model, run)] if run.flows else []
    tables += filter(None, [run_media(model, run)])
    tables += [run_links(run)] if run.links else []
    return {
        "heading": f"Run {run.number}: Statistics of {title}",
        "figures_heading": f"Run {run.number}: Report of {title} \u2014 Data Link",
        "failure": "" if run.good else f"{run.status.capitalize()}: {run.reason}",
        "remark": f"Counted here; Pantheon's analysis would drop it: {run.remark}" if run.remark else "",
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
        "kind": kind_sentence(scheme) if model.backend.capabilities.real_packets and scheme.kind else "",
        "tables": [_table(table, {}) for table in tables],
        "problem": figures.runs[run.folder].problem,
        "long": long,
        "width": 88 if long else 61,
        "figures": [
            {"file": f"{name}throughput.svg", "alt": f"Throughput over time, run {run.number} of {title}"},
            {"file": f"{name}delay.svg", "alt": f"One-way delay of every packet, run {run.number} of {title}"},
        ],
        "sampled": [
            {"file": f"{name}{kind}.svg", "alt": f"{what}, run {run.number} of {title}"}
            for kind, what in _SAMPLED
            if getattr(figures.runs[run.folder], kind)
        ],
        "media": [{"file": f"{name}media.svg", "alt": f"Bitrate and frame delay, run {run.number} of {title}"}]
        if has_media
        else [],
    }
