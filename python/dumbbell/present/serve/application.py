"""What the server answers: the pages, the table of runs, and what is asked of single runs."""

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
from dumbbell.present.serve.live import Watched
from dumbbell.present.serve.moved import moved
from dumbbell.present.serve.one_run import OneRun, State
from dumbbell.present.serve.runs_table import Place, RunsTable

if TYPE_CHECKING:
    from starlette.requests import Request

    from dumbbell.results.benchmark_results import Benchmark

PAGES = Path(__file__).parent / "pages"
"""What the build of `web/` made."""
BYTES = "application/octet-stream"
_LOOK_EVERY_S, _ASKS_EVERY_S = 0.25, 1.0
"""How soon whoever listens is let go when it ends, and how often it is asked whether somebody does."""
_RUN_NUMBER = re.compile(r"[0-9]{1,18}")
_MOST_OPEN = 8
"""Runs whose series are kept in memory."""
_MOST_COLUMNS, _MOST_PACKETS = 8192, 200_000


def require_pages() -> Path:
    """Return the folder of the pages.

    Raises:
        UserError: they were not built.
    """
    if not (PAGES / "index.html").is_file():
        raise UserError(f"{PAGES}: the pages are not built here: `make web` builds them with Node; wheels have them")
    return PAGES


class Explorer:
    """The results directories that are shown, and what was read of them."""

    def __init__(
        self,
        places: Sequence[Place],
        shown: Path | None = None,
        clock: Clock = SYSTEM_CLOCK,
        benchmark: Benchmark | None = None,
    ) -> None:
        """Show these, which are the experiments of `benchmark`; and what goes on in the folder `shown`."""
        self.clock = clock
        self.benchmark = benchmark
        self._document: tuple[RunsTable, dict[str, object]] | None = None
        self.shown = shown
        self.places = {place.identity: place for place in places}
        self._table: RunsTable | None = None
        self._runs: OrderedDict[tuple[str, str, str, int], tuple[OneRun, State]] = OrderedDict()
        self._lock = threading.Lock()
        self.ending = threading.Event()
        """Set when the server is about to end: whoever listens is let go."""

    def table(self) -> RunsTable:
        """Return the table of runs as the directories are now."""
        with self._lock:
            if self._table is None or not self._table.current:
                if self._table is not None:
                    self._table.close()
                self._table = RunsTable(list(self.places.values()), "server", self.benchmark is not None)
            return self._table

    def document(self) -> dict[str, object]:
        """Return the judgements of the benchmark.

        Raises:
            UserError: these results are no benchmark.
        """
        if self.benchmark is None:
            raise UserError("no benchmark")
        table = self.kept_table()
        with self._lock:
            if self._document is None or self._document[0] is not table:
                self._document = table, BenchmarkDocument(self.benchmark).content()
            return self._document[1]

    def kept_table(self) -> RunsTable:
        """Return the table that the page has seen, for its columns."""
        return self._table or self.table()

    def run(self, directory: str, path: str, scheme: str, number: str) -> OneRun:
        """Return a run.

        Raises:
            UserError: there is none.
        """
        if not _RUN_NUMBER.fullmatch(number):
            raise UserError("no such run")
        key = (directory, path, scheme, int(number))
        table = self.kept_table()
        with self._lock:
            found, state = self._runs.get(key, (None, None))
            if found is None or found.state() != state:
                found = OneRun(*table.run(*key))
                self._runs[key] = found, found.state()
            self._runs.move_to_end(key)
            while len(self._runs) > _MOST_OPEN:
                self._runs.popitem(last=False)
            return found

    def close(self) -> None:
        """Close the indexes."""
        if self._table is not None:
            self._table.close()


class _BadRequest(ValueError):
    """A request asks for something that is not allowed."""


def _number(request: Request, name: str, least: int, most: int) -> int:
    text = request.query_params.get(name, "")
    try:
        value = int(text)
    except ValueError:
        raise _BadRequest(f"{name}: allowed is an integer from {least} to {most}") from None
    if not least <= value <= most:
        raise _BadRequest(f"{name}: allowed is an integer from {least} to {most}")
    return value


_MOST_NS = 2**53


