"""A figure that has been drawn."""

from dataclasses import dataclass

MOST = {True: 60, False: 400}
"""Figures of a quick and of a full benchmark: each takes a fraction of a second."""


@dataclass(frozen=True)
class Picture:
    """One figure: the experiment and cell (empty: all of them) it belongs to, its file in the site, or why not."""

    experiment: str
    cell: str
    kind: str
    file: str
    title: str
    alt: str
    problem: str = ""
