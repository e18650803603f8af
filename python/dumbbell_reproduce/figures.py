"""The figures of a reproduction: simulated over measured values, and the most deviating runs over time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from dumbbell_reproduce.packets import RunPackets
from dumbbell_reproduce.score import TOLERANCES, Row, is_off
from dumbbell_reproduce.viewpoint import BOTH_ENDS, DELAY, RATE

if TYPE_CHECKING:
    from dumbbell.present.plots import Panel, Style
    from dumbbell_reproduce.reproduction import ReproductionData

MOST_OVER_TIME = 3
"""Number of runs that are drawn over time."""
_BINS = 120
"""Number of intervals of a run over time."""
_LEAST_MS = 100.0


def scatters(reproduction: ReproductionData) -> Iterator[tuple[str, str]]:
    """Yield the figures of throughput and delay, each as a label and SVG. A run is a point."""
    from dumbbell.present.plots import MeasuredPoint, for_page, measured_figure

    looks = _looks(reproduction.rows)
    for number, (name, unit, words) in enumerate(((RATE, "Mbit/s", "throughput"), (DELAY, "ms", reproduction.delay))):
        points = []
        for row in reproduction.rows:
            comparison = row.comparison[name]
            if (
                row.flow
                or not row.counts
                or comparison is None
                or not min(comparison.measured_value, comparison.mean) > 0.0
            ):
                continue
            values = f"measured {comparison.measured_value:.4g}, simulated {comparison.mean:.4g} {unit}"
            description = f"{row.run.place}: {row.label}: {values}"
            look = looks[row.run.name]
            points.append(
                MeasuredPoint(
                    row.run.name,
                    look,
                    comparison.measured_value,
                    comparison.mean,
                    comparison.low,
                    comparison.high,
                    description,
                )
            )
        if points:
            label = f"Simulated over measured {words}"
            yield label, for_page(measured_figure(f"m{number}", label, unit, points, TOLERANCES[name]), label)


def over_time(reproduction: ReproductionData) -> Iterator[tuple[str, str]]:
    """Yield throughput and delay over time of the most deviating runs, each as a label and SVG."""
    from dumbbell.present.plots import for_page, time_figure

    for number, row in enumerate(furthest(reproduction.rows)):
        label = f"{row.run.place}: {row.label}"
        yield label, for_page(time_figure(f"t{number}", _panels(row)), label)


def furthest(rows: Sequence[Row]) -> list[Row]:
    """Return the most deviating runs that count and have packets on both sides."""
    deviating = [row for row in rows if row.flow == 0 and row.counts and is_off(row.comparison)]
    return [
        row
        for row in deviating
        if row.simulated_folder is not None and row.run.view is BOTH_ENDS and row.run.has_packets
    ][:MOST_OVER_TIME]


def _panels(row: Row) -> list[Panel]:
    from dumbbell.present.plots import Curve, Panel, Stroke

    assert row.simulated_folder is not None, "a row that is drawn has a simulated run"
    sides = (
        ("measured", Stroke("black", "o"), row.run.packets),
        ("simulated", Stroke("crimson", "^", (4.0, 2.0)), RunPackets(row.simulated_folder)),
    )
    rates, delays = [], []
    for label, stroke, packets in sides:
        way = packets.way()
        width = max(packets.end_ms / _BINS, _LEAST_MS)
        place = np.maximum(way.arrived_ms // width, 0.0).astype(np.int64)
        count = int(place.max()) + 1 if len(place) else 0
        time_s = (np.arange(count) + 0.5) * width / 1e3
        packets_in = np.bincount(place, minlength=count)
        sums = np.bincount(place, weights=way.delays_ms, minlength=count)
        means = np.divide(sums, packets_in, out=np.full(count, np.nan), where=packets_in > 0)
        rates.append(
            Curve(label, stroke, time_s, np.bincount(place, weights=way.sizes, minlength=count) * 8e-3 / width)
        )
        delays.append(Curve(label, stroke, time_s, means))
    return [Panel("Mbit/s", rates), Panel("mean delay (ms)", delays)]


def _looks(rows: Sequence[Row]) -> dict[str, Style]:
    from dumbbell.present.plots import styles

    return styles((row.run.name, row.run.scheme.color, row.run.scheme.marker) for row in rows)
