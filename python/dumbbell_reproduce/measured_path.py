"""The path of measured runs: from mahimahi's command and logs, else estimated from the packets."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dumbbell.base.errors import UserError, argument, listed
from dumbbell.base.names import fitted, unlike
from dumbbell.catalog.families import family
from dumbbell.catalog.open_tables import Element, Queue
from dumbbell.catalog.path import PathModel
from dumbbell.catalog.trace_files import with_times
from dumbbell_reproduce.file_names import stated_path
from dumbbell_reproduce.host_delays import has_fq
from dumbbell_reproduce.interval_estimate import estimate_from_counters
from dumbbell_reproduce.mahimahi_command import MahimahiCommand
from dumbbell_reproduce.mahimahi_link import period
from dumbbell_reproduce.measured_set import MeasuredRun, MeasuredSet
from dumbbell_reproduce.packet_estimate import PathEstimate, estimate_from_packets
from dumbbell_reproduce.schedule import Schedule, own_schedule
from dumbbell_reproduce.trace_lookup import MARGIN, NAMED_RATE, Clues, TraceFiles, rates
from dumbbell_reproduce.viewpoint import RATE, RECEIVER, TOTALS

Numbers = NDArray[Any]

_LEAST_SENT = 1000
_BELIEVED = 0.5
"""Smallest share of the rate in a trace's name that the fastest run must reach for the name to be believed."""
_FILLED = 0.8
"""Smallest share for a loss-based scheme, which fills a link without random loss."""
_CLOCK_MS = 1.5
"""Largest shortfall of mm-delay, whose clock has whole milliseconds, ms."""
SOCKET_PACKETS = 93
"""Packets that the UDP socket at the receiving end of Pantheon's tunnel holds: Linux's default of 212,992 bytes
(`net.core.rmem_default`), of which a packet from a TUN device takes 2304."""
_SOCKET: Element = {
    "kind": "link",
    "name": "tunnel-socket",
    "rate_mbps": 10_000.0,
    "queue": {"kind": "droptail", "packets": SOCKET_PACKETS},
}
"""The socket of Pantheon's tunnel. Its rate is the rate at which the tunnel reads."""
LOGGED, NAMED = "the link's log", "the name of the trace"
"""Sources of the opportunities of a link, for the column `known by`."""
_FQ = "the sender's kernel paces TCP (`fq`)"


@dataclass(frozen=True)
class MeasuredPath:
    """A measured path: its model, its runs and the origin of its parameters."""

    model: PathModel
    runs: tuple[MeasuredRun, ...]
    origin: str
    delay_ms: float
    """One-way delay outside of the link."""
    has_link_log: bool
    """True if the link's delivery opportunities are logged."""
    schedule: Schedule | None = None
    """Duration of the runs and start times of their flows; None: as in the set."""
    socket: tuple[Element, ...] = ()
    """The receiving socket of Pantheon's tunnel, which limits packets that arrive at the same instant."""
    has_fq: bool = False
    """True if the sender's kernel paces TCP."""


def measured_paths(measured_set: MeasuredSet, traces: TraceFiles) -> tuple[list[MeasuredPath], list[str]]:
    """Return the paths of a set, each with its runs, and the runs without a known path, with the reason.

    Runs share a path if nothing distinguishes their paths: the trace repeats itself within seconds.
    """
    if measured_set.command is not None:
        paths, left = _mahimahi_paths(measured_set, measured_set.command, traces)
    else:
        paths, left = [], []
        for name, runs in _by_stated_path(measured_set).items():
            new_paths, reasons = _packet_paths(measured_set, name, runs)
            paths += new_paths
            left += reasons
    paths, above = _within_capacity(paths, measured_set)
    paths = [
        replace(path, origin=f"{path.origin}; {_FQ}", has_fq=True) if has_fq(path.runs) else path for path in paths
    ]
    return paths, [f"{reason}: {_advices()[bool(measured_set.metadata)]}" for reason in (*left, *above)]


def _advices() -> tuple[str, str]:
    """Return the advice for runs without a known path: for recordings, and for data of Pantheon."""
    path = argument("path")
    return f"{path} gives one", f"{path} gives a path, {argument('traces', form='DIR')} the files of traces"


