"""Runs of which only the numbers are kept: simulated in batches by threads of the core, each batch durable at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from dumbbell.base.backend import backend_forms
from dumbbell.base.clock import now
from dumbbell.base.errors import UserError, argument, listed, one_line
from dumbbell.base.logs import logger
from dumbbell.base.progress import Piece, Progress, Stage
from dumbbell.catalog.experiment_settings import NUMBERS
from dumbbell.core.batches import BatchRun, Template, simulate_batch
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


def unfinished_runs(results: ResultsDirectory) -> list[Run]:
    """Return the runs that are to be made: those that are in no batch, and those that failed.

    Raises:
        UserError: a batch is damaged.
    """
    finished = set(results.numbers.finished())
    return [run for run in results.experiment.all_runs() if (run.path, run.scheme, run.run) not in finished]


def execute_batches(results: ResultsDirectory, runs: Sequence[Run], threads: int, progress: Progress) -> Outcome:
    """Simulate runs on so many threads. Ctrl-C stops at once; what is made by then stays.

    Raises:
        UserError: the tables cannot be written.
    """
    outcome, parts = Outcome(), _Parts(progress, len(runs))
    temporary = results.unfinished / "numbers"
    left, wanted, done = iter(runs), FIRST_RUNS, 0
    waiting: list[Run] = []
    began = progress.clock.monotonic()
    while not outcome.interrupted:
        waiting += islice(left, wanted - len(waiting))
        if not waiting:
            break
        batch = _Batch(results.experiment, waiting)
        started = progress.clock.monotonic()
        try:
            temporary.clear()
            temporary.make_folder()
            made = simulate_batch(
                batch.templates,
                batch.runs,
                temporary.path,
                now(),
                threads,
                BATCH_S,
                lambda count, before=done: parts.reach(before + count),  # type: ignore[misc]
            )
            if made.made:
                results.numbers.record(temporary)
                publish(temporary, results.numbers.unused())
        except OSError as error:
            raise UserError(f"cannot write results to {results.directory}: {one_line(error)}") from None
        seconds = progress.clock.monotonic() - started
        log.info("a batch is durable runs=%d failed=%d seconds=%.3f", len(made.made), len(made.failures), seconds)
        outcome.finished += len(made.made) - len(made.failures)
        outcome.failed += [(waiting[place], reason) for place, reason in made.failures.items()]
        outcome.logs += [None] * len(made.failures)
        done += len(made.made)
        parts.reach(done)
        taken = set(made.made)
        waiting = [run for place, run in enumerate(waiting) if place not in taken]
        wanted = min(MOST_RUNS, max(FIRST_RUNS, int(1.2 * len(made.made) * BATCH_S / max(seconds, 1e-3))))
        outcome.interrupted = made.interruption is not None
    log.info("%d runs are made seconds=%.3f", done, progress.clock.monotonic() - began)
    results.unfinished.clear(ignore_errors=True)
    return outcome


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
