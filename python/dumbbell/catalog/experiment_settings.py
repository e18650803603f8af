"""The settings of an experiment: names, defaults and limits. This is their only definition."""

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, TypeAlias

from dumbbell.base.backend import SIMULATION, Backend, Capabilities, find_backend
from dumbbell.base.conventions import CONVENTIONS, CORRECTED, Convention
from dumbbell.base.errors import UserError
from dumbbell.catalog.toml_tables import TomlTable

SettingValues: TypeAlias = dict[str, Any]
"""Values of settings by name. Each was read by its setting's reader, and has the type of the field in `Settings`."""

LOGS = ("none", "packets", "full")
FILES, NUMBERS = KEEPS = ("files", "numbers")
"""Values of `keep`. With `numbers`, runs are simulated in batches, and have no directories."""
SIDES = ("local", "remote")
TUNNELS = ("auto", "sealed", "pantheon")
MOST_FLOWS = 10_000
MOST_SECONDS = 1e6
MOST_CAMPAIGN_S = 366 * 86400.0
POLITE_MBPS = 100.0
"""Default bandwidth cap on a link that other people use, Mbit/s."""
POLITE_BYTES = 10 * 10**9
"""Default data cap of an experiment over a link that other people use, bytes."""
LEAST_SECONDS = 1e-3

Read = Callable[[TomlTable, str], object]


def _setting(default: object, read: Read, means: str) -> Any:  # noqa: ANN401 (a field of any type)
    """Return the field of a setting with its default, its reader for tables, and its meaning."""
    return field(default=default, metadata={"read": read, "means": means})


def _backend(table: TomlTable, key: str) -> Backend:
    try:
        return find_backend(table.text(key))
    except UserError as error:
        raise UserError(f"{table.source}: `{table.prefix}{key}`: {error}") from None


def _duration(table: TomlTable, key: str) -> float:
    return table.number(key, minimum=LEAST_SECONDS, maximum=MOST_SECONDS)


def _ports(table: TomlTable, key: str) -> str:
    text = table.text(key)
    match = re.fullmatch(r"(\d{1,5})-(\d{1,5})", text, re.ASCII)
    if match is None or not 1 <= int(match[1]) <= int(match[2]) <= 65535:
        raise UserError(f"{table.source}: `{table.prefix}{key}` = {text}: allowed is FROM-TO, two ports of 1 to 65535")
    return text


def _campaign_time(table: TomlTable, key: str) -> float:
    return table.number(key, minimum=1.0, maximum=MOST_CAMPAIGN_S)


def _bytes(table: TomlTable, key: str) -> int:
    return table.integer(key, minimum=1, maximum=10**15)


def _server(table: TomlTable, key: str) -> str:
    from dumbbell.machine.sntp import read_server

    text = table.text(key)
    try:
        read_server(text)
    except UserError as error:
        raise UserError(f"{table.source}: `{table.prefix}{key}`: {error}") from None
    return text


