"""Places the names beside the points of a figure so that no name covers a point or another name."""

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy
from numpy.typing import NDArray

_GAPS = (8.0, 11.0, 15.0, 20.0, 27.0, 36.0, 48.0, 62.0, 80.0, 104.0)  # from the point to the nearest side of the name
_SLIDES = (0.0, -0.5, 0.5, -1.0, 1.0)  # along that side, in halves of it
_SIDES = ((1, 0), (-1, 0), (0, 1), (0, -1))  # right, left, above, below
_PREFERENCE = numpy.tile(numpy.repeat((0.0, 0.3, 2.0, 2.0), len(_SLIDES)), len(_GAPS))  # beside rather than above
_ROUNDS = 8
_SHUFFLES = 40
_OVERLAP, _PER_AREA = 120.0, 5.0
_OUTSIDE = 200.0
_OTHER_NEARER = 70.0
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
        """The area they share."""
        width = min(self.right, other.right) - max(self.left, other.left)
        height = min(self.top, other.top) - max(self.bottom, other.bottom)
        return width * height if width > 0 and height > 0 else 0.0


@dataclass(frozen=True)
class Label:
    """Where a name goes: its box, and the distance of the box from its point."""

    box: Box
    distance: float


def place(
    points: Sequence[Point], sizes: Sequence[Point], bounds: Box, radius: float, obstacles: Sequence[Box] = ()
) -> list[Label]:
    """A place for each name of `sizes` (width, height) near its point, inside `bounds`, clear of dots of `radius`.

    Names also keep clear of the `obstacles`, which lines to names may cross.

    Every name has some 200 places with a fixed cost each (distance, dots covered, ambiguity). From several orders of
    the names, each takes the best place given the others until nothing changes; the cheapest outcome wins. It depends
    on nothing but the arguments.
    """
    if not points:
        return []
    dots = numpy.array([(x - radius, y - radius, x + radius, y + radius) for x, y in points])
    blocks = numpy.array([(box.left, box.bottom, box.right, box.top) for box in obstacles]).reshape(-1, 4)
    boxes, costs, lines = [], [], []
    for index, size in enumerate(sizes):
        found, distance = _places(points[index], size)
        boxes.append(found)
        lines.append(_lines(found, points[index]))
        cost = distance * (1 + distance / 40) + _PREFERENCE + _fixed_cost(found, index, points, dots, bounds)
        costs.append(cost + _overlap_cost(found, blocks).sum(axis=1))
    conflicts = _conflicts(boxes, lines)
    outcomes = [_settle(order, costs, conflicts) for order in _orders(points)]
    chosen = min(outcomes, key=lambda outcome: round(outcome[0], 6))[1]
    return [_label(boxes[index][place], points[index]) for index, place in enumerate(chosen)]


def _places(point: Point, size: Point) -> tuple[Array, Array]:
    """Boxes (left, bottom, right, top) around the point, and how far each is from it."""
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


def _distance(boxes: Array, point: Point) -> Array:
    x = numpy.maximum(numpy.maximum(boxes[:, 0] - point[0], point[0] - boxes[:, 2]), 0)
    y = numpy.maximum(numpy.maximum(boxes[:, 1] - point[1], point[1] - boxes[:, 3]), 0)
    return numpy.hypot(x, y)


def _fixed_cost(boxes: Array, own: int, points: Sequence[Point], dots: Array, bounds: Box) -> Array:
    low = numpy.maximum([bounds.left, bounds.bottom] - boxes[:, :2], 0).sum(axis=1)
    high = numpy.maximum(boxes[:, 2:] - [bounds.right, bounds.top], 0).sum(axis=1)
    cost: Array = _OUTSIDE * (low + high) + _overlap_cost(boxes, dots).sum(axis=1)
    distance = _distance(boxes, points[own])
    for other, point in enumerate(points):
        if other != own:
            cost += _OTHER_NEARER * (_distance(boxes, point) < distance)
    others = numpy.delete(dots, own, axis=0)
    cost += _THROUGH * _crossings(_lines(boxes, points[own]), others).sum(axis=1)
    return cost


