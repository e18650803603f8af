"""The path of measured runs: as mahimahi was told and logged, else as the packets show it."""

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
"""Part of the rate in the name of a trace that the fastest run has, at least, if the name is to be believed."""
_FILLED = 0.8
"""The same part of a loss-based scheme, which fills a link without random loss."""
_CLOCK_MS = 1.5
"""What mm-delay, whose clock has whole milliseconds, may be short of its delay."""
SOCKET_PACKETS = 93
"""Packets that the UDP socket at the receiving end of Pantheon's tunnel holds: Linux's default of 212,992 bytes
(`net.core.rmem_default`), of which a packet from a TUN device takes 2304."""
_SOCKET: Element = {
    "kind": "link",
    "name": "tunnel-socket",
    "rate_mbps": 10_000.0,
    "queue": {"kind": "droptail", "packets": SOCKET_PACKETS},
}
"""This socket. Its rate is that at which the tunnel reads."""
LOGGED, NAMED = "the link's log", "the name of the trace"
"""Sources of the opportunities of a link, for the column `known by`."""
_FQ = "the sender's kernel paces TCP (`fq`)"


@dataclass(frozen=True)
class MeasuredPath:
    """A path with the runs that were measured over it, and how it is known."""

    model: PathModel
    runs: tuple[MeasuredRun, ...]
    how: str
    delay_ms: float
    """One-way delay outside of the link."""
    has_link_log: bool
    """Whether the link's delivery opportunities are known."""
    schedule: Schedule | None = None
    """How long the runs took, and when their flows started; None: as the set says."""
    socket: tuple[Element, ...] = ()
    """The receiving socket of Pantheon's tunnel, which packets meet that arrive at one instant."""
    has_fq: bool = False
    """True if the sender's kernel paces TCP."""


def measured_paths(measured: MeasuredSet, traces: TraceFiles) -> tuple[list[MeasuredPath], list[str]]:
    """Return the paths of a set, each with its runs; and the runs of which no path is known, with the reason.

    Runs share a path where nothing tells theirs apart: a trace that repeats itself within seconds.
    """
    if measured.command is not None:
        paths, left = _of_mahimahi(measured, measured.command, traces)
    else:
        paths, left = [], []
        for name, runs in _by_stated_path(measured).items():
            told, untold = _of_packets(measured, name, runs)
            paths += told
            left += untold
    paths, above = _within_capacity(paths, measured)
    paths = [replace(path, how=f"{path.how}; {_FQ}", has_fq=True) if has_fq(path.runs) else path for path in paths]
    return paths, [f"{each}: {_advices()[bool(measured.metadata)]}" for each in (*left, *above)]


def _advices() -> tuple[str, str]:
    """Return what helps where no path is known: for recordings, and for data of Pantheon."""
    path = argument("path")
    return f"{path} gives one", f"{path} gives a path, {argument('traces', form='DIR')} the files of traces"


def given_paths(measured: MeasuredSet, given: PathModel) -> tuple[list[MeasuredPath], list[str]]:
    """Return the path that somebody gave, with all runs of a set that it can carry; and the other runs."""
    model = replace(given, name=fitted(measured.name, "measured"), aliases=())
    path = MeasuredPath(model, measured.runs, f"as given ({given.name})", 0.0, False)
    return _within_capacity(_scheduled(path, measured), measured)


def _by_stated_path(measured: MeasuredSet) -> dict[str, list[MeasuredRun]]:
    """The runs of a set by the name of their path: files whose names state other values are of other paths."""
    stated = {run.key: stated_path(run.file) for run in measured.runs}
    several = len(set(stated.values())) > 1
    found: dict[str, list[MeasuredRun]] = {}
    for run in measured.runs:
        name = "-".join((measured.name, *stated[run.key])) if several else measured.name
        found.setdefault(name, []).append(run)
    return found


def _of_packets(
    measured: MeasuredSet, name: str, several: Sequence[MeasuredRun]
) -> tuple[list[MeasuredPath], list[str]]:
    """The path that runs show by what arrived when, and the runs that cannot have it."""
    runs = [run for run in several if run.has_packets or run.view is TOTALS]
    left = [f"{run.label}: its path is not known: its packets are in no log" for run in several if run not in runs]
    looks = [_seen(run) for run in runs]
    seen = [look for look in looks if isinstance(look, PathEstimate)]
    if not seen:
        left += [f"{run.label}: its path is not known: {look}" for run, look in zip(runs, looks, strict=True)]
        return [], left
    model = _seen_path(measured, name, seen)
    how = "intervals" if all(run.view is TOTALS for run in runs) else "the packets"
    return _scheduled(MeasuredPath(model, tuple(runs), how, _data_ms(model), False), measured), left


