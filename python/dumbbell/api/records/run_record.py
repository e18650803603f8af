"""One run: what it was, its numbers, its events and samples."""

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
    """One run without its figures. Its tables are read when they are asked for."""

    def __init__(
        self,
        statistics: RunTable,
        specify: Callable[[], RunSpec],
        kept: Mapping[str, Source],
        schemes: Mapping[str, Scheme],
    ) -> None:
        self.statistics = statistics
        """All that is known about it but events and samples, as in `dumbbell show --json`."""
        self._specify = specify
        self.kept = kept
        """Where its events and samples are: files, or tables in memory."""
        self.schemes = schemes
        """The schemes of its flows, as far as they are known, by name."""

    @cached_property
    def specification(self) -> RunSpec:
        """What the core was given for it."""
        return self._specify()

    @property
    def path(self) -> str:
        """The name of the path."""
        return str(self.statistics["path"])

    @property
    def axes(self) -> dict[str, AxisValue]:
        """The `path` and the value of each axis that the run has in its grid; empty if there is no grid."""
        return dict(self.statistics.get("axes", {}))

    @property
    def scheme(self) -> str:
        """The name of the scheme, or the mix."""
        return str(self.statistics["scheme"])

    @property
    def run(self) -> int:
        """Which repetition it is, from 1."""
        return int(self.statistics["run"])

    @property
    def seed(self) -> int | None:
        """What its random draws follow from; None of imported runs."""
        return self.statistics["seed"]

    @property
    def status(self) -> str:
        """`done`, or why its numbers do not count: `degraded`, `invalid`, `failed`, `missing`, `damaged`."""
        return str(self.statistics["status"])

    @property
    def reason(self) -> str | None:
        """Why it is not `done`."""
        reason: str | None = self.statistics["reason"]
        return reason

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader of its numbers has to know.

        Of an imported run that is what is unusual about its files, mostly `FILE:LINE: WHAT`. Of a run with real packets
        that is how late it was, and what is unusual about the qlogs of its programs.
        """
        return tuple(self.statistics.get("notes", ()))

    @property
    def qlogs(self) -> tuple[str, ...]:
        """Names of the qlogs among its files that the programs of a run with real packets wrote."""
        emulation, kept = self.statistics.get("emulation"), self.statistics.get("files", {})
        qlogs = qlogs_of(emulation) if emulation else ()
        return tuple(qlog["file"] for _, qlog in qlogs if qlog["file"] in kept)

    @property
    def label(self) -> str:
        """For messages."""
        return f"{self.scheme} on {self.path}, run {self.run}" if self.path else f"simulated run of {self.scheme}"

    @cached_property
    def metrics(self) -> Table:
        """Every number of the run, one per row: as `Results.metrics`."""
        return metrics_table([self.statistics])

    def packets(self, flow: int | None = None) -> Table:
        """The packet log, of one flow or of all, in time order (imported ones as they were: clocks can step back).

        Columns: `time_ns` (since the start of the run), `flow` (from 1), `event` (`send`, `drop`, `mark`, `deliver`,
        `ack_send`, ..., `lost`), `seq` (packet number within flow and direction), `size_bytes` (on the path),
        `data_bytes` (payload; of `deliver` what was new to the receiver), `one_way_delay_ns` (of `deliver` and
        `ack_deliver`, else 0).

        Raises:
            dumbbell.Error: it kept none, or has no such flow.
        """
        table = self._table(PACKETS)
        return table if flow is None else self._of_flow(table, flow)

    def samples(self, flow: int | None = None, field: str | None = None) -> Table:
        """What was sampled of the senders, of one flow and field or of all, in time order.

        Columns: `time_ns`, `flow`, `field` (`cwnd`, `srtt`, ...), `unit`, `value`.

        Raises:
            dumbbell.Error: it kept none, or has no such flow or field.
        """
        table = self._table(FLOWS)
        if field is not None:
            table = self._where(table, "field", field)
        return table if flow is None else self._of_flow(table, flow)

    def links(self, link: str | None = None, field: str | None = None) -> Table:
        """What was sampled of the path's links, of one link and field or of all, in time order.

        Columns: `time_ns`, `link` (`data.0`, ...), `field` (`queue`, `dropped`, ...), `unit`, `value`.

        Raises:
            dumbbell.Error: it kept none, or has no such link or field.
        """
        table = self._table(LINKS)
        for column, value in (("link", link), ("field", field)):
            if value is not None:
                table = self._where(table, column, value)
        return table

    def transfers(self, interval_s: float) -> Transfers | None:
        """What each flow transferred in every interval, at both ends; None if it kept no packet log."""
        return measure_transfers(self.kept.get(PACKETS), self.statistics, self.specification["duration_s"], interval_s)

    def source(self, name: str) -> Source:
        """Where the core finds what the run kept under this name.

        Raises:
            dumbbell.Error: it kept nothing.
        """
        if name not in self.kept:
            raise UserError(f"{self.label}: has no {_KEPT[name]}: {self.reason or 'it kept none'}")
        return self.kept[name]

    def _table(self, name: str) -> Table:
        return Table(read_table(name, self.source(name)))

    def _of_flow(self, table: Table, flow: int) -> Table:
        known = [int(each["flow"]) for each in self.statistics["flows"]]
        if flow not in known:
            flows = ", ".join(map(str, known)) if len(known) <= 10 else f"{known[0]} to {known[-1]}"
            raise UserError(f"{self.label}: no flow {flow!r}: allowed are {flows}")
        return table.where("flow", flow)

    def _where(self, table: Table, column: str, value: str) -> Table:
        try:
            return table.where(column, value)
        except UserError as error:
            raise UserError(f"{self.label}: {error}") from None

    def __repr__(self) -> str:
        return f"<dumbbell.RunResults: {self.label}: {self.status}>"
