"""Transfers of flows per interval, in the layout of iperf 2: client and server view, flows, sums, totals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, cast

from dumbbell.core.logs import transfers
from dumbbell.results.series.run_files import Source

if TYPE_CHECKING:
    from dumbbell.contract.packet_logs import PlannedFlow, TransferOptions
    from dumbbell.contract.run import RunStatistics

SUM = "SUM"
_HEAD = "[ ID] Interval       Transfer     Bandwidth"


@dataclass(frozen=True, slots=True)
class TransferRow:
    """One row: KBytes are of 1,024 bytes; `flow` is None for the sum of all flows."""

    view: str
    flow: int | None
    total: bool
    start_s: float
    end_s: float
    bytes: int
    kbytes: float
    kbytes_per_s: float


@dataclass(frozen=True)
class Transfers:
    """All rows of a run. `payload` is false for a log that has the bytes of whole packets only."""

    VIEWS: ClassVar = ("client", "server")

    interval_s: float
    payload: bool
    rows: tuple[TransferRow, ...]

    def of(self, view: str, *, total: bool) -> list[TransferRow]:
        """Return the rows of one view: those of intervals, or the totals."""
        return [row for row in self.rows if row.view == view and row.total == total]

    def text(self, view: str) -> str:
        """Return the rows of one view as iperf 2 prints them (iperf 2.0.5, `src/Locale.c`, `report_bw_format`)."""
        rows = [*self.of(view, total=False), *self.of(view, total=True)]
        decimals = 1 if round(self.interval_s * 10, 6).is_integer() else 3
        lines = [
            f"[{SUM if row.flow is None else row.flow:>3}] {row.start_s:4.{decimals}f}-{row.end_s:4.{decimals}f} sec"
            f"  {_amount(row.kbytes)} KBytes  {_amount(row.kbytes_per_s)} KBytes/sec"
            for row in rows
        ]
        return "\n".join([_HEAD, *lines])


def measure_transfers(
    packets: Source | None, run: RunStatistics, duration_s: float, interval_s: float
) -> Transfers | None:
    """Return the transfers of a run, given as in `show --json`, with this packet log; None if it kept none.

    Raises:
        dumbbell.core.Error: The packet log is damaged, or there are too many intervals.
    """
    if packets is None:
        return None
    keys = ("flow", "scheme", "start_s", "stop_s")
    flow_fields = ({key: flow.get(key) for key in keys if flow.get(key) is not None} for flow in run["flows"])
    flows = [cast("PlannedFlow", flow) for flow in flow_fields]
    options: TransferOptions = {"interval_s": interval_s, "duration_s": duration_s, "flows": flows}
    content = transfers(packets, options)
    return Transfers(content["interval_s"], content["payload"], tuple(TransferRow(**row) for row in content["rows"]))


def _amount(kbytes: float) -> str:
    """Return a number in three digits and at least four characters, as iperf: 5.02, 31.6, 124, 11532."""
    for limit, decimals in ((9.995, 2), (99.95, 1)):
        if kbytes < limit:
            return f"{kbytes:4.{decimals}f}"
    return f"{kbytes:4.0f}"