def _within_capacity(paths: Sequence[MeasuredPath], measured: MeasuredSet) -> tuple[list[MeasuredPath], list[str]]:
    """The paths without runs that were faster than they can be: those were measured over another path."""
    kept, left = [], []
    for path in paths:
        duration_s = measured.content.experiment.duration_s if path.schedule is None else path.schedule.duration_s
        most = _capacity_mbps(path.model, duration_s)
        runs = []
        for run in path.runs:
            rate = run.metrics(0)[RATE] or 0.0
            if rate > most * (1.0 + MARGIN):
                carries = f"its path ({path.how}) carries {most:.3g} at most"
                left.append(f"{run.label}: not counted: it has {rate:.3g} Mbit/s, and {carries}")
            else:
                runs.append(run)
        if runs:
            kept.append(replace(path, runs=tuple(runs)))
    return kept, left


def _capacity_mbps(model: PathModel, duration_s: float) -> float:
    """Return what the data direction carries at most in a run; infinite where no link limits it."""
    known = []
    for element in model.data:
        if element["kind"] == "trace" and ("times_ms" in element or "file" in element):
            most = rates(np.asarray(with_times(element)["times_ms"]), duration_s)[1]
            known.append(most * element.get("opportunity_bytes", 1500) / 1500)
    described = model.describe()
    if described.rates_mbps is not None:
        known.append(max(described.rates_mbps[1]))
    elif not known and described.bottleneck is not None and described.bottleneck.rate_mbps is not None:
        known.append(described.bottleneck.rate_mbps)
    return min(known, default=float("inf"))


def _scheduled(path: MeasuredPath, measured: MeasuredSet, used: Sequence[str] = ()) -> list[MeasuredPath]:
    """The same path for each schedule that its runs have; `None` is the one of the set."""
    groups: dict[Schedule | None, list[MeasuredRun]] = {}
    for run in path.runs:
        groups.setdefault(own_schedule(run, measured), []).append(run)
    found: list[MeasuredPath] = []
    for schedule, runs in groups.items():
        name = unlike(path.model.name, [*used, *(each.model.name for each in found)])
        found.append(replace(path, model=replace(path.model, name=name), runs=tuple(runs), schedule=schedule))
    return found


def _seen(run: MeasuredRun) -> PathEstimate | str:
    """Return what a run shows of its path, or why it does not show it."""
    if run.view is TOTALS:
        return estimate_from_counters(run.folder)
    if run.view is RECEIVER:
        return "a capture at the receiver has no round trips"
    return estimate_from_packets(run.packets, by_sender=run.view.sees_sender)


def _of_mahimahi(
    measured: MeasuredSet, told: MahimahiCommand, traces: TraceFiles
) -> tuple[list[MeasuredPath], list[str]]:
    shared: dict[str, _Told] = {}
    left = []
    for run in measured.runs:
        try:
            command = measured.command_of(run) or told
        except UserError as error:
            left.append(f"{run.label}: its path is not known: {error}")
            continue
        links = _links(measured, run, command, traces)
        if isinstance(links, str):
            left.append(f"{run.label}: {links}")
            continue
        data, ack = links
        if command.unknown:
            left.append(f"{run.label}: its path is not known: nothing simulates {listed(command.unknown)} around it")
            continue
        if (least := _least_delay(run)) is not None and least < command.delay_ms - _CLOCK_MS:
            why = f"packets took {least:.1f} ms, with mm-delay {command.delay_ms:g}: its logs are of another test"
            left.append(f"{run.label}: {why}")
            continue
        is_shared = data.is_shared and ack.is_shared
        bare = replace(command, trace="", ack_trace="", remarks=())
        key = repr((bare, data.element, ack.element)) if is_shared else run.label
        name = measured.name if is_shared else f"{measured.name}-{run.name}-{run.number}"
        each = shared.setdefault(key, _Told(command, data, ack, name, [], {}))
        each.runs.append(run)
        each.remarks.update(dict.fromkeys(command.remarks))
    paths: list[MeasuredPath] = []
    for each in shared.values():
        names = [path.model.name for path in paths]
        path = _mahimahi_path(measured, each, unlike(fitted(each.name, "measured"), names))
        paths += _scheduled(path, measured, names)
    return paths, left


