"""Tests of Copa's base RTT on a satellite path: the paper's ten seconds forget it, the authors' twenty RTTs do not.

Each claim is of several draws of the path's losses: when the first of them come decides how slow start ends.
"""

from statistics import median
from typing import Any

import polars as pl
import pytest

import dumbbell

BASE_MS = 800.0
SEEDS = range(11, 16)


def simulate_delay(seed: int, scheme: str, **parameters: Any) -> tuple[float, float]:  # noqa: ANN401
    """Return the sender's base RTT at the end, and the mean queueing delay of the last 40 s, ms."""
    settings = {f"{scheme}.{name}": value for name, value in parameters.items()} | {"host_jitter_us": 0.0}
    run = dumbbell.simulate(
        dumbbell.specification(scheme, "winds-satellite", duration=100, seed=seed, settings=settings)
    )
    samples = pl.DataFrame(run.samples()).with_columns(pl.col("field").cast(pl.String))
    base = samples.filter(pl.col("field") == "rtt_min")["value"][-1]
    packets = pl.DataFrame(run.packets()).with_columns(pl.col("event").cast(pl.String))
    late = packets.filter((pl.col("event") == "deliver") & (pl.col("time_ns") > 60_000_000_000))
    return base, late["one_way_delay_ns"].mean() / 1e6 - BASE_MS / 2


def of_all(scheme: str, **parameters: Any) -> tuple[list[float], list[float]]:  # noqa: ANN401
    """Return base RTT and queueing delay, ms, with each of the seeds."""
    bases, queues = zip(*(simulate_delay(seed, scheme, **parameters) for seed in SEEDS), strict=True)
    return list(bases), list(queues)


def test_the_papers_ten_seconds_end_before_slow_starts_queue_is_drained() -> None:
    # eight round trips of 1.27 s: 2 x (1 + 1 + 1 + 2 + 4 + 8 + 16 + 32) = 132 of about 1700 packets
    bases, queues = of_all("copa")
    assert median(bases) > BASE_MS + 300
    assert median(queues) > 300


@pytest.mark.parametrize("seconds", [16, pytest.param(3600, marks=pytest.mark.slow)])
def test_copa_that_keeps_the_base_rtt_has_no_queue(seconds: int) -> None:
    # The authors' script sets this window: venkatarun95/CopaEvaluation@0e0f087, long-run.sh.
    bases, queues = of_all("copa", min_rtt_window_s=seconds)
    assert bases == pytest.approx([BASE_MS] * len(SEEDS), abs=1)
    assert median(queues) < 5


@pytest.mark.parametrize("scheme", ["copa-gcc2018", pytest.param("copa-gcc2017", marks=pytest.mark.slow)])
def test_the_authors_programs_keep_the_base_rtt(scheme: str) -> None:
    # their queue is another matter: docs/schemes/copa.md
    bases, _ = of_all(scheme)
    assert bases == pytest.approx([BASE_MS] * len(SEEDS), abs=1)
