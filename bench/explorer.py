"""Times of pages in Chromium: a table of 100,000 runs, and zooms of a run of 10 million packet events.

Usage: python -m bench.explorer [--write docs/how-to/explorer.md]. It needs the pages (`make web`), Playwright and
Chromium. The run is 41 s of CUBIC at 1 Gbit/s. The runs of the table are copies of a few real ones, with other numbers.
A time is from the event to the picture after the change; before the first table, each run is read once.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import random
import re
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

import dumbbell
from dumbbell.present.tables import Table, markdown
from dumbbell.results.environment import environment
from scripts.blocks import replace_block

ROWS = 100_000
SCHEMES = ["cubic", "bbr"]
READ_S, READ_AGAIN_S = 300.0, 10.0
"""Goals, s: each run is read once; later only the modification times of its files are read."""
REPETITIONS = 5
BLOCK = "explorer speed"
TEXT = """`python -m bench.explorer`, {date}, {cpu}, {browser}: medians of {repetitions}.

{table}"""

# From a click, or a change of the search field, to the frame after the table has changed.
_TABLE = """([selector, index, value]) => new Promise((done) => {
    const grid = document.querySelector(".grid");
    const start = performance.now();
    const end = () => requestAnimationFrame(() => setTimeout(() => done(performance.now() - start)));
    new MutationObserver((_, watch) => { watch.disconnect(); end(); })
        .observe(grid, { subtree: true, childList: true, characterData: true, attributes: true });
    const found = document.querySelectorAll(selector)[index];
    if (value === null) return found.click();
    found.value = value;
    found.dispatchEvent(new InputEvent("input", { bubbles: true }));
})"""
# From the change of the address to the frame after the series came.
_ZOOM = """(hash) => new Promise((done) => {
    const panels = document.querySelector("[aria-busy]");
    const start = performance.now();
    let waited = false;
    const look = () => {
        const busy = panels.getAttribute("aria-busy") === "true";
        waited ||= busy;
        if ((waited && !busy) || performance.now() - start > 5000)
            return requestAnimationFrame(() => setTimeout(() => done(performance.now() - start)));
        setTimeout(look, 1);
    };
    location.hash = hash;
    look();
})"""


def many_runs(folder: Path) -> Path:
    """Return results with `ROWS` runs: the statistics of a few runs, copied with other numbers."""
    out = folder / "many"
    dumbbell.run(schemes=SCHEMES, path="pantheon-4", runs=1, duration=1.0, log="none", out=out)
    file = out / "experiment.toml"
    runs = ROWS // len(SCHEMES)
    file.write_text(re.sub(r"^runs = .*$", f"runs = {runs}", file.read_text(), flags=re.MULTILINE))
    draw = random.Random(1)
    for scheme in SCHEMES:
        first = json.loads((out / f"runs/pantheon-4/{scheme}/1/stats.json").read_text())
        for number in range(2, runs + 1):
            first["run"] = number
            first["network"]["goodput_mbps"] *= draw.uniform(0.99, 1.01)
            place = out / f"runs/pantheon-4/{scheme}/{number}"
            place.mkdir()
            (place / "stats.json").write_text(json.dumps(first))
    return out


def long_run(folder: Path) -> Path:
    """Return results with one run of 10 million packet events."""
    path = dumbbell.make_path(rate="1gbit", rtt="40ms", queue="1bdp")
    dumbbell.run(schemes="cubic", path=path, duration=41.0, out=folder / "long")
    return folder / "long"


@contextmanager
def serve(directory: Path) -> Iterator[tuple[str, float]]:
    """Yield the address of a server of these results, and the time for which it read them first, ms."""
    server = dumbbell.serve(directory)
    start = time.perf_counter()
    server.prepare()
    took = 1e3 * (time.perf_counter() - start)
    server.start()
    try:
        yield server.address, took
    finally:
        server.stop()


def median(measure: Callable[[], float]) -> float:
    """Return the median of several repetitions."""
    return statistics.median(measure() for _ in range(REPETITIONS))


def table_times(page: Page, address: str) -> Iterator[tuple[str, float, float]]:
    """Yield actions on the table, the time of each, and the maximum time, ms."""

    def first() -> float:
        page.goto("about:blank")
        start = time.perf_counter()
        page.goto(f"{address}#/runs?list=runs")
        page.locator("[role=gridcell]").first.wait_for()
        return 1e3 * (time.perf_counter() - start)

    yield f"{ROWS:,} runs: first table", median(first), 1000.0
    page.wait_for_timeout(1000)
    heads = "[role=columnheader]"
    for name, index in (("a number", 6), ("a text", 1)):
        yield f"{ROWS:,} runs: sort by {name}", median(lambda i=index: _act(page, heads, i, None)), 100.0  # type: ignore[misc]
    words = iter(["copa", "copa india", "bbr", "cubic 1", "india"] * REPETITIONS)
    yield f"{ROWS:,} runs: search", median(lambda: _act(page, "input[type=search]", 0, next(words))), 100.0


def _act(page: Page, selector: str, index: int, value: str | None) -> float:
    took: float = page.evaluate(_TABLE, [selector, index, value])
    page.wait_for_timeout(300)
    return took


def zoom_times(page: Page, address: str, results: Path) -> Iterator[tuple[str, float, float]]:
    """Yield windows of the long run, the time of each, and the maximum time, ms."""
    run = dumbbell.open(results).runs[0]
    place = f"#/run/d1%2F{run.path}%2F{run.scheme}%2F1"
    page.goto(address)
    page.evaluate("hash => location.hash = hash", place)
    page.locator("[aria-busy=false]").first.wait_for()
    page.wait_for_timeout(2000)
    for name, width_s in (("20 s", 20.0), ("1 s", 1.0), ("10 ms", 1e-2), ("100 µs", 1e-4), ("1 µs", 1e-6)):
        centres = iter([7.3, 21.7, 12.1, 30.2, 17.9] * REPETITIONS)

        def zoom(width_s: float = width_s, centres: Iterator[float] = centres) -> float:
            from_ns = round(1e9 * (next(centres) - width_s / 2))
            took: float = page.evaluate(_ZOOM, f"{place}?from={from_ns}&to={from_ns + round(1e9 * width_s)}")
            page.wait_for_timeout(300)
            return took

        yield f"10 million packet events: zoom to {name}", median(zoom), 300.0


def main() -> int:
    """Measure, print, and write the figures if asked to; return 1 if a time exceeds its maximum."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", type=Path, metavar="PAGE")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="dumbbell-bench-") as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium-headless-shell"), args=["--no-sandbox", "--disable-gpu"]
        )
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        os.environ["DUMBBELL_CACHE"] = f"{folder}/cache"
        results = many_runs(Path(folder))
        with serve(results) as (_, first):
            rows_found = [(f"{ROWS:,} runs: read for the first time", first, 1e3 * READ_S)]
        with serve(results) as (address, again):
            rows_found += [(f"{ROWS:,} runs: read again", again, 1e3 * READ_AGAIN_S), *table_times(page, address)]
        results = long_run(Path(folder))
        with serve(results) as (address, _):
            rows_found += list(zoom_times(page, address, results))
        version = browser.version
        browser.close()
    rows = [[name, f"{took:.0f} ms", f"{limit_ms:.0f} ms"] for name, took, limit_ms in rows_found]
    table = markdown.render(Table.of(["what", "took", "goal"], rows))
    cpu = environment([])["cpu"]
    text = TEXT.format(
        date=datetime.date.today().isoformat(),
        cpu=cpu["model"] if isinstance(cpu, dict) else cpu,
        browser=f"Chromium {version.partition('.')[0]}",
        repetitions=REPETITIONS,
        table=table,
    )
    print(text)
    if arguments.write is not None:
        replace_block(arguments.write, BLOCK, text)
    return 0 if all(took <= limit_ms for _, took, limit_ms in rows_found) else 1


if __name__ == "__main__":
    sys.exit(main())
