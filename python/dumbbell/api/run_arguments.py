"""The arguments of `dumbbell.run`: groups that belong together, and the names that these had before."""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from os import PathLike
from typing import Any, TypedDict

from dumbbell.api.selection import Assignments, Names, Paths, Schemes
from dumbbell.catalog.experiment_file import ExperimentFile


def _argument(setting: str, former: str) -> Any:  # noqa: ANN401 (a field of any type)
    """An argument that need not be given: the setting of an experiment that it is, and its former name."""
    return field(default=None, metadata={"setting": setting, "former": former})


@dataclass(frozen=True, kw_only=True)
class Remote:
    """How runs between two machines are made (`backend="remote:HOST"`). What is not given is as the experiment says.

    Attributes:
        sender: `local` or `remote`: where data leave.
        tunnel: `auto`: around what is not ours; `sealed`: around all packets; `pantheon`: as Pantheon's, around all.
        ntp: a server that both machines compare their clocks with.
        address: where datagrams to the other machine go, if not where ssh goes.
        udp_ports: `FROM-TO`: those that a firewall lets pass.
    """

    sender: str | None = _argument("sender", "sender")
    tunnel: str | None = _argument("tunnel", "tunnel")
    ntp: str | None = _argument("ntp", "ntp")
    address: str | None = _argument("remote_address", "remote_address")
    udp_ports: str | None = _argument("udp_ports", "udp_ports")


@dataclass(frozen=True, kw_only=True)
class Campaign:
    """Runs at their times: one run of each scheme every `every` seconds, for `lasts` seconds."""

    every: float | None = _argument("every_s", "every")
    lasts: float | None = _argument("for_s", "lasts")


@dataclass(frozen=True, kw_only=True)
class Budget:
    """What runs may use up. No run begins that could exceed it.

    Attributes:
        disk_bytes: what the results may take.
        bandwidth_mbps: most that a run over a network sends, averaged over a second, Mbit/s.
        data_bytes: most that all runs over a network send.
    """

    disk_bytes: int | None = _argument("disk_quota_bytes", "disk_quota")
    bandwidth_mbps: float | None = _argument("bandwidth_cap_mbps", "bandwidth_cap")
    data_bytes: int | None = _argument("data_cap_bytes", "data_cap")


_FORMER = {each.metadata["former"]: (group, each) for group in (Remote, Campaign, Budget) for each in fields(group)}
"""The groups that former arguments are in, and their fields."""

OF_NETWORKS = tuple(each.metadata["setting"] for each in fields(Remote))
"""Settings of runs between two machines."""


class FormerArguments(TypedDict, total=False):
    """Arguments that are in groups now. They go with the next release."""

    sender: str | None
    tunnel: str | None
    ntp: str | None
    remote_address: str | None
    udp_ports: str | None
    every: float | None
    lasts: float | None
    disk_quota: int | None
    bandwidth_cap: float | None
    data_cap: int | None


@dataclass(frozen=True, kw_only=True)
class RunArguments:
    """The arguments of `dumbbell.run`, which says what each means."""

    experiment: str | PathLike[str] | ExperimentFile | None
    schemes: Schemes
    path: Paths
    mixes: Names
    cells: Names
    backend: str | None
    runs: int | None
    until: str | None
    duration: float | None
    flows: int | None
    interval: float | None
    warmup: float | None
    seed: int | None
    log: str | None
    convention: str | None
    random_order: bool | None
    exact: bool
    remote: Remote | None
    campaign: Campaign | None
    budget: Budget | None
    settings: Assignments
    jobs: int | None
    out: str | PathLike[str] | None
    resume: bool
    cluster: str | None
    database: str | PathLike[str] | None
    plugins: Names
    pantheon_dir: str | PathLike[str] | None
    trust: bool
    live: bool
    watch: bool
    command: Sequence[str]
    former: FormerArguments

    def chosen(self) -> dict[str, object]:
        """Return what is given of an experiment's settings, by their names; `None` is not given.

        Raises:
            TypeError: a name that is no argument, or one that is given twice.
        """
        chosen: dict[str, object] = {
            "backend": self.backend,
            "convention": self.convention,
            "random_order": self.random_order,
            **settings_of(self.runs, self.duration, self.flows, self.interval, self.warmup, self.seed, self.log),
        }
        for group in (self.remote or Remote(), self.campaign or Campaign(), self.budget or Budget()):
            chosen |= {each.metadata["setting"]: getattr(group, each.name) for each in fields(group)}
        return chosen | _of_former(self.former, chosen)


def settings_of(
    runs: int | None,
    duration: float | None,
    flows: int | None,
    interval: float | None,
    warmup: float | None,
    seed: int | None,
    log: str | None,
) -> dict[str, object]:
    """Return arguments as settings of an experiment, whose names have units."""
    times = {"duration_s": duration, "interval_s": interval, "warmup_s": warmup}
    return times | {"runs": runs, "flows": flows, "seed": seed, "log": log}


def _of_former(former: Mapping[str, Any], chosen: Mapping[str, object]) -> dict[str, object]:
    found: dict[str, object] = {}
    for name, value in former.items():
        if name not in _FORMER:
            raise TypeError(f"run() got an unexpected keyword argument '{name}'")
        group, now = _FORMER[name]
        setting = now.metadata["setting"]
        place = f"{group.__name__.lower()}=dumbbell.{group.__name__}({now.name}=...)"
        warnings.warn(f"`{name}` goes with the next release: `{place}`", DeprecationWarning, stacklevel=5)
        if value is not None:
            if chosen[setting] is not None:
                raise TypeError(f"run() got '{name}' twice: it is `{place}`")
            found[setting] = value
    return found
