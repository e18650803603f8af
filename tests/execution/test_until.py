"""Tests of runs added until means are known: their number, the end, and intervals that still hold then."""

import math
import random
from pathlib import Path

import pytest

import dumbbell as package
from dumbbell.base.errors import UserError
from dumbbell.execution.until import FIRST, LEAST_OF_MODE, MOST, TO_SEE_MODES, Until
from dumbbell.results.analysis.summary import Estimate
from support.commands.command import Dumbbell


def grow(until: Until, draw: object, generator: random.Random) -> list[float]:
    """Return values of as many runs as the rule asks for."""
    values: list[float] = []
    needed_runs = 3
    while len(values) < needed_runs:
        values += [draw(generator) for _ in range(needed_runs - len(values))]  # type: ignore[operator]
        needed_runs = min(MOST, until.needed_count(values))
    return values


@pytest.mark.parametrize(
    ("draw", "truth", "ci"),
    [
        (lambda generator: generator.gauss(50.0, 5.0), 50.0, "3%"),
        (lambda generator: generator.lognormvariate(0.0, 0.3), math.exp(0.045), "10%"),
        (lambda generator: generator.choice((90.0, 100.0)), 95.0, "2%"),
    ],
)
def test_intervals_that_were_waited_for_hold_in_90_of_100_cases(draw: object, truth: float, ci: str) -> None:
    until, generator, hits = Until.parse(f"ci={ci}"), random.Random(1), 0
    counts = []
    for _ in range(1000):
        values = grow(until, draw, generator)
        counts.append(len(values))
        estimate = Estimate.of(values)
        assert estimate.low is not None
        assert estimate.high is not None
        hits += estimate.low <= truth <= estimate.high
        if len(values) < MOST:
            assert max(estimate.high - estimate.mean, estimate.mean - estimate.low) <= until.ci * estimate.mean * (
                1 + 1e-9
            )
    assert min(counts) >= FIRST
    assert sum(counts) / len(counts) < 0.8 * MOST
    assert hits >= 900


def test_modes_are_waited_for() -> None:
    until, generator = Until.parse("modes"), random.Random(2)
    one_mode = grow(until, lambda draw_source: draw_source.gauss(10.0, 0.1), generator)
    assert len(one_mode) == TO_SEE_MODES
    for _ in range(50):
        values = grow(
            until, lambda draw_source: 4.0 if draw_source.random() < 0.1 else draw_source.gauss(10.0, 0.1), generator
        )
        rarer = sum(value == 4.0 for value in values)
        assert rarer == 0 or rarer >= LEAST_OF_MODE or len(values) == MOST


@pytest.mark.parametrize("text", ["", "ci", "ci=2", "ci=0%", "ci=200%", "modes,modes", "ci=1%,ci=2%", "mode", "ci=-1%"])
def test_what_is_asked_for_has_one_form(text: str) -> None:
    with pytest.raises(UserError, match="allowed are ci=P%"):
        Until.parse(text)


def test_both_can_be_asked_for() -> None:
    assert Until.parse("ci=2%, modes") == Until(0.02, True)


@pytest.mark.slow
def test_a_command_adds_runs_until_intervals_are_as_narrow(dumbbell: Dumbbell, folder: Path) -> None:
    words = ("--schemes", "cubic,vegas", "--path", "lossy.toml", "--duration", "2", "--log", "none", "--out", "r")
    errors = dumbbell("run", *words, "--until", "ci=10%").stderr
    assert "runs are not enough for" in errors
    results = package.open(folder / "r")
    assert results.good
    counts = {scheme: sum(run.scheme == scheme for run in results.runs) for scheme in ("cubic", "vegas")}
    assert FIRST <= counts["cubic"] == counts["vegas"] <= MOST
    if counts["cubic"] < MOST:
        for group in results.summary():
            for metric in ("goodput_mbps", "owd_p95_ms"):
                estimate = group.estimate(("network", 0, metric))
                assert estimate
                assert estimate.low is not None
                assert estimate.high is not None
                assert max(estimate.high - estimate.mean, estimate.mean - estimate.low) <= 0.1 * estimate.mean * (
                    1 + 1e-9
                )
    again = dumbbell("run", *words, "--until", "ci=10%", "--resume").stderr
    assert f"{len(results.runs)} of {len(results.runs)} runs are finished already" in again
    fresh = dumbbell("run", *words[:-1], "s", "--runs", str(counts["cubic"])).stdout
    assert fresh.splitlines()[:-1] == dumbbell("show", "r").stdout.splitlines()[: len(fresh.splitlines()) - 1]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--until", "2%"), "--until 2%: allowed are ci=P%"),
        (("--until", "modes", "--dry-run"), "--until: not with --dry-run"),
        (("--until", "modes", "--every", "1s", "--for", "2s"), "--until: not with --every"),
    ],
)
def test_what_does_not_go_together_is_refused(dumbbell: Dumbbell, words: tuple[str, ...], message: str) -> None:
    run = ("run", "--schemes", "cubic", "--path", "small.toml", "--duration", "1", "--out", "r")
    assert message in dumbbell(*run, *words, expect=2).stderr
