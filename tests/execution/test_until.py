"""Runs that are added until means are known: how many, when it ends, and that intervals still hold then."""

import math
import random
from pathlib import Path

import pytest

import dumbbell as package
from dumbbell.base.errors import UserError
from dumbbell.execution.until import FIRST, LEAST_OF_MODE, MOST, TO_SEE_MODES, Until
from dumbbell.results.analysis.summary import Estimate
from support.commands.command import Dumbbell


def grown(until: Until, draw: object, generator: random.Random) -> list[float]:
    """Return values of as many runs as the rule asks for."""
    values: list[float] = []
    wanted = 3
    while len(values) < wanted:
        values += [draw(generator) for _ in range(wanted - len(values))]  # type: ignore[operator]
        wanted = min(MOST, until.wanted(values))
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
    until, generator, held = Until.parse(f"ci={ci}"), random.Random(1), 0
    counts = []
    for _ in range(1000):
        values = grown(until, draw, generator)
        counts.append(len(values))
        found = Estimate.of(values)
        assert found.low is not None
        assert found.high is not None
        held += found.low <= truth <= found.high
        if len(values) < MOST:
            assert max(found.high - found.mean, found.mean - found.low) <= until.ci * found.mean * (1 + 1e-9)
    assert min(counts) >= FIRST
    assert sum(counts) / len(counts) < 0.8 * MOST
    assert held >= 900


def test_modes_are_waited_for() -> None:
    until, generator = Until.parse("modes"), random.Random(2)
    one_mode = grown(until, lambda each: each.gauss(10.0, 0.1), generator)
    assert len(one_mode) == TO_SEE_MODES
    for _ in range(50):
        values = grown(until, lambda each: 4.0 if each.random() < 0.1 else each.gauss(10.0, 0.1), generator)
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
    said = dumbbell("run", *words, "--until", "ci=10%").stderr
    assert "runs are not enough for" in said
    results = package.open(folder / "r")
    assert results.good
    counts = {scheme: sum(run.scheme == scheme for run in results.runs) for scheme in ("cubic", "vegas")}
    assert FIRST <= counts["cubic"] == counts["vegas"] <= MOST
    if counts["cubic"] < MOST:
        for group in results.summary():
            for metric in ("goodput_mbps", "owd_p95_ms"):
                found = group.estimate(("network", 0, metric))
                assert found
                assert found.low is not None
                assert found.high is not None
                assert max(found.high - found.mean, found.mean - found.low) <= 0.1 * found.mean * (1 + 1e-9)
    again = dumbbell("run", *words, "--until", "ci=10%", "--resume").stderr
    assert f"{len(results.runs)} of {len(results.runs)} runs are finished already" in again
    fresh = dumbbell("run", *words[:-1], "s", "--runs", str(counts["cubic"])).stdout
    assert fresh.splitlines()[:-1] == dumbbell("show", "r").stdout.splitlines()[: len(fresh.splitlines()) - 1]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--until", "2%"), "--until 2%: allowed are ci=P%"),
        (("--until", "modes", "--dry-run"), "--until: not with --dry-run"),
        (("--until", "modes", "--every", "1s", "--for", "2s"), "--until: not with --every"),
    ],
)
def test_what_does_not_go_together_is_refused(dumbbell: Dumbbell, words: tuple[str, ...], said: str) -> None:
    run = ("run", "--schemes", "cubic", "--path", "small.toml", "--duration", "1", "--out", "r")
    assert said in dumbbell(*run, *words, expect=2).stderr
