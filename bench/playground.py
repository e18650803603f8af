"""Speed of the playground: the simulator in Chromium and natively on the same runs, and a slider's new run.

Usage: python -m bench.playground [--write docs/how-to/playground.md] [--runner FILE] [--folder build/playground]. `make
playground` makes the folder; the native runs are `crates/playground/examples/native.rs`, `--runner` is that program if
it is built already. It needs node, the packages of web/, Playwright and Chromium. Exit status 1 if a digest differs.
"""

from __future__ import annotations

import argparse
import datetime
import functools
import gzip
import http.server
import json
import os
import shutil
import statistics
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, sync_playwright

from dumbbell.present.tables import Table, markdown
from dumbbell.results.environment import environment
from scripts.blocks import replace_block

ROOT = Path(__file__).parent.parent
SCENARIOS = ROOT / "tests/web/playground_scenarios.mjs"
REPETITIONS = 7

Scenario = dict[str, Any]
PageRun = dict[str, Any]


def alone(scheme: str, **change: object) -> Scenario:
    """Return a scenario of one flow, with the page's defaults for everything else."""
    return {"change": {"flows": [{"scheme": scheme, "start_s": 0, "stop_s": None, "rtt_ms": None}], **change}}


FAST = {"rate_mbps": 1000, "buffer": 1, "duration_s": 10}
RUNS: dict[str, Scenario] = {
    "CUBIC, 20 Mbit/s, 20 s": alone("cubic"),
    "BBR, 20 Mbit/s, 20 s": alone("bbr"),
    "Copa, 100 Mbit/s, 10 s": alone("copa", rate_mbps=100, duration_s=10),
    "CUBIC, 1 Gbit/s, 10 s": alone("cubic", **FAST),
    "BBR, 1 Gbit/s, 10 s": alone("bbr", **FAST),
    "Indigo, 20 Mbit/s, 20 s": alone("indigo"),
}

SLIDERS: dict[str, str] = {
    "CUBIC, 20 Mbit/s, 20 s": "#",
    "Reno twice, 20 Mbit/s, 60 s": "#preset=rtt",
    "Copa and Reno, 32 Mbit/s, 60 s": "#preset=copa",
    "two flows of Copa, 120 Mbit/s, 20 s": "#preset=starvation",
}

IN_WORKER = """
({ specification, files, repetitions }) => new Promise((resolve, reject) => {
    const worker = new Worker("worker.js", { type: "module" });
    const taken = [];
    let id = 0;
    const next = () => worker.postMessage({ kind: "run", id: ++id, specification, files, watched: [] });
    worker.onmessage = ({ data }) => {
        if (data.kind === "failed") reject(data.why);
        if (data.kind !== "done") return;
        taken.push(data.spent.simulated_ms);
        if (id < repetitions) return next();
        worker.terminate();
        const { digest, records } = JSON.parse(data.totals);
        resolve({ digest, records, taken });
    };
    next();
})
"""

# From the change of a slider to the frame that shows the new run's beginning, and to the frame that shows all of it.
MOVE = """
(name) => new Promise((resolve) => {
    const slider = document.getElementById(name);
    const before = document.querySelector("[data-digest]").dataset.digest;
    const began = performance.now();
    slider.valueAsNumber -= 3;
    slider.dispatchEvent(new Event("input", { bubbles: true }));
    let seen = 0;
    const look = () => {
        const shown = document.querySelector("[data-digest]");
        if (!seen && shown?.dataset.digest !== before) seen = performance.now() - began;
        if (!shown || shown.dataset.digest === before) return requestAnimationFrame(look);
        resolve({ seen, drawn: performance.now() - began, records: shown.parentElement.textContent });
    };
    requestAnimationFrame(look);
})
"""


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


def build() -> Path:
    """Build the program that makes the same runs natively; return its path."""
    command = ["cargo", "build", "--release", "--quiet", "--locked", "-p", "playground", "--example", "native"]
    subprocess.run(command, cwd=ROOT, check=True)
    return Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release/examples/native"


def made_by_the_page(folder: Path) -> list[PageRun]:
    """Return the run specs that the page's own code makes of scenarios."""
    command = ["node", str(SCENARIOS), str(folder / "catalogue.json")]
    request = json.dumps(list(RUNS.values()))
    result = subprocess.run(command, input=request, capture_output=True, text=True, check=True)
    return list(json.loads(result.stdout)["made"])


def native(runner: Path, page_run: PageRun, folder: Path) -> dict[str, Any]:
    """Make one run natively; return its figures."""
    files = {name: str(folder / name) for name in page_run["files"]}
    request = json.dumps({"specification": page_run["specification"], "files": files})
    result = subprocess.run([str(runner)], input=request + "\n", capture_output=True, text=True, check=True)
    return dict(json.loads(result.stdout))


