"""What the benchmark needs to know of an experiment: its place, what its page says and shows, and its quick form."""

from dataclasses import dataclass, field

from dumbbell.catalog.experiment_settings import read_settings
from dumbbell.catalog.grids.grid import Axis, grid_table, parse_grid
from dumbbell.catalog.toml_tables import TomlTable

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
    "calls",
)
CHARTS = {
    "in-flight": {"chart": "plane", "x": "mean_in_flight_l4", "y": "mean_throughput_l4"},
    "distribution": {"chart": "ecdf"},
    "plane": {"chart": "plane", "x": "mean_srtt_l4", "y": "mean_throughput_l4"},
    "sweep": {"chart": "sweep"},
}
"""Figures that are charts of the explorer, as its addresses name them. Runs and verdicts have pages for the others."""


@dataclass(frozen=True)
class Membership:
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

    def table(self) -> dict[str, object]:
        """As written under `[benchmark]`."""
        lists = {
            "references": self.references,
            "flow_metrics": self.flow,
            "link_metrics": self.link,
            "network_metrics": self.network,
            "figures": self.figures,
            "neutral_metrics": self.neutral,
        }
        table: dict[str, object] = {"group": self.group, "text": self.text, "victims": self.victims}
        return table | {key: list(names) for key, names in lists.items() if names}


@dataclass(frozen=True)
class Shorter:
    """What `--quick` replaces in an experiment; `settings` are those of its settings that differ."""

    paths: tuple[str, ...] = ()
    settings: dict[str, object] = field(default_factory=dict)
    grid: tuple[Axis, ...] = ()
    leave_out: bool = False

    def table(self) -> dict[str, object]:
        """As written under `[quick]`; empty if nothing differs."""
        parts = {"paths": list(self.paths), "grid": grid_table(self.grid), "leave_out": self.leave_out}
        return self.settings | {key: part for key, part in parts.items() if part}


def parse_membership(table: TomlTable) -> Membership:
    """The `[benchmark]` table of an experiment."""
    membership = Membership(
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
    return membership


def _figures(table: TomlTable) -> list[str]:
    return [
        TomlTable({"figures": name}, table.source, table.prefix).text("figures", None, FIGURES)
        for name in table.texts("figures", [])
    ]


def parse_shorter(table: TomlTable) -> Shorter:
    """The `[quick]` table of an experiment."""
    shorter = Shorter(
        paths=tuple(table.texts("paths", [])),
        settings=read_settings(table, ("runs", "duration_s", "warmup_s")),
        grid=parse_grid(table.table("grid")),
        leave_out=table.flag("leave_out", False),
    )
    table.finish()
    return shorter
