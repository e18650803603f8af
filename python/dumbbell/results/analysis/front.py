"""Pareto front: the points that no other point beats."""

from collections.abc import Sequence


def pareto_front(points: Sequence[tuple[float, float]]) -> list[int]:
    """Return the indices of the points (delay, throughput) that no other point beats, by growing delay.

    A point beats another one if it is better in one coordinate and not worse in the other. All equal points are
    included.
    """
    order = sorted(range(len(points)), key=lambda index: (points[index][0], -points[index][1], index))
    front: list[int] = []
    for index in order:
        if not front or points[index][1] > points[front[-1]][1] or points[index] == points[front[-1]]:
            front.append(index)
    return front