def beside(page: Page, runner: Path, folder: Path, name: str, page_run: PageRun) -> list[str]:
    """Make runs natively and in the browser in turn; return a row of the table."""
    native_s, page_s, digests = [], [], set()
    records = 0
    request = {"specification": json.dumps(page_run["specification"]), "files": page_run["files"]}
    request |= {"repetitions": REPETITIONS}
    for _ in range(3):
        for _ in range(REPETITIONS):
            native_answer = native(runner, page_run, folder)
            native_s.append(float(native_answer["seconds"]))
        page_answer = page.evaluate(IN_WORKER, request)
        page_s.append([float(milliseconds) / 1e3 for milliseconds in page_answer["taken"]])
        digests |= {native_answer["digest"], page_answer["digest"]}
        records = int(native_answer["records"])
    if len(digests) > 1:
        sys.exit(f"{name}: digests {digests}")
    first = statistics.median(times[0] for times in page_s)
    warm = min(min(times[1:]) for times in page_s)
    best = min(native_s)
    million = f"{records / best / 1e6:.1f}", f"{records / warm / 1e6:.1f}"
    return [
        name,
        f"{records:,}",
        f"{best * 1e3:.0f}",
        f"{first * 1e3:.0f}",
        f"{warm * 1e3:.0f}",
        *million,
        f"{best / warm:.0%}",
    ]


def slider(page: Page, address: str, name: str, scenario: str) -> list[str]:
    """Move the slider of the round-trip time; return a row of the table."""
    page.goto("about:blank")
    page.goto(address + scenario)
    page.locator("[data-digest]").wait_for(timeout=60_000)
    draw_times, show_times, records = [], [], ""
    for _ in range(15):
        page.wait_for_timeout(100)
        moves = page.evaluate(MOVE, "setting-rtt_ms")
        draw_times.append(float(moves["drawn"]))
        show_times.append(float(moves["seen"]))
        records = str(moves["records"]).split(" ")[0]
    show_times, warm = show_times[3:], draw_times[3:]
    figures = [min(show_times), statistics.median(show_times), min(warm), statistics.median(warm), max(warm)]
    return [name, records, *(f"{figure:.0f}" for figure in figures)]


TEXT = """`python -m bench.playground` (part of `make bench`), {date}, {cpu}, {processors} processors,
load {load:.1f}; Chromium {chromium}. Native and browser run in turn, with the same observers: digest, metrics, bins,
records kept. Native is the best of {runs}; in the browser a worker's first run is the median of three, and warm the
best of its later ones. Events are packet events.

{speed}

From the move of a slider to the frame in which the new run is seen, as far as it has come, and to the one in which it
is complete: the fastest, the median and the slowest of twelve moves.

{slider}

First paint, from a local server: {paint} ms. `simulator.wasm`: {raw:,} bytes, {gzipped:,} with gzip -9."""


def main() -> None:
    """Measure everything and print or write the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--write", type=Path)
    parser.add_argument("--runner", type=Path)
    parser.add_argument("--folder", type=Path, default=ROOT / "build/playground")
    options = parser.parse_args()
    folder: Path = options.folder
    if not (folder / "simulator.wasm").exists():
        parser.error(f"--folder {folder}: there is no playground: make playground")
    load = os.getloadavg()[0]
    runner = (options.runner or build()).resolve()
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(_Quiet, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_address[1]}/"
    with sync_playwright() as playwright:
        executable = shutil.which("chromium-headless-shell")
        browser = playwright.chromium.launch(executable_path=executable, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.goto(address)
        page.locator("[data-digest]").wait_for()
        paint = page.evaluate("Math.round(performance.getEntriesByName('first-contentful-paint')[0].startTime)")
        page.goto(f"{address}catalogue.json")  # of the same place, with nothing that runs
        page.set_default_timeout(300_000)
        speeds = [
            beside(page, runner, folder, name, page_run)
            for name, page_run in zip(RUNS, made_by_the_page(folder), strict=True)
        ]
        sliders = [slider(page, address, name, scenario) for name, scenario in SLIDERS.items()]
        version = browser.version
        browser.close()
    server.shutdown()
    server.server_close()
    head = [
        "run",
        "events",
        "native, ms",
        "first, ms",
        "warm, ms",
        "native, M events/s",
        "warm, M events/s",
        "of native",
    ]
    speed = markdown.render(Table.of(head, speeds, "lrrrrrrr"))
    head = ["run", "events", "seen, ms", "median", "complete, ms", "median", "slowest"]
    module = (folder / "simulator.wasm").read_bytes()
    section = TEXT.format(
        date=datetime.datetime.now(tz=datetime.UTC).date(),
        cpu=environment([])["cpu"],
        processors=os.cpu_count(),
        load=load,
        chromium=version,
        runs=3 * REPETITIONS,
        speed=speed,
        slider=markdown.render(Table.of(head, sliders, "lrrrrrr")),
        paint=paint,
        raw=len(module),
        gzipped=len(gzip.compress(module, 9)),
    )
    if options.write:
        replace_block(options.write, "playground", section)
    sys.stdout.write(section + "\n")


if __name__ == "__main__":
    main()
