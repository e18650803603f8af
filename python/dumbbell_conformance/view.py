"""One run as the cases see it: the sender's state after every event, its phases, and the packets."""

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
"""Headers of IPv4 and TCP with timestamps, bytes, for packets that are not from the built-in transport."""
TCP_PAYLOAD = 1448


class UnseenError(Exception):
    """The run does not show what a measure needs; the text names the missing data."""


class NotReachedError(Exception):
    """The run did not reach the window of a measure; the text names the missing event."""


@dataclass(frozen=True)
class Visit:
    """A time in one phase of the controller; `after` is the next phase, empty at the end of the run."""

    phase: str
    start_s: float
    end_s: float
    after: str = ""


@dataclass(frozen=True)
class Packets:
    """The packet events of a flow by kind: times, s, and sizes."""

    time_s: NDArray[Any]
    event: NDArray[Any]
    seq: NDArray[Any]
    size_bytes: NDArray[Any]
    data_bytes: NDArray[Any]
    delay_ms: NDArray[Any]

    def of(self, event: str, start_s: float = -1.0, end_s: float = float("inf")) -> Packets:
        """Return the events of one kind, from `start_s` up to but without `end_s`."""
        mask = (self.event == event) & (self.time_s >= start_s) & (self.time_s < end_s)
        columns = (self.time_s, self.event, self.seq, self.size_bytes, self.data_bytes, self.delay_ms)
        return Packets(*(column[mask] for column in columns))

    def __len__(self) -> int:
        return len(self.time_s)


