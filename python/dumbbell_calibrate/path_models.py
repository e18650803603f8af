"""Candidate models of a path, from the simplest to a cellular link.

A model is one entry of `MODELS`: the names of its knobs, and a function that makes the elements of both directions from
their values. A knob is one entry of `KNOBS`: its range, given the measured points. Knobs of `HOSTS` describe
the hosts at the ends of a path. Any model may have them, and the simulator takes their values directly.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median

from dumbbell.catalog.open_tables import Element, Queue
from dumbbell_calibrate.target import Point

Values = Mapping[str, float]
Elements = tuple[list[Element], list[Element]]
"""Elements of the data direction and of the ACK direction."""

FULL_PACKET_BYTES = 1500
_LEAST_QUEUE_PACKETS = 2
_UNTOLD_WIDTH = 0.15
"""`Knob.width` of a rate that perhaps no scheme reaches."""


@dataclass(frozen=True)
class Hints:
    """Ranges of the measured points, from which the bounds of parameters follow."""

    most_mbps: float
    """Highest throughput of all flows of a run together."""
    least_ms: float
    most_ms: float
    losses: tuple[float, ...]

    @classmethod
    def of(cls, points: Sequence[Point]) -> "Hints":
        """Return the hints in the points of some schemes."""
        rates: dict[str, float] = {}
        for point in points:
            rates[point.scheme] = rates.get(point.scheme, 0.0) + point.throughput_mbps.mean
        delays = [point.delay_p95_ms.mean for point in points]
        losses = tuple(point.loss_rate.mean for point in points if point.loss_rate is not None)
        return cls(max(rates.values()), min(delays), max(delays), losses)

    @property
    def queue_ms(self) -> float:
        """Approximate longest queueing delay, ms."""
        return max(self.most_ms - self.least_ms, 0.1 * self.least_ms)


@dataclass(frozen=True)
class Knob:
    """A parameter of a model: its bounds, the start of the search, and its scale."""

    name: str
    unit: str
    low: float
    high: float
    start: float
    power: float = 1.0
    """Values are `low + (high - low) * u ** power` for u from 0 to 1; 0 stands for a logarithmic scale."""
    width: float = 0.1
    """Standard deviation of the first tried places, as a share of the scale. It is small if points show the value
    directly."""

    def value(self, u: float) -> float:
        """Return the value at a place from 0 to 1, with the significant digits."""
        u = min(max(u, 0.0), 1.0)
        if self.power == 0.0:
            value = self.low * (self.high / self.low) ** u
        else:
            value = self.low + (self.high - self.low) * u**self.power
        return float(f"{value:.5g}")

    def place(self, value: float) -> float:
        """Return the place of a value on the knob's scale, from 0 to 1."""
        value = min(max(value, self.low), self.high)
        if self.power == 0.0:
            return math.log(value / self.low) / math.log(self.high / self.low)
        return float(((value - self.low) / (self.high - self.low)) ** (1.0 / self.power))


def _rate(hints: Hints) -> Knob:
    # with random loss no scheme of a table may fill the link
    return Knob("rate_mbps", "Mbit/s", 0.8 * hints.most_mbps, 4.0 * hints.most_mbps, 1.01 * hints.most_mbps, 0.0, 0.02)


def _delay(hints: Hints) -> Knob:
    # the shortest delay contains the link's time for one packet at least
    sending_ms = FULL_PACKET_BYTES * 8e-3 / hints.most_mbps
    return Knob("delay_ms", "ms", 0.001, hints.least_ms, max(hints.least_ms - sending_ms, 0.3 * hints.least_ms))


def _queue(hints: Hints) -> Knob:
    return Knob("queue_ms", "ms", 0.01 * hints.queue_ms, 4.0 * hints.queue_ms, hints.queue_ms, 0.0, 0.03)


def _loss(hints: Hints) -> Knob:
    highest = min(max(4.0 * median(hints.losses), 0.1), 0.5) if hints.losses else 0.1
    # the cube separates small losses, which matter most, and includes zero
    return Knob("loss", "probability", 0.0, highest, min(min(hints.losses, default=0.0) + 1e-4, highest), 3.0)


