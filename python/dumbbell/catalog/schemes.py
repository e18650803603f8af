"""Schemes: a congestion controller and how it is run, shown and drawn."""

from dataclasses import dataclass, field
from typing import Any

from dumbbell.catalog.index import read_name
from dumbbell.catalog.tables import Table

MARKERS = ("*", "h", "^", "<", ">", "H", "p", "8", "1", "v", "o", "d", "+", "D", "s", "x", "P", "X", ".")
STATUSES = ("verified", "experimental", "imported")
KINDS = ("core", "program")


@dataclass(frozen=True)
class Scheme:
    """A congestion controller, its parameters and transport, and how figures show it."""

    name: str
    title: str
    color: str
    marker: str
    controller: str
    summary: str = ""
    source: str = ""
    status: str = "experimental"
    kind: str = "core"
    aliases: tuple[str, ...] = ()
    parameters: dict[str, str] = field(default_factory=dict)
    transport: dict[str, Any] = field(default_factory=dict)
    file: str = field(default="", compare=False)

    def table(self) -> dict[str, Any]:
        """As written to an experiment file under `[scheme.NAME]`."""
        table: dict[str, Any] = {
            "title": self.title,
            "color": self.color,
            "marker": self.marker,
            "kind": self.kind,
            "controller": self.controller,
            "summary": self.summary,
            "source": self.source,
            "status": self.status,
        }
        return table | {"parameters": dict(self.parameters), "transport": dict(self.transport)}


def parse_scheme(table: Table, name: str | None = None) -> Scheme:
    """A scheme from its table; `name` for one that is defined inside an experiment file."""
    if name is None:
        name = read_name(table)
    scheme = Scheme(
        name=name,
        title=table.text("title", name),
        color=table.text("color", "dimgray"),
        marker=table.text("marker", "o", MARKERS),
        kind=table.text("kind", "core", KINDS),
        controller=table.text("controller", name),
        summary=table.text("summary", ""),
        source=table.text("source", ""),
        status=table.text("status", "experimental", STATUSES),
        aliases=tuple(table.texts("aliases", [])),
        parameters=_parameters(table.table("parameters")),
        transport=dict(table.table("transport").raw),
        file=table.source,
    )
    table.finish()
    return scheme


def _parameters(table: Table) -> dict[str, str]:
    """Parameters as the texts their declarations read; numbers and switches may be written as such."""
    parameters = {}
    for key, value in table.raw.items():
        if isinstance(value, dict | list):
            raise table.fail(key, value, "a number, true, false or a text")
        parameters[key] = parameter_text(value)
    return parameters


def parameter_text(value: object) -> str:
    """A TOML value as the text a parameter is read from."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)
