"""Tests of running experiments: the server's events, the page, the terminal, and hostile files."""

import itertools
import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

import dumbbell
from dumbbell.base.clock import SYSTEM_CLOCK
from dumbbell.base.entry import Entry
from dumbbell.base.live_file import live_file
from dumbbell.present.live_lines import LiveLines, sparkline
from dumbbell.present.serve.live import ResultsWatch
from dumbbell.present.serve.runs_table import Place
from dumbbell.results.directory import locked, open_results
from dumbbell.results.live_runs import LivePlace, LiveResults
from support.punctual import Punctual, runs_of
from support.waiting import TIMEOUT_S, wait_for
from web.conftest import Serve, axe, overflow

MARKUP = "<img src=x onerror=alert(1)>"


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """Make results of which one run exists, and another one does not."""
    out = tmp_path / "results"
    dumbbell.run(schemes=["cubic", "bbr"], path="pantheon-4", duration=2.0, out=out)
    table = dumbbell.open(out)
    (left,) = [run for run in table.runs if run.scheme == "bbr"]
    for file in sorted((out / "runs" / left.path / "bbr").rglob("*"), reverse=True):
        file.rmdir() if file.is_dir() else file.unlink()
    (out / "results.sqlite").unlink()
    return out


def content(at_s: float, **changes: Any) -> dict[str, Any]:  # noqa: ANN401 (JSON)
    """Return the live content of a run of one flow that has had 10 Mbit/s."""
    flow = {
        "flow": 1,
        "scheme": "bbr",
        "sent_bytes": int(1.3e6 * at_s),
        "delivered_bytes": int(1.25e6 * at_s),
        "delivered_packets": int(900 * at_s),
        "delay_ms": {"p50": 20.0, "p95": 41.0, "max": 55.5},
        "state": [
            {"name": "cwnd", "unit": "packets", "value": 12.5},
            {"name": "in_flight", "unit": "bytes", "value": 15000.0},
            {"name": "mode", "unit": "0 startup, 1 drain, 2 probe_bw", "value": 2.0},
        ],
    }
    link = {"name": "data/bottleneck", "queue_packets": 7, "queue_bytes": 10500, "dropped_packets": 3}
    link |= {"marked_packets": 0, "delivered_bytes": int(1.25e6 * at_s), "offered_bytes": 0}
    return {"at_s": at_s, "duration_s": 30.0, "attempt": 1, "flows": [flow], "links": [link]} | changes


class PlayedRun:
    """A run that goes on without packets: its log and its live file."""

    def __init__(self, results: Path, label: str | None = None, number: int = 0) -> None:
        folder = results / "runs/.unfinished"
        folder.mkdir(parents=True, exist_ok=True)
        run = next(run for run in open_results(results).planned() if run.scheme == "bbr")
        self.log = folder / f"{number}.log"
        self.file = live_file(folder / str(number))
        self.log.write_text(f"2026-01-01T00:00:00Z dumbbell 1.0.0: {label or run.label}\nmore\n")
        self.identity = f"d1/{run.path}/bbr/{run.run}"
        self.label = run.label
        self.at_s = 0.0
        """The time of the run that was shown last."""

    def show(self, value: object) -> None:
        """Write the live file anew, as the core does."""
        temporary = self.file.with_suffix(".tmp")
        temporary.write_text(value if isinstance(value, str) else json.dumps(value))
        temporary.replace(self.file)

    def end(self) -> None:
        """End the run."""
        self.file.unlink()
        self.log.unlink()

    @contextmanager
    def going_on(self, from_s: float = 0.2) -> Iterator[None]:
        """Update the live file in a thread, for the time of the block."""
        over = threading.Event()

        def play() -> None:
            self.at_s = from_s
            while not over.wait(0.1):
                self.at_s += 0.1
                self.show(content(self.at_s))

        thread = threading.Thread(target=play)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()


def watch_results(results: Path) -> ResultsWatch:
    return ResultsWatch([Place("d1", "results", open_results(results))])


