"""Tests of charts that answer: their sentences are dumbbell's findings, their tables its numbers."""

import csv
import io
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import pytest
from playwright.sync_api import Page, expect

import dumbbell
from support.shelf import Shelf
from web.conftest import Serve, axe, overflow
from web.made import LOOKS, make_columns, write_pages
from web.test_overview import HOSTILE, hostile_table


@pytest.fixture
def results(shelf: Shelf) -> Path:
    """Make three schemes alone and two mixes, five runs each."""
    schemes, mixes = ["cubic", "vegas", "copa"], ["cubic*2+bbr", "copa+cubic"]
    settings: dict[str, Any] = {"path": "pantheon-4", "runs": 5, "duration": 2.0, "log": "none"}
    return shelf.made("answers", lambda out: dumbbell.run(schemes=schemes, mixes=mixes, out=out, **settings))


@pytest.fixture
def swept(shelf: Shelf) -> Path:
    """Make a grid of two axes."""
    return shelf.grid


def answers(page: Page) -> list[str]:
    """Return the sentences below the titles of the charts."""
    page.locator(".chart .answer").first.wait_for()
    return [" ".join(text.split()) for text in page.locator(".answer").all_inner_texts()]


def test_sentences_are_the_findings(serve_pages: Serve, page: Page, results: Path) -> None:
    """The sentences on the front, the best scheme and the shares are those of `dumbbell show`, word by word."""
    findings = list(dumbbell.open(results).findings)
    address = serve_pages(results)
    page.goto(f"{address}#/charts")
    (sentence,) = answers(page)
    expected = [text for text in findings if text.startswith("Alone, ")]
    assert len(expected) == 3
    assert sentence == " ".join(expected)
    page.goto(f"{address}#/charts?chart=shares")
    assert answers(page) == [text for text in findings if text.startswith("Beside ")]


def test_the_first_page_answers_and_then_lists(serve_pages: Serve, page: Page, results: Path) -> None:
    """Findings and charts are above the table; with a filter the charts show the remaining runs."""
    page.goto(serve_pages(results))
    page.locator(".findings li").first.wait_for()
    assert page.locator(".findings li").all_inner_texts() == list(dumbbell.open(results).findings)
    assert page.locator(".answer").count() == 0
    assert page.locator(".plot svg").count() == 1
    assert page.locator("table.matrix").count() == 1
    chart, table = page.locator(".plot").bounding_box(), page.get_by_role("treegrid").bounding_box()
    assert chart is not None
    assert table is not None
    assert chart["y"] < table["y"]
    page.goto(f"{page.url.partition('#')[0]}#/runs?filter=scheme:copa&filter=scheme:vegas")
    expect(page.locator(".findings")).to_have_count(0)
    assert "vegas" in answers(page)[0]


def test_the_first_page_draws_sweeps_of_a_grid(serve_pages: Serve, page: Page, swept: Path) -> None:
    """The chart shows throughput and delay along the axis, not the plane of each cell."""
    page.goto(serve_pages(swept))
    page.locator(".plot svg").first.wait_for()
    labels = page.locator(".plot svg").evaluate_all("(all) => all.map((each) => each.ariaLabel)")
    assert {label.partition(" of each")[0] for label in labels} == {"Goodput", "P95 one-way delay"}


def test_sentences_with_few_runs(serve_pages: Serve, page: Page, swept: Path, tmp_path: Path) -> None:
    """Ranges of two runs are compared; a single run has none."""
    for runs in (1, 2):
        out = tmp_path / str(runs)
        dumbbell.run(schemes=["cubic", "bbr", "vegas"], path="default", runs=runs, duration=1.0, log="none", out=out)
        page.goto(f"{serve_pages(out)}#/charts")
        (sentence,) = answers(page)
        assert sentence == " ".join(dumbbell.open(out).findings[:2])


