"""Runs that keep only their numbers: threads of the core simulate them in batches. Each batch is durable at once."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from dumbbell import core
from dumbbell.base.backend import backend_forms
from dumbbell.base.clock import now
from dumbbell.base.errors import UserError, argument, listed, one_line, printable
from dumbbell.base.interrupts import Uninterrupted
from dumbbell.base.logs import logger
from dumbbell.base.progress import Piece, Progress, Stage
from dumbbell.catalog.experiment_settings import NUMBERS
from dumbbell.core.batches import BatchOutcome, BatchRun, Template, simulate_batch
from dumbbell.execution.pool import Outcome, Work
from dumbbell.experiment.specification import starts_s
from dumbbell.results.files import publish
from dumbbell.results.number_store import NUMBERS as TABLES

if TYPE_CHECKING:
    from dumbbell.base.entry import Entry
    from dumbbell.experiment import Experiment, Run
    from dumbbell.results import ResultsDirectory

log = logger(__name__)

BATCH_S = 5.0
"""Target duration of a batch, s. If the process is killed, the work of one batch is lost."""
FIRST_RUNS, MOST_RUNS = 1_000, 50_000
"""Number of runs in the first batch, and maximum number of runs in any batch."""
_LEAST_S = 0.5
"""Minimum duration of a batch if other places could take a part of it, s. Each folder of a run has a cost."""
_MORE = 1.2
"""Ratio of prepared runs to the runs that the last batch made in its time."""
_PIECES = 1_000
"""Maximum number of pieces in the progress display."""


def require_batches(experiment: Experiment, database: bool) -> None:
    """Raise an error if the runs of an experiment cannot be made in batches.

    Raises:
        UserError: If batches are impossible; the message has the reason.
    """
    for problem in _obstacles(experiment, database):
        raise UserError(problem, argument="keep", value=NUMBERS)


def in_batches(experiment: Experiment) -> Experiment:
    """Return the experiment with only the numbers of its runs kept, if possible; else unchanged."""
    numbers_only = replace(experiment, keep=NUMBERS)
    return experiment if any(_obstacles(numbers_only, database=False)) else numbers_only


def _obstacles(experiment: Experiment, database: bool) -> Iterator[str]:
    if not experiment.capabilities.batches:
        able = listed(backend_forms(lambda can: can.batches))
        yield f"allowed with {argument('backend')} {able} only, not {experiment.backend}"
    if database:
        yield f"not with {argument('database')}: every number is in the tables below `numbers`"
    for setting in ("every_s", "disk_quota_bytes", "data_cap_bytes"):
        if getattr(experiment, setting) is not None:
            yield f"not with `{setting}`, which is of runs with files"


def unfinished_runs(results: ResultsDirectory, progress: Progress) -> list[Run]:
    """Return the runs to make: those in no batch, and failed ones.

    A damaged batch is reported and removed: its runs are made again.

    Raises:
        UserError: If a batch cannot be read or removed.
    """
    for number, fault in results.numbers.faults().items():
        progress.line(printable(f"damaged, made again: {fault}"))
        try:
            results.numbers.remove(number)
        except OSError as error:
            raise _unwritable(results, error) from None
    finished_runs = set(results.numbers.finished())
    return [run for run in results.experiment.all_runs() if (run.path, run.scheme, run.run) not in finished_runs]


def execute_batches(work: Sequence[Work], make: Callable[[Making], None], progress: Progress) -> Outcome:
    """Simulate runs of experiments by `make`, batch after batch. Ctrl-C stops at once; finished batches stay.

    Raises:
        UserError: If the tables cannot be written, or if `make` raises it. Earlier batches stay.
    """
    making = Making(work, progress)
    outcome = making.outcome
    try:
        make(making)
    except KeyboardInterrupt:
        outcome.interrupted = True
    except OSError as error:
        raise _unwritable(making.writes, error) from None
    finally:
        with Uninterrupted() as cleaning:
            for part in work:
                part.results.unfinished.clear(ignore_errors=True)
        outcome.interrupted |= cleaning.was_interrupted
    return outcome


def make_here(making: Making, threads: int) -> None:
    """Simulate runs on `threads` threads of this process, one batch after the other.

    Raises:
        OSError: If the tables cannot be written.
        KeyboardInterrupt: On Ctrl-C.
    """
    clock = making.clock
    for batch in making:
        with Uninterrupted() as shield:
            began, folders = clock.monotonic(), making.new_folders(batch)

            def report(count: int, shield: Uninterrupted = shield) -> None:
                making.parts.reach(making.done + count)
                if shield.was_interrupted:
                    raise KeyboardInterrupt

            try:
                places = [folder.path for folder in folders]
                batch_outcome = simulate_batch(batch.templates, batch.runs, places, now(), threads, BATCH_S, report)
            except core.Error as error:  # a full disk
                raise OSError(str(error)) from None
            making.keep(batch, batch_outcome, folders, clock.monotonic() - began)
        if shield.was_interrupted:
            raise KeyboardInterrupt
        if batch_outcome.interruption is not None:
            raise batch_outcome.interruption


def _unwritable(results: ResultsDirectory, error: OSError) -> UserError:
    remedy = f"{argument('resume', 'True')} continues them"
    return UserError(f"cannot write results to {results.directory}: {one_line(error)}", fix=remedy)


class Making(Iterator["Batch"]):
    """Runs that are being made in batches: an iterator over the next batches, which also records their outcome."""

    def __init__(self, work: Sequence[Work], progress: Progress) -> None:
        self.clock, self.outcome, self.writes = progress.clock, Outcome(), work[0].results
        self._waiting = deque((part.results, run) for part in work for run in part.runs)
        self.parts, self.done = Parts(progress, len(self._waiting)), 0
        self.places = 1
        """Number of simultaneous batches."""
        self._rate = 0.0

    def __next__(self) -> Batch:
        """Remove a batch of runs from the waiting ones, and return it.

        The batch has the number of runs that fits its time, but at most a fair share for this place.
        """
        if not self._waiting:
            raise StopIteration
        enough = int(_MORE * self._rate * BATCH_S)
        share = max(-(-len(self._waiting) // self.places), int(self._rate * _LEAST_S))
        size = min(max(FIRST_RUNS, min(enough, MOST_RUNS)), share, len(self._waiting))
        return Batch([self._waiting.popleft() for _ in range(size)])

    def new_folders(self, batch: Batch) -> list[Entry]:
        """Return an empty folder for the tables of each experiment of a batch."""
        folders = [results.unfinished / TABLES for results in batch.results]
        for folder in folders:
            folder.clear()
            folder.make_folder()
        return folders

    def keep(self, batch: Batch, batch_outcome: BatchOutcome, folders: Sequence[Entry], seconds: float) -> None:
        """Make the tables of a batch durable. Runs that were not made wait again.

        Raises:
            OSError: If the tables cannot be written.
        """
        for place in sorted({batch.folder_of(run) for run in batch_outcome.finished_runs}):
            self.writes = batch.results[place]
            self.writes.numbers.record(folders[place])
            publish(folders[place], self.writes.numbers.unused())
        self.outcome.finished += len(batch_outcome.finished_runs) - len(batch_outcome.failures)
        self.outcome.failed += [(batch.planned[place][1], reason) for place, reason in batch_outcome.failures.items()]
        self.outcome.logs += [None] * len(batch_outcome.failures)
        made_places = set(batch_outcome.finished_runs)
        left = [run for place, run in enumerate(batch.planned) if place not in made_places]
        self._waiting.extendleft(reversed(left))
        self._rate = len(made_places) / max(seconds, 1e-3)
        self.done += len(made_places)
        self.parts.reach(self.done)
        log.info(
            "a batch is durable runs=%d failed=%d seconds=%.3f", len(made_places), len(batch_outcome.failures), seconds
        )


class Batch:
    """Runs for the core: their differences and their common templates."""

    number = 0
    """Batches have no numbers in the progress display, whose pieces are many runs."""

    def __getstate__(self) -> dict[str, object]:
        """Return the state that another process needs to make the runs."""
        return {"templates": self.templates, "runs": self.runs, "folders": self.folders}

    def __init__(self, runs_with_results: Sequence[tuple[ResultsDirectory, Run]]) -> None:
        self.planned = runs_with_results
        self.results = list({results.directory: results for results, _ in runs_with_results}.values())
        """Results directories of the runs. Each has a folder for its tables, in this order."""
        self.folders = len(self.results)
        self.templates: list[Template] = []
        self.runs: list[BatchRun] = []
        places = {results.directory: place for place, results in enumerate(self.results)}
        shared_templates: dict[tuple[int, str, str], tuple[int, list[float]] | None] = {}
        for results, run in runs_with_results:
            key = (places[results.directory], run.path, run.scheme)
            if key not in shared_templates:
                shared_templates[key] = self._shared(results.experiment, *key)
            shared_template = shared_templates[key]
            if shared_template is None:
                self.templates.append(Template(*key, results.experiment.specification(run)))
                self.runs.append(BatchRun(len(self.templates) - 1, run.run, run.seed, []))
            else:
                place, planned_s = shared_template
                starting_s = starts_s(results.experiment, run.seed, planned_s)
                self.runs.append(BatchRun(place, run.run, run.seed, starting_s))

    def folder_of(self, run: int) -> int:
        """Return the index of the folder of a run, from the index of the run."""
        return self.templates[self.runs[run].template].folder

    def _shared(self, experiment: Experiment, folder: int, path: str, scheme: str) -> tuple[int, list[float]] | None:
        """Return the index of the runs' template and the planned starts of their flows; None without one."""
        template = experiment.template(path, scheme)
        if template is None:
            return None
        self.templates.append(Template(folder, path, scheme, template))
        return len(self.templates) - 1, [flow["start_s"] for flow in template["flows"]]


