"""Tests of connections without a request: they are closed, and other clients get answers meanwhile."""

import asyncio
import errno
import logging
import resource
import signal
import socket
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from urllib.parse import urlsplit

import pytest

from dumbbell.present.serve.connections import Bounds, Gate
from dumbbell.present.serve.runs_table import Place
from dumbbell.present.serve.server import Server
from dumbbell.results.directory import open_results
from support.clock import ManualClock
from support.shelf import Shelf
from support.waiting import TIMEOUT_S, wait_for
from web.test_serve import Client

HOUR_S = 3600.0
DESCRIPTORS = 160
SILENT = 400
"""More than the process that serves could have open."""


@contextmanager
def serving(shelf: Shelf, bounds: Bounds) -> Iterator[Server]:
    """Start a server of results within bounds."""
    server = Server([Place("d1", "mixes", open_results(shelf.mixes))], bounds=bounds)
    server.start()
    try:
        yield server
    finally:
        server.stop()


def connect(address: str, says: bytes = b"") -> socket.socket:
    """Return a connection that has sent some bytes."""
    parts = urlsplit(address)
    assert parts.hostname is not None
    assert parts.port is not None
    connection = socket.create_connection((parts.hostname, parts.port), TIMEOUT_S)
    connection.sendall(says)
    return connection


def until_closed(connection: socket.socket) -> bytes:
    """Return the bytes that arrive until the other end closes."""
    content = b""
    with suppress(ConnectionResetError):
        while part := connection.recv(65536):
            content += part
    return content


def test_a_connection_that_sends_no_whole_request_is_closed(shelf: Shelf) -> None:
    with serving(shelf, Bounds(8, 8, head_s=0.05)) as server:
        for half in (b"", b"GET / HTTP/1.1\r\nHost: "):
            with connect(server.address, half) as silent:
                assert until_closed(silent) == b""
        client = Client(server.address)
        request = f"GET /data/runs.json HTTP/1.1\r\nHost: {client.host}\r\nCookie: {client.cookie}\r\n\r\n".encode()
        with connect(server.address, request + b"GET / HT") as again:
            assert until_closed(again).startswith(b"HTTP/1.1 200 ")
        wait_for(lambda: not server._server.gate.open)


def test_silent_connections_make_room_for_the_next(shelf: Shelf) -> None:
    with serving(shelf, Bounds(4, 4, head_s=HOUR_S)) as server, ExitStack() as open_ones:
        silent = [open_ones.enter_context(connect(server.address, b"GET /")) for _ in range(40)]
        assert Client(server.address).ask("/data/runs.json")[0] == 200
        assert until_closed(silent[0]) == b""
        assert len(server._server.gate.open) <= 4


def test_who_may_not_ask_gets_one_answer_for_each_connection(shelf: Shelf) -> None:
    # Without this limit a client could hold a connection for ever by successive requests without reading the answers.
    with serving(shelf, Bounds(4, 4, head_s=HOUR_S)) as server:
        client = Client(server.address)
        request = f"GET /data/runs.json HTTP/1.1\r\nHost: {client.host}\r\n\r\n".encode()
        with connect(server.address, request * 100) as asking:
            assert until_closed(asking).count(b"HTTP/1.1 403 ") == 1


@contextmanager
def few_descriptors() -> Iterator[None]:
    """Limit the descriptors of processes that start in the block."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (DESCRIPTORS, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


def test_bounds_follow_from_the_descriptors_of_the_process() -> None:
    with few_descriptors():
        assert Bounds.here() == Bounds(20, 10)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_more_silent_connections_than_descriptors_stop_nobody_and_a_signal_ends_it_in_one_line(
    shelf: Shelf, start: Callable[..., subprocess.Popen[str]], number: signal.Signals
) -> None:
    # 160 such connections stopped the server for everybody, and wrote 103 MB of tracebacks.
    with few_descriptors():
        process = start("serve", shelf.mixes)
    assert process.stdout is not None
    address = process.stdout.readline().strip()
    with ExitStack() as open_ones:
        for _ in range(SILENT):
            open_ones.enter_context(connect(address))
        assert Client(address).ask("/data/runs.json")[0] == 200
        process.send_signal(number)
        _, errors = process.communicate(timeout=TIMEOUT_S)
    lines = [line for line in errors.splitlines() if "reading the results" not in line]
    assert process.returncode == 1
    assert lines[0] == "only this machine can open it; Ctrl-C ends it"
    assert [line.partition("present.serve.connections: ")[2].rpartition(":")[0] for line in lines[1:-1]] == [
        "closed connections (more than 20 at once)"
    ]
    assert lines[-1] == "dumbbell: interrupted"


def test_silent_connections_are_a_line_each_minute(clock: ManualClock, caplog: pytest.LogCaptureFixture) -> None:
    gate = Gate(Bounds(4, 4), clock)
    full = OSError(errno.EMFILE, "Too many open files")
    with asyncio.Runner() as runner, caplog.at_level(logging.WARNING, "dumbbell"):
        loop = runner.get_loop()
        for _ in range(1000):
            gate.take_error(loop, {"message": "socket.accept() out of system resource", "exception": full})
        clock.turn(60.0)
        gate.take_error(loop, {"message": "socket.accept() out of system resource", "exception": full})
    message = "connections that cannot be taken up (Too many open files)"
    assert [record.getMessage() for record in caplog.records] == [f"{message}: 1", f"{message}: 1000"]
    assert not any(record.exc_info for record in caplog.records)
