"""One run as the explorer asks for it: facts, series in a window of time, packets, the reading of what happened."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from io import BufferedReader
from typing import TYPE_CHECKING, Any

from dumbbell import _core
from dumbbell.base.cache import cached
from dumbbell.base.entry import Entry, statuses
from dumbbell.base.errors import UserError, printable
from dumbbell.base.input_files import digest
from dumbbell.base.scratch import Scratch
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
"""Kind of the file of minima and maxima that is kept of a run, made when the run is first looked at."""
State = list[Stamp | None]
_SERIES = (PACKETS, FLOWS, LINKS)
_MOST_INDEX_BYTES = 64 * 2**20
_MOST_LOG_BYTES = 2**18
"""What is sent of a run's log."""


@dataclass(frozen=True)
class OneRun:
    """A run of a results directory. What was read of it is kept: as it was then."""

    place: Place
    run: Run

    def state(self) -> State:
        """Return what changes when the run is made, made anew or removed."""
        return [stamp(self.folder / name) for name in (STATISTICS, *(f"{name}.parquet" for name in _SERIES))]

    @property
    def folder(self) -> Entry:
        """The folder of its files."""
        return self.place.results.folder(self.run)

    @property
    def identity(self) -> str:
        """Its name in addresses."""
        return f"{self.place.identity}/{self.run.path}/{self.run.scheme}/{self.run.run}"

    @cached_property
    def statistics(self) -> RunTable:
        """Its entry in `show --json`."""
        return self.place.results.readable(self.run)

    @cached_property
    def view(self) -> _core.RunView:
        """The series and packets of the run.

        Raises:
            UserError: it kept none.
            dumbbell._core.DamagedLog: a file of it cannot be read.
        """
        kept = kept_files(self.folder)
        if not kept:
            why = self.statistics["reason"] or "its experiment asks for none"
            raise UserError(f"{self.run.label}: has neither packets nor samples: {why}")
        index = cached(PYRAMID, {name: digest(file) for name, file in kept.items()})
        known = None if index is None else _read_index(index)
        view = _core.RunView(kept.get(PACKETS), kept.get(FLOWS), kept.get(LINKS), known, self._retransmissions())
        if view.built and index is not None:
            with suppress(OSError):  # where nothing can be written, it is made anew each time
                write_atomically(index, view.index())
        return view

    def _retransmissions(self) -> dict[int, int]:
        """Return how many each flow had; what is no number of packets is not known."""
        told = ((number, flow.get("retransmissions")) for number, flow in enumerate(self.statistics["flows"], 1))
        return {number: count for number, count in told if isinstance(count, int) and count >= 0}

    def facts(self, written: bool = False, files_at: str | None = None) -> dict[str, object]:
        """Return what `facts.json` says; `written` for files, where nothing more can be asked for.

        `files_at` is the way from written pages to the files of the run, if these are there.
        """
        content = self.statistics
        kept = kept_files(self.folder)
        series = json.loads(self.view.series()) if kept else []
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
            **self._known,
            "links": [str(link.get("link", "")) for link in content["links"]],
            "series": series,
            "files": self.files() if files_at or not written else [],
            "files_at": files_at,
            "command": run_command(self.run, self.place.results.experiment),
            "has_packets": PACKETS in kept,
            "thinned_only": written,
            "log": self._log(),
        }

    @property
    def duration_ns(self) -> int:
        """Its length."""
        return int(str(self._known["duration_ns"]))

    @cached_property
    def _known(self) -> dict[str, object]:
        """Its length, and its flows as far as they are known."""
        specification = self.place.results.experiment.specification(self.run)
        planned = specification["flows"]
        flows = []
        for number, flow in enumerate(self.statistics["flows"], 1):
            plan: Mapping[str, Any] = planned[number - 1] if number <= len(planned) else {}
            known = {
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
                {name: value for name, value in known.items() if name not in ("application", "timer") or value}
            )
        return {"duration_ns": round(specification["duration_s"] * 1e9), "flows": flows}

    @cached_property
    def series_names(self) -> list[list[str]]:
        """Owner and name of each series."""
        return [[each["owner"], each["name"]] for each in json.loads(self.view.series())]

    def reading(self) -> str:
        """Return what `reading.json` says: sentences on what happened in the run."""
        return self.view.reading(json.dumps(self._known))

    def files(self) -> list[dict[str, object]]:
        """Return names and sizes of its files; links and folders are none."""
        names = self.folder.names()
        return [
            {"name": name, "bytes": status.st_size}
            for name, status in zip(names, statuses(self.folder / name for name in names), strict=True)
            if status is not None and stat.S_ISREG(status.st_mode)
        ]

    def file(self, name: str) -> BufferedReader:
        """Return one of its files, open for reading.

        Raises:
            UserError: it has none of this name.
        """
        if name not in [file["name"] for file in self.files()]:
            raise UserError(f"{self.run.label}: has no file `{printable(name)}`")
        return (self.folder / name).open_regular()

    def qlog(self, flow: int) -> bytes:
        """Return a flow as qlog.

        Raises:
            UserError: there is no such flow, or its packets were not logged.
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
    """Return the bytes of an index; None where there is none that could be one."""
    try:
        with index.open_regular() as stream:
            return stream.read() if os.fstat(stream.fileno()).st_size <= _MOST_INDEX_BYTES else None
    except (OSError, UserError):
        return None


def _timer(transport: Mapping[str, Any]) -> str | None:
    """Return the timer of a transport: its own, or that of profile `quic`; None of others."""
    timer = transport.get("timer") or ("pto" if transport.get("profile") == "quic" else None)
    return None if timer is None else str(timer)
