"""Tests of the page on the library and of its notebook: their code runs unchanged."""

import re
from pathlib import Path

import pytest

import dumbbell
from support.pages.blocks import ROOT, run_page, texts
from support.waiting import TIMEOUT_S

PAGE = ROOT / "docs" / "reference" / "library.md"
NOTEBOOK = ROOT / "docs" / "reference" / "notebook.ipynb"


@pytest.mark.pages
def test_every_example_of_the_page_runs(tmp_path: Path) -> None:
    assert len(texts(PAGE, "python")) > 8
    assert "unknown scheme `cubik` (did you mean `cubic`?)" in run_page(PAGE, tmp_path)
    assert {file.name for file in tmp_path.iterdir()} >= {"means.svg", "throughput.svg", "delay.svg", "results"}


def test_the_page_shows_every_figure() -> None:
    table = PAGE.read_text(encoding="utf-8").partition("| figure |")[2].partition("\n\n")[0]
    assert set(re.findall(r"`([a-z-]+)`", table)) == {figure_kind["kind"] for figure_kind in dumbbell.figure_kinds()}


@pytest.mark.slow  # the page on the library, which runs, shows all that it does
def test_the_notebook_runs_and_shows_figures(tmp_path: Path) -> None:
    nbformat = pytest.importorskip("nbformat", reason="nbformat is not installed: `make test` does it")
    nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed: `make test` does it")
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    nbclient.NotebookClient(notebook, timeout=int(TIMEOUT_S), resources={"metadata": {"path": str(tmp_path)}}).execute()
    outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    assert not [output for output in outputs if output.output_type == "error"]
    shown_data = [output["data"] for output in outputs if output.output_type in ("execute_result", "display_data")]
    assert sum("image/svg+xml" in data for data in shown_data) >= 6
    assert sum("text/html" in data for data in shown_data) >= 2


def test_the_rendered_notebook_is_of_this_source() -> None:
    nbformat = pytest.importorskip("nbformat", reason="nbformat is not installed: `make test` does it")
    page = (ROOT / "docs" / "reference" / "notebook.html").read_text(encoding="utf-8")
    text = re.sub(r"<[^>]+>", "", page)
    for cell in nbformat.read(NOTEBOOK, as_version=4).cells:
        if cell.cell_type == "code":
            first = cell.source.splitlines()[0].replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
            assert first.replace('"', "&quot;") in text or first in text, cell.source
            assert not cell.outputs, "outputs are kept in the rendered page only"
