"""Coverage of intervals from few runs of real schemes, relative to the mean of many runs: docs/evidence/intervals.md.

`dumbbell run validation/data/intervals.toml --out DIR` makes the runs, about 25 minutes of one core.
"""

import argparse
import random
import statistics
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import dumbbell
from dumbbell.present.tables import Table, markdown
from dumbbell.results.analysis.modes import two_modes
from dumbbell.results.analysis.summary import Estimate

COUNTS = (5, 10, 20, 29)
"""Numbers of runs from which intervals are computed."""
SAMPLES = 1000
"""Number of samples of each size, drawn without replacement; the standard error of a coverage is below 1.6 of 100."""
METRICS = (("goodput_mbps", "goodput", 2), ("owd_p95_ms", "p95 one-way delay", 1))
LOW = 90.0
"""Coverage in percent below which a metric is listed."""
NEAR = 0.01
"""Share of the mean of all runs by which an interval may miss it without misleading anybody."""


@dataclass(frozen=True)
class Coverage:
    """Coverage of a metric of a scheme on a path: of 100 intervals, those that contain the mean of all runs.

    `near` counts those that contain the mean, or miss it by less than one per cent of its value.
    """

    path: str
    scheme: str
    metric: str
    values: list[float]
    within: dict[int, float]
    near: dict[int, float]


def coverages(results: dumbbell.Results) -> Iterator[Coverage]:
    """Yield the coverage of the main metrics of every scheme on every path."""
    for group in results.summary():
        for key, title, _ in METRICS:
            values = group.values.get(("network", 0, key), [])
            if len(values) > 2 * COUNTS[-1]:
                yield _coverage(group.path, group.scheme, title, values)


def _coverage(path: str, scheme: str, title: str, values: list[float]) -> Coverage:
    generator = random.Random(f"{path} {scheme} {title}")
    truth = statistics.fmean(values)
    within, near = {}, {}
    for count in COUNTS:
        estimates = [Estimate.of(generator.sample(values, count)) for _ in range(SAMPLES)]
        misses = [max((estimate.low or 0.0) - truth, truth - (estimate.high or 0.0), 0.0) for estimate in estimates]
        within[count] = 100.0 * statistics.fmean(miss <= 1e-12 * abs(truth) for miss in misses)
        near[count] = 100.0 * statistics.fmean(miss <= NEAR * abs(truth) for miss in misses)
    return Coverage(path, scheme, title, values, within, near)


def page(coverage_rows: list[Coverage], runs: int) -> str:
    """Return the page in Markdown."""
    count = len(coverage_rows)
    head = [
        "runs",
        f"of {count} rows: at least 90 of 100 contain the mean",
        "or miss it by less than 1 %",
        "median of 100",
    ]
    rows = [
        [
            number,
            sum(coverage.within[number] >= LOW for coverage in coverage_rows),
            sum(coverage.near[number] >= LOW for coverage in coverage_rows),
            f"{statistics.median(coverage.within[number] for coverage in coverage_rows):.1f}",
        ]
        for number in COUNTS
    ]
    worst = sorted(
        (coverage for coverage in coverage_rows if coverage.near[COUNTS[0]] < LOW),
        key=lambda coverage: coverage.near[COUNTS[0]],
    )
    return _PAGE.format(
        runs=runs,
        samples=SAMPLES,
        table=markdown.render(Table.of(head, rows)),
        worst=markdown.render(Table.of(_HEAD, map(_row, worst))),
    )


_PAGE = """# Coverage of intervals

How often a nominal 95 % interval of few runs contains the mean of {runs} runs, over runs of real schemes.
`dumbbell run validation/data/intervals.toml --out DIR` makes the runs, and
`python -m validation.intervals DIR --write docs/evidence/intervals.md` writes this page.
Each row is throughput or delay of one scheme on one path, with {samples} samples of the runs.

{table}

An interval knows only what its runs show. Where one run in fifty does something else (a flow that starves, a
queue that fills once), the intervals of the other runs are narrow and do not contain the mean of all. That is not
rare: the table below has every row in which more than 10 of 100 intervals of five runs miss the mean by more than
1 % of it, and how many of 100 do not. `dumbbell run --until modes` makes 29 runs, and
[findings](../reference/findings.md#what-looks-wrong) name two modes where the runs have them.

{worst}
"""

_HEAD = [
    *("path", "scheme", "metric", *(f"{count} runs" for count in COUNTS)),
    *("least", "mean", "most", "two modes in all runs"),
]


def _row(coverage: Coverage) -> list[object]:
    digits = next(digits for _, title, digits in METRICS if title == coverage.metric)
    modes = two_modes(coverage.values)
    mode_text = " and ".join(f"{mode.mean:.{digits}f} ({mode.runs} runs)" for mode in modes) if modes else "no"
    ends = (min(coverage.values), statistics.fmean(coverage.values), max(coverage.values))
    coverage_texts = (f"{coverage.near[count]:.0f}" for count in COUNTS)
    return [
        coverage.path,
        coverage.scheme,
        coverage.metric,
        *coverage_texts,
        *(f"{value:.{digits}f}" for value in ends),
        mode_text,
    ]


def main() -> int:
    """Print the page, or write it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("results", type=Path, help="results of validation/data/intervals.toml")
    parser.add_argument("--write", type=Path, help="the page; default: print it")
    arguments = parser.parse_args()
    results = dumbbell.open(arguments.results)
    coverage_rows = list(coverages(results))
    if not coverage_rows:
        print(f"{arguments.results}: more than {2 * COUNTS[-1]} runs of each scheme are needed", file=sys.stderr)
        return 2
    text = page(coverage_rows, results.experiment.runs)
    if arguments.write:
        arguments.write.write_text(text, encoding="utf-8")
    else:
        print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
