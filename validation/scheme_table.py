"""One run of each scheme on three paths: the table at the top of docs/schemes/README.md, and those of their pages.

Usage: python -m validation.scheme_table [--write]. Which schemes a table has, and the links of the index, stay as the
pages have them; a row of the index with several names shows the first.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

import dumbbell
from dumbbell.present.tables import Table, markdown

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "schemes"
INDEX = FOLDER / "README.md"
ROW = re.compile(r"^\| (?P<names>\[`(?P<scheme>[\w.+-]+)`.*?) \|(?P<cells>( [\d.]+ / \d+ / [\d.]+ \|)+)$", re.MULTILINE)
LAST = "packets lost after 5 s %"
HEAD = ["scheme", "path", "throughput Mbit/s", "goodput Mbit/s", "p95 delay ms", "loss %", LAST]
TABLE = re.compile(rf"^\|.* {LAST} \|\n\|[-:|]+\|\n(?P<rows>(?:\|.*\|\n)+)", re.MULTILINE)
NAME = re.compile(r"`([\w.+-]+)`")
PATHS = {
    "12 Mbit/s, 40 ms, 40 packets": {"rate": "12mbit", "rtt": "40ms", "queue": "40p"},
    "50 Mbit/s, 40 ms, 166 packets, 0.5 % loss": {"rate": "50mbit", "rtt": "40ms", "queue": "166p", "loss": "0.5%"},
    "100.42 Mbit/s, 54 ms, 173 packets": {"rate": "100.42mbit", "rtt": "54ms", "queue": "173p"},
}
SECONDS = 30.0

FlowsOfScheme = dict[str, list[dict[str, Any]]]
"""The statistics of each scheme's flow, path by path."""


def measure_flows(schemes: list[str]) -> FlowsOfScheme:
    """Run each scheme on each path."""
    flows_of: FlowsOfScheme = {scheme: [] for scheme in schemes}
    paths = [dumbbell.make_path(**words) for words in PATHS.values()]
    with tempfile.TemporaryDirectory() as folder:
        result = dumbbell.run(
            schemes=schemes, path=paths, runs=1, duration=SECONDS, exact=True, out=Path(folder) / "out", log="none"
        )
        runs = {(run.statistics["path"], run.scheme): run.statistics for run in result.runs}
    for path in paths:
        for scheme in schemes:
            run = runs[path.name, scheme]
            if run["status"] != "done":
                sys.exit(f"{scheme} on {path.name}: {run['reason']}")
            flows_of[scheme].append(run["flows"][0])
    return flows_of


def index(text: str, flows: FlowsOfScheme) -> str:
    """Return the index with Mbit/s, p95 of the one-way delay in ms, and loss in % in its cells."""

    def row(match: re.Match[str]) -> str:
        values = [
            f"{flow['throughput_mbps']:.1f} / {flow['delay_p95_ms']:.0f} / {100 * flow['loss_rate']:.2f}"
            for flow in flows[match["scheme"]]
        ]
        return markdown.line([match["names"], *values])

    return ROW.sub(row, text)


def listed_schemes(page: Path, text: str) -> list[str]:
    """Return the schemes of a page's table; if it has no names, the scheme of the page."""
    search = TABLE.search(text)
    return list(dict.fromkeys(NAME.findall(search["rows"]) or [page.stem])) if search else []


def table(schemes: list[str], flows: FlowsOfScheme) -> str:
    """Return the table of a page."""
    rows = []
    for scheme in schemes:
        for path, flow in zip(PATHS, flows[scheme], strict=True):
            rates = [f"{flow['throughput_mbps']:.2f}", f"{flow['goodput_mbps']:.2f}"]
            losses = [f"{100 * flow['loss_rate']:.2f}", f"{100 * flow['packet_loss_rate']:.3f}"]
            rows.append([f"`{scheme}`", path, *rates, f"{flow['delay_p95_ms']:.1f}", *losses])
    return f"{markdown.render(Table.of(HEAD, rows, align='ll'))}\n"


def main() -> None:
    """Print the rows of the index, or write the index and the tables of the pages."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    text = INDEX.read_text(encoding="utf-8")
    pages = {page: page.read_text(encoding="utf-8") for page in sorted(FOLDER.glob("*.md")) if page != INDEX}
    of_pages = {page: listed_schemes(page, content) for page, content in pages.items()}
    names = [row["scheme"] for row in ROW.finditer(text)]
    flows = measure_flows(
        list(dict.fromkeys([*names, *(name for page_schemes in of_pages.values() for name in page_schemes)]))
    )
    text = index(text, flows)
    if not options.write:
        print("\n".join(row[0] for row in ROW.finditer(text)))
        return
    INDEX.write_text(text, encoding="utf-8")
    for page, content in pages.items():
        if search := TABLE.search(content):
            table_text = table(of_pages[page], flows)
            page.write_text(content[: search.start()] + table_text + content[search.end() :], encoding="utf-8")


if __name__ == "__main__":
    main()
