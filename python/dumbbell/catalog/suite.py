"""What the benchmark needs to know of an experiment: its place, what its page says and shows, and its quick form."""

from dataclasses import dataclass, field

from dumbbell.catalog.grid import Axis, parse_grid
from dumbbell.catalog.tables import Table

GROUPS = (
    "Steady state",
    "Responsiveness",
    "Dynamic network",
    "Network variation",
    "Competition",
    "Queue management",
    "Short flows",
    "Robustness",
    "Media",
)
"""Groups of experiments, in the order of the index."""

FIGURES = (
    "operating-point",
    "in-flight",
    "distribution",
    "plane",
    "fairness",
    "sweep",
    "matrix",
    "step",
    "completion",
)


@dataclass(frozen=True)
class Chapter:
    """An experiment's page: its group, scenario text, schemes to compare with, metrics and figures.

    Of `neutral` metrics neither more nor less is better here, whatever holds elsewhere.
    """

    group: str
    text: str
    references: tuple[str, ...] = ()
    flow: tuple[str, ...] = ()
    link: tuple[str, ...] = ()
    network: tuple[str, ...] = ()
    figures: tuple[str, ...] = ()
    victims: str = ""
    neutral: tuple[str, ...] = ()


@dataclass(frozen=True)
class Shorter:
    """What `--quick` replaces in an experiment."""

    paths: tuple[str, ...] = ()
    runs: int | None = None
    duration_s: float | None = None
    warmup_s: float | None = None
    grid: tuple[Axis, ...] = field(default=())
    leave_out: bool = False


def parse_chapter(table: Table) -> Chapter:
    """The `[benchmark]` table of an experiment."""
    chapter = Chapter(
        group=table.text("group", None, GROUPS),
        text=table.text("text").strip(),
        references=tuple(table.texts("references", [])),
        flow=tuple(table.texts("flow_metrics", [])),
        link=tuple(table.texts("link_metrics", [])),
        network=tuple(table.texts("network_metrics", [])),
        figures=tuple(_figures(table)),
        victims=table.text("victims", ""),
        neutral=tuple(table.texts("neutral_metrics", [])),
    )
    table.finish()
    return chapter


def _figures(table: Table) -> list[str]:
    return [
        Table({"figures": name}, table.source, table.prefix).text("figures", None, FIGURES)
        for name in table.texts("figures", [])
    ]


def parse_shorter(table: Table) -> Shorter:
    """The `[quick]` table of an experiment."""
    shorter = Shorter(
        paths=tuple(table.texts("paths", [])),
        runs=table.integer("runs", 1, least=1) if table.has("runs") else None,
        duration_s=table.number("duration_s", 1.0, least=1e-3, most=1e6) if table.has("duration_s") else None,
        warmup_s=table.number("warmup_s", 0.0, least=0.0) if table.has("warmup_s") else None,
        grid=parse_grid(table.table("grid")),
        leave_out=table.flag("leave_out", False),
    )
    table.finish()
    return shorter
