"""Fit of the cellular presets' parameters to recorded links, and its accuracy.

Usage: python -m validation.cellular_fit [--check] [--links NAME,...] [--seconds S]. Without `--check` the parameters
are searched for; with it those of the shipped presets are measured. Prints a table: found / published.

Three statistics of each recorded link are matched, none of any scheme. The recordings are those of Winstein et al.
(Sprout, NSDI 2013), in `traces/` of ravinet/mahimahi@ae477d4:

- the mean rate, which the element holds by itself;
- the 95th percentile over time of the age of an omniscient sender's newest packet: 20 ms more than the time since
  the last opportunity;
- the longest gap between opportunities in the length of the recording (the median over seeds is compared).

Two parameters are searched for. A faster reversion keeps the rate away from zero, so that outages are rarer: it is
bisected for the age. The longest gap is inversely proportional to the rate at which outages end, which is corrected by
their ratio. Both in turn. The sigma and the maximum keep the element's relation to the mean.
"""

from __future__ import annotations

import argparse
import math
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import dumbbell
from dumbbell.core.paths import opportunities
from dumbbell.present.tables import Table, markdown

ONE_WAY_MS = 20.0
LTE_KBPS = 5000.0
HEAD = ("link", "reversion 1/s", "escape 1/s", "mean kbit/s", "age p95 ms", "longest gap ms", "time in gaps > 1 s, %")
HALVINGS = 9
SLOWEST, FASTEST = 0.05, 5.0


@dataclass(frozen=True)
class Link:
    """A measured link: mean rate, omniscient age, and longest gap in a recording's length."""

    preset: str
    direction: str
    mean_kbps: float
    age_p95_ms: float
    seconds: float
    gap_ms: float | None


LINKS = [
    Link("cellular-verizon-lte-down", "data", 5230, 50, 140.0, 1447),
    Link("cellular-verizon-lte-down", "ack", 6057, 57, 140.0, 1718),
    Link("cellular-att-lte-down", "data", 5183, 70, 786.1, 1515),
    # The longest gap, 78 s, is a hole in the recording's coverage: no exponential outage is like it.
    Link("cellular-att-lte-down", "ack", 923, 187, 1012.5, None),
    Link("cellular-tmobile-umts-down", "data", 2086, 408, 928.4, 5753),
    Link("cellular-tmobile-umts-down", "ack", 968, 298, 931.2, 5830),
    Link("cellular-verizon-evdo-down", "data", 541, 910, 1062.0, 11567),
    Link("cellular-verizon-evdo-down", "ack", 841, 489, 1064.7, 11198),
]


@dataclass(frozen=True)
class LinkFigures:
    """Statistics of generated links as in `Link`, and the share of time in gaps longer than 1 s."""

    mean_kbps: float
    age_p95_ms: float
    gap_ms: float
    long_gaps: float


def shipped_element(link: Link) -> dict[str, Any]:
    """Return the preset's element."""
    path = dumbbell.paths().find(link.preset)
    elements = path.data if link.direction == "data" else path.ack
    return next(element for element in elements if element["kind"] == "cellular")


def measure(element: dict[str, Any], link: Link, seconds: float, first_seed: int = 1) -> LinkFigures:
    """Return statistics of runs of the recording's length that make up `seconds`, on slow links up to six times."""
    path = {"data": [element], "ack": []}
    gaps: list[NDArray[np.float64]] = []
    longest: list[float] = []
    count = 0
    # Slow links are cheap to simulate and need longer runs: a few long outages decide their age.
    runs = max(3, round(seconds * min(max(LTE_KBPS / link.mean_kbps, 1.0), 6.0) / link.seconds))
    for seed in range(first_seed, first_seed + runs):
        times = np.array(opportunities(path, "data", seed, link.seconds), dtype=np.float64) / 1e6
        count += len(times)
        gaps.append(np.diff(times, prepend=0.0, append=link.seconds * 1e3))
        longest.append(float(gaps[-1].max()))
    every = np.concatenate(gaps)
    return LinkFigures(
        mean_kbps=count * 12.0 / (runs * link.seconds),
        age_p95_ms=ONE_WAY_MS + age(every, 0.95),
        gap_ms=float(np.median(longest)),
        long_gaps=float(every[every > 1000.0].sum() / every.sum()),
    )


