"""Tests of the page of a run: its windows, values, packets and sentences are those of the run's files."""

import json
import re
import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, quote

import numpy as np
import pyarrow.parquet as parquet
import pytest
from playwright.sync_api import Page, Route, expect

import dumbbell
from support.shelf import Shelf
from web.conftest import Complaints, Serve, axe, overflow

_PATH = """
name = "aqm"
title = "20 Mbit/s with CoDel that marks"
provenance = "made for a test"

[[data]]
kind = "link"
rate_mbps = 20.0
queue = { kind = "codel", ecn = true }

[[data]]
kind = "delay"
delay_ms = 20.0

[[ack]]
kind = "delay"
delay_ms = 20.0
"""
_SEND, _ENQUEUE, _DEQUEUE, _DROP, _MARK, _DELIVER, _LOST, _ACKED = 0, 1, 2, 3, 4, 5, 12, 13
_STEPS = {
    "send_ns": _SEND,
    "enqueue_ns": _ENQUEUE,
    "dequeue_ns": _DEQUEUE,
    "drop_ns": _DROP,
    "mark_ns": _MARK,
    "deliver_ns": _DELIVER,
    "lost_ns": _LOST,
    "acked_ns": _ACKED,
}
_HOSTILE = "<img src=x onerror=\"document.title='hurt'\"><b>bold</b>"
_GENEROUS_MS = 3000.0


@pytest.fixture
def results(shelf: Shelf) -> Path:
    """Run CUBIC, Prague, and both together, through a queue that drops and marks."""

    def make(out: Path) -> None:
        (path := out.with_name("aqm.toml")).write_text(_PATH)
        dumbbell.run(schemes=["cubic", "prague"], mixes=["cubic+prague"], path=path, duration=3.0, log="full", out=out)

    return shelf.made("results", make)


class Log:
    """A run's packet log, read without dumbbell's reader."""

    def __init__(self, results: Path, scheme: str) -> None:
        table = parquet.read_table(results / f"runs/aqm/{scheme}/1/packets.parquet")
        self.columns = {name: table[name].to_numpy() for name in table.schema.names}

    def rows(self, event: int, flow: int = 1) -> dict[str, Any]:
        """Return the columns of one kind of event."""
        is_wanted = (self.columns["event"] == event) & (self.columns["flow"] == flow)
        return {name: values[is_wanted] for name, values in self.columns.items()}

    def count(self, event: int, first: int, last: int, flow: int | None = None) -> int:
        """Return the number of events of a kind in a part of the time."""
        time = self.columns["time_ns"]
        is_wanted = (self.columns["event"] == event) & (time >= first) & (time <= last)
        return int((is_wanted if flow is None else is_wanted & (self.columns["flow"] == flow)).sum())

    def delay_ms(self, time_ns: int) -> float:
        """Return the one-way delay of the delivery nearest to a time."""
        rows = self.rows(_DELIVER)
        nearest = np.abs(rows["time_ns"].astype(np.int64) - time_ns).argmin()
        return float(rows["one_way_delay_ns"][nearest]) / 1e6


OpenPage = Callable[..., Page]


@pytest.fixture
def open_page(page: Page, serve_pages: Serve, results: Path) -> Iterator[OpenPage]:
    """Yield a function that opens the page of a run with a query; the page is closed before its server."""

    def open_run(scheme: str = "cubic", query: str = "", address: str = "") -> Page:
        page.goto(address or serve_pages(results))
        _go(page, scheme, query)
        return page

    yield open_run
    page.close()


def _go(page: Page, scheme: str, query: str) -> None:
    page.evaluate(
        "hash => { location.hash = hash; }", f"#/run/d1/aqm/{quote(scheme, safe='')}/1{'?' * bool(query)}{query}"
    )
    page.locator(".run h1").wait_for()
    _wait_until_drawn(page)


def _wait_until_drawn(page: Page) -> None:
    """Wait until the shown data has arrived, and its window is in the address."""
    page.locator(".stack .panel[aria-label=Throughput] canvas").wait_for()
    page.wait_for_timeout(350)
    expect(page.locator(".run [aria-busy=true]")).to_have_count(0)


def _window(page: Page) -> tuple[int, int]:
    query = parse_qs(page.url.partition("?")[2].partition("?")[2] or page.url.partition("#")[2].partition("?")[2])
    return int(query["from"][0]), int(query["to"][0])


def _ns(text: str) -> int:
    """Return exact seconds as nanoseconds."""
    seconds, _, part = text.removesuffix(" s").partition(".")
    return int(seconds) * 10**9 + int(part.ljust(9, "0"))


