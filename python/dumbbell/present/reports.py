"""Reports of a results directory: short, in Pantheon's long form, or of one run."""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from dumbbell.base.conventions import PANTHEON
from dumbbell.base.errors import UserError, argument
from dumbbell.base.interrupts import interruptible
from dumbbell.base.names import fitted, foreign_name, unlike
from dumbbell.base.progress import Piece, Progress
from dumbbell.experiment import Experiment
from dumbbell.present.model.content import ReportModel, RunEntry, model_of
from dumbbell.present.model.drawing import Figures, draw, draw_runs
from dumbbell.present.model.overview import Overview
from dumbbell.present.model.texts import bad_sentence
from dumbbell.present.plots.parts.typeset import typeset
from dumbbell.present.report import sheets
from dumbbell.present.report.run_page import run_page
from dumbbell.present.report.short import sheets as short_sheets
from dumbbell.present.report.short.content import ShortContent
from dumbbell.present.report.short.page import ShortPage
from dumbbell.results import open_results, write_atomically
from dumbbell.results.analysis.findings import findings

_HTML, _PDF = "report.html", "report.pdf"
_FILE_S = {_HTML: 0.1, _PDF: 0.5}
_RUN_S = 0.05
"""Cost of a run in the long form once the figures are drawn; `_FILE_S` is the cost of a file as such."""


def write_report(
    results_dir: Path,
    html: bool | None = None,
    pdf: bool = True,
    *,
    all_runs: bool = False,
    run: str | None = None,
    jobs: int | None = None,
    generated_at: datetime | None = None,
    convention: str | None = None,
    progress: Progress | None = None,
) -> list[Path]:
    """Write `report.html` and `report.pdf` into the results directory; return the files written.

    `html` is True unless given. With `all_runs` the report is Pantheon's long form, with every run, as PDF only; `run`
    (`PATH/SCHEME/N`) writes the page of that run instead.
    Numbers are by `convention`, or as the experiment says; the long form is always Pantheon's. Figures of runs
    are drawn on `jobs` CPUs (all if None). The same results and the same `generated_at` (now if None) give the same
    bytes. One line on stderr counts the runs that are in no mean.

    Raises:
        UserError: `results_dir` is no results directory, `run` is none of its runs, or the options exclude each other.
    """
    if progress is None:
        with Progress() as own_progress:
            return write_report(
                results_dir,
                html,
                pdf,
                all_runs=all_runs,
                run=run,
                jobs=jobs,
                generated_at=generated_at,
                convention=convention,
                progress=own_progress,
            )
    _check(html, all_runs, run)
    html = not all_runs if html is None else html
    with interruptible():
        progress.doing("reading the results")
        results = open_results(results_dir, convention)
        model = model_of(results, generated_at)
        if run is not None:
            entry = model.run(run)
            return [_write_run(model, entry, jobs, progress)]
        progress.doing("drawing the figures of paths")
        makers = _long(model, jobs, progress) if all_runs else _short(_with_findings(model, results.experiment))
        forms = [form for form, is_wanted in ((_HTML, html), (_PDF, pdf)) if is_wanted]
        pieces = [Piece(f"writing {form}", _cost_s(form, model, all_runs), form) for form in forms]
        written_files = []
        for form in progress.expect("files", pieces).iterate(forms):
            file = results.root / form
            write_atomically(file, makers[form]())
            written_files.append(file.path)
    if sentence := bad_sentence(model):
        progress.line(sentence)
    return written_files


def _check(html: bool | None, all_runs: bool, run: str | None) -> None:
    if all_runs and run is not None:
        raise UserError(f"not with {argument('all_runs')}", argument="run")
    if all_runs and html:
        hint = "`dumbbell serve DIR` and `dumbbell site DIR` show every run"
        raise UserError(f"not with {argument('all_runs')}, which is a PDF: {hint}", argument="html")
    if run is not None and html is False:
        raise UserError(f"not with {argument('run')}: the page of a run is HTML only", argument="pdf")


def _cost_s(form: str, model: ReportModel, all_runs: bool) -> float:
    return _FILE_S[form] + _RUN_S * len(model.runs) * all_runs


Makers = dict[str, Callable[[], str | bytes]]
"""Functions that make the content of each file."""


def _with_findings(model: ReportModel, experiment: Experiment) -> ReportModel:
    return replace(model, findings=tuple(findings(experiment, (run.content for run in model.runs), model.groups)))


def _short(model: ReportModel) -> Makers:
    content = ShortContent(model)
    return {_HTML: ShortPage(content).render, _PDF: lambda: typeset(short_sheets.sources(content))}


def _long(model: ReportModel, jobs: int | None, progress: Progress) -> Makers:
    model = replace(model, convention=PANTHEON)
    figures = draw(model, jobs, progress)
    return {_PDF: lambda: typeset(sheets.sources(model, figures))}


def _write_run(model: ReportModel, run: RunEntry, jobs: int | None, progress: Progress) -> Path:
    figures = Figures(Overview(model), model.styles)
    draw_runs(figures, model, [run], jobs, progress)
    file = model.root / run_file(model, run)
    write_atomically(file, run_page(model, figures, run))
    return file.path


def run_file(model: ReportModel, run: RunEntry) -> str:
    """Return the name of the page of a run, distinct within the results."""
    labels: dict[tuple[str, str], str] = {}
    for entry in model.runs:
        key = (entry.path, entry.scheme)
        if key not in labels:
            label = fitted(f"{entry.path}-{foreign_name(entry.scheme)}", "run")
            labels[key] = unlike(label, labels.values())
    return f"report-{labels[run.path, run.scheme]}-{run.number}.html"