def _most_mbps(runs: Iterable[MeasuredRun]) -> float | None:
    """Return the throughput of the fastest run; None of no run."""
    return max((run.statistics["network"].get("throughput_mbps") or 0.0 for run in runs), default=None)


def _least_delay(run: MeasuredRun) -> float | None:
    """Return the least one-way delay of a run's data."""
    delays = run.packets.way().delays_ms if run.has_packets else np.zeros(0)
    return float(delays.min()) if len(delays) else None


def _mahimahi_path(measured: MeasuredSet, told: "_Told", name: str) -> MeasuredPath:
    """Link, loss and delay of mahimahi's shells: `mm-delay D mm-loss uplink P mm-link` (docs/reference/paths.md)."""
    command = told.command
    delay: list[Element] = [{"kind": "delay", "delay_ms": command.delay_ms}] if command.delay_ms else []
    losses = [[{"kind": "loss", "probability": rate}] if rate else [] for rate in (command.loss, command.ack_loss)]
    queues = [{} if queue is None else {"queue": queue} for queue in (command.queue, command.ack_queue)]
    how = told.data.how if told.ack.how == told.data.how else f"{told.data.how}; of ACKs {told.ack.how}"
    socket = [_SOCKET] if _is_filled_at_once(told.data.element) else []
    model = PathModel(
        name=name,
        title=measured.content.experiment.title,
        provenance=f"measured: mahimahi, opportunities from {how}",
        overhead_bytes=measured.overhead_bytes,
        data=[told.data.element | {"name": "bottleneck"} | queues[0], *losses[0], *delay, *socket],
        ack=[*delay, *losses[1], told.ack.element | {"name": "return"} | queues[1]],
        file=str(measured.source),
    )
    how = "; ".join((how, *told.remarks))
    return MeasuredPath(model, tuple(told.runs), how, command.delay_ms, told.data.how == LOGGED, socket=(_SOCKET,))


def _is_filled_at_once(trace: Element) -> bool:
    """Return True if a link delivers more packets at one instant than the socket of Pantheon's tunnel holds."""
    times = np.asarray(with_times(trace).get("times_ms", ()))
    return len(times) > 0 and bool(np.unique(np.floor(times), return_counts=True)[1].max() > SOCKET_PACKETS)


@dataclass(frozen=True)
class _Link:
    """The trace of a direction, whether other runs may share it, and how it is known."""

    element: Element
    is_shared: bool
    how: str


@dataclass(frozen=True)
class _Told:
    """A path as mahimahi was told, the runs over it, and in which arguments logs and metadata differ."""

    command: MahimahiCommand
    data: _Link
    ack: _Link
    name: str
    runs: list[MeasuredRun]
    remarks: dict[str, None]


_TRACE: Element = {"kind": "trace", "mode": "mahimahi"}


def _links(
    measured: MeasuredSet, run: MeasuredRun, command: MahimahiCommand, traces: TraceFiles
) -> tuple[_Link, _Link] | str:
    """The links of both directions: by the log of their opportunities, else a trace file, else the trace's name."""
    data, ack = (_logged(measured, run, direction, traces) for direction in (False, True))
    same = command.trace and command.trace == command.ack_trace
    if data is None and same and ack is not None and ack.is_shared:
        data = ack
    if data is None:
        found = _unlogged(measured, run, command.trace, traces, loses=command.loss > 0.0)
        if isinstance(found, str):
            return found
        data = found
    if ack is None and same and data.is_shared:
        ack = data
    if ack is None:
        found = _unlogged(measured, run, command.ack_trace, traces, ack=True)
        if isinstance(found, str):
            return found
        ack = found
    return data, ack


def _logged(measured: MeasuredSet, run: MeasuredRun, ack: bool, traces: TraceFiles) -> _Link | None:
    times = run.packets.opportunities(ack) if run.has_packets else np.zeros(0)
    if len(times) < 2:
        return None
    one = period(times + run.packets.zero_ms)
    if one is not None:
        return _Link(_TRACE | {"times_ms": one}, True, LOGGED)
    # as it was from the first packet on; what was before the run cannot have mattered
    during = np.floor(times[times >= 0.0]).astype(np.int64) + 1
    if not len(during):
        return None
    name = f"{measured.name}-{run.name}-{run.number}-{'ack' if ack else 'data'}"
    return _Link(traces.keep(name, during), False, LOGGED)


