"""Measures of cases: functions of a run, a window and arguments that return one figure.

A measure has no tolerance. The case's file has the tolerance, with its reason.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, fields
from typing import Any, Generic, TypeVar

import numpy
from numpy.typing import NDArray

from dumbbell import core
from dumbbell.base.errors import UserError, listed, nearest
from dumbbell.base.json_types import typed
from dumbbell.catalog.conformance_cases import Check
from dumbbell_conformance import windows
from dumbbell_conformance.view import NotReachedError, RunView, UnseenError
from dumbbell_conformance.windows import Place, Window

Values = NDArray[Any]


@dataclass(frozen=True)
class Figure:
    """The value of a measurement, and its time in the run, s."""

    value: float | str
    at_s: float


@dataclass(frozen=True, kw_only=True)
class OfPhases(Place):
    """Window argument: visits to some phases."""

    phases: list[str]


@dataclass(frozen=True, kw_only=True)
class SinceGrowth(Place):
    """Window argument: the part after the last growth of a field."""

    since_growth_of: str = ""


@dataclass(frozen=True, kw_only=True)
class OfField(Place):
    """Argument: a field of the controller's state."""

    field: str


@dataclass(frozen=True, kw_only=True)
class FieldAt(OfField):
    """The value of a field at a moment of the window, or its ratio to another field."""

    at: str = "end"
    relative_to: str | None = None
    relative_at: str | None = None


@dataclass(frozen=True, kw_only=True)
class FieldPasses(OfField):
    """A bound that a field passes, divided by another field if one is named."""

    relative_to: str | None = None
    above: float | None = None
    below: float | None = None
    in_rounds: bool = False


@dataclass(frozen=True, kw_only=True)
class FieldFalls(OfField):
    """Falls of a field by at least the share `by`."""

    by: float = 0.1


@dataclass(frozen=True, kw_only=True)
class NthFall(FieldFalls):
    """One fall of a field."""

    nth_fall: int = 1


@dataclass(frozen=True, kw_only=True)
class OfFlow(Place):
    """Argument: a flow."""

    flow: int = 1


@dataclass(frozen=True, kw_only=True)
class OfCapacity(OfFlow):
    """A link of `of_mbps` that replaces the bottleneck, unless it is 0."""

    of_mbps: float = 0.0


@dataclass(frozen=True, kw_only=True)
class OfEvent(OfFlow):
    """Packet events of a kind."""

    event: str


@dataclass(frozen=True, kw_only=True)
class Percentile(OfFlow):
    """A percentile over packets."""

    percentile: float = 50.0


@dataclass(frozen=True, kw_only=True)
class Transfer(OfFlow):
    """A transfer of a size."""

    bytes: int


@dataclass(frozen=True, kw_only=True)
class Cubic(Place):
    """The constant C of CUBIC."""

    c: float = 0.4


@dataclass(frozen=True, kw_only=True)
class Burst(Place):
    """Longest gap within a burst."""

    gap_us: float


@dataclass(frozen=True, kw_only=True)
class Silence(Place):
    """Shortest silence."""

    silence_s: float = 0.1


@dataclass(frozen=True, kw_only=True)
class Formula(Place):
    """A formula of the window for a probability of loss."""

    model: str
    loss: float


@dataclass(frozen=True, kw_only=True)
class TransportKey(Place):
    """A setting of the transport."""

    key: str


@dataclass(frozen=True, kw_only=True)
class Dip(Place):
    """Spans of at least `lasts_s` with at most `below` BDP in flight."""

    below: float
    lasts_s: float


Arguments = TypeVar("Arguments", bound=Place)


@dataclass(frozen=True)
class Measure(Generic[Arguments]):
    """A measure: its function, unit, one-sentence meaning, and argument type."""

    function: Callable[[RunView, Window, Arguments], Figure]
    unit: str
    means: str
    arguments: type[Arguments]
    of_phase: bool = False


