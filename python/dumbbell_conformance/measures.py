"""Measures of cases: each a function of a run, of where to look, and of its arguments, that returns one figure.

A measurement knows no tolerance: the case's file has it, with its reason.
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
    """Of visits to some phases."""

    phases: list[str]


@dataclass(frozen=True, kw_only=True)
class SinceGrowth(Place):
    """From where a field last grew."""

    since_growth_of: str = ""


@dataclass(frozen=True, kw_only=True)
class OfField(Place):
    """Of a field of the controller's state."""

    field: str


@dataclass(frozen=True, kw_only=True)
class FieldAt(OfField):
    """A field at a moment of the window, over another one."""

    at: str = "end"
    relative_to: str | None = None
    relative_at: str | None = None


@dataclass(frozen=True, kw_only=True)
class FieldPasses(OfField):
    """A field, over another one, that passes a bound."""

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
    """Of a flow."""

    flow: int = 1


@dataclass(frozen=True, kw_only=True)
class OfCapacity(OfFlow):
    """Over a link of `of_mbps` in place of the bottleneck, if it is not 0."""

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
    """A kind of measurement: its function, unit, one sentence on it, and the type of its arguments.

    `of_phase`: the argument `phase` is needed.
    """

    function: Callable[[RunView, Window, Arguments], Figure]
    unit: str
    means: str
    arguments: type[Arguments]
    of_phase: bool = False


def measure(view: RunView, check: Check) -> Figure:
    """Return the figure of a check.

    Raises:
        UnseenError: the run does not show it.
        NotReachedError: the run did not come to where the check looks.
    """
    of = MEASURES[check.measure]
    arguments = typed(dict(check.arguments), of.arguments)
    return of.function(view, windows.window(view, arguments), arguments)


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
    allowed = {each.name: each for each in fields(of.arguments)}
    for key in check.arguments:
        if key not in allowed:
            raise UserError(
                f"{check.place}: unknown key `{key}`{nearest(key, allowed)}: allowed are {listed(sorted(allowed))}"
            )
    needed = [name for name, each in allowed.items() if each.default is MISSING] + ["phase"] * of.of_phase
    for key in needed:
        if key not in check.arguments:
            raise UserError(f"{check.place}: key `{key}` is missing: `{check.measure}` needs it")
    try:
        arguments = typed(dict(check.arguments), of.arguments)
    except UserError as error:
        name, _, rest = str(error).partition(": ")
        raise UserError(f"{check.place}: {name} = {check.arguments.get(name.strip('`'))!r}: {rest}") from None
    if arguments.of not in windows.OF:
        raise UserError(f"{check.place}: `of` = {arguments.of}: allowed are {listed(windows.OF)}")
    if isinstance(arguments, FieldAt) and arguments.at not in _AT:
        at = arguments.at
        raise UserError(f"{check.place}: `at` = {at}{nearest(at, _AT)}: allowed are {listed(_AT)}")
    if (of.unit == _WORD) != bool(check.expected):
        wanted = "a word: allowed is `expected`" if of.unit == _WORD else "a number: allowed are `at_least`, `at_most`"
        raise UserError(f"{check.place}: `{check.measure}` is {wanted}")


_WORD = "phase"


NO_PHASE = "none until the end of the run"
"""The phase after a visit that did not end."""


def _phase_after(view: RunView, where: Window, _: Place) -> Figure:
    visit = where.of_phase
    return Figure(visit.after or NO_PHASE, visit.end_s)


def _phase_at(view: RunView, where: Window, _: Place) -> Figure:
    inside = [each for each in view.visits if each.start_s <= where.start_s]
    if not inside:
        raise NotReachedError(f"had no phase at {where.start_s:.3f} s")
    return Figure(inside[-1].phase, where.start_s)


def _visits(view: RunView, where: Window, arguments: OfPhases) -> Figure:
    for phase in arguments.phases:
        view.require_phase(phase)
    found = [
        each for each in view.visits if each.phase in arguments.phases and where.start_s <= each.start_s < where.end_s
    ]
    return Figure(float(len(found)), found[0].start_s if found else where.end_s)


