"""Runs of which only the numbers are kept: simulated in batches by threads of the core, each batch durable at once."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from dumbbell import core
from dumbbell.base.backend import backend_forms
from dumbbell.base.clock import now
from dumbbell.base.errors import UserError, argument, listed, one_line, printable
from dumbbell.base.interrupts import Undisturbed
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
"""Time after which the runs that are made become durable, s: so much work is lost if the process is killed."""
FIRST_RUNS, MOST_RUNS = 1_000, 50_000
"""Runs that are prepared for the first batch, and at most for any."""
_LEAST_S = 0.5
"""Time that a batch takes at least where others could take a part of it, s: a folder for each run costs more."""
_MORE = 1.2
"""Runs that are prepared for a batch, of those that the last one made in its time."""
_PIECES = 1_000
"""Most parts of the work that progress is told of."""


def require_batches(experiment: Experiment, database: bool) -> None:
    """Refuse an experiment whose runs cannot be made in batches.

    Raises:
        UserError: says why.
    """
    for problem in _obstacles(experiment, database):
        raise UserError(problem, argument="keep", value=NUMBERS)


def in_batches(experiment: Experiment) -> Experiment:
    """Return the experiment so that only the numbers of its runs are kept; as it is if that is not possible."""
    numbered = replace(experiment, keep=NUMBERS)
    return experiment if any(_obstacles(numbered, database=False)) else numbered


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
    """Return the runs that are to be made: those that are in no batch, and those that failed.

    A damaged batch is removed, and said: its runs are made again.

    Raises:
        UserError: a batch cannot be read or removed.
    """
    for number, fault in results.numbers.faults().items():
        progress.line(printable(f"damaged, made again: {fault}"))
        try:
            results.numbers.remove(number)
        except OSError as error:
            raise _unwritable(results, error) from None
    finished = set(results.numbers.finished())
    return [run for run in results.experiment.all_runs() if (run.path, run.scheme, run.run) not in finished]


def execute_batches(work: Sequence[Work], make: Callable[[Making], None], progress: Progress) -> Outcome:
    """Simulate runs of experiments by `make`, batch after batch. Ctrl-C stops at once; what is made by then stays.

    Raises:
        UserError: the tables cannot be written, or `make` says why it stops; earlier batches stay.
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
        with Undisturbed() as cleaning:
            for part in work:
                part.results.unfinished.clear(ignore_errors=True)
        outcome.interrupted |= cleaning.was_interrupted
    return outcome


def make_here(making: Making, threads: int) -> None:
    """Simulate runs on so many threads of this process, one batch after the other.

    Raises:
        OSError: the tables cannot be written.
        KeyboardInterrupt: by Ctrl-C.
    """
    clock = making.clock
    for batch in making:
        with Undisturbed() as whole:
            began, folders = clock.monotonic(), making.new_folders(batch)

            def told(count: int, whole: Undisturbed = whole) -> None:
                making.parts.reach(making.done + count)
                if whole.was_interrupted:
                    raise KeyboardInterrupt

            try:
                places = [folder.path for folder in folders]
                made = simulate_batch(batch.templates, batch.runs, places, now(), threads, BATCH_S, told)
            except core.Error as error:  # a full disk
                raise OSError(str(error)) from None
            making.keep(batch, made, folders, clock.monotonic() - began)
        if whole.was_interrupted:
            raise KeyboardInterrupt
        if made.interruption is not None:
            raise made.interruption


def _unwritable(results: ResultsDirectory, error: OSError) -> UserError:
    remedy = f"{argument('resume', 'True')} continues them"
    return UserError(f"cannot write results to {results.directory}: {one_line(error)}", fix=remedy)