def _hover(page: Page, panel: str, part: float) -> int:
    """Point at a part of a panel's width; return the shown time."""
    canvas = page.locator(f"figure[aria-label='{panel}'] canvas").first
    canvas.scroll_into_view_if_needed()
    box = canvas.bounding_box()
    assert box
    page.mouse.move(box["x"] + 60 + part * (box["width"] - 70), box["y"] + box["height"] / 2)
    return _ns(page.locator(".clock").inner_text())


def _value(page: Page, series: str, other: bool = False) -> str:
    return page.locator(f"b[data-series='{series}']{'[data-other]' if other else ':not([data-other])'}").inner_text()


def test_keys_and_addresses_name_the_same_window(open_page: OpenPage) -> None:
    page = open_page()
    page.keyboard.press("w")
    page.keyboard.press("w")
    _wait_until_drawn(page)
    first, last = _window(page)
    assert last - first == pytest.approx(0.75e9, abs=2)
    page.keyboard.press("d")
    _wait_until_drawn(page)
    assert _window(page)[0] == pytest.approx(first + 0.15 * 0.75e9, abs=2)
    page.reload()
    _wait_until_drawn(page)
    assert _window(page)[0] == pytest.approx(first + 0.15 * 0.75e9, abs=2)
    assert "750 ms" in page.locator(".where").inner_text()
    page.locator(".stack").focus()
    page.keyboard.press("Home")
    _wait_until_drawn(page)
    assert "from=" not in page.url


def test_a_run_can_be_zoomed_to_a_microsecond(open_page: OpenPage) -> None:
    page = open_page(query="from=1500000000&to=1500001000")
    assert "1 µs" in page.locator(".where").inner_text()
    label = page.locator(".ruler canvas").last.get_attribute("aria-label")
    assert label == "Time from 1.500000000 s to 1.500001000 s, 1 µs"
    page.get_by_role("button", name="zoom out").click()
    _wait_until_drawn(page)
    assert _window(page) == (1499999500, 1500001500)


def test_a_drag_zooms_and_with_shift_selects(open_page: OpenPage) -> None:
    page = open_page(query="from=1000000000&to=2000000000")
    start = _hover(page, "One-way delay", 0.25)
    page.mouse.down()
    end = _hover(page, "One-way delay", 0.5)
    page.mouse.up()
    _wait_until_drawn(page)
    assert _window(page) == pytest.approx((start, end), abs=2)
    start = _hover(page, "One-way delay", 0.25)
    page.keyboard.down("Shift")
    page.mouse.down()
    _hover(page, "One-way delay", 0.5)
    page.mouse.up()
    page.keyboard.up("Shift")
    expect(page.get_by_role("region", name="Selected part", exact=True)).to_be_visible()
    assert f"range={start}-" in page.url


def test_the_wheel_zooms_about_the_cursor(open_page: OpenPage) -> None:
    page = open_page(query="from=1000000000&to=2000000000")
    time = _hover(page, "One-way delay", 0.25)
    page.mouse.wheel(0, -100)
    _wait_until_drawn(page)
    assert _window(page) == (1_000_000_000, 2_000_000_000)  # the page has scrolled
    time = _hover(page, "One-way delay", 0.25)
    page.keyboard.down("Control")
    page.mouse.wheel(0, -100)
    page.keyboard.up("Control")
    _wait_until_drawn(page)
    first, last = _window(page)
    assert last - first < 0.8e9
    assert (time - first) / (last - first) == pytest.approx(0.25, abs=0.01)


def test_two_fingers_zoom(open_page: OpenPage) -> None:
    page = open_page(query="from=1000000000&to=2000000000")
    page.locator(".stack").evaluate(
        """stack => {
            const { left, width, top } = stack.getBoundingClientRect();
            const send = (type, pointerId, part) => stack.dispatchEvent(new PointerEvent(type, {
                bubbles: true, pointerType: 'touch', pointerId, clientX: left + part * width, clientY: top + 300,
            }));
            send('pointerdown', 11, 0.4);
            send('pointerdown', 12, 0.6);
            send('pointermove', 11, 0.3);
            send('pointermove', 12, 0.7);
            send('pointerup', 11, 0.3);
            send('pointerup', 12, 0.7);
        }"""
    )
    _wait_until_drawn(page)
    first, last = _window(page)
    assert last - first == pytest.approx(0.5e9, rel=0.05)
    assert first < 1_400_000_000 < last


def test_values_at_the_cursor_are_those_of_the_log(open_page: OpenPage, results: Path) -> None:
    log = Log(results, "cubic")
    page = open_page(query="from=1000000000&to=1020000000")
    for part in (0.1, 0.42, 0.9):
        time = _hover(page, "One-way delay", part)
        assert float(_value(page, "flow 1/one_way_delay")) == pytest.approx(log.delay_ms(time), abs=1e-3)