def _start(view: RunView, where: Window, _: Place) -> Figure:
    return Figure(where.start_s, where.start_s)


def _seconds(view: RunView, where: Window, _: Place) -> Figure:
    """A visit that did not end takes for ever."""
    visit = where.of_phase
    return Figure(visit.end_s - where.start_s if visit.after else math.inf, visit.end_s)


def _apart(view: RunView, where: Window, arguments: Place) -> Figure:
    """From the end of a visit to the next visit of the same phase."""
    visit = where.complete
    later = [each for each in view.visits if each.phase == visit.phase and each.start_s > visit.end_s]
    if not later:
        raise NotReachedError(f"did not come to `{visit.phase}` again after {visit.end_s:.3f} s")
    return Figure(later[0].start_s - visit.end_s, later[0].start_s)


def _rounds(view: RunView, where: Window, arguments: SinceGrowth) -> Figure:
    """Rounds in a visit, or since a field last grew in it; a visit that did not end takes for ever."""
    visit = where.of_phase
    if not visit.after:
        return Figure(math.inf, visit.end_s)
    start_s = where.start_s
    if name := arguments.since_growth_of:
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


def _value(view: RunView, where: Window, arguments: FieldAt) -> Figure:
    """A field; with `relative_to`, over another field at the same time, or at `relative_at`."""
    name, at, base = arguments.field, arguments.at, arguments.relative_to
    if base is None:
        return Figure(*_picked(view, name, where, at))
    if arguments.relative_at is not None or at not in ("least", "most"):
        value, at_s = _picked(view, name, where, at)
        return Figure(_ratio(value, _picked(view, base, where, arguments.relative_at or at)[0]), at_s)
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


def _time_to(view: RunView, where: Window, arguments: FieldPasses) -> Figure:
    """Until a field, over `relative_to`, is `above` or `below` a number; in rounds with `in_rounds`."""
    name, base = arguments.field, arguments.relative_to
    times, values = view.within(name, where.start_s, where.end_s)
    for time_s, value in zip(times.tolist(), values.tolist(), strict=True):
        ratio = value if base is None else _ratio(value, view.value_at(base, time_s))
        above, below = arguments.above, arguments.below
        if (above is not None and ratio > above) or (below is not None and ratio < below):
            if arguments.in_rounds:
                return Figure(
                    view.value_at("round_count", time_s) - view.value_at("round_count", where.start_s), time_s
                )
            return Figure(time_s - where.start_s, time_s)
    return Figure(math.inf, where.end_s)


def _doublings(view: RunView, where: Window, arguments: OfField) -> Figure:
    """Return the doublings of a field's growth, per round: 1 is twice as much in every round."""
    name = arguments.field
    times, counts = view.within("round_count", where.start_s, where.end_s)
    edges = times[numpy.concatenate([[True], counts[1:] > counts[:-1]])].tolist()
    grown = [view.value_at(name, right) - view.value_at(name, left) for left, right in itertools.pairwise(edges)]
    growing = [each for each in grown if each > 0.0]
    if len(growing) < 3:
        raise NotReachedError(f"`{name}` grew in {len(growing)} rounds only: three are needed")
    return Figure(math.log2(growing[-1] / growing[0]) / (len(growing) - 1), where.end_s)


def _throughput(view: RunView, where: Window, arguments: OfCapacity) -> Figure:
    """New payload that arrived, as a fraction of what the bottleneck, or a link of `of_mbps`, could carry."""
    flow = arguments.flow
    arrived = view.packets_of(flow).of("deliver", where.start_s, where.end_s)
    if mbps := arguments.of_mbps:
        could = mbps * 1e6 / 8.0 * (where.end_s - where.start_s) * view.payload_bytes / view.packet_bytes
    else:
        could = view.carried_bytes(where.start_s, where.end_s)
    return Figure(float(arrived.data_bytes.sum()) / could, where.end_s)


