#!/usr/bin/env python3
"""Writes docs/reference/metrics.md from the definitions in the core: `python -m scripts.metrics_doc [--check]`.

With `--check` nothing is written; the exit status is 1 if the page differs from the definitions.
"""

import sys
from pathlib import Path
from typing import Any

from dumbbell.core.metrics import labels, metric_definitions
from dumbbell.present.tables import Table, markdown
from scripts.generated import write_or_compare

PAGE = Path(__file__).parent.parent / "docs" / "reference" / "metrics.md"

INTRODUCTION = """\
# Metrics

Written by `scripts/metrics_doc.py` from `crates/measure/src/definitions/`, the only place where metrics are
defined. Do not edit.

`dumbbell list metrics` prints the same list, `dumbbell show DIR --json` the values. In the
[database](database.md) they are rows of the table `metric`, and these definitions are the table `definition`. `a.b` is
key `b` of the object `a`, or of each object of the list `a`. An empty unit is a plain number.

## Conventions

- **pantheon**: as Pantheon's analysis computes it, defects included. The whole log counts, sizes contain the path's
  overhead, packets still under way at the end are lost, and each flow's rate divides by that flow's own span. Times
  are whole microseconds, as in its logs. Use it to compare with Pantheon's results: `--convention pantheon`.
- **corrected**: payload only, from the end of the warm-up (`warmup_s`), without packets under way at the end. Tables
  and figures show it unless the experiment has `convention = "pantheon"`.
- **counter**: counted over the whole run, or a time mean of a counted quantity.
- **ccperf**: ccperf's names and formulas: payload, from the start of each flow until it stops, its transfer is
  complete, or the run ends. The suffix is the layer: `l1` the wire, `l2` the queue, `l4` the transport (windows in
  segments), `l7` the application. Means are exact time integrals; null where a log does not tell.

Names that begin with `competing_` are of the time in which all flows of a run are active, after the warm-up: from
`competing_from_s` to `competing_to_s` of the network, which tables of shares name in their headings. They are null in
runs of one flow, and where the flows are never all active.

Metrics marked "sampled" are computed from values per sample interval (`sample_interval_s`, 0.1 s unless the experiment
says otherwise; `network.sample_interval_s` repeats it): variances, utilities and fairness depend on its length. What
happens at the beginning of an interval is in it, what happens at its end is not, nor in the state at its end. A flow
counts in the intervals in all of which it is active: from its start until it stops, the last byte of its transfer has
arrived, or the run ends. A mean of nothing is null. A run whose numbers contradict each other (one flow with a Jain
index other than 1, flows that do not sum to their aggregate) fails.

## Delays between two clocks

Metrics marked "one-way" are the time from one end of a path to the other. In simulation and emulation both ends have
one clock. Between two machines they have two, and how far those are apart cannot be known from the packets alone: only
the sum of both directions' delays can, not how it is shared between them. Statistics of such runs have a key `clocks`:

- `uncertainty_ms`, `[low, high]`: the true one-way delay of the data direction is what is stated plus `low` to `high`;
  that of the return direction is what is stated minus as much.
- `reverse`: numbers of the flows whose data goes the other way.
- `residual_us`: to how much differences of one-way delays over time are exact.
- `offset_ms`, `skew_ppm`, `method`, `steps`: how far the clocks were apart, how fast that changed, how it was found,
  and steps of a clock during the run.
- `explained`: why delays can be below zero, in sentences. A report quotes it where a run has such.

Behind a one-way delay then stands `clocks low to high`, where the true one lies: in tables of `show` and of reports, in
`show --csv` (`NAME_clocks_low`, `NAME_clocks_high`), in `diff`, and in the numbers of figures. Behind a mean it is the
mean of the runs' intervals: what the clocks leave open is the same in every run of a path, and does not become less
with more of them. Differences (self-inflicted delay) and round-trip times have no such interval.

## Over several runs

Tables have means over the runs of a scheme on a path. Behind a mean stands, of

- **five runs or more**: `[low, high]`, the interval of the mean, nominally of 95 %. It is Student's t on the values or
  on their logarithms (Cox's interval of a log-normal mean, with t: Olsson 2005, Journal of Statistics Education
  13(1)), whichever reaches further at either end. By simulation it contains the mean of normal and of log-normal
  values (standard deviation of the logarithm up to 1) in 93 to 97 of 100 cases with 5, 6, 8, 10 and 30 runs, and of
  two equally likely values in 93 to 98 (`crates/measure/src/statistics/` and `tests/results/test_intervals.py` repeat
  that). No interval holds for what is seen in none of the runs: a failure in one of a hundred.
  Where five runs or more fall into two modes, the row and the findings [say so](findings.md#what-looks-wrong), with the
  mean and the number of runs of each. A mode of one run in ten is in none of 5 runs in 59 of 100 cases, of 10 runs in
  35, of 29 runs in 5: `--until modes` [makes as many](../how-to/enough-runs.md#runs-until-means-are-known).
  Over runs of 22 schemes on three paths it is [measured](../evidence/intervals.md) how often intervals hold, which is
  why 95 % is called nominal: of 132
  rows, the intervals of five runs contain the mean in 90 of 100 cases or more in 86, or miss it by less than 1 % of it
  in 120. Metrics marked "fraction", shares and harm are fractions of a whole: theirs is Student's t alone, and ends
  where the whole ends.
- **two to four runs**: `(low to high)`, the smallest and the largest run. Of so few no interval holds: three runs
  with two equally likely values are all the same in a quarter of the cases.
- **runs with one and the same value**: `(equal)`. Where that is so of every metric, the runs are `identical`: there
  was no chance in them, and they are no repetitions.

`dumbbell.core.harm(solo, with, more_is_better)` is the harm that a competitor does to a victim by any of these metrics
(Ware et al. 2019).

## Beside published numbers

Where an experiment has [published numbers](../evidence/seed-california.md#published-numbers-in-an-experiment), the
object `published` of `dumbbell show DIR --json` has `error` in each row: (ours - published) / published of
`throughput_mbps` and `delay_p95_ms`, null where the published number is not above zero; of `loss_rate` the difference
ours - published. Under `replication`, of each path, is the replication error, by which Pantheon says how far an
emulated path is from the real one (Yan et al., USENIX ATC 2018, section 5). Of the n `schemes` that have throughput t
and delay d on both sides:

    throughput = sum |t_ours - t_published| / t_published / n
    delay      = sum |d_ours - d_published| / d_published / n
    error      = (throughput + delay) / 2

t and d are means over the runs, of all flows together. Losses are not in it, nor a row that says in `uncounted` why it
is none to compare with. Reports and `dumbbell show` have the same numbers in percent; in Python it is
`Results.replications()`.

What a log does not tell is null, never zero: an imported log of one end has round-trip times (`rtt_...`) and no one-way
delays, and a log of totals (iperf3, `ss`) has neither records nor what is computed from them.

Delays are one-way, from the packet's entry into the path to its exit, each rounded to whole microseconds. Percentiles
are by nearest rank: of the n sorted values the one at index round(q (n - 1)), halves to even.
"""

