"""Clock skew by the linear program of Moon, Skelly and Towsley (INFOCOM 1999, section 5), tried over all point pairs.

The program considers the lines that lie below every point. The slope of the line with the smallest sum of distances to
the points is the skew.

The crate `clocks` computes skews in another way. `python tests/support/by_hand/clocks.py` writes
`crates/clocks/tests/moon.json`: series and the skews computed here.
"""

import json
import random
from pathlib import Path

import numpy

FILE = Path(__file__).parents[3] / "crates" / "clocks" / "tests" / "moon.json"

Series = list[tuple[int, int]]
"""Times and apparent delays, ns."""


def skew(points: Series) -> float:
    """Return the slope of the best line, ns per ns."""
    best = (float("inf"), 0.0)
    mean = [sum(axis) / len(points) for axis in zip(*points, strict=True)]
    at, delay = numpy.array(points, dtype=float).T
    for number, (t, y) in enumerate(points):
        slopes = (delay[number + 1 :] - y) / (at[number + 1 :] - t)
        # A line may lie above a point by the rounding of a nanosecond.
        below = (delay >= y + slopes[:, None] * (at - t) - 1e-3).all(axis=1)
        for slope in slopes[below]:
            distance = mean[1] - (y + slope * (mean[0] - t))
            best = min(best, (float(distance), float(slope)))
    return best[1]


def draw_series(seed: int) -> tuple[Series, Series]:
    """Return packets of both directions: one per 0.2 s for 60 s, between clocks that differ by 37 ms and some ppm."""
    draw = random.Random(seed)
    ppm = draw.uniform(-100, 100)
    series: list[Series] = []
    for sign in (1, -1):
        points: Series = []
        for n in range(300):
            at = n * 200_000_000 + draw.randrange(100_000_000)
            queue = draw.choice([0, 0, 1]) * draw.random() * 20e6
            delay = 10e6 + draw.expovariate(1 / 20e3) + queue
            points.append((at, round(delay + sign * (37e6 + ppm * 1e-6 * at))))
        series.append(points)
    return series[0], series[1]


def vectors() -> list[dict[str, object]]:
    """Return the series and skews that the file contains."""
    rows: list[dict[str, object]] = []
    for seed in range(4):
        forward, backward = draw_series(seed)
        skews = [skew(forward), -skew(backward)]
        rows.append({"forward": forward, "backward": backward, "skews_ppm": [round(value * 1e6, 4) for value in skews]})
    return rows


if __name__ == "__main__":
    FILE.write_text(json.dumps(vectors(), separators=(",", ":")) + "\n")
