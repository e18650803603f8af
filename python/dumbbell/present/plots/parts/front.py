"""Which of many points nothing beats: no other has both less delay and more throughput."""

from collections.abc import Sequence


def pareto_front(points: Sequence[tuple[float, float]]) -> list[int]:
    """The indices of the points (delay, throughput) that no other dominates, by growing delay.

    One point dominates another if it is better in one and no worse in the other; of equal ones all are there.
    """
    order = sorted(range(len(points)), key=lambda index: (points[index][0], -points[index][1], index))
    front: list[int] = []
    for index in order:
        if not front or points[index][1] > points[front[-1]][1] or points[index] == points[front[-1]]:
            front.append(index)
    return front
