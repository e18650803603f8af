"""What a path is, as the core describes it: base RTT, capacity, loss, links and bottleneck."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dumbbell.contract.paths import Steps
from dumbbell.core.paths import describe_path

Changes = tuple[Sequence[float], Sequence[float]]
"""Times (s since the start of the run, the first is 0), and the values that hold from then on."""


@dataclass(frozen=True)
class Link:
    """One link as the run starts.

    `name` is that in statistics (`data/link`), `element` its number among the elements of its direction, from 0.
    `rate_mbps` is what it can carry on average; None without a limit.
    """

    name: str
    direction: str
    element: int
    kind: str
    rate_mbps: float | None


@dataclass(frozen=True)
class Delay:
    """A delay of every packet as the run starts: the setting `delay_ms` of the element with this number."""

    direction: str
    element: int
    delay_ms: float


@dataclass(frozen=True)
class Description:
    """A path; a flow's own base RTT is not looked at.

    None where a quantity does not follow from the path alone: that of a trace or a random walk, or of no element.
    Rate, loss (a probability) and bottleneck are those of the data direction, the base RTT is that of both together:
    the sum of the `delays`.
    """

    base_rtt_ms: float
    base_rtts_ms: Changes | None
    rates_mbps: Changes | None
    losses: Changes | None
    delays: tuple[Delay, ...]
    links: tuple[Link, ...]
    bottleneck: Link | None

    @property
    def changes_s(self) -> list[float]:
        """When any of them changes."""
        known = [changes for changes in (self.rates_mbps, self.base_rtts_ms, self.losses) if changes]
        return sorted({time_s for times, _ in known for time_s in times[1:]})


def describe(path: Mapping[str, object]) -> Description:
    """What a path of a run specification is.

    Raises:
        core.Error: it cannot be built.
    """
    found = describe_path(path)
    links = tuple(Link(**link) for link in found["links"])
    bottleneck = found["bottleneck"]
    return Description(
        base_rtt_ms=found["base_rtt_ms"],
        base_rtts_ms=_changes(found["base_rtts_ms"]),
        rates_mbps=_changes(found["rates_mbps"]),
        losses=_changes(found["losses"]),
        delays=tuple(Delay(**delay) for delay in found["delays"]),
        links=links,
        bottleneck=None if bottleneck is None else links[bottleneck],
    )


def _changes(steps: Steps | None) -> Changes | None:
    return None if steps is None else ([at_s for at_s, _ in steps], [value for _, value in steps])