class Making(Iterator["Batch"]):
    """Runs on their way into batches: the next batch, as long as runs wait, and what is made of it."""

    def __init__(self, work: Sequence[Work], progress: Progress) -> None:
        self.clock, self.outcome, self.writes = progress.clock, Outcome(), work[0].results
        self._waiting = deque((part.results, run) for part in work for run in part.runs)
        self.parts, self.done = Parts(progress, len(self._waiting)), 0
        self.places = 1
        """Batches that are made at once."""
        self._rate = 0.0

    def __next__(self) -> Batch:
        """Return a batch of runs that wait, which then do no more.

        It has as many runs as its time is enough for, but leaves others to the other places.
        """
        if not self._waiting:
            raise StopIteration
        enough = int(_MORE * self._rate * BATCH_S)
        share = max(-(-len(self._waiting) // self.places), int(self._rate * _LEAST_S))
        wanted = min(max(FIRST_RUNS, min(enough, MOST_RUNS)), share, len(self._waiting))
        return Batch([self._waiting.popleft() for _ in range(wanted)])

    def new_folders(self, batch: Batch) -> list[Entry]:
        """Return an empty folder for the tables of each experiment of a batch."""
        folders = [results.unfinished / TABLES for results in batch.results]
        for folder in folders:
            folder.clear()
            folder.make_folder()
        return folders

    def keep(self, batch: Batch, made: BatchOutcome, folders: Sequence[Entry], seconds: float) -> None:
        """Make the tables of a batch durable, which were made in so many seconds. Runs that were not made wait again.

        Raises:
            OSError: they cannot be written.
        """
        for place in sorted({batch.folder_of(run) for run in made.made}):
            self.writes = batch.results[place]
            self.writes.numbers.record(folders[place])
            publish(folders[place], self.writes.numbers.unused())
        self.outcome.finished += len(made.made) - len(made.failures)
        self.outcome.failed += [(batch.planned[place][1], reason) for place, reason in made.failures.items()]
        self.outcome.logs += [None] * len(made.failures)
        taken = set(made.made)
        left = [run for place, run in enumerate(batch.planned) if place not in taken]
        self._waiting.extendleft(reversed(left))
        self._rate = len(taken) / max(seconds, 1e-3)
        self.done += len(taken)
        self.parts.reach(self.done)
        log.info("a batch is durable runs=%d failed=%d seconds=%.3f", len(taken), len(made.failures), seconds)


class Batch:
    """Runs for the core: what differs between them, and what they share."""

    number = 0
    """Batches have no numbers for progress: its pieces are many runs."""

    def __getstate__(self) -> dict[str, object]:
        """Return what another process needs to make the runs."""
        return {"templates": self.templates, "runs": self.runs, "folders": self.folders}

    def __init__(self, planned: Sequence[tuple[ResultsDirectory, Run]]) -> None:
        self.planned = planned
        self.results = list({results.directory: results for results, _ in planned}.values())
        """The results directories of the runs. Each has a folder for its tables, in this order."""
        self.folders = len(self.results)
        self.templates: list[Template] = []
        self.runs: list[BatchRun] = []
        places = {results.directory: place for place, results in enumerate(self.results)}
        known: dict[tuple[int, str, str], tuple[int, list[float]] | None] = {}
        for results, run in planned:
            key = (places[results.directory], run.path, run.scheme)
            if key not in known:
                known[key] = self._shared(results.experiment, *key)
            shared = known[key]
            if shared is None:
                self.templates.append(Template(*key, results.experiment.specification(run)))
                self.runs.append(BatchRun(len(self.templates) - 1, run.run, run.seed, []))
            else:
                place, planned_s = shared
                starting_s = starts_s(results.experiment, run.seed, planned_s)
                self.runs.append(BatchRun(place, run.run, run.seed, starting_s))

    def folder_of(self, run: int) -> int:
        """Return the place of the folder of a run, by the place of the run."""
        return self.templates[self.runs[run].template].folder

    def _shared(self, experiment: Experiment, folder: int, path: str, scheme: str) -> tuple[int, list[float]] | None:
        """Return the place of the template of runs and the planned starts of their flows; None if they share none."""
        template = experiment.template(path, scheme)
        if template is None:
            return None
        self.templates.append(Template(folder, path, scheme, template))
        return len(self.templates) - 1, [flow["start_s"] for flow in template["flows"]]


class Parts:
    """Progress of many runs: a part is many of them."""

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
        """Do nothing: a piece begins when the one before it ends."""

    def say(self, _number: int, text: str, stands_still: bool = False) -> None:
        """Say what happens to the runs that are made."""
        self._stage.say(self._ended, text, stands_still)

    def reach(self, runs: int) -> None:
        """So many runs are made."""
        ended = len(self._stage.pieces) if runs >= self._runs else runs // self._size
        if ended <= self._ended:
            return
        since, self._since = self._since, self._clock.monotonic()
        for number in range(self._ended, ended):
            self._stage.step(number, seconds=(self._since - since) / (ended - self._ended))
            if number + 1 < len(self._stage.pieces):
                self._stage.begin(number + 1)
        self._ended = ended