def test_no_peak_is_lost_where_many_packets_share_a_pixel(open_page: OpenPage, results: Path) -> None:
    delays = Log(results, "cubic").rows(_DELIVER)["one_way_delay_ns"] / 1e6
    page = open_page()
    low, high = map(float, _value(page, "flow 1/one_way_delay").split(" to "))
    assert (low, high) == pytest.approx((delays.min(), delays.max()), abs=1e-3)


@pytest.mark.parametrize(("first", "last"), [(0, 3 * 10**9), (400_000_000, 900_000_000)])
def test_drops_marks_and_losses_are_counted_as_in_the_log(
    open_page: OpenPage, results: Path, first: int, last: int
) -> None:
    log = Log(results, "cubic+prague")
    page = open_page("cubic+prague", f"from={first}&to={last}")
    for kind, event in (("drop", _DROP), ("mark", _MARK), ("lost", _LOST)):
        locator = page.locator(f"b[data-events={kind}]")
        assert (int(locator.inner_text()) if locator.count() else 0) == log.count(event, first, last), kind


def test_packets_are_counted_as_in_the_log(open_page: OpenPage, results: Path) -> None:
    first, last = 400_000_000, 600_000_000
    log = Log(results, "cubic")
    page = open_page(query=f"from={first}&to={last}")
    for kind, event in (("delivered", _DELIVER), ("dropped", _DROP), ("lost", _LOST)):
        count = int(page.locator(f"b[data-packets={kind}]").inner_text())
        assert count == log.count(event, first, last, flow=1), kind
    count = sum(int(page.locator(f"b[data-packets={kind}]").inner_text()) for kind in ("sent", "retransmitted"))
    assert count == log.count(_SEND, first, last, flow=1)


@pytest.mark.parametrize("is_dropped", [False, True])
def test_the_life_of_a_packet_is_what_its_rows_say(open_page: OpenPage, results: Path, is_dropped: bool) -> None:
    log = Log(results, "cubic")
    seq = int(log.rows(_DROP)["seq"][3]) if is_dropped else int(log.rows(_DELIVER)["seq"][700])
    sent_ns = int(log.rows(_SEND)["time_ns"][seq])
    page = open_page(query=f"from={sent_ns - 10_000_000}&to={sent_ns + 150_000_000}&packet=1:{seq}")
    life = page.get_by_role("region", name="Life of a packet")
    assert life.locator("h3").inner_text().startswith(f"Packet {seq} of flow 1")
    shown_steps = {
        str(row.get_attribute("data-step")): _ns(row.locator("td").first.inner_text())
        for row in life.locator("tr[data-step]").all()
    }
    logged_steps = {}
    for step, event in _STEPS.items():
        rows = log.rows(event)
        times = rows["time_ns"][rows["seq"] == seq]
        if len(times):
            logged_steps[step] = int(times[0])
    assert shown_steps == logged_steps
    if not is_dropped:
        assert "queued" in life.inner_text()
    page.locator(".stack").focus()
    page.keyboard.press("n")
    assert life.locator("h3").inner_text().startswith(f"Packet {seq + 1} of flow 1")
    page.keyboard.press("Enter")
    assert f"packet=1%3A{seq + 1}" in page.url


def test_a_selected_part_says_what_happens_in_it(open_page: OpenPage, results: Path) -> None:
    first, last = 1_000_000_000, 1_100_000_000
    rows = Log(results, "cubic").rows(_DELIVER)
    inside = (rows["time_ns"] >= first) & (rows["time_ns"] <= last)
    delays = rows["one_way_delay_ns"][inside] / 1e6
    page = open_page(query=f"range={first}-{last}")
    part = page.get_by_role("region", name="Selected part", exact=True)
    row = part.locator("tr", has_text="One-way delay")
    row.wait_for()
    low, mean, high, count = (float(text) for text in row.locator("td").all_inner_texts()[3:])
    assert (low, mean, high) == pytest.approx((delays.min(), delays.mean(), delays.max()), rel=1e-3)
    assert count == len(delays)
    part.get_by_role("button", name="zoom to it").click()
    _wait_until_drawn(page)
    assert _window(page) == (first, last)


