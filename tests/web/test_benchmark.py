"""The pages of a benchmark in a browser: from the disk, from a web server, and served."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

import dumbbell
from dumbbell.base.json_text import to_json
from dumbbell.results.benchmark_directory import Benchmark
from support.results.benchmark import EXAMINED, make
from web.conftest import Complaints, Serve, axe, overflow


@pytest.fixture(scope="module")
def benchmark(tmp_path_factory: pytest.TempPathFactory) -> Benchmark:
    """Make three experiments with their pages, and the file that marks the directory as a benchmark."""
    made_benchmark = make(
        tmp_path_factory.mktemp("pages") / "benchmark", ["steady_state_single_flow", "short", "competition"]
    )
    for part in made_benchmark.parts:
        (made_benchmark.directory / "experiments" / f"{part.name}.toml").write_bytes(
            (made_benchmark.directory / "plans" / f"{part.name}.toml").read_bytes()
        )
    note = {"schemes": list(EXAMINED), "quick": True}
    (made_benchmark.directory / "benchmark.json").write_text(to_json(note))
    assert dumbbell.write_report(made_benchmark.directory) == [made_benchmark.directory / "index.html"]
    return made_benchmark


def test_pages_open_from_the_disk(benchmark: Benchmark, page: Page) -> None:
    """All pages open without a server: verdicts, the scorecard, an experiment, a run and its files."""
    page.goto(f"file://{benchmark.directory}/index.html")
    page.locator(".grid [role=gridcell]").first.wait_for()
    assert page.url.startswith(f"file://{benchmark.directory}/pages/index.html")
    page.get_by_role("link", name="Verdicts", exact=True).click()
    rows = json.loads((benchmark.directory / "verdicts.json").read_text())
    verdicts = page.locator("table.verdicts tbody tr")
    expect(verdicts).to_have_count(len(rows))
    for row, text in zip(rows, verdicts.all_inner_texts(), strict=True):
        assert row["verdict"] in text
    page.locator("table.verdicts a").first.click()
    page.get_by_role("heading", name="Test of steady_state_single_flow <x>").wait_for()
    findings = dumbbell.open(benchmark.directory / "experiments/steady_state_single_flow").findings
    page.locator(".findings li").first.wait_for()
    assert page.locator(".findings li").all_inner_texts() == list(findings)
    base = page.url.partition("#")[0]
    page.goto(f"{base}#/run/d1%2Fdefault%2Fcopa%2F1")
    page.locator("ol.why li").first.wait_for()
    for link in page.locator(".files a").evaluate_all("(all) => all.map((each) => each.href)"):
        assert Path(link.removeprefix("file://")).is_file()
    page.goto(f"{base}#/scorecard")
    page.get_by_role("heading", name="Scorecard: RFC 9743").wait_for()
    assert page.locator(".criterion").count() == 25


def test_competition_and_transfers(benchmark: Benchmark, page: Page) -> None:
    """Shares, harm and completion times by size are above the runs of their experiments."""
    base = f"file://{benchmark.directory}/pages/index.html"
    page.goto(f"{base}#/runs?filter=directory:d2")
    page.get_by_role("heading", name="Share beside each competitor").wait_for()
    assert page.get_by_role("heading", name="Harm to the competitor\u2019s one-way delay").count() == 1
    page.goto(f"{base}#/runs?filter=directory:d3")
    page.get_by_role("heading", name="Flow completion time, mean (s), default").wait_for()
    heads = page.locator("table.matrix").first.locator("thead th").all_inner_texts()
    assert heads == ["by bytes", "3000", "20000"]


def test_a_run_that_the_pages_lack_is_said(
    benchmark: Benchmark, page: Page, tmp_path: Path, complaints: Complaints
) -> None:
    page.goto(f"file://{benchmark.directory}/pages/index.html#/run/d2%2Fdefault.versus-alone%2Fbbr%2F2")
    expect(page.get_by_role("alert")).to_contain_text("`dumbbell serve` shows every run")
    complaints.clear()


def test_the_same_is_served_and_written_as_a_site(
    benchmark: Benchmark, serve_pages: Serve, files_served: Callable[[Path], str], page: Page, tmp_path: Path
) -> None:
    """`dumbbell serve` of a benchmark has the verdicts, and every run; `dumbbell site` writes the same pages."""
    site = files_served(dumbbell.write_site(benchmark.directory, out=tmp_path / "site"))
    texts = []
    for address in (serve_pages(benchmark.directory), site, f"file://{benchmark.directory}/pages/index.html"):
        page.goto(f"{address}#/verdicts")
        page.locator("table.verdicts tbody tr").first.wait_for()
        texts.append(page.locator("table").all_inner_texts())
    assert texts[0] == texts[1] == texts[2]
    page.goto(f"{serve_pages(benchmark.directory)}#/run/d2%2Fdefault.versus-alone%2Fbbr%2F2")
    page.locator("ol.why li").first.wait_for()


def test_a_benchmark_is_shown_alone(benchmark: Benchmark) -> None:
    single = benchmark.directory / "experiments/short"
    with pytest.raises(dumbbell.Error, match="is a benchmark: it is shown alone"):
        dumbbell.serve(benchmark.directory, single)


@pytest.mark.parametrize("width", [1280, 390])
def test_anybody_can_read_them(benchmark: Benchmark, serve_pages: Serve, page: Page, width: int) -> None:
    """axe-core finds nothing serious, and no page is wider than the window."""
    page.set_viewport_size({"width": width, "height": 900})
    address = serve_pages(benchmark.directory)
    for view in ("runs", "verdicts", "scorecard", "runs?filter=directory:d2", "runs?filter=directory:d3"):
        page.goto(f"{address}#/{view}")
        page.wait_for_timeout(1000)
        assert axe(page) == [], view
        assert overflow(page) <= 0, view
