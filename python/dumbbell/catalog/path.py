"""Paths: the elements that a packet passes in each direction."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, cast

from dumbbell import core
from dumbbell.base.errors import UserError
from dumbbell.base.names import require_names
from dumbbell.catalog.description import Description, describe
from dumbbell.catalog.index import read_name
from dumbbell.catalog.open_tables import Element
from dumbbell.catalog.queue_lengths import is_short, provisional, with_queues
from dumbbell.catalog.toml_tables import TomlTable, parse_toml, to_toml
from dumbbell.catalog.trace_files import located, require_sums, with_times

if TYPE_CHECKING:
    from dumbbell.contract.specification import MtuChange, PathSpec


@dataclass(frozen=True)
class PathModel:
    """A network path. Elements are listed in the order packets pass them, in each direction."""

    name: str
    title: str
    provenance: str = ""
    aliases: tuple[str, ...] = ()
    overhead_bytes: int = 0
    mtu_bytes: int = 1500
    fragment: bool = True
    schedule: tuple[MtuChange, ...] = ()
    data: list[Element] = field(default_factory=list)
    ack: list[Element] = field(default_factory=list)
    file: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        require_names("path", (self.name, *self.aliases), self.file)
        require_sums(self.name, (*self.data, *self.ack))

    def spec(self) -> PathSpec:
        """Return the path for a run spec of the core, with the times of its trace files.

        Raises:
            UserError: If a trace file cannot be read, or has changed.
        """
        return self._with([with_times(element) for element in self.data], [with_times(element) for element in self.ack])

    def _with(self, data: list[Element], ack: list[Element]) -> PathSpec:
        rest = {"overhead_bytes": self.overhead_bytes, "mtu_bytes": self.mtu_bytes, "fragment": self.fragment}
        changes = {"schedule": list(self.schedule)} if self.schedule else {}
        return cast("PathSpec", {"data": data, "ack": ack} | rest | changes)  # the core checks elements

    def describe(self) -> Description:
        """Return the core's description of the path.

        Raises:
            UserError: If the path cannot be built.
        """
        try:
            return describe(self.spec())
        except core.Error as error:
            raise UserError(f"{self.file}: path `{self.name}`: {error}") from None

    def table(self) -> dict[str, object]:
        """Return the table `[path.NAME]` of an experiment file."""
        return {"title": self.title, "provenance": self.provenance} | self._with(self.data, self.ack)

    def to_toml(self) -> str:
        """Return the content of a path file. Reading it gives an equal path."""
        return to_toml({"name": self.name, "aliases": list(self.aliases)} | self.table())

    @classmethod
    def from_toml(cls, text: str) -> PathModel:
        """Return a path from the content of its file.

        Raises:
            UserError: If a key or value is not allowed.
        """
        return parse_path(parse_toml(text, "TOML"))


def _mtu_change(table: TomlTable) -> MtuChange:
    change: MtuChange = {
        "at_s": table.number("at_s", minimum=0.0, maximum=31_536_000.0),
        "mtu_bytes": table.integer("mtu_bytes", minimum=68, maximum=65535),
    }
    table.finish()
    return change


def parse_path(table: TomlTable, name: str | None = None) -> PathModel:
    """Return a path from its table; `name` for a path inside an experiment file."""
    if name is None:
        name = read_name(table)
    elements = {"data": table.tables("data"), "ack": table.tables("ack")}
    path = PathModel(
        name=name,
        title=table.title("title", name),
        provenance=table.text("provenance", ""),
        aliases=tuple(table.texts("aliases", [])),
        overhead_bytes=table.integer("overhead_bytes", 0, maximum=1500),
        mtu_bytes=table.integer("mtu_bytes", 1500, minimum=68, maximum=65535),
        fragment=table.flag("fragment", True),
        schedule=tuple(_mtu_change(change) for change in table.tables("schedule")),
        data=[provisional(located(element)) for element in elements["data"]],
        ack=[provisional(located(element)) for element in elements["ack"]],
        file=table.source,
    )
    table.finish()
    if any(is_short(element.raw) for tables in elements.values() for element in tables):
        description = path.describe()
        data, ack = (with_queues(getattr(path, name), tables, name, description) for name, tables in elements.items())
        path = replace(path, data=data, ack=ack)
    return path
