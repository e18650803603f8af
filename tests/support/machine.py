"""Fixtures for resources of the machine: real packets, the emulation lock, and files that not every machine has."""

import os
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from threading import Event

import pytest

from dumbbell.machine.emulation import checks

_LOOK_S = 0.1
"""Time between two checks of the emulation lock, s."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give tests of real packets the fixture `_turn`.

    Their processes run side by side, mostly waiting: the longest first.
    """
    for item in items:
        if item.get_closest_marker("real"):
            item.fixturenames.insert(0, "_turn")  # type: ignore[attr-defined]  # a mark would come too late
    items.sort(key=lambda item: not (item.get_closest_marker("real") and "browser" in item.fixturenames))  # type: ignore[attr-defined]


@pytest.fixture(scope="session")
def _turn() -> Iterator[None]:
    """Take the machine's emulation lock, which the processes of pytest share: they do not wait for each other."""
    if "PYTEST_XDIST_WORKER" not in os.environ:
        yield
        return
    with _machine(), pytest.MonkeyPatch.context() as patch:
        patch.setenv("DUMBBELL_TURN", f"pytest-{os.getpid()}")
        yield


@contextmanager
def _machine() -> Iterator[None]:
    """Hold the emulation lock of the machine, or see that another process of pytest holds it."""
    with ExitStack() as stack:
        while True:
            queue = stack.enter_context(socket.socket(socket.AF_UNIX))
            try:
                queue.bind("\0dumbbell-turn")
            except OSError:
                if "@dumbbell-turn-tests/" in Path("/proc/net/unix").read_text():
                    break
                Event().wait(_LOOK_S)
                continue
            queue.listen()
            for note in (f"-tests/{os.getpid()}", f"/held/{os.getpid()}/{int(time.time())}"):
                stack.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)).bind(f"\0dumbbell-turn{note}")
            break
        yield


def need_real_packets() -> None:
    """Skip the test if real packets are not possible here, with the first reason."""
    for check in checks():
        if not check["good"]:
            pytest.skip(f"no real packets here: {check['name']}: {check['found']}")


@pytest.fixture(scope="session")
def real_packets() -> None:
    """Skip the tests of a file if real packets are not possible here."""
    need_real_packets()


def pantheon_logs() -> Path:
    """Return the folder of a Pantheon run's logs; skip the test if `PANTHEON_LOGS` does not name it."""
    name = os.environ.get("PANTHEON_LOGS")
    if not name:
        pytest.skip("PANTHEON_LOGS is not set: no real logs")
    return Path(name).resolve()
