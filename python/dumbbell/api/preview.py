"""Preview of the runs of experiments: the cells and their estimated time. No run is made."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from dumbbell.api.running import select
from dumbbell.base.progress import Progress, span
from dumbbell.base.request_fields import with_fields_of
from dumbbell.catalog.run_request import RunRequest
from dumbbell.execution.estimate import Cell, cells, seconds_of
from dumbbell.execution.perform import examine
from dumbbell.execution.trust import trusted
from dumbbell.experiment import Experiment


@dataclass(frozen=True)
class Preview:
    """The cells of one or several experiments, and their total time on `jobs` processes, s.

    The time is an estimate: the number of packets times the cost of a packet on this machine, which is measured.
    `drawing_s` is the part for figures and pages.
    """

    cells: tuple[Cell, ...]
    runs: int
    jobs: int
    seconds: float
    drawing_s: float = 0.0

    @property
    def in_words(self) -> str:
        """Number of runs, and their estimated time, as text."""
        drawing = f", {span(self.drawing_s)} of it for figures and pages" if self.drawing_s else ""
        return f"{self.runs} runs, {min(self.jobs, self.runs)} at once: about {span(self.seconds)}{drawing}"

    def as_json(self) -> dict[str, object]:
        """Return the preview as JSON values, as `--dry-run --json` prints them."""
        return asdict(self)


def preview_request(request: RunRequest) -> Preview:
    """Return the preview for a request, as `preview` does for its fields."""
    with Progress() as progress:
        progress.doing("reading the experiment")
        experiment_file, resolved_request, execution = select(request)
        experiment = trusted(experiment_file, resolved_request, execution.trust)
        return preview_of([experiment], examine([experiment], execution, progress))


@with_fields_of(RunRequest)
def preview(request: RunRequest) -> Preview:
    """Return a preview of `dumbbell.run` with these arguments, without making a run.

    Returns:
        The cells, the number of runs, and their estimated time.

    Raises:
        dumbbell.Error: If the experiment cannot be run.
        dumbbell.Untrusted: As for `run`, because the preview loads plug-ins.
    """
    return preview_request(request)


def preview_of(experiments: Sequence[Experiment], jobs: int, drawing_s: float = 0.0) -> Preview:
    """Return the preview of resolved experiments on `jobs` processes, with `drawing_s` for figures and pages, s."""
    all_cells = [cell for experiment in experiments for cell in cells(experiment)]
    costs = [cell.seconds for cell in all_cells for _ in range(cell.runs)]
    seconds = seconds_of(costs, jobs)
    every_s = experiments[0].every_s if len(experiments) == 1 else None
    if every_s is not None:
        round_s = seconds_of([cell.seconds for cell in all_cells], jobs)
        seconds = max(seconds, (experiments[0].runs - 1) * every_s + round_s)
    return Preview(tuple(all_cells), len(costs), jobs, seconds + drawing_s, drawing_s)
