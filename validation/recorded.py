"""Accuracy of `dumbbell reproduce` on captures, qlogs and iperf3's JSON of known paths: the paths and the flows.

Usage: python -m validation.recorded [--quick]. Runs of our own simulator are written as tcpdump, a QUIC stack and
iperf3 would have recorded them. Writes its tables into docs/how-to/reproduce.md. Takes about ten minutes.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

import dumbbell
import dumbbell_reproduce
from dumbbell.present.tables import Table, markdown
from dumbbell_reproduce.kernel_tcp import UNLIMITED
from dumbbell_reproduce.score import score
from scripts.blocks import replace_block
from tests.support.inputs.recorded_sets import recorded_sets

PAGE = Path(__file__).resolve().parent.parent / "docs" / "how-to" / "reproduce.md"
SCHEMES = ("cubic-linux", "bbr", "vegas")
KINDS = ("pcap", "qlog", "iperf3")


@dataclass(frozen=True)
class Truth:
    """A path: Mbit/s, ms, queue in bandwidth-delay products, and random loss in percent."""

    rate_mbps: float
    rtt_ms: float
    queue_bdp: float
    loss_percent: float = 0.0

    @property
    def queue_bytes(self) -> float:
        """Return the length of the queue, bytes."""
        return self.queue_bdp * self.rate_mbps * self.rtt_ms * 125.0

    def path(self) -> dumbbell.PathModel:
        """Return the path itself."""
        words = {"rate": f"{self.rate_mbps:g}mbit", "rtt": f"{self.rtt_ms:g}ms", "queue": f"{self.queue_bdp:g}bdp"}
        return dumbbell.make_path(**words | ({"loss": f"{self.loss_percent:g}%"} if self.loss_percent else {}))


TRUTHS = (
    Truth(5, 40, 1),
    Truth(5, 120, 2),
    Truth(12, 20, 4),
    Truth(12, 100, 0.5),
    Truth(20, 50, 1),
    Truth(8, 60, 1, 0.2),
)
FLOWS = 3
"""Number of flows, which start together, as those of `iperf3 -P` do."""


@dataclass
class Errors:
    """Relative errors of the paths of one kind of sets, and its rows."""

    rate: list[float] = field(default_factory=list)
    rtt: list[float] = field(default_factory=list)
    queue: list[float] = field(default_factory=list)
    rows: list[dumbbell_reproduce.Reproduction] = field(default_factory=list)
    flows: list[dumbbell_reproduce.Reproduction] = field(default_factory=list)


def main() -> None:
    """Record, reproduce, compare, and write the tables."""
    parser = argparse.ArgumentParser(description="How well `dumbbell reproduce` finds the paths of recorded sets.")
    parser.add_argument("--quick", action="store_true", help="one path; the page stays as it is")
    parser.add_argument("--runs", type=int, default=1)
    options = parser.parse_args()
    errors_of: dict[str, Errors] = defaultdict(Errors)
    for truth in TRUTHS[:1] if options.quick else TRUTHS:
        for flows in (1, FLOWS):
            with tempfile.TemporaryDirectory() as folder:
                more = {"flows": flows} if flows > 1 else {}
                place = recorded_sets(Path(folder), truth.path(), SCHEMES, 20.0, seed=3, **more)
                for kind in KINDS if flows == 1 else KINDS[::2]:
                    result = dumbbell_reproduce.reproduce(
                        place / kind, place / f"{kind}-out", runs=options.runs, jobs=1, sockets=UNLIMITED
                    )
                    _take(errors_of[kind], truth, result, flows)
        print(f"{truth} is done", file=sys.stderr)
    text = f"{markdown.render(_paths(errors_of))}\n\n{markdown.render(_flows(errors_of))}"
    print(text)
    if not options.quick:
        replace_block(PAGE, "recorded", text)


def _take(errors: Errors, truth: Truth, result: dumbbell_reproduce.Reproduction, flows: int) -> None:
    if flows > 1:
        errors.flows.append(result)
        return
    errors.rows.append(result)
    model = result.paths[0].model
    link = next(element for element in model.data if element["kind"] == "link")
    errors.rate.append(abs(link["rate_mbps"] / truth.rate_mbps - 1.0))
    errors.rtt.append(abs(model.describe().base_rtt_ms / truth.rtt_ms - 1.0))
    queue = (link.get("queue") or {}).get("bytes")
    errors.queue.append(1.0 if queue is None else abs(queue / truth.queue_bytes - 1.0))


def _paths(errors_of: dict[str, Errors]) -> Table:
    head = ["set", "rate, median and largest error", "round trip", "queue", "runs within both", "runs", "causes told"]
    rows = []
    for kind, errors in errors_of.items():
        values = (errors.rate, errors.rtt, errors.queue)
        spans = [f"{100 * median(value):.1f} %, {100 * max(value):.1f} %" for value in values]
        scores = [result.scores["exact"] for result in errors.rows]
        causes = [cause.kind for result in errors.rows for row in result.rows for cause in row.causes]
        cause_text = ", ".join(f"{causes.count(cause)} {cause}" for cause in dict.fromkeys(causes)) or "none"
        rows.append(
            [
                kind,
                *spans,
                sum(path_score.within_both for path_score in scores),
                sum(path_score.rows for path_score in scores),
                cause_text,
            ]
        )
    return Table.of(head, rows, "lrrrrrl")


def _flows(errors_of: dict[str, Errors]) -> Table:
    head = ["set of three flows", "flows", "median error of throughput", "of the delay", "of the sum's throughput"]
    rows = []
    for kind, errors in errors_of.items():
        counted_rows = [row for result in errors.flows for row in result.rows if row.counts]
        if not counted_rows:
            continue
        single, whole_score = (
            score(row.exact for row in counted_rows if (row.flow > 0) == level) for level in (True, False)
        )
        values = (single.median_throughput, single.median_delay, whole_score.median_throughput)
        rows.append([kind, single.rows, *("-" if value is None else f"{100 * value:.0f} %" for value in values)])
    return Table.of(head, rows, "lrrrr")


if __name__ == "__main__":
    main()
