"""Server on this machine only, until Ctrl-C."""

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

from dumbbell.base.errors import UserError, argument, one_line
from dumbbell.base.interrupts import interruptible
from dumbbell.base.progress import Progress
from dumbbell.present.serve.application import Explorer, application, require_pages
from dumbbell.present.serve.connections import QUEUE, Bounds, Gate, connection_class
from dumbbell.present.serve.runs_table import Place
from dumbbell.present.serve.security import Guard

if TYPE_CHECKING:
    from dumbbell.results.benchmark_results import Benchmark

LOCAL = "127.0.0.1"


class _Server(uvicorn.Server):
    """Server that tells its application about shutdown before it waits for requests in progress."""

    def __init__(self, config: uvicorn.Config, explorer: Explorer, gate: Gate) -> None:
        super().__init__(config)
        self.explorer = explorer
        self.gate = gate

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Handle SIGHUP like SIGINT and SIGTERM: it ends the server, and is raised again afterwards."""
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
        """Start the server."""
        asyncio.get_running_loop().set_exception_handler(self.gate.take_error)
        await super().startup(sockets)
        for sock in sockets or ():
            sock.listen(QUEUE)  # uvicorn has one number for this queue and for newly accepted connections

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End the server."""
        self.explorer.ending.set()
        await super().shutdown(sockets)


class Server:
    """Server of results directories for the browser of this user, on a free port unless `port` is given."""

    def __init__(
        self,
        places: Sequence[Place],
        port: int = 0,
        shown: Path | None = None,
        bounds: Bounds | None = None,
        benchmark: Benchmark | None = None,
    ) -> None:
        """Take the port. Runs in progress in the folder `shown` are shown too. `bounds` limit the connections.

        `places` are the experiments of `benchmark`, if that is given.

        Raises:
            UserError: The pages were not built, or the port is taken.
        """
        require_pages()
        self._socket = socket.socket()
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            self._socket.bind((LOCAL, port))
        except OSError as error:
            self._socket.close()
            raise UserError(f"port {port}: {one_line(error)}", fix=f"choose another {argument('port')}") from None
        self.port: int = self._socket.getsockname()[1]
        self.token = secrets.token_urlsafe(24)
        self.explorer = Explorer(places, shown, benchmark=benchmark)
        self._thread: threading.Thread | None = None
        guard = Guard(application(self.explorer), self.port, self.token)
        gate = Gate(bounds or Bounds.here())
        self._server = _Server(
            uvicorn.Config(
                guard,
                http=connection_class(gate),
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
        """Address to open in the browser, with the token."""
        return f"http://{LOCAL}:{self.port}/?token={self.token}"

    def prepare(self) -> None:
        """Read the table of runs and its first columns, to spare the first page the wait."""
        with Progress() as progress:
            progress.doing("reading the results")
            table = self.explorer.table()
            for field in table.fields:
                if field.get("main"):
                    progress.doing(f"reading {field['name']} of {table.rows} runs")
                    table.column(str(field["name"]))

    def serve(self, ready: Callable[[], None] = lambda: None) -> None:
        """Answer until SIGINT, SIGTERM or SIGHUP; then raise `KeyboardInterrupt`."""
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
        """End the thread of `start`."""
        self._server.should_exit = True
        if self._thread is not None:
            self._thread.join(timeout=3.0)
        self._socket.close()
        self.explorer.close()
