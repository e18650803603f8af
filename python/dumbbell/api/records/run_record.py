"""A run: its identity, its numbers, its events and samples."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING

from dumbbell.api.records.metrics import metrics_table
from dumbbell.base.errors import UserError
from dumbbell.results.real_notes import qlogs_of
from dumbbell.results.series.run_files import FLOWS, LINKS, PACKETS, Source, read_table
from dumbbell.results.series.table import Table
from dumbbell.results.series.transfers import Transfers, measure_transfers

if TYPE_CHECKING:
    from dumbbell.catalog.scheme import Scheme
    from dumbbell.contract.run import AxisValue, RunTable
    from dumbbell.contract.specification import RunSpec


_KEPT = {PACKETS: "packet log", FLOWS: "samples of flows", LINKS: "samples of links"}


class RunRecord:
    """A run without its figures. Its tables are read at their first use."""

    def __init__(
        self,
        statistics: RunTable,
        specify: Callable[[], RunSpec],
        sources: Mapping[str, Source],
        schemes: Mapping[str, Scheme],
    ) -> None:
        self.statistics = statistics
        """All facts about the run except events and samples, as in `dumbbell show --json`."""
        self._specify = specify
        self.kept = sources
        """Places of its events and samples: files, or tables in memory."""
        self.schemes = schemes
        """The known schemes of its flows, by name."""

    @cached_property
    def specification(self) -> RunSpec:
        """The run spec that the core received."""
        return self._specify()

    @property
    def path(self) -> str:
        """Name of the path."""
        return str(self.statistics["path"])

    @property
    def axes(self) -> dict[str, AxisValue]:
        """The `path` and the value of each axis of the run's grid; empty without a grid."""
        return dict(self.statistics.get("axes", {}))

    @property
    def scheme(self) -> str:
        """Name of the scheme or mix."""
        return str(self.statistics["scheme"])

    @property
    def run(self) -> int:
        """Number of the repetition, from 1."""
        return int(self.statistics["run"])

    @property
    def seed(self) -> int | None:
        """Seed of its random draws; None for imported runs."""
        return self.statistics["seed"]

    @property
    def status(self) -> str:
        """`done`, or the reason why its numbers do not count: `degraded`, `invalid`, `failed`, `missing`, `damaged`."""
        return str(self.statistics["status"])

    @property
    def reason(self) -> str | None:
        """Reason why it is not `done`; None if it is."""
        reason: str | None = self.statistics["reason"]
        return reason

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes for readers of its numbers.

        For an imported run they describe unusual facts in its files, mostly as `FILE:LINE: WHAT`. For a run with real
        packets they describe its lateness, and unusual facts about the qlogs of its programs.
        """
        return tuple(self.statistics.get("notes", ()))

    @property
    def qlogs(self) -> tuple[str, ...]:
        """Names of its qlog files, which the programs of a run with real packets wrote."""
        emulation, file_records = self.statistics.get("emulation"), self.statistics.get("files", {})
        qlogs = qlogs_of(emulation) if emulation else ()
        return tuple(qlog["file"] for _, qlog in qlogs if qlog["file"] in file_records)

    @property
    def label(self) -> str:
        """Label of the run for messages."""
        return f"{self.scheme} on {self.path}, run {self.run}" if self.path else f"simulated run of {self.scheme}"

    @cached_property
    def metrics(self) -> Table:
        """Every number of the run, one per row, as in `Results.metrics`."""
        return metrics_table([self.statistics])

    def packets(self, flow: int | None = None) -> Table:
        """Return the packet log of one flow or of all, in time order. Imported logs keep their order.

        Columns: `time_ns` (since the start of the run), `flow` (from 1), `event` (`send`, `drop`, `mark`, `deliver`,
        `ack_send`, ..., `lost`), `seq` (packet number within flow and direction), `size_bytes` (on the path),
        `data_bytes` (payload; of `deliver` what was new to the receiver), `one_way_delay_ns` (of `deliver` and
        `ack_deliver`, else 0).

        Raises:
            dumbbell.Error: If the run has no packet log, or no such flow.
        """
        table = self._table(PACKETS)
        return table if flow is None else self._of_flow(table, flow)

    def samples(self, flow: int | None = None, field: str | None = None) -> Table:
        """Return the samples of the senders, of one flow and field or of all, in time order.

        Columns: `time_ns`, `flow`, `field` (`cwnd`, `srtt`, ...), `unit`, `value`.

        Raises:
            dumbbell.Error: If the run has no samples, or no such flow or field.
        """
        table = self._table(FLOWS)
        if field is not None:
            table = self._where(table, "field", field)
        return table if flow is None else self._of_flow(table, flow)

    def links(self, link: str | None = None, field: str | None = None) -> Table:
        """Return the samples of the path's links, of one link and field or of all, in time order.

        Columns: `time_ns`, `link` (`data.0`, ...), `field` (`queue`, `dropped`, ...), `unit`, `value`.

        Raises:
            dumbbell.Error: If the run has no samples, or no such link or field.
        """
        table = self._table(LINKS)
        for column, value in (("link", link), ("field", field)):
            if value is not None:
                table = self._where(table, column, value)
        return table

    def transfers(self, interval_s: float) -> Transfers | None:
        """Return the transfers of each flow in every interval, at both ends; None without a packet log."""
        return measure_transfers(self.kept.get(PACKETS), self.statistics, self.specification["duration_s"], interval_s)

    def source(self, name: str) -> Source:
        """Return the source of the run's data of this name, for the core.

        Raises:
            dumbbell.Error: If the run has no such data.
        """
        if name not in self.kept:
            raise UserError(f"{self.label}: has no {_KEPT[name]}: {self.reason or 'it kept none'}")
        return self.kept[name]

    def _table(self, name: str) -> Table:
        return Table(read_table(name, self.source(name)))

    def _of_flow(self, table: Table, flow: int) -> Table:
        flow_numbers = [int(flow_["flow"]) for flow_ in self.statistics["flows"]]
        if flow not in flow_numbers:
            flows = (
                ", ".join(map(str, flow_numbers))
                if len(flow_numbers) <= 10
                else f"{flow_numbers[0]} to {flow_numbers[-1]}"
            )
            raise UserError(f"{self.label}: no flow {flow!r}: allowed are {flows}")
        return table.where("flow", flow)

    def _where(self, table: Table, column: str, value: str) -> Table:
        try:
            return table.where(column, value)
        except UserError as error:
            raise UserError(f"{self.label}: {error}") from None

    def __repr__(self) -> str:
        return f"<dumbbell.RunResults: {self.label}: {self.status}>"
