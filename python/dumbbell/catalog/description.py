"""Description of a path by the core: base RTT, capacity, loss, links and bottleneck."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dumbbell.contract.paths import Steps
from dumbbell.core.paths import describe_path

Changes = tuple[Sequence[float], Sequence[float]]
"""Times (s since the start of the run; the first is 0), and the values from each time on."""


@dataclass(frozen=True)
class Link:
    """A link at the start of the run.

    `name` is the name in statistics (`data/link`), `element` the index among the elements of its direction, from 0.
    `rate_mbps` is the average capacity; None without a limit.
    """

    name: str
    direction: str
    element: int
    kind: str
    rate_mbps: float | None


@dataclass(frozen=True)
class Delay:
    """A constant delay of all packets at the start of the run: the setting `delay_ms` of one element."""

    direction: str
    element: int
    delay_ms: float


@dataclass(frozen=True)
class Description:
    """Description of a path, without the base RTTs of single flows.

    A quantity is None if it does not follow from the path alone, for example for a trace or a random walk, or if no
    element has it. Rate, loss (a probability) and bottleneck are those of the data direction. The base RTT is that of
    both directions: the sum of the `delays`.
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
        """Times of all changes, s."""
        all_changes = [changes for changes in (self.rates_mbps, self.base_rtts_ms, self.losses) if changes]
        return sorted({time_s for times, _ in all_changes for time_s in times[1:]})


def describe(path: Mapping[str, object]) -> Description:
    """Return the description of a path of a run spec.

    Raises:
        core.Error: If the path cannot be built.
    """
    answer = describe_path(path)
    links = tuple(Link(**link) for link in answer["links"])
    bottleneck = answer["bottleneck"]
    return Description(
        base_rtt_ms=answer["base_rtt_ms"],
        base_rtts_ms=_changes(answer["base_rtts_ms"]),
        rates_mbps=_changes(answer["rates_mbps"]),
        losses=_changes(answer["losses"]),
        delays=tuple(Delay(**delay) for delay in answer["delays"]),
        links=links,
        bottleneck=None if bottleneck is None else links[bottleneck],
    )


def _changes(steps: Steps | None) -> Changes | None:
    return None if steps is None else ([at_s for at_s, _ in steps], [value for _, value in steps])
