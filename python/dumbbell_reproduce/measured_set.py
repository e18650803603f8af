"""A measured set: its runs, the schemes that simulate them, and the path data in its files."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from dumbbell import core
from dumbbell.base.entry import Entry
from dumbbell.base.errors import UserError
from dumbbell.catalog.outside.pantheon_names import Counterpart
from dumbbell.catalog.scheme import Scheme
from dumbbell.experiment import Run
from dumbbell.formats.pantheon_files import PACKED
from dumbbell.formats.pantheon_metadata import METADATA
from dumbbell.formats.pantheon_stats import read_capacity
from dumbbell.results import ResultsDirectory
from dumbbell.results.analysis.counterparts import WRITTEN_BY, counterparts
from dumbbell.results.series.run_files import PACKETS, kept_files
from dumbbell_reproduce.file_names import kernel_counterparts, recorded_scheme, tool_facts
from dumbbell_reproduce.mahimahi_command import LogHead, MahimahiCommand, read_command, read_head
from dumbbell_reproduce.packets import RunPackets
from dumbbell_reproduce.stand_ins import stand_in
from dumbbell_reproduce.viewpoint import BOTH_ENDS, RATE, Viewpoint, viewpoint_of

if TYPE_CHECKING:
    from dumbbell.contract.run import RunTable

TUNNEL_BYTES = 36
"""Bytes that Pantheon's tunnel adds to each datagram."""
_HEAD_BYTES = 8192
_PLACE = re.compile(r"> (/\S+?)/src/experiments/")
"""Pantheon's folder in the first line of a log of mm-link."""


Key: TypeAlias = tuple[str, str, int]
"""Key of a measured run: its set, its scheme's name in the set, its number."""


@dataclass(frozen=True)
class MeasuredRun:
    """One measured run, and the scheme that simulates it."""

    place: str
    """Name of the set."""
    name: str
    """Name of the scheme in the set."""
    number: int
    scheme: Scheme
    folder: Entry
    statistics: RunTable = field(repr=False)
    note: str = ""
    """Difference between the simulated scheme and the measured program."""
    view: Viewpoint = BOTH_ENDS
    """Viewpoint of the recording."""
    file: str = ""
    """Name of the run's file, if the scheme has another name."""

    @property
    def key(self) -> Key:
        """The run's set, name and number."""
        return (self.place, self.name, self.number)

    @property
    def label(self) -> str:
        """Name of the run for people."""
        return f"{self.name}, run {self.number}" + (f" ({self.file})" if self.file else "")

    @property
    def has_packets(self) -> bool:
        """True if the run has a packet log, and not only statistics."""
        return PACKETS in kept_files(self.folder)

    @cached_property
    def packets(self) -> RunPackets:
        """The packet log of the run."""
        return RunPackets(self.folder)

    def metrics(self, flow: int) -> dict[str, float | None]:
        """Return the measured values of one flow, or of all flows together (0)."""
        return self.view.of(self.statistics, flow)

    @property
    def flows(self) -> list[int]:
        """Numbers of the flows, with all of them together (0) first; only 0 if the run has a single flow."""
        numbers = [int(flow["flow"]) for flow in self.statistics["flows"]]
        return [0, *numbers] if len(numbers) > 1 else [0]


@dataclass(frozen=True)
class MeasuredSet:
    """The runs of one data directory, and the path data in its files."""

    name: str
    source: Path
    content: ResultsDirectory
    runs: tuple[MeasuredRun, ...]
    left_out: tuple[str, ...]
    command: MahimahiCommand | None
    """Command of mahimahi in a local test by Pantheon; None for other sets."""
    metadata: Mapping[str, Any]

    def command_of(self, run: MeasuredRun) -> MahimahiCommand | None:
        """Return the command of mahimahi for a run. The heads of the run's logs override the metadata of the set.

        Raises:
            UserError: a log names a queue that mm-link does not have.
        """
        if self.command is None:
            return None
        heads: dict[bool, LogHead] = {}
        for ack, way in ((False, "datalink"), (True, "acklink")):
            file = self._file(f"{run.name}_mm_{way}_run{run.number}.log")
            if file is not None:
                heads[ack] = read_head(_head(file), str(file), ack=ack)
        # metadata of another test do not have the run's scheme: its log is all that is known
        return self.command.with_heads(heads, same_test=run.name in self._listed)

    def logged_capacity_mbps(self, run: MeasuredRun) -> float | None:
        """Return the mean capacity of a run's link, Mbit/s, as logged by Pantheon's analysis; None if not logged."""
        file = self._file(f"{run.name}_stats_run{run.number}.log")
        return None if file is None else read_capacity(file)

    def _file(self, name: str) -> Path | None:
        return next((file for end in PACKED if (file := self.source / f"{name}{end}").is_file()), None)

    @cached_property
    def host(self) -> str:
        """Key of the host: Pantheon's folder in the logs of mm-link, else the name of the set."""
        for file in sorted(self.source.glob("*_mm_datalink_run*.log*")):
            if match := _PLACE.search(_head(file)):
                return match[1]
        return self.name

    @property
    def _listed(self) -> Collection[str]:
        """Schemes in the metadata."""
        names = self.metadata.get("cc_schemes", ())
        return names.split() if isinstance(names, str) else names

    @property
    def overhead_bytes(self) -> int:
        """Bytes that the measured path added to each datagram."""
        return TUNNEL_BYTES if self.metadata and self.metadata.get("flows", 1) else 0