def given_paths(measured_set: MeasuredSet, given_model: PathModel) -> tuple[list[MeasuredPath], list[str]]:
    """Return the path given by the caller, with the runs of a set that it can carry, and the other runs."""
    model = replace(given_model, name=fitted(measured_set.name, "measured"), aliases=())
    path = MeasuredPath(model, measured_set.runs, f"as given ({given_model.name})", 0.0, False)
    return _within_capacity(_by_schedule(path, measured_set), measured_set)


def _by_stated_path(measured_set: MeasuredSet) -> dict[str, list[MeasuredRun]]:
    """Return the runs of a set by the name of their path. Files whose names state other values have other paths."""
    stated_values = {run.key: stated_path(run.file) for run in measured_set.runs}
    several = len(set(stated_values.values())) > 1
    runs_by_path: dict[str, list[MeasuredRun]] = {}
    for run in measured_set.runs:
        name = "-".join((measured_set.name, *stated_values[run.key])) if several else measured_set.name
        runs_by_path.setdefault(name, []).append(run)
    return runs_by_path


def _packet_paths(
    measured_set: MeasuredSet, name: str, several: Sequence[MeasuredRun]
) -> tuple[list[MeasuredPath], list[str]]:
    """Return the path that the packets of some runs show, and the runs that cannot have the path."""
    runs = [run for run in several if run.has_packets or run.view is TOTALS]
    left = [f"{run.label}: its path is not known: its packets are in no log" for run in several if run not in runs]
    estimates = [_estimate(run) for run in runs]
    usable = [estimate for estimate in estimates if isinstance(estimate, PathEstimate)]
    if not usable:
        left += [
            f"{run.label}: its path is not known: {estimate}" for run, estimate in zip(runs, estimates, strict=True)
        ]
        return [], left
    model = _seen_path(measured_set, name, usable)
    origin = "intervals" if all(run.view is TOTALS for run in runs) else "the packets"
    return _by_schedule(MeasuredPath(model, tuple(runs), origin, _data_ms(model), False), measured_set), left


def _within_capacity(paths: Sequence[MeasuredPath], measured_set: MeasuredSet) -> tuple[list[MeasuredPath], list[str]]:
    """Return the paths without runs that were faster than the path: such runs had another path."""
    kept_paths, left = [], []
    for path in paths:
        duration_s = measured_set.content.experiment.duration_s if path.schedule is None else path.schedule.duration_s
        capacity = _capacity_mbps(path.model, duration_s)
        runs = []
        for run in path.runs:
            rate = run.metrics(0)[RATE] or 0.0
            if rate > capacity * (1.0 + MARGIN):
                carries = f"its path ({path.origin}) carries {capacity:.3g} at most"
                left.append(f"{run.label}: not counted: it has {rate:.3g} Mbit/s, and {carries}")
            else:
                runs.append(run)
        if runs:
            kept_paths.append(replace(path, runs=tuple(runs)))
    return kept_paths, left


def _capacity_mbps(model: PathModel, duration_s: float) -> float:
    """Return the largest throughput of the data direction in a run, Mbit/s; infinite if no link limits it."""
    limits = []
    for element in model.data:
        if element["kind"] == "trace" and ("times_ms" in element or "file" in element):
            capacity = rates(np.asarray(with_times(element)["times_ms"]), duration_s)[1]
            limits.append(capacity * element.get("opportunity_bytes", 1500) / 1500)
    description = model.describe()
    if description.rates_mbps is not None:
        limits.append(max(description.rates_mbps[1]))
    elif not limits and description.bottleneck is not None and description.bottleneck.rate_mbps is not None:
        limits.append(description.bottleneck.rate_mbps)
    return min(limits, default=float("inf"))