def application(explorer: Explorer) -> Starlette:
    """Return the application. It writes nothing but the indexes of packet logs."""

    def of_run(answer: Callable[[OneRun, Request], Response]) -> Callable[[Request], Response]:
        def respond(request: Request) -> Response:
            parts = request.path_params
            return answer(explorer.run(parts["directory"], parts["path"], parts["scheme"], parts["number"]), request)

        return respond

    def window(run: OneRun, request: Request) -> Response:
        first, last = _number(request, "from", 0, _MOST_NS), _number(request, "to", 0, _MOST_NS)
        columns = _number(request, "columns", 1, _MOST_COLUMNS)
        names = [name.rpartition("/") for name in request.query_params.getlist("series")]
        wanted = [[owner, name] if owner else name for owner, _, name in names] or run.series_names
        return Response(run.view.window(first, max(first, last), columns, wanted), media_type=BYTES)

    def packets(run: OneRun, request: Request) -> Response:
        first, last = _number(request, "from", 0, _MOST_NS), _number(request, "to", 0, _MOST_NS)
        flow, most = _number(request, "flow", 0, 2**31), _number(request, "most", 1, _MOST_PACKETS)
        return Response(run.view.packets(first, max(first, last), flow, most), media_type=BYTES)

    def life(run: OneRun, request: Request) -> Response:
        flow, seq = _number(request, "flow", 1, 2**31), _number(request, "seq", 0, _MOST_NS)
        return Response(run.view.life(flow, seq), media_type="application/json")

    def qlog(run: OneRun, request: Request) -> Response:
        flow = _number(request, "flow", 1, 2**31)
        name = f"{run.run.path}_{run.run.scheme}_{run.run.run}_flow{flow}.sqlog"
        return Response(run.qlog(flow), media_type=BYTES, headers=_as_file(name))

    def file(run: OneRun, request: Request) -> Response:
        name = request.path_params["name"]
        opened = run.file(name)  # by its name it would be looked up again, and might be a link by then
        place, end = f"/proc/self/fd/{opened.fileno()}", BackgroundTask(opened.close)
        return FileResponse(place, media_type=BYTES, headers=_as_file(name), background=end)

    def column(request: Request) -> Response:
        return Response(explorer.kept_table().column(request.path_params["name"]), media_type=BYTES)

    def moved_rows(request: Request) -> Response:
        base, other = (explorer.places.get(request.query_params.get(key, "")) for key in ("base", "other"))
        if base is None or other is None:
            raise _BadRequest(f"base, other: allowed are {', '.join(explorer.places)}")
        wanted = request.query_params.getlist("metric") or CONVENTIONS["corrected"].keys
        return JSONResponse(moved(base.results, other.results, wanted))

    def asset(request: Request) -> Response:
        name = request.path_params.get("name") or "index.html"
        found = {entry.name: entry for entry in require_pages().iterdir()}.get(name)
        if found is None:
            return PlainTextResponse("no such page", 404)
        return FileResponse(found, media_type=mimetypes.guess_type(name)[0] or BYTES)

    async def live(request: Request) -> Response:
        return StreamingResponse(_events(request, explorer), media_type="text/event-stream")

    run = "/data/run/{directory}/{path}/{scheme}/{number}"
    routes: list[tuple[str, Callable[..., Any]]] = [
        ("/data/runs.json", lambda _: JSONResponse(explorer.table().facts())),
        ("/data/benchmark.json", lambda _: JSONResponse(explorer.document())),
        ("/data/findings.json", lambda _: JSONResponse(explorer.kept_table().findings)),
        ("/data/records.json", lambda _: JSONResponse(explorer.kept_table().records())),
        ("/data/columns/{name}.bin", column),
        ("/data/moved.json", moved_rows),
        ("/data/live", live),
        (f"{run}/facts.json", of_run(lambda one, _: JSONResponse(one.facts()))),
        (f"{run}/reading.json", of_run(lambda one, _: Response(one.reading(), media_type="application/json"))),
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
    """Return the headers of what the browser saves and never opens."""
    return {"Content-Disposition": f"attachment; filename*=UTF-8''{quote(name, safe='')}"}


async def _events(request: Request, explorer: Explorer) -> AsyncIterator[str]:
    """Yield what happens in the directories for as long as the page listens."""
    watched = Watched(list(explorer.places.values()), explorer.shown)
    clock = explorer.clock
    due, asks, is_last = 0.0, 0.0, False
    while not is_last:
        is_last, now = explorer.ending.is_set(), clock.monotonic()
        if now >= asks:
            if await request.is_disconnected():
                return
            asks = now + _ASKS_EVERY_S
        if is_last or now >= due:
            for event, content in await run_in_threadpool(lambda: list(watched.look())):
                yield f"event: {event}\ndata: {json.dumps(content)}\n\n"
            due = clock.monotonic() + watched.pause_s
        await clock.sleep_async(min(max(due - clock.monotonic(), 0.0), _LOOK_EVERY_S))
    yield "event: ended\ndata: {}\n\n"
