"""Tests of the pages in a second browser: Debian's Firefox, by WebDriver BiDi; skipped if it is missing."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, Playwright

import dumbbell
from web.conftest import Serve
from web.test_playground import BUILT, flow, made_by_the_page, native, wait_for_digest

FIREFOX = "firefox-esr"
TIMEOUT_MS = 60_000


@pytest.fixture(scope="module", name="firefox")
def _firefox(playwright: Playwright) -> Iterator[Browser]:
    executable = shutil.which(FIREFOX)
    if executable is None:
        pytest.skip(f"no {FIREFOX} here")
    browser = playwright.firefox.launch(channel="moz-firefox", executable_path=executable)
    yield browser
    browser.close()


@pytest.fixture(name="page")
def _page(firefox: Browser) -> Iterator[Page]:
    context = firefox.new_context(viewport={"width": 1280, "height": 800})
    page = context.new_page()
    page.set_default_timeout(TIMEOUT_MS)
    yield page
    context.close()


def test_the_explorer_shows_runs_charts_and_a_run(page: Page, serve_pages: Serve, tmp_path: Path) -> None:
    out = tmp_path / "results"
    results = dumbbell.run(schemes=["cubic", "bbr"], path="pantheon-4", runs=1, duration=1.0, out=out)
    page.goto(serve_pages(out))
    page.locator("[role=gridcell]").first.wait_for()
    assert page.get_by_role("treegrid").get_attribute("aria-rowcount") == "3"
    page.goto(f"{page.url.partition('#')[0]}#/charts")
    page.get_by_role("heading", level=1).or_(page.get_by_role("heading", level=2)).first.wait_for()
    run = results.runs[0]
    page.goto(f"{page.url.partition('#')[0]}#/run/d1%2F{run.path}%2F{run.scheme}%2F1")
    page.locator("ol.why li").first.wait_for()
    page.locator("[aria-busy=false]").first.wait_for()
    page.close()


@pytest.mark.wasm
@pytest.mark.skipif(not (BUILT / "simulator.wasm").exists(), reason="not built: make playground")
def test_the_playground_makes_the_same_packets(page: Page, files_served: Callable[[Path], str]) -> None:
    _, page_runs = made_by_the_page([{"change": {"flows": [flow("cubic")], "duration_s": 2, "rate_mbps": 10}}])
    page.goto(f"{files_served(BUILT)}#flows=cubic&duration_s=2&rate_mbps=10")
    assert wait_for_digest(page) == native(page_runs[0]["specification"])
    page.close()