def _by_schedule(path: MeasuredPath, measured_set: MeasuredSet, used_names: Sequence[str] = ()) -> list[MeasuredPath]:
    """Return a copy of the path for each schedule of its runs. The key None is the schedule of the set."""
    groups: dict[Schedule | None, list[MeasuredRun]] = {}
    for run in path.runs:
        groups.setdefault(own_schedule(run, measured_set), []).append(run)
    paths: list[MeasuredPath] = []
    for schedule, runs in groups.items():
        name = unlike(path.model.name, [*used_names, *(earlier.model.name for earlier in paths)])
        paths.append(replace(path, model=replace(path.model, name=name), runs=tuple(runs), schedule=schedule))
    return paths


def _estimate(run: MeasuredRun) -> PathEstimate | str:
    """Return the estimate of a run's path, or the reason for a missing estimate."""
    if run.view is TOTALS:
        return estimate_from_counters(run.folder)
    if run.view is RECEIVER:
        return "a capture at the receiver has no round trips"
    return estimate_from_packets(run.packets, by_sender=run.view.sees_sender)


def _mahimahi_paths(
    measured_set: MeasuredSet, set_command: MahimahiCommand, traces: TraceFiles
) -> tuple[list[MeasuredPath], list[str]]:
    by_key: dict[str, _SharedPath] = {}
    left = []
    for run in measured_set.runs:
        try:
            command = measured_set.command_of(run) or set_command
        except UserError as error:
            left.append(f"{run.label}: its path is not known: {error}")
            continue
        links = _links(measured_set, run, command, traces)
        if isinstance(links, str):
            left.append(f"{run.label}: {links}")
            continue
        data, ack = links
        if command.unknown:
            left.append(f"{run.label}: its path is not known: nothing simulates {listed(command.unknown)} around it")
            continue
        if (least := _least_delay(run)) is not None and least < command.delay_ms - _CLOCK_MS:
            reason = f"packets took {least:.1f} ms, with mm-delay {command.delay_ms:g}: its logs are of another test"
            left.append(f"{run.label}: {reason}")
            continue
        is_shared = data.is_shared and ack.is_shared
        bare = replace(command, trace="", ack_trace="", remarks=())
        key = repr((bare, data.element, ack.element)) if is_shared else run.label
        name = measured_set.name if is_shared else f"{measured_set.name}-{run.name}-{run.number}"
        shared_path = by_key.setdefault(key, _SharedPath(command, data, ack, name, [], {}))
        shared_path.runs.append(run)
        shared_path.remarks.update(dict.fromkeys(command.remarks))
    paths: list[MeasuredPath] = []
    for shared_path in by_key.values():
        names = [path.model.name for path in paths]
        path = _mahimahi_path(measured_set, shared_path, unlike(fitted(shared_path.name, "measured"), names))
        paths += _by_schedule(path, measured_set, names)
    return paths, left


def _most_mbps(runs: Iterable[MeasuredRun]) -> float | None:
    """Return the throughput of the fastest run, Mbit/s; None without runs."""
    return max((run.statistics["network"].get("throughput_mbps") or 0.0 for run in runs), default=None)


def _least_delay(run: MeasuredRun) -> float | None:
    """Return the smallest one-way delay of a run's data packets, ms; None without packets."""
    delays = run.packets.way().delays_ms if run.has_packets else np.zeros(0)
    return float(delays.min()) if len(delays) else None


def _mahimahi_path(measured_set: MeasuredSet, shared_path: "_SharedPath", name: str) -> MeasuredPath:
    """Return the path of the shells `mm-delay D mm-loss uplink P mm-link` (docs/reference/paths.md)."""
    command = shared_path.command
    delay: list[Element] = [{"kind": "delay", "delay_ms": command.delay_ms}] if command.delay_ms else []
    losses = [[{"kind": "loss", "probability": rate}] if rate else [] for rate in (command.loss, command.ack_loss)]
    queues = [{} if queue is None else {"queue": queue} for queue in (command.queue, command.ack_queue)]
    origin = (
        shared_path.data.origin
        if shared_path.ack.origin == shared_path.data.origin
        else f"{shared_path.data.origin}; of ACKs {shared_path.ack.origin}"
    )
    socket = [_SOCKET] if _is_filled_at_once(shared_path.data.element) else []
    model = PathModel(
        name=name,
        title=measured_set.content.experiment.title,
        provenance=f"measured: mahimahi, opportunities from {origin}",
        overhead_bytes=measured_set.overhead_bytes,
        data=[shared_path.data.element | {"name": "bottleneck"} | queues[0], *losses[0], *delay, *socket],
        ack=[*delay, *losses[1], shared_path.ack.element | {"name": "return"} | queues[1]],
        file=str(measured_set.source),
    )
    origin = "; ".join((origin, *shared_path.remarks))
    return MeasuredPath(
        model, tuple(shared_path.runs), origin, command.delay_ms, shared_path.data.origin == LOGGED, socket=(_SOCKET,)
    )


