"""What cases measure: each a function of a run, of where to look, and of its arguments, that returns one figure.

A measurement knows no tolerance: the case's file has it, with its reason.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy
from numpy.typing import NDArray

from dumbbell.base.errors import UserError, listed, nearest
from dumbbell.catalog.conformance_cases import Check
from dumbbell.studies.conformance import windows
from dumbbell.studies.conformance.view import NotReachedError, RunView, UnseenError
from dumbbell.studies.conformance.windows import Window

Values = NDArray[Any]


@dataclass(frozen=True)
class Figure:
    """What a measurement came to, and when in the run that was, s."""

    value: float | str
    at_s: float


@dataclass(frozen=True)
class Measure:
    """A kind of measurement: its function, unit, one sentence on it, and its arguments with their types.

    `of_phase`: the argument `phase` is needed.
    """

    function: Callable[[RunView, Window, Mapping[str, Any]], Figure]
    unit: str
    means: str
    arguments: Mapping[str, type] = field(default_factory=dict)
    needed: tuple[str, ...] = ()


def measure(view: RunView, check: Check) -> Figure:
    """Return the figure of a check.

    Raises:
        UnseenError: the run does not show it.
        NotReachedError: the run did not come to where the check looks.
    """
    return MEASURES[check.measure].function(view, windows.window(view, check.arguments), check.arguments)


def require_measure(check: Check) -> None:
    """See that a check names a measurement and gives it what it takes.

    Raises:
        UserError: it does not.
    """
    if check.measure not in MEASURES:
        known = listed(MEASURES)
        raise UserError(
            f"{check.place}: unknown measure `{check.measure}`{nearest(check.measure, MEASURES)}: allowed are {known}"
        )
    of = MEASURES[check.measure]
    allowed = windows.ARGUMENTS | dict(of.arguments)
    for key, value in check.arguments.items():
        if key not in allowed:
            raise UserError(
                f"{check.place}: unknown key `{key}`{nearest(key, allowed)}: allowed are {listed(sorted(allowed))}"
            )
        kind = allowed[key]
        if not isinstance(value, (int, float) if kind is float else kind) or isinstance(value, bool) != (kind is bool):
            raise UserError(f"{check.place}: `{key}` = {value!r}: allowed is {_KINDS[kind]}")
    for key in of.needed:
        if key not in check.arguments:
            raise UserError(f"{check.place}: key `{key}` is missing: `{check.measure}` needs it")
    where = check.arguments.get("of", "run")
    if where not in windows.OF:
        raise UserError(f"{check.place}: `of` = {where}: allowed are {listed(windows.OF)}")
    at = check.arguments.get("at", "end")
    if "at" in of.arguments and at not in _AT:
        raise UserError(f"{check.place}: `at` = {at}{nearest(at, _AT)}: allowed are {listed(_AT)}")
    if (of.unit == _WORD) != bool(check.expected):
        wanted = "a word: allowed is `expected`" if of.unit == _WORD else "a number: allowed are `at_least`, `at_most`"
        raise UserError(f"{check.place}: `{check.measure}` is {wanted}")


_KINDS = {str: "a text", int: "a whole number", float: "a number", list: "a list of texts", bool: "true or false"}
_WORD = "phase"


NO_PHASE = "none until the end of the run"
"""The phase after a visit that did not end."""


def _phase_after(view: RunView, where: Window, _: Mapping[str, Any]) -> Figure:
    visit = where.of_phase
    return Figure(visit.after or NO_PHASE, visit.end_s)


def _phase_at(view: RunView, where: Window, _: Mapping[str, Any]) -> Figure:
    inside = [each for each in view.visits if each.start_s <= where.start_s]
    if not inside:
        raise NotReachedError(f"had no phase at {where.start_s:.3f} s")
    return Figure(inside[-1].phase, where.start_s)


def _visits(view: RunView, where: Window, arguments: Mapping[str, Any]) -> Figure:
    for phase in arguments["phases"]:
        view.require_phase(phase)
    found = [
        each
        for each in view.visits
        if each.phase in arguments["phases"] and where.start_s <= each.start_s < where.end_s
    ]
    return Figure(float(len(found)), found[0].start_s if found else where.end_s)


def _start(view: RunView, where: Window, _: Mapping[str, Any]) -> Figure:
    return Figure(where.start_s, where.start_s)


def _seconds(view: RunView, where: Window, _: Mapping[str, Any]) -> Figure:
    """A visit that did not end takes for ever."""
    visit = where.of_phase
    return Figure(visit.end_s - where.start_s if visit.after else math.inf, visit.end_s)


def _apart(view: RunView, where: Window, arguments: Mapping[str, Any]) -> Figure:
    """From the end of a visit to the next visit of the same phase."""
    visit = where.complete
    later = [each for each in view.visits if each.phase == visit.phase and each.start_s > visit.end_s]
    if not later:
        raise NotReachedError(f"did not come to `{visit.phase}` again after {visit.end_s:.3f} s")
    return Figure(later[0].start_s - visit.end_s, later[0].start_s)


def _rounds(view: RunView, where: Window, arguments: Mapping[str, Any]) -> Figure:
    """Rounds in a visit, or since a field last grew in it; a visit that did not end takes for ever."""
    visit = where.of_phase
    if not visit.after:
        return Figure(math.inf, visit.end_s)
    start_s = where.start_s
    if name := arguments.get("since_growth_of"):
        times, values = view.within(name, start_s, visit.end_s)
        grown = numpy.flatnonzero(values[1:] > values[:-1])
        start_s = float(times[grown[-1] + 1]) if len(grown) else start_s
    count = view.value_at("round_count", visit.end_s) - view.value_at("round_count", start_s)
    return Figure(count, visit.end_s)


_AT = ("start", "end", "exit", "least", "most", "mean")
"""Of a field in a window: its first value, the last within, the one as it was left, or over all of it."""


def _picked(view: RunView, name: str, where: Window, at: str) -> tuple[float, float]:
    """A field's value in a window, and when that was."""
    if at == "start":
        return view.value_at(name, where.start_s), where.start_s
    if at == "exit":
        end_s = where.end_s if where.visit is None else where.complete.end_s
        return view.value_at(name, end_s), end_s
    if at == "end":
        return view.value_before(name, where.end_s), where.end_s
    return _extreme(*view.within(name, where.start_s, where.end_s), where, at)


