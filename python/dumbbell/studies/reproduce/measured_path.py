"""The path of measured runs: as mahimahi was told and logged, else as the packets show it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dumbbell.base.errors import UserError, listed
from dumbbell.base.names import fitted, unlike
from dumbbell.catalog.open_tables import Element, Queue
from dumbbell.catalog.path import PathModel
from dumbbell.studies.reproduce.link import period
from dumbbell.studies.reproduce.mahimahi_command import MahimahiCommand
from dumbbell.studies.reproduce.measured import MeasuredRun, MeasuredSet
from dumbbell.studies.reproduce.schedule import Schedule, own_schedule
from dumbbell.studies.reproduce.seen import Seen, seen_in_packets
from dumbbell.studies.reproduce.totals import seen_in_totals
from dumbbell.studies.reproduce.view import RECEIVER, TOTALS

Numbers = NDArray[Any]

_LEAST_SENT = 1000
_BELIEVED = 0.5
"""Part of the rate in the name of a trace that the fastest run has, at least, if the name is to be believed."""
_CLOCK_MS = 1.5
"""What mm-delay, whose clock has whole milliseconds, may be short of its delay."""
_NAMED_RATE = re.compile(r"(\d{1,5}(?:\.\d{1,3})?)mbps(?:[._-]trace)?", re.IGNORECASE)


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


def measured_paths(measured: MeasuredSet) -> tuple[list[MeasuredPath], list[str]]:
    """Return the paths of a set, each with its runs; and the runs of which no path is known, with the reason.

    Runs share a path where nothing tells theirs apart: a trace that repeats itself within seconds.
    """
    if measured.command is not None:
        return _of_mahimahi(measured)
    runs = [run for run in measured.runs if run.has_packets or run.view is TOTALS]
    left = [
        f"{run.label}: its path is not known: its packets are in no log" for run in measured.runs if run not in runs
    ]
    looks = [_seen(run) for run in runs]
    seen = [look for look in looks if isinstance(look, Seen)]
    if not seen:
        return [], left + [
            f"{run.label}: its path is not known: {look}: --path gives one"
            for run, look in zip(runs, looks, strict=True)
        ]
    model = _seen_path(measured, seen)
    how = "intervals" if all(run.view is TOTALS for run in runs) else "the packets"
    return _scheduled(MeasuredPath(model, tuple(runs), how, _data_ms(model), False), measured), left


def given_paths(measured: MeasuredSet, given: PathModel) -> list[MeasuredPath]:
    """Return the path that somebody gave, with all runs of a set."""
    model = replace(given, name=fitted(measured.name, "measured"), aliases=())
    return _scheduled(MeasuredPath(model, measured.runs, f"as given ({given.name})", 0.0, False), measured)


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


def _seen(run: MeasuredRun) -> Seen | str:
    """Return what a run shows of its path, or why it does not show it."""
    if run.view is TOTALS:
        return seen_in_totals(run.folder)
    if run.view is RECEIVER:
        return "a capture at the receiver has no round trips"
    return seen_in_packets(run.packets, by_sender=run.view.sees_sender)


def _of_mahimahi(measured: MeasuredSet) -> tuple[list[MeasuredPath], list[str]]:
    shared: dict[str, _Told] = {}
    left = []
    for run in measured.runs:
        command, links = measured.command_of(run), [_link(measured, run, ack) for ack in (False, True)]
        if command is None or links[0] is None or links[1] is None:
            trace = measured.metadata.get("uplink_trace")
            left.append(f"{run.label}: its path is not known: no log has the link's opportunities, nor says `{trace}`")
            continue
        if not links[0].is_logged and (most := _most_mbps(measured)) < _BELIEVED * (rate := links[0].named_mbps):
            why = f"its trace cannot have {rate:g} Mbit/s, as its name says: no run has more than {most:.2g}"
            left.append(f"{run.label}: {why}")
            continue
        if command.unknown:
            left.append(f"{run.label}: its path is not known: nothing simulates {listed(command.unknown)} around it")
            continue
        if (least := _least_delay(run)) is not None and least < command.delay_ms - _CLOCK_MS:
            why = f"packets took {least:.1f} ms, with mm-delay {command.delay_ms:g}: its logs are of another test"
            left.append(f"{run.label}: {why}")
            continue
        data, ack = links[0], links[1]
        key = repr((command, data.element, ack.element)) if data.is_shared and ack.is_shared else run.label
        name = measured.name if data.is_shared and ack.is_shared else f"{measured.name}-{run.name}-{run.number}"
        shared.setdefault(key, _Told(command, data, ack, name, [])).runs.append(run)
    paths: list[MeasuredPath] = []
    for each in shared.values():
        names = [path.model.name for path in paths]
        path = _mahimahi_path(measured, each, unlike(fitted(each.name, "measured"), names))
        paths += _scheduled(path, measured, names)
    return paths, left


def _most_mbps(measured: MeasuredSet) -> float:
    """Return the throughput of the fastest run of a set."""
    return max(run.statistics["network"].get("throughput_mbps") or 0.0 for run in measured.runs)


def _least_delay(run: MeasuredRun) -> float | None:
    """Return the least one-way delay of a run's data."""
    delays = run.packets.way().delays_ms if run.has_packets else np.zeros(0)
    return float(delays.min()) if len(delays) else None


