"""The table of schemes at the top of docs/schemes/README.md: one run of each on three paths.

Usage: python -m validation.scheme_table [--write]. The rows and their links stay as the page has them; a row of several
names shows the first.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
from pathlib import Path

import dumbbell
from dumbbell.present.tables import markdown

PAGE = Path(__file__).resolve().parent.parent / "docs" / "schemes" / "README.md"
ROW = re.compile(r"^\| (?P<names>\[`(?P<scheme>[\w.+-]+)`.*?) \|(?P<cells>( [\d.]+ / \d+ / [\d.]+ \|)+)$", re.MULTILINE)
PATHS = (
    {"rate": "12mbit", "rtt": "40ms", "queue": "40p"},
    {"rate": "50mbit", "rtt": "40ms", "queue": "166p", "loss": "0.5%"},
    {"rate": "100.42mbit", "rtt": "54ms", "queue": "173p"},
)
SECONDS = 30.0


def cells(schemes: list[str]) -> dict[str, list[str]]:
    """Return what the table says of each scheme on each path: Mbit/s, p95 of the one-way delay in ms, loss in %."""
    found: dict[str, list[str]] = {scheme: [] for scheme in schemes}
    paths = [dumbbell.make_path(**words) for words in PATHS]
    with tempfile.TemporaryDirectory() as folder:
        done = dumbbell.run(
            schemes=schemes, path=paths, runs=1, duration=SECONDS, exact=True, out=Path(folder) / "out", log="none"
        )
        runs = {(run.statistics["path"], run.scheme): run.statistics for run in done.runs}
    for path in paths:
        for scheme in schemes:
            run = runs[path.name, scheme]
            if run["status"] != "done":
                sys.exit(f"{scheme} on {path.name}: {run['reason']}")
            flow = run["flows"][0]
            rate, delay, loss = flow["throughput_mbps"], flow["delay_p95_ms"], 100.0 * flow["loss_rate"]
            found[scheme].append(f"{rate:.1f} / {delay:.0f} / {loss:.2f}")
    return found


def main() -> None:
    """Print the rows, or write them into the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    text = PAGE.read_text(encoding="utf-8")
    measured = cells([row["scheme"] for row in ROW.finditer(text)])
    text = ROW.sub(lambda row: markdown.line([row["names"], *measured[row["scheme"]]]), text)
    if options.write:
        PAGE.write_text(text, encoding="utf-8")
    else:
        print("\n".join(row[0] for row in ROW.finditer(text)))


if __name__ == "__main__":
    main()
