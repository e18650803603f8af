"""Dependence of ccperf's queueing figures of experiment #15 on the times of its samples.

Usage: python -m validation.ccperf_sampling [--write docs/evidence/ccperf-ns3.md]. Simulates the experiment with samples
every 0.1 ms, takes means over samples at other times, and prints them beside the published values. It takes a few
seconds.
"""

from __future__ import annotations

import argparse
import datetime
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import dumbbell
from dumbbell.present.tables import Table, markdown
from scripts.blocks import replace_block

STEP_S = 1e-4
STEPS = 150_000
MS = 10
"""Number of steps in 1 ms."""

BASE_RTT_MS = 54.0
PACKET_BYTES = 1502
PACKET_MS = PACKET_BYTES * 8 / 100.42e6 * 1e3
"""Transmission time of a packet at the bottleneck, ms."""

PUBLISHED = (0.56, 2.08, 0.30)
"""Estimated queueing delay, ms; queue, packets; queue delay, ms."""
NEAR = 0.10

Steps = Any  # an array of numbers of steps
Means = tuple[float, float, float, float]
"""Figures in the order of `PUBLISHED`, and the queue times `PACKET_MS`."""


@dataclass(frozen=True)
class Series:
    """Values at the end of every step."""

    srtt_ms: Any
    """Smoothed RTT, ms; not a number before the first round trip."""
    queue: Any
    delivered_bytes: Any

    def means(self, at: Steps) -> Means:
        """Return the means over samples at these steps; queue delays are means of the packets between two samples."""
        since = np.concatenate([[0], at])
        waited_ms = np.diff(np.concatenate([[0.0], np.cumsum(self.queue)])[since]) * STEP_S * 1e3
        packets = np.diff(self.delivered_bytes[since]) / PACKET_BYTES
        left = packets > 0
        queue = float(self.queue[at].mean())
        delay_ms = float((waited_ms[left] / packets[left]).mean())  # Little's law
        return float(np.nanmean(self.srtt_ms[at])) - BASE_RTT_MS, queue, delay_ms, queue * PACKET_MS


def equal(interval: int, first: int) -> Steps:
    """Return samples at equal intervals."""
    return np.arange(first, STEPS + 1, interval)