def _extreme(times: Values, values: Values, where: Window, at: str) -> tuple[float, float]:
    if at == "mean":
        spans = numpy.diff(numpy.append(times, where.end_s))
        return float((values * spans).sum() / max(spans.sum(), 1e-12)), where.end_s
    place = int(values.argmin() if at == "least" else values.argmax())
    return float(values[place]), float(times[place])


def _value(view: RunView, where: Window, arguments: Mapping[str, Any]) -> Figure:
    """A field; with `relative_to`, over another field at the same time, or at `relative_at`."""
    name, at, base = arguments["field"], arguments.get("at", "end"), arguments.get("relative_to")
    if base is None:
        return Figure(*_picked(view, name, where, at))
    if "relative_at" in arguments or at not in ("least", "most"):
        value, at_s = _picked(view, name, where, at)
        return Figure(_ratio(value, _picked(view, base, where, arguments.get("relative_at", at))[0]), at_s)
    times, values = view.within(name, where.start_s, where.end_s)
    pairs = zip(times.tolist(), values.tolist(), strict=True)
    ratios = numpy.array([_ratio(value, view.value_at(base, time_s)) for time_s, value in pairs])
    return Figure(*_extreme(times, ratios, where, at))


def _ratio(value: float, base: float) -> float:
    if math.isinf(base):
        return 0.0
    if base == 0.0:
        return 1.0 if value == 0.0 else math.inf
    return value / base


def _time_to(view: RunView, where: Window, arguments: Mapping[str, Any]) -> Figure:
    """Until a field, over `relative_to`, is `above` or `below` a number; in rounds with `in_rounds`."""
    name, base = arguments["field"], arguments.get("relative_to")
    times, values = view.within(name, where.start_s, where.end_s)
    for time_s, value in zip(times.tolist(), values.tolist(), strict=True):
        ratio = value if base is None else _ratio(value, view.value_at(base, time_s))
        if ("above" in arguments and ratio > arguments["above"]) or (
            "below" in arguments and ratio < arguments["below"]
        ):
            if arguments.get("in_rounds"):
                return Figure(
                    view.value_at("round_count", time_s) - view.value_at("round_count", where.start_s), time_s
                )
            return Figure(time_s - where.start_s, time_s)
    return Figure(math.inf, where.end_s)


