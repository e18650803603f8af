"""Places the names beside the points of a figure so that no name covers a point or another name."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

_DISTANCES = (8.0, 11.0, 15.0, 21.0, 29.0, 39.0, 51.0, 66.0, 84.0)
_DIRECTIONS = (0, 8, 4, 12, 2, 14, 6, 10, 1, 15, 7, 9, 3, 13, 5, 11)  # sixteenths of a turn: right, left, above, ...
_ROUNDS = 4


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


Point = tuple[float, float]


def place(points: Sequence[Point], sizes: Sequence[Point], bounds: Box, radius: float) -> list[Label]:
    """A place for each name of `sizes` (width, height) near its point, inside `bounds`, clear of dots of `radius`.

    Greedy, most crowded first, then a few rounds in which each name moves to the best place given the others: the
    number of names is small and the outcome depends on nothing but the arguments.
    """
    dots = [Box(x - radius, y - radius, x + radius, y + radius) for x, y in points]
    order = sorted(range(len(points)), key=lambda i: (-_crowding(points, i), i))
    placed: dict[int, Label] = {}
    for _ in range(_ROUNDS):
        before = dict(placed)
        for index in order:
            others = [label.box for other, label in placed.items() if other != index]
            lines = [(points[other], label.box) for other, label in placed.items() if other != index]
            candidates = _candidates(points[index], sizes[index])
            placed[index] = min(candidates, key=lambda c: _cost(c, points[index], others, lines, dots, bounds))
        if placed == before:
            break
    return [placed[index] for index in range(len(points))]


def _crowding(points: Sequence[Point], index: int) -> float:
    x, y = points[index]
    return sum(1 / (4 + math.hypot(x - a, y - b)) for other, (a, b) in enumerate(points) if other != index)


def _candidates(point: Point, size: Point) -> list[Label]:
    labels = []
    for distance in _DISTANCES:
        for direction in _DIRECTIONS:
            angle = direction * math.tau / 16
            across, up = math.cos(angle), math.sin(angle)
            # the box's corner or side that faces the point lies at `distance`
            x = point[0] + across * distance + size[0] / 2 * _clamp(across * 1.6)
            y = point[1] + up * distance + size[1] / 2 * _clamp(up * 1.6)
            box = Box(x - size[0] / 2, y - size[1] / 2, x + size[0] / 2, y + size[1] / 2)
            labels.append(Label(box, distance))
    return labels


def _clamp(value: float) -> float:
    return max(-1.0, min(1.0, value))


def _cost(
    label: Label,
    point: Point,
    others: Sequence[Box],
    lines: Sequence[tuple[Point, Box]],
    dots: Sequence[Box],
    bounds: Box,
) -> float:
    box = label.box
    outside = max(bounds.left - box.left, 0) + max(box.right - bounds.right, 0)
    outside += max(bounds.bottom - box.bottom, 0) + max(box.top - bounds.top, 0)
    cost = label.distance + 200 * outside
    cost += sum(100 + 10 * area for area in (box.overlap(other) for other in others) if area > 0)
    cost += sum(60 + 5 * area for area in (box.overlap(dot) for dot in dots) if area > 0)
    own = nearest_on(box, point)
    for start, other in lines:
        cost += 25 * _crosses(point, own, start, nearest_on(other, start))
    return cost


def nearest_on(box: Box, point: Point) -> Point:
    """The point of the box nearest to `point`: where its leader line ends."""
    return (min(max(point[0], box.left), box.right), min(max(point[1], box.bottom), box.top))


def _crosses(a: Point, b: Point, c: Point, d: Point) -> bool:
    def side(p: Point, q: Point, r: Point) -> float:
        return (q[0] - p[0]) * (r[1] - p[1]) - (q[1] - p[1]) * (r[0] - p[0])

    return side(a, b, c) * side(a, b, d) < 0 and side(c, d, a) * side(c, d, b) < 0
