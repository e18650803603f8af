"""One run in the explorer: facts, series in a window of time, packets, and sentences on the events of the run."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from io import BufferedReader
from typing import TYPE_CHECKING, Any

from dumbbell.base.cache import cached
from dumbbell.base.entry import Entry, statuses
from dumbbell.base.errors import UserError, printable
from dumbbell.base.input_files import digest
from dumbbell.base.scratch import Scratch
from dumbbell.core.logs import RunView
from dumbbell.formats.qlog_export import DRAFTS, export_qlog
from dumbbell.present.repeat import run_command
from dumbbell.results.directory import STATISTICS
from dumbbell.results.files import Stamp, stamp, write_atomically
from dumbbell.results.numbers import flat
from dumbbell.results.series.run_files import FLOWS, LINKS, LOG, PACKETS, kept_files

if TYPE_CHECKING:
    from dumbbell.contract.run import RunTable
    from dumbbell.experiment import Run
    from dumbbell.present.serve.runs_table import Place

PYRAMID = "pyramid"
"""Kind of the file with the minima and maxima of a run, made at the first look at the run."""
State = list[Stamp | None]
_SERIES = (PACKETS, FLOWS, LINKS)
_MOST_INDEX_BYTES = 64 * 2**20
_MOST_LOG_BYTES = 2**18
"""Maximum bytes of a run's log that are sent."""


