"""The server: on this machine only, until Ctrl-C."""

from __future__ import annotations

import asyncio
import secrets
import signal
import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import uvicorn

from dumbbell.base.errors import UserError, one_line
from dumbbell.base.interrupts import interruptible
from dumbbell.base.progress import Progress
from dumbbell.present.serve.application import Explorer, application, require_pages
from dumbbell.present.serve.connections import QUEUE, Bounds, Gate, bounded
from dumbbell.present.serve.runs_table import Place
from dumbbell.present.serve.security import Guard

if TYPE_CHECKING:
    from dumbbell.results.benchmark_results import Benchmark

LOCAL = "127.0.0.1"


class _Server(uvicorn.Server):
    """One that tells its application that it ends, before it waits for the requests that are under way."""

    def __init__(self, config: uvicorn.Config, explorer: Explorer, gate: Gate) -> None:
        super().__init__(config)
        self.explorer = explorer
        self.gate = gate

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """SIGHUP ends it as SIGINT and SIGTERM do; it comes again afterwards, as these do."""
        with super().capture_signals():
            is_ours = threading.current_thread() is threading.main_thread()
            before = signal.getsignal(signal.SIGHUP)
            if is_ours and before is not signal.SIG_IGN:
                signal.signal(signal.SIGHUP, self.handle_exit)
            try:
                yield
            finally:
                if is_ours:
                    signal.signal(signal.SIGHUP, before)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin."""
        asyncio.get_running_loop().set_exception_handler(self.gate.take_error)
        await super().startup(sockets)
        for each in sockets or ():
            each.listen(QUEUE)  # uvicorn has one number for this queue and for what is taken up at once

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End."""
        self.explorer.ending.set()
        await super().shutdown(sockets)


class Server:
    """Serves results directories to the browser of this user, from a free port unless one is given."""

    def __init__(
        self,
        places: Sequence[Place],
        port: int = 0,
        shown: Path | None = None,
        bounds: Bounds | None = None,
        benchmark: Benchmark | None = None,
    ) -> None:
        """Take the port. What goes on in the folder `shown` is shown too. `bounds` are those of connections.

        `places` are the experiments of `benchmark`, if that is given.

        Raises:
            UserError: the pages were not built, or the port is taken.
        """
        require_pages()
        self._socket = socket.socket()
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            self._socket.bind((LOCAL, port))
        except OSError as error:
            self._socket.close()
            raise UserError(f"port {port}: {one_line(error)}: choose another --port") from None
        self.port: int = self._socket.getsockname()[1]
        self.token = secrets.token_urlsafe(24)
        self.explorer = Explorer(places, shown, benchmark=benchmark)
        self._thread: threading.Thread | None = None
        guarded = Guard(application(self.explorer), self.port, self.token)
        gate = Gate(bounds or Bounds.here())
        self._server = _Server(
            uvicorn.Config(
                guarded,
                http=bounded(gate),
                loop="asyncio",
                backlog=gate.bounds.at_once,
                log_level="error",
                access_log=False,
                lifespan="off",
                ws="none",
                timeout_graceful_shutdown=1,
            ),
            self.explorer,
            gate,
        )

    @property
    def address(self) -> str:
        """What to open in the browser: it has the token."""
        return f"http://{LOCAL}:{self.port}/?token={self.token}"

    def prepare(self) -> None:
        """Read the table of runs and its first columns, so that the first page does not wait for them."""
        with Progress() as progress:
            progress.doing("reading the results")
            table = self.explorer.table()
            for field in table.fields:
                if field.get("main"):
                    progress.doing(f"reading {field['name']} of {table.rows} runs")
                    table.column(str(field["name"]))

    def serve(self, ready: Callable[[], None] = lambda: None) -> None:
        """Answer until SIGINT, SIGTERM or SIGHUP comes; raise `KeyboardInterrupt` then."""
        with interruptible(), closing(self._socket), closing(self.explorer):
            self._socket.listen(QUEUE)
            ready()
            self._server.run(sockets=[self._socket])

    def start(self) -> None:
        """Answer in a thread until `stop`."""
        self._socket.listen(QUEUE)
        self._thread = threading.Thread(target=self._server.run, kwargs={"sockets": [self._socket]}, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End what `start` began."""
        self._server.should_exit = True
        if self._thread is not None:
            self._thread.join(timeout=3.0)
        self._socket.close()
        self.explorer.close()
