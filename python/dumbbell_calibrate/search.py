"""The optimiser: CMA-ES (Hansen, The CMA evolution strategy: a tutorial, arXiv:1604.00772), of the package `cmaes`.

It was chosen by a measured comparison with Bayesian optimisation (docs/how-to/calibration.md).
"""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy
from cmaes import CMA

from dumbbell.base.clock import SYSTEM_CLOCK, Clock

Vector = list[float]

CONVERGED = 0.004
"""A descent ends when no knob of a generation varies by more than this share of its bounds (a standard deviation)."""

_LEAST_POPULATION = 8
_LEAST_GENERATIONS = 10
"""Another descent is begun where there is time for so many generations of it."""


@dataclass(frozen=True)
class Effort:
    """How long a search may go on."""

    evaluations: int
    deadline: float | None = None
    """Time of the monotonic clock at which the search ends, s; None for no limit."""
    clock: Clock = SYSTEM_CLOCK

    @property
    def over(self) -> bool:
        """Whether time is up."""
        return self.deadline is not None and self.clock.monotonic() >= self.deadline


def minimise(
    evaluate: Callable[[Sequence[Vector]], list[float]],
    start: Vector,
    widths: Sequence[float],
    effort: Effort,
    seed: int,
    tell: Callable[[int, Vector], None] = lambda *_: None,
) -> Vector:
    """The best place found in the unit cube; `start` is tried first, and others at distances of about `widths`.

    `evaluate` is asked for a generation at a time; `tell` hears how many places were tried, and the best of them. A
    descent may end in a hollow that is not the deepest: another one begins at `start` with twice as many places in each
    generation, while there is time for it (Auger and Hansen, A restart CMA evolution strategy with increasing
    population size, CEC 2005).
    """
    best, least = start, evaluate([start])[0]
    population = max(4 + int(3 * numpy.log(len(start))), _LEAST_POPULATION)

    def descent() -> CMA:
        return CMA(
            mean=numpy.array(start, dtype=float).clip(0.02, 0.98),
            sigma=max(widths),
            cov=numpy.diag((numpy.array(widths) / max(widths)) ** 2),
            bounds=numpy.array([[0.0, 1.0]] * len(start)),
            seed=seed + population,
            population_size=population,
        )

    optimiser = descent()
    tried = 1
    tell(tried, best)
    while tried < effort.evaluations and not effort.over:
        asked = [optimiser.ask() for _ in range(population)]
        values = evaluate([[float(each) for each in place] for place in asked])
        tried += len(asked)
        optimiser.tell(list(zip(asked, values, strict=True)))
        for place, value in zip(asked, values, strict=True):
            if value < least:
                best, least = [float(each) for each in place], value
        tell(tried, best)
        if numpy.std(asked, axis=0).max() < CONVERGED:
            population *= 2
            if effort.evaluations - tried < _LEAST_GENERATIONS * population:
                break
            optimiser = descent()
    return best


def derived_seed(*parts: object) -> int:
    """A seed of 32 bits for one search of many."""
    text = "\n".join(str(part) for part in parts)
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big")
