"""Types of `stats.json` and of a run in `dumbbell show --json`: the statistics of the core, and what Python adds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NotRequired, TypeAlias, TypedDict

from dumbbell.contract.read_only import ReadOnly
from dumbbell.contract.statistics import BetweenMachines, Compared, EmulationReport, FlowStats, LinkStats, NetworkStats

AxisValue: TypeAlias = str | float | bool | Sequence["AxisValue"] | Mapping[str, "AxisValue"] | None
"""The value of an axis of a grid, as TOML has it."""

Status: TypeAlias = Literal["done", "degraded", "invalid", "failed", "missing", "damaged"]
"""The outcome of a run. Averages are over `done` runs alone."""


class KeptFile(TypedDict):
    """What is known of a file that a run kept."""

    bytes: ReadOnly[int]
    sha256: ReadOnly[str]


class ImportTimes(TypedDict, total=False):
    """When an imported run was recorded, as far as its log says so."""

    started: ReadOnly[str | None]
    ended: ReadOnly[str | None]
    local_offset_ms: ReadOnly[float | None]
    """How far the clock of the local end was off, as its own log says."""
    remote_offset_ms: ReadOnly[float | None]


class Clocks(Compared):
    """The comparison of the clocks of two machines, in words too."""

    reverse: NotRequired[ReadOnly[Sequence[int]]]
    """The flows whose data travels the other way."""
    explained: NotRequired[ReadOnly[Sequence[str]]]
    """What a reader has to know of it, a sentence each."""


class PathMtu(TypedDict):
    """Largest packet that passes, bytes."""

    there: ReadOnly[int]
    back: ReadOnly[int]


class Busy(TypedDict):
    """Load of the processors of a machine, as a fraction of their time."""

    busy: ReadOnly[float]
    steal: NotRequired[ReadOnly[float | None]]
    """Time that other virtual machines took."""
    busiest: NotRequired[ReadOnly[float | None]]
    """Load of the busiest processor."""


class MachineLoad(TypedDict, total=False):
    """Load of a machine during a run."""

    interfaces: ReadOnly[Mapping[str, Mapping[str, int]]]
    udp: ReadOnly[Mapping[str, int]]
    softnet: ReadOnly[Mapping[str, int]]
    cpu: ReadOnly[Busy | None]


class Network(BetweenMachines):
    """What happened between two machines, and what they are."""

    mtu_bytes: NotRequired[ReadOnly[int]]
    """Largest packet that passes both ways."""
    mtu: ReadOnly[PathMtu]
    """The same for each way."""
    hops: ReadOnly[Sequence[Mapping[str, object]]]
    """Who is on the way."""
    peers: NotRequired[ReadOnly[Mapping[str, object]]]
    tunnels: ReadOnly[Sequence[str]]
    """What carried the packets of each flow."""
    overhead_bytes: ReadOnly[Sequence[int]]
    """Bytes that a tunnel adds to a packet, by flow."""
    sender: NotRequired[ReadOnly[str]]
    machines: ReadOnly[Mapping[str, MachineLoad]]
    """Load of both machines during the run: `local`, `remote`."""


class RunStatistics(TypedDict):
    """The statistics of a run: the contents of its `stats.json`."""

    status: ReadOnly[Status]
    flows: ReadOnly[Sequence[FlowStats]]
    links: ReadOnly[Sequence[LinkStats]]
    network: ReadOnly[NetworkStats]
    reason: NotRequired[ReadOnly[str | None]]
    """Why it is not `done`."""
    backend: NotRequired[ReadOnly[str]]
    started_at: NotRequired[ReadOnly[str | None]]
    ended_at: NotRequired[ReadOnly[str | None]]
    sim_wall_s: NotRequired[ReadOnly[float | None]]
    """Seconds in the simulator's own loop."""
    events: NotRequired[ReadOnly[int | None]]
    """Events that the simulator worked through, or that were recorded of real packets."""
    attempts: NotRequired[ReadOnly[int]]
    """How often it was made until this machine kept the path's times."""
    init_us: NotRequired[ReadOnly[float | None]]
    """Start of an imported log, us after 1970."""
    notes: NotRequired[ReadOnly[Sequence[str]]]
    """What a reader of its numbers has to know: of imported files, of lateness, of qlogs."""
    imported: NotRequired[ReadOnly[ImportTimes]]
    samples: NotRequired[ReadOnly[Mapping[str, Mapping[str, str]] | None]]
    """The quantities that were sampled, with their units, by table (`flows`, `links`)."""
    files: NotRequired[ReadOnly[Mapping[str, KeptFile]]]
    """The files that it kept, by name."""
    capture: NotRequired[ReadOnly[Mapping[str, object]]]
    """What the packet capture said of itself that the run was imported from; so of the next six."""
    qlog: NotRequired[ReadOnly[Mapping[str, object]]]
    iperf3: NotRequired[ReadOnly[Mapping[str, object]]]
    iperf: NotRequired[ReadOnly[Mapping[str, object]]]
    flent: NotRequired[ReadOnly[Mapping[str, object]]]
    netlog: NotRequired[ReadOnly[Mapping[str, object]]]
    ss: NotRequired[ReadOnly[Mapping[str, object]]]
    emulation: NotRequired[ReadOnly[EmulationReport | None]]
    clocks: NotRequired[ReadOnly[Clocks | None]]
    remote: NotRequired[ReadOnly[Network | None]]


class RunTable(RunStatistics):
    """A run as `dumbbell show --json` has it: its statistics, and which run it is."""

    scheme: ReadOnly[str]
    """The scheme, or the mix."""
    path: ReadOnly[str]
    run: ReadOnly[int]
    """Which repetition, from 1."""
    seed: ReadOnly[int | None]
    """None of imported runs."""
    directory: ReadOnly[str]
    """Where its files are, below the results directory."""
    axes: ReadOnly[Mapping[str, AxisValue]]
    """The `path` and the value of each axis that it has in its grid; empty if there is no grid."""