def test_bars_are_the_table_of_show(serve_pages: Serve, page: Page, results: Path) -> None:
    """The numbers beside the bars are means and intervals of `dumbbell show`."""
    page.goto(f"{serve_pages(results)}#/charts?chart=bars&metric=owd_p95_ms")
    page.locator(".bars tbody tr").first.wait_for()
    command = [sys.executable, "-m", "dumbbell", "show", str(results), "--csv"]
    rows = csv.DictReader(io.StringIO(subprocess.run(command, capture_output=True, text=True, check=True).stdout))
    means = {row["scheme"]: row for row in rows}
    bars = page.locator(".bars tbody tr")
    assert bars.count() == len(means)
    for text in bars.all_inner_texts():
        scheme, rest = text.split(None, 1)
        row = means[scheme]
        assert f"{float(row['owd_p95_ms']):.1f} ms" in rest
        if row["owd_p95_ms_bounds"] == "confidence":
            assert f"[{float(row['owd_p95_ms_low']):.1f}, {float(row['owd_p95_ms_high']):.1f}]" in rest


def test_a_point_tells_and_opens_its_run(serve_pages: Serve, page: Page, results: Path, complaints: list[str]) -> None:
    """The pointer on a run shows its numbers; a click opens it; a mean shows its runs in the table."""
    page.goto(f"{serve_pages(results)}#/charts?filter=scheme:cubic")
    plot = page.locator(".plot svg")
    plot.wait_for()
    page.wait_for_timeout(300)
    box = plot.bounding_box()
    assert box is not None
    tip = page.locator(".tip")
    spots = [(x, y) for y in range(4, int(box["height"]) - 45, 8) for x in range(60, int(box["width"]), 12)]
    for x, y in spots:
        page.mouse.move(box["x"] + x, box["y"] + y)
        if tip.count() and ", run " in tip.inner_text():
            break
    text = tip.inner_text()
    assert re.match(r"cubic, run \d", text)
    assert "P95 one-way delay" in text
    page.mouse.down()
    page.mouse.up()
    expect(page).to_have_url(re.compile("#/run/d1%2Findia-aws-india%2Fcubic%2F"))
    page.go_back()
    page.get_by_role("link", name=re.compile("^cubic: goodput")).focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("grid")).to_have_attribute("aria-rowcount", "6")


def test_a_brush_chooses_runs(serve_pages: Serve, page: Page, results: Path) -> None:
    """Dragging over runs filters the table by them."""
    page.goto(f"{serve_pages(results)}#/charts")
    plot = page.locator(".plot svg")
    plot.wait_for()
    page.wait_for_timeout(300)
    box = plot.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 30, box["y"] + 4)
    page.mouse.down()
    page.mouse.move(box["x"] + 200, box["y"] + 100)
    page.mouse.move(box["x"] + box["width"] - 2, box["y"] + box["height"] - 2)
    page.mouse.up()
    status = page.locator(".selection")
    expect(status).to_contain_text("25 runs chosen")
    page.get_by_role("link", name="Show these runs").click()
    expect(page.get_by_role("grid")).to_have_attribute("aria-rowcount", "26")
    assert "owd_p95_ms" in page.url


def test_filters_go_along(serve_pages: Serve, page: Page, results: Path) -> None:
    """The filter of the table also holds for the charts."""
    page.goto(f"{serve_pages(results)}#/runs?filter=scheme:copa&filter=scheme:vegas")
    page.get_by_role("link", name="Charts").click()
    expect(page.locator(".legend li")).to_have_count(2)
    page.get_by_role("button", name="Bars").click()
    expect(page.locator(".bars tbody tr")).to_have_count(2)
    page.reload()
    expect(page.locator(".bars tbody tr")).to_have_count(2)


def test_sweeps(serve_pages: Serve, page: Page, swept: Path) -> None:
    """A sweep has lines along an axis, and a panel for each value of the other; both make a heat map of each scheme."""
    address = serve_pages(swept)
    means: dict[tuple[str, str], list[float]] = {}
    for run in (made_run.statistics for made_run in dumbbell.open(swept).runs):
        means.setdefault((run["path"], run["scheme"]), []).append(run["network"]["goodput_mbps"])
    page.goto(f"{address}#/charts?chart=sweep&along=axis:qlen_bdp")
    expect(page.locator(".chart")).to_have_count(2)
    page.goto(f"{address}#/charts?chart=sweep&along=axis:qlen_bdp&over=axis:bw_factor")
    expect(page.locator(".chart")).to_have_count(2)
    cubic = page.locator(".chart", has_text="cubic")
    row = cubic.get_by_role("row").filter(has=page.get_by_role("rowheader", name="4", exact=True))
    values = [float(text.split()[0]) for text in row.get_by_role("cell").all_inner_texts()]
    cells = [f"default.bw_factor-4.qlen_bdp-{queue}" for queue in ("0.5", "1", "2")]
    expected = [means[cell, "cubic"] for cell in cells]
    assert values == [pytest.approx(sum(parts) / len(parts), abs=0.006) for parts in expected]
    row.get_by_role("link").first.click()
    expect(page.get_by_role("grid")).to_have_attribute("aria-rowcount", "3")