def _is_filled_at_once(trace: Element) -> bool:
    """Return True if a link delivers more packets at one instant than the socket of Pantheon's tunnel holds."""
    times = np.asarray(with_times(trace).get("times_ms", ()))
    return len(times) > 0 and bool(np.unique(np.floor(times), return_counts=True)[1].max() > SOCKET_PACKETS)


@dataclass(frozen=True)
class _Link:
    """The trace of a direction, True if other runs may share it, and its origin."""

    element: Element
    is_shared: bool
    origin: str


@dataclass(frozen=True)
class _SharedPath:
    """A path from mahimahi's command, the runs over it, and differences between logs and metadata."""

    command: MahimahiCommand
    data: _Link
    ack: _Link
    name: str
    runs: list[MeasuredRun]
    remarks: dict[str, None]


_TRACE: Element = {"kind": "trace", "mode": "mahimahi"}


def _links(
    measured_set: MeasuredSet, run: MeasuredRun, command: MahimahiCommand, traces: TraceFiles
) -> tuple[_Link, _Link] | str:
    """Return the links of both directions.

    A link comes from logged opportunities, else a trace file, else the trace's name.
    """
    data, ack = (_logged_link(measured_set, run, direction, traces) for direction in (False, True))
    same_trace = command.trace and command.trace == command.ack_trace
    if data is None and same_trace and ack is not None and ack.is_shared:
        data = ack
    if data is None:
        link = _unlogged_link(measured_set, run, command.trace, traces, loses=command.loss > 0.0)
        if isinstance(link, str):
            return link
        data = link
    if ack is None and same_trace and data.is_shared:
        ack = data
    if ack is None:
        link = _unlogged_link(measured_set, run, command.ack_trace, traces, ack=True)
        if isinstance(link, str):
            return link
        ack = link
    return data, ack


def _logged_link(measured_set: MeasuredSet, run: MeasuredRun, ack: bool, traces: TraceFiles) -> _Link | None:
    times = run.packets.opportunities(ack) if run.has_packets else np.zeros(0)
    if len(times) < 2:
        return None
    one_period = period(times + run.packets.zero_ms)
    if one_period is not None:
        return _Link(_TRACE | {"times_ms": one_period}, True, LOGGED)
    # opportunities from the first packet on; those before the run do not matter
    during = np.floor(times[times >= 0.0]).astype(np.int64) + 1
    if not len(during):
        return None
    name = f"{measured_set.name}-{run.name}-{run.number}-{'ack' if ack else 'data'}"
    return _Link(traces.keep(name, during), False, LOGGED)


def _unlogged_link(
    measured_set: MeasuredSet,
    run: MeasuredRun,
    name: str,
    traces: TraceFiles,
    *,
    ack: bool = False,
    loses: bool = False,
) -> _Link | str:
    """Return the link from a trace file or from the rate in the trace's name, else the reason why it is unknown.

    `loses`: True if the path has random loss.
    """
    duration_s = measured_set.content.experiment.duration_s
    capacity = None if ack else measured_set.logged_capacity_mbps(run)
    fastest = None if ack else _most_mbps(measured_set.runs)
    sought = traces.find(name, measured_set.source, Clues(duration_s, capacity, fastest))
    if sought.trace is not None:
        return _Link(sought.trace.element, True, sought.explanation)
    match = NAMED_RATE.fullmatch(PurePosixPath(name).name)
    if match is None or float(match[1]) <= 0.0:
        return f"its path is not known: no log has the opportunities of its link, and {sought.explanation}"
    rate = float(match[1])
    if capacity is not None and abs(rate - capacity) > MARGIN * capacity:
        return f"its trace cannot have {rate:g} Mbit/s, as its name says: the logged link has {capacity:g}"
    if fastest is not None and fastest < _BELIEVED * rate:
        return f"its trace cannot have {rate:g} Mbit/s, as its name says: no run has more than {fastest:.2g}"
    filling = (
        None if ack or loses else _most_mbps(run for run in measured_set.runs if family(run.scheme.name) == "loss")
    )
    if filling is not None and max(filling, fastest or 0.0) < _FILLED * rate:
        explanation = f"loss-based schemes have {filling:.2g} at most"
        return f"its trace cannot have {rate:g} Mbit/s, as its name says: {explanation}"
    lines = max(round(rate * 1e6 / 8.0 / 1500.0 * 60.0), 1)
    return _Link(_TRACE | {"even": {"lines": lines, "period_ms": 60000}}, True, NAMED)


