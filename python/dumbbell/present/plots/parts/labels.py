"""Placement of names beside the points of a figure: no name covers a point or another name."""

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy
from numpy.typing import NDArray

_GAPS = (8.0, 11.0, 15.0, 20.0, 27.0, 36.0, 48.0, 62.0)  # from the point to the nearest side of the name
_SLIDES = (0.0, -0.5, 0.5, -1.0, 1.0)  # along that side, in halves of it
_SIDES = ((1, 0), (-1, 0), (0, 1), (0, -1))  # right, left, above, below
_PREFERENCE = numpy.repeat((0.0, 0.3, 2.0, 2.0), len(_SLIDES))  # beside rather than above
_NEAR = 30.0  # maximum distance of a name from its point without a line
LEADER = 10.0
"""Names further than this (points) from their point get a line to it."""
_SAME = 0.1  # points
_ROUNDS = 8
_SHUFFLES = 40
_OVERLAP, _PER_AREA = 120.0, 5.0
_OUTSIDE = 200.0
_OTHER_NEARER = 70.0
_CLEARLY = 5.0  # points by which a name is nearer to its own point than to the next one; less if the two almost touch
_ACROSS = 12.0  # cost of each line that a name covers
_THROUGH = 60.0
_STEPS = numpy.linspace(0.15, 1.0, 8)

Point = tuple[float, float]
Array = NDArray[Any]


@dataclass(frozen=True)
class Box:
    """A rectangle in points, y upwards."""

    left: float
    bottom: float
    right: float
    top: float

    def overlap(self, other: "Box") -> float:
        """Return the area that both boxes share."""
        width = min(self.right, other.right) - max(self.left, other.left)
        height = min(self.top, other.top) - max(self.bottom, other.bottom)
        return width * height if width > 0 and height > 0 else 0.0

    def within(self, other: "Box") -> bool:
        """Return True if the whole box lies in the other box."""
        return (
            other.left <= self.left
            and self.right <= other.right
            and other.bottom <= self.bottom
            and self.top <= other.top
        )


@dataclass(frozen=True)
class Label:
    """Place of a name: its box, and the distance of the box from its point."""

    box: Box
    distance: float


def same_places(spots: Sequence[Point]) -> list[list[int]]:
    """Return points in groups of those in the same place, in the order of their first."""
    groups: list[list[int]] = []
    for index, spot in enumerate(spots):
        for group in groups:
            if math.dist(spot, spots[group[0]]) < _SAME:
                group.append(index)
                break
        else:
            groups.append([index])
    return groups


