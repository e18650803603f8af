"""Queue disciplines by name, with the constants of their standards."""

from dumbbell.catalog.open_tables import Queue

FIFO = "fifo"
DISCIPLINES = {
    FIFO: "droptail",
    "red": "red",
    "codel": "codel",
    "fq-codel": "fq-codel",
    "pie": "pie",
    "cobalt": "cobalt",
    "dualpi2": "dualpi2",
}
"""Kinds of queues by discipline. Disciplines with an AQM also have a variant `-ecn`, which marks capable packets."""

_ALWAYS_ECN = (FIFO, "dualpi2")
_ECN = "-ecn"

NAMES = (*DISCIPLINES, *(f"{name}{_ECN}" for name in DISCIPLINES if name not in _ALWAYS_ECN))
"""All names of disciplines."""


def discipline(name: str, limit: dict[str, int]) -> Queue:
    """Return the table of the queue `name` (one of `NAMES`) with its limit, `packets` or `bytes`, or without one.

    RED needs a limit: its thresholds are a quarter and three quarters of the limit.
    """
    queue: Queue = {"kind": DISCIPLINES[name.removesuffix(_ECN)], **limit}
    if queue["kind"] == "red":
        ((unit, maximum),) = limit.items()
        queue |= {f"min_threshold_{unit}": max(1, maximum // 4), f"max_threshold_{unit}": max(2, 3 * maximum // 4)}
    if name.endswith(_ECN):
        queue["ecn"] = True
    return queue