def _doublings(view: RunView, where: Window, arguments: Mapping[str, Any]) -> Figure:
    """How often the growth of a field per round doubled, per round: 1 is twice as much in every round."""
    name = arguments["field"]
    times, counts = view.within("round_count", where.start_s, where.end_s)
    edges = times[numpy.concatenate([[True], counts[1:] > counts[:-1]])].tolist()
    grown = [view.value_at(name, right) - view.value_at(name, left) for left, right in itertools.pairwise(edges)]
    growing = [each for each in grown if each > 0.0]
    if len(growing) < 3:
        raise NotReachedError(f"`{name}` grew in {len(growing)} rounds only: three are needed")
    return Figure(math.log2(growing[-1] / growing[0]) / (len(growing) - 1), where.end_s)


def _throughput(view: RunView, where: Window, arguments: Mapping[str, Any]) -> Figure:
    """New payload that arrived, as a fraction of what the bottleneck, or a link of `of_mbps`, could carry."""
    flow = int(arguments.get("flow", 1))
    arrived = view.packets_of(flow).of("deliver", where.start_s, where.end_s)
    if mbps := arguments.get("of_mbps"):
        could = mbps * 1e6 / 8.0 * (where.end_s - where.start_s) * view.payload_bytes / view.packet_bytes
    else:
        could = view.carried_bytes(where.start_s, where.end_s)
    return Figure(float(arrived.data_bytes.sum()) / could, where.end_s)


def _lost(view: RunView, where: Window, arguments: Mapping[str, Any]) -> Figure:
    """Data packets dropped on the path, as a fraction of those sent."""
    packets = view.packets_of(int(arguments.get("flow", 1)))
    sent, dropped = (packets.of(event, where.start_s, where.end_s) for event in ("send", "drop"))
    if not len(sent):
        raise NotReachedError(f"sent nothing from {where.start_s:.3f} s to {where.end_s:.3f} s")
    return Figure(len(dropped) / len(sent), float(dropped.time_s[0]) if len(dropped) else where.end_s)


def _count(view: RunView, where: Window, arguments: Mapping[str, Any]) -> Figure:
    """Packet events of a kind."""
    found = view.packets_of(int(arguments.get("flow", 1))).of(arguments["event"], where.start_s, where.end_s)
    return Figure(float(len(found)), float(found.time_s[0]) if len(found) else where.end_s)


def _spurious(view: RunView, where: Window, _: Mapping[str, Any]) -> Figure:
    """Packets that the sender declared lost and that had not been dropped."""
    if not view.is_built_in:
        raise UnseenError("needs the controller's state (packets declared lost)")
    dropped = set(view.packets.of("drop").seq.tolist())
    declared = view.packets.of("lost", where.start_s, where.end_s)
    wrong = [place for place, seq in enumerate(declared.seq.tolist()) if seq not in dropped]
    return Figure(float(len(wrong)), float(declared.time_s[wrong[0]]) if wrong else where.end_s)


def _queue_delay(view: RunView, where: Window, arguments: Mapping[str, Any]) -> Figure:
    """A percentile of the one-way delay of data above its smallest in the run, ms."""
    arrived = view.packets_of(int(arguments.get("flow", 1))).of("deliver")
    inside = arrived.delay_ms[(arrived.time_s >= where.start_s) & (arrived.time_s < where.end_s)]
    if not len(inside):
        raise NotReachedError(f"nothing arrived from {where.start_s:.3f} s to {where.end_s:.3f} s")
    share = float(arguments.get("percentile", 50.0))
    return Figure(float(numpy.percentile(inside, share) - arrived.delay_ms.min()), where.end_s)


_STEP_S = 0.001
"""Resolution of what is in flight, s."""


