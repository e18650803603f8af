"""Every suite of conformance cases with its schemes: the page docs/evidence/conformance.md.

Usage: python -m validation.conformance [--write] [--real]. Simulated cases are run anew each time. `--real` makes the
runs with real packets as well (kernel controllers and QUIC, some minutes, on a machine with nothing else to do) and
keeps their part of the page in validation/data/conformance-real.md; without it the page has what was kept.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from pathlib import Path

import dumbbell
import dumbbell_conformance
from dumbbell.present.tables import Table, markdown

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "evidence" / "conformance.md"
HEAD = Path(__file__).parent / "data" / "conformance-head.md"
KEPT = Path(__file__).parent / "data" / "conformance-real.md"
ORDER = ("bbr", "cubic", "reno", "prague", "ledbat", "rfc9743", "safety")
REAL = {
    "bbr": (("kernel-bbr", "quic-bbr"), ("1", "10", "14", "15", "16", "17")),
    "cubic": (("kernel-cubic", "quic-cubic"), ("6",)),
    "reno": (("kernel-reno", "quic-reno"), ("1", "5")),
}
"""Schemes and cases with real packets: cases of both transports that packets alone can show, in some minutes."""


def simulate(folder: Path) -> list[dumbbell_conformance.Conformance]:
    """Return every suite with the schemes that it names."""
    return [dumbbell_conformance.check_conformance(name, out=folder / name) for name in ORDER]


def real(folder: Path) -> str:
    """Return the part of the page with real packets."""
    parts = ["## With real packets", f"`python -m validation.conformance --write --real`, {dumbbell.__version__}."]
    for name, (schemes, cases) in REAL.items():
        check_conformance = dumbbell_conformance.check_conformance(
            name, schemes=schemes, cases=cases, backend="emu", out=folder / f"{name}-real"
        )
        parts += [f"### {check_conformance.suite.title}, real packets", markdown.render(check_conformance.table())]
        parts.append("\n".join(f"- {line}" for line in check_conformance.reasons if ": not applicable" not in line))
    return "\n\n".join(part for part in parts if part) + "\n"


def summary(results: list[dumbbell_conformance.Conformance]) -> str:
    """Return the numbers of passed and failed cases, by suite and scheme."""
    counts: dict[str, dict[str, Counter[str]]] = {}
    for suite_result in results:
        for verdict in suite_result.verdicts:
            counts.setdefault(verdict.scheme, {}).setdefault(suite_result.suite.name, Counter())[verdict.verdict] += 1
    names = [result.suite.name for result in results]

    def cell(counts_of: Counter[str] | None) -> str:
        return "" if counts_of is None else f"{counts_of['pass']} / {counts_of['fail']}"

    rows = [[f"`{scheme}`", *(cell(suites.get(name)) for name in names)] for scheme, suites in sorted(counts.items())]
    return markdown.render(Table.of(["scheme", *names], rows, "l" * (1 + len(names))))


def page(results: list[dumbbell_conformance.Conformance], with_packets: str) -> str:
    """Return the page."""
    parts = [HEAD.read_text(encoding="utf-8").format(summary=summary(results))]
    parts += [result.markdown() for result in results]
    return "\n".join([*parts, with_packets])


def main() -> int:
    """Print the page, or write it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help=f"write {PAGE.relative_to(ROOT)}; default: print it")
    parser.add_argument("--real", action="store_true", help="make the runs with real packets too")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="dumbbell-conformance-") as folder:
        if arguments.real:
            KEPT.write_text(real(Path(folder)), encoding="utf-8")
        kept_page = KEPT.read_text(encoding="utf-8") if KEPT.exists() else ""
        text = page(simulate(Path(folder)), kept_page)
    if arguments.write:
        PAGE.write_text(text, encoding="utf-8")
    else:
        print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