TITLES = {"flow": "Flows", "link": "Links", "network": "Network"}
WHERE = {
    "flow": "One entry of `flows` per flow. `media` is null unless the flow's application is an encoder: a live video "
    "source whose frames the receiver decodes.",
    "link": "One entry of `links` per link-like element; `links[0]` is the bottleneck of the data direction: the "
    "link there that could carry least over the run.",
    "network": "The object `network`: all flows together.",
}


def section(level: str, metrics: list[dict[str, Any]], labels: list[dict[str, str]]) -> str:
    """The part of the page on one level."""
    lines = [f"## {TITLES[level]}", "", WHERE[level], ""]
    rows = []
    for metric in metrics:
        if metric["level"] == level:
            convention = metric["convention"] + (", sampled" if metric["sampled"] else "")
            convention += ", one-way" if metric["one_way"] in ("data", "return") else ""
            convention += ", fraction" if metric["fraction"] else ""
            rows.append([f"`{metric['name']}`", metric["unit"], convention, metric["formula"], metric["source"]])
    lines.append(markdown.render(Table.of(["name", "unit", "convention", "formula", "source"], rows)))
    meanings = [f"`{label['name']}` ({label['meaning']})" for label in labels if label["level"] == level]
    if meanings:
        lines += ["", "Keys that are no metrics:", ""] + [f"- {meaning}" for meaning in meanings]
    return "\n".join(lines) + "\n"


def main() -> int:
    """Writes the page, or compares it."""
    metrics, named = metric_definitions(), labels()
    text = "\n".join([INTRODUCTION, *(section(level, metrics, named) for level in TITLES)])
    return write_or_compare({PAGE: text}, "scripts.metrics_doc", "the definitions")


if __name__ == "__main__":
    sys.exit(main())