def by_rtt(srtt_ms: Sequence[float], factor: float, first: int, tick: int = 1) -> Steps:
    """Return samples that are `factor` smoothed RTTs apart, each at a multiple of `tick` steps."""
    sample_times, at = [], float(first)
    while at <= STEPS:
        sample_times.append(max(int(at) // tick * tick, 1))
        srtt = srtt_ms[sample_times[-1]]
        at = sample_times[-1] + factor * (BASE_RTT_MS if np.isnan(srtt) else srtt) * MS
    return np.array(sample_times)


def simulate(**transport: float) -> tuple[Series, Means]:
    """Return the series of the experiment, with these changes of its transport, and its exact figures."""
    scheme = dumbbell.schemes().find("ns3-newreno")
    flow = {
        "scheme": scheme.name,
        "controller": scheme.controller,
        "parameters": {name: str(value).lower() for name, value in scheme.parameters.items()},
        "transport": {**scheme.transport, **transport},
    }
    run = dumbbell.simulate(
        {
            "seed": 42,
            "duration_s": STEPS * STEP_S,
            "warmup_s": 0.0,
            "log": "none",
            "sample_interval_s": STEP_S,
            "path": dumbbell.paths().find("static.india_to_aws_india").spec(),
            "flows": [flow],
        }
    )
    series = Series(
        hold(run.samples(1, "srtt"), float("nan")),
        hold(run.links("data/bottleneck", "queue"), 0.0),
        hold(run.links("data/bottleneck", "delivered"), 0.0),
    )
    statistics: dict[str, Any] = run.statistics
    (flow_found,) = statistics["flows"]
    link = next(candidate for candidate in statistics["links"] if candidate["link"] == "data/bottleneck")
    queue = link["mean_qdisc_length_l2"]
    return series, (flow_found["mean_est_qdelay_l4"], queue, link["mean_qdisc_delay_l2"], queue * PACKET_MS)


def hold(table: Any, before: float) -> Any:  # noqa: ANN401 (a table of arrays)
    """Return the latest value at every step."""
    latest = np.full(STEPS + 1, -1)
    values = np.asarray(table["value"], dtype=float)
    latest[np.rint(np.asarray(table["time_ns"]) / (STEP_S * 1e9)).astype(int)] = np.arange(len(values))
    latest = np.maximum.accumulate(latest)
    return np.where(latest >= 0, values[np.clip(latest, 0, None)], before)


def rows(series: Series, exact: Means) -> Iterable[list[str]]:
    """Yield the rows of the table."""
    yield ["published", *(f"{value:.2f}" for value in PUBLISHED), "", ""]
    yield ["exact: integrals over time, each packet once", *numbers(exact), ""]
    yield ["the same, timestamps without a tick", *numbers(simulate(timestamp_ms=0.0)[1]), ""]
    yield ["the same without the last 70 ms", *numbers(series.means(np.arange(1, STEPS + 1 - 70 * MS))[:2]), "", "", ""]
    part = slice(400 * MS, 750 * MS)
    shares = [float(np.sum(values[part]) / STEPS) for values in (series.srtt_ms - BASE_RTT_MS, series.queue)]
    yield ["of the mean: from 0.40 to 0.75 s", *numbers(shares), "", "", ""]
    yield ["every 10 ms", *numbers(series.means(equal(10 * MS, 10 * MS))), ""]
    intervals = range(60, 111, 2)
    means = [series.means(equal(ms * MS, first * MS)) for ms in intervals for first in range(1, ms + 1)]
    yield ["every 60 to 110 ms, each first sample", *spreads(means)]
    means_apart: Callable[[float, int], list[Means]] = lambda factor, tick: [  # noqa: E731 (two rows of each)
        series.means(by_rtt(series.srtt_ms, factor, first * MS, tick)) for first in range(1, int(BASE_RTT_MS * factor))
    ]
    for tick, rounding in ((1, ""), (MS, ", in whole ms")):
        for factor in (1.0, 1.25, 1.5, 2.0):
            yield [f"smoothed RTT x {factor:g} apart{rounding}", *spreads(means_apart(factor, tick))]


def numbers(means: Sequence[float]) -> list[str]:
    """Return one value for each figure."""
    return [f"{value:.{digits}f}" for value, digits in zip(means, (2, 2, 3, 3), strict=False)]


def spreads(means: Sequence[Means]) -> list[str]:
    """Return median and range of each figure, and the share in which all three are near the published ones."""
    low, middle, high = (np.quantile(means, part, axis=0) for part in (0.0, 0.5, 1.0))
    cells = [
        f"{middle[at]:.{digits}f} [{low[at]:.{digits}f}, {high[at]:.{digits}f}]"
        for at, digits in enumerate((2, 2, 3, 3))
    ]
    near = sum(
        all(
            abs(value / published_value - 1) <= NEAR
            for value, published_value in zip(mean_values, PUBLISHED, strict=False)
        )
        for mean_values in means
    )
    return [*cells, f"{near} of {len(means)}"]


def main() -> None:
    """Simulate the experiment, print the table, and write it if asked to."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--write", type=Path, help="page with the markers `ccperf-sampling`")
    page = parser.parse_args().write
    head = ["samples", "estimated queueing delay, ms", "queue, packets", "queue delay, ms"]
    head += ["queue x time of a packet, ms", f"all three within {NEAR:.0%}"]
    table = markdown.render(Table.of(head, list(rows(*simulate())), "lrrrrr"))
    origin = f"Written by `python -m validation.ccperf_sampling`, {datetime.datetime.now(datetime.UTC):%Y-%m-%d}."
    print(table)
    if page:
        replace_block(page, "ccperf-sampling", f"{origin} Medians, with the smallest and the largest value.\n\n{table}")


if __name__ == "__main__":
    main()
