"""What a run of experiments would do: the cells, and how long they would take. Nothing is made."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from dumbbell.api.running import selected
from dumbbell.base.progress import Progress, span
from dumbbell.base.request_fields import with_fields_of
from dumbbell.catalog.run_request import RunRequest
from dumbbell.execution.estimate import Cell, cells, seconds_of
from dumbbell.execution.perform import examine
from dumbbell.execution.trust import trusted
from dumbbell.experiment import Experiment


@dataclass(frozen=True)
class Preview:
    """The cells of one or several experiments, and the time that all takes, s, on `jobs` processes.

    It is estimated: what the paths carry times what a packet costs on this machine, which is measured first.
    `drawing_s` is the part of it that figures and pages take.
    """

    cells: tuple[Cell, ...]
    runs: int
    jobs: int
    seconds: float
    drawing_s: float = 0.0

    @property
    def in_words(self) -> str:
        """How many runs, and how long."""
        drawing = f", {span(self.drawing_s)} of it for figures and pages" if self.drawing_s else ""
        return f"{self.runs} runs, {min(self.jobs, self.runs)} at once: about {span(self.seconds)}{drawing}"

    def as_json(self) -> dict[str, object]:
        """As `--dry-run --json` prints it."""
        return asdict(self)


def preview_request(request: RunRequest) -> Preview:
    """Tell what a request would do as `preview` does, whose arguments are its fields."""
    with Progress() as progress:
        progress.doing("reading the experiment")
        experiment_file, resolved, how = selected(request)
        experiment = trusted(experiment_file, resolved, how.trust)
        return preview_of([experiment], examine([experiment], how, progress))


@with_fields_of(RunRequest)
def preview(request: RunRequest) -> Preview:
    """Tell what `dumbbell.run` would do with the same arguments; it makes nothing.

    Returns:
        The cells, the number of runs, and the time that they would take.

    Raises:
        dumbbell.Error: something that cannot be run, in one line.
        dumbbell.Untrusted: as of `run`: to see what would be done, plug-ins are loaded.
    """
    return preview_request(request)


def preview_of(experiments: Sequence[Experiment], jobs: int, drawing_s: float = 0.0) -> Preview:
    """Return the preview of resolved experiments on `jobs` processes, with `drawing_s` for figures and pages, s."""
    found = [cell for experiment in experiments for cell in cells(experiment)]
    costs = [cell.seconds for cell in found for _ in range(cell.runs)]
    seconds = seconds_of(costs, jobs)
    every_s = experiments[0].every_s if len(experiments) == 1 else None
    if every_s is not None:
        round_s = seconds_of([cell.seconds for cell in found], jobs)
        seconds = max(seconds, (experiments[0].runs - 1) * every_s + round_s)
    return Preview(tuple(found), len(costs), jobs, seconds + drawing_s, drawing_s)
