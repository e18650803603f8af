"""Tests of the time machine: its moves are the differences of `dumbbell diff`."""

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import pytest
from playwright.sync_api import Page, expect

import dumbbell
from dumbbell.present.serve.static import as_script
from support.shelf import Shelf
from web.conftest import Serve, axe, overflow
from web.made import make_columns, write_pages
from web.test_overview import HOSTILE


@pytest.fixture
def versions(shelf: Shelf) -> list[Path]:
    """Make three results directories; in the second one runs are longer."""

    def make(folder: Path) -> None:
        for name, seconds, seed in (("v1", 2.0, 1), ("v2", 4.0, 2), ("v3", 2.0, 3)):
            dumbbell.run(
                schemes=["cubic", "copa"],
                path="pantheon-4",
                runs=6,
                duration=seconds,
                seed=seed,
                log="none",
                out=folder / name,
            )

    folder = shelf.made("versions", make)
    return [folder / name for name in ("v1", "v2", "v3")]


def differences(base: Path, other: Path) -> dict[tuple[str, str], dict[str, Any]]:
    """Return the differences by `dumbbell diff` of the metrics that the page compares, by scheme and metric."""
    command = [sys.executable, "-m", "dumbbell", "diff", str(base), str(other), "--json"]
    document = json.loads(subprocess.run(command, capture_output=True, text=True, check=False).stdout)
    return {(row["scheme"], row["metric"]): row for row in document["rows"] if row["entity"] == "network"}


def test_moves_are_those_of_diff(serve_pages: Serve, page: Page, versions: list[Path]) -> None:
    """The moved rows are those that `dumbbell diff` calls different, with its numbers; the largest move is first."""
    page.goto(f"{serve_pages(*versions)}#/versions?moved=all")
    page.locator(".moved tbody tr").first.wait_for()
    rows = page.locator(".moved tbody tr").all_inner_texts()
    assert len(rows) == 6
    titles = {"goodput_mbps": "Goodput", "owd_p95_ms": "P95 one-way delay", "packet_loss_rate": "Loss"}
    factors = {"goodput_mbps": 1, "owd_p95_ms": 1, "packet_loss_rate": 100}
    digits = {"goodput_mbps": 2, "owd_p95_ms": 1, "packet_loss_rate": 2}
    for (scheme, metric), difference in differences(versions[0], versions[1]).items():
        (row,) = [row_cells for row_cells in rows if scheme in row_cells and titles[metric] in row_cells]
        for side in ("a", "b"):
            mean = factors[metric] * difference[side]["mean"]
            text = f"{mean:.{digits[metric]}f}"
            if float(text):
                assert text in row
        cells = row.split("\t")
        says_moved = bool(re.search("better|worse|moved", cells[4]))
        assert says_moved == (difference["verdict"] in ("different", "ranges apart")), (scheme, metric, cells[4])
    page.goto(f"{page.url.split('#')[0]}#/versions")
    expect(page.locator(".moved tbody tr")).to_have_count(sum("better" in row or "worse" in row for row in rows))


def test_the_address_has_it_all(serve_pages: Serve, page: Page, versions: list[Path]) -> None:
    """Base, others, and the list's content are in the address; a mean leads to its runs."""
    page.goto(f"{serve_pages(*versions)}#/versions")
    page.locator(".moved, .answer").first.wait_for()
    page.get_by_label("Base").select_option("d3")
    page.get_by_label("only what moved").uncheck()
    page.get_by_role("checkbox", name="v1").uncheck()
    page.get_by_placeholder("Path, scheme, metric").fill("copa goodput")
    page.keyboard.press("Enter")
    expect(page.locator(".moved tbody tr")).to_have_count(1)
    address = page.url
    page.goto("about:blank")
    page.goto(address)
    expect(page.locator("h1")).to_have_text("What moved since v3?")
    expect(page.locator(".moved tbody tr")).to_have_count(1)
    page.locator(".moved tbody a").first.click()
    expect(page.get_by_role("grid")).to_have_attribute("aria-rowcount", "13")


def test_one_directory_alone(serve_pages: Serve, page: Page, versions: list[Path]) -> None:
    """If no other directory exists, the page says how to get one."""
    page.goto(f"{serve_pages(versions[0])}#/versions")
    expect(page.locator("main")).to_contain_text("dumbbell serve OLD NEW")


def test_as_files_and_hostile(files_served: Callable[[Path], str], page: Page, tmp_path: Path) -> None:
    """On a static site the rows are files; names are texts; unreadable files are reported."""
    table = make_columns(20)
    table["directory"] = ["d1"] * 10 + ["d2"] * 10
    blank = {"experiment": "made", "version": "1", "date": "2026-11-01T00:00:00Z", "running": False}
    directories = [{"id": name, "label": HOSTILE[0] + name, **blank} for name in ("d1", "d2")]
    out = write_pages(tmp_path, table, directories)
    row = {"path": HOSTILE[2], "scheme": HOSTILE[1], "metric": "goodput_mbps", "title": HOSTILE[0], "unit": "Mbit/s"}
    row |= {
        "base": 1.0,
        "base_runs": 5,
        "other": 2.0,
        "other_runs": 5,
        "low": 0.5,
        "high": 1.5,
        "p": 0.01,
        "moved": True,
    }
    (out / "data" / "moved").mkdir()
    (out / "data" / "moved" / "d1-d2.json.js").write_text(as_script(json.dumps({"rows": [row]}).encode()))
    page.on("dialog", lambda dialog: pytest.fail(dialog.message))
    address = files_served(out)
    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": 900})
        page.goto(f"{address}#/versions")
        page.locator(".moved tbody tr").wait_for()
        assert page.locator("img").count() == 0
        assert HOSTILE[1] in page.locator(".moved").inner_text()
        assert "[+0.50, +1.50]" in page.locator(".moved").inner_text()
        assert overflow(page) <= 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_anybody_can_read_it(
    serve_pages: Serve, page: Page, versions: list[Path], width: int, scheme: Literal["light", "dark"]
) -> None:
    """axe-core finds nothing serious, and no page is wider than the window."""
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": width, "height": 900})
    page.goto(f"{serve_pages(*versions)}#/versions?moved=all")
    page.locator(".moved tbody tr").first.wait_for()
    assert axe(page) == []
    assert overflow(page) <= 0