def test_shares(serve_pages: Serve, page: Page, results: Path) -> None:
    """The matrix has both sides of each mix; mixes that were not run are gaps."""
    page.goto(f"{serve_pages(results)}#/charts?chart=shares")
    row = page.get_by_role("row").filter(has=page.get_by_role("rowheader", name="cubic"))
    row.wait_for()
    cells = row.get_by_role("cell").all_inner_texts()
    assert len(cells) == 3
    shares = [float(cell.split()[0]) for cell in cells if cell.strip()]
    assert len(shares) == 2
    runs = [run.statistics for run in dumbbell.open(results).runs if run.scheme == "cubic*2+bbr"]
    got = [
        100 * sum(flow["competing_share"] or 0.0 for flow in run["flows"] if flow["scheme"] == "cubic") for run in runs
    ]
    assert shares[0] == pytest.approx(sum(got) / len(got), abs=0.06)


def test_a_hundred_thousand_points(files_served: Callable[[Path], str], page: Page, tmp_path: Path) -> None:
    """Every chart of 100,000 runs appears within a second or two."""
    table = make_columns(100_000)
    table["path"] = ["one"] * 100_000
    address = files_served(write_pages(tmp_path, table))
    for chart in ("plane", "bars", "ecdf"):
        page.goto(f"{address}#/charts?chart={chart}")
        page.reload()
        page.locator(".chart").first.wait_for()
        assert answers(page)[0]


def test_names_are_texts(files_served: Callable[[Path], str], page: Page, tmp_path: Path) -> None:
    """Charts show markup in names as text."""
    table = hostile_table()
    table["path"] = [HOSTILE[0]] * 4
    table["status"] = ["done"] * 4
    table["axis"] = ["<b>1</b>", "2", "2", "1"]
    address = files_served(write_pages(tmp_path, table))
    page.on("dialog", lambda dialog: pytest.fail(dialog.message))
    for chart in ("plane", "bars", "ecdf", "sweep"):
        page.goto(f"{address}#/charts?chart={chart}")
        page.locator(".chart").first.wait_for()
        assert page.locator("img, .chart b").count() == 0
        assert overflow(page) <= 0, chart


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_anybody_can_read_them(
    serve_pages: Serve, page: Page, results: Path, swept: Path, width: int, scheme: Literal["light", "dark"]
) -> None:
    """axe-core finds nothing serious, and no page is wider than the window."""
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": width, "height": 900})
    for address, charts in (
        (serve_pages(results), ("plane", "bars", "ecdf", "shares")),
        (serve_pages(swept), ("sweep",)),
    ):
        page.goto(address)
        for chart in charts:
            page.goto(f"{address.split('?')[0]}#/charts?chart={chart}")
            page.locator(".chart").first.wait_for()
            for details in page.locator(".chart summary").all():
                details.click()
            assert axe(page) == [], chart
            assert overflow(page) <= 0, chart


def test_every_scheme_has_its_look(files_served: Callable[[Path], str], page: Page, tmp_path: Path) -> None:
    """Schemes differ in marker or dashes too, not in colour alone."""
    page.goto(f"{files_served(write_pages(tmp_path, make_columns(500)))}#/charts")
    page.locator(".legend li").first.wait_for()
    looks = page.locator(".legend li svg").evaluate_all(
        "all => all.map((svg) => svg.querySelector('line').getAttribute('stroke-dasharray')"
        " + svg.querySelector('path').getAttribute('d'))"
    )
    assert len(set(looks)) == len(looks) == len(LOOKS)
