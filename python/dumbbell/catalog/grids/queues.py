"""Queue disciplines by name, with their standards' constants."""

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
"""Kinds of queues by the names of disciplines; those with an AQM also exist with `-ecn`, marking capable packets."""

_ALWAYS_ECN = (FIFO, "dualpi2")
_ECN = "-ecn"

NAMES = (*DISCIPLINES, *(f"{name}{_ECN}" for name in DISCIPLINES if name not in _ALWAYS_ECN))
"""What a discipline can be called."""


def discipline(name: str, limit: dict[str, int]) -> Queue:
    """The table of a queue: one of `NAMES` with its limit, `packets` or `bytes`, or none.

    RED's thresholds are a quarter and three quarters of the limit, which it has to have.
    """
    queue: Queue = {"kind": DISCIPLINES[name.removesuffix(_ECN)], **limit}
    if queue["kind"] == "red":
        ((unit, most),) = limit.items()
        queue |= {f"min_threshold_{unit}": max(1, most // 4), f"max_threshold_{unit}": max(2, 3 * most // 4)}
    if name.endswith(_ECN):
        queue["ecn"] = True
    return queue
