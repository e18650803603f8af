"""The settings of an experiment: names, defaults and limits, stated here and nowhere else."""

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, TypeAlias

from dumbbell.base.backend import SIMULATION, Backend, Capabilities, find_backend
from dumbbell.base.conventions import CONVENTIONS, CORRECTED, Convention
from dumbbell.base.errors import UserError
from dumbbell.catalog.toml_tables import TomlTable

SettingValues: TypeAlias = dict[str, Any]
"""Values of settings by name. Each was read by the reader of its name, and has the type of the field of `Settings`."""

LOGS = ("none", "packets", "full")
FILES, NUMBERS = KEEPS = ("files", "numbers")
"""Values of `keep`: with the second one runs are simulated in batches, and have no directories."""
SIDES = ("local", "remote")
TUNNELS = ("auto", "sealed", "pantheon")
MOST_FLOWS = 10_000
MOST_SECONDS = 1e6
MOST_CAMPAIGN_S = 366 * 86400.0
POLITE_MBPS = 100.0
"""The bandwidth cap on a link that others use, unless another one is given."""
POLITE_BYTES = 10 * 10**9
"""The data cap of an experiment over such a link, unless another one is given."""
LEAST_SECONDS = 1e-3

Read = Callable[[TomlTable, str], object]


def _setting(default: object, read: Read, means: str) -> Any:  # noqa: ANN401 (a field of any type)
    """A setting that is `default` unless given, how it is read from a table, and what it means."""
    return field(default=default, metadata={"read": read, "means": means})


def _backend(table: TomlTable, key: str) -> Backend:
    try:
        return find_backend(table.text(key))
    except UserError as error:
        raise UserError(f"{table.source}: `{table.prefix}{key}`: {error}") from None


def _duration(table: TomlTable, key: str) -> float:
    return table.number(key, least=LEAST_SECONDS, most=MOST_SECONDS)


def _ports(table: TomlTable, key: str) -> str:
    text = table.text(key)
    match = re.fullmatch(r"(\d{1,5})-(\d{1,5})", text, re.ASCII)
    if match is None or not 1 <= int(match[1]) <= int(match[2]) <= 65535:
        raise UserError(f"{table.source}: `{table.prefix}{key}` = {text}: allowed is FROM-TO, two ports of 1 to 65535")
    return text


def _campaign_time(table: TomlTable, key: str) -> float:
    return table.number(key, least=1.0, most=MOST_CAMPAIGN_S)


def _bytes(table: TomlTable, key: str) -> int:
    return table.integer(key, least=1, most=10**15)


def _server(table: TomlTable, key: str) -> str:
    from dumbbell.machine.sntp import read_server

    text = table.text(key)
    try:
        read_server(text)
    except UserError as error:
        raise UserError(f"{table.source}: `{table.prefix}{key}`: {error}") from None
    return text


def _not_negative(table: TomlTable, key: str) -> float:
    return table.number(key, least=0.0)