def age(gaps: NDArray[np.float64], share: float) -> float:
    """Return the time since the last opportunity that is exceeded for at most 1 - `share` of the time."""
    ordered_gaps = np.sort(gaps)[::-1]
    sums, number = np.cumsum(ordered_gaps), np.arange(1, len(ordered_gaps) + 1)
    # If the n longest gaps are longer than a, the time beyond a is their sum - n a.
    ages = (sums - (1.0 - share) * ordered_gaps.sum()) / number
    following = np.append(ordered_gaps[1:], 0.0)
    return float(ages[np.argmax(ages >= following)])


def fit(link: Link, seconds: float) -> dict[str, Any]:
    """Return the element whose statistics are the link's."""
    element: dict[str, Any] = {"kind": "cellular", "mean_mbps": link.mean_kbps / 1e3, "outage_escape_per_s": 1.0}
    low, high = SLOWEST, FASTEST
    for budget_s in (seconds, seconds, 4.0 * seconds, 4.0 * seconds):
        reversion = match_age(element, link, budget_s, low, high)
        element["reversion_per_s"] = reversion
        if link.gap_ms is not None:
            ratio = measure(element, link, budget_s).gap_ms / link.gap_ms
            element["outage_escape_per_s"] = round_to(element["outage_escape_per_s"] * ratio)
        low, high = reversion / 2.0, reversion * 2.0
    element["reversion_per_s"] = match_age(element, link, 10.0 * seconds, low, high)
    return element


def match_age(element: dict[str, Any], link: Link, seconds: float, low: float, high: float) -> float:
    """Return the reversion, between two bounds, with which the element has the link's age."""
    for _ in range(HALVINGS):
        middle = math.sqrt(low * high)
        old = measure({**element, "reversion_per_s": middle}, link, seconds).age_p95_ms > link.age_p95_ms
        low, high = (middle, high) if old else (low, middle)
    return round_to(math.sqrt(low * high))


def round_to(value: float) -> float:
    """Round to three digits."""
    return float(f"{value:.3g}")


def row(task: tuple[Link, bool, float]) -> list[str]:
    """Return one row of the table."""
    link, check, seconds = task
    element = shipped_element(link) if check else fit(link, seconds)
    # The search used other seeds.
    figures = measure(element, link, 10.0 * seconds, first_seed=100_001)
    gap = "-" if link.gap_ms is None else f"{link.gap_ms:.0f}"
    return [
        f"`{link.preset}`, {link.direction}",
        f"{element['reversion_per_s']:.3g}",
        f"{element['outage_escape_per_s']:.3g}",
        f"{figures.mean_kbps:.0f} / {link.mean_kbps:.0f}",
        f"{figures.age_p95_ms:.0f} / {link.age_p95_ms:.0f}",
        f"{figures.gap_ms:.0f} / {gap}",
        f"{100.0 * figures.long_gaps:.1f}",
    ]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--links", default="", help="parts of preset names")
    parser.add_argument("--seconds", type=float, default=6000.0, help="of generated link per step of the search")
    arguments = parser.parse_args()
    parts = arguments.links.split(",")
    links = [link for link in LINKS if any(part in link.preset for part in parts)]
    print(markdown.render(Table.of(HEAD, [])))
    with ProcessPoolExecutor() as pool:
        for cells in pool.map(row, [(link, arguments.check, arguments.seconds) for link in links]):
            print(markdown.line(cells), flush=True)


if __name__ == "__main__":
    main()