def _lost(view: RunView, where: Window, arguments: OfFlow) -> Figure:
    """Data packets dropped on the path, as a fraction of those sent."""
    packets = view.packets_of(arguments.flow)
    sent, dropped = (packets.of(event, where.start_s, where.end_s) for event in ("send", "drop"))
    if not len(sent):
        raise NotReachedError(f"sent nothing from {where.start_s:.3f} s to {where.end_s:.3f} s")
    return Figure(len(dropped) / len(sent), float(dropped.time_s[0]) if len(dropped) else where.end_s)


def _count(view: RunView, where: Window, arguments: OfEvent) -> Figure:
    """Packet events of a kind."""
    found = view.packets_of(arguments.flow).of(arguments.event, where.start_s, where.end_s)
    return Figure(float(len(found)), float(found.time_s[0]) if len(found) else where.end_s)


def _spurious(view: RunView, where: Window, _: Place) -> Figure:
    """Packets that the sender declared lost and that had not been dropped."""
    if not view.is_built_in:
        raise UnseenError("needs the controller's state (packets declared lost)")
    dropped = set(view.packets.of("drop").seq.tolist())
    declared = view.packets.of("lost", where.start_s, where.end_s)
    wrong = [place for place, seq in enumerate(declared.seq.tolist()) if seq not in dropped]
    return Figure(float(len(wrong)), float(declared.time_s[wrong[0]]) if wrong else where.end_s)


def _queue_delay(view: RunView, where: Window, arguments: Percentile) -> Figure:
    """A percentile of the one-way delay of data above its smallest in the run, ms."""
    arrived = view.packets_of(arguments.flow).of("deliver")
    inside = arrived.delay_ms[(arrived.time_s >= where.start_s) & (arrived.time_s < where.end_s)]
    if not len(inside):
        raise NotReachedError(f"nothing arrived from {where.start_s:.3f} s to {where.end_s:.3f} s")
    share = arguments.percentile
    return Figure(float(numpy.percentile(inside, share) - arrived.delay_ms.min()), where.end_s)


def _changes(view: RunView, where: Window, arguments: FieldFalls) -> list[tuple[float, float]]:
    """When a field fell by at least the share `by` (a tenth) from one event to the next, and to which share of it."""
    times, values = view.within(arguments.field, where.start_s, where.end_s)
    by = arguments.by
    pairs = zip(times[1:].tolist(), values.tolist(), values[1:].tolist(), strict=False)
    return [
        (time_s, after / before) for time_s, before, after in pairs if after < before and after <= before * (1.0 - by)
    ]


def _fall(view: RunView, where: Window, arguments: NthFall) -> Figure:
    """Return the share of a field that is left after its `nth_fall` fall."""
    found, nth = _changes(view, where, arguments), arguments.nth_fall
    if len(found) < nth:
        raise NotReachedError(f"`{arguments.field}` fell {len(found)} times: {nth} are needed")
    at_s, share = found[nth - 1]
    return Figure(share, at_s)


def _falls(view: RunView, where: Window, arguments: FieldFalls) -> Figure:
    found = _changes(view, where, arguments)
    return Figure(float(len(found)), found[-1][0] if found else where.end_s)


def _round_trips(view: RunView, start_s: float, end_s: float) -> float:
    """Round trips of a span, by the smoothed RTT."""
    times, rtt_ms = view.within("srtt", start_s, end_s)
    return float((numpy.diff(numpy.append(times, end_s)) / (rtt_ms / 1e3)).sum())


def _growth(view: RunView, where: Window, arguments: OfField) -> Figure:
    """Return the growth of a field for each round trip."""
    name = arguments.field
    grown = view.value_before(name, where.end_s) - view.value_at(name, where.start_s)
    return Figure(grown / _round_trips(view, where.start_s, where.end_s), where.end_s)


