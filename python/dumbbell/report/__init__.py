"""The report of a results directory: what Pantheon's showed, in its order, and what it lacked."""

from datetime import datetime
from pathlib import Path

from dumbbell.progress import Progress
from dumbbell.report.drawing import draw
from dumbbell.report.model import ReportModel, load
from dumbbell.report.page import ReportPage
from dumbbell.report.sheets import write_pdf
from dumbbell.results import write_atomically

__all__ = ["ReportModel", "load", "write_report"]


def write_report(
    results_dir: Path,
    html: bool = True,
    pdf: bool = True,
    *,
    jobs: int | None = None,
    generated_at: datetime | None = None,
) -> list[Path]:
    """Writes `report.html` and `report.pdf` into the results directory; returns the files written.

    Figures are drawn on `jobs` processors, all of them if it is None. The same results and the same `generated_at`
    (now, if it is None) give the same bytes.

    Raises:
        UserError: `results_dir` is no results directory.
    """
    model = load(results_dir, generated_at)
    progress = Progress(len(model.runs))
    figures = draw(model, jobs, lambda run: progress.step(f"figures of {run.scheme} on {run.path}", "done", None))
    progress.close()
    written = []
    if html:
        file = results_dir / "report.html"
        write_atomically(file, ReportPage(model, figures).render())
        written.append(file)
    if pdf:
        file = results_dir / "report.pdf"
        write_pdf(model, figures, file)
        written.append(file)
    return written
