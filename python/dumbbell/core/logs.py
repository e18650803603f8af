"""Packet logs: measurement, import, export and display."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from dumbbell import _core
from dumbbell.contract.packet_logs import (
    ComparedFlow,
    ImportedCapture,
    ImportedLog,
    ImportedTrace,
    JainIndexSeries,
    JainOptions,
    MeasureOptions,
    NormalisedScheme,
    QlogHead,
    RateSeries,
    SeriesName,
    TransferOptions,
    Transfers,
)
from dumbbell.contract.statistics import RunStats
from dumbbell.core.codec import decoded, encoded

if TYPE_CHECKING:
    from dumbbell._core import Log, Source


def measure_log(packets: Log | None, options: MeasureOptions) -> RunStats:
    """Return all metrics of a packet log; without `packets`, those of the samples in `options`.

    Raises:
        Error: If the log is damaged, or an option is not allowed.
    """
    return decoded(_core.measure_log(packets, encoded(options)), RunStats)


def series(packets: Source, bin_s: float = 0.5) -> RateSeries:
    """Return rates over time of a packet log.

    Raises:
        Error: If the log is damaged, or `bin_s` is not allowed.
    """
    return decoded(_core.series(packets, bin_s), RateSeries)


def jain_series(packets: Source, options: JainOptions) -> JainIndexSeries:
    """Return Jain's index of a packet log in windows of time.

    Raises:
        Error: If the log is damaged, or an option is not allowed.
    """
    return decoded(_core.jain_series(packets, encoded(options)), JainIndexSeries)


def transfers(packets: Source, options: TransferOptions) -> Transfers:
    """Return the transfers of the flows of a packet log per interval, at both ends, as iperf reports them.

    Raises:
        Error: If the log is damaged, or there are too many intervals.
    """
    return decoded(_core.transfers(packets, encoded(options)), Transfers)


def normalised(flows: Sequence[ComparedFlow], legacy: bool) -> list[NormalisedScheme]:
    """Return for each scheme its throughput as a share of the largest in its experiment, and its queueing delay.

    `legacy` selects the published denominators.
    """
    return decoded(_core.normalised(encoded(flows), legacy), list[NormalisedScheme])


def import_merged_log(data: str, ack: str | None, packets: str, strict: bool) -> ImportedLog:
    """Import Pantheon's merged logs, which may be compressed, into a packet log.

    With `strict`, only empty logs (the sign of a failed run) are unusable; any other fault is an
    error. In both cases no file is left.

    Raises:
        Error: If a log is damaged, or the packet log cannot be written.
    """
    return decoded(_core.import_merged_log(data, ack, packets, strict), ImportedLog)


def import_mahimahi(data: str, ack: str | None, packets: str, strict: bool) -> ImportedLog:
    """Import mm-link logs into a packet log; as `import_merged_log`."""
    return decoded(_core.import_mahimahi(data, ack, packets, strict), ImportedLog)


def import_raw_logs(
    data: list[tuple[str, str]], ack: list[tuple[str, str]], offsets_ms: tuple[float, float], packets: str, strict: bool
) -> ImportedLog:
    """Import the raw tunnel logs of a run, (egress, ingress) per flow; as `import_merged_log`.

    `offsets_ms` are the clock offsets of the data sender's and of the receiver's host. `ack` may be empty.
    """
    return decoded(_core.import_raw_logs(data, ack, offsets_ms, packets, strict), ImportedLog)


def import_capture(
    file: str, receiver: str | None, end: str | None, clocks: str, directory: str
) -> list[ImportedCapture]:
    """Import packet captures, each into a directory `name` below `directory`.

    `receiver` is the capture of the other end; `end` is `sender`, `receiver` or None (detected), `clocks` is `auto`,
    `stamps` or `unknown`.

    Raises:
        Error: If a capture is damaged, or contains no flow.
    """
    return decoded(_core.import_capture(file, receiver, end, clocks, directory), list[ImportedCapture])


def import_qlog(file: str, directory: str) -> list[ImportedTrace]:
    """Import every trace of a qlog file into `directory`/1, 2, ...: `packets.parquet` and `flows.parquet`.

    Raises:
        Error: If the file is damaged.
    """
    return decoded(_core.import_qlog(file, directory), list[ImportedTrace])


def export_qlog(
    packets: Log,
    samples: Log | None,
    out: str,
    flow: int,
    draft: str,
    trace: QlogHead,
    from_ns: int = 0,
    to_ns: int | None = None,
) -> int:
    """Write one flow of a run as a qlog text sequence; return the number of events.

    `samples` is the run's `flows.parquet`, if there is one, and `draft` is `0.3` or `quic-13`. Events are those from
    `from_ns` until before `to_ns`, after the state at `from_ns`.

    Raises:
        DamagedLog: If a log of the run cannot be read.
        Error: If an argument is not allowed, or the file cannot be written.
    """
    return _core.export_qlog(packets, samples, out, flow, draft, encoded(trace), from_ns, to_ns)


class RunView:
    """A run in the explorer: its index in memory, and its files, each of which may be absent.

    The files are read once, unless `index` belongs to them. `retransmissions` is their number by flow, if known. Then
    the retransmitted packets are known, too.
    """

    def __init__(
        self,
        packets: Log | None = None,
        flows: Log | None = None,
        links: Log | None = None,
        index: bytes | None = None,
        retransmissions: Mapping[int, int] | None = None,
    ) -> None:
        counts = None if retransmissions is None else dict(retransmissions)
        self._view = _core.RunView(packets, flows, links, index, counts)

    @property
    def built(self) -> bool:
        """True if the files were read: `index` was missing, damaged, or that of other files."""
        return self._view.built

    @property
    def end_ns(self) -> int:
        """Latest time of the run, ns."""
        return self._view.end_ns

    def index(self) -> bytes:
        """Return the index, for a file beside the others."""
        return self._view.index()

    def series(self) -> list[SeriesName]:
        """Return the series of the run."""
        return decoded(self._view.series(), list[SeriesName])

    def window(self, t0_ns: float, t1_ns: float, columns: int, selectors: Sequence[object]) -> bytes:
        """Return series of a part of the run and its rare events, as columns.

        `selectors` are names (for all owners with such a series) and pairs of owner and name. For a series with many
        samples there is a row for each of `columns` equal parts: the first time, the minimum and the maximum.
        """
        return self._view.window(t0_ns, t1_ns, columns, encoded(selectors))

    def packets(self, t0_ns: float, t1_ns: float, flow: int = 0, max_packets: int = 100_000) -> bytes:
        """Return the packets of a flow (0: all flows) that were sent or in flight in a part of the run, and ACKs."""
        return self._view.packets(t0_ns, t1_ns, flow, max_packets)

    def life(self, flow: int, seq: int) -> bytes:
        """Return JSON for a page: the fate of a packet, by names (`packet`) and in `sentences`."""
        return self._view.life(flow, seq).encode()

    def reading(self, facts: Mapping[str, object]) -> bytes:
        """Return JSON for a page: the events of the run with times and causes, in `sentences`.

        `facts` is the content of facts.json. `duration_ns` is read, and for each flow `flow`, `scheme`, `application`
        (its kind) and `metrics.retransmissions`, if present.
        """
        return self._view.reading(encoded(facts)).encode()