def test_who_watches_is_told_what_is_new_and_only_that(results: Path) -> None:
    watching = watch_results(results)
    (event, data), (live, empty) = watching.look()
    assert (event, data["running"], data["total"], data["now"]) == ("progress", False, 2, [])
    assert (live, empty) == ("live", {"keys": [], "runs": []})
    assert list(watching.look()) == []
    assert watching.pause_s >= 1.0
    played_run = PlayedRun(results)
    assert list(watching.look()) == [], "left by somebody who was killed: nobody writes here"
    with locked(results):
        played_run.show(content(1.0))
        events = dict(watching.look())
        assert events["progress"]["running"]
        assert events["progress"]["now"] == [played_run.label]
        (run,) = events["live"]["runs"]  # type: ignore[attr-defined]  # a list
        assert (run["id"], run["label"], run["at_s"]) == (played_run.identity, played_run.label, 1.0)
        assert watching.pause_s <= 0.2
        assert list(watching.look()) == []
        played_run.show(content(1.2))
        ((name, again),) = watching.look()
        assert (name, again["keys"]) == ("live", ["d1/0"])
        played_run.end()
        events = dict(watching.look())
        assert events["live"] == {"keys": [], "runs": []}
        assert events["progress"]["now"] == []


def test_what_is_made_is_counted_by_the_index(results: Path) -> None:
    dumbbell.open(results)
    assert LiveResults(open_results(results)).made_and_failed() == (0, 0), "there is no index"
    dumbbell.run(schemes=["cubic", "bbr"], path="pantheon-4", duration=2.0, out=results, resume=True)
    assert LiveResults(open_results(results)).made_and_failed() == (2, 0)


HOSTILE: list[tuple[str, object]] = [
    ("no JSON", "{"),
    ("nothing", ""),
    ("a list", []),
    ("deep", "[" * 100_000),
    ("huge", json.dumps(content(1.0)) + " " * 600_000),
    ("a number that is none", json.dumps(content(1.0)).replace("12.5", "NaN")),
    ("a long number", json.dumps(content(1.0)).replace("12.5", "9" * 400)),
    ("no flows", {"at_s": 1.0, "attempt": 1, "links": []}),
    ("flows that are none", content(1.0, flows=[1, 2])),
    ("a flow that is a text", content(1.0, flows="bbr")),
    ("too many flows", content(1.0, flows=content(1.0)["flows"] * 1000)),
    ("too many links", content(1.0, links=content(1.0)["links"] * 1000)),
    ("a name without end", content(1.0, links=[content(1.0)["links"][0] | {"name": "x" * 1000}])),
    ("a time that is a text", content(1.0) | {"at_s": "1.0"}),
    ("half a letter", json.dumps(content(1.0)).replace('"bbr"', '"\\ud800"')),
]


@pytest.mark.parametrize(("value"), [value for _, value in HOSTILE], ids=[name for name, _ in HOSTILE])
def test_a_file_that_no_run_writes_is_not_there(results: Path, value: object) -> None:
    played_run = PlayedRun(results)
    with locked(results):
        played_run.show(value)
        assert LiveResults(open_results(results)).look() == ([played_run.label], [])
        assert dict(watch_results(results).look())["live"] == {"keys": [], "runs": []}