def measure(view: RunView, check: Check) -> Figure:
    """Return the figure of a check.

    Raises:
        UnseenError: the run does not show the measure.
        NotReachedError: the run did not reach the window of the check.
    """
    chosen_measure = MEASURES[check.measure]
    arguments = typed(dict(check.arguments), chosen_measure.arguments)
    return chosen_measure.function(view, windows.window(view, arguments), arguments)


def require_measure(check: Check) -> None:
    """Check that a check names a measure and has the arguments of the measure.

    Raises:
        UserError: the name or an argument is wrong.
    """
    if check.measure not in MEASURES:
        names = listed(MEASURES)
        raise UserError(
            f"{check.place}: unknown measure `{check.measure}`{nearest(check.measure, MEASURES)}: allowed are {names}"
        )
    chosen_measure = MEASURES[check.measure]
    fields_by_name = {item.name: item for item in fields(chosen_measure.arguments)}
    for key in check.arguments:
        if key not in fields_by_name:
            raise UserError(
                f"{check.place}: unknown key `{key}`{nearest(key, fields_by_name)}: "
                f"allowed are {listed(sorted(fields_by_name))}"
            )
    needed_keys = [name for name, item in fields_by_name.items() if item.default is MISSING] + [
        "phase"
    ] * chosen_measure.of_phase
    for key in needed_keys:
        if key not in check.arguments:
            raise UserError(f"{check.place}: key `{key}` is missing: `{check.measure}` needs it")
    try:
        arguments = typed(dict(check.arguments), chosen_measure.arguments)
    except UserError as error:
        name, _, rest = str(error).partition(": ")
        raise UserError(f"{check.place}: {name} = {check.arguments.get(name.strip('`'))!r}: {rest}") from None
    if arguments.of not in windows.OF:
        raise UserError(f"{check.place}: `of` = {arguments.of}: allowed are {listed(windows.OF)}")
    if isinstance(arguments, FieldAt) and arguments.at not in _AT:
        at = arguments.at
        raise UserError(f"{check.place}: `at` = {at}{nearest(at, _AT)}: allowed are {listed(_AT)}")
    if (chosen_measure.unit == _WORD) != bool(check.expected):
        expectation = (
            "a word: allowed is `expected`"
            if chosen_measure.unit == _WORD
            else "a number: allowed are `at_least`, `at_most`"
        )
        raise UserError(f"{check.place}: `{check.measure}` is {expectation}")


_WORD = "phase"


NO_PHASE = "none until the end of the run"
"""Phase after a visit that did not end."""


def _phase_after(view: RunView, span: Window, _: Place) -> Figure:
    visit = span.of_phase
    return Figure(visit.after or NO_PHASE, visit.end_s)


def _phase_at(view: RunView, span: Window, _: Place) -> Figure:
    inside = [visit for visit in view.visits if visit.start_s <= span.start_s]
    if not inside:
        raise NotReachedError(f"had no phase at {span.start_s:.3f} s")
    return Figure(inside[-1].phase, span.start_s)


def _visits(view: RunView, span: Window, arguments: OfPhases) -> Figure:
    for phase in arguments.phases:
        view.require_phase(phase)
    visits = [
        visit for visit in view.visits if visit.phase in arguments.phases and span.start_s <= visit.start_s < span.end_s
    ]
    return Figure(float(len(visits)), visits[0].start_s if visits else span.end_s)


def _start(view: RunView, span: Window, _: Place) -> Figure:
    return Figure(span.start_s, span.start_s)


def _seconds(view: RunView, span: Window, _: Place) -> Figure:
    """Return the length of a visit; infinite for a visit that did not end."""
    visit = span.of_phase
    return Figure(visit.end_s - span.start_s if visit.after else math.inf, visit.end_s)


def _apart(view: RunView, span: Window, arguments: Place) -> Figure:
    """Return the time from the end of a visit to the next visit to the same phase."""
    visit = span.complete
    later = [other for other in view.visits if other.phase == visit.phase and other.start_s > visit.end_s]
    if not later:
        raise NotReachedError(f"did not come to `{visit.phase}` again after {visit.end_s:.3f} s")
    return Figure(later[0].start_s - visit.end_s, later[0].start_s)


