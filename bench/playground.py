"""Measure the playground: the simulator in Chromium beside the same runs on this machine, and a slider's new run.

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
Made = dict[str, Any]


def alone(scheme: str, **change: object) -> Scenario:
    """One flow, whatever else is as the page has it at first."""
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

# From the change of a slider to the frames in which the new run is seen, as far as it is, and in which it is complete.
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
    """Build the program that makes the same runs here; return it."""
    command = ["cargo", "build", "--release", "--quiet", "--locked", "-p", "playground", "--example", "native"]
    subprocess.run(command, cwd=ROOT, check=True)
    return Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release/examples/native"


def made_by_the_page(folder: Path) -> list[Made]:
    """Return the specifications that the page's own code makes of scenarios."""
    command = ["node", str(SCENARIOS), str(folder / "catalogue.json")]
    asked = json.dumps(list(RUNS.values()))
    done = subprocess.run(command, input=asked, capture_output=True, text=True, check=True)
    return list(json.loads(done.stdout)["made"])


def native(runner: Path, made: Made, folder: Path) -> dict[str, Any]:
    """Make one run on this machine. Return its figures."""
    files = {name: str(folder / name) for name in made["files"]}
    asked = json.dumps({"specification": made["specification"], "files": files})
    done = subprocess.run([str(runner)], input=asked + "\n", capture_output=True, text=True, check=True)
    return dict(json.loads(done.stdout))


def beside(page: Page, runner: Path, folder: Path, name: str, made: Made) -> list[str]:
    """Runs here and in the browser in turn; return a row of the table."""
    here, there, found = [], [], set()
    records = 0
    asked = {"specification": json.dumps(made["specification"]), "files": made["files"]}
    asked |= {"repetitions": REPETITIONS}
    for _ in range(3):
        for _ in range(REPETITIONS):
            ours = native(runner, made, folder)
            here.append(float(ours["seconds"]))
        theirs = page.evaluate(IN_WORKER, asked)
        there.append([float(taken) / 1e3 for taken in theirs["taken"]])
        found |= {ours["digest"], theirs["digest"]}
        records = int(ours["records"])
    if len(found) > 1:
        sys.exit(f"{name}: digests {found}")
    first = statistics.median(taken[0] for taken in there)
    warm = min(min(taken[1:]) for taken in there)
    best = min(here)
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
    taken, seen, records = [], [], ""
    for _ in range(15):
        page.wait_for_timeout(100)
        moved = page.evaluate(MOVE, "setting-rtt_ms")
        taken.append(float(moved["drawn"]))
        seen.append(float(moved["seen"]))
        records = str(moved["records"]).split(" ")[0]
    seen, warm = seen[3:], taken[3:]
    figures = [min(seen), statistics.median(seen), min(warm), statistics.median(warm), max(warm)]
    return [name, records, *(f"{each:.0f}" for each in figures)]


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
        found = shutil.which("chromium-headless-shell")
        browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.goto(address)
        page.locator("[data-digest]").wait_for()
        paint = page.evaluate("Math.round(performance.getEntriesByName('first-contentful-paint')[0].startTime)")
        page.goto(f"{address}catalogue.json")  # of the same place, with nothing that runs
        page.set_default_timeout(300_000)
        speeds = [
            beside(page, runner, folder, name, made) for name, made in zip(RUNS, made_by_the_page(folder), strict=True)
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
