"""Paths: the elements a packet passes in each direction."""

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
from dumbbell.catalog.trace_files import found, require_sums, with_times

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
        """Return the path as given to the core in a run specification, with the times of its trace files.

        Raises:
            UserError: a trace file cannot be read, or has changed.
        """
        return self._with([with_times(element) for element in self.data], [with_times(each) for each in self.ack])

    def _with(self, data: list[Element], ack: list[Element]) -> PathSpec:
        rest = {"overhead_bytes": self.overhead_bytes, "mtu_bytes": self.mtu_bytes, "fragment": self.fragment}
        changes = {"schedule": list(self.schedule)} if self.schedule else {}
        return cast("PathSpec", {"data": data, "ack": ack} | rest | changes)  # the core checks elements

    def describe(self) -> Description:
        """What it is.

        Raises:
            UserError: it cannot be built.
        """
        try:
            return describe(self.spec())
        except core.Error as error:
            raise UserError(f"{self.file}: path `{self.name}`: {error}") from None

    def table(self) -> dict[str, object]:
        """As written to an experiment file under `[path.NAME]`."""
        return {"title": self.title, "provenance": self.provenance} | self._with(self.data, self.ack)

    def to_toml(self) -> str:
        """The content of a file of its own, which reads back as the same."""
        return to_toml({"name": self.name, "aliases": list(self.aliases)} | self.table())

    @classmethod
    def from_toml(cls, text: str) -> PathModel:
        """A path from the content of its file.

        Raises:
            UserError: a key or value that is not allowed.
        """
        return parse_path(parse_toml(text, "TOML"))


def _mtu_change(table: TomlTable) -> MtuChange:
    change: MtuChange = {
        "at_s": table.number("at_s", least=0.0, most=31_536_000.0),
        "mtu_bytes": table.integer("mtu_bytes", least=68, most=65535),
    }
    table.finish()
    return change


def parse_path(table: TomlTable, name: str | None = None) -> PathModel:
    """A path from its table; `name` for one that is defined inside an experiment file."""
    if name is None:
        name = read_name(table)
    elements = {"data": table.tables("data"), "ack": table.tables("ack")}
    path = PathModel(
        name=name,
        title=table.title("title", name),
        provenance=table.text("provenance", ""),
        aliases=tuple(table.texts("aliases", [])),
        overhead_bytes=table.integer("overhead_bytes", 0, most=1500),
        mtu_bytes=table.integer("mtu_bytes", 1500, least=68, most=65535),
        fragment=table.flag("fragment", True),
        schedule=tuple(_mtu_change(change) for change in table.tables("schedule")),
        data=[provisional(found(element)) for element in elements["data"]],
        ack=[provisional(found(element)) for element in elements["ack"]],
        file=table.source,
    )
    table.finish()
    if any(is_short(element.raw) for each in elements.values() for element in each):
        described = path.describe()
        data, ack = (with_queues(getattr(path, name), each, name, described) for name, each in elements.items())
        path = replace(path, data=data, ack=ack)
    return path