class Parts:
    """Progress of many runs, of which a part is many runs."""

    def __init__(self, progress: Progress, runs: int) -> None:
        self._size = -(-runs // _PIECES) or 1
        noun = "runs" if self._size == 1 else f"parts of {self._size} runs"
        pieces = [Piece(f"from run {first + 1} on", self._size / 1e3) for first in range(0, runs, self._size)]
        self._stage: Stage = progress.expect(noun, pieces)
        self._clock, self._since = progress.clock, progress.clock.monotonic()
        self._ended, self._runs = 0, runs
        if pieces:
            self._stage.begin(0)

    def begin(self, _number: int) -> None:
        """Do nothing: a piece begins when the one before ends."""

    def say(self, _number: int, text: str, stands_still: bool = False) -> None:
        """Show an event of the runs."""
        self._stage.say(self._ended, text, stands_still)

    def reach(self, runs: int) -> None:
        """Show that `runs` runs are made."""
        ended_parts = len(self._stage.pieces) if runs >= self._runs else runs // self._size
        if ended_parts <= self._ended:
            return
        since, self._since = self._since, self._clock.monotonic()
        for number in range(self._ended, ended_parts):
            self._stage.step(number, seconds=(self._since - since) / (ended_parts - self._ended))
            if number + 1 < len(self._stage.pieces):
                self._stage.begin(number + 1)
        self._ended = ended_parts
