"""A figure before it is drawn: what a worker process needs to know of it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dumbbell.base.entry import Entry
from dumbbell.present.plots import Stroke, Style, scheme_strokes
from dumbbell.present.site.judging.findings import Findings, MeasuredCell, Site

if TYPE_CHECKING:
    from dumbbell.contract.run import RunTable
    from dumbbell.contract.specification import RunSpec


@dataclass(frozen=True)
class Sketch(ABC):
    """One figure. `part` tells several of a kind apart; `in_words` is for readers who cannot see it."""

    kind: str
    title: str
    part: str = ""
    cell: str = ""
    in_words: str = ""

    @abstractmethod
    def draw(self, name: str) -> str:
        """The figure as SVG, its identifiers starting with `name`."""


@dataclass(frozen=True)
class Source:
    """A run whose samples a figure shows."""

    label: str
    title: str
    stroke: Stroke
    folder: Entry
    content: RunTable
    specification: RunSpec


def strokes(site: Site, labels: Iterable[str]) -> dict[str, Stroke]:
    """How the lines of schemes look."""
    names = list(labels)
    return dict(zip(names, scheme_strokes([site.styles[name] for name in names]), strict=True))


def style(site: Site, name: str) -> Style:
    """How the points of a scheme look."""
    return site.styles[name]


def sources(site: Site, found: Findings, cell: MeasuredCell, labels: Iterable[str]) -> list[Source]:
    """The first good run of each label."""
    looks = strokes(site, found.labels)
    results = found.part.results
    made = []
    for label in labels:
        run = next(iter(cell.good(label)), None)
        if run is not None:
            folder, specification = results.folder(run.planned), found.experiment.specification(run.planned)
            made.append(Source(label, site.title(label), looks[label], folder, run.content, specification))
    return made


def place(found: Findings, cell: MeasuredCell) -> str:
    """Where a figure of one cell is, as the end of its title; nothing where there is one cell only."""
    return f", {cell.label(found.axes)}" if len(found.cells) > 1 else ""
