"""A response surface: the results of schemes as a smooth function of the path parameters.

Schemes are chaotic: a change of a path by 0.1 % may give a scheme 3 % more, and the best of many paths is partly
lucky. Near the best paths, a polynomial of second degree therefore fits each metric of each scheme (Box
and Wilson, Journal of the Royal Statistical Society B 13, 1951), which averages the chance out.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy

from dumbbell_calibrate.error import Array

_KEPT = 1 / 3
"""Share of the tried paths that defines the middle and the spread of the good ones."""
_WITHIN = 3.0
"""Largest distance of a fitted path from the middle, in standard deviations of the good paths."""
_KERNEL = 1.5
"""Distance at which the weight of a path falls by the square root of e."""
_LEAST_SPREAD = 0.01
_RIDGE = 1e-6


@dataclass(frozen=True)
class Surface:
    """Polynomials fitted around `middle`, in units of `spread`."""

    middle: Array
    spread: Array
    coefficients: Array
    """Array of terms x (points * metrics)."""
    squares: bool
    shape: tuple[int, ...]

    def at(self, places: Sequence[Sequence[float]]) -> Array:
        """Return the predicted results at some places: an array of places x points x metrics."""
        terms = _terms((numpy.array(places) - self.middle) / self.spread, self.squares)
        predictions = (terms @ self.coefficients).reshape(-1, *self.shape)
        predictions[:, :, :2] = numpy.exp(numpy.clip(predictions[:, :, :2], -20.0, 20.0))
        predictions[:, :, 2] = predictions[:, :, 2].clip(0.0, 1.0)
        return predictions

    def inside(self, place: Sequence[float]) -> list[float]:
        """Return the place, or the nearest place within the range of the fit."""
        reach = 2.0 * self.spread
        nearest = numpy.clip(numpy.array(place), self.middle - reach, self.middle + reach).clip(0.0, 1.0)
        return [float(u) for u in nearest]


def surface(places: Sequence[Sequence[float]], results: Array, values: Sequence[float]) -> Surface | None:
    """Return the surface fitted to `results` (places x points x metrics), or None.

    `values` are the search objective of the places; less is better. None means too few paths, or a missing result.
    """
    tried_places, quality = numpy.array(places), numpy.array(values)
    dimensions = tried_places.shape[1]
    good = tried_places[numpy.argsort(quality)[: max(int(len(tried_places) * _KEPT), 4 * dimensions)]]
    middle = numpy.median(good, axis=0)
    spread = numpy.maximum(good.std(axis=0), _LEAST_SPREAD)
    distance = numpy.sqrt((((tried_places - middle) / spread) ** 2).mean(axis=1))
    responses = results.copy()
    responses[:, :, :2] = numpy.log(numpy.maximum(responses[:, :, :2], 1e-9))
    responses = responses.reshape(len(tried_places), -1)
    columns = ~numpy.isnan(responses).all(axis=0)
    usable = (distance < _WITHIN) & ~numpy.isnan(responses[:, columns]).any(axis=1)
    squares = usable.sum() >= 3 * _count(dimensions, True)
    if usable.sum() < 3 * _count(dimensions, squares):
        return None
    weights = numpy.exp(-0.5 * (distance[usable] / _KERNEL) ** 2)
    terms = _terms((tried_places[usable] - middle) / spread, squares)
    weighted_terms = terms.T * weights
    normal = weighted_terms @ terms + _RIDGE * numpy.eye(terms.shape[1])
    coefficients = numpy.full((terms.shape[1], responses.shape[1]), numpy.nan)
    coefficients[:, columns] = numpy.linalg.solve(normal, weighted_terms @ responses[usable][:, columns])
    return Surface(middle, spread, coefficients, squares, results.shape[1:])


def _count(dimensions: int, squares: bool) -> int:
    return 1 + dimensions + (dimensions * (dimensions + 1) // 2 if squares else 0)


def _terms(places: Array, squares: bool) -> Array:
    """Return the terms of each place: one, its coordinates, and their products."""
    count, dimensions = places.shape
    parts = [numpy.ones((count, 1)), places]
    if squares:
        parts += [places[:, [i]] * places[:, i:] for i in range(dimensions)]
    return numpy.concatenate(parts, axis=1)
