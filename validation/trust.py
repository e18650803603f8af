"""Reliability of each scheme: the section "How sure are we" in each page of docs/schemes, from all comparisons.

Usage: python -m validation.trust --write. Reads the pages on agreement (simulated beside real packets, ours beside real
implementations), the scorecard of published results (`validation/data/scorecard.json`) and the pages on Pantheon's
reports, and says for each scheme what came of it and what it was never compared with. `make fidelity` does so last.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import dumbbell
from dumbbell.present.tables import Table, markdown
from validation.fidelity.judging import SCORECARD, judge_results
from validation.fidelity.page import anchor
from validation.fidelity.published_check import load

ROOT = Path(__file__).resolve().parent.parent
EVIDENCE = ROOT / "docs" / "evidence"
PAGES = ROOT / "docs" / "schemes"
AGREEMENT = ("agreement", "agreement-more", "agreement-learned", "agreement-steps", "agreement-reordering")
REPORTS = {"seed-california": "Pantheon, January 2018", "seed-brazil": "Pantheon, September 2018"}
NOT_SCHEMES = ("README", "defaults")
OPENING = "<!-- trust: written by `python -m validation.trust --write` -->"
CLOSING = "<!-- /trust -->"
HEADING = "## How sure are we"
WITHIN, SPREAD, WIDE = "within", "spread", "wide"


@dataclass
class Evidence:
    """Comparisons of a scheme; each entry is a sentence or a clause."""

    packets: list[str] = field(default_factory=list)
    real: list[str] = field(default_factory=list)
    results: list[str] = field(default_factory=list)
    reports: list[str] = field(default_factory=list)


def schemes_of_pages(index: str) -> dict[str, list[str]]:
    """Return the schemes of each page that the index links, in the order of the index."""
    schemes_of: dict[str, list[str]] = {}
    for names, page in re.findall(r"\[(`[^\]]+`)\]\(([\w.-]+)\.md\)", index):
        for scheme in re.findall(r"`([\w.+-]+)`", names):
            if scheme not in schemes_of.setdefault(page, []):
                schemes_of[page].append(scheme)
    return schemes_of


def table_rows(text: str) -> Iterator[tuple[str, list[str]]]:
    """Yield the rows of a page's tables, each with the heading above it."""
    heading = ""
    for line in text.splitlines():
        if line.startswith("#"):
            heading = line.lstrip("# ")
        elif line.startswith("| "):
            yield heading, [cell.strip() for cell in line.strip("| ").split(" | ")]


def count(verdicts: list[str]) -> str:
    """Return verdicts in words."""
    within = verdicts.count(WITHIN)
    spread, wide = (sum(verdict.startswith(word) for verdict in verdicts) for word in (SPREAD, WIDE))
    rest = len(verdicts) - within - spread - wide
    parts = [f"{within} within bounds"] * bool(within) + [f"{spread} within the spread of repetitions"] * bool(spread)
    parts += [f"{wide} further apart than a spread can excuse"] * bool(wide)
    parts += [f"{rest} not judged or for a reason named there"] * bool(rest)
    return f"{len(verdicts)} {'path' if len(verdicts) == 1 else 'paths'}: {', '.join(parts)}"


def agreement(evidence: dict[str, Evidence]) -> None:
    """Collect the comparisons with real packets, and with real implementations."""
    for name in AGREEMENT:
        verdicts: dict[str, list[str]] = {}
        pairs: dict[tuple[str, str], list[str]] = {}
        for heading, cells in table_rows((EVIDENCE / f"{name}.md").read_text(encoding="utf-8")):
            pair = re.fullmatch(r"([\w.-]+) beside our ([\w.-]+)", heading)
            if pair and cells[0] != "path":
                pairs.setdefault((pair[1], pair[2]), []).append(cells[-1])
            elif not pair and cells[0] in evidence:
                verdicts.setdefault(cells[0], []).append(cells[-1])
        for scheme, verdict in verdicts.items():
            evidence[scheme].packets.append(f"{count(verdict)} ([{name}](../evidence/{name}.md))")
        for (real, own_scheme), verdict in pairs.items():
            text = f"{count(verdict)} ([{name}](../evidence/{name}.md#real-implementations-and-ours))"
            for scheme, other in ((own_scheme, real), (real, own_scheme)):
                if scheme in evidence:
                    evidence[scheme].real.append(f"`{other}`: {text}")


def name_pattern(scheme: str) -> re.Pattern[str]:
    """Return a pattern that finds a scheme in a sentence: its name, or its title without the protocol's."""
    title = dumbbell.schemes().find(scheme).title.removeprefix("TCP ")
    words = "|".join(re.escape(word) for word in {scheme, title})
    return re.compile(rf"(?<![\w-])(?:{words})(?![\w-])", re.IGNORECASE)