def _rounds(view: RunView, span: Window, arguments: SinceGrowth) -> Figure:
    """Return the rounds in a visit, or since the last growth of a field in it; infinite if the visit did not end."""
    visit = span.of_phase
    if not visit.after:
        return Figure(math.inf, visit.end_s)
    start_s = span.start_s
    if name := arguments.since_growth_of:
        times, values = view.within(name, start_s, visit.end_s)
        growth_indices = numpy.flatnonzero(values[1:] > values[:-1])
        start_s = float(times[growth_indices[-1] + 1]) if len(growth_indices) else start_s
    count = view.value_at("round_count", visit.end_s) - view.value_at("round_count", start_s)
    return Figure(count, visit.end_s)


_AT = ("start", "end", "exit", "least", "most", "mean")
"""Values of a field in a window: first, last, at the exit, or an extreme or mean of the window."""


def _pick(view: RunView, name: str, span: Window, at: str) -> tuple[float, float]:
    """Return a field's value in a window, and the time of the value."""
    if at == "start":
        return view.value_at(name, span.start_s), span.start_s
    if at == "exit":
        end_s = span.end_s if span.visit is None else span.complete.end_s
        return view.value_at(name, end_s), end_s
    if at == "end":
        return view.value_before(name, span.end_s), span.end_s
    return _extreme(*view.within(name, span.start_s, span.end_s), span, at)


def _extreme(times: Values, values: Values, span: Window, at: str) -> tuple[float, float]:
    if at == "mean":
        spans = numpy.diff(numpy.append(times, span.end_s))
        return float((values * spans).sum() / max(spans.sum(), 1e-12)), span.end_s
    place = int(values.argmin() if at == "least" else values.argmax())
    return float(values[place]), float(times[place])


def _value(view: RunView, span: Window, arguments: FieldAt) -> Figure:
    """Return a field's value. With `relative_to`, divide by another field at the same time, or at `relative_at`."""
    name, at, base = arguments.field, arguments.at, arguments.relative_to
    if base is None:
        return Figure(*_pick(view, name, span, at))
    if arguments.relative_at is not None or at not in ("least", "most"):
        value, at_s = _pick(view, name, span, at)
        return Figure(_ratio(value, _pick(view, base, span, arguments.relative_at or at)[0]), at_s)
    times, values = view.within(name, span.start_s, span.end_s)
    pairs = zip(times.tolist(), values.tolist(), strict=True)
    ratios = numpy.array([_ratio(value, view.value_at(base, time_s)) for time_s, value in pairs])
    return Figure(*_extreme(times, ratios, span, at))


def _ratio(value: float, base: float) -> float:
    if math.isinf(base):
        return 0.0
    if base == 0.0:
        return 1.0 if value == 0.0 else math.inf
    return value / base


def _time_to(view: RunView, span: Window, arguments: FieldPasses) -> Figure:
    """Return the time until a field, over `relative_to`, is `above` or `below` a number; in rounds with `in_rounds`."""
    name, base = arguments.field, arguments.relative_to
    times, values = view.within(name, span.start_s, span.end_s)
    for time_s, value in zip(times.tolist(), values.tolist(), strict=True):
        ratio = value if base is None else _ratio(value, view.value_at(base, time_s))
        above, below = arguments.above, arguments.below
        if (above is not None and ratio > above) or (below is not None and ratio < below):
            if arguments.in_rounds:
                return Figure(view.value_at("round_count", time_s) - view.value_at("round_count", span.start_s), time_s)
            return Figure(time_s - span.start_s, time_s)
    return Figure(math.inf, span.end_s)


def _doublings(view: RunView, span: Window, arguments: OfField) -> Figure:
    """Return the doublings of a field's growth, per round: 1 is twice as much in every round."""
    name = arguments.field
    times, counts = view.within("round_count", span.start_s, span.end_s)
    edges = times[numpy.concatenate([[True], counts[1:] > counts[:-1]])].tolist()
    growths = [view.value_at(name, right) - view.value_at(name, left) for left, right in itertools.pairwise(edges)]
    growing = [growth for growth in growths if growth > 0.0]
    if len(growing) < 3:
        raise NotReachedError(f"`{name}` grew in {len(growing)} rounds only: three are needed")
    return Figure(math.log2(growing[-1] / growing[0]) / (len(growing) - 1), span.end_s)


