#!/usr/bin/env python3
"""Write docs/reference/metrics.md from the definitions in the core: `python -m scripts.metrics_doc [--check]`.

`--check` writes nothing; the exit status is 1 if the page differs from the definitions.
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
key `b` of the object `a`, or of each object of the list `a`. An empty unit is a plain number. A number that a log does
not tell is null, never zero.

## Conventions

- **corrected**: payload only, from the end of the warm-up (`warmup_s`), without packets in flight at the end. Tables
  and figures show it unless the experiment has `convention = "pantheon"`.
- **pantheon**: Pantheon's analysis, defects included. The whole log counts, sizes contain the path's overhead, packets
  in flight at the end are lost, and each flow's rate divides by that flow's own span. Times are whole microseconds, as
  in its logs. Imported Pantheon data, and experiments that repeat Pantheon's tables, show it.
- **counter**: counted over the whole run, or a time mean of a counted quantity.
- **ccperf**: ccperf's names and formulas: payload, from the start of each flow until it stops, its transfer is
  complete, or the run ends. The suffix is the layer: `l1` the wire, `l2` the queue, `l4` the transport (windows in
  segments), `l7` the application. Means are exact time integrals.

`--convention pantheon` of `run`, `show`, `report`, `figure` and `diff` shows `throughput_mbps`, `delay_p95_ms` and
`loss_rate` in place of `goodput_mbps`, `owd_p95_ms` and `packet_loss_rate`. In Python it is
`dumbbell.open(directory, "pantheon")`.

**Competing.** Names that begin with `competing_` are of the time in which all flows of a run are active, after the
warm-up: from `competing_from_s` to `competing_to_s` of the network. They are null in runs of one flow, and if the flows
are never all active.

**Sampled.** Metrics marked "sampled" are computed from values per sample interval (`sample_interval_s`, 0.1 s unless
the experiment says otherwise). Variances, utilities and fairness depend on its length. An event at the beginning of an
interval is in it, an event at its end is not. A flow counts in the intervals in all of which it is active: from its
start until it stops, the last byte of its transfer has arrived, or the run ends. A mean of nothing is null.

A run whose numbers contradict each other (one flow with a Jain index other than 1, flows that do not sum to their
aggregate) fails. Delays are one-way, from the packet's entry into the path to its exit, each rounded to whole
microseconds. Percentiles are by nearest rank: of the n sorted values the one at index round(q (n - 1)), halves to even.
A log of one end has round-trip times (`rtt_...`) and no one-way delays. A log of totals (iperf3, `ss`) has no numbers
of single packets.

## Delays between two clocks

Metrics marked "one-way" are the time from one end of a path to the other. In simulation and emulation both ends have
one clock. Two machines have two clocks. Packets alone tell the sum of both directions' delays, not how it is shared
between them. Statistics of such runs have a key `clocks`:

- `uncertainty_ms`, `[low, high]`: the true one-way delay of the data direction is the stated one plus `low` to `high`;
  that of the return direction is the stated one minus these.
- `reverse`: numbers of the flows whose data goes the other way.
- `residual_us`: error of differences of one-way delays over time.
- `offset_ms`, `skew_ppm`, `method`, `steps`: clock offset, clock skew, how they were found, and steps of a clock during
  the run.
- `explained`: why delays can be below zero, in sentences for reports.

A one-way delay is then followed by `clocks low to high`, an interval that contains the true delay: in tables of `show`
and of reports, in `show --csv` (`NAME_clocks_low`, `NAME_clocks_high`), in `diff`, and in the numbers of figures. The
interval of a mean is the mean of the runs' intervals, and more runs do not make it narrower. Differences
(self-inflicted delay) and round-trip times have no such interval.

## Over several runs

Tables have means over the runs of a scheme on a path, and bounds:

- **Five runs or more**: `[low, high]`, the interval of the mean, nominally of 95 %. It is Student's t on the values or
  on their logarithms (Cox's interval of a log-normal mean, with t: Olsson 2005, Journal of Statistics Education
  13(1)), whichever reaches further at either end. Metrics marked "fraction", shares and harm have Student's t alone,
  which ends where the whole ends.
- **Two to four runs**: `(low to high)`, the smallest and the largest run. Of so few no interval holds: three runs
  with two equally likely values are all the same in a quarter of the cases.
- **Runs with one and the same value**: `(equal)`. If that is so of every metric, the runs are `identical`: there was no
  randomness in them, and they are no repetitions.

By simulation the interval contains the mean of normal and of log-normal values in 93 to 97 of 100 cases with 5 to 30
runs, and of two equally likely values in 93 to 98. The standard deviation of the logarithm was up to 1
(`tests/results/test_intervals.py`). Over runs of 22 schemes on three paths it is [measured](../evidence/intervals.md)
how often intervals hold: of 132 rows, the intervals of five runs contain the mean in 90 of 100 cases or more in 86, or
miss it by less than 1 % of it in 120.

**Modes.** No interval holds for a mode that none of the runs shows. A mode of one run in ten is in none of 5 runs in 59
of 100 cases, of 10 runs in 35, of 29 runs in 5: `--until modes`
[makes as many](../how-to/enough-runs.md#runs-until-means-are-known). If five runs or more fall into two modes, the row
and the findings [say so](findings.md#what-looks-wrong).

`dumbbell.core.harm(solo, with, more_is_better)` is the harm that a competitor does to a victim by any of these metrics
(Ware et al. 2019).

## Beside published numbers

If an experiment has [published numbers](../evidence/seed-california.md#published-numbers-in-an-experiment), the
object `published` of `dumbbell show DIR --json` has `error` in each row. It is (ours - published) / published of
`throughput_mbps` and `delay_p95_ms`, null if the published number is not above zero, and the difference
ours - published of `loss_rate`. `replication` has the replication error of each path, by which Pantheon says how far an
emulated path is from the real one (Yan et al., USENIX ATC 2018, section 5). Of the n `schemes` that have throughput t
and delay d on both sides:

    throughput = sum |t_ours - t_published| / t_published / n
    delay      = sum |d_ours - d_published| / d_published / n
    error      = (throughput + delay) / 2

t and d are means over the runs, of all flows together. Losses are not in it, nor rows with a reason in `uncounted`.
Reports and `dumbbell show` have the same numbers in percent; in Python it is `Results.replications()`.
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
    """Return the section of the page for one level."""
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
    """Write or compare the page."""
    metrics, label_definitions = metric_definitions(), labels()
    text = "\n".join([INTRODUCTION, *(section(level, metrics, label_definitions) for level in TITLES)])
    return write_or_compare({PAGE: text}, "scripts.metrics_doc", "the definitions")


if __name__ == "__main__":
    sys.exit(main())