@dataclass(frozen=True)
class OneRun:
    """A run of a results directory. Data once read is kept, even if the run changes."""

    place: Place
    run: Run

    def state(self) -> State:
        """Return a state that changes when the run is made, repeated or removed."""
        return [stamp(self.folder / name) for name in (STATISTICS, *(f"{name}.parquet" for name in _SERIES))]

    @property
    def folder(self) -> Entry:
        """Directory of the run's files."""
        return self.place.results.folder(self.run)

    @property
    def identity(self) -> str:
        """Name of the run in addresses."""
        return f"{self.place.identity}/{self.run.path}/{self.run.scheme}/{self.run.run}"

    @cached_property
    def statistics(self) -> RunTable:
        """Entry of the run in `show --json`."""
        return self.place.results.readable(self.run)

    @cached_property
    def view(self) -> RunView:
        """Series and packets of the run.

        Raises:
            UserError: The run kept none.
            dumbbell.core.DamagedLog: A file of the run cannot be read.
        """
        files = kept_files(self.folder)
        if not files:
            reason = self.statistics["reason"] or "its experiment asks for none"
            raise UserError(f"{self.run.label}: has neither packets nor samples: {reason}")
        index = cached(PYRAMID, {name: digest(file) for name, file in files.items()})
        index_bytes = None if index is None else _read_index(index)
        view = RunView(files.get(PACKETS), files.get(FLOWS), files.get(LINKS), index_bytes, self._retransmissions())
        if view.built and index is not None:
            with suppress(OSError):  # without a writable place, the index is made anew each time
                write_atomically(index, view.index())
        return view

    def _retransmissions(self) -> dict[int, int]:
        """Return the retransmissions of each flow; invalid counts are left out."""
        counts = ((number, flow.get("retransmissions")) for number, flow in enumerate(self.statistics["flows"], 1))
        return {number: count for number, count in counts if isinstance(count, int) and count >= 0}

    def facts(self, is_static: bool = False, files_at: str | None = None) -> dict[str, object]:
        """Return the content of `facts.json`; `written` is true for static files, where no more requests are possible.

        `files_at` is the relative path from written pages to the files of the run, or None if these are elsewhere.
        """
        content = self.statistics
        files = kept_files(self.folder)
        series = self.view.series() if files else []
        return {
            "id": self.identity,
            "label": self.run.label,
            "directory": self.place.label,
            "path": self.run.path,
            "scheme": self.run.scheme,
            "run": self.run.run,
            "seed": content["seed"],
            "backend": content["backend"],
            "status": content["status"],
            "reason": content["reason"],
            **self._length_and_flows,
            "links": [str(link.get("link", "")) for link in content["links"]],
            "series": series,
            "files": self.files() if files_at or not is_static else [],
            "files_at": files_at,
            "command": run_command(self.run, self.place.results.experiment),
            "has_packets": PACKETS in files,
            "thinned_only": is_static,
            "log": self._log(),
        }

    @property
    def duration_ns(self) -> int:
        """Length of the run, ns."""
        return int(str(self._length_and_flows["duration_ns"]))

    @cached_property
    def _length_and_flows(self) -> dict[str, object]:
        """Length of the run, and its flows as far as known."""
        specification = self.place.results.experiment.specification(self.run)
        flow_plans = specification["flows"]
        flows = []
        for number, flow in enumerate(self.statistics["flows"], 1):
            plan: Mapping[str, Any] = flow_plans[number - 1] if number <= len(flow_plans) else {}
            fields = {
                "flow": number,
                "scheme": flow.get("scheme") or self.run.scheme,
                "start_s": flow.get("start_s") or 0.0,
                "stop_s": flow.get("stop_s"),
                "reverse": bool(flow.get("reverse")),
                "application": plan.get("application", {}).get("kind"),
                "timer": _timer(plan.get("transport", {})),
                "metrics": dict(flat(flow)),
            }
            flows.append(
                {name: value for name, value in fields.items() if name not in ("application", "timer") or value}
            )
        return {"duration_ns": round(specification["duration_s"] * 1e9), "flows": flows}

    @cached_property
    def series_names(self) -> list[list[str]]:
        """Owner and name of each series."""
        return [[series["owner"], series["name"]] for series in self.view.series()]

    def reading(self) -> bytes:
        """Return the content of `reading.json`: sentences on the events of the run."""
        return self.view.reading(self._length_and_flows)

    def files(self) -> list[dict[str, object]]:
        """Return names and sizes of the run's files, without links and directories."""
        names = self.folder.names()
        return [
            {"name": name, "bytes": status.st_size}
            for name, status in zip(names, statuses(self.folder / name for name in names), strict=True)
            if status is not None and stat.S_ISREG(status.st_mode)
        ]

    def file(self, name: str) -> BufferedReader:
        """Return one of its files, open for reading.

        Raises:
            UserError: The run has no file of this name.
        """
        if name not in [file["name"] for file in self.files()]:
            raise UserError(f"{self.run.label}: has no file `{printable(name)}`")
        return (self.folder / name).open_regular()

    def qlog(self, flow: int) -> bytes:
        """Return a flow as qlog.

        Raises:
            UserError: The flow does not exist, or its packets were not logged.
        """
        with Scratch("qlog") as folder:
            name = f"{self.run.path}/{self.run.scheme}/{self.run.run}"
            out = folder / "qlog"
            files, left_out, _ = export_qlog(self.place.results.directory, out, name, flow, DRAFTS[0])
            if not files:
                raise UserError(f"{self.run.label}: {left_out[0][1]}")
            return files[0].read_bytes()

    def _log(self) -> str:
        try:
            with (self.folder / LOG).open_regular() as stream:
                text = stream.read(_MOST_LOG_BYTES).decode(errors="replace")
                return "\n".join(printable(line) for line in text.splitlines())
        except (OSError, UserError):
            return ""


def _read_index(index: Entry) -> bytes | None:
    """Return the bytes of an index; None without a plausible one."""
    try:
        with index.open_regular() as stream:
            return stream.read() if os.fstat(stream.fileno()).st_size <= _MOST_INDEX_BYTES else None
    except (OSError, UserError):
        return None


def _timer(transport: Mapping[str, Any]) -> str | None:
    """Return the timer of a transport: its own, or that of profile `quic`; otherwise None."""
    timer = transport.get("timer") or ("pto" if transport.get("profile") == "quic" else None)
    return None if timer is None else str(timer)
