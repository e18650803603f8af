"""What schemes get, as a smooth function of the parameters: a response surface over the paths that were tried.

Schemes are chaotic: a path that differs by 0.1 % may give one of them 3 % more, and the best of many paths is in part
the luckiest. Near the best ones each metric of each scheme is therefore fitted by a polynomial of second degree (Box
and Wilson, Journal of the Royal Statistical Society B 13, 1951), as if each path had been simulated many times.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy

from dumbbell_calibrate.error import Array

_KEPT = 1 / 3
"""The share of the paths that says where the good ones are, and how far apart."""
_WITHIN = 3.0
"""Paths further from their middle, in their standard deviations, are not fitted,"""
_KERNEL = 1.5
"""and those at this distance count less by the square root of e."""
_LEAST_SPREAD = 0.01
_RIDGE = 1e-6


@dataclass(frozen=True)
class Surface:
    """The fitted polynomials around a middle, in units of `spread`."""

    middle: Array
    spread: Array
    coefficients: Array
    """Terms x (points * metrics)."""
    squares: bool
    shape: tuple[int, ...]

    def at(self, places: Sequence[Sequence[float]]) -> Array:
        """What schemes get there: places x points x metrics."""
        terms = _terms((numpy.array(places) - self.middle) / self.spread, self.squares)
        found = (terms @ self.coefficients).reshape(-1, *self.shape)
        found[:, :, :2] = numpy.exp(numpy.clip(found[:, :, :2], -20.0, 20.0))
        found[:, :, 2] = found[:, :, 2].clip(0.0, 1.0)
        return found

    def inside(self, place: Sequence[float]) -> list[float]:
        """The place, or the nearest one that is near enough to what was tried."""
        reach = 2.0 * self.spread
        nearest = numpy.clip(numpy.array(place), self.middle - reach, self.middle + reach).clip(0.0, 1.0)
        return [float(u) for u in nearest]


def surface(places: Sequence[Sequence[float]], found: Array, values: Sequence[float]) -> Surface | None:
    """Fitted to what was found (places x points x metrics); `values` say how good each place is, less is better.

    None where too few paths were tried, or something did not arrive.
    """
    tried, quality = numpy.array(places), numpy.array(values)
    dimensions = tried.shape[1]
    good = tried[numpy.argsort(quality)[: max(int(len(tried) * _KEPT), 4 * dimensions)]]
    middle = numpy.median(good, axis=0)
    spread = numpy.maximum(good.std(axis=0), _LEAST_SPREAD)
    distance = numpy.sqrt((((tried - middle) / spread) ** 2).mean(axis=1))
    responses = found.copy()
    responses[:, :, :2] = numpy.log(numpy.maximum(responses[:, :, :2], 1e-9))
    responses = responses.reshape(len(tried), -1)
    columns = ~numpy.isnan(responses).all(axis=0)
    usable = (distance < _WITHIN) & ~numpy.isnan(responses[:, columns]).any(axis=1)
    squares = usable.sum() >= 3 * _count(dimensions, True)
    if usable.sum() < 3 * _count(dimensions, squares):
        return None
    weights = numpy.exp(-0.5 * (distance[usable] / _KERNEL) ** 2)
    terms = _terms((tried[usable] - middle) / spread, squares)
    weighted = terms.T * weights
    normal = weighted @ terms + _RIDGE * numpy.eye(terms.shape[1])
    fitted = numpy.full((terms.shape[1], responses.shape[1]), numpy.nan)
    fitted[:, columns] = numpy.linalg.solve(normal, weighted @ responses[usable][:, columns])
    return Surface(middle, spread, fitted, squares, found.shape[1:])


def _count(dimensions: int, squares: bool) -> int:
    return 1 + dimensions + (dimensions * (dimensions + 1) // 2 if squares else 0)


def _terms(places: Array, squares: bool) -> Array:
    """Of each place: one, its coordinates, and their products."""
    count, dimensions = places.shape
    parts = [numpy.ones((count, 1)), places]
    if squares:
        parts += [places[:, [i]] * places[:, i:] for i in range(dimensions)]
    return numpy.concatenate(parts, axis=1)
