"""Tests of the cost of a controller compared with another one."""

from typing import Any

import pytest

import dumbbell
from dumbbell.studies.cost import compared

STEADY = (100.0, 101.0, 99.0, 100.0, 100.5, 99.5, 100.0, 101.0)


def costs(ns: tuple[float, ...], instructions: tuple[float, ...] = ()) -> dict[str, Any]:
    return {"scheme": "one", "ns": list(ns), "instructions": list(instructions)}


def against(candidate: dict[str, Any], baseline: dict[str, Any], threshold: float = 0.1) -> dumbbell.CostComparison:
    return compared({"candidate": candidate, "baseline": baseline | {"scheme": "other"}}, threshold)


def times(factor: float) -> tuple[float, ...]:
    return tuple(factor * value for value in STEADY)


def test_a_candidate_is_dearer_only_beyond_the_threshold() -> None:
    verdicts = [against(costs(times(factor)), costs(STEADY)).verdict for factor in (0.5, 0.95, 1.0, 1.05, 1.5)]
    assert verdicts == ["better", "same", "same", "same", "worse"]
    assert against(costs(times(1.5)), costs(STEADY), threshold=0.6).verdict == "same"
    assert str(against(costs(times(1.5)), costs(STEADY))) == (
        "cost worse: one takes 148 ns for an ACK, other 99 (ratio 1.50, 1.50 to 1.50; threshold 10%)"
    )


def test_noise_of_a_busy_machine_is_no_verdict() -> None:
    noisy = (100.0, 240.0, 90.0, 180.0, 101.0, 95.0, 300.0, 99.0)
    comparison = against(costs(noisy), costs(STEADY))
    assert comparison.low < 1.1 < comparison.high
    assert comparison.verdict == "same"


def test_instructions_decide_where_they_are_counted() -> None:
    counts = (400.0,) * 8
    comparison = against(costs(times(1.5), counts), costs(STEADY, counts))
    assert (comparison.unit, comparison.ratio, comparison.low, comparison.high, comparison.verdict) == (
        "instructions",
        1.0,
        1.0,
        1.0,
        "same",
    )
    assert (comparison.candidate.instructions_per_ack, comparison.candidate.ns_per_ack) == (400.0, 148.5)
    assert against(costs(STEADY, counts), costs(STEADY)).unit == "ns"


def test_twice_as_much_of_next_to_nothing_is_the_same() -> None:
    assert against(costs((4.0,) * 8), costs((2.0,) * 8)).verdict == "same"
    assert against(costs((0.5,) * 8), costs((-0.5,) * 8)).ratio == 1.0


def test_two_controllers_are_measured_in_turn() -> None:
    comparison = dumbbell.cost_beside("copa", "reno")
    assert (comparison.candidate.scheme, comparison.baseline.scheme) == ("copa", "reno")
    assert (len(comparison.candidate.ns), len(comparison.baseline.ns)) == (8, 8)
    assert len(comparison.candidate.instructions) in (0, 8)
    assert comparison.low <= comparison.ratio <= comparison.high


def test_a_threshold_that_is_none_is_refused() -> None:
    with pytest.raises(dumbbell.Error, match=r"^threshold = -1: allowed is a number from 0 to 10$"):
        dumbbell.cost_beside("reno", "reno", threshold=-1)
