"""A path in words: `100.42 Mbit/s, 173-packet drop-tail, 27 ms each way`."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from dumbbell.catalog.description import describe
from dumbbell.catalog.path import PathModel
from dumbbell.results.numbers import is_number

Element = Mapping[str, Any]

_QUEUES = {
    "droptail": "drop-tail",
    "drophead": "drop-head",
    "infinite": "unlimited queue",
    "codel": "CoDel",
    "fq-codel": "FQ-CoDel",
    "pie": "PIE",
    "red": "RED",
    "cobalt": "COBALT",
    "dualpi2": "DualPI2",
    "step": "queue with a step of marks",
    "ack-filter": "drop-tail with an ACK filter",
}


def path_words(path: PathModel) -> str:
    """Return the data direction, the delay, and the elements for ACKs; all settings are in the experiment file."""
    if not path.data and not path.ack:
        return "the network between them as it was"
    spec = path.spec()
    rates = {(link.direction, link.element): link.rate_mbps for link in describe(spec).links}
    data, ack = (
        [
            words
            for index, element in enumerate(elements)
            if element["kind"] != "delay" and (words := _words(element, rates.get((direction, index))))
        ]
        for direction, elements in (("data", spec["data"]), ("ack", spec["ack"]))
    )
    data_ms, ack_ms = _delay_ms(path.data), _delay_ms(path.ack)
    delay = (
        f"{_plain(data_ms)} ms each way"
        if data_ms == ack_ms
        else f"{_plain(data_ms)} ms there, {_plain(ack_ms)} ms back"
    )
    changes = len(path.schedule)
    mtu = [f"MTU changed {'once' if changes == 1 else f'{changes} times'} in a run"] if changes else []
    text = ", ".join([*data, delay, *mtu])
    return f"{text}; ACKs meet {', '.join(ack)}" if ack else text


def data_words(path: PathModel) -> list[str]:
    """Return the elements that data passes in words, in the order of the path."""
    spec = path.spec()
    rates = {link.element: link.rate_mbps for link in describe(spec).links if link.direction == "data"}
    return [
        f"{_plain(element['delay_ms'])} ms" if element["kind"] == "delay" else _words(element, rates.get(index))
        for index, element in enumerate(spec["data"])
    ]


def _delay_ms(elements: Sequence[Element]) -> float:
    return sum(float(element["delay_ms"]) for element in elements if element["kind"] == "delay")


def _words(element: Element, rate_mbps: float | None) -> str:
    """Return the effect of an element on packets, in words."""
    kind = str(element["kind"])
    parts = [_KINDS[kind](element, rate_mbps) if kind in _KINDS else _settings(element)]
    queue = element.get("queue")
    parts += [queue_words(queue)] if queue else []
    if changes := element.get("schedule"):
        parts.append(f"changed {'once' if len(changes) == 1 else f'{len(changes)} times'} in a run")
    parts += ["wandering at random"] if element.get("walk") else []
    return ", ".join(parts)


def queue_words(queue: Element) -> str:
    """Return a queue in words: `173-packet drop-tail`, `250 kB CoDel`."""
    kind = _QUEUES.get(str(queue.get("kind")), str(queue.get("kind")))
    limits = [f"{_plain(queue['packets'])}-packet"] if queue.get("packets") is not None else []
    if queue.get("bytes") is not None:
        limits.append(f"{_plain(queue['bytes'] / 1000)} kB")
    return " ".join([*limits, kind])


def _rate(rate_mbps: float | None) -> str:
    if rate_mbps is None:
        return "a link without a limit"
    return f"{_plain(rate_mbps / 1000)} Gbit/s" if rate_mbps >= 1000 else f"{_plain(round(rate_mbps, 3))} Mbit/s"


def _framing(element: Element) -> str:
    """Return the bytes that a link adds to each packet, in words."""
    framing = element.get("framing_bytes")
    return f" with {_plain(framing)} bytes of framing per packet" if framing else ""


def is_even(trace: Element) -> bool:
    """Return True if the opportunities of a trace are equidistant: the link then has a constant rate."""
    return "even" in trace or len(set(trace.get("times_ms", ()))) == 1


def _trace(element: Element, rate_mbps: float | None) -> str:
    if "poisson" in element:
        return f"{_rate(element['poisson']['rate_mbps'])} in Poisson opportunities"
    return _rate(rate_mbps) if is_even(element) else f"a trace of {_rate(rate_mbps)} on average"


def _loss(element: Element) -> str:
    """Return the lost packets in words: a percentage of all, or the settings."""
    limits = ("every", "keep_every", "packets", "min_bytes", "max_bytes")
    if any(element.get(key) is not None for key in limits):
        return _settings(element)
    return f"{_plain(100 * element['probability'])} % loss"


def _turns(element: Element) -> str:
    """Return the cost of a turn and its maximum packets, in words."""
    access, packets = element.get("access_us"), element.get("turn_packets", 1)
    cost = f", {_plain(access)} us each" if access else ""
    return f"{cost}, up to {_plain(packets)} packets in one" if packets > 1 else cost


_KINDS: dict[str, Callable[[Element, float | None], str]] = {
    "link": lambda element, rate: f"{_rate(rate)}{_framing(element)}",
    "trace": _trace,
    "poisson": lambda _, rate: f"{_rate(rate)} in Poisson opportunities",
    "cellular": lambda _, rate: f"a cellular link of {_rate(rate)} on average",
    "shaper": lambda _, rate: f"shaped to {_rate(rate)}",
    "policer": lambda _, rate: f"policed to {_rate(rate)}",
    "loss": lambda element, _: _loss(element),
    "half-duplex": lambda element, rate: f"turns on a shared channel of {_rate(rate)}{_turns(element)}",
}


def _settings(element: Element) -> str:
    """Return `kind (key value, key value)` for an element without words of its own."""
    values = {key: value for key, value in element.items() if key not in ("kind", "name", "queue", "schedule", "walk")}
    inside = ", ".join(f"{key} {_plain(value)}" for key, value in values.items())
    return f"{element['kind']} ({inside})" if inside else str(element["kind"])


def _plain(value: object) -> str:
    return f"{value:.10g}" if is_number(value) else str(value).lower()