class RunView:
    """One run, for measures. Times are in s since its start.

    `moment_s` is the time of the case's disturbance. Fields that a controller does not sample, or a program
    does not report, raise `UnseenError` when they are requested.
    """

    def __init__(
        self,
        files: Mapping[str, Source],
        statistics: RunStatistics,
        specification: RunSpec,
        scheme: str,
        derived_fields: Mapping[str, DerivedField],
        moment_s: float | None = None,
    ) -> None:
        """Create the view. `derived_fields` are computed from sampled fields, by name."""
        self._kept = files
        self.statistics = statistics
        self.specification = specification
        self.scheme = scheme
        self._derived = derived_fields
        self.moment_s = moment_s
        self._by_flow: dict[int, Packets] = {}
        self.duration_s = float(specification["duration_s"])

    @cached_property
    def is_built_in(self) -> bool:
        """True if the controller's state after every event is known."""
        return "controller" in self.specification["flows"][0]

    @cached_property
    def _transport(self) -> TransportSpec:
        return complete_transport(self.specification["flows"][0].get("transport"))

    def transport(self, key: str) -> str:
        """Return the value of a setting of the first flow's transport.

        Raises:
            UnseenError: the flow does not use the built-in transport.
        """
        if not self.is_built_in:
            raise UnseenError("needs the controller's state (the transport's settings)")
        return str(dict(self._transport)[key])

    @property
    def payload_bytes(self) -> int:
        """Payload of a full packet, bytes."""
        return int(self._transport["payload_bytes"]) if self.is_built_in else TCP_PAYLOAD

    @property
    def packet_bytes(self) -> int:
        """Size of a full packet on the path, bytes."""
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
        """The field with the phase of the first flow, and the phases by its values; empty without such a field."""
        for name in STATE_FIELDS:
            names = value_names(self._sampled.units.get(name, "")) if self.has(name) else {}
            if names:
                return name, {
                    value: phase_name.lower().replace(" ", "_").replace("-", "_") for value, phase_name in names.items()
                }
        return "", {}

    @cached_property
    def _links(self) -> dict[str, dict[str, Series]]:
        return read_samples(self._kept.get(LINKS))

    def has(self, name: str) -> bool:
        """Return True if the first flow samples the field."""
        return "1" in self._samples.get(name, {})

    def series(self, name: str) -> Series:
        """Return a field of the first flow, sampled or computed.

        Raises:
            UnseenError: the run does not have it.
        """
        if name in self._derived:
            return self._derived[name](self)
        # the kernel and programs are sampled now and then, which does not show the values in between
        if not self.is_built_in or not self.has(name):
            raise UnseenError(self._unseen(f"the field `{name}`"))
        time_s, values = self._samples[name]["1"]
        is_known = ~numpy.isnan(values)
        return time_s[is_known], values[is_known]

    def _unseen(self, subject: str) -> str:
        if self.is_built_in:
            return f"`{self.scheme}` does not have {subject}"
        return f"needs the controller's state ({subject})"

    def value_before(self, name: str, time_s: float) -> float:
        """Return the last value of a field before a time.

        Raises:
            UnseenError: the run does not have the field.
            NotReachedError: the field has no earlier value.
        """
        return self._latest_value(name, time_s, "left")

    def value_at(self, name: str, time_s: float) -> float:
        """Return the first value of a field at a time, or the last one before; errors as in `value_before`."""
        times, values = self.series(name)
        first = int(numpy.searchsorted(times, time_s, "left"))
        if first < len(times) and times[first] == time_s:
            return float(values[first])
        return self._latest_value(name, time_s, "right")

    def _latest_value(self, name: str, time_s: float, side: str) -> float:
        times, values = self.series(name)
        place = int(numpy.searchsorted(times, time_s, side)) - 1  # type: ignore[call-overload]  # a literal of numpy's
        if place < 0:
            raise NotReachedError(f"`{name}` has no value before {time_s:.3f} s")
        return float(values[place])

    def within(self, name: str, start_s: float, end_s: float) -> Series:
        """Return the values of a field from `start_s` up to but without `end_s`, with the value at `start_s` first."""
        times, values = self.series(name)
        if len(times) and times[0] > start_s:
            start_s = float(times[0])  # no value is known before
        inside = (times > start_s) & (times < end_s)
        first = self.value_at(name, start_s)
        return numpy.concatenate([[start_s], times[inside]]), numpy.concatenate([[first], values[inside]])

    @cached_property
    def visits(self) -> list[Visit]:
        """The phases of the first flow, in order.

        Raises:
            UnseenError: the controller reports no phases, or a phase that its unit does not name.
        """
        field, phases = self._phases
        if not phases:
            raise UnseenError(self._unseen("phases"))
        times, values = self.series(field)
        unnamed_values = values[~numpy.isin(values, list(phases))]
        if len(unnamed_values):
            raise UnseenError(
                f"`{self.scheme}`: `{field}` = {unnamed_values[0]:g}: its unit names {listed(phases.values())}"
            )
        is_change = numpy.concatenate([[True], values[1:] != values[:-1]])
        starts = [*times[is_change].tolist(), self.duration_s]
        names = [phases[value] for value in values[is_change].tolist()]
        return [
            Visit(name, start_s, end_s, after)
            for name, after, (start_s, end_s) in zip(names, [*names[1:], ""], itertools.pairwise(starts), strict=True)
        ]

    def require_phase(self, phase: str) -> None:
        """Check that the controller can be in a phase.

        Raises:
            UnseenError: the controller has no such phase.
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
        """Return the number of the last data packet sent until a time; None before the first."""
        departures = self.packets.of("send")
        place = int(numpy.searchsorted(departures.time_s, time_s, "right")) - 1
        return int(departures.seq[place]) if place >= 0 else None

    @cached_property
    def rates_mbps(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """The bottleneck's rate over time, Mbit/s on the path.

        Raises:
            UnseenError: the rate does not follow from the path.
        """
        rates = describe(self.specification["path"]).rates_mbps
        if rates is None:
            raise UnseenError("the path has no rate of its own")
        return numpy.array(rates[0]), numpy.array(rates[1])

    def capacity_mbps(self, time_s: float) -> float:
        """Return the payload that the bottleneck can carry at a time, Mbit/s."""
        times, rates = self.rates_mbps
        rate = float(rates[max(int(numpy.searchsorted(times, time_s, "right")) - 1, 0)])
        return rate * self.payload_bytes / self.packet_bytes

    def carried_bytes(self, start_s: float, end_s: float) -> float:
        """Return the payload that the bottleneck can carry in a span, bytes."""
        edges = [start_s, *(time_s for time_s in self.rates_mbps[0].tolist() if start_s < time_s < end_s), end_s]
        spans = itertools.pairwise(edges)
        return sum((self.capacity_mbps(left) * 1e6 / 8.0 * (right - left) for left, right in spans), 0.0)

    @property
    def base_rtt_ms(self) -> float:
        """RTT of the path without queues, ms."""
        return describe(self.specification["path"]).base_rtt_ms

    @property
    def ack_delay_ms(self) -> float:
        """Delay of the ACK direction without queues, ms."""
        delays = describe(self.specification["path"]).delays
        return sum(delay.delay_ms for delay in delays if delay.direction == "ack")

    def link(self, field: str, link: str) -> Series:
        """Return a field of a link.

        Raises:
            UnseenError: there is no such link or field.
        """
        if link not in self._links.get(field, {}):
            raise UnseenError(f"the link `{link}` has no samples of `{field}`")
        return self._links[field][link]


DerivedField = Callable[[RunView], Series]
