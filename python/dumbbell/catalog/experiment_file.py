"""Experiment files: schemes, paths, number and duration of runs, flows."""

import re
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

from dumbbell.base.errors import UserError
from dumbbell.base.names import require_names
from dumbbell.catalog.experiment_settings import MOST_FLOWS, Settings, read_settings
from dumbbell.catalog.grids.cell import Cell
from dumbbell.catalog.grids.flows import FlowPlan, parse_flow
from dumbbell.catalog.grids.grid import Axis, grid_table, parse_grid
from dumbbell.catalog.index import read_name
from dumbbell.catalog.membership import Membership, Shorter, parse_membership, parse_shorter
from dumbbell.catalog.path import PathModel, parse_path
from dumbbell.catalog.published import Publication, parse_publication
from dumbbell.catalog.scheme import Scheme, parse_scheme
from dumbbell.catalog.toml_tables import TomlTable, parse_toml, to_toml


@dataclass(frozen=True, kw_only=True)
class ExperimentFile(Settings):
    """An experiment as written in a file. Its names are not resolved yet."""

    name: str
    title: str = ""
    aliases: tuple[str, ...] = ()
    schemes: list[str] = field(default_factory=list)
    mixes: list[str] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    flow: tuple[FlowPlan, ...] = ()
    grid: tuple[Axis, ...] = ()
    cells: dict[str, Cell] = field(default_factory=dict)
    membership: Membership | None = None
    shorter: Shorter = field(default_factory=Shorter)
    publication: Publication = field(default_factory=Publication)
    own_schemes: dict[str, Scheme] = field(default_factory=dict)
    own_paths: dict[str, PathModel] = field(default_factory=dict)
    file: str = field(default="", compare=False)
    is_resolved: bool = field(default=False, compare=False)
    """True if the experiment is resolved: its names refer to the file's own tables, and no other place is searched."""
    known_plugins: Collection[str] | None = field(default=None, compare=False)
    """Digests of the plug-ins that the file may name (`plugin_digest`); None allows all."""
    command_line_names: frozenset[str] = field(default=frozenset(), compare=False)
    """Names of schemes and paths that come from the command line, not from the file."""

    def __post_init__(self) -> None:
        require_names("experiment", (self.name, *self.aliases), self.file)
        require_names("cell", self.cells, self.file)

    def table(self) -> dict[str, object]:
        """Return the table of the file."""
        table: dict[str, object] = {"name": self.name, "title": self.title, "aliases": list(self.aliases)}
        table |= {"schemes": self.schemes, "mixes": self.mixes, "paths": self.paths}
        table |= self.settings_table() | self.publication.table()
        parts: dict[str, object] = {
            "flow": [flow.table() for flow in self.flow],
            "grid": grid_table(self.grid),
            "benchmark": None if self.membership is None else self.membership.table(),
            "quick": self.shorter.table(),
            "scheme": {name: scheme.table() for name, scheme in self.own_schemes.items()},
            "path": {name: path.table() for name, path in self.own_paths.items()},
            "cell": {name: cell.table() for name, cell in self.cells.items()},
        }
        return table | {key: part for key, part in parts.items() if part}

    def to_toml(self) -> str:
        """Return the content of an experiment file. Reading it gives an equal experiment."""
        return to_toml(self.table())

    @classmethod
    def from_toml(cls, text: str) -> "ExperimentFile":
        """Return an experiment from the content of its file.

        Raises:
            UserError: If a key or value is not allowed.
        """
        return parse_experiment_file(parse_toml(text, "TOML"))


Plan = ExperimentFile
"""Former name of `ExperimentFile`, for programs that use it."""


def parse_experiment_file(table: TomlTable) -> ExperimentFile:
    """Return an experiment from its file."""
    if table.has("runs") and table.has("every_s"):
        raise table.fail("runs", table.raw["runs"], "none beside `every_s`: a schedule says how many there are")
    own_schemes = _own(table.table("scheme"), parse_scheme)
    own_paths = _own(table.table("path"), parse_path)
    cells = {name: _cell(table.table("cell").table(name), own_paths) for name in table.table("cell").raw}
    experiment_file = ExperimentFile(
        name=read_name(table),
        title=table.title("title", ""),
        aliases=tuple(table.texts("aliases", [])),
        schemes=table.texts("schemes", []),
        mixes=table.texts("mixes", []),
        paths=table.texts("paths", []),
        **read_settings(table),
        flow=tuple(parse_flow(flow) for flow in table.tables("flow")),
        grid=parse_grid(table.table("grid")),
        cells=cells,
        membership=parse_membership(table.table("benchmark")) if table.has("benchmark") else None,
        shorter=parse_shorter(table.table("quick")),
        publication=parse_publication(table),
        own_schemes=own_schemes,
        own_paths=own_paths,
        file=table.source,
    )
    table.finish()
    return experiment_file


def _own(table: TomlTable, parse: Any) -> dict[str, Any]:  # noqa: ANN401 (one helper for two kinds of items)
    return {name: parse(table.table(name), name) for name in table.raw}


def _cell(table: TomlTable, own_paths: dict[str, PathModel]) -> Cell:
    """Return a cell of a resolved experiment. Its path is one of the experiment's own paths."""
    name = table.prefix.removeprefix("cell.").removesuffix(".")
    if name not in own_paths:
        raise UserError(f"{table.source}: `cell.{name}`: there is no `path.{name}`")
    axes = table.table("axes" if table.has("axes") else "parameters")  # former name of `axes`
    cell = Cell(
        path=own_paths[name],
        flows=tuple(parse_flow(flow) for flow in table.tables("flow")),
        axis_values=dict(axes.raw),
        base=table.text("path"),
    )
    table.finish()
    return cell


_PART = re.compile(r"([^*+\s]+?)(?:\s*\*\s*(\d{1,9}))?")


def parse_mix(text: str) -> list[tuple[str, int]]:
    """Return the schemes of a mix with their counts: `cubic*2+bbr` gives `[("cubic", 2), ("bbr", 1)]`.

    Raises:
        UserError: If the text has another form.
    """
    if "," in text:
        raise UserError(f"mix `{text}`: a mix has no comma: several mixes are `--mix cubic+bbr --mix cubic+copa`")
    parts = []
    for part in text.split("+"):
        match = _PART.fullmatch(part.strip())
        count = int(match[2] or 1) if match else 0
        if match is None or not 1 <= count <= MOST_FLOWS:
            raise UserError(f"mix `{text}`: allowed is SCHEME or SCHEME*COUNT, joined by +, like `cubic*2+bbr`")
        parts.append((match[1], count))
    return parts


def mix_label(parts: list[tuple[str, int]]) -> str:
    """Return a mix as text, in its canonical form."""
    return "+".join(name if count == 1 else f"{name}*{count}" for name, count in parts)
