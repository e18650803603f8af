"""Runs on a Dask cluster: the same tasks, executed by its workers, whose files come back and are published here.

The workers need this version of dumbbell; a shared file system is not needed.
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

T = TypeVar("T", bound="Numbered")
R = TypeVar("R")

log = logger(__name__)

QUEUED_PER_THREAD = 2
"""Tasks handed out per thread of the cluster, so that none waits for the next."""

CONNECT_WITHIN_S = 10.0

LOOK_S = 1.0
"""Time between two looks at whether there are workers, while nothing comes, s."""

NO_WORKER_S = 60.0
"""Longest time for which a scheduler may have no worker, s."""


@dataclass(frozen=True)
class Parcel:
    """What a worker sends back: statistics, how long it took, and the files of the run."""

    number: int
    statistics: RunStatistics
    seconds: float
    files: dict[str, bytes]


class Numbered(Protocol):
    """Work for a worker, with its number in progress."""

    @property
    def number(self) -> int:
        """The number."""


class Listener(Protocol):
    """What is told of work as it goes on: a stage of progress."""

    def begin(self, number: int, /) -> None:
        """Somebody works on it."""

    def say(self, number: int, text: str, /, stands_still: bool = False) -> None:
        """Something happens to it."""


def perform(task: Task, clock: Clock = SYSTEM_CLOCK) -> Parcel:
    """Executes one task in a directory of the worker's own."""
    from distributed import get_worker

    started = clock.monotonic()
    with Scratch("worker") as folder:
        final = folder / "final"
        maker, run = get_worker().address, folder / "run"
        statistics = execute(replace(task, out=folder, temporary=run, final=final, maker=maker))
        files = {file.name: file.read_bytes() for file in sorted(final.iterdir())} if final.is_dir() else {}
    return Parcel(task.number, statistics, clock.monotonic() - started, files)