def test_a_second_cursor_measures(open_page: OpenPage) -> None:
    page = open_page(query="from=1000000000&to=2000000000")
    start = _hover(page, "One-way delay", 0.25)
    page.keyboard.press("m")
    end = _hover(page, "One-way delay", 0.75)
    page.keyboard.press("m")
    part = page.get_by_role("region", name="Selected part", exact=True)
    assert f"range={start}-{end}" in page.url
    assert "500" in part.locator("b").first.inner_text()
    page.keyboard.press("Escape")
    expect(part).to_have_count(0)


def test_sentences_lead_to_their_place(open_page: OpenPage) -> None:
    page = open_page()
    sentences = page.locator(".why button")
    assert sentences.count() > 0
    sentence_list = page.evaluate("fetch('data/run/d1/aqm/cubic/1/reading.json').then(answer => answer.json())")[
        "sentences"
    ]
    for number in (0, len(sentence_list) - 1):
        assert sentences.nth(number).inner_text() == sentence_list[number]["text"].replace("`", "")
        sentences.nth(number).click()
        _wait_until_drawn(page)
        expect(sentences.nth(number)).to_have_attribute("aria-pressed", "true")
        first, last = _window(page) if "from=" in page.url else (0, 3 * 10**9)
        assert first <= sentence_list[number]["from_ns"] <= sentence_list[number]["to_ns"] <= max(last, 3 * 10**9)
        expect(page.locator(".highlight")).to_have_count(1)


def test_two_runs_lie_over_each_other(open_page: OpenPage, results: Path) -> None:
    page = open_page(query="from=1000000000&to=1020000000&with=d1/aqm/prague/1")
    time = _hover(page, "One-way delay", 0.5)
    assert float(_value(page, "flow 1/one_way_delay")) == pytest.approx(Log(results, "cubic").delay_ms(time), abs=1e-3)
    prague = Log(results, "prague")
    expect(page.locator("b[data-series='flow 1/one_way_delay'][data-other]")).to_be_visible()
    assert float(_value(page, "flow 1/one_way_delay", other=True)) == pytest.approx(prague.delay_ms(time), abs=1e-3)
    page.get_by_label("later by").fill("50")
    page.get_by_label("later by").press("Tab")
    _wait_until_drawn(page)
    time = _hover(page, "One-way delay", 0.5)
    delay_ms = float(_value(page, "flow 1/one_way_delay", other=True))
    assert delay_ms == pytest.approx(prague.delay_ms(time - 50_000_000), abs=1e-3)


def test_the_other_run_may_be_given_by_the_address_of_its_page(open_page: OpenPage) -> None:
    page = open_page()
    other = page.get_by_label("lay over it")
    other.fill(page.url.replace("/cubic/", "/prague/"))
    other.press("Tab")
    _wait_until_drawn(page)
    assert parse_qs(page.url.partition("#")[2].partition("?")[2])["with"] == ["d1/aqm/prague/1"]
    expect(page.locator("b[data-other]").first).to_be_visible()


