"""Application of the server: the pages, the table of runs, and requests about single runs."""

from __future__ import annotations

import json
import mimetypes
import re
import threading
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from starlette.applications import Starlette
from starlette.background import BackgroundTask
from starlette.concurrency import run_in_threadpool
from starlette.responses import FileResponse, JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from dumbbell import core
from dumbbell.base.clock import SYSTEM_CLOCK, Clock
from dumbbell.base.conventions import CONVENTIONS
from dumbbell.base.errors import UserError, one_line
from dumbbell.present.serve.benchmark import BenchmarkDocument
from dumbbell.present.serve.differences import difference_rows
from dumbbell.present.serve.live import ResultsWatch
from dumbbell.present.serve.one_run import OneRun, State
from dumbbell.present.serve.runs_table import Place, RunsTable

if TYPE_CHECKING:
    from starlette.requests import Request

    from dumbbell.results.benchmark_results import Benchmark

PAGES = Path(__file__).parent / "pages"
"""Directory with the output of the build of `web/`."""
BYTES = "application/octet-stream"
_LOOK_EVERY_S, _ASKS_EVERY_S = 0.25, 1.0
"""Seconds between two checks for shutdown, and between two checks for a connected listener."""
_RUN_NUMBER = re.compile(r"[0-9]{1,18}")
_MOST_OPEN = 8
"""Maximum number of runs whose series are in memory."""
_MOST_COLUMNS, _MOST_PACKETS = 8192, 200_000


def require_pages() -> Path:
    """Return the folder of the pages.

    Raises:
        UserError: The pages were not built.
    """
    if not (PAGES / "index.html").is_file():
        raise UserError(f"{PAGES}: the pages are not built here: `make web` builds them with Node; wheels have them")
    return PAGES


class Explorer:
    """Results directories of the explorer, and the data read from them."""

    def __init__(
        self,
        places: Sequence[Place],
        shown: Path | None = None,
        clock: Clock = SYSTEM_CLOCK,
        benchmark: Benchmark | None = None,
    ) -> None:
        """Show `places`, the experiments of `benchmark`, and the runs in progress in the folder `shown`."""
        self.clock = clock
        self.benchmark = benchmark
        self._document: tuple[RunsTable, dict[str, object]] | None = None
        self.shown = shown
        self.places = {place.identity: place for place in places}
        self._table: RunsTable | None = None
        self._runs: OrderedDict[tuple[str, str, str, int], tuple[OneRun, State]] = OrderedDict()
        self._lock = threading.Lock()
        self.ending = threading.Event()
        """Event that the server is about to end: listeners are disconnected."""

    def table(self) -> RunsTable:
        """Return the table of runs in its current state."""
        with self._lock:
            if self._table is None or not self._table.current:
                if self._table is not None:
                    self._table.close()
                self._table = RunsTable(list(self.places.values()), "server", self.benchmark is not None)
            return self._table

    def document(self) -> dict[str, object]:
        """Return the judgements of the benchmark.

        Raises:
            UserError: The results are no benchmark.
        """
        if self.benchmark is None:
            raise UserError("no benchmark")
        table = self.page_table()
        with self._lock:
            if self._document is None or self._document[0] is not table:
                self._document = table, BenchmarkDocument(self.benchmark).content()
            return self._document[1]

    def page_table(self) -> RunsTable:
        """Return the table that the page has seen, for its columns."""
        return self._table or self.table()

    def run(self, directory: str, path: str, scheme: str, number: str) -> OneRun:
        """Return a run.

        Raises:
            UserError: The run does not exist.
        """
        if not _RUN_NUMBER.fullmatch(number):
            raise UserError("no such run")
        key = (directory, path, scheme, int(number))
        table = self.page_table()
        with self._lock:
            run, state = self._runs.get(key, (None, None))
            if run is None or run.state() != state:
                run = OneRun(*table.run(*key))
                self._runs[key] = run, run.state()
            self._runs.move_to_end(key)
            while len(self._runs) > _MOST_OPEN:
                self._runs.popitem(last=False)
            return run

    def close(self) -> None:
        """Close the indexes."""
        if self._table is not None:
            self._table.close()


class _BadRequest(ValueError):
    """Error of an invalid request."""


def _number(request: Request, name: str, minimum: int, maximum: int) -> int:
    text = request.query_params.get(name, "")
    try:
        value = int(text)
    except ValueError:
        raise _BadRequest(f"{name}: allowed is an integer from {minimum} to {maximum}") from None
    if not minimum <= value <= maximum:
        raise _BadRequest(f"{name}: allowed is an integer from {minimum} to {maximum}")
    return value


_MOST_NS = 2**53


