"""Figures as objects that show themselves in a notebook."""

import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

from dumbbell.catalog.description import Description, describe
from dumbbell.errors import UserError, listed, nearest
from dumbbell.figures import (
    Steps,
    distribution_figure,
    fairness_figure,
    for_notebook,
    for_print,
    operating_point_figure,
    queue_figure,
    styles,
    window_figure,
)
from dumbbell.figures.strokes import Stroke
from dumbbell.figures.style import INK
from dumbbell.library.figure_data import normalised_data, over_time_data, overview_data, run_data, staircases_data
from dumbbell.library.tables import TABLE_FORMS, Table, check_form
from dumbbell.report import load, normalised
from dumbbell.report.drawing import Job, draw_job, draw_one, staircase
from dumbbell.report.normalised import Experiments
from dumbbell.report.over_cells import ELLIPSES, OverCells, Shown
from dumbbell.report.over_cells import KINDS as OVER_CELLS
from dumbbell.report.over_time import KINDS as OVER_TIME
from dumbbell.report.over_time import OverTime
from dumbbell.report.overview import Overview
from dumbbell.report.series import (
    Lines,
    distributions,
    flow_lines,
    operating_series,
    queue_series,
    shares,
    window_series,
)
from dumbbell.report.staircase import KINDS as STAIRCASE
from dumbbell.report.staircase import Staircases
from dumbbell.results.files import write_atomically
from dumbbell.results.kept import PACKETS
from dumbbell.results.samples import RunSamples, run_samples

if TYPE_CHECKING:
    from dumbbell.library.one_run import RunResults


FORMS = (".svg", ".pdf", ".png")
"""What figures can be saved as."""


@dataclass(frozen=True)
class Figure:
    """A drawing. A notebook shows it; `save` makes a file of it."""

    title: str
    drawing: str
    """SVG whose ink is not decided yet."""
    numbers: Callable[[], Table] = field(repr=False)

    @property
    def svg(self) -> str:
        """The figure as an SVG document, in dark ink without a background."""
        return for_print(self.drawing)

    @cached_property
    def data(self) -> Table:
        """The numbers that it shows."""
        return self.numbers()

    def save(self, file: str | Path) -> Path:
        """Writes the figure; the name has to end in `.svg`, `.pdf` or `.png`.

        Raises:
            dumbbell.Error: it ends in something else.
            OSError: the file cannot be written.
        """
        file = Path(file)
        check_form(file, "figures", FORMS)
        if file.suffix == ".svg":
            write_atomically(file, self.svg)
        else:
            from dumbbell.figures.typeset import figure_as

            write_atomically(file, figure_as(file.suffix[1:], self.svg))
        return file

    def _repr_svg_(self) -> str:
        return for_notebook(self.drawing, self.title)

    def __repr__(self) -> str:
        return f"<dumbbell.Figure: {self.title}>"


def check_figure_files(figure: Path, data: Path) -> None:
    """Refuses names that a figure and its numbers cannot be saved under, before anything is drawn.

    Raises:
        dumbbell.Error: one of them ends in something else, or its folder does not exist.
    """
    check_form(figure, "figures", FORMS)
    check_form(data, "tables", TABLE_FORMS)
    for file in (figure, data):
        if not file.parent.is_dir():
            raise UserError(f"{file}: there is no folder {file.parent}")


@dataclass(frozen=True)
class _Subject:
    """A run that is drawn: its results, and the series and lines that figures over time need."""

    name: str
    run: "RunResults"

    @property
    def samples(self) -> RunSamples:
        return run_samples(self.run.kept, self.run.statistics, self.run.specification)

    def lines(self, samples: RunSamples) -> Lines:
        """How its flows look."""
        names = list(dict.fromkeys(flow.scheme for flow in samples.flows))
        known = {name: self.run.schemes.get(name) for name in names}
        titles = {name: scheme.title if scheme else name for name, scheme in known.items()}
        looks = styles(
            (name, *((scheme.color, scheme.marker) if scheme else ("", ""))) for name, scheme in known.items()
        )
        return flow_lines(samples, titles, looks)

    @property
    def job(self) -> Job:
        """As the figures of reports need it."""
        return draw_job(self.name, self.run.statistics, self.run.kept, self._title)

    def _title(self, scheme: str) -> str:
        return self.run.schemes[scheme].title if scheme in self.run.schemes else scheme

    @property
    def path(self) -> Description:
        """What the path is."""
        return describe(self.run.specification["path"])

    @property
    def capacity_mbps(self) -> Steps | None:
        """That of the path, where it follows from the path alone."""
        rate = self.path.rates_mbps
        return Steps(*rate) if rate else None