def _throughput(view: RunView, span: Window, arguments: OfCapacity) -> Figure:
    """Return the new payload that arrived, as a fraction of the capacity of the bottleneck or of `of_mbps`."""
    flow = arguments.flow
    arrivals = view.packets_of(flow).of("deliver", span.start_s, span.end_s)
    if mbps := arguments.of_mbps:
        could = mbps * 1e6 / 8.0 * (span.end_s - span.start_s) * view.payload_bytes / view.packet_bytes
    else:
        could = view.carried_bytes(span.start_s, span.end_s)
    return Figure(float(arrivals.data_bytes.sum()) / could, span.end_s)


def _lost(view: RunView, span: Window, arguments: OfFlow) -> Figure:
    """Return the data packets dropped on the path, as a fraction of the sent ones."""
    packets = view.packets_of(arguments.flow)
    sent_packets, drops = (packets.of(event, span.start_s, span.end_s) for event in ("send", "drop"))
    if not len(sent_packets):
        raise NotReachedError(f"sent nothing from {span.start_s:.3f} s to {span.end_s:.3f} s")
    return Figure(len(drops) / len(sent_packets), float(drops.time_s[0]) if len(drops) else span.end_s)


def _count(view: RunView, span: Window, arguments: OfEvent) -> Figure:
    """Return the number of packet events of a kind."""
    events = view.packets_of(arguments.flow).of(arguments.event, span.start_s, span.end_s)
    return Figure(float(len(events)), float(events.time_s[0]) if len(events) else span.end_s)


def _spurious(view: RunView, span: Window, _: Place) -> Figure:
    """Return the number of packets that the sender declared lost although they were not dropped."""
    if not view.is_built_in:
        raise UnseenError("needs the controller's state (packets declared lost)")
    dropped_numbers = set(view.packets.of("drop").seq.tolist())
    declarations = view.packets.of("lost", span.start_s, span.end_s)
    wrong = [place for place, seq in enumerate(declarations.seq.tolist()) if seq not in dropped_numbers]
    return Figure(float(len(wrong)), float(declarations.time_s[wrong[0]]) if wrong else span.end_s)


def _queue_delay(view: RunView, span: Window, arguments: Percentile) -> Figure:
    """Return a percentile of the one-way delay of data above its smallest in the run, ms."""
    arrivals = view.packets_of(arguments.flow).of("deliver")
    inside = arrivals.delay_ms[(arrivals.time_s >= span.start_s) & (arrivals.time_s < span.end_s)]
    if not len(inside):
        raise NotReachedError(f"nothing arrived from {span.start_s:.3f} s to {span.end_s:.3f} s")
    share = arguments.percentile
    return Figure(float(numpy.percentile(inside, share) - arrivals.delay_ms.min()), span.end_s)


def _changes(view: RunView, span: Window, arguments: FieldFalls) -> list[tuple[float, float]]:
    """Return the times of falls of a field by the share `by` or more in one event, and the remaining share."""
    times, values = view.within(arguments.field, span.start_s, span.end_s)
    by = arguments.by
    pairs = zip(times[1:].tolist(), values.tolist(), values[1:].tolist(), strict=False)
    return [
        (time_s, after / before) for time_s, before, after in pairs if after < before and after <= before * (1.0 - by)
    ]


def _fall(view: RunView, span: Window, arguments: NthFall) -> Figure:
    """Return the share of a field that is left after its `nth_fall` fall."""
    falls, nth = _changes(view, span, arguments), arguments.nth_fall
    if len(falls) < nth:
        raise NotReachedError(f"`{arguments.field}` fell {len(falls)} times: {nth} are needed")
    at_s, share = falls[nth - 1]
    return Figure(share, at_s)


