"""Tests of the cases for interactive media of RFC 8867: each runs, and shows its subject."""

import json
from functools import cache
from typing import Any

import pytest

from dumbbell import _core, catalog
from dumbbell.catalog.run_request import RunRequest
from dumbbell.experiment import Experiment, resolve

# `scream` is its authors' program, which keeps the queue full after some falls of capacity (docs/schemes/scream.md).
MEDIA = ("gcc", "nada", "scream-draft")


def plan_case(case: str, duration_s: float | None = None) -> Experiment:
    return resolve(catalog.experiments().find(f"rfc8867-{case}"), RunRequest(settings={"duration_s": duration_s}))


@cache
def flows(case: str, scheme: str, from_s: float, to_s: float, path: int = 0) -> list[dict[str, Any]]:
    """Return the flows of a run that ends at `to_s`, measured from `from_s` on."""
    experiment = plan_case(case, to_s)
    run = next(
        run for run in experiment.all_runs() if run.scheme == scheme and run.path == list(experiment.paths)[path]
    )
    specification = experiment.specification(run) | {"warmup_s": from_s, "log": "none"}
    return list(json.loads(_core.simulate(json.dumps(specification), None))["flows"])


def rates(case: str, scheme: str, from_s: float, to_s: float) -> list[float]:
    """Return the media rate of each camera, Mbit/s."""
    return [flow["media"]["media_rate_mbps"] for flow in flows(case, scheme, from_s, to_s) if flow["media"]]


@pytest.mark.parametrize("scheme", MEDIA)
def test_5_1_the_rate_follows_the_capacity(scheme: str) -> None:
    # The capacity is 1, 2.5 (the source fills 1.5), 0.6, 1 Mbit/s, each after some time to settle. Headers take 3 to 5
    # %.
    for (from_s, to_s), least, highest in (
        ((20, 40), 0.7, 1.0),
        ((45, 60), 1.3, 1.55),
        ((65, 80), 0.4, 0.6),
        ((90, 100), 0.7, 1.0),
    ):
        (rate,) = rates("5.1", scheme, from_s, to_s)
        assert least < rate < highest, f"{rate} Mbit/s from {from_s} to {to_s} s"
    # When the capacity has fallen and the queue is gone again, frames take 50 ms, and little more.
    (flow,) = flows("5.1", scheme, 65, 80)
    assert flow["media"]["frame_delay_p95_ms"] < 200


@pytest.mark.parametrize("scheme", MEDIA)
def test_5_2_two_flows_follow_the_capacity_together(scheme: str) -> None:
    for (from_s, to_s), capacity in (((10, 25), 3.0), ((30, 50), 2.0), ((60, 75), 3.0), ((80, 100), 1.0)):
        assert 0.65 * capacity < sum(rates("5.2", scheme, from_s, to_s)) < 1.02 * capacity


@pytest.mark.parametrize("scheme", MEDIA)
def test_5_3_a_narrow_way_back_hurts_only_who_sends_there(scheme: str) -> None:
    # 2 Mbit/s are enough for both directions; then 1 Mbit/s forward with a free backward direction; then 0.5 and 0.8.
    assert all(rate > 1.3 for rate in rates("5.3", scheme, 10, 20))
    forward, backward = rates("5.3", scheme, 25, 35)
    assert 0.6 < forward < 1.0
    assert backward > 1.3
    forward, backward = rates("5.3", scheme, 45, 60)
    assert 0.25 < forward < 0.5
    assert 0.4 < backward < 0.8


@pytest.mark.parametrize("scheme", MEDIA)
def test_5_4_late_comers_get_their_share(scheme: str) -> None:
    together = rates("5.4", scheme, 60, 80)
    assert min(together) > 0.5 * max(together)
    assert 0.7 * 3.5 < sum(together) < 3.5


@pytest.mark.parametrize("scheme", MEDIA)
def test_5_5_a_long_way_is_no_reason_to_starve(scheme: str) -> None:
    shares = rates("5.5", scheme, 50, 120)
    assert len(shares) == 5
    assert min(shares) > 0.12
    assert 0.7 * 4.0 < sum(shares) < 4.0


@pytest.mark.parametrize("scheme", MEDIA)
def test_5_6_a_deeper_queue_means_more_delay_beside_tcp(scheme: str) -> None:
    shallow, deep = (flows("5.6", scheme, 20, 60, path)[0]["media"] for path in (0, 1))
    assert shallow["media_rate_mbps"] > 0.05
    assert deep["media_rate_mbps"] > 0.05
    assert deep["frame_delay_p95_ms"] > shallow["frame_delay_p95_ms"] + 300


@pytest.mark.parametrize("scheme", MEDIA)
def test_5_7_ten_sources_fetch_files_beside_two_calls(scheme: str) -> None:
    everyone = flows("5.7", scheme, 20, 90)
    sources = [flow for flow in everyone if not flow["media"]]
    assert (len(everyone), len(sources)) == (12, 10)
    assert all(flow["data_bytes_delivered"] >= 100_000 for flow in sources)
    assert all(rate > 0.03 for rate in rates("5.7", scheme, 20, 90))
    # No source sends without end: such a source would have several times the mean.
    mean = sum(flow["goodput_mbps"] for flow in sources) / 10
    assert max(flow["goodput_mbps"] for flow in sources) < 3 * mean


@pytest.mark.parametrize("scheme", MEDIA)
def test_5_8_a_paused_call_leaves_its_share_and_gets_it_back(scheme: str) -> None:
    assert all(0.7 < rate < 1.25 for rate in rates("5.8", scheme, 20, 40))
    paused_rate, *other_rates = rates("5.8", scheme, 45, 60)
    assert paused_rate is None  # a planned pause is no time to fill
    assert all(rate > 1.2 for rate in other_rates)
    back = flows("5.8", scheme, 65, 80)[0]["media"]
    assert back["media_rate_mbps"] > 0.7
    # A planned pause is no stall.
    assert flows("5.8", scheme, 20, 80)[0]["media"]["stalls"] == 0
