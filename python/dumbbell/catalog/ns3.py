"""Names of ns-3, which ccperf uses, and their counterparts in dumbbell. The table is `ns3.toml`."""

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from dumbbell.catalog.toml_tables import TomlTable, read_toml

PROFILES = ("ns3-compat", "linux-like")
"""Transport profiles for which a TypeId has a scheme."""


@dataclass(frozen=True)
class Names:
    """The table: `cca` to schemes and `recovery` to transport values, both by profile; `qdisc` to queue tables."""

    cca: dict[str, dict[str, str]]
    recovery: dict[str, dict[str, str]]
    qdisc: dict[str, dict[str, object]]

    def recovery_name(self, value: str) -> str:
        """Return ns-3's name for a value of the transport's `recovery`; the value itself if ns-3 has none."""
        return next((name for name, values in self.recovery.items() if value in values.values()), value)

    def qdisc_name(self, kind: str) -> str:
        """Return ns-3's name for a kind of queue; the kind itself if ns-3 has none."""
        return next((name for name, queue in self.qdisc.items() if queue["kind"] == kind), kind)


@cache
def names() -> Names:
    """Return the shipped names."""
    table = read_toml(Path(__file__).parent / "ns3.toml")
    qdisc = table.table("qdisc")
    table_names = Names(
        cca=_by_profile(table.table("cca")),
        recovery=_by_profile(table.table("recovery")),
        qdisc={name: dict(qdisc.table(name).raw) for name in qdisc.raw},
    )
    table.finish()
    return table_names


def _by_profile(table: TomlTable) -> dict[str, dict[str, str]]:
    return {name: {profile: table.table(name).text(profile) for profile in PROFILES} for name in table.raw}