def _unlogged(
    measured: MeasuredSet, run: MeasuredRun, name: str, traces: TraceFiles, *, ack: bool = False, loses: bool = False
) -> _Link | str:
    """The link whose trace is a file, or says its rate by its name; else why it is not known.

    `loses` is true of a path with random loss.
    """
    duration_s = measured.content.experiment.duration_s
    capacity = None if ack else measured.logged_capacity_mbps(run)
    fastest = None if ack else _most_mbps(measured.runs)
    sought = traces.find(name, measured.source, Clues(duration_s, capacity, fastest))
    if sought.trace is not None:
        return _Link(sought.trace.element, True, sought.how)
    match = NAMED_RATE.fullmatch(PurePosixPath(name).name)
    if match is None or float(match[1]) <= 0.0:
        return f"its path is not known: no log has the opportunities of its link, and {sought.how}"
    rate = float(match[1])
    if capacity is not None and abs(rate - capacity) > MARGIN * capacity:
        return f"its trace cannot have {rate:g} Mbit/s, as its name says: the logged link has {capacity:g}"
    if fastest is not None and fastest < _BELIEVED * rate:
        return f"its trace cannot have {rate:g} Mbit/s, as its name says: no run has more than {fastest:.2g}"
    filling = None if ack or loses else _most_mbps(each for each in measured.runs if family(each.scheme.name) == "loss")
    if filling is not None and max(filling, fastest or 0.0) < _FILLED * rate:
        said = f"loss-based schemes have {filling:.2g} at most"
        return f"its trace cannot have {rate:g} Mbit/s, as its name says: {said}"
    lines = max(round(rate * 1e6 / 8.0 / 1500.0 * 60.0), 1)
    return _Link(_TRACE | {"even": {"lines": lines, "period_ms": 60000}}, True, NAMED)


def _seen_path(measured: MeasuredSet, name: str, seen: Sequence[PathEstimate]) -> PathModel:
    """One link with the rate of the busiest run, a queue as long as packets waited at most, random loss beside it."""
    rate = max(each.rate_mbps for each in seen)
    data_ms = min(each.data_ms - each.data_bytes * 8e-3 / rate for each in seen)
    ack_ms = min(each.ack_ms for each in seen)
    if data_ms < 0.0 or ack_ms < 0.0:  # two clocks: only the sum is known
        data_ms = ack_ms = max(data_ms + ack_ms, 0.0) / 2.0
    least_ms = min(each.data_ms + each.ack_ms for each in seen)
    # in a run that always kept the queue filled, another one says how short a round trip is
    more_ms = [each.data_ms + each.ack_ms - least_ms if each.is_round_trip else 0.0 for each in seen]
    wait = max((each.wait_ms + more for each, more in zip(seen, more_ms, strict=True) if each.lost), default=0.0)
    sent, lost = sum(each.calm_sent for each in seen), sum(each.calm_lost for each in seen)
    queue: Queue = {"kind": "droptail", "bytes": max(round(wait * rate * 125.0), 3000)} if wait else {}
    link = {"kind": "link", "name": "bottleneck", "rate_mbps": round(rate, 4)} | ({"queue": queue} if queue else {})
    chance = lost / sent if sent >= _LEAST_SENT else 0.0
    loss = [{"kind": "loss", "probability": round(chance, 6)}] if round(chance, 6) > 0.0 else []
    return PathModel(
        name=fitted(name, "measured"),
        title=measured.content.experiment.title,
        provenance="measured: rate, delay, queue and loss as the runs show them",
        overhead_bytes=measured.overhead_bytes,
        data=[link, *loss, {"kind": "delay", "delay_ms": round(data_ms, 3)}],
        ack=[{"kind": "delay", "delay_ms": round(ack_ms, 3)}],
        file=str(measured.source),
    )


def _data_ms(model: PathModel) -> float:
    return float(sum(element["delay_ms"] for element in model.data if element["kind"] == "delay"))


def require_paths(paths: Sequence[MeasuredPath], source: str, reasons: Sequence[str]) -> None:
    """Refuse a set of which nothing can be simulated; reasons that something can be done about come first.

    Raises:
        UserError: there is no path.
    """
    if not paths:
        first = sorted(reasons, key=lambda reason: not reason.endswith(_advices()))[:3]
        advices = list(dict.fromkeys(each for reason in first for each in _advices() if reason.endswith(f": {each}")))
        if len(advices) == 1:
            first = [reason.removesuffix(f": {advices[0]}") for reason in first]
        ending = f": {advices[0]}" if len(advices) == 1 else ""
        raise UserError(f"{source}: no run can be simulated: {'; '.join(first) or 'there is none'}{ending}")
