"""The figures of the site: which there are, and drawing them on several processors into files of their own."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from dumbbell import core
from dumbbell.base.entry import Entry
from dumbbell.base.names import directory_name
from dumbbell.base.progress import Piece, Progress, Stage
from dumbbell.base.spread import START_S, Helpers, worth
from dumbbell.catalog.membership import Membership
from dumbbell.experiment import Experiment
from dumbbell.present.plots.parts.svg import for_file
from dumbbell.present.site.judging.findings import Findings, MeasuredCell, Site
from dumbbell.present.site.pictures.mean_figures import completion, in_flight, matrices, plane, sweep, verdict
from dumbbell.present.site.pictures.picture import MOST, Picture
from dumbbell.present.site.pictures.series_figures import calls, distribution, fairness, operating_point, step
from dumbbell.present.site.pictures.sketch import Sketch
from dumbbell.results import write_atomically

FOLDER = "figures"

_OF_CELLS = {
    "operating-point": operating_point,
    "in-flight": in_flight,
    "distribution": distribution,
    "plane": plane,
    "fairness": fairness,
    "step": step,
    "calls": calls,
}
_OF_EXPERIMENTS = {"sweep": sweep, "matrix": matrices, "completion": completion}

PICTURES = "figures"
"""What the stage of drawing them is called."""

PICTURE_S = 0.07


@dataclass(frozen=True)
class Album:
    """All figures, and how many were left out by experiment."""

    pictures: tuple[Picture, ...]
    left_out: dict[str, int]
    verdict: Picture | None = None
    """The one of the first page."""

    def of(self, experiment: str) -> list[Picture]:
        """Those of one experiment."""
        return [picture for picture in self.pictures if picture.experiment == experiment]


def announce(progress: Progress, names: Sequence[str], jobs: int) -> Stage:
    """The stage of drawing so many figures."""
    pieces = [Piece(name, PICTURE_S) for name in names]
    workers = worth(jobs, PICTURE_S * len(names))
    return progress.expect(PICTURES, pieces, workers, START_S if workers > 1 else 0.0)


def expected(experiments: Iterable[tuple[Membership, Experiment]], quick: bool) -> int:
    """How many figures the pages of these experiments are going to have."""
    count = 0
    for membership, experiment in experiments:
        kinds = membership.figures
        count += sum(1 for kind in kinds if kind in _OF_EXPERIMENTS)
        count += sum(1 for kind in kinds if kind in _OF_CELLS) * len(experiment.paths)
    return min(count, MOST[quick])


def draw(site: Site, jobs: int, progress: Progress) -> Album:
    """Draws the figures and writes them below the benchmark's directory."""
    chosen, left_out = _choose([_sketches(site, found) for found in site.findings], MOST[site.benchmark.quick])
    whole = list(verdict(site))
    folder = Entry.of(site.benchmark.directory) / FOLDER
    folder.make_folder()
    tasks = [(_name(found, sketch), sketch, folder) for found, sketch in chosen]
    tasks += [(sketch.kind, sketch, folder) for sketch in whole]
    names = [*(found.name for found, _ in chosen), *("" for _ in whole)]
    stage = announce(progress, [name for name, _, _ in tasks], jobs)
    with Helpers(stage.workers) as helpers:
        problems = helpers.map(_draw, tasks, stage)
    pictures = []
    for experiment, (name, sketch, _), problem in zip(names, tasks, problems, strict=True):
        alt = f"{sketch.title}. {sketch.in_words}".strip()
        pictures.append(
            Picture(experiment, sketch.cell, sketch.kind, f"{FOLDER}/{name}.svg", sketch.title, alt, problem)
        )
    kept = {f"{name}.svg" for name, _, _ in tasks}
    for old in folder.names():
        if old.endswith(".svg") and old not in kept:
            (folder / old).remove()  # of results that are no more
    counts = {found.name: count for found, count in zip(site.findings, left_out, strict=True)}
    first = next((picture for picture in pictures if not picture.experiment), None)
    return Album(tuple(picture for picture in pictures if picture.experiment), counts, first)


def _sketches(site: Site, found: Findings) -> list[tuple[Findings, Sketch]]:
    """The figures of an experiment, what shows all cells first, then cell by cell."""
    kinds = found.membership.figures
    whole = [sketch for kind in kinds if kind in _OF_EXPERIMENTS for sketch in _OF_EXPERIMENTS[kind](site, found)]
    of_cells = [sketch for cell in found.cells for sketch in _of_cell(site, found, cell, kinds)]
    return [(found, sketch) for sketch in (*whole, *of_cells)]


def _of_cell(site: Site, found: Findings, cell: MeasuredCell, kinds: Sequence[str]) -> Iterator[Sketch]:
    for kind in kinds:
        if kind in _OF_CELLS:
            for sketch in _OF_CELLS[kind](site, found, cell):
                yield replace(sketch, cell=cell.name)


def _choose(
    sketches: Sequence[list[tuple[Findings, Sketch]]], most: int
) -> tuple[list[tuple[Findings, Sketch]], list[int]]:
    """At most so many, taken from the experiments in turn, and how many of each are left out."""
    kept = [0] * len(sketches)
    while sum(kept) < most and any(count < len(own) for count, own in zip(kept, sketches, strict=True)):
        for index, own in enumerate(sketches):
            if kept[index] < len(own) and sum(kept) < most:
                kept[index] += 1
    chosen = [each for own, count in zip(sketches, kept, strict=True) for each in own[:count]]
    return chosen, [len(own) - count for own, count in zip(sketches, kept, strict=True)]


def _name(found: Findings, sketch: Sketch) -> str:
    return directory_name(".".join(part for part in (found.name, sketch.cell, sketch.kind, sketch.part) if part))


_Task = tuple[str, Sketch, Entry]


def _draw(task: _Task) -> str:
    """Draws and writes one figure; why not, if that fails. An unreadable run is a reason: the others matter."""
    name, sketch, folder = task
    try:
        drawing = sketch.draw(name)
    except core.Error as error:
        return str(error)
    write_atomically(folder / f"{name}.svg", for_file(drawing))
    return ""