def test_neither_links_nor_pipes_are_followed(results: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret.json"
    secret.write_text(json.dumps(content(1.0)))
    played_run = PlayedRun(results)
    played_run.file.symlink_to(secret)
    os.mkfifo(played_run.file.with_name("1.live.json"))
    (played_run.file.with_name("2.live.json")).mkdir()
    played_run.log.unlink()
    os.mkfifo(played_run.log)
    assert LiveResults(open_results(results)).look() == ([], [])
    elsewhere = tmp_path / "elsewhere"
    (results / "runs/.unfinished").rename(elsewhere)
    (elsewhere / "3.live.json").write_text(json.dumps(content(1.0)))
    (results / "runs/.unfinished").symlink_to(elsewhere)
    assert LiveResults(open_results(results)).look() == ([], [])


def test_a_label_of_no_run_has_no_address_and_reaches_no_terminal(results: Path) -> None:
    played_run = PlayedRun(results, f"evil\x1b[2J {MARKUP}")
    played_run.show(content(1.0, flows=[content(1.0)["flows"][0] | {"scheme": "a\x1b[31m"}]))
    (run,) = LiveResults(open_results(results)).look()[1]
    assert run.run is None
    assert "\x1b" not in run.label
    lines = LiveLines(lambda: [run, run])(200)
    assert lines
    assert all(line.isprintable() for line in lines)


def test_lines_for_the_terminal(tmp_path: Path) -> None:
    file = live_file(tmp_path / "0")
    place = LivePlace(Entry.of(tmp_path))
    lines = LiveLines(lambda: place.look()[1])
    assert lines(100) == []
    for at_s in (1.0, 1.2, 2.0):
        file.write_text(json.dumps(content(at_s)))
        os.utime(file, ns=(int(at_s * 1e9), int(at_s * 1e9)))
        flow, queue = lines(100)
    assert re.fullmatch(r"  bbr 1 +10\.0 Mbit/s .*p95 41\.0 ms  cwnd 12\.5 packets  probe_bw", flow), flow
    assert queue == "  queue 7 packets, 10.5 kB at data/bottleneck, 3 dropped, 0 marked"
    assert all(len(line) <= 30 for line in lines(30))
    file.unlink()
    assert lines(100) == []


def test_sparklines() -> None:
    assert sparkline([0.0, 5.0, 10.0]) == "▁▅█"
    assert sparkline([0.0, 0.0]) == "▁▁"
    assert sparkline([]) == ""


def test_the_page_draws_what_goes_on_and_leads_to_what_is_finished(
    serve_pages: Serve, page: Page, results: Path
) -> None:
    played_run = PlayedRun(results)
    address = serve_pages(results)
    with locked(results):
        page.goto(f"{address}#/live")
        expect(page.get_by_text("0 of 2 runs are made")).to_be_visible()
        with played_run.going_on():
            row = page.get_by_role("row", name=re.compile("^bbr 1"))
            expect(row).to_contain_text("probe_bw")
            expect(row).to_contain_text("41.0")
            # 1.25 MB in each second of the run
            expect(page.locator(".live-run td.number").first).to_have_text(re.compile(r"^(9\.[5-9]|10\.[0-5])$"))
            expect(page.get_by_role("img", name=re.compile("^Queue, packets, now: data.bottleneck 7"))).to_be_visible()
            assert page.locator(".live-chart canvas").count() >= 5
            for width in (1280, 390):
                page.set_viewport_size({"width": width, "height": 800})
                assert overflow(page) <= 0
                assert axe(page) == []
            page.get_by_role("button", name="Pause").click()
            stands = page.locator(".live-run > p").first.inner_text()
            since_s = played_run.at_s
            wait_for(lambda: played_run.at_s > since_s + 0.5)
            assert page.locator(".live-run > p").first.inner_text() == stands
            page.get_by_role("button", name="Go on").click()
            expect(page.locator(".live-run > p").first).not_to_have_text(stands)
        played_run.end()
        link = page.get_by_role("link", name="the finished run")
        expect(link).to_have_attribute("href", f"#/run/{played_run.identity}")
        expect(page.get_by_role("link", name=re.compile("^Live: 0 of 2 runs"))).to_be_visible()
    expect(page.get_by_role("link", name=re.compile("^Live: "))).to_have_count(0)


def test_markup_of_a_stranger_is_text(serve_pages: Serve, page: Page, results: Path) -> None:
    played_run = PlayedRun(results, MARKUP)
    flow = content(1.0)["flows"][0] | {"scheme": MARKUP}
    flow["state"] = [{"name": MARKUP, "unit": f"0 {MARKUP}", "value": 0}]
    page.on("dialog", lambda dialog: pytest.fail(dialog.message))
    with locked(results):
        played_run.show(content(1.0, flows=[flow], links=[content(1.0)["links"][0] | {"name": MARKUP}]))
        page.goto(f"{serve_pages(results)}#/live")
        expect(page.get_by_role("heading", name=MARKUP)).to_be_visible()
        assert page.locator("main img[src]").count() == 0


def test_the_end_of_the_server_is_said(page: Page, results: Path) -> None:
    server = dumbbell.serve(results)
    server.start()
    try:
        page.goto(f"{server.address}#/live")
        expect(page.get_by_text("Nothing is running.")).to_be_visible()
    finally:
        server.stop()
    expect(page.get_by_text("The command has ended")).to_be_visible()


def test_live_and_watch_of_simulated_runs(dumbbell: Any, tmp_path: Path) -> None:  # noqa: ANN401 (the fixture)
    words = ["run", "--schemes", "cubic", "--path", "pantheon-4", "--duration", "2", "--out", tmp_path / "out"]
    result = dumbbell(*words, "--live", "--watch")
    assert re.search(r"^live: http://127\.0\.0\.1:\d+/\?token=\S+#/live", result.stderr, re.MULTILINE)
    assert f"`dumbbell serve {tmp_path / 'out'}` shows the results" in result.stderr
    assert "Traceback" not in result.stderr
    assert not list((tmp_path / "out").rglob("*live.json"))


def test_watch_of_a_shell_is_refused(dumbbell: Any) -> None:  # noqa: ANN401 (the fixture)
    for words, message in (
        (["--watch"], "needs a COMMAND"),
        (["--watch", "--quiet", "--", "true"], "not with --quiet"),
    ):
        result = dumbbell("emulate", "--rate", "20mbit", "--rtt", "40ms", *words, expect=2)
        assert message in result.stderr
        assert len([line for line in result.stderr.splitlines() if not line.startswith("path ")]) == 1


def begin(words: list[str]) -> subprocess.Popen[str]:
    """Start the real command, whose stderr can be read as it comes."""
    command = [sys.executable, "-m", "dumbbell", *words]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


@pytest.mark.real
@pytest.mark.usefixtures("real_packets")
def test_a_run_with_real_packets_shows_what_its_statistics_say_later(
    dumbbell: Any,  # noqa: ANN401 (the fixture)
    punctual: Punctual[dict[str, Any]],
    tmp_path: Path,
) -> None:
    out = tmp_path / "out"
    words = "run --schemes cubic --rate 10mbit --rtt 50ms --backend emu --runs 1 --duration 5 --watch --out"

    def make() -> dict[str, Any]:
        process = begin([*words.split(), str(out)])
        moments: list[tuple[float, float, dict[str, Any]]] = []
        try:
            wait_for(lambda: (out / "experiment.toml").exists() or process.poll() is not None)
            watching = LiveResults(open_results(out))
            while process.poll() is None:
                for run in watching.look()[1]:
                    if not moments or moments[-1][2] != run.content:
                        moments.append((SYSTEM_CLOCK.time(), run.content["at_s"], run.content))
                with suppress(subprocess.TimeoutExpired):
                    process.wait(0.02)
            _, stderr_text = process.communicate()
        finally:
            process.kill()
            process.wait()
        return {"runs": runs_of(dumbbell, out), "seen": moments, "told": stderr_text}

    outcome = punctual(make)
    (run,), errors = outcome["runs"], outcome["told"]
    assert run["status"] == "done", errors
    shown_moments = [moment for moment in outcome["seen"] if moment[2]["attempt"] == run["attempts"]]
    assert len(shown_moments) >= 15, errors
    # The earliest moment tells the start of the run; no later one is more than half a second late.
    start = min(seen_s - at_s for seen_s, at_s, _ in shown_moments)
    gaps = [later[1] - sooner[1] for sooner, later in itertools.pairwise(shown_moments)]
    assert max(gaps) < 0.5
    assert max(seen_s - at_s for seen_s, at_s, _ in shown_moments) - start < 0.5
    flow = shown_moments[-1][2]["flows"][0]
    mbps = flow["delivered_bytes"] * 8e-6 / shown_moments[-1][1]
    throughput = run["flows"][0]["throughput_mbps"]
    assert mbps == pytest.approx(throughput, rel=0.1)
    delays = [
        content["flows"][0]["delay_ms"]["p50"] for _, _, content in shown_moments if content["flows"][0]["delay_ms"]
    ]
    assert all(24.0 <= delay <= 110.0 for delay in delays)
    assert {"cwnd", "srtt", "in_flight"} <= {value["name"] for value in flow["state"]}
    assert re.search(r"^  cubic 1 +\d+\.\d Mbit/s  p95 \d+\.\d ms  cwnd ", errors, re.MULTILINE), errors
    assert "\x1b" not in errors
    assert not list(out.rglob("*live.json*"))


@pytest.mark.real
@pytest.mark.usefixtures("real_packets")
def test_a_path_with_a_command_inside_is_watched(tmp_path: Path) -> None:
    words = ["emulate", "--rate", "10mbit", "--rtt", "40ms", "--live", "--watch", "--", "sh", "-c"]
    process = begin([*words, "ping -q -i 0.1 -c 40 $DUMBBELL_PEER"])
    _, errors = process.communicate(timeout=TIMEOUT_S)
    assert process.returncode == 0, errors
    assert "live: http://127.0.0.1:" in errors
    assert re.search(r"^  up 1 +0\.0 Mbit/s  p95 \d\d\.\d ms$", errors, re.MULTILINE), errors
    assert re.search(r"^  down 2 +", errors, re.MULTILINE)
    assert "Traceback" not in errors
