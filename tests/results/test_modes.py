"""Tests of two modes in the runs of a scheme: found if they exist, and hardly ever if not."""

import random
from collections.abc import Callable
from typing import Any

import pytest
from test_findings_of_numbers import experiment, synthetic

from dumbbell.results.analysis.findings import findings, remark
from dumbbell.results.analysis.modes import Mode, two_modes
from dumbbell.results.analysis.summary import repetitions

Draw = Callable[[random.Random], float]


def found_percent(draw: Draw, count: int) -> float:
    """Return the percentage of samples in which two modes are found; the standard error is at most 0.8."""
    generator = random.Random(count)
    return sum(two_modes([draw(generator) for _ in range(count)]) is not None for _ in range(4000)) / 40.0


@pytest.mark.parametrize("count", [5, 6, 7, 8, 10, 12, 20, 50])
@pytest.mark.parametrize(
    "draw",
    [
        lambda generator: generator.gauss(50.0, 5.0),
        lambda generator: generator.lognormvariate(0.0, 0.3),
        lambda generator: generator.lognormvariate(0.0, 1.0),
        lambda generator: generator.uniform(10.0, 20.0),
        lambda generator: generator.expovariate(1.0),
    ],
)
def test_one_mode_is_taken_for_two_in_at_most_two_of_100_samples(draw: Draw, count: int) -> None:
    assert found_percent(draw, count) <= 2.0


@pytest.mark.parametrize("count", [5, 8, 10, 20])
def test_a_mode_of_one_run_in_ten_is_found_wherever_one_of_the_runs_is_of_it(count: int) -> None:
    def draw(generator: random.Random) -> float:
        return generator.gauss(10.6, 0.2) if generator.random() < 0.9 else generator.gauss(4.2, 0.2)

    seen_percent = 100.0 * (1.0 - 0.9**count)
    assert 0.88 * seen_percent < found_percent(draw, count) < seen_percent + 2.5


def test_modes_have_their_means_and_runs() -> None:
    assert two_modes([10.5, 4.0, 10.7, 10.6, 4.4, 10.6, 10.5, 10.7]) == (Mode(pytest.approx(10.6), 6), Mode(4.2, 2))
    assert two_modes([1.0, 1.0, 1.0, 1.0, 1.04]) is None  # they differ by less than 5 %
    assert two_modes([1.0, 1.0, 1.0, 1.0, 1.1]) == (Mode(1.0, 4), Mode(1.1, 1))
    assert two_modes([1.0, 1.0, 1.0, 9.0]) is None  # too few
    assert two_modes([-3.0, -3.1, 5.0, 5.1, 5.2, 5.1]) == (Mode(5.1, 4), Mode(pytest.approx(-3.05), 2))
    assert two_modes([float("nan"), 1.0, 2.0, 3.0, 4.0]) is None


def test_rows_and_findings_say_which_modes_there_are() -> None:
    def run(number: int, goodput: float) -> dict[str, Any]:
        return synthetic("pcc", "p", number, {"goodput_mbps": goodput, "owd_p95_ms": 50.0 + 0.1 * number})

    runs = [run(number, 4.2 if number in (3, 7) else 10.6 + 0.01 * number) for number in range(1, 11)]
    text = "two modes of goodput: 10.66 Mbit/s (8 of 10 runs) and 4.20 Mbit/s (2)"
    (group,) = repetitions(runs).values()
    assert remark(group) == text
    assert f"pcc: {text}." in findings(experiment(), runs)
    (mode_group,) = repetitions(run(number, 10.6 + 0.01 * number) for number in range(1, 11)).values()
    assert "modes" not in remark(mode_group)