def measured_set(content: ResultsDirectory, name: str, source: Path, stands_for: Mapping[str, str]) -> MeasuredSet:
    """Return the runs of an import that can be simulated. `stands_for` maps schemes of the set to built-in ones.

    Raises:
        UserError: `stands_for` names a scheme that the set does not have, or its metadata say what mahimahi is not.
    """
    set_counterparts = counterparts(content)
    metadata = (content.shown_environment().get("imported") or {}).get("metadata") or {}
    counts: Counter[str] = Counter()
    runs, left = [], []
    for run in content.planned():
        label = f"{run.scheme}, run {run.run}" if metadata else run.scheme
        try:
            statistics = content.run(run)
        except UserError as error:
            left.append(f"{label}: {error}")
            continue
        if statistics["status"] != "done":
            left.append(f"{label}: {statistics['reason']}")
            continue
        name_of_scheme = run.scheme if metadata else recorded_scheme(run.scheme, statistics)
        stand_ins = set_counterparts if metadata else kernel_counterparts(statistics)
        scheme, reason = _stand_in(content, run, name_of_scheme, stands_for, stand_ins)
        view = BOTH_ENDS if metadata else viewpoint_of(statistics)
        if (unfit := _unfit_reason(statistics)) is not None:
            left.append(f"{label}: {unfit}")
        elif scheme is None:
            left.append(f"{run.scheme}: {reason}")
        elif view is None or not statistics["network"].get(view.metrics[RATE]):
            left.append(f"{label}: nothing arrived" if metadata else f"{label}: it does not tell what arrived")
        else:
            note = (
                set_counterparts[run.scheme].note
                if run.scheme in set_counterparts and run.scheme not in stands_for
                else ""
            )
            counts[name_of_scheme] += 1
            number, file = (
                (run.run, "")
                if metadata
                else (counts[name_of_scheme], run.scheme if run.scheme != name_of_scheme else "")
            )
            folder = content.folder(run)
            runs.append(MeasuredRun(name, name_of_scheme, number, scheme, folder, statistics, note, view, file))
    is_local = metadata.get("mode", "local" if "uplink_trace" in metadata else "remote") == "local"
    # dumbbell's own exports do not contain arguments of mahimahi
    is_told = bool(metadata) and is_local and WRITTEN_BY not in metadata
    command = read_command(metadata, str(source / METADATA)) if is_told else None
    return MeasuredSet(name, source, content, tuple(runs), tuple(dict.fromkeys(left)), command, metadata)


def without_copies(sets: list[MeasuredSet]) -> list[MeasuredSet]:
    """Return the sets without runs whose log is also in an earlier set.

    Pantheon leaves the logs of earlier tests in place.
    """
    first: dict[tuple[object, ...], str] = {}
    result = []
    for data_set in sets:
        kept_runs, left = [], list(data_set.left_out)
        for run in data_set.runs:
            log_identity = tuple(run.statistics.get(key) for key in ("init_us", "events"))
            place = (
                data_set.name if None in log_identity else first.setdefault((run.name, *log_identity), data_set.name)
            )
            if place == data_set.name:
                kept_runs.append(run)
            else:
                left.append(f"{run.label}: its log is the one in {place}")
        result.append(replace(data_set, runs=tuple(kept_runs), left_out=tuple(left)))
    return result


def require_known(sets: list[MeasuredSet], stands_for: Mapping[str, str]) -> None:
    """Refuse names in `stands_for` that no set has.

    Raises:
        UserError: a name is in no set.
    """
    labels = {label for data_set in sets for label in data_set.content.experiment.labels}
    names = sorted(labels | {run.name for data_set in sets for run in data_set.runs})
    for name in stands_for:
        if name not in names:
            raise UserError("no run is of this scheme", argument="stands_for", value=name, allowed=names)


def _stand_in(
    content: ResultsDirectory,
    run: Run,
    name_of_scheme: str,
    stands_for: Mapping[str, str],
    set_counterparts: Mapping[str, Counterpart],
) -> tuple[Scheme | None, str]:
    """Return the scheme that simulates a run. `--as` may name the file's name, or the scheme that made the traffic."""
    if run.scheme not in content.experiment.labels:
        return None, "a mix of schemes: those are compared by `dumbbell diff`"
    return stand_in(run.scheme if run.scheme in stands_for else name_of_scheme, stands_for, set_counterparts, {})


def _unfit_reason(statistics: RunTable) -> str | None:
    """Return the reason why a test of iperf or flent cannot be simulated, or None."""
    facts = tool_facts(statistics)
    if facts.get("protocol", "TCP") != "TCP":
        return f"a test by {facts['protocol']}, which no congestion control sends"
    if facts.get("bidirectional"):
        return "data of both directions: flows of one direction are simulated"
    return None


def _head(file: Path) -> str:
    """Return the first lines of a log; empty if the file cannot be read."""
    try:
        return bytes(core.read_head(str(file), _HEAD_BYTES)).decode(errors="replace")
    except core.Error:
        return ""
