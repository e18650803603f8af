"""The benchmark's part of an experiment: its group, the text and figures of its page, and its quick form."""

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
"""Figures that are charts of the explorer, by the names in its addresses. Other figures have pages of their own."""


@dataclass(frozen=True)
class Membership:
    """Page of an experiment: group, scenario text, schemes for comparison, metrics and figures.

    For `neutral` metrics neither more nor less is better in this experiment, even if it is elsewhere.
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
        """Return the table `[benchmark]`."""
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
    """Replacements in an experiment by `--quick`; `settings` has only the settings that differ."""

    paths: tuple[str, ...] = ()
    settings: dict[str, object] = field(default_factory=dict)
    grid: tuple[Axis, ...] = ()
    leave_out: bool = False

    def table(self) -> dict[str, object]:
        """Return the table `[quick]`; empty without replacements."""
        parts = {"paths": list(self.paths), "grid": grid_table(self.grid), "leave_out": self.leave_out}
        return self.settings | {key: part for key, part in parts.items() if part}


def parse_membership(table: TomlTable) -> Membership:
    """Return the `[benchmark]` table of an experiment."""
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
    """Return the `[quick]` table of an experiment."""
    shorter = Shorter(
        paths=tuple(table.texts("paths", [])),
        settings=read_settings(table, ("runs", "duration_s", "warmup_s")),
        grid=parse_grid(table.table("grid")),
        leave_out=table.flag("leave_out", False),
    )
    table.finish()
    return shorter
