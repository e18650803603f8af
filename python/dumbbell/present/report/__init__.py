"""The report of a results directory: what Pantheon's showed, in its order, and what it lacked."""

from datetime import datetime
from pathlib import Path

from dumbbell.base.interrupts import interruptible
from dumbbell.base.progress import Piece, Progress
from dumbbell.present.report.content import ReportModel, load
from dumbbell.present.report.drawing import draw
from dumbbell.present.report.page import ReportPage
from dumbbell.present.report.sheets import write_pdf
from dumbbell.results import write_atomically

__all__ = ["ReportModel", "load", "write_report"]

_FILE_S = {"report.html": 0.1, "report.pdf": 0.5}
_FILE_RUN_S = {"report.html": 0.01, "report.pdf": 0.05}
"""What the files cost once the figures are drawn: as such, and for each run."""


def write_report(
    results_dir: Path,
    html: bool = True,
    pdf: bool = True,
    *,
    jobs: int | None = None,
    generated_at: datetime | None = None,
    convention: str | None = None,
    progress: Progress | None = None,
) -> list[Path]:
    """Writes `report.html` and `report.pdf` into the results directory; returns the files written.

    Its numbers are by `convention`, or as the experiment says. Figures are drawn on `jobs` processors, all of
    them if it is None. The same results and the same `generated_at` (now, if it is None) give the same bytes.

    Raises:
        UserError: `results_dir` is no results directory.
    """
    if progress is None:
        with Progress() as own:
            return write_report(
                results_dir, html, pdf, jobs=jobs, generated_at=generated_at, convention=convention, progress=own
            )
    written = []
    with interruptible():
        progress.doing("reading the results")
        model = load(results_dir, generated_at, convention)
        forms = [form for form, wanted in (("report.html", html), ("report.pdf", pdf)) if wanted]
        files = progress.expect("files", [_piece(form, len(model.runs)) for form in forms])
        progress.doing("drawing the figures of paths")
        figures = draw(model, jobs, progress)
        for number, form in enumerate(forms):
            file = results_dir / form
            files.begin(number)
            if form == "report.html":
                write_atomically(file, ReportPage(model, figures).render())
            else:
                write_pdf(model, figures, file)
            files.step(number)
            written.append(file)
    return written


def _piece(form: str, runs: int) -> Piece:
    return Piece(f"writing {form}", _FILE_S[form] + _FILE_RUN_S[form] * runs, form)
