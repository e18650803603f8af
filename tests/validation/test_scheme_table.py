"""Tests of the tables of the schemes' pages: one measurement fills all, so that no page contradicts the index."""

import re
from pathlib import Path
from typing import Any

import pytest

from validation import scheme_table

INDEX = scheme_table.INDEX.read_text(encoding="utf-8")
CELLS = {
    name: [re.split(" / ", cell.strip()) for cell in row["cells"].strip("| ").split("|")]
    for row in scheme_table.ROW.finditer(INDEX)
    for name in scheme_table.NAME.findall(row["names"])
}
PAGES = [page for page in sorted(scheme_table.FOLDER.glob("*.md")) if scheme_table.LAST in page.read_text()]


def flow(throughput: float) -> dict[str, Any]:
    return {
        **{"throughput_mbps": throughput, "goodput_mbps": throughput / 2, "delay_p95_ms": 41.26},
        **{"loss_rate": 0.0123, "packet_loss_rate": 0.00456},
    }


def test_a_row_has_each_path_and_numbers_are_rounded() -> None:
    table = scheme_table.table(["reno"], {"reno": [flow(11.956), flow(5.0), flow(93.0)]})
    first = "| `reno` | 12 Mbit/s, 40 ms, 40 packets | 11.96 | 5.98 | 41.3 | 1.23 | 0.456 |"
    assert table.splitlines()[2] == first
    assert len(table.splitlines()) == 2 + len(scheme_table.PATHS)
    assert scheme_table.TABLE.fullmatch(table)
    index = "| [`reno`](reno.md), [`cubic`](cubic.md) | 0 / 0 / 0 | 0 / 0 / 0 | 0 / 0 / 0 |"
    index_text = scheme_table.index(index, {"reno": [flow(11.956), flow(5.0), flow(93.0)]})
    assert (
        index_text
        == "| [`reno`](reno.md), [`cubic`](cubic.md) | 12.0 / 41 / 1.23 | 5.0 / 41 / 1.23 | 93.0 / 41 / 1.23 |"
    )


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_says_what_the_index_says(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    table = scheme_table.TABLE.search(text)
    assert table is not None
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table["rows"].splitlines()]
    schemes = scheme_table.listed_schemes(page, text)
    assert [row[:2] for row in rows] == [[f"`{name}`", path] for name in schemes for path in scheme_table.PATHS]
    for number, row in enumerate(rows):
        name = schemes[number // len(scheme_table.PATHS)]
        stated_cell = CELLS[name][number % len(scheme_table.PATHS)]
        rate, _, delay, loss, _ = map(float, row[2:])
        assert rate == pytest.approx(float(stated_cell[0]), abs=0.0551), row
        assert delay == pytest.approx(float(stated_cell[1]), abs=0.551), row
        assert loss == float(stated_cell[2]), row
