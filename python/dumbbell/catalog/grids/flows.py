"""Flows of an experiment that lists its flows."""

from dataclasses import dataclass, field

from dumbbell.catalog.grids.arrivals import Arrivals, parse_arrivals
from dumbbell.catalog.open_tables import Application, Transport
from dumbbell.catalog.toml_tables import TomlTable


def _no_arrivals() -> Arrivals:
    return {}


@dataclass(frozen=True)
class FlowPlan:
    """A flow of an experiment that lists its flows.

    An empty `scheme` is the run's, an empty `application` the scheme's.

    `enter` and `leave` are the names of the first and the last element that its data pass, None for the whole path.
    `transport` has the keys that differ from the scheme's transport. A plan stands for `count` flows (None: until the
    end of the run), with `every_s` between them or with `arrivals`.
    """

    scheme: str = ""
    start_s: float = 0.0
    stop_s: float | None = None
    rtt_ms: float | None = None
    reverse: bool = False
    enter: str | None = None
    leave: str | None = None
    application: Application = field(default_factory=dict)
    transport: Transport = field(default_factory=dict)
    count: int | None = 1
    every_s: float | None = None
    arrivals: Arrivals = field(default_factory=_no_arrivals)

    def table(self) -> dict[str, object]:
        """Return the `[[flow]]` table of an experiment file."""
        table: dict[str, object] = {"start_s": self.start_s, "reverse": self.reverse}
        optional = {
            "scheme": self.scheme or None,
            "stop_s": self.stop_s,
            "rtt_ms": self.rtt_ms,
            "application": self.application or None,
            "transport": self.transport or None,
            "count": self.count if self.arrivals or self.every_s or self.count != 1 else None,
            "every_s": self.every_s,
            "arrivals": self.arrivals or None,
        }
        return table | {key: value for key, value in optional.items() if value is not None} | self.section()

    def section(self) -> dict[str, str]:
        """Return `enter` and `leave`, if set."""
        return {key: name for key, name in (("enter", self.enter), ("leave", self.leave)) if name is not None}


def parse_flow(table: TomlTable) -> FlowPlan:
    """Return a flow from its `[[flow]]` table."""
    count, every_s, arrivals = parse_arrivals(table)
    flow = FlowPlan(
        scheme=table.text("scheme", ""),
        start_s=table.number("start_s", 0.0, minimum=0.0),
        stop_s=table.number("stop_s", 0.0, minimum=0.0) if table.has("stop_s") else None,
        rtt_ms=table.number("rtt_ms", 0.0, minimum=0.0) if table.has("rtt_ms") else None,
        reverse=table.flag("reverse", False),
        enter=table.text("enter", "") if table.has("enter") else None,
        leave=table.text("leave", "") if table.has("leave") else None,
        application=dict(table.table("application").raw),
        transport=dict(table.table("transport").raw),
        count=count,
        every_s=every_s,
        arrivals=arrivals,
    )
    table.finish()
    return flow