def _factor(view: RunView, where: Window, arguments: OfField) -> Figure:
    """The factor by which a field grew for each round trip: 2 is doubling."""
    name = arguments.field
    factor = view.value_before(name, where.end_s) / view.value_at(name, where.start_s)
    return Figure(float(factor ** (1.0 / _round_trips(view, where.start_s, where.end_s))), where.end_s)


def _cubic_error(view: RunView, where: Window, arguments: Cubic) -> Figure:
    """Return the largest distance of the window from W_cubic(t) (RFC 9438 4.2), as a share of W_max."""
    falls = [time_s for time_s, _ in _changes(view, Window(0.0, where.start_s + 1e-9), FieldFalls(field="cwnd"))]
    if not falls:
        raise NotReachedError("the window did not fall before")
    times, _ = view.series("k")
    later = times[(times >= falls[-1]) & (times <= where.end_s)]
    if not len(later):
        raise NotReachedError("no epoch began after the window fell")
    began_s = float(later[0])
    # an epoch that begins with the loss, not with the first ACK after it, begins with the window that is left
    first = min(view.value_before("cwnd", began_s), view.value_at("cwnd", began_s))
    w_max = view.value_at("w_max", began_s)
    c = arguments.c
    k = ((w_max - first) / c) ** (1.0 / 3.0)
    times, cwnd = view.within("cwnd", max(where.start_s, began_s), where.end_s)
    off = numpy.abs(cwnd - (c * (times - began_s - k) ** 3 + w_max)) / w_max
    place = int(off.argmax())
    return Figure(float(off[place]), float(times[place]))


def _first_burst(view: RunView, where: Window, _: Place) -> Figure:
    """Data packets that left before the first ACK of one came back."""
    sent = view.packets.of("send", where.start_s, where.end_s)
    sent_s = sent.time_s[sent.data_bytes > 0]
    if not len(sent_s):
        raise NotReachedError("sent no data")
    back_s = float(sent_s[0]) + view.base_rtt_ms / 1e3
    return Figure(float((sent_s <= back_s).sum()), back_s)


def _largest_burst(view: RunView, where: Window, arguments: Burst) -> Figure:
    """The most data packets that left one after another, each within `gap_us` of the one before."""
    sent = view.packets.of("send", where.start_s, where.end_s)
    if not len(sent):
        raise NotReachedError(f"sent nothing from {where.start_s:.3f} s to {where.end_s:.3f} s")
    breaks = numpy.flatnonzero(numpy.diff(sent.time_s) > arguments.gap_us / 1e6) + 1
    starts = numpy.concatenate([[0], breaks])
    lengths = numpy.diff(numpy.append(starts, len(sent)))
    place = int(lengths.argmax())
    return Figure(float(lengths[place]), float(sent.time_s[starts[place]]))


def _backoff(view: RunView, where: Window, arguments: Silence) -> Figure:
    """The median ratio of one silence between transmissions, of at least `silence_s`, to the one before it."""
    gaps = numpy.diff(view.packets.of("send", where.start_s, where.end_s).time_s)
    gaps = gaps[gaps >= arguments.silence_s]
    if len(gaps) < 3:
        raise NotReachedError(f"there were {len(gaps)} silences: three are needed")
    return Figure(float(numpy.median(gaps[1:] / gaps[:-1])), where.end_s)


def _arrived_bytes(view: RunView, flow: int, where: Window) -> float:
    return float(view.packets_of(flow).of("deliver", where.start_s, where.end_s).data_bytes.sum())


def _share(view: RunView, where: Window, arguments: OfFlow) -> Figure:
    """Payload that arrived of a `flow`, over the mean of all flows."""
    flows = range(1, len(view.specification["flows"]) + 1)
    arrived = {flow: _arrived_bytes(view, flow, where) for flow in flows}
    mean = sum(arrived.values()) / len(arrived)
    if not mean:
        raise NotReachedError("nothing arrived")
    return Figure(arrived[arguments.flow] / mean, where.end_s)


