"""Runs on a Dask cluster: its workers execute the tasks, and send back the files, which this process publishes.

The workers need this version of dumbbell, but no shared file system.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import errno
import logging
import re
import socket
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from dumbbell.backends import Executor
from dumbbell.base.clock import SYSTEM_CLOCK, Clock
from dumbbell.base.errors import UserError, argument, one_line
from dumbbell.base.logs import line_of, logger
from dumbbell.base.scratch import Scratch
from dumbbell.base.version import __version__
from dumbbell.execution.worker import Task, add_to_log, execute, failed, keep, require_places
from dumbbell.results import publish
from dumbbell.results.integrity import damage
from dumbbell.results.series.run_files import RUN_FILES

if TYPE_CHECKING:
    from dumbbell.base.entry import Entry
    from dumbbell.base.progress import Stage
    from dumbbell.contract.run import RunStatistics

T = TypeVar("T", bound="NumberedWork")
R = TypeVar("R")

log = logger(__name__)

QUEUED_PER_THREAD = 2
"""Number of tasks handed out for each thread of the cluster, so that no thread waits for the next task."""

CONNECT_WITHIN_S = 10.0

LOOK_S = 1.0
"""Interval of checks for workers while no result arrives, s."""

NO_WORKER_S = 60.0
"""Maximum time for which a scheduler may have no worker, s."""


@dataclass(frozen=True)
class Parcel:
    """Result of a worker: statistics, duration, and the files of the run."""

    number: int
    statistics: RunStatistics
    seconds: float
    files: dict[str, bytes]


class NumberedWork(Protocol):
    """Work for a worker, with its number in progress."""

    @property
    def number(self) -> int:
        """Number of the work."""


class Listener(Protocol):
    """Receiver of events of work: a stage of progress."""

    def begin(self, number: int, /) -> None:
        """Note that the work begins."""

    def say(self, number: int, text: str, /, stands_still: bool = False) -> None:
        """Show an event of the work."""


def perform(task: Task, clock: Clock = SYSTEM_CLOCK) -> Parcel:
    """Execute one task in a directory of the worker."""
    from distributed import get_worker

    started_s = clock.monotonic()
    with Scratch("worker") as folder:
        final = folder / "final"
        maker, run = get_worker().address, folder / "run"
        statistics = execute(replace(task, out=folder, temporary=run, final=final, maker=maker))
        files = {file.name: file.read_bytes() for file in sorted(final.iterdir())} if final.is_dir() else {}
    return Parcel(task.number, statistics, clock.monotonic() - started_s, files)


def require_cluster(address: str) -> None:
    """Raise an error unless a scheduler answers at `address`.

    Raises:
        UserError: If distributed is not installed, or if nothing answers.
    """
    try:
        import distributed  # noqa: F401 (only whether it is there)
    except ModuleNotFoundError:
        raise UserError(
            f"{argument('cluster')} needs the package `distributed`: pip install 'dumbbell[cluster]'"
        ) from None
    match = re.fullmatch(r"tcp://(\[[0-9a-fA-F:]+\]|[^:/]+):(\d{1,5})", address)
    if match is None or int(match[2]) > 65535:
        raise UserError(
            argument="cluster", value=address, allowed="the address of a Dask scheduler like tcp://10.0.0.1:8786"
        )
    try:
        socket.create_connection((match[1].strip("[]"), int(match[2])), CONNECT_WITHIN_S).close()
    except OSError as error:
        raise UserError(error.strerror or str(error), argument="cluster", value=address) from None


def how_to_go_on() -> str:
    """Return the advice for a command that lost its cluster."""
    return f"finished runs are kept, and {argument('resume', 'True')} makes the others"


class Cluster:
    """The workers of a Dask scheduler, used instead of local processes."""

    def __init__(self, address: str, executor: Executor, clock: Clock = SYSTEM_CLOCK) -> None:
        """Connect to the scheduler.

        Raises:
            UserError: If `address` has no Dask scheduler with workers of this version.
        """
        from distributed import Client

        # a lost scheduler gives one line, not a traceback of the interrupted message
        logging.getLogger("distributed.batched").setLevel(logging.WARNING)
        require_cluster(address)
        try:
            self.client = Client(address, timeout=CONNECT_WITHIN_S, set_as_default=False)
        except (OSError, ValueError, TimeoutError) as error:
            raise UserError(one_line(error), argument="cluster", value=address) from None
        self.executor = executor
        self._clock = clock
        self._workers_left: float | None = None
        """Time at which the scheduler was first seen without a worker; None if it has one."""
        self.threads: int = sum(self.client.nthreads().values())
        if not self.threads:
            self.stop()
            raise UserError("the scheduler has no workers", argument="cluster", value=address)
        self._address = address
        self._check_versions(address)
        log.info("cluster address=%s threads=%d", address, self.threads)

    def _check_versions(self, address: str) -> None:
        for worker, version in self.client.run(_version).items():
            if version != __version__:
                self.stop()
                problem = f"worker {worker} has dumbbell {version}, not {__version__}"
                raise UserError(problem, argument="cluster", value=address)

    @property
    def side_by_side(self) -> int:
        """Number of simultaneous runs."""
        return self.threads

    @property
    def places(self) -> int:
        """Number of pieces of work handed out at once."""
        return QUEUED_PER_THREAD * self.threads

    def map(self, tasks: Iterator[Task], stage: Stage) -> Iterator[tuple[int, RunStatistics, float | None]]:
        """Execute the tasks; yield number, statistics and seconds of each in the order in which they finish.

        Raises:
            UserError: If the cluster is gone, or has had no worker for long.
        """
        for task, result in self.perform_all(perform, tasks, stage):
            if isinstance(result, Parcel):
                statistics, seconds = _publish_parcel(task, result), result.seconds
            else:
                reason = f"the cluster lost the run: {one_line(result)}"
                lost_text = f"was given to the cluster {self._address}, which says {type(result).__name__}"
                add_to_log(task, [task.label, line_of(__name__, "error", lost_text, result)])
                statistics, seconds = keep(task, failed(task, reason)), None
            yield task.number, statistics, seconds

    def perform_all(
        self, function: Callable[[T], R], work: Iterator[T], listener: Listener
    ) -> Iterator[tuple[T, R | Exception]]:
        """Yield the workers' result of each piece of work, or its error, in the order in which they end.

        Raises:
            UserError: If the cluster is gone, or has had no worker for long.
        """
        from distributed import as_completed

        work_of: dict[str, T] = {}
        running = as_completed([], loop=self.client.loop)
        while True:
            while len(work_of) < self.places and (piece := next(work, None)) is not None:
                listener.begin(piece.number)
                with self._connected():
                    future = self.client.submit(function, piece, pure=False, retries=1)
                    running.add(future)
                work_of[future.key] = piece
            if not work_of:
                return
            with self._connected():
                future = self._next_of(running, work_of, listener)
                result = self._result_of(future, work_of, listener)
                future.release()
            yield work_of.pop(future.key), result

    def _next_of(
        self,
        running: Any,  # noqa: ANN401 (untyped)
        work_of: Mapping[str, NumberedWork],
        listener: Listener,
    ) -> Any:  # noqa: ANN401 (untyped)
        """Return the next finished future."""

        def is_ready(timeout_s: float | None) -> bool:
            with running.thread_condition:
                return bool(running.thread_condition.wait_for(running.has_ready, timeout_s))

        while not self._clock.wait(is_ready, LOOK_S):
            self._look_for_workers(work_of, listener)
        return next(running)

    def _result_of(
        self,
        future: Any,  # noqa: ANN401 (untyped)
        work_of: Mapping[str, NumberedWork],
        listener: Listener,
    ) -> Any:  # noqa: ANN401 (untyped)
        """Return the result of a worker, or the worker's error.

        If a worker dies before it sends the result, another worker makes it again.
        """
        result = asyncio.run_coroutine_threadsafe(_result_or_error(future), self.client.loop.asyncio_loop)

        def is_here(timeout_s: float | None) -> bool:
            return bool(concurrent.futures.wait([result], timeout_s).done)

        while not self._clock.wait(is_here, LOOK_S):
            self._look_for_workers(work_of, listener)
        return result.result()

    def _look_for_workers(self, work_of: Mapping[str, NumberedWork], listener: Listener) -> None:
        """Record whether the scheduler has workers.

        Raises:
            UserError: If it has had no worker for long.
        """
        now = self._clock.monotonic()
        if self.client.nthreads():
            if self._workers_left is not None:
                self._workers_left = None
                for piece in work_of.values():
                    listener.say(piece.number, "the cluster has a worker again")
        elif self._workers_left is None:
            self._workers_left = now
            log.info("the cluster has no worker: address=%s", self._address)
            for piece in work_of.values():
                listener.say(piece.number, "the cluster has no worker, one is waited for", stands_still=True)
        elif now - self._workers_left >= NO_WORKER_S:
            raise UserError(
                f"the cluster at {self._address} has had no worker for {NO_WORKER_S:g} s", fix=how_to_go_on()
            )

    @contextlib.contextmanager
    def _connected(self) -> Iterator[None]:
        """Convert errors of a lost scheduler during the context.

        Raises:
            UserError: If the cluster is gone.
        """
        from distributed.client import ClosedClientError

        try:
            yield
        except (concurrent.futures.CancelledError, ClosedClientError, OSError) as error:
            log.info("the cluster is gone: address=%s error=%s", self._address, one_line(error))
            raise UserError(f"the cluster at {self._address} is gone", fix=how_to_go_on()) from None

    def stop(self) -> None:
        """Disconnect from the cluster; its workers stay."""
        with _silenced("distributed.client"), contextlib.suppress(TimeoutError):  # nobody answers
            self.client.close()


@contextlib.contextmanager
def _silenced(name: str) -> Iterator[None]:
    """Silence a logger: a closing client that still tries to connect would write a traceback to stderr."""
    named_logger = logging.getLogger(name)
    was_disabled, named_logger.disabled = named_logger.disabled, True
    try:
        yield
    finally:
        named_logger.disabled = was_disabled


def _version() -> str:
    return __version__


async def _result_or_error(future: Any) -> Any:  # noqa: ANN401 (untyped)
    """Return the result of a worker, or the error that the worker sent.

    Raises:
        Exception: If no worker has answered; the exception has the reason.
    """
    try:
        return await future
    except Exception as error:
        if future.status != "error":
            raise
        return error


def _publish_parcel(task: Task, parcel: Parcel) -> RunStatistics:
    """Put the files of a worker's run in their place; return the statistics of the run, or of its failure."""
    try:
        _store(task, parcel)
    except OSError as error:
        task.unfinished.clear(ignore_errors=True)
        return keep(task, failed(task, one_line(error)))
    return parcel.statistics


def write_files(folder: Entry, files: Mapping[str, bytes]) -> None:
    """Write the files from a worker into a new folder.

    Raises:
        OSError: If the files cannot be written.
    """
    for name, content in files.items():
        with (folder / name).create() as file:
            file.write(content)


def _store(task: Task, parcel: Parcel) -> None:
    """Write the files of a run that a worker sent. Other files are refused, whatever names the worker uses."""
    require_places(task)
    foreign = [name for name in parcel.files if name not in RUN_FILES]
    if foreign:
        raise OSError(errno.EINVAL, "a worker sent what is no file of a run", foreign[0])
    if not parcel.files:
        return
    task.unfinished.clear(ignore_errors=True)
    task.unfinished.make_folder()
    write_files(task.unfinished, parcel.files)
    fault = damage(task.unfinished, parcel.statistics, "none")
    if fault is not None:
        raise OSError(errno.EBADMSG, "what a worker sent has changed on its way", fault)
    publish(task.unfinished, task.place)