def _seen_path(measured_set: MeasuredSet, name: str, estimates: Sequence[PathEstimate]) -> PathModel:
    """Return a path with one link, a droptail queue and random loss.

    The rate is that of the busiest run. The queue holds the longest wait.
    """
    rate = max(estimate.rate_mbps for estimate in estimates)
    data_ms = min(estimate.data_ms - estimate.data_bytes * 8e-3 / rate for estimate in estimates)
    ack_ms = min(estimate.ack_ms for estimate in estimates)
    if data_ms < 0.0 or ack_ms < 0.0:  # the two ends have different clocks: only the sum is known
        data_ms = ack_ms = max(data_ms + ack_ms, 0.0) / 2.0
    least_ms = min(estimate.data_ms + estimate.ack_ms for estimate in estimates)
    # if a run always kept the queue filled, another run shows the shortest round trip
    more_ms = [
        estimate.data_ms + estimate.ack_ms - least_ms if estimate.is_round_trip else 0.0 for estimate in estimates
    ]
    wait = max(
        (estimate.wait_ms + more for estimate, more in zip(estimates, more_ms, strict=True) if estimate.lost_packets),
        default=0.0,
    )
    sent_packets, lost_packets = (
        sum(estimate.calm_sent for estimate in estimates),
        sum(estimate.calm_lost for estimate in estimates),
    )
    queue: Queue = {"kind": "droptail", "bytes": max(round(wait * rate * 125.0), 3000)} if wait else {}
    link = {"kind": "link", "name": "bottleneck", "rate_mbps": round(rate, 4)} | ({"queue": queue} if queue else {})
    chance = lost_packets / sent_packets if sent_packets >= _LEAST_SENT else 0.0
    loss = [{"kind": "loss", "probability": round(chance, 6)}] if round(chance, 6) > 0.0 else []
    return PathModel(
        name=fitted(name, "measured"),
        title=measured_set.content.experiment.title,
        provenance="measured: rate, delay, queue and loss as the runs show them",
        overhead_bytes=measured_set.overhead_bytes,
        data=[link, *loss, {"kind": "delay", "delay_ms": round(data_ms, 3)}],
        ack=[{"kind": "delay", "delay_ms": round(ack_ms, 3)}],
        file=str(measured_set.source),
    )


def _data_ms(model: PathModel) -> float:
    return float(sum(element["delay_ms"] for element in model.data if element["kind"] == "delay"))


def require_paths(paths: Sequence[MeasuredPath], source: str, reasons: Sequence[str]) -> None:
    """Refuse a set in which no run can be simulated. Reasons that have a remedy come first.

    Raises:
        UserError: there is no path.
    """
    if not paths:
        first = sorted(reasons, key=lambda reason: not reason.endswith(_advices()))[:3]
        advices = list(
            dict.fromkeys(advice for reason in first for advice in _advices() if reason.endswith(f": {advice}"))
        )
        if len(advices) == 1:
            first = [reason.removesuffix(f": {advices[0]}") for reason in first]
        ending = f": {advices[0]}" if len(advices) == 1 else ""
        raise UserError(f"{source}: no run can be simulated: {'; '.join(first) or 'there is none'}{ending}")
