"""Runs of which only the numbers are kept: simulated in batches by threads of the core, each batch durable at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
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
from dumbbell.execution.pool import Outcome
from dumbbell.experiment.specification import starts_s
from dumbbell.results.files import publish

if TYPE_CHECKING:
    from dumbbell.experiment import Experiment, Run
    from dumbbell.results import ResultsDirectory

log = logger(__name__)

BATCH_S = 5.0
"""Time after which the runs that are made become durable, s: so much work is lost if the process is killed."""
FIRST_RUNS, MOST_RUNS = 1_000, 50_000
"""Runs that are prepared for the first batch, and for any batch."""
_MORE = 1.2
"""Runs that are prepared for a batch, of those that the last one made in its time."""
_PIECES = 1_000
"""Most parts of the work that progress is told of."""


def require_batches(experiment: Experiment, cluster: bool, database: bool) -> None:
    """Refuse an experiment whose runs cannot be made in batches.

    Raises:
        UserError: says why.
    """
    for problem in _obstacles(experiment, cluster, database):
        raise UserError(problem, argument="keep", value=NUMBERS)


def _obstacles(experiment: Experiment, cluster: bool, database: bool) -> Iterator[str]:
    if not experiment.capabilities.batches:
        able = listed(backend_forms(lambda can: can.batches))
        yield f"allowed with {argument('backend')} {able} only, not {experiment.backend}"
    for given, name in ((cluster, "cluster"), (database, "database")):
        if given:
            yield f"not with {argument(name)}: every number is in the tables below `numbers`"
    for setting in ("every_s", "disk_quota_bytes", "data_cap_bytes"):
        if getattr(experiment, setting) is not None:
            yield f"not with `{setting}`, which is of runs with files"
    for scheme in experiment.schemes.values():
        if scheme.is_outside:
            yield f"not with scheme `{scheme.name}`: {scheme.code} is a plug-in, which needs a process for itself"


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


def execute_batches(results: ResultsDirectory, runs: Sequence[Run], threads: int, progress: Progress) -> Outcome:
    """Simulate runs on so many threads. Ctrl-C stops at once; what is made by then stays.

    Raises:
        UserError: the tables cannot be written; earlier batches stay.
    """
    outcome, making = Outcome(), _Making(results, runs, threads, progress)
    try:
        while making.waiting and not outcome.interrupted:
            batch = _Batch(results.experiment, making.waiting)
            with Undisturbed() as whole:
                made = making.make(batch, whole)
            outcome.finished += len(made.made) - len(made.failures)
            outcome.failed += [(making.waiting[place], reason) for place, reason in made.failures.items()]
            outcome.logs += [None] * len(made.failures)
            outcome.interrupted = whole.was_interrupted
            making.go_on(made)
            if made.interruption is not None and not outcome.interrupted:
                raise made.interruption
    except KeyboardInterrupt:
        outcome.interrupted = True
    except OSError as error:
        raise _unwritable(results, error) from None
    finally:
        with Undisturbed() as cleaning:
            results.unfinished.clear(ignore_errors=True)
        outcome.interrupted |= cleaning.was_interrupted
    return outcome


def _unwritable(results: ResultsDirectory, error: OSError) -> UserError:
    remedy = f"{argument('resume', 'True')} continues them"
    return UserError(f"cannot write results to {results.directory}: {one_line(error)}", fix=remedy)


class _Making:
    """Runs on their way into batches."""

    def __init__(self, results: ResultsDirectory, runs: Sequence[Run], threads: int, progress: Progress) -> None:
        self._results, self._threads, self._clock = results, threads, progress.clock
        self._left, self._parts, self._done = iter(runs), _Parts(progress, len(runs)), 0
        self._took_s = 0.0
        self.waiting = list(islice(self._left, FIRST_RUNS))
        """Runs of the next batch; those that are not made in its time are of the one after it."""

    def make(self, batch: _Batch, whole: Undisturbed) -> BatchOutcome:
        """Simulate runs that wait until the time of a batch is up, or somebody interrupts, and make them durable.

        Raises:
            OSError: the tables cannot be written.
        """

        def told(count: int) -> None:
            self._parts.reach(self._done + count)
            if whole.was_interrupted:
                raise KeyboardInterrupt

        folder, began = self._results.unfinished / "numbers", self._clock.monotonic()
        folder.clear()
        folder.make_folder()
        try:
            made = simulate_batch(batch.templates, batch.runs, folder.path, now(), self._threads, BATCH_S, told)
        except core.Error as error:  # a full disk
            raise OSError(str(error)) from None
        if made.made:
            self._results.numbers.record(folder)
            publish(folder, self._results.numbers.unused())
        self._took_s = max(self._clock.monotonic() - began, 1e-3)
        log.info("a batch is durable runs=%d failed=%d seconds=%.3f", len(made.made), len(made.failures), self._took_s)
        return made

    def go_on(self, made: BatchOutcome) -> None:
        """Let those runs wait that were not made, and as many more as the next batch has time for."""
        self._done += len(made.made)
        self._parts.reach(self._done)
        taken = set(made.made)
        self.waiting = [run for place, run in enumerate(self.waiting) if place not in taken]
        wanted = int(_MORE * len(taken) * BATCH_S / self._took_s)
        wanted = max(FIRST_RUNS, min(wanted, MOST_RUNS))
        self.waiting += islice(self._left, max(0, wanted - len(self.waiting)))


class _Batch:
    """Runs for the core: what differs between them, and what they share."""

    def __init__(self, experiment: Experiment, runs: Sequence[Run]) -> None:
        self.templates: list[Template] = []
        self.runs: list[BatchRun] = []
        known: dict[tuple[str, str], tuple[int, list[float]] | None] = {}
        for run in runs:
            key = (run.path, run.scheme)
            if key not in known:
                known[key] = self._shared(experiment, *key)
            shared = known[key]
            if shared is None:
                self.templates.append(Template(*key, experiment.specification(run)))
                self.runs.append(BatchRun(len(self.templates) - 1, run.run, run.seed, []))
            else:
                place, planned_s = shared
                self.runs.append(BatchRun(place, run.run, run.seed, starts_s(experiment, run.seed, planned_s)))

    def _shared(self, experiment: Experiment, path: str, scheme: str) -> tuple[int, list[float]] | None:
        """Return the place of the template of runs and the planned starts of their flows; None if they share none."""
        template = experiment.template(path, scheme)
        if template is None:
            return None
        self.templates.append(Template(path, scheme, template))
        return len(self.templates) - 1, [flow["start_s"] for flow in template["flows"]]


class _Parts:
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