def _jain(view: RunView, where: Window, _: Place) -> Figure:
    """Jain's index of the payload that arrived of each flow."""
    arrived = [_arrived_bytes(view, flow, where) for flow in range(1, len(view.specification["flows"]) + 1)]
    (index,) = core.jain_index([arrived])
    if index is None:
        raise NotReachedError("nothing arrived")
    return Figure(float(index), where.end_s)


def _completion(view: RunView, where: Window, arguments: Transfer) -> Figure:
    """From the start of a flow to the arrival of its `bytes`; for ever if they did not all arrive."""
    flow = arguments.flow
    arrived = view.packets_of(flow).of("deliver")
    total = numpy.cumsum(arrived.data_bytes)
    start_s = float(view.specification["flows"][flow - 1]["start_s"])
    done = numpy.flatnonzero(total >= arguments.bytes)
    if not len(done):
        return Figure(math.inf, where.end_s)
    at_s = float(arrived.time_s[done[0]])
    return Figure(at_s - start_s, at_s)


def _sending(view: RunView, where: Window, arguments: OfFlow) -> Figure:
    """Bytes sent, as a fraction of what the bottleneck could carry."""
    sent = view.packets_of(arguments.flow).of("send", where.start_s, where.end_s)
    could = view.carried_bytes(where.start_s, where.end_s) * view.packet_bytes / view.payload_bytes
    return Figure(float(sent.size_bytes.sum()) / could, where.end_s)


def _marks(view: RunView, where: Window, _: Place) -> Figure:
    """Packets marked for each round trip."""
    marked = view.packets.of("mark", where.start_s, where.end_s)
    return Figure(len(marked) / _round_trips(view, where.start_s, where.end_s), where.end_s)


def _window_ratio(view: RunView, where: Window, arguments: Formula) -> Figure:
    """The mean window (payload delivered for each base RTT) over what a formula says for a probability of loss."""
    rtt_s, loss = view.base_rtt_ms / 1e3, arguments.loss
    model = 1.22 / math.sqrt(loss) if arguments.model == "reno" else 1.054 * (rtt_s / loss) ** 0.75
    rate = _arrived_bytes(view, 1, where) / (where.end_s - where.start_s)
    return Figure(rate * rtt_s / view.payload_bytes / model, where.end_s)


def _transport(view: RunView, where: Window, arguments: TransportKey) -> Figure:
    """A word that the transport is set to."""
    return Figure(view.transport(arguments.key), where.start_s)


_STEP_S = 0.001
"""Resolution of what is in flight, s."""


def _dips(view: RunView, where: Window, arguments: Dip) -> list[tuple[float, float]]:
    """Spans of at least `lasts_s` with at most `below` BDP of the path in flight: sent, and no ACK back yet."""
    packets = view.packets
    edges = numpy.arange(where.start_s, where.end_s, _STEP_S)
    back_s = view.ack_delay_ms / 1e3
    sent, dropped = (numpy.searchsorted(packets.of(event).time_s, edges, "right") for event in ("send", "drop"))
    acknowledged = numpy.searchsorted(packets.of("deliver").time_s + back_s, edges, "right")
    bdp = numpy.array([view.capacity_mbps(float(t)) for t in edges]) * view.base_rtt_ms * 1e3 / 8.0 / view.payload_bytes
    low = sent - dropped - acknowledged <= arguments.below * bdp
    found: list[tuple[float, float]] = []
    began: float | None = None
    for time_s, is_low in zip(edges.tolist(), low.tolist(), strict=True):
        if is_low and began is None:
            began = time_s
        elif not is_low and began is not None:
            found.append((began, time_s))
            began = None
    return [(start_s, end_s) for start_s, end_s in found if end_s - start_s >= arguments.lasts_s]


def _dip_period(view: RunView, where: Window, arguments: Dip) -> Figure:
    """From the beginning of a dip to that of the next one: the median."""
    dips = _dips(view, where, arguments)
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
"""Every measurement by its name in case files."""