def require_cluster(address: str) -> None:
    """Whether there can be a cluster at `address`.

    Raises:
        UserError: distributed is not installed, or nothing answers there.
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
    """Return what to do where the cluster ends a command."""
    return f"finished runs are kept, and {argument('resume', 'True')} makes the others"


class Cluster:
    """The workers of a Dask scheduler, in the place of the local processes."""

    def __init__(self, address: str, executor: Executor, clock: Clock = SYSTEM_CLOCK) -> None:
        """Connects.

        Raises:
            UserError: no Dask scheduler with workers of this version is at `address`.
        """
        from distributed import Client

        # that the scheduler is gone is said in one line, not by a traceback of whatever was being sent
        logging.getLogger("distributed.batched").setLevel(logging.WARNING)
        require_cluster(address)
        try:
            self.client = Client(address, timeout=CONNECT_WITHIN_S, set_as_default=False)
        except (OSError, ValueError, TimeoutError) as error:
            raise UserError(one_line(error), argument="cluster", value=address) from None
        self.executor = executor
        self._clock = clock
        self._workers_left: float | None = None
        """When the scheduler was first seen without a worker, if it is still."""
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
        """How many runs go on at once."""
        return self.threads

    @property
    def places(self) -> int:
        """How many pieces of work are handed out at once."""
        return QUEUED_PER_THREAD * self.threads

    def map(self, tasks: Iterator[Task], stage: Stage) -> Iterator[tuple[int, RunStatistics, float | None]]:
        """Executes the tasks; yields number, statistics and seconds of each in the order in which they finish.

        Raises:
            UserError: the cluster is gone, or has had no worker for long.
        """
        for task, made in self.each(perform, tasks, stage):
            if isinstance(made, Parcel):
                statistics, seconds = _received(task, made), made.seconds
            else:
                reason = f"the cluster lost the run: {one_line(made)}"
                told = f"was given to the cluster {self._address}, which says {type(made).__name__}"
                add_to_log(task, [task.label, line_of(__name__, "error", told, made)])
                statistics, seconds = keep(task, failed(task, reason)), None
            yield task.number, statistics, seconds

    def each(
        self, function: Callable[[T], R], work: Iterator[T], listener: Listener
    ) -> Iterator[tuple[T, R | Exception]]:
        """Yield what the workers make of each piece of work, or why they made nothing, in the order in which they end.

        Raises:
            UserError: the cluster is gone, or has had no worker for long.
        """
        from distributed import as_completed

        handed: dict[str, T] = {}
        running = as_completed([], loop=self.client.loop)
        while True:
            while len(handed) < self.places and (given := next(work, None)) is not None:
                listener.begin(given.number)
                with self._connected():
                    future = self.client.submit(function, given, pure=False, retries=1)
                    running.add(future)
                handed[future.key] = given
            if not handed:
                return
            with self._connected():
                future = self._next_of(running, handed, listener)
                made = self._made(future, handed, listener)
                future.release()
            yield handed.pop(future.key), made

    def _next_of(
        self,
        running: Any,  # noqa: ANN401 (untyped)
        handed: Mapping[str, Numbered],
        listener: Listener,
    ) -> Any:  # noqa: ANN401 (untyped)
        """Return the next future that has ended."""

        def is_ready(timeout_s: float | None) -> bool:
            with running.thread_condition:
                return bool(running.thread_condition.wait_for(running.has_ready, timeout_s))

        while not self._clock.wait(is_ready, LOOK_S):
            self._look_for_workers(handed, listener)
        return next(running)

    def _made(
        self,
        future: Any,  # noqa: ANN401 (untyped)
        handed: Mapping[str, Numbered],
        listener: Listener,
    ) -> Any:  # noqa: ANN401 (untyped)
        """Return what a worker sends, or the error that kept the worker from making it.

        Where a worker dies before it has sent that, another worker makes it anew.
        """
        sent = asyncio.run_coroutine_threadsafe(_sent(future), self.client.loop.asyncio_loop)

        def is_here(timeout_s: float | None) -> bool:
            return bool(concurrent.futures.wait([sent], timeout_s).done)

        while not self._clock.wait(is_here, LOOK_S):
            self._look_for_workers(handed, listener)
        return sent.result()

    def _look_for_workers(self, handed: Mapping[str, Numbered], listener: Listener) -> None:
        """Notes whether the scheduler has workers.

        Raises:
            UserError: it has had none for long.
        """
        now = self._clock.monotonic()
        if self.client.nthreads():
            if self._workers_left is not None:
                self._workers_left = None
                for each in handed.values():
                    listener.say(each.number, "the cluster has a worker again")
        elif self._workers_left is None:
            self._workers_left = now
            log.info("the cluster has no worker: address=%s", self._address)
            for each in handed.values():
                listener.say(each.number, "the cluster has no worker, one is waited for", stands_still=True)
        elif now - self._workers_left >= NO_WORKER_S:
            raise UserError(
                f"the cluster at {self._address} has had no worker for {NO_WORKER_S:g} s", fix=how_to_go_on()
            )

    @contextlib.contextmanager
    def _connected(self) -> Iterator[None]:
        """While the scheduler is asked for something.

        Raises:
            UserError: the cluster is gone.
        """
        from distributed.client import ClosedClientError

        try:
            yield
        except (concurrent.futures.CancelledError, ClosedClientError, OSError) as error:
            log.info("the cluster is gone: address=%s error=%s", self._address, one_line(error))
            raise UserError(f"the cluster at {self._address} is gone", fix=how_to_go_on()) from None

    def stop(self) -> None:
        """Lets go of the cluster; its workers stay."""
        with _unheard("distributed.client"), contextlib.suppress(TimeoutError):  # nobody answers
            self.client.close()


@contextlib.contextmanager
def _unheard(name: str) -> Iterator[None]:
    """While a client lets go that still tries to connect: it writes a traceback of that to stderr."""
    told = logging.getLogger(name)
    was_disabled, told.disabled = told.disabled, True
    try:
        yield
    finally:
        told.disabled = was_disabled


def _version() -> str:
    return __version__


async def _sent(future: Any) -> Any:  # noqa: ANN401 (untyped)
    """Return what a worker sends, or the error that the worker sends in its place.

    Raises:
        Exception: no worker has answered; the exception says why.
    """
    try:
        return await future
    except Exception as error:
        if future.status != "error":
            raise
        return error


def _received(task: Task, parcel: Parcel) -> RunStatistics:
    """The statistics of a run that a worker made, whose files are in their place now; or why they are not."""
    try:
        _store(task, parcel)
    except OSError as error:
        task.unfinished.clear(ignore_errors=True)
        return keep(task, failed(task, one_line(error)))
    return parcel.statistics


def write_files(folder: Entry, files: Mapping[str, bytes]) -> None:
    """Write what a worker sent into a new folder.

    Raises:
        OSError: that is not possible.
    """
    for name, content in files.items():
        with (folder / name).create() as file:
            file.write(content)


def _store(task: Task, parcel: Parcel) -> None:
    """Writes what a worker sent, which are the files of a run and nothing else, wherever it names them."""
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