def _slot(hints: Hints) -> Knob:
    return Knob("slot_ms", "ms", 0.2, max(2.0 * hints.queue_ms, 2.0), min(5.0, hints.queue_ms), 0.0)


def _jitter(hints: Hints) -> Knob:
    return Knob("jitter_ms", "ms", 0.005 * hints.queue_ms, hints.queue_ms, 0.03 * hints.queue_ms, 0.0)


def _swing(_: Hints) -> Knob:
    return Knob("swing", "of the rate", 0.01, 0.95, 0.3)


def _pace(_: Hints) -> Knob:
    return Knob("pace", "of the rate per 100 ms", 0.002, 0.5, 0.05, 0.0)


def _sigma(_: Hints) -> Knob:
    return Knob("sigma", "of the rate per sqrt(s)", 0.05, 2.0, 0.4, 0.0)


def _reversion(_: Hints) -> Knob:
    return Knob("reversion_per_s", "1/s", 0.1, 20.0, 1.0, 0.0)


def _escape(_: Hints) -> Knob:
    return Knob("escape_per_s", "1/s", 0.3, 50.0, 5.0, 0.0)


def _ack_delay(hints: Hints) -> Knob:
    return Knob("ack_delay_ms", "ms", 0.001, 4.0 * hints.least_ms, hints.least_ms)


def _least_share(_: Hints) -> Knob:
    return Knob("least_share", "of the rate", 0.02, 1.0, 0.3, 0.0)


def _full(hints: Hints) -> Knob:
    return Knob("full_ms", "ms", 0.01 * hints.queue_ms, 2.0 * hints.queue_ms, 0.1 * hints.queue_ms, 0.0)


def _request(_: Hints) -> Knob:
    # 3GPP TS 36.213 table 10.1.5-1: scheduling request opportunities are 1 to 80 ms apart
    return Knob("request_ms", "ms", 1.0, 80.0, 10.0, 0.0)


def _grant(_: Hints) -> Knob:
    return Knob("grant_ms", "ms", 0.5, 50.0, 8.0, 0.0)


def _spread(_: Hints) -> Knob:
    return Knob("spread_ms", "ms", 0.1, 50.0, 5.0, 0.0)


def _send_buffer(hints: Hints) -> Knob:
    # bytes in flight at the highest throughput, with the shortest and with the longest round trip
    least, highest = (
        hints.most_mbps * rtt_ms / 8.0 for rtt_ms in (2.0 * hints.least_ms, hints.most_ms + hints.least_ms)
    )
    return Knob("send_buffer_kb", "kB", max(0.1 * least, 3.0), 4.0 * highest, max(highest, 3.0), 0.0)


def _host_jitter(_: Hints) -> Knob:
    return Knob("host_jitter_us", "us", 1.0, 5000.0, 20.0, 0.0)


KNOBS: dict[str, Callable[[Hints], Knob]] = {
    "rate_mbps": _rate,
    "delay_ms": _delay,
    "queue_ms": _queue,
    "loss": _loss,
    "slot_ms": _slot,
    "jitter_ms": _jitter,
    "swing": _swing,
    "pace": _pace,
    "sigma": _sigma,
    "reversion_per_s": _reversion,
    "escape_per_s": _escape,
    "ack_delay_ms": _ack_delay,
    "least_share": _least_share,
    "full_ms": _full,
    "request_ms": _request,
    "grant_ms": _grant,
    "spread_ms": _spread,
    "send_buffer_kb": _send_buffer,
    "host_jitter_us": _host_jitter,
}

HOSTS: dict[str, Callable[[float], tuple[str, float]]] = {
    "send_buffer_kb": lambda value: ("send_buffer_bytes", round(1000.0 * value)),
    "host_jitter_us": lambda value: ("host_jitter_us", value),
}
"""Knobs of hosts: the name and value of the setting that each knob stands for."""


def host_settings(values: Values) -> dict[str, float]:
    """Return the host settings for the values of a model's knobs."""
    return dict(HOSTS[name](value) for name, value in values.items() if name in HOSTS)