@dataclass(frozen=True, kw_only=True)
class Settings:
    """How the runs of an experiment are made: shared by an experiment as written and as resolved.

    The `flows` flows of a scheme start `interval_s` apart, each up to `start_spread_ms` late: nobody starts a program
    at the same nanosecond twice, and without chance on the path all repetitions would be one run. Metrics leave out the
    first `warmup_s`: a sixth of the duration unless given. `convergence_delta` is the distance from the fair share
    that counts as converged, a fraction of it; `jain_window_s` is how long the windows of Jain's index over time
    are. A simulated run is stopped that needs more than `most_events_per_s` in one simulated second, or holds more
    than `most_packets` at a time. With `intervals_s`, reports list what was transferred in each interval.

    With `keep` = `numbers`, runs are simulated in batches and their numbers are kept in common tables; a packet log is
    made again when somebody asks for it.

    Tables and figures show the metrics of the `convention`, unless whoever reads them asks for another.

    With `every_s` it is a campaign: a round, which is one run of each scheme on each path, begins every so many seconds
    for `for_s` seconds. No run begins that could take the files of the results beyond `disk_quota_bytes`. On a link
    that others use a run may send `bandwidth_cap_mbps` on average over a second, and all runs together
    `data_cap_bytes`: none begins that could send more.

    In simulated runs the host of the senders notices ACKs late by `host_jitter_us` on average: 20 us are what hosts
    were measured to have that do nothing else (`docs/how-to/hosts.md`).

    Between two machines data leaves the `sender`, our own ends speak for themselves or all packets pass a `tunnel`,
    `ntp` is a server that both compare their clocks with, `remote_address` where datagrams to the other one go, and
    `udp_ports` those that a firewall lets pass.
    """

    backend: Backend = _setting(
        SIMULATION,
        _backend,
        "`sim`, `emu` (real packets, an emulated path), `remote:HOST` (two machines); imported results: `import`.",
    )
    runs: int = _setting(
        1, lambda table, key: table.integer(key, least=1), "Repetitions of each scheme or mix on each path."
    )
    duration_s: float = _setting(30.0, _duration, "Length of a run, s.")
    flows: int = _setting(
        1, lambda table, key: table.integer(key, least=1, most=MOST_FLOWS), "Flows of a scheme in a run."
    )
    interval_s: float = _setting(0.0, _not_negative, "Time between the starts of flows, s.")
    start_spread_ms: float = _setting(
        100.0, _not_negative, "Each flow starts up to so much later, ms, drawn from the run's seed."
    )
    host_jitter_us: float = _setting(
        20.0,
        lambda table, key: table.number(key, least=0.0, most=1e6),
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
        lambda table, key: table.number(key, least=LEAST_SECONDS),
        "Spacing of the time series and of sampled metrics, s.",
    )
    convergence_delta: float = _setting(
        0.2,
        lambda table, key: table.number(key, least=1e-3, most=0.999),
        "Distance from the fair share that counts as converged, a fraction of it.",
    )
    jain_window_s: float = _setting(
        0.1,
        lambda table, key: table.number(key, least=LEAST_SECONDS),
        "Length of the windows of Jain's index over time, s.",
    )
    most_events_per_s: int = _setting(
        100_000_000,
        lambda table, key: table.integer(key, least=1, most=10**12),
        "A simulated run that needs more events in one simulated second is stopped.",
    )
    most_packets: int = _setting(
        4_000_000,
        lambda table, key: table.integer(key, least=1, most=10**9),
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
        lambda table, key: table.number(key, least=1e-3, most=1e6),
        "What a run may send over a link that others use, Mbit/s on average over a second.",
    )
    data_cap_bytes: int | None = _setting(None, _bytes, "What all runs together may send over such a link.")

    EXACT: ClassVar[Mapping[str, float]] = {"host_jitter_us": 0.0, "start_spread_ms": 0.0}
    """Hosts that answer in no time, and flows that start when they are told."""

    @property
    def capabilities(self) -> Capabilities:
        """What the backend can do."""
        return self.backend.capabilities

    @property
    def keeps_numbers(self) -> bool:
        """True if only the numbers of runs are kept."""
        return self.keep == NUMBERS

    @property
    def shown(self) -> Convention:
        """The convention of tables and figures."""
        return CONVENTIONS[self.convention]

    def settings(self) -> SettingValues:
        """Return the settings alone, by name; what is not set is absent, and so is `keep` where files are kept."""
        values = {name: getattr(self, name) for name in READERS}
        return {name: value for name, value in values.items() if value is not None and (name, value) != ("keep", FILES)}

    def settings_table(self) -> dict[str, object]:
        """Return the settings as files have them."""
        return self.settings() | {"backend": self.backend.full_name}


READERS: dict[str, Read] = {each.name: each.metadata["read"] for each in fields(Settings)}
"""How each setting is read, by name, in the order of files."""


def read_settings(table: TomlTable, names: Collection[str] = READERS) -> SettingValues:
    """Those of the settings `names` that the table gives.

    Raises:
        UserError: a value that is not allowed.
    """
    found = {name: READERS[name](table, name) for name in names if table.has(name)}
    if table.has(_FORMER_SPREAD):
        former = _not_negative(table, _FORMER_SPREAD)
        found["start_spread_ms"] = found.get("start_spread_ms") or former
    return found


_FORMER_SPREAD = "repetition_spread_ms"
"""A setting of older files: the spread of the starts in all runs but the first.

It counts where `start_spread_ms` is 0 or is not given.
"""

DESCRIPTIONS: dict[str, str] = {each.name: each.metadata["means"] for each in fields(Settings)}
"""The meaning of each setting, in one sentence."""
DESCRIPTIONS[_FORMER_SPREAD] = "Former name of `start_spread_ms`, which counts where that is 0 or absent."