def _not_negative(table: TomlTable, key: str) -> float:
    return table.number(key, minimum=0.0)


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Settings of the runs of an experiment, for experiment files and resolved experiments.

    The `flows` flows of a scheme start `interval_s` apart, each up to `start_spread_ms` late: real programs never start
    at the same nanosecond, and without randomness all repetitions would be identical. Metrics leave out the first
    `warmup_s`, by default a sixth of the duration. `convergence_delta` is the distance from the fair share that counts
    as converged, as a fraction of this share. `jain_window_s` is the length of the windows for Jain's index over time.
    A simulated run is stopped if one simulated second needs more than `most_events_per_s` events, or if more than
    `most_packets` packets exist at a time. With `intervals_s`, reports list the data transferred in each interval.

    With `keep` = `numbers`, runs are simulated in batches, and their numbers are kept in common tables. A packet log is
    made again on request.

    Tables and figures show the metrics of the `convention` by default.

    With `every_s` the experiment is a campaign: for `for_s` seconds a round begins every `every_s` seconds. A round is
    one run of each scheme on each path. No run begins that could increase the size of the results above
    `disk_quota_bytes`. On a link that other people use, a run may send `bandwidth_cap_mbps`, averaged over a second,
    and all runs together `data_cap_bytes`: no run begins that could send more.

    In simulated runs the senders' host processes ACKs late by `host_jitter_us` on average. Idle real hosts were
    measured to have about 20 us (`docs/how-to/hosts.md`).

    Settings for two machines: data leaves the `sender`. Packets of the built-in transport travel in plain UDP, or all
    packets pass a `tunnel`. Both machines compare their clocks with the time server `ntp`. Datagrams to the remote
    machine go to `remote_address`; a firewall lets `udp_ports` pass.
    """

    backend: Backend = _setting(
        SIMULATION,
        _backend,
        "`sim`, `emu` (real packets, an emulated path), `remote:HOST` (two machines); imported results: `import`.",
    )
    runs: int = _setting(
        1, lambda table, key: table.integer(key, minimum=1), "Repetitions of each scheme or mix on each path."
    )
    duration_s: float = _setting(30.0, _duration, "Length of a run, s.")
    flows: int = _setting(
        1, lambda table, key: table.integer(key, minimum=1, maximum=MOST_FLOWS), "Flows of a scheme in a run."
    )
    interval_s: float = _setting(0.0, _not_negative, "Time between the starts of flows, s.")
    start_spread_ms: float = _setting(
        100.0, _not_negative, "Each flow starts up to so much later, ms, drawn from the run's seed."
    )
    host_jitter_us: float = _setting(
        20.0,
        lambda table, key: table.number(key, minimum=0.0, maximum=1e6),
        "How late a simulated host notices ACKs, on average, us.",
    )
    warmup_s: float | None = _setting(
        None, _not_negative, "Time that the corrected metrics leave out, s; a sixth of the duration if absent."
    )
    seed: int = _setting(
        1, lambda table, key: table.integer(key), "The runs' seeds derive from it, from path and repetition."
    )
    random_order: bool = _setting(
        False, lambda table, key: table.flag(key), "Schemes in random order within a repetition."
    )
    sample_interval_s: float = _setting(
        0.1,
        lambda table, key: table.number(key, minimum=LEAST_SECONDS),
        "Spacing of the time series and of sampled metrics, s.",
    )
    convergence_delta: float = _setting(
        0.2,
        lambda table, key: table.number(key, minimum=1e-3, maximum=0.999),
        "Distance from the fair share that counts as converged, a fraction of it.",
    )
    jain_window_s: float = _setting(
        0.1,
        lambda table, key: table.number(key, minimum=LEAST_SECONDS),
        "Length of the windows of Jain's index over time, s.",
    )
    most_events_per_s: int = _setting(
        100_000_000,
        lambda table, key: table.integer(key, minimum=1, maximum=10**12),
        "A simulated run that needs more events in one simulated second is stopped.",
    )
    most_packets: int = _setting(
        4_000_000,
        lambda table, key: table.integer(key, minimum=1, maximum=10**9),
        "A simulated run that holds more packets at a time is stopped.",
    )
    log: str = _setting(
        "packets",
        lambda table, key: table.text(key, choices=LOGS),
        "Packet log: `none`, `packets`, or `full` (also entering and leaving queues, and the sender's view).",
    )
    keep: str = _setting(
        FILES,
        lambda table, key: table.text(key, choices=KEEPS),
        "`files` of each run, or `numbers` only: simulated in batches, for up to millions of runs.",
    )
    convention: str = _setting(
        CORRECTED.name,
        lambda table, key: table.text(key, choices=tuple(CONVENTIONS)),
        "Which throughput, delay and loss tables and figures show: `corrected` or `pantheon`.",
    )
    intervals_s: float | None = _setting(
        None, _duration, "Reports list what was transferred in each interval of this length, s."
    )
    sender: str | None = _setting(
        None, lambda table, key: table.text(key, choices=SIDES), "Between two machines: where data leave."
    )
    tunnel: str | None = _setting(
        None,
        lambda table, key: table.text(key, choices=TUNNELS),
        "Between two machines: the tunnel: `auto` (where one is needed), `sealed` (ours) or `pantheon` (as its).",
    )
    ntp: str | None = _setting(
        None, _server, "Between two machines: a time server that both compare their clocks with."
    )
    remote_address: str | None = _setting(
        None, lambda table, key: table.text(key), "Between two machines: where datagrams to the other one go."
    )
    udp_ports: str | None = _setting(
        None, _ports, "Between two machines: the UDP ports that a firewall lets pass, FROM-TO."
    )
    every_s: float | None = _setting(
        None, _campaign_time, "A campaign: a round, one run of each scheme on each path, begins every so many seconds."
    )
    for_s: float | None = _setting(None, _campaign_time, "How long the campaign goes on, s.")
    disk_quota_bytes: int | None = _setting(None, _bytes, "No run begins that could take the results beyond it.")
    bandwidth_cap_mbps: float | None = _setting(
        None,
        lambda table, key: table.number(key, minimum=1e-3, maximum=1e6),
        "What a run may send over a link that others use, Mbit/s on average over a second.",
    )
    data_cap_bytes: int | None = _setting(None, _bytes, "What all runs together may send over such a link.")

    EXACT: ClassVar[Mapping[str, float]] = {"host_jitter_us": 0.0, "start_spread_ms": 0.0}
    """Hosts without processing delay, and flows without random start offsets."""

    @property
    def capabilities(self) -> Capabilities:
        """Capabilities of the backend."""
        return self.backend.capabilities

    @property
    def keeps_numbers(self) -> bool:
        """True if the results keep only the numbers of runs."""
        return self.keep == NUMBERS

    @property
    def convention_shown(self) -> Convention:
        """Convention of tables and figures."""
        return CONVENTIONS[self.convention]

    def settings(self) -> SettingValues:
        """Return the settings by name, without unset ones, and without `keep` if it is `files`."""
        values = {name: getattr(self, name) for name in READERS}
        return {name: value for name, value in values.items() if value is not None and (name, value) != ("keep", FILES)}

    def settings_table(self) -> dict[str, object]:
        """Return the settings for a table of a file."""
        return self.settings() | {"backend": self.backend.full_name}


READERS: dict[str, Read] = {setting.name: setting.metadata["read"] for setting in fields(Settings)}
"""Readers of all settings by name, in the order of files."""


def read_settings(table: TomlTable, names: Collection[str] = READERS) -> SettingValues:
    """Return the settings among `names` that the table has.

    Raises:
        UserError: If a value is not allowed.
    """
    values = {name: READERS[name](table, name) for name in names if table.has(name)}
    if table.has(_FORMER_SPREAD):
        former = _not_negative(table, _FORMER_SPREAD)
        values["start_spread_ms"] = values.get("start_spread_ms") or former
    return values


_FORMER_SPREAD = "repetition_spread_ms"
"""Former setting in old files: the spread of the starts in all runs but the first.

It is used if `start_spread_ms` is 0 or absent."""

DESCRIPTIONS: dict[str, str] = {setting.name: setting.metadata["means"] for setting in fields(Settings)}
"""Meaning of each setting, in one sentence."""
DESCRIPTIONS[_FORMER_SPREAD] = "Former name of `start_spread_ms`, which counts where that is 0 or absent."