def _lines(boxes: Array, point: Point) -> Array:
    """Points on the line from the point to each box: (boxes, steps, 2)."""
    ends = numpy.clip(point, boxes[:, :2], boxes[:, 2:])
    return numpy.asarray(point) + _STEPS[None, :, None] * (ends - point)[:, None, :]


def _crossings(spots: Array, rectangles: Array) -> Array:
    """Which line of spots touches which rectangle: (lines, rectangles)."""
    found = numpy.zeros((len(spots), len(rectangles)), dtype=bool)
    left, bottom, right, top = rectangles.T
    for step in range(spots.shape[1]):
        x, y = spots[:, step, 0, None], spots[:, step, 1, None]
        found |= (x > left) & (x < right) & (y > bottom) & (y < top)
    return found


def _overlap_cost(boxes: Array, others: Array) -> Array:
    """What covering each of the other rectangles costs each box: (boxes, others)."""
    width = numpy.minimum(boxes[:, None, 2], others[None, :, 2]) - numpy.maximum(boxes[:, None, 0], others[None, :, 0])
    height = numpy.minimum(boxes[:, None, 3], others[None, :, 3]) - numpy.maximum(boxes[:, None, 1], others[None, :, 1])
    cost: Array = ((width > 0) & (height > 0)) * (_OVERLAP + _PER_AREA * width * height)
    return cost


Conflicts = list[dict[int, Array]]


def _conflicts(boxes: Sequence[Array], lines: Sequence[Array]) -> Conflicts:
    """For each name and each other name within reach, what each pair of their places costs."""
    reach = [numpy.concatenate([places[:, :2].min(axis=0), places[:, 2:].max(axis=0)])[None, :] for places in boxes]
    conflicts: Conflicts = [{} for _ in boxes]
    for first in range(len(boxes)):
        for second in range(first):
            if _overlap_cost(reach[first], reach[second])[0, 0] > 0:
                cost = _overlap_cost(boxes[first], boxes[second])
                cost += _THROUGH * _crossings(lines[first], boxes[second])
                cost += _THROUGH * _crossings(lines[second], boxes[first]).T
                conflicts[first][second], conflicts[second][first] = cost, cost.T
    return conflicts


def _orders(points: Sequence[Point]) -> list[list[int]]:
    """Orders to begin with: most crowded first, and shuffled ones, the same every time."""
    order = sorted(range(len(points)), key=lambda i: (-_crowding(points, i), i))
    draw = random.Random(len(points))
    return [order, *(draw.sample(order, len(order)) for _ in range(_SHUFFLES))]


def _crowding(points: Sequence[Point], index: int) -> float:
    x, y = points[index]
    return sum(1 / (4 + math.hypot(x - a, y - b)) for other, (a, b) in enumerate(points) if other != index)


def _settle(order: Sequence[int], costs: Sequence[Array], conflicts: Conflicts) -> tuple[float, list[int]]:
    """The total cost and the chosen place of each name, improved name by name from the given order."""
    chosen: dict[int, int] = {}
    total = 0.0
    for _ in range(_ROUNDS):
        before, total = dict(chosen), 0.0
        for index in order:
            cost = costs[index].copy()
            for other, conflict in conflicts[index].items():
                if other in chosen:
                    cost += conflict[:, chosen[other]]
            chosen[index] = int(cost.argmin())
            total += float(cost.min())
        if chosen == before:
            break
    return total, [chosen[index] for index in range(len(costs))]


def _label(row: Array, point: Point) -> Label:
    return Label(Box(*(float(side) for side in row)), float(_distance(row[None, :], point)[0]))


def nearest_on(box: Box, point: Point) -> Point:
    """The point of the box nearest to `point`: where its leader line ends."""
    return (min(max(point[0], box.left), box.right), min(max(point[1], box.bottom), box.top))
