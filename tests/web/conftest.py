"""Pages in a real browser: Debian's headless Chromium, driven by Playwright."""

import functools
import http.server
import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    Page,
    Playwright,
    TimeoutError as PlaywrightTimeoutError,
    expect,
    sync_playwright,
)

import dumbbell
from support.waiting import TIMEOUT_S

CHROMIUM = "chromium-headless-shell"
_TIMEOUT_MS = TIMEOUT_S * 1e3
_LAYOUT_MS = 20_000
"""Longest wait for a page that is wider than its window, ms: only a page that stays so wide needs it."""
_AXE = Path(__file__).parents[2] / "web/node_modules/axe-core/axe.min.js"
_SEEN_IN_CONSOLE = ("error", "warning")

Serve = Callable[..., str]


@pytest.fixture(scope="session")
def playwright() -> Iterator[Playwright]:
    """Yield the driver of browsers, once in a process."""
    expect.set_options(timeout=_TIMEOUT_MS)
    with sync_playwright() as playwright:
        yield playwright


@pytest.fixture(scope="session")
def chromium(playwright: Playwright) -> Iterator[Browser]:
    """Yield the browser; without one, skip the tests."""
    executable = shutil.which(CHROMIUM)
    if executable is None:
        pytest.skip(f"no {CHROMIUM} here")
    browser = playwright.chromium.launch(executable_path=executable, args=["--no-sandbox", "--disable-gpu"])
    yield browser
    browser.close()


class Complaints(list[str]):
    """Complaints of the pages of a context: errors of scripts, of the network and of the page's policy."""


@pytest.fixture
def complaints() -> Complaints:
    """Return the complaints, which must be empty at the end of a test. A test that provokes some clears them."""
    return Complaints()


@pytest.fixture
def context(chromium: Browser, complaints: Complaints) -> Iterator[BrowserContext]:
    """Yield a browser context without stored data, with a clipboard."""
    context = chromium.new_context(viewport={"width": 1280, "height": 800}, accept_downloads=True)
    context.set_default_timeout(_TIMEOUT_MS)

    def watch(page: Page) -> None:
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on(
            "console", lambda message: complaints.append(message.text) if message.type in _SEEN_IN_CONSOLE else None
        )

    context.on("page", watch)
    yield context
    context.close()
    assert not complaints, list(complaints)


@pytest.fixture
def page(context: BrowserContext) -> Page:
    """Return a page of 1280 x 800 pixels."""
    return context.new_page()


@pytest.fixture
def serve_pages() -> Iterator[Serve]:
    """Yield a function that serves results directories; it returns the address, with the token."""
    servers = []

    def serve(*directories: Path) -> str:
        server = dumbbell.serve(*directories)
        server.start()
        servers.append(server)
        return server.address

    yield serve
    for server in servers:
        server.stop()


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def files_served() -> Iterator[Callable[[Path], str]]:
    """Yield a function that serves a folder of files as any web server does; it returns the address of its index."""
    servers = []

    def serve(folder: Path) -> str:
        handler = functools.partial(_Quiet, directory=str(folder))
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        servers.append(server)
        return f"http://127.0.0.1:{server.server_address[1]}/"

    yield serve
    for server in servers:
        server.shutdown()
        server.server_close()


@pytest.fixture
def site(tmp_path: Path, files_served: Callable[[Path], str]) -> Serve:
    """Return a function that writes results directories as a site, and serves its files."""

    def write(*directories: Path) -> str:
        return files_served(dumbbell.write_site(*directories, out=tmp_path / "site"))

    return write


def axe(page: Page) -> list[str]:
    """Return the findings of axe-core on the page that are serious or critical, one per line."""
    page.evaluate(_AXE.read_text(encoding="utf-8"))
    report: dict[str, Any] = page.evaluate("axe.run()")
    return [
        f"{violation['id']}: {node['target']}: {node['failureSummary']}"
        for violation in report["violations"]
        if violation["impact"] in ("serious", "critical")
        for node in violation["nodes"]
    ]


def overflow(page: Page) -> int:
    """Return the number of pixels by which the page is wider than the window, after its layout."""
    wider = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    with suppress(PlaywrightTimeoutError):
        page.wait_for_function(f"() => {wider} <= 0", timeout=_LAYOUT_MS)
    return int(page.evaluate(wider))
