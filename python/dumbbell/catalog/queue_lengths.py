"""Queue lengths that depend on the path (bandwidth-delay products and times), converted to packets for the core."""

from collections.abc import Sequence
from decimal import Decimal

from dumbbell.base.errors import UserError
from dumbbell.catalog.description import Description
from dumbbell.catalog.open_tables import Element, Queue
from dumbbell.catalog.quantities import queue_length, short
from dumbbell.catalog.toml_tables import TomlTable

PACKET_BYTES = 1500
"""Size of a full packet, bytes: the unit of queues given in bandwidth-delay products."""

UNITS = {"bdp": "bdp", "ms": "ms", "packets": "p", "bytes": "B"}
"""Keys of a queue for its length, with the units of `--queue`."""

_OF_PATH = ("bdp", "ms")
_SOME = 1_000_000


def packets_of(number: Decimal, unit: str, rate_mbps: float, rtt_ms: float) -> int:
    """Return the integer number of packets, at least one, in a queue of `number` `bdp` or `ms` at a rate."""
    lasts_ms = float(number) if unit == "ms" else float(number) * rtt_ms
    return max(1, round(rate_mbps * 1e6 * lasts_ms / 1e3 / 8 / PACKET_BYTES))


def is_short(element: Element) -> bool:
    """Return True if the queue of an element has a form that only `with_queues` understands.

    Such forms are a text for `--queue`, a length in `bdp` or `ms`, and a length without a kind.
    """
    queue = element.get("queue")
    if isinstance(queue, str):
        return True
    return isinstance(queue, dict) and (any(key in queue for key in _OF_PATH) or _kindless(queue))


def provisional(element: Element) -> Element:
    """Return an element with a provisional queue length, if `is_short`. No rate or delay depends on the length."""
    if not is_short(element):
        return element
    queue = element["queue"]
    rest = {} if isinstance(queue, str) else {key: value for key, value in queue.items() if key not in _OF_PATH}
    return element | {"queue": {"kind": "droptail"} | rest | {"packets": _SOME}}


def with_queues(
    elements: Sequence[Element], tables: Sequence[TomlTable], direction: str, path: Description
) -> list[Element]:
    """Return the elements of a direction with all queue lengths in packets or bytes. `tables` are their TOML tables.

    Raises:
        UserError: If a length is invalid, or needs a base RTT or a rate that the path does not have.
    """
    rates = {link.element: link.rate_mbps for link in path.links if link.direction == direction}
    return [
        element | {"queue": _queue(table, rates.get(index), path.base_rtt_ms)} if is_short(table.raw) else element
        for index, (element, table) in enumerate(zip(elements, tables, strict=True))
    ]


def _kindless(queue: Queue) -> bool:
    return "kind" not in queue and any(key in queue for key in UNITS)


def _queue(element: TomlTable, rate_mbps: float | None, rtt_ms: float) -> Queue:
    raw_queue = element.raw["queue"]
    queue: Queue = dict(raw_queue) if isinstance(raw_queue, dict) else {}
    option = f"{element.source}: `{element.prefix}queue`"
    if isinstance(raw_queue, str):
        number, unit = queue_length(raw_queue, f"{option} =")
    else:
        keys = [key for key in UNITS if key in queue]
        if len(keys) > 1 and any(key in _OF_PATH for key in keys):
            raise UserError(f"{option}: has {' and '.join(f'`{key}`' for key in keys)}: allowed is one of them")
        if keys[0] not in _OF_PATH:  # the core reads a length without a kind
            return {"kind": "droptail"} | queue
        table = TomlTable(queue, element.source, f"{element.prefix}queue.")
        value = Decimal(repr(table.number(keys[0])))
        number, unit = queue_length(f"{short(value)}{UNITS[keys[0]]}", f"{option} =")
        del queue[keys[0]]
    if unit in _OF_PATH:
        if rate_mbps is None:
            raise UserError(
                f"{option}: {short(number)} {unit} needs a rate: allowed here are packets and bytes, like 100p"
            )
        if unit == "bdp" and not rtt_ms:
            raise UserError(
                f"{option}: {short(number)} bdp needs a base RTT, and no element of the path has a `delay_ms`: "
                "give it one, or the length in packets, bytes or ms, like 100p, 150kB or 200ms"
            )
        unit, number = "packets", Decimal(packets_of(number, unit, rate_mbps, rtt_ms))
    return {"kind": "droptail"} | queue | {unit: int(number)}