def application(explorer: Explorer) -> Starlette:
    """Return the application. It writes nothing except the indexes of packet logs."""

    def of_run(answer: Callable[[OneRun, Request], Response]) -> Callable[[Request], Response]:
        def respond(request: Request) -> Response:
            parts = request.path_params
            return answer(explorer.run(parts["directory"], parts["path"], parts["scheme"], parts["number"]), request)

        return respond

    def window(run: OneRun, request: Request) -> Response:
        first, last = _number(request, "from", 0, _MOST_NS), _number(request, "to", 0, _MOST_NS)
        columns = _number(request, "columns", 1, _MOST_COLUMNS)
        names = [name.rpartition("/") for name in request.query_params.getlist("series")]
        series = [[owner, name] if owner else name for owner, _, name in names] or run.series_names
        return Response(run.view.window(first, max(first, last), columns, series), media_type=BYTES)

    def packets(run: OneRun, request: Request) -> Response:
        first, last = _number(request, "from", 0, _MOST_NS), _number(request, "to", 0, _MOST_NS)
        flow, max_packets = _number(request, "flow", 0, 2**31), _number(request, "most", 1, _MOST_PACKETS)
        return Response(run.view.packets(first, max(first, last), flow, max_packets), media_type=BYTES)

    def life(run: OneRun, request: Request) -> Response:
        flow, seq = _number(request, "flow", 1, 2**31), _number(request, "seq", 0, _MOST_NS)
        return Response(run.view.life(flow, seq), media_type="application/json")

    def qlog(run: OneRun, request: Request) -> Response:
        flow = _number(request, "flow", 1, 2**31)
        name = f"{run.run.path}_{run.run.scheme}_{run.run.run}_flow{flow}.sqlog"
        return Response(run.qlog(flow), media_type=BYTES, headers=_as_file(name))

    def file(run: OneRun, request: Request) -> Response:
        name = request.path_params["name"]
        stream = run.file(name)  # opened here, since a second look-up by name might find a link
        place, end = f"/proc/self/fd/{stream.fileno()}", BackgroundTask(stream.close)
        return FileResponse(place, media_type=BYTES, headers=_as_file(name), background=end)

    def column(request: Request) -> Response:
        return Response(explorer.page_table().column(request.path_params["name"]), media_type=BYTES)

    def moved_rows(request: Request) -> Response:
        base, second = (explorer.places.get(request.query_params.get(key, "")) for key in ("base", "other"))
        if base is None or second is None:
            raise _BadRequest(f"base, other: allowed are {', '.join(explorer.places)}")
        metrics = request.query_params.getlist("metric") or CONVENTIONS["corrected"].keys
        return JSONResponse(difference_rows(base.results, second.results, metrics))

    def asset(request: Request) -> Response:
        name = request.path_params.get("name") or "index.html"
        page = {entry.name: entry for entry in require_pages().iterdir()}.get(name)
        if page is None:
            return PlainTextResponse("no such page", 404)
        return FileResponse(page, media_type=mimetypes.guess_type(name)[0] or BYTES)

    async def live(request: Request) -> Response:
        return StreamingResponse(_events(request, explorer), media_type="text/event-stream")

    run = "/data/run/{directory}/{path}/{scheme}/{number}"
    routes: list[tuple[str, Callable[..., Any]]] = [
        ("/data/runs.json", lambda _: JSONResponse(explorer.table().facts())),
        ("/data/benchmark.json", lambda _: JSONResponse(explorer.document())),
        ("/data/findings.json", lambda _: JSONResponse(explorer.page_table().findings)),
        ("/data/records.json", lambda _: JSONResponse(explorer.page_table().records())),
        ("/data/columns/{name}.bin", column),
        ("/data/moved.json", moved_rows),
        ("/data/live", live),
        (f"{run}/facts.json", of_run(lambda one_run, _: JSONResponse(one_run.facts()))),
        (f"{run}/reading.json", of_run(lambda one_run, _: Response(one_run.reading(), media_type="application/json"))),
        (f"{run}/window.bin", of_run(window)),
        (f"{run}/packets.bin", of_run(packets)),
        (f"{run}/life.json", of_run(life)),
        (f"{run}/qlog", of_run(qlog)),
        (f"{run}/files/{{name}}", of_run(file)),
        ("/", asset),
        ("/{name}", asset),
    ]
    return Starlette(
        routes=[Route(path, endpoint) for path, endpoint in routes],
        exception_handlers={
            _BadRequest: lambda _, error: PlainTextResponse(str(error), 400),
            UserError: lambda _, error: PlainTextResponse(one_line(error), 404),
            core.Error: lambda _, error: PlainTextResponse(one_line(error), 422),
            OSError: lambda _, error: PlainTextResponse(one_line(error), 422),
        },
    )


def _as_file(name: str) -> dict[str, str]:
    """Return headers that make the browser save a file and never open it."""
    return {"Content-Disposition": f"attachment; filename*=UTF-8''{quote(name, safe='')}"}


async def _events(request: Request, explorer: Explorer) -> AsyncIterator[str]:
    """Yield the events of the directories while the page listens."""
    watch = ResultsWatch(list(explorer.places.values()), explorer.shown)
    clock = explorer.clock
    due, asks, is_last = 0.0, 0.0, False
    while not is_last:
        is_last, now = explorer.ending.is_set(), clock.monotonic()
        if now >= asks:
            if await request.is_disconnected():
                return
            asks = now + _ASKS_EVERY_S
        if is_last or now >= due:
            for event, content in await run_in_threadpool(lambda: list(watch.look())):
                yield f"event: {event}\ndata: {json.dumps(content)}\n\n"
            due = clock.monotonic() + watch.pause_s
        await clock.sleep_async(min(max(due - clock.monotonic(), 0.0), _LOOK_EVERY_S))
    yield "event: ended\ndata: {}\n\n"