def _falls(view: RunView, span: Window, arguments: FieldFalls) -> Figure:
    falls = _changes(view, span, arguments)
    return Figure(float(len(falls)), falls[-1][0] if falls else span.end_s)


def _round_trips(view: RunView, start_s: float, end_s: float) -> float:
    """Return the number of round trips in a span, by the smoothed RTT."""
    times, rtt_ms = view.within("srtt", start_s, end_s)
    return float((numpy.diff(numpy.append(times, end_s)) / (rtt_ms / 1e3)).sum())


def _growth(view: RunView, span: Window, arguments: OfField) -> Figure:
    """Return the growth of a field for each round trip."""
    name = arguments.field
    growth = view.value_before(name, span.end_s) - view.value_at(name, span.start_s)
    return Figure(growth / _round_trips(view, span.start_s, span.end_s), span.end_s)


def _factor(view: RunView, span: Window, arguments: OfField) -> Figure:
    """Return the factor by which a field grew for each round trip: 2 is doubling."""
    name = arguments.field
    factor = view.value_before(name, span.end_s) / view.value_at(name, span.start_s)
    return Figure(float(factor ** (1.0 / _round_trips(view, span.start_s, span.end_s))), span.end_s)


def _cubic_error(view: RunView, span: Window, arguments: Cubic) -> Figure:
    """Return the largest distance of the window from W_cubic(t) (RFC 9438 4.2), as a share of W_max."""
    falls = [time_s for time_s, _ in _changes(view, Window(0.0, span.start_s + 1e-9), FieldFalls(field="cwnd"))]
    if not falls:
        raise NotReachedError("the window did not fall before")
    times, _ = view.series("k")
    later = times[(times >= falls[-1]) & (times <= span.end_s)]
    if not len(later):
        raise NotReachedError("no epoch began after the window fell")
    began_s = float(later[0])
    # if the epoch begins with the loss and not with the first later ACK, its first window is the reduced one
    first = min(view.value_before("cwnd", began_s), view.value_at("cwnd", began_s))
    w_max = view.value_at("w_max", began_s)
    c = arguments.c
    k = ((w_max - first) / c) ** (1.0 / 3.0)
    times, cwnd = view.within("cwnd", max(span.start_s, began_s), span.end_s)
    off = numpy.abs(cwnd - (c * (times - began_s - k) ** 3 + w_max)) / w_max
    place = int(off.argmax())
    return Figure(float(off[place]), float(times[place]))


def _first_burst(view: RunView, span: Window, _: Place) -> Figure:
    """Return the number of data packets sent before the ACK of the first one."""
    departures = view.packets.of("send", span.start_s, span.end_s)
    sent_s = departures.time_s[departures.data_bytes > 0]
    if not len(sent_s):
        raise NotReachedError("sent no data")
    back_s = float(sent_s[0]) + view.base_rtt_ms / 1e3
    return Figure(float((sent_s <= back_s).sum()), back_s)


def _largest_burst(view: RunView, span: Window, arguments: Burst) -> Figure:
    """Return the largest number of data packets sent in a burst, with gaps of at most `gap_us`."""
    departures = view.packets.of("send", span.start_s, span.end_s)
    if not len(departures):
        raise NotReachedError(f"sent nothing from {span.start_s:.3f} s to {span.end_s:.3f} s")
    breaks = numpy.flatnonzero(numpy.diff(departures.time_s) > arguments.gap_us / 1e6) + 1
    starts = numpy.concatenate([[0], breaks])
    lengths = numpy.diff(numpy.append(starts, len(departures)))
    place = int(lengths.argmax())
    return Figure(float(lengths[place]), float(departures.time_s[starts[place]]))


def _backoff(view: RunView, span: Window, arguments: Silence) -> Figure:
    """Return the median ratio of a silence between transmissions, of at least `silence_s`, to the previous silence."""
    gaps = numpy.diff(view.packets.of("send", span.start_s, span.end_s).time_s)
    gaps = gaps[gaps >= arguments.silence_s]
    if len(gaps) < 3:
        raise NotReachedError(f"there were {len(gaps)} silences: three are needed")
    return Figure(float(numpy.median(gaps[1:] / gaps[:-1])), span.end_s)