def _rename(body: bytes) -> bytes:
    """Return a table in which every displayed name is a hostile one."""
    (length,) = struct.unpack_from("<I", body)
    head = json.loads(body[4 : 4 + length])
    arrays = body[(4 + length + 7) // 8 * 8 :]
    for series in head["meta"]["series"]:
        series["title"] = _HOSTILE
        if series.get("names"):
            series["names"] = [_HOSTILE for _ in series["names"]]
    for column in head["columns"]:
        if column["name"] == "event_text":
            column["names"] = [_HOSTILE for _ in column["names"]]
    text = json.dumps(head).encode()
    text += b" " * (-(4 + len(text)) % 8)
    return struct.pack("<I", len(text)) + text + arrays


def test_hostile_texts_stay_texts(open_page: OpenPage, page: Page) -> None:
    def facts(route: Route) -> None:
        facts_sent = route.fetch().json()
        for name in ("label", "scheme", "path", "reason", "log", "command", "directory"):
            facts_sent[name] = _HOSTILE
        facts_sent["flows"][0]["scheme"] = _HOSTILE
        facts_sent["files"][0]["name"] = _HOSTILE
        for series in facts_sent["series"]:
            series["title"] = _HOSTILE
        route.fulfill(json=facts_sent)

    def reading(route: Route) -> None:
        sentence = {"text": _HOSTILE, "from_ns": 0, "to_ns": 10**9, "flow": 1, "kind": _HOSTILE, "evidence": {}}
        route.fulfill(json={"sentences": [sentence]})

    def window(route: Route) -> None:
        route.fulfill(body=_rename(route.fetch().body()), content_type="application/octet-stream")

    page.route("**/facts.json", facts)
    page.route("**/reading.json", reading)
    page.route("**/window.bin*", window)
    open_page()
    page.get_by_role("button", name="values as a table").click()
    assert page.locator(".run h1").inner_text() == _HOSTILE
    assert page.locator(".why button").inner_text() == _HOSTILE
    assert page.locator(".files a", has_text=_HOSTILE).count() == 1
    assert page.locator("main img, main .run b > b, main code b").count() == 0
    assert page.evaluate("document.title") == f"{_HOSTILE}: dumbbell"


def test_the_static_site_says_what_it_keeps(open_page: OpenPage, site: Serve, results: Path) -> None:
    page = open_page(address=site(results))
    expect(page.locator(".note").first).to_contain_text("dumbbell serve")
    delays = Log(results, "cubic").rows(_DELIVER)["one_way_delay_ns"] / 1e6
    low, high = map(float, _value(page, "flow 1/one_way_delay").split(" to "))
    assert (low, high) == pytest.approx((delays.min(), delays.max()), abs=1e-3)
    page.keyboard.press("w")
    _wait_until_drawn(page)
    assert _window(page)[1] - _window(page)[0] == pytest.approx(1.5e9, abs=2)


def test_files_and_qlog_can_be_had(open_page: OpenPage, results: Path) -> None:
    page = open_page()
    with page.expect_download() as download:
        page.locator(".files a", has_text="packets.parquet").click()
    assert Path(download.value.path()).read_bytes() == (results / "runs/aqm/cubic/1/packets.parquet").read_bytes()
    with page.expect_download() as download:
        page.get_by_role("link", name="qlog of flow 1").click()
    assert b"qlog" in Path(download.value.path()).read_bytes()[:300]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_the_page_can_be_used_by_all(open_page: OpenPage, page: Page, width: int, scheme: str) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    open_page("cubic+prague", "from=400000000&to=500000000&range=420000000-450000000&with=d1/aqm/cubic/1")
    page.get_by_role("button", name="values as a table").click()
    page.get_by_role("button", name="packets as a table").click()
    page.locator(".stack").focus()
    page.keyboard.press("n")
    assert overflow(page) == 0
    assert axe(page) == []
    labels = page.locator(".stack canvas[role=img]:not([aria-hidden])").evaluate_all(
        "all => all.map(each => each.getAttribute('aria-label'))"
    )
    assert all(labels)
    assert any(re.search(r"One-way delay in ms from .* to ", label) for label in labels)


def test_the_table_has_the_samples_of_a_short_window(open_page: OpenPage, results: Path) -> None:
    first, last = 1_000_000_000, 1_003_000_000
    rows = Log(results, "cubic").rows(_DELIVER)
    inside = (rows["time_ns"] >= first) & (rows["time_ns"] <= last)
    page = open_page(query=f"from={first}&to={last}")
    page.get_by_role("button", name="values as a table").click()
    table = page.get_by_role("region", name="Values of the window").locator("tbody tr")
    assert 0 < table.count() <= 50
    times = {_ns(row.locator("th").inner_text()) for row in table.all()}
    assert set(rows["time_ns"][inside].tolist()) <= times


def test_a_zoom_is_soon_answered(open_page: OpenPage) -> None:
    page = open_page()
    page.locator(".stack").focus()
    for key in "wwwwsswd":
        took = page.evaluate(
            """key => new Promise(resolve => {
                const start = performance.now();
                const stack = document.querySelector('.stack');
                stack.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }));
                const look = () => {
                    const waits = document.querySelectorAll('.run [aria-busy=true]').length > 0;
                    const taken = performance.now() - start;
                    if (waits || taken < 100) requestAnimationFrame(look);
                    else resolve(taken);
                };
                requestAnimationFrame(look);
            })""",
            key,
        )
        assert took < _GENEROUS_MS


def test_a_run_without_packets_says_so(page: Page, serve_pages: Serve, tmp_path: Path) -> None:
    dumbbell.run(schemes=["cubic"], path="pantheon-4", duration=1.0, log="none", out=tmp_path / "none")
    page.goto(serve_pages(tmp_path / "none"))
    path = next((tmp_path / "none/runs").iterdir()).name
    page.evaluate("hash => { location.hash = hash; }", f"#/run/d1/{path}/cubic/1")
    expect(page.locator(".note")).to_contain_text("No packets were logged")
    expect(page.locator(".sequence")).to_have_count(0)
    expect(page.locator("figure[aria-label='In flight and window']")).to_be_visible()
    page.close()


def test_a_run_that_is_not_there_is_said_in_one_line(open_page: OpenPage, complaints: Complaints) -> None:
    page = open_page()
    page.evaluate("location.hash = '#/run/d1/aqm/nothing/7'")
    expect(page.get_by_role("alert")).to_contain_text("nothing")
    complaints.clear()
