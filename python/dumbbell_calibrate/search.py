"""The optimiser CMA-ES of the package `cmaes` (Hansen, The CMA evolution strategy: a tutorial, arXiv:1604.00772).

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
"""Standard deviation of each knob in a generation, as a share of its bounds, below which a descent ends."""

_LEAST_POPULATION = 8
_LEAST_GENERATIONS = 10
"""Smallest number of generations for which another descent begins."""


@dataclass(frozen=True)
class Effort:
    """Limits of a search."""

    evaluations: int
    deadline: float | None = None
    """Time of the monotonic clock at which the search ends, s; None for no limit."""
    clock: Clock = SYSTEM_CLOCK

    @property
    def over(self) -> bool:
        """True if the time limit has passed."""
        return self.deadline is not None and self.clock.monotonic() >= self.deadline


def minimise(
    evaluate: Callable[[Sequence[Vector]], list[float]],
    start: Vector,
    widths: Sequence[float],
    effort: Effort,
    seed: int,
    tell: Callable[[int, Vector], None] = lambda *_: None,
) -> Vector:
    """Return the best place in the unit cube. `start` is tried first, then places at distances of about `widths`.

    `evaluate` gets a generation at a time. `tell` gets the number of tried places and the best of them. A
    descent may end in a local minimum: another one begins at `start` with twice as many places in each
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
    count = 1
    tell(count, best)
    while count < effort.evaluations and not effort.over:
        generation = [optimiser.ask() for _ in range(population)]
        values = evaluate([[float(coordinate) for coordinate in place] for place in generation])
        count += len(generation)
        optimiser.tell(list(zip(generation, values, strict=True)))
        for place, value in zip(generation, values, strict=True):
            if value < least:
                best, least = [float(coordinate) for coordinate in place], value
        tell(count, best)
        if numpy.std(generation, axis=0).max() < CONVERGED:
            population *= 2
            if effort.evaluations - count < _LEAST_GENERATIONS * population:
                break
            optimiser = descent()
    return best


def derived_seed(*parts: object) -> int:
    """Return a seed of 32 bits for one of many searches."""
    text = "\n".join(str(part) for part in parts)
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big")