def _arrived_bytes(view: RunView, flow: int, span: Window) -> float:
    return float(view.packets_of(flow).of("deliver", span.start_s, span.end_s).data_bytes.sum())


def _share(view: RunView, span: Window, arguments: OfFlow) -> Figure:
    """Return the payload of a `flow` that arrived, over the mean of all flows."""
    flows = range(1, len(view.specification["flows"]) + 1)
    bytes_by_flow = {flow: _arrived_bytes(view, flow, span) for flow in flows}
    mean = sum(bytes_by_flow.values()) / len(bytes_by_flow)
    if not mean:
        raise NotReachedError("nothing arrived")
    return Figure(bytes_by_flow[arguments.flow] / mean, span.end_s)


def _jain(view: RunView, span: Window, _: Place) -> Figure:
    """Return Jain's index of the payloads of all flows that arrived."""
    payloads = [_arrived_bytes(view, flow, span) for flow in range(1, len(view.specification["flows"]) + 1)]
    (index,) = core.jain_index([payloads])
    if index is None:
        raise NotReachedError("nothing arrived")
    return Figure(float(index), span.end_s)


def _completion(view: RunView, span: Window, arguments: Transfer) -> Figure:
    """Return the time from the start of a flow to the arrival of its `bytes`; infinite if not all arrived."""
    flow = arguments.flow
    arrivals = view.packets_of(flow).of("deliver")
    total = numpy.cumsum(arrivals.data_bytes)
    start_s = float(view.specification["flows"][flow - 1]["start_s"])
    complete = numpy.flatnonzero(total >= arguments.bytes)
    if not len(complete):
        return Figure(math.inf, span.end_s)
    at_s = float(arrivals.time_s[complete[0]])
    return Figure(at_s - start_s, at_s)


def _sending(view: RunView, span: Window, arguments: OfFlow) -> Figure:
    """Return the bytes sent, as a fraction of the capacity of the bottleneck."""
    departures = view.packets_of(arguments.flow).of("send", span.start_s, span.end_s)
    could = view.carried_bytes(span.start_s, span.end_s) * view.packet_bytes / view.payload_bytes
    return Figure(float(departures.size_bytes.sum()) / could, span.end_s)


def _marks(view: RunView, span: Window, _: Place) -> Figure:
    """Return the number of marked packets for each round trip."""
    marks = view.packets.of("mark", span.start_s, span.end_s)
    return Figure(len(marks) / _round_trips(view, span.start_s, span.end_s), span.end_s)


def _window_ratio(view: RunView, span: Window, arguments: Formula) -> Figure:
    """Return the mean window (payload delivered for each base RTT) over a formula's window for a loss probability."""
    rtt_s, loss = view.base_rtt_ms / 1e3, arguments.loss
    model = 1.22 / math.sqrt(loss) if arguments.model == "reno" else 1.054 * (rtt_s / loss) ** 0.75
    rate = _arrived_bytes(view, 1, span) / (span.end_s - span.start_s)
    return Figure(rate * rtt_s / view.payload_bytes / model, span.end_s)


def _transport(view: RunView, span: Window, arguments: TransportKey) -> Figure:
    """Return the value of a setting of the transport."""
    return Figure(view.transport(arguments.key), span.start_s)


_STEP_S = 0.001
"""Resolution of the bytes in flight, s."""


def _dips(view: RunView, span: Window, arguments: Dip) -> list[tuple[float, float]]:
    """Return spans of at least `lasts_s` with at most `below` BDP of the path in flight: sent, without an ACK yet."""
    packets = view.packets
    edges = numpy.arange(span.start_s, span.end_s, _STEP_S)
    back_s = view.ack_delay_ms / 1e3
    sent_counts, drop_counts = (
        numpy.searchsorted(packets.of(event).time_s, edges, "right") for event in ("send", "drop")
    )
    ack_counts = numpy.searchsorted(packets.of("deliver").time_s + back_s, edges, "right")
    bdp = numpy.array([view.capacity_mbps(float(t)) for t in edges]) * view.base_rtt_ms * 1e3 / 8.0 / view.payload_bytes
    low = sent_counts - drop_counts - ack_counts <= arguments.below * bdp
    dips: list[tuple[float, float]] = []
    began: float | None = None
    for time_s, is_low in zip(edges.tolist(), low.tolist(), strict=True):
        if is_low and began is None:
            began = time_s
        elif not is_low and began is not None:
            dips.append((began, time_s))
            began = None
    return [(start_s, end_s) for start_s, end_s in dips if end_s - start_s >= arguments.lasts_s]