@dataclass(frozen=True)
class Model:
    """A path model. Its search begins at the fitted values of the model `after`, for the knobs that both have."""

    name: str
    title: str
    knobs: tuple[str, ...]
    elements: Callable[[Values], Elements]
    after: str = ""

    def at(self, hints: Hints) -> list[Knob]:
        """Return the model's knobs with their ranges."""
        knobs = [KNOBS[name](hints) for name in self.knobs]
        if "send_buffer_kb" not in self.knobs:
            return knobs
        # if buffers limit the senders, the highest throughput does not show the rate
        return [replace(knob, width=_UNTOLD_WIDTH) if knob.name == "rate_mbps" else knob for knob in knobs]


def droptail(values: Values) -> Queue:
    """Return a queue counted in bytes that takes `queue_ms` to drain."""
    least = _LEAST_QUEUE_PACKETS * FULL_PACKET_BYTES
    return {"kind": "droptail", "bytes": max(round(values["rate_mbps"] * values["queue_ms"] * 125.0), least)}


def counted(values: Values) -> Queue:
    """Return the queue of `droptail` counted in packets, whatever their size."""
    return {"kind": "droptail", "packets": max(droptail(values)["bytes"] // FULL_PACKET_BYTES, _LEAST_QUEUE_PACKETS)}


def around(link: Element, values: Values, *behind: Element) -> Elements:
    """Return the elements of a path: the bottleneck, random loss if the model has it, elements `behind`, and delay.

    ACKs have the delay of the data unless the model has a separate ACK delay.
    """
    delay, back = ({"kind": "delay", "delay_ms": values[name]} for name in ("delay_ms", _back(values)))
    loss = [{"kind": "loss", "probability": values["loss"]}] if values.get("loss") else []
    return [link | {"name": "bottleneck"}, *loss, *behind, delay], [back]


def _back(values: Values) -> str:
    return "ack_delay_ms" if "ack_delay_ms" in values else "delay_ms"


def _link(values: Values) -> Element:
    return {"kind": "link", "rate_mbps": values["rate_mbps"], "queue": droptail(values)}


def _rate_delay(values: Values) -> Elements:
    return around({"kind": "link", "rate_mbps": values["rate_mbps"]}, values)


def _constant(values: Values) -> Elements:
    return around(_link(values), values)


def _packets(values: Values) -> Elements:
    return around(_link(values) | {"queue": counted(values)}, values)


def _codel(values: Values) -> Elements:
    return around(_link(values) | {"queue": droptail(values) | {"kind": "codel"}}, values)


def _poisson(values: Values) -> Elements:
    return around(_link(values) | {"kind": "poisson"}, values)


def _slotted(values: Values) -> Elements:
    return around(_link(values), values, {"kind": "slotted", "slot_ms": values["slot_ms"]})


def _jittered(values: Values) -> Elements:
    jitter = {"kind": "jitter", "distribution": "exponential", "mean_ms": values["jitter_ms"]}
    return around(_link(values), values, jitter)


def _wandering(values: Values, least_mbps: float = 0.0) -> Element:
    rate, swing = values["rate_mbps"], values["swing"]
    lowest = max((1.0 - swing) * rate, least_mbps)
    walk = {"corr": 0.0, "std": values["pace"] * rate, "min": lowest, "max": (1.0 + swing) * rate}
    return {"walk": {"interval_ms": 100.0, "rate_mbps": {key: float(f"{value:.5g}") for key, value in walk.items()}}}


def _walk(values: Values) -> Elements:
    return around(_link(values) | _wandering(values), values)


def _shared_link(values: Values) -> Element:
    return {
        "kind": "shared",
        "rate_mbps": values["rate_mbps"],
        "least_mbps": float(f"{values['rate_mbps'] * values['least_share']:.5g}"),
        "full_bytes": round(values["rate_mbps"] * values["full_ms"] * 125.0),
        "queue": counted(values),
    }


def _shared(values: Values) -> Elements:
    return around(_shared_link(values), values)


def _granted(values: Values) -> Elements:
    link = _shared_link(values)
    if "swing" in values:
        link |= _wandering(values, link["least_mbps"])
    data, ack = around(link, values)
    grants = {"kind": "granted", "name": "uplink"} | {key: values[key] for key in _GRANTS}
    return data, [grants, *ack]


def _poisson_packets(values: Values) -> Elements:
    return around(_link(values) | {"kind": "poisson", "queue": counted(values)}, values)


def _cellular(values: Values) -> Elements:
    per_s = values["rate_mbps"] * 1e6 / 8.0 / FULL_PACKET_BYTES
    link = {
        "kind": "cellular",
        "mean_mbps": values["rate_mbps"],
        "sigma": float(f"{values['sigma'] * per_s:.5g}"),
        "reversion_per_s": values["reversion_per_s"],
        "outage_escape_per_s": values["escape_per_s"],
        "queue": droptail(values),
    }
    return around(link, values)


def _recorded(preset: str) -> Callable[[Values], Elements]:
    """Return the rate process of a shipped link fitted to a recording, with another mean rate."""

    def elements(values: Values) -> Elements:
        from dumbbell import catalog

        cellular_link = next(element for element in catalog.paths().find(preset).data if element["kind"] == "cellular")
        shape = {key: value for key, value in cellular_link.items() if key.endswith("_per_s")}
        return around({"kind": "cellular", "mean_mbps": values["rate_mbps"], "queue": droptail(values)} | shape, values)

    return elements


_PLAIN = ("rate_mbps", "delay_ms", "queue_ms", "loss")
_SHARED = ("rate_mbps", "delay_ms", "queue_ms", "least_share", "full_ms")
_GRANTS = ("request_ms", "grant_ms", "spread_ms")

MODELS: tuple[Model, ...] = (
    Model("rate-delay", "constant rate, endless queue", ("rate_mbps", "delay_ms"), _rate_delay),
    Model("queue", "+ queue (bytes)", _PLAIN[:3], _constant, after="rate-delay"),
    Model(
        "buffer",
        "endless queue, + the sender's buffer",
        ("rate_mbps", "delay_ms", "send_buffer_kb"),
        _rate_delay,
        after="rate-delay",
    ),
    Model("loss", "+ random loss", _PLAIN, _constant, after="queue"),
    Model("buffer-loss", "queue, random loss, + the sender's buffer", (*_PLAIN, "send_buffer_kb"), _constant, "buffer"),
    Model("host-jitter", "+ jitter of the hosts", (*_PLAIN, "host_jitter_us"), _constant, after="loss"),
    Model("asymmetric", "+ a delay of the ACKs of its own", (*_PLAIN, "ack_delay_ms"), _constant, after="loss"),
    Model("packets", "queue counted in packets", _PLAIN, _packets, after="loss"),
    Model("codel", "queue managed by CoDel (RFC 8289)", _PLAIN, _codel, after="loss"),
    Model("poisson", "Poisson deliveries", _PLAIN, _poisson, after="loss"),
    Model(
        "poisson-packets",
        "Poisson deliveries, queue counted in packets, + a delay of the ACKs of its own",
        (*_PLAIN, "ack_delay_ms"),
        _poisson_packets,
        after="poisson",
    ),
    Model("jitter", "+ jitter", (*_PLAIN, "jitter_ms"), _jittered, after="loss"),
    Model("slotted", "+ deliveries in slots", (*_PLAIN, "slot_ms"), _slotted, after="loss"),
    Model("walk", "+ a rate that wanders", (*_PLAIN, "swing", "pace"), _walk, after="loss"),
    Model("lte", "rate process of a recorded LTE link", _PLAIN, _recorded("cellular-att-lte-down"), after="loss"),
    Model("umts", "of a recorded UMTS link", _PLAIN, _recorded("cellular-tmobile-umts-down"), after="loss"),
    Model(
        "cellular",
        "+ a cellular rate process",
        (*_PLAIN, "sigma", "reversion_per_s", "escape_per_s"),
        _cellular,
        after="loss",
    ),
    Model("shared", "a rate that goes by what waits, queue counted in packets", _SHARED, _shared, after="packets"),
    Model("granted", "+ ACKs by grants", (*_SHARED, "ack_delay_ms", *_GRANTS), _granted, after="shared"),
    Model(
        "granted-walk",
        "+ a rate that wanders",
        (*_SHARED, "ack_delay_ms", *_GRANTS, "swing", "pace"),
        _granted,
        after="granted",
    ),
)
"""Models in the order of complexity: the first of equally good models is chosen."""
