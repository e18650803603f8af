"""One run as the cases see it: what the sender knew after every event, its phases, and the packets."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy
from numpy.typing import NDArray

from dumbbell.base.errors import listed
from dumbbell.catalog.description import describe
from dumbbell.core.paths import complete_transport
from dumbbell.results.series.run_files import FLOWS, LINKS, PACKETS, Source, read_table
from dumbbell.results.series.samples import STATE_FIELDS, Samples, Series, read_sampled, read_samples, value_names
from dumbbell.results.series.table import Table

if TYPE_CHECKING:
    from dumbbell.contract.run import RunStatistics
    from dumbbell.contract.specification import RunSpec, TransportSpec

TCP_HEADERS = 52
"""IPv4, TCP and the timestamp option, bytes: the headers of packets that are not of the built-in transport."""
TCP_PAYLOAD = 1448


class UnseenError(Exception):
    """The run does not show what a measurement needs; the text says what is missing."""


class NotReachedError(Exception):
    """The run did not come to where a measurement looks; the text says what did not happen."""


@dataclass(frozen=True)
class Visit:
    """A time during which the controller was in one phase; `after` is the next phase, empty at the end of the run."""

    phase: str
    start_s: float
    end_s: float
    after: str = ""


@dataclass(frozen=True)
class Packets:
    """The packet events of a flow, by kind: times, s, and sizes."""

    time_s: NDArray[Any]
    event: NDArray[Any]
    seq: NDArray[Any]
    size_bytes: NDArray[Any]
    data_bytes: NDArray[Any]
    delay_ms: NDArray[Any]

    def of(self, event: str, start_s: float = -1.0, end_s: float = float("inf")) -> Packets:
        """Return the events of one kind, from `start_s` up to but without `end_s`."""
        chosen = (self.event == event) & (self.time_s >= start_s) & (self.time_s < end_s)
        columns = (self.time_s, self.event, self.seq, self.size_bytes, self.data_bytes, self.delay_ms)
        return Packets(*(column[chosen] for column in columns))

    def __len__(self) -> int:
        return len(self.time_s)


class RunView:
    """One run, for measurements. Times are s since its start.

    `moment_s` is when the case disturbed it. What a scheme's controller does not sample, or a real program does not
    tell, raises `UnseenError` where it is asked for.
    """

    def __init__(
        self,
        kept: Mapping[str, Source],
        statistics: RunStatistics,
        specification: RunSpec,
        scheme: str,
        derived: Mapping[str, Measured],
        moment_s: float | None = None,
    ) -> None:
        """`derived` are the fields that are worked out of sampled ones, by name."""
        self._kept = kept
        self.statistics = statistics
        self.specification = specification
        self.scheme = scheme
        self._derived = derived
        self.moment_s = moment_s
        self._by_flow: dict[int, Packets] = {}
        self.duration_s = float(specification["duration_s"])

    @cached_property
    def is_built_in(self) -> bool:
        """Return True if the controller's state after every event is known."""
        return "controller" in self.specification["flows"][0]

    @cached_property
    def _transport(self) -> TransportSpec:
        return complete_transport(self.specification["flows"][0].get("transport"))

    def transport(self, key: str) -> str:
        """Return a word that the transport of the first flow is set to.

        Raises:
            UnseenError: it is not the built-in transport.
        """
        if not self.is_built_in:
            raise UnseenError("needs the controller's state (the transport's settings)")
        return str(dict(self._transport)[key])

    @property
    def payload_bytes(self) -> int:
        """Payload of a full packet."""
        return int(self._transport["payload_bytes"]) if self.is_built_in else TCP_PAYLOAD

    @property
    def packet_bytes(self) -> int:
        """A full packet on the path."""
        headers = int(self._transport["header_bytes"]) if self.is_built_in else TCP_HEADERS
        return self.payload_bytes + headers + int(self.specification["path"]["overhead_bytes"])

    @cached_property
    def _sampled(self) -> Samples:
        return read_sampled(self._kept.get(FLOWS))

    @property
    def _samples(self) -> dict[str, dict[str, Series]]:
        return self._sampled.series

    @cached_property
    def _phases(self) -> tuple[str, dict[float, str]]:
        """The field that tells the phase of the first flow, and the phases by its values; nothing if there is none."""
        for name in STATE_FIELDS:
            names = value_names(self._sampled.units.get(name, "")) if self.has(name) else {}
            if names:
                return name, {value: each.lower().replace(" ", "_").replace("-", "_") for value, each in names.items()}
        return "", {}

    @cached_property
    def _links(self) -> dict[str, dict[str, Series]]:
        return read_samples(self._kept.get(LINKS))

    def has(self, name: str) -> bool:
        """Return whether the first flow samples the field."""
        return "1" in self._samples.get(name, {})

    def series(self, name: str) -> Series:
        """Return a field of the first flow: sampled, or worked out of sampled ones.

        Raises:
            UnseenError: the run does not have it.
        """
        if name in self._derived:
            return self._derived[name](self)
        # what the kernel and programs sample now and then does not show what happened in between
        if not self.is_built_in or not self.has(name):
            raise UnseenError(self._unseen(f"the field `{name}`"))
        time_s, values = self._samples[name]["1"]
        known = ~numpy.isnan(values)
        return time_s[known], values[known]

    def _unseen(self, what: str) -> str:
        if self.is_built_in:
            return f"`{self.scheme}` does not have {what}"
        return f"needs the controller's state ({what})"

    def value_before(self, name: str, time_s: float) -> float:
        """Return the last value of a field before a time.

        Raises:
            UnseenError: the run does not have the field.
            NotReachedError: the field has no value so early.
        """
        return self._held(name, time_s, "left")

    def value_at(self, name: str, time_s: float) -> float:
        """Return the first value that a field took at a time, or the last one before it; errors as `value_before`."""
        times, values = self.series(name)
        first = int(numpy.searchsorted(times, time_s, "left"))
        if first < len(times) and times[first] == time_s:
            return float(values[first])
        return self._held(name, time_s, "right")

    def _held(self, name: str, time_s: float, side: str) -> float:
        times, values = self.series(name)
        place = int(numpy.searchsorted(times, time_s, side)) - 1  # type: ignore[call-overload]  # a literal of numpy's
        if place < 0:
            raise NotReachedError(f"`{name}` has no value before {time_s:.3f} s")
        return float(values[place])

    def within(self, name: str, start_s: float, end_s: float) -> Series:
        """Return the values that a field had from `start_s` up to but without `end_s`, the first one at `start_s`."""
        times, values = self.series(name)
        if len(times) and times[0] > start_s:
            start_s = float(times[0])  # nothing is known before
        inside = (times > start_s) & (times < end_s)
        first = self.value_at(name, start_s)
        return numpy.concatenate([[start_s], times[inside]]), numpy.concatenate([[first], values[inside]])

    @cached_property
    def visits(self) -> list[Visit]:
        """The phases of the first flow, in order.

        Raises:
            UnseenError: the controller tells no phases, or one that its unit does not name.
        """
        field, phases = self._phases
        if not phases:
            raise UnseenError(self._unseen("phases"))
        times, values = self.series(field)
        unnamed = values[~numpy.isin(values, list(phases))]
        if len(unnamed):
            raise UnseenError(f"`{self.scheme}`: `{field}` = {unnamed[0]:g}: its unit names {listed(phases.values())}")
        changed = numpy.concatenate([[True], values[1:] != values[:-1]])
        starts = [*times[changed].tolist(), self.duration_s]
        names = [phases[value] for value in values[changed].tolist()]
        return [
            Visit(name, start_s, end_s, after)
            for name, after, (start_s, end_s) in zip(names, [*names[1:], ""], itertools.pairwise(starts), strict=True)
        ]

    def require_phase(self, phase: str) -> None:
        """See that the controller can be in a phase.

        Raises:
            UnseenError: it has no such phase.
        """
        if phase not in self._phases[1].values():
            raise UnseenError(self._unseen(f"a phase `{phase}`"))

    @cached_property
    def packets(self) -> Packets:
        """The packet events of the first flow.

        Raises:
            UnseenError: no packet log was kept.
        """
        return self.packets_of(1)

    @cached_property
    def _log(self) -> Table:
        if PACKETS not in self._kept:
            raise UnseenError("no packet log was kept")
        return Table(read_table(PACKETS, self._kept[PACKETS]))

    def packets_of(self, flow: int) -> Packets:
        """Return the packet events of a flow; errors as `packets`."""
        if flow not in self._by_flow:
            self._by_flow[flow] = self._packets_of(flow)
        return self._by_flow[flow]

    def _packets_of(self, flow: int) -> Packets:
        table = self._log.where("flow", flow)
        return Packets(
            table["time_ns"] / 1e9,
            table["event"],
            table["seq"],
            table["size_bytes"],
            table["data_bytes"],
            table["one_way_delay_ns"] / 1e6,
        )

    def packet_at(self, time_s: float) -> int | None:
        """Return the number of the last data packet that was sent by then, None before the first."""
        sent = self.packets.of("send")
        place = int(numpy.searchsorted(sent.time_s, time_s, "right")) - 1
        return int(sent.seq[place]) if place >= 0 else None

    @cached_property
    def rates_mbps(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """The bottleneck's rate over time, Mbit/s on the path.

        Raises:
            UnseenError: the rate does not follow from the path.
        """
        found = describe(self.specification["path"]).rates_mbps
        if found is None:
            raise UnseenError("the path has no rate of its own")
        return numpy.array(found[0]), numpy.array(found[1])

    def capacity_mbps(self, time_s: float) -> float:
        """Return the payload that the bottleneck can carry at a time, Mbit/s."""
        times, rates = self.rates_mbps
        rate = float(rates[max(int(numpy.searchsorted(times, time_s, "right")) - 1, 0)])
        return rate * self.payload_bytes / self.packet_bytes

    def carried_bytes(self, start_s: float, end_s: float) -> float:
        """Return the payload that the bottleneck could carry in a time, bytes."""
        edges = [start_s, *(each for each in self.rates_mbps[0].tolist() if start_s < each < end_s), end_s]
        spans = itertools.pairwise(edges)
        return sum((self.capacity_mbps(left) * 1e6 / 8.0 * (right - left) for left, right in spans), 0.0)

    @property
    def base_rtt_ms(self) -> float:
        """RTT of the path without queues."""
        return describe(self.specification["path"]).base_rtt_ms

    @property
    def ack_delay_ms(self) -> float:
        """Delay of the ACK direction without queues."""
        delays = describe(self.specification["path"]).delays
        return sum(each.delay_ms for each in delays if each.direction == "ack")

    def link(self, field: str, link: str) -> Series:
        """Return a field of a link.

        Raises:
            UnseenError: there is no such link or field.
        """
        if link not in self._links.get(field, {}):
            raise UnseenError(f"the link `{link}` has no samples of `{field}`")
        return self._links[field][link]


Measured = Callable[[RunView], Series]