def _dip_period(view: RunView, span: Window, arguments: Dip) -> Figure:
    """Return the median time between the beginnings of successive dips."""
    dips = _dips(view, span, arguments)
    if len(dips) < 2:
        raise NotReachedError(f"what is in flight fell for {arguments.lasts_s:g} s {len(dips)} times: two are needed")
    gaps = [later[0] - earlier[0] for earlier, later in itertools.pairwise(dips)]
    return Figure(float(numpy.median(gaps)), dips[1][0])


MEASURES: Mapping[str, Measure[Any]] = {
    "phase_after": Measure(_phase_after, _WORD, "phase that follows a visit", Place, of_phase=True),
    "phase_at": Measure(_phase_at, _WORD, "phase at the start of a span", Place),
    "visits": Measure(_visits, "visits", "visits to some phases", OfPhases),
    "start": Measure(_start, "s", "when a visit begins", Place, of_phase=True),
    "seconds": Measure(_seconds, "s", "length of a visit", Place, of_phase=True),
    "apart": Measure(_apart, "s", "from a visit to the next of the same phase", Place, of_phase=True),
    "rounds": Measure(_rounds, "rounds", "rounds of a visit", SinceGrowth, of_phase=True),
    "value": Measure(_value, "", "value of a field, or its ratio to another", FieldAt),
    "time_to": Measure(_time_to, "s", "time until a field passes a bound", FieldPasses),
    "doublings": Measure(_doublings, "per round", "doublings of a field's growth per round", OfField),
    "throughput": Measure(_throughput, "of capacity", "payload delivered over what the link can carry", OfCapacity),
    "lost": Measure(_lost, "of sent", "packets dropped over packets sent", OfFlow),
    "count": Measure(_count, "packets", "packet events of a kind", OfEvent),
    "spurious": Measure(_spurious, "packets", "packets declared lost that were not dropped", Place),
    "queue_delay": Measure(_queue_delay, "ms", "delay above the smallest", Percentile),
    "fall": Measure(_fall, "of before", "what is left of a field where it falls", NthFall),
    "falls": Measure(_falls, "falls", "how often a field falls", FieldFalls),
    "growth": Measure(_growth, "per RTT", "growth of a field for each round trip", OfField),
    "factor": Measure(_factor, "per RTT", "factor of a field for each round trip", OfField),
    "cubic_error": Measure(_cubic_error, "of W_max", "distance of the window from W_cubic(t)", Cubic),
    "first_burst": Measure(_first_burst, "packets", "data packets sent before the first ACK", Place),
    "largest_burst": Measure(_largest_burst, "packets", "most packets sent in one burst", Burst),
    "backoff": Measure(_backoff, "times", "ratio of one silence to the one before", Silence),
    "share": Measure(_share, "of the mean", "payload of a flow over the mean of all flows", OfFlow),
    "jain": Measure(_jain, "", "Jain's index of the flows", Place),
    "completion": Measure(_completion, "s", "time until so many bytes have arrived", Transfer),
    "sending": Measure(_sending, "of capacity", "bytes sent over what the link can carry", OfFlow),
    "marks": Measure(_marks, "per RTT", "packets marked for each round trip", Place),
    "window_ratio": Measure(_window_ratio, "of the formula", "mean window over a formula's", Formula),
    "transport": Measure(_transport, _WORD, "a setting of the transport", TransportKey),
    "dip_period": Measure(_dip_period, "s", "time between falls of what is in flight", Dip),
}
"""All measures by their names in case files."""