def _place(
    points: Sequence[Point],
    sizes: Sequence[Point],
    bounds: Box,
    radius: float,
    lines: Sequence[Box],
    cache: "ConflictCache",
) -> list[Label]:
    """Return a place for each name of `sizes` (width, height) near its point; names may cover each other.

    Every name has some 150 places with a fixed cost each (distance, covered dots, ambiguity). Starting from several
    orders of the names, each name takes the best place given the others until nothing changes; the cheapest outcome
    wins. It depends on nothing but the arguments; `known` has the conflicts of earlier calls.
    """
    if not points:
        return []
    dots = numpy.array([(x - radius, y - radius, x + radius, y + radius) for x, y in points])
    thin = _rows(lines)
    boxes, costs, leaders = [], [], []
    for index, size in enumerate(sizes):
        candidates, distance = _places(points[index], size)
        boxes.append(candidates)
        leaders.append(_lines(candidates, points[index]))
        preference = numpy.tile(_PREFERENCE, len(candidates) // len(_PREFERENCE))
        cost = distance * (1 + distance / 40) + preference + _fixed_cost(candidates, index, points, dots, bounds)
        cost += _ACROSS * (_overlap_cost(candidates, thin) > 0).sum(axis=1)
        costs.append(cost)
    conflicts = _conflicts(list(zip(points, sizes, strict=False)), boxes, leaders, cache)
    outcomes = [_settle(order, costs, conflicts) for order in _orders(points[: len(sizes)])]
    places = min(outcomes, key=lambda outcome: round(outcome[0], 6))[1]
    return [_label(boxes[index][place], points[index]) for index, place in enumerate(places)]


def place_what_fits(
    points: Sequence[Point],
    sizes: Sequence[Point],
    bounds: Box,
    radius: float,
    lines: Sequence[Box] = (),
    leading: int = 0,
) -> list[Label | None]:
    """Return a place for each name of `sizes` (width, height) near its point, inside `bounds`; None without room.

    Names cover no other name and no dot of `radius`: points beyond those with a name are dots without one. The first
    names are the most important. They avoid `lines` if they can, and are clearly closer to their own point than to any
    other; the first `leading` ones may be further away, at the end of a line.
    """
    remaining = list(range(len(sizes)))
    cache: ConflictCache = {}
    dots = [Box(x - radius, y - radius, x + radius, y + radius) for x, y in points]
    while remaining:
        spots = [
            *(points[index] for index in remaining),
            *(spot for index, spot in enumerate(points) if index not in remaining),
        ]
        attempt = _place(spots, [sizes[index] for index in remaining], bounds, radius, lines, cache)
        boxes = [label.box for label in attempt]
        bad = [
            place
            for place, box in enumerate(boxes)
            if any(box.overlap(other) > 0 for other in (*dots, *boxes[:place]))
            or not box.within(bounds)
            or _is_astray(attempt[place], spots[place], spots, remaining[place] < leading)
        ]
        if not bad:
            labels = dict(zip(remaining, attempt, strict=True))
            return [labels.get(index) for index in range(len(sizes))]
        del remaining[bad[-1]]
    return [None] * len(sizes)


def _is_astray(label: Label, point: Point, spots: Sequence[Point], may_lead: bool) -> bool:
    """Return True if a reader could take the name for that of another point."""
    if may_lead and label.distance > LEADER:
        return False  # the line leads to the point
    other_spots = [spot for spot in spots if spot != point]
    lead = min(
        (math.dist(nearest_on(label.box, spot), spot) - _margin(spot, point) for spot in other_spots), default=math.inf
    )
    return label.distance > _NEAR or lead < label.distance


def _margin(first: Point, second: Point) -> float:
    """Return the minimum excess of a label's distance to another point over the distance to its own point."""
    return min(_CLEARLY, 0.5 * math.dist(first, second))


def _places(point: Point, size: Point) -> tuple[Array, Array]:
    """Return boxes (left, bottom, right, top) around the point, and the distance of each from the point."""
    rows = []
    half = (size[0] / 2, size[1] / 2)
    for gap in _GAPS:
        for across, up in _SIDES:
            for slide in _SLIDES:
                x = point[0] + across * (gap + half[0]) + (slide * half[0] if across == 0 else 0.0)
                y = point[1] + up * (0.9 * gap + half[1]) + (slide * (half[1] + gap / 2) if across else 0.0)
                rows.append((x - half[0], y - half[1], x + half[0], y + half[1]))
    boxes = numpy.array(rows)
    return boxes, _distance(boxes, point)


def _rows(boxes: Sequence[Box]) -> Array:
    return numpy.array([(box.left, box.bottom, box.right, box.top) for box in boxes]).reshape(-1, 4)


def _distance(boxes: Array, point: Point) -> Array:
    x = numpy.maximum(numpy.maximum(boxes[:, 0] - point[0], point[0] - boxes[:, 2]), 0)
    y = numpy.maximum(numpy.maximum(boxes[:, 1] - point[1], point[1] - boxes[:, 3]), 0)
    return numpy.hypot(x, y)


def _fixed_cost(boxes: Array, owner: int, points: Sequence[Point], dots: Array, bounds: Box) -> Array:
    low = numpy.maximum([bounds.left, bounds.bottom] - boxes[:, :2], 0).sum(axis=1)
    high = numpy.maximum(boxes[:, 2:] - [bounds.right, bounds.top], 0).sum(axis=1)
    cost: Array = _OUTSIDE * (low + high) + _overlap_cost(boxes, dots).sum(axis=1)
    distance = _distance(boxes, points[owner])
    for other, point in enumerate(points):
        if other != owner:
            unclear = _distance(boxes, point) < distance + _margin(point, points[owner])
            cost += _OTHER_NEARER * unclear * (1 + (distance <= LEADER))  # without a line the name is less clear
    other_dots = numpy.delete(dots, owner, axis=0)
    cost += _THROUGH * _crossings(_lines(boxes, points[owner]), other_dots).sum(axis=1)
    return cost


def _lines(boxes: Array, point: Point) -> Array:
    """Return points on the line from the point to each box: (boxes, steps, 2)."""
    ends = numpy.clip(point, boxes[:, :2], boxes[:, 2:])
    return numpy.asarray(point) + _STEPS[None, :, None] * (ends - point)[:, None, :]


def _crossings(spots: Array, rectangles: Array) -> Array:
    """Return True for each line of spots and rectangle that touch: (lines, rectangles)."""
    across, up = (_between(spots[:, :, axis], rectangles[:, axis::2]) for axis in (0, 1))
    touches: Array = (across & up) != 0
    return touches.T


def _between(values: Array, sides: Array) -> Array:
    """Return a byte for each pair of sides and each line; bit k is 1 if value k of the line is between the sides.

    Most rectangles around a point share their sides with others, which saves tests of equal pairs.
    """
    pairs, inverse = numpy.unique(numpy.ascontiguousarray(sides).view(complex)[:, 0], return_inverse=True)
    flat_values = values.ravel()
    inside = (flat_values > pairs.real[:, None]) & (flat_values < pairs.imag[:, None])
    bits: Array = numpy.packbits(inside, axis=1)[inverse]  # eight steps fill a byte
    return bits


def _overlap_cost(boxes: Array, rectangles: Array) -> Array:
    """Return the cost of covering each of the other rectangles, for each box: (boxes, others)."""
    width = numpy.minimum(boxes[:, None, 2], rectangles[None, :, 2]) - numpy.maximum(
        boxes[:, None, 0], rectangles[None, :, 0]
    )
    height = numpy.minimum(boxes[:, None, 3], rectangles[None, :, 3]) - numpy.maximum(
        boxes[:, None, 1], rectangles[None, :, 1]
    )
    cost: Array = ((width > 0) & (height > 0)) * (_OVERLAP + _PER_AREA * width * height)
    return cost


Conflicts = list[dict[int, Array]]
Name = tuple[Point, Point]
"""Point of a name, and its size."""
ConflictCache = dict[tuple[Name, Name], Array]
"""Cost of each pair of places, by the two names."""


def _conflicts(
    names: Sequence[Name], boxes: Sequence[Array], lines: Sequence[Array], cache: ConflictCache
) -> Conflicts:
    """Return the costs of each pair of places, for each name and each other name within reach.

    Pairs that are missing in `known` are added to it.
    """
    reach = [numpy.concatenate([places[:, :2].min(axis=0), places[:, 2:].max(axis=0)])[None, :] for places in boxes]
    conflicts: Conflicts = [{} for _ in boxes]
    for first in range(len(boxes)):
        for second in range(first):
            if _overlap_cost(reach[first], reach[second])[0, 0] > 0:
                pair = names[first], names[second]
                if pair not in cache:
                    cache[pair] = _overlap_cost(boxes[first], boxes[second])
                    cache[pair] += _THROUGH * _crossings(lines[first], boxes[second])
                    cache[pair] += _THROUGH * _crossings(lines[second], boxes[first]).T
                cost = cache[pair]
                conflicts[first][second], conflicts[second][first] = cost, cost.T
    return conflicts


def _orders(points: Sequence[Point]) -> list[list[int]]:
    """Return the orders to start from: most crowded first, and shuffled ones, always the same."""
    order = sorted(range(len(points)), key=lambda i: (-_crowding(points, i), i))
    draw = random.Random(len(points))
    return [order, *(draw.sample(order, len(order)) for _ in range(_SHUFFLES))]


def _crowding(points: Sequence[Point], index: int) -> float:
    x, y = points[index]
    return sum(1 / (4 + math.hypot(x - a, y - b)) for other, (a, b) in enumerate(points) if other != index)


def _settle(order: Sequence[int], costs: Sequence[Array], conflicts: Conflicts) -> tuple[float, list[int]]:
    """Return the total cost and the place of each name, improved name by name from the given order."""
    places: dict[int, int] = {}
    total = 0.0
    for _ in range(_ROUNDS):
        before, total = dict(places), 0.0
        for index in order:
            cost = costs[index].copy()
            for other, conflict in conflicts[index].items():
                if other in places:
                    cost += conflict[:, places[other]]
            places[index] = int(cost.argmin())
            total += float(cost.min())
        if places == before:
            break
    return total, [places[index] for index in range(len(costs))]


def _label(row: Array, point: Point) -> Label:
    return Label(Box(*(float(side) for side in row)), float(_distance(row[None, :], point)[0]))


def nearest_on(box: Box, point: Point) -> Point:
    """Return the point of the box nearest to `point`, at which its leader line ends."""
    return (min(max(point[0], box.left), box.right), min(max(point[1], box.bottom), box.top))