def _mahimahi_path(measured: MeasuredSet, told: "_Told", name: str) -> MeasuredPath:
    """Link, loss and delay, as shells of mahimahi have them: `mm-delay D mm-loss uplink P mm-link` (docs/paths.md)."""
    command = told.command
    delay: list[Element] = [{"kind": "delay", "delay_ms": command.delay_ms}] if command.delay_ms else []
    losses = [[{"kind": "loss", "probability": rate}] if rate else [] for rate in (command.loss, command.ack_loss)]
    queues = [{} if queue is None else {"queue": queue} for queue in (command.queue, command.ack_queue)]
    how = "the link's log" if told.data.is_logged else "the name of the trace"
    model = PathModel(
        name=name,
        title=measured.content.experiment.title,
        provenance=f"measured: mahimahi, opportunities from {how}",
        overhead_bytes=measured.overhead_bytes,
        data=[told.data.element | {"name": "bottleneck"} | queues[0], *losses[0], *delay],
        ack=[*delay, *losses[1], told.ack.element | {"name": "return"} | queues[1]],
        file=str(measured.source),
    )
    return MeasuredPath(model, tuple(told.runs), how, command.delay_ms, told.data.is_logged)


@dataclass(frozen=True)
class _Link:
    """The trace of a direction, whether other runs may share it, and whether it is of a log."""

    element: Element
    is_shared: bool
    is_logged: bool
    named_mbps: float = 0.0
    """The rate by the name of the trace, where no log has it."""


@dataclass(frozen=True)
class _Told:
    """A path as mahimahi was told, and the runs over it."""

    command: MahimahiCommand
    data: _Link
    ack: _Link
    name: str
    runs: list[MeasuredRun]


def _link(measured: MeasuredSet, run: MeasuredRun, ack: bool) -> _Link | None:
    link: Element = {"kind": "trace", "mode": "mahimahi"}
    times = run.packets.opportunities(ack) if run.has_packets else np.zeros(0)
    if len(times) < 2:
        named = str(measured.metadata.get("downlink_trace" if ack else "uplink_trace", ""))
        rate = _NAMED_RATE.fullmatch(named)
        if rate is None or float(rate[1]) <= 0.0:
            return None
        lines = max(round(float(rate[1]) * 1e6 / 8.0 / 1500.0 * 60.0), 1)
        return _Link(link | {"even": {"lines": lines, "period_ms": 60000}}, True, False, float(rate[1]))
    one = period(times + run.packets.zero_ms)
    if one is not None:
        return _Link(link | {"times_ms": one}, True, True)
    # as it was from the first packet on; what was before the run cannot have mattered
    during = np.floor(times[times >= 0.0]) + 1.0
    return _Link(link | {"times_ms": during.tolist()}, False, True)


def _seen_path(measured: MeasuredSet, seen: Sequence[Seen]) -> PathModel:
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
        name=fitted(measured.name, "measured"),
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
    """Refuse a set of which nothing can be simulated.

    Raises:
        UserError: there is no path.
    """
    if not paths:
        raise UserError(f"{source}: no run can be simulated: {'; '.join(reasons[:3]) or 'there is none'}")