def collect_results(evidence: dict[str, Evidence]) -> None:
    """Collect results of papers from the scorecard."""
    for outcome in judge_results(load(SCORECARD)):
        claim = outcome.claim
        for scheme, scheme_evidence in evidence.items():
            rows = [
                row for row in outcome.rows if row.values or row.real if name_pattern(scheme).search(row.row.quantity)
            ]
            verdicts = [row.passed for row in rows if row.passed is not None]
            if not rows:
                continue
            text = f"{sum(verdicts)} of {len(verdicts)} judged rows pass" if verdicts else "not judged"
            wide = sum(row.uninformative for row in rows)
            text += f", {wide} uninformative" if wide else ""
            far = sum(bool(row.contradictions()) for row in rows)
            text += f", {far} with a contradiction" if far else ""
            scheme_evidence.results.append(
                f"[{claim.id}](../evidence/fidelity.md#{anchor(claim)}) {claim.title}: {text}"
            )


def reports(evidence: dict[str, Evidence]) -> None:
    """Collect Pantheon's published tables."""
    for name, title in REPORTS.items():
        columns: list[str] = []
        for heading, cells in table_rows((EVIDENCE / f"{name}.md").read_text(encoding="utf-8")):
            if cells[0] == "scheme":
                columns = cells
            match = re.match(r"`([\w.+-]+)` \(", cells[0])
            if match and match[1] in evidence:
                row = dict(zip(columns, (cell.split(" ")[0] for cell in cells), strict=True))
                evidence[match[1]].reports.append(
                    f"{title}, {heading.split(':')[0]}: {row['Mbit/s ours']} beside {row['Mbit/s published']} Mbit/s, "
                    f"p95 {row['p95 ms ours']} beside {row['p95 ms published']} ms ([{name}](../evidence/{name}.md))"
                )


WAYS = (  # what it was compared with, and how a page says that it was not
    ("packets", "its own code with real packets", "real packets"),
    ("real", "a real implementation beside it", "another implementation, in the same place"),
    ("results", "published results repeated", "a published result of the scorecard"),
    ("reports", "a table of Pantheon's", "a table of Pantheon's"),
)


def section(page: str, schemes: list[str], evidence: dict[str, Evidence]) -> str:
    """Return the section of one page."""
    rows = []
    never: dict[str, list[str]] = {}
    for scheme in schemes:
        for way, title, missing in WAYS:
            texts: list[str] = getattr(evidence[scheme], way)
            if texts:
                rows.append([f"`{scheme}`", title, "; ".join(texts)])
            else:
                never.setdefault(missing, []).append(f"`{scheme}`")
    table = [markdown.render(Table.of(["scheme", "compared with", "what came of it"], rows, "lll")), ""] if rows else []
    missing = [f"- with {ground}: {', '.join(names)}" for ground, names in never.items()]
    by_hand = (
        "What was compared by hand, with a program's source or with numbers of its authors, is in the sections above."
        if "Distance from" in page or "What was verified" in page
        else "Nothing else was compared."
    )
    return "\n".join([*table, *(["Never compared:", "", *missing, ""] if missing else []), by_hand])


def sections() -> dict[Path, str]:
    """Return the section of every page."""
    page_schemes = schemes_of_pages((PAGES / "README.md").read_text(encoding="utf-8"))
    known_names = {scheme.name for scheme in dumbbell.schemes()}
    evidence = {scheme: Evidence() for schemes in page_schemes.values() for scheme in schemes if scheme in known_names}
    for gather in (agreement, collect_results, reports):
        gather(evidence)
    section_of = {}
    for page in sorted(PAGES.glob("*.md")):
        if page.stem not in NOT_SCHEMES:
            schemes = [scheme for scheme in page_schemes.get(page.stem, []) if scheme in evidence]
            section_of[page] = section(page.read_text(encoding="utf-8"), schemes, evidence)
    return section_of


def with_section(text: str, section_text: str) -> str:
    """Return the page with the section, which is appended if the page had none."""
    whole_section = f"{HEADING}\n\n{OPENING}\n\n{section_text}\n\n{CLOSING}\n"
    if OPENING not in text:
        return f"{text.rstrip()}\n\n{whole_section}"
    before, _, rest = text.partition(f"{HEADING}\n\n{OPENING}")
    return before + whole_section + rest.partition(f"{CLOSING}\n")[2]


def main() -> None:
    """Write the sections, or print them."""
    parser = argparse.ArgumentParser(description="How sure are we, in each scheme's page.")
    parser.add_argument("--write", action="store_true")
    write = parser.parse_args().write
    for page, section_text in sections().items():
        if write:
            page.write_text(with_section(page.read_text(encoding="utf-8"), section_text), encoding="utf-8")
        else:
            sys.stdout.write(f"{page.stem}\n{section_text}\n\n")


if __name__ == "__main__":
    main()