def _staircase(subject: _Subject) -> str:
    return staircase(subject.job, subject.path.changes_s)


def _operating_point(subject: _Subject) -> str:
    samples = subject.samples
    return operating_point_figure(
        subject.name,
        operating_series(samples, subject.lines(samples)),
        capacity_mbps=subject.capacity_mbps,
        changes_s=subject.path.changes_s,
    )


def _distribution(subject: _Subject) -> str:
    samples = subject.samples
    return distribution_figure(subject.name, distributions(samples, subject.lines(samples)))


def _window(subject: _Subject) -> str:
    samples = subject.samples
    return window_figure(subject.name, window_series(samples, subject.lines(samples)))


def _fairness(subject: _Subject) -> str:
    samples = subject.samples
    return fairness_figure(subject.name, *shares(samples, subject.lines(samples)), samples.jain)


def _queue(subject: _Subject) -> str:
    series = queue_series(subject.samples, "Bottleneck", Stroke(INK, "o"))
    return queue_figure(subject.name, [series]) if series else ""


KINDS: dict[str, tuple[str, Callable[[_Subject], str]]] = {
    "throughput": ("rates into and out of the path", lambda subject: draw_one(subject.job, "throughput")),
    "delay": ("one-way delay of every packet", lambda subject: draw_one(subject.job, "delay")),
    "staircase": ("throughput of each flow, and their mean", _staircase),
    "jain": ("Jain's index in windows of time", lambda subject: draw_one(subject.job, "jain")),
    "operating-point": ("packets in flight, RTT and throughput", _operating_point),
    "window": ("congestion window and pacing rate", _window),
    "distribution": ("distribution of throughput and RTT", _distribution),
    "fairness": ("Jain's index and shares", _fairness),
    "queue": ("queue, drops and marks at the bottleneck", _queue),
    "state": ("the controller's modes and what decides them", lambda subject: draw_one(subject.job, "state")),
    "media": ("bitrate and frame delay", lambda subject: draw_one(subject.job, "media")),
}
"""Figures of a run: what each shows, and how it is drawn."""

_OF_PACKETS = ("throughput", "delay", "staircase", "jain")

OVERVIEWS = {
    "means": "throughput over delay: mean of each scheme",
    "runs": "throughput over delay: every run",
    "ellipses": ELLIPSES,
    **STAIRCASE,
    **{kind: f"throughput, delay and loss of {shows}" for kind, shows in OVER_TIME.items()},
}
"""Figures of all runs on a path; the last of campaigns."""


ALL_PATHS = normalised.KINDS
"""Figures of all runs on all paths."""


def figure_kinds() -> list[dict[str, str]]:
    """The kinds of figures: `kind`, `of` (what one figure is of), `shows`."""
    overviews = [
        {"kind": kind, "of": "campaign" if kind in OVER_TIME else "path", "shows": shows}
        for kind, shows in OVERVIEWS.items()
    ]
    overviews += [{"kind": kind, "of": "all paths", "shows": shows} for kind, shows in ALL_PATHS.items()]
    overviews += [{"kind": kind, "of": "grid", "shows": shows} for kind, shows in OVER_CELLS.items()]
    return [*overviews, *({"kind": kind, "of": "run", "shows": shows} for kind, (shows, _) in KINDS.items())]


