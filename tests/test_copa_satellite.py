"""Copa's base RTT on a satellite path: the paper's ten seconds forget it, the authors' twenty round trips do not."""

from typing import Any

import polars as pl
import pytest

import dumbbell

BASE_MS = 800.0


def simulated(scheme: str, **parameters: Any) -> tuple[float, float]:  # noqa: ANN401
    """What the sender takes for the base RTT at the end, and the mean queueing delay of the last 40 s, ms."""
    settings = {f"{scheme}.{name}": value for name, value in parameters.items()} | {"host_jitter_us": 0.0}
    run = dumbbell.simulate(dumbbell.specification(scheme, "winds-satellite", duration=100, settings=settings))
    samples = pl.DataFrame(run.samples()).with_columns(pl.col("field").cast(pl.String))
    base = samples.filter(pl.col("field") == "rtt_min")["value"][-1]
    packets = pl.DataFrame(run.packets()).with_columns(pl.col("event").cast(pl.String))
    late = packets.filter((pl.col("event") == "deliver") & (pl.col("time_ns") > 60_000_000_000))
    return base, late["one_way_delay_ns"].mean() / 1e6 - BASE_MS / 2


def test_the_papers_ten_seconds_end_before_slow_starts_queue_is_drained() -> None:
    # eight round trips of 1.27 s: 2 x (1 + 1 + 1 + 2 + 4 + 8 + 16 + 32) = 132 of about 1700 packets
    base_ms, queueing_ms = simulated("copa")
    assert base_ms > BASE_MS + 300
    assert queueing_ms > 300


def test_copa_that_knows_the_base_rtt_has_no_queue() -> None:
    # the authors' script tells it: venkatarun95/CopaEvaluation@0e0f087, long-run.sh
    base_ms, queueing_ms = simulated("copa", min_rtt_window_s=3600)
    assert base_ms == pytest.approx(BASE_MS, abs=1)
    assert queueing_ms < 5


@pytest.mark.parametrize(
    ("scheme", "parameters"), [("copa", {"min_rtt_window_s": 16}), ("copa-gcc2018", {}), ("copa-gcc2017", {})]
)
def test_the_authors_rules_keep_the_base_rtt(scheme: str, parameters: dict[str, Any]) -> None:
    base_ms, queueing_ms = simulated(scheme, **parameters)
    assert base_ms == pytest.approx(BASE_MS, abs=1)
    assert queueing_ms < 60
