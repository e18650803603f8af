"""ns-3's names, which are ccperf's: what they are here, and what ours are there. The table is `ns3.toml`."""

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from dumbbell.catalog.toml_tables import TomlTable, read_toml

PROFILES = ("ns3-compat", "linux-like")
"""Transport profiles that a TypeId has a scheme for."""


@dataclass(frozen=True)
class Names:
    """The table: `cca` to schemes and `recovery` to transport values, both by profile; `qdisc` to queue tables."""

    cca: dict[str, dict[str, str]]
    recovery: dict[str, dict[str, str]]
    qdisc: dict[str, dict[str, object]]

    def recovery_name(self, value: str) -> str:
        """ns-3's name for a value of the transport's `recovery`; the value itself where it has none."""
        return next((name for name, ours in self.recovery.items() if value in ours.values()), value)

    def qdisc_name(self, kind: str) -> str:
        """ns-3's name for a kind of queue; the kind itself where it has none."""
        return next((name for name, queue in self.qdisc.items() if queue["kind"] == kind), kind)


@cache
def names() -> Names:
    """The names as shipped."""
    table = read_toml(Path(__file__).parent / "ns3.toml")
    qdisc = table.table("qdisc")
    found = Names(
        cca=_by_profile(table.table("cca")),
        recovery=_by_profile(table.table("recovery")),
        qdisc={name: dict(qdisc.table(name).raw) for name in qdisc.raw},
    )
    table.finish()
    return found


def _by_profile(table: TomlTable) -> dict[str, dict[str, str]]:
    return {name: {profile: table.table(name).text(profile) for profile in PROFILES} for name in table.raw}
