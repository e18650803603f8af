"""A measured set: its runs, the schemes that simulate them, and what the files say of the path."""

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
"""What Pantheon's tunnel adds to each datagram."""
_HEAD_BYTES = 8192
_PLACE = re.compile(r"> (/\S+?)/src/experiments/")
"""Pantheon's folder in the first line of a log of mm-link."""


Key: TypeAlias = tuple[str, str, int]
"""A measured run: its set, its scheme there, its number."""


@dataclass(frozen=True)
class MeasuredRun:
    """One run that was measured, and the scheme that simulates it."""

    place: str
    """The set that it is of."""
    name: str
    """What its scheme is called there."""
    number: int
    scheme: Scheme
    folder: Entry
    statistics: RunTable = field(repr=False)
    note: str = ""
    """What the scheme does otherwise than the program that was measured."""
    view: Viewpoint = BOTH_ENDS
    """From where it was seen."""
    file: str = ""
    """Name of its file, where that is not the name of its scheme."""

    @property
    def key(self) -> Key:
        """Which it is."""
        return (self.place, self.name, self.number)

    @property
    def label(self) -> str:
        """For people."""
        return f"{self.name}, run {self.number}" + (f" ({self.file})" if self.file else "")

    @property
    def has_packets(self) -> bool:
        """Whether its packets are known, not its numbers alone."""
        return PACKETS in kept_files(self.folder)

    @cached_property
    def packets(self) -> RunPackets:
        """Its packet log."""
        return RunPackets(self.folder)

    def metrics(self, flow: int) -> dict[str, float | None]:
        """Return the measures of one flow, or of all together (0), as they were measured."""
        return self.view.of(self.statistics, flow)

    @property
    def flows(self) -> list[int]:
        """Its flows, all of them together (0) first; of one flow alone there is no other."""
        numbers = [int(each["flow"]) for each in self.statistics["flows"]]
        return [0, *numbers] if len(numbers) > 1 else [0]


@dataclass(frozen=True)
class MeasuredSet:
    """The runs of one data directory, and what its files say of the path."""

    name: str
    source: Path
    content: ResultsDirectory
    runs: tuple[MeasuredRun, ...]
    left_out: tuple[str, ...]
    command: MahimahiCommand | None
    """What mahimahi was told, of a local test by Pantheon."""
    metadata: Mapping[str, Any]

    def command_of(self, run: MeasuredRun) -> MahimahiCommand | None:
        """Return the command of mahimahi for a run. The heads of the run's logs win over the metadata of the set.

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
        """Return the mean capacity of a run's link, which Pantheon's analysis took from its log; None if not there."""
        file = self._file(f"{run.name}_stats_run{run.number}.log")
        return None if file is None else read_capacity(file)

    def _file(self, name: str) -> Path | None:
        return next((each for end in PACKED if (each := self.source / f"{name}{end}").is_file()), None)

    @cached_property
    def host(self) -> str:
        """What tells the host from others: where its logs of mm-link say that Pantheon was; else the set alone."""
        for file in sorted(self.source.glob("*_mm_datalink_run*.log*")):
            if match := _PLACE.search(_head(file)):
                return match[1]
        return self.name

    @property
    def _listed(self) -> Collection[str]:
        """The schemes that the metadata are of."""
        given = self.metadata.get("cc_schemes", ())
        return given.split() if isinstance(given, str) else given

    @property
    def overhead_bytes(self) -> int:
        """What the measured path added to each datagram."""
        return TUNNEL_BYTES if self.metadata and self.metadata.get("flows", 1) else 0


def measured_set(content: ResultsDirectory, name: str, source: Path, stands_for: Mapping[str, str]) -> MeasuredSet:
    """Return the runs of an import that can be simulated; `stands_for` are schemes of the set by ours.

    Raises:
        UserError: `stands_for` names a scheme that the set does not have, or its metadata say what mahimahi is not.
    """
    known = counterparts(content)
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
        called = run.scheme if metadata else recorded_scheme(run.scheme, statistics)
        stand_ins = known if metadata else kernel_counterparts(statistics)
        scheme, reason = _stand_in(content, run, called, stands_for, stand_ins)
        view = BOTH_ENDS if metadata else viewpoint_of(statistics)
        if (unfit := _unfit(statistics)) is not None:
            left.append(f"{label}: {unfit}")
        elif scheme is None:
            left.append(f"{run.scheme}: {reason}")
        elif view is None or not statistics["network"].get(view.metrics[RATE]):
            left.append(f"{label}: nothing arrived" if metadata else f"{label}: it does not tell what arrived")
        else:
            note = known[run.scheme].note if run.scheme in known and run.scheme not in stands_for else ""
            counts[called] += 1
            number, file = (run.run, "") if metadata else (counts[called], run.scheme if run.scheme != called else "")
            folder = content.folder(run)
            runs.append(MeasuredRun(name, called, number, scheme, folder, statistics, note, view, file))
    is_local = metadata.get("mode", "local" if "uplink_trace" in metadata else "remote") == "local"
    # dumbbell's own exports do not say what mahimahi would be told
    is_told = bool(metadata) and is_local and WRITTEN_BY not in metadata
    command = read_command(metadata, str(source / METADATA)) if is_told else None
    return MeasuredSet(name, source, content, tuple(runs), tuple(dict.fromkeys(left)), command, metadata)


def without_copies(sets: list[MeasuredSet]) -> list[MeasuredSet]:
    """Return the sets without runs whose log is also in an earlier set: later tests leave it where it was."""
    first: dict[tuple[object, ...], str] = {}
    found = []
    for each in sets:
        kept, left = [], list(each.left_out)
        for run in each.runs:
            made = tuple(run.statistics.get(key) for key in ("init_us", "events"))
            place = each.name if None in made else first.setdefault((run.name, *made), each.name)
            if place == each.name:
                kept.append(run)
            else:
                left.append(f"{run.label}: its log is the one in {place}")
        found.append(replace(each, runs=tuple(kept), left_out=tuple(left)))
    return found


def require_known(sets: list[MeasuredSet], stands_for: Mapping[str, str]) -> None:
    """Refuse names that no set has.

    Raises:
        UserError: there is such a name.
    """
    labels = {label for each in sets for label in each.content.experiment.labels}
    known = sorted(labels | {run.name for each in sets for run in each.runs})
    for name in stands_for:
        if name not in known:
            raise UserError("no run is of this scheme", argument="stands_for", value=name, allowed=known)


def _stand_in(
    content: ResultsDirectory, run: Run, called: str, stands_for: Mapping[str, str], known: Mapping[str, Counterpart]
) -> tuple[Scheme | None, str]:
    """The scheme that simulates a run: `--as` may name what its file is called, or what made its traffic."""
    if run.scheme not in content.experiment.labels:
        return None, "a mix of schemes: those are compared by `dumbbell diff`"
    return stand_in(run.scheme if run.scheme in stands_for else called, stands_for, known, {})


def _unfit(statistics: RunTable) -> str | None:
    """Return why nothing simulates what iperf or flent did, if nothing does."""
    facts = tool_facts(statistics)
    if facts.get("protocol", "TCP") != "TCP":
        return f"a test by {facts['protocol']}, which no congestion control sends"
    if facts.get("bidirectional"):
        return "data of both directions: flows of one direction are simulated"
    return None


def _head(file: Path) -> str:
    """The first lines of a log; empty if it cannot be read."""
    try:
        return bytes(core.read_head(str(file), _HEAD_BYTES)).decode(errors="replace")
    except core.Error:
        return ""
