"""What the path of a run does over time: rate, base RTT and loss, as its specification and schedules give them."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Changes = tuple[Sequence[float], Sequence[float]]
"""Times (s since the start of the run, the first is 0), and the values that hold from then on."""

_LINKS = ("link", "trace", "poisson", "cellular", "shaper", "policer", "netem")


@dataclass(frozen=True)
class Network:
    """None where a quantity does not follow from the path alone: that of a trace or a random walk, or of no element.

    `loss` is a probability.
    """

    rate_mbps: Changes | None
    base_rtt_ms: Changes | None
    loss: Changes | None

    @property
    def changes_s(self) -> list[float]:
        """When any of them changes."""
        known = [changes for changes in (self.rate_mbps, self.base_rtt_ms, self.loss) if changes]
        return sorted({time_s for times, _ in known for time_s in times[1:]})


def network(specification: Mapping[str, Any]) -> Network:
    """Of the data direction: the rate of its narrowest link and its loss; and the delay of both directions together.

    Only `link`, `delay` and `loss` with a probability are understood. A flow's own `rtt_ms` is not looked at.
    """
    path = specification["path"]
    links = [element for element in path["data"] if element["kind"] in _LINKS]
    constant = all(element["kind"] == "link" for element in links)
    delays = [element for element in [*path["data"], *path["ack"]] if element["kind"] == "delay"]
    losses = [element for element in path["data"] if element["kind"] == "loss" and "probability" in element]
    return Network(
        rate_mbps=_over_time(links, "rate_mbps", min) if constant else None,
        base_rtt_ms=_over_time(delays, "delay_ms", sum),
        loss=_over_time(losses, "probability", _either),
    )


def _over_time(
    elements: Sequence[Mapping[str, Any]], key: str, combine: Callable[[Iterable[float]], float]
) -> Changes | None:
    """The combined value of `key`, whenever one of the elements changes its own."""
    if not elements or any(key in element.get("walk", {}) for element in elements):
        return None
    now = [float(element[key]) for element in elements]
    changes = sorted(
        (float(change["at_s"]), index, float(change[key]))
        for index, element in enumerate(elements)
        for change in element.get("schedule", [])
        if key in change
    )
    values = {0.0: combine(now)}
    for at_s, index, value in changes:
        now[index] = value
        values[at_s] = combine(now)
    return list(values), list(values.values())


def _either(probabilities: Iterable[float]) -> float:
    """That at least one of independent losses happens."""
    passed = 1.0
    for probability in probabilities:
        passed *= 1.0 - probability
    return 1.0 - passed