def check_kind(kind: str) -> None:
    """Refuses what is no kind of figure."""
    every = (*KINDS, *OVERVIEWS, *ALL_PATHS, *OVER_CELLS)
    if kind not in every:
        raise UserError(f"unknown figure `{kind}`{nearest(kind, every)}: allowed are {listed(every)}")


def run_figure(kind: str, run: "RunResults") -> Figure:
    """A figure of one run: `RunResults.figure`."""
    check_kind(kind)
    if kind not in KINDS:
        raise UserError(f"figure `{kind}`: is of several runs: ask their results for it")
    shows, draw = KINDS[kind]
    if kind in _OF_PACKETS:
        run.source(PACKETS)  # refused where there is none
    name = f"d{zlib.crc32(f'{kind} {run.label} {run.seed}'.encode()):08x}"  # identifiers are unique on a page
    drawing = draw(_Subject(name, run))
    if not drawing:
        raise UserError(f"{run.label}: figure `{kind}`: nothing of it was recorded")
    return Figure(f"{run.label}: {shows}", drawing, partial(run_data, kind, run))


def overview(kind: str, directory: Path, path: str) -> Figure:
    """A figure of all runs on a path: `Results.figure`."""
    name = f"d{zlib.crc32(f'{kind} {directory} {path}'.encode()):08x}"
    if kind in OVER_TIME:
        return _over_time(kind, directory, path, name)
    if kind in STAIRCASE:
        return _staircases(kind, directory, path, name)
    if kind == "ellipses":
        shown = OverCells(load(directory)).ellipses(name, path)
        if not shown.drawing:
            raise UserError(f"figure `{kind}`: none of the flows on {path} has throughput and a smoothed RTT")
        return _shown(f"{path}: {ELLIPSES}", shown)
    found = Overview(load(directory))
    drawing = found.draw(kind, path, name)
    if not drawing:
        raise UserError(f"figure `{kind}`: none of the runs on {path} that count has throughput and one-way delay")
    return Figure(f"{path}: {OVERVIEWS[kind]}", drawing, partial(overview_data, kind, found, path))


def of_all_paths(kind: str, directories: Sequence[Path], legacy: bool) -> Figure:
    """A figure of the runs on all paths of these directories: `Results.figure`."""
    found = Experiments(directories, legacy)
    drawing = found.draw(f"d{zlib.crc32(f'{kind} {directories} {legacy}'.encode()):08x}")
    if not drawing:
        raise UserError(f"figure `{kind}`: no run that counts has throughput and queueing delay")
    return Figure(ALL_PATHS[kind], drawing, partial(normalised_data, found))


def _staircases(kind: str, directory: Path, path: str, name: str) -> Figure:
    found = Staircases(load(directory))
    drawing = found.draw(kind, path, name)
    if not drawing:
        raise UserError(f"figure `{kind}`: none of the runs on {path} that count kept a packet log")
    return Figure(f"{path}: {OVERVIEWS[kind]}", drawing, partial(staircases_data, found, path))


def _over_time(kind: str, directory: Path, path: str, name: str) -> Figure:
    found = OverTime(load(directory))
    if found.model.every_s is None:
        raise UserError(f"figure `{kind}`: is of campaigns: {directory} was made without --every")
    drawing = found.draw(kind, path, name)
    if not drawing:
        raise UserError(f"figure `{kind}`: none of the runs on {path} counts")
    return Figure(f"{path}: {OVERVIEWS[kind]}", drawing, partial(over_time_data, kind, found, path))


def over_cells(kind: str, directory: Path, path: str | None, scheme: str | None) -> Figure:
    """A figure of the cells of a grid: `Results.figure`."""
    name = f"d{zlib.crc32(f'{kind} {directory} {path} {scheme}'.encode()):08x}"
    model = load(directory)
    return _shown(f"{model.name}: {OVER_CELLS[kind]}", OverCells(model).draw(kind, name, path, scheme))


def _shown(title: str, shown: Shown) -> Figure:
    return Figure(title, shown.drawing, partial(Table.of, shown.columns, shown.rows))