def _dips(view: RunView, where: Window, arguments: Mapping[str, Any]) -> list[tuple[float, float]]:
    """Spans of at least `lasts_s` with at most `below` BDP of the path in flight: sent, and no ACK back yet."""
    packets = view.packets
    edges = numpy.arange(where.start_s, where.end_s, _STEP_S)
    back_s = view.ack_delay_ms / 1e3
    sent, dropped = (numpy.searchsorted(packets.of(event).time_s, edges, "right") for event in ("send", "drop"))
    acknowledged = numpy.searchsorted(packets.of("deliver").time_s + back_s, edges, "right")
    bdp = numpy.array([view.capacity_mbps(float(t)) for t in edges]) * view.base_rtt_ms * 1e3 / 8.0 / view.payload_bytes
    low = sent - dropped - acknowledged <= arguments["below"] * bdp
    found: list[tuple[float, float]] = []
    began: float | None = None
    for time_s, is_low in zip(edges.tolist(), low.tolist(), strict=True):
        if is_low and began is None:
            began = time_s
        elif not is_low and began is not None:
            found.append((began, time_s))
            began = None
    return [(start_s, end_s) for start_s, end_s in found if end_s - start_s >= arguments["lasts_s"]]


def _dip_period(view: RunView, where: Window, arguments: Mapping[str, Any]) -> Figure:
    """From the beginning of a dip to that of the next one: the median."""
    dips = _dips(view, where, arguments)
    if len(dips) < 2:
        raise NotReachedError(
            f"what is in flight fell for {arguments['lasts_s']:g} s {len(dips)} times: two are needed"
        )
    gaps = [later[0] - earlier[0] for earlier, later in itertools.pairwise(dips)]
    return Figure(float(numpy.median(gaps)), dips[1][0])


def _dip_count(view: RunView, where: Window, arguments: Mapping[str, Any]) -> Figure:
    dips = _dips(view, where, arguments)
    return Figure(float(len(dips)), dips[0][0] if dips else where.end_s)


_FIELD = {"field": str, "at": str, "relative_to": str, "relative_at": str}
_FLOW = {"flow": int}
_DIP = {"below": float, "lasts_s": float}

MEASURES: Mapping[str, Measure] = {
    "phase_after": Measure(_phase_after, _WORD, "phase that follows a visit", needed=("phase",)),
    "phase_at": Measure(_phase_at, _WORD, "phase at the start of a span"),
    "visits": Measure(_visits, "visits", "visits to some phases", {"phases": list}, ("phases",)),
    "start": Measure(_start, "s", "when a visit begins", needed=("phase",)),
    "seconds": Measure(_seconds, "s", "length of a visit", needed=("phase",)),
    "apart": Measure(_apart, "s", "from a visit to the next of the same phase", needed=("phase",)),
    "rounds": Measure(_rounds, "rounds", "rounds of a visit", {"since_growth_of": str}, ("phase",)),
    "value": Measure(_value, "", "value of a field, or its ratio to another", _FIELD, ("field",)),
    "time_to": Measure(
        _time_to,
        "s",
        "time until a field passes a bound",
        {"field": str, "relative_to": str, "above": float, "below": float, "in_rounds": bool},
        ("field",),
    ),
    "doublings": Measure(
        _doublings, "per round", "doublings of a field's growth per round", {"field": str}, ("field",)
    ),
    "throughput": Measure(
        _throughput, "of capacity", "payload delivered over what the link can carry", {"of_mbps": float, **_FLOW}
    ),
    "lost": Measure(_lost, "of sent", "packets dropped over packets sent", _FLOW),
    "count": Measure(_count, "packets", "packet events of a kind", {"event": str, **_FLOW}, ("event",)),
    "spurious": Measure(_spurious, "packets", "packets declared lost that were not dropped"),
    "queue_delay": Measure(_queue_delay, "ms", "delay above the smallest", {"percentile": float, **_FLOW}),
    "dip_period": Measure(_dip_period, "s", "time between falls of what is in flight", _DIP, tuple(_DIP)),
    "dips": Measure(_dip_count, "dips", "falls of what is in flight", _DIP, tuple(_DIP)),
}
"""Every measurement by its name in case files."""
