"""Where a figure of points needs a magnifying glass, and where it has room for one."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from dumbbell.present.plots.parts.labels import Box, Point

_CLOSE = 10.0  # points: the names of nearer ones find no room, nearest ones cover each other
_SAME = 0.1  # points: no glass tells nearer ones apart
_SHARES = (0.42, 0.36, 0.3)  # of the plot's width and height, to try in turn
_FEW = 3  # points that need the smallest only
_ROOM = 1.7  # what is magnified, as a multiple of the extent of its points
_LEAST, _MOST = 2.0, 80.0  # magnification
_TICKS = (26.0, 15.0)  # room that the ticks need at the left and below
_GRID = 24  # places to try in each direction


@dataclass(frozen=True)
class Inset:
    """What is magnified, where, and which points are in it."""

    source: Box
    target: Box
    members: tuple[int, ...]


def find_inset(spots: Sequence[Point], area: Box, radius: float, obstacles: Sequence[Box] = ()) -> Inset | None:
    """The glass for the largest crowd of points that cover each other; None without one, or without room for it.

    `area` is the plot, `radius` that of the markers, all in points.
    """
    crowd = _largest_crowd(spots)
    if len(crowd) < 2:
        return None
    for share in _SHARES[-1:] if len(crowd) <= _FEW else _SHARES:
        size = (share * (area.right - area.left), share * (area.top - area.bottom))
        source = _source([spots[index] for index in crowd], size, area)
        members = tuple(index for index, spot in enumerate(spots) if _inside(spot, source))
        if _distinct([spots[index] for index in members]) < 2:
            continue
        blocked = [source, *obstacles]
        blocked += [
            Box(x - radius, y - radius, x + radius, y + radius) for x, y in spots if not _inside((x, y), source)
        ]
        target = _free(size, area, blocked, source)
        if target:
            return Inset(source, target, members)
    return None


def same_places(spots: Sequence[Point]) -> list[list[int]]:
    """Points in groups of those that no glass tells apart, in the order of their first."""
    groups: list[list[int]] = []
    for index, spot in enumerate(spots):
        for group in groups:
            if math.dist(spot, spots[group[0]]) < _SAME:
                group.append(index)
                break
        else:
            groups.append([index])
    return groups


def _distinct(spots: Sequence[Point]) -> int:
    return len(same_places(spots))


def _largest_crowd(spots: Sequence[Point]) -> list[int]:
    """The points that hang together by being close: the crowd with most places that can be told apart."""
    left, best = set(range(len(spots))), list[int]()
    while left:
        crowd = [left.pop()]
        for member in crowd:
            near = {other for other in left if math.dist(spots[member], spots[other]) < _CLOSE}
            left -= near
            crowd += sorted(near)
        if _distinct([spots[index] for index in crowd]) > max(_distinct([spots[index] for index in best]), 1):
            best = sorted(crowd)
    return best


def _source(crowd: Sequence[Point], size: Point, area: Box) -> Box:
    """The part of the plot that a glass of `size` shows: all of the crowd, or what is around its closest two."""
    scale = _scale(crowd, size)
    if scale < _LEAST:
        pairs = [(first, second) for first in crowd for second in crowd if math.dist(first, second) >= _SAME]
        crowd = min(pairs, key=lambda pair: math.dist(*pair))
        scale = _LEAST
    scale = min(scale, _MOST)
    xs, ys = [x for x, _ in crowd], [y for _, y in crowd]
    width, height = size[0] / scale, size[1] / scale
    # within the plot: what is beyond its limits is of no interest
    left = min(max((min(xs) + max(xs) - width) / 2, area.left), area.right - width)
    bottom = min(max((min(ys) + max(ys) - height) / 2, area.bottom), area.top - height)
    return Box(left, bottom, left + width, bottom + height)


def _scale(crowd: Sequence[Point], size: Point) -> float:
    width = max(x for x, _ in crowd) - min(x for x, _ in crowd)
    height = max(y for _, y in crowd) - min(y for _, y in crowd)
    return min(size[0] / max(_ROOM * width, 1e-9), size[1] / max(_ROOM * height, 1e-9))


def _inside(spot: Point, box: Box) -> bool:
    return box.left <= spot[0] <= box.right and box.bottom <= spot[1] <= box.top


def _free(size: Point, area: Box, blocked: Sequence[Box], source: Box) -> Box | None:
    """The place of that size, ticks included, that covers nothing and is nearest to the source."""
    width, height = size
    best: tuple[float, Box] | None = None
    for column in range(_GRID + 1):
        for row in range(_GRID + 1):
            left = area.left + _TICKS[0] + 6 + (area.right - area.left - width - _TICKS[0] - 12) * column / _GRID
            bottom = area.bottom + _TICKS[1] + 6 + (area.top - area.bottom - height - _TICKS[1] - 12) * row / _GRID
            whole = Box(left - _TICKS[0], bottom - _TICKS[1], left + width, bottom + height)
            if any(whole.overlap(each) > 0 for each in blocked):
                continue
            middle = (left + width / 2, bottom + height / 2)
            far = math.dist(middle, ((source.left + source.right) / 2, (source.bottom + source.top) / 2))
            if best is None or far < best[0]:
                best = (far, Box(left, bottom, left + width, bottom + height))
    return best[1] if best else None
