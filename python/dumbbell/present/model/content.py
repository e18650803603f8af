"""Contents of a report, read from a results directory. Numbers are those of `stats.json`."""

from __future__ import annotations

import re
import shlex
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from dumbbell import core
from dumbbell.base.backend import Backend, find_backend
from dumbbell.base.clock import SYSTEM_CLOCK
from dumbbell.base.conventions import Convention
from dumbbell.base.entry import Entry
from dumbbell.base.errors import UserError, argument, listed, nearest, one_line, shortened
from dumbbell.base.input_files import TEXT, read_text
from dumbbell.base.version import __version__
from dumbbell.catalog.description import Description, describe
from dumbbell.catalog.experiment_file import parse_mix
from dumbbell.catalog.grids.cell import Cell
from dumbbell.catalog.path import PathModel
from dumbbell.catalog.scheme import WHAT
from dumbbell.experiment import Experiment, Run
from dumbbell.formats.pantheon_stats import RunTimes, recorded_times, simulated_times
from dumbbell.present.model.words.environment import Record, records
from dumbbell.present.model.words.path_words import is_even
from dumbbell.present.model.words.wording import data_path, path_sentence
from dumbbell.present.plots import Style, styles
from dumbbell.present.repeat import run_command
from dumbbell.results import ResultsDirectory, open_results
from dumbbell.results.analysis.axis_words import axis_phrases
from dumbbell.results.analysis.published import Beside, beside
from dumbbell.results.analysis.shares import is_mixed
from dumbbell.results.analysis.summary import Repetitions, repetitions
from dumbbell.results.clocks import Clocks, Interval, clocks_of
from dumbbell.results.import_metadata import first_lines
from dumbbell.results.numbers import flat
from dumbbell.results.series.run_files import PACKETS, RUN_FILES, kept_files
from dumbbell.results.series.transfers import Transfers, measure_transfers

if TYPE_CHECKING:
    from dumbbell.contract.run import RunTable
    from dumbbell.contract.statistics import EmulationReport, FlowStats, LinkStats, NetworkStats

NOTES_FILE = "notes.txt"
MOST_NOTES = 100
"""Maximum lines of the notes in a report."""
MOST_BARE = 100
"""Maximum sections of runs without results, since one takes half a megabyte to lay out; further runs have none."""
MOST_INTERVALS = 1_000_000
"""Rows of transfers of all runs after which further runs have none."""
_GOOD, _LATE = "done", "degraded"
_LONGEST_HEADING = 60
_REPEAT = "dumbbell run experiment.toml --out NEW"


@dataclass(frozen=True)
class SchemeEntry:
    """A scheme or a mix of schemes: its name in results, its title, and its look in figures.

    `kind` names the kinds of its schemes, as `a kernel controller`.
    """

    name: str
    title: str
    color: str = ""
    marker: str = ""
    source: str = ""
    kind: str = ""


@dataclass(frozen=True)
class PathEntry:
    """A path of the experiment.

    `sentence` describes its elements, `data_path` the elements that data passes, in order. `least_delay_ms` is the
    one-way delay of data on the empty path, or None if unknown.
    """

    name: str
    title: str
    provenance: str
    sentence: str
    least_delay_ms: float | None = None
    data_path: str = ""
    """Empty if the elements are unknown."""
    steady: bool = False
    """True if the path alone shows that its capacity never changes."""

    @property
    def heading(self) -> str:
        """Title, or the name if the title is long: titles of imported results can be whole commands."""
        return self.title if len(self.title) <= _LONGEST_HEADING else self.name


@dataclass(frozen=True)
class RunEntry:
    """One run.

    `folder` is relative to the results directory; `files` are the files of `RUN_FILES` in it. `content` is the run as
    in `dumbbell show --json`. `remark` is the reason why Pantheon's analysis would drop a run that counts here. `notes`
    describe unusual imported files; `transfers_problem` is the reason why transfers are missing.
    """

    path: str
    scheme: str
    number: int
    seed: int | None
    status: str
    reason: str
    remark: str
    folder: str
    files: tuple[str, ...]
    command: str
    times: RunTimes
    content: RunTable
    notes: tuple[str, ...] = ()
    transfers: Transfers | None = None
    transfers_problem: str = ""

    @property
    def name(self) -> str:
        """Name of the run as `--run` takes it."""
        return f"{self.path}/{self.scheme}/{self.number}"

    @property
    def late(self) -> bool:
        """True if the machine was too busy to keep the path's times; a late run is shown but counts in no mean."""
        return self.status == _LATE

    @property
    def good(self) -> bool:
        """True if the run counts in means (status `done`)."""
        return self.status == _GOOD

    @cached_property
    def clocks(self) -> Clocks | None:
        """Clocks of the two machines, or None for a run on one machine."""
        return clocks_of(self.content)

    def interval(self, level: str, number: int, metric: str) -> Interval | None:
        """Return the interval of the true one-way delay between two clocks; None for other metrics and runs."""
        if self.clocks is None:
            return None
        entity = self.network if level == "network" else next(flow for flow in self.flows if flow["flow"] == number)
        value = dict(flat(entity)).get(metric)
        return None if value is None else self.clocks.interval(level, number, metric, value)

    @property
    def negative_delays(self) -> str:
        """Reason for one-way delays below zero, as far as the clocks explain them; empty without such delays."""
        delays = (flow.get("owd_min_ms") for flow in self.flows)
        least = min((delay for delay in delays if delay is not None), default=0.0)
        if self.clocks is None or least >= 0.0:
            return ""
        reason = " ".join(self.clocks.explained) or "nothing was recorded that would explain them."
        return f"One-way delays below zero (the smallest is {least:.3f} ms): {reason}"

    @property
    def flows(self) -> Sequence[FlowStats]:
        """Metrics of the flows."""
        return self.content["flows"]

    @property
    def links(self) -> Sequence[LinkStats]:
        """Metrics of the links; the first is the bottleneck in the data direction."""
        return self.content["links"]

    @property
    def network(self) -> NetworkStats:
        """Metrics over all flows."""
        return self.content["network"]

    @property
    def emulation(self) -> EmulationReport | None:
        """Fidelity of the emulation, or None if the run was not emulated or ended too early."""
        return self.content.get("emulation")


@dataclass(frozen=True)
class ReportModel:
    """Contents of a report except figures."""

    directory: Path
    name: str
    title: str
    backend: Backend
    convention: Convention
    """Convention by which throughput, delay and loss are shown."""
    generated_at: str
    duration_s: float
    warmup_s: float
    runs_per_scheme: int
    flows: int
    interval_s: float
    even_flows: bool
    seed: int | None
    records: tuple[Record, ...]
    command: str
    notes: tuple[str, ...]
    titles: Mapping[str, str]
    schemes: tuple[SchemeEntry, ...]
    paths: tuple[PathEntry, ...]
    runs: tuple[RunEntry, ...] = field(repr=False)
    every_s: float | None = None
    """Time between the rounds of a campaign, s; None for other experiments."""
    published_source: str = ""
    published_rows: tuple[Beside, ...] = ()
    findings: tuple[str, ...] = ()
    """Conclusions from the results as sentences; the most important first."""

    @property
    def root(self) -> Entry:
        """Directory of the results, for reading files."""
        return Entry.of(self.directory)

    def of(self, path: str, scheme: str | None = None) -> list[RunEntry]:
        """Return the runs on a path, of one scheme or of all, in order."""
        return [run for run in self.runs if run.path == path and scheme in (None, run.scheme)]

    def run(self, name: str) -> RunEntry:
        """Return the run `PATH/SCHEME/N`.

        Raises:
            UserError: No run has this name.
        """
        prefix, parts = f"{argument('run')}: `{name}`", name.split("/")
        if len(parts) != 3:
            example = f", for example {self.runs[0].name}" if self.runs else ""
            raise UserError(f"{prefix}: expected PATH/SCHEME/N{example}")
        schemes = [scheme.name for scheme in self.schemes]
        for noun, part, names in zip(
            ("path", "scheme"), parts, ([path.name for path in self.paths], schemes), strict=False
        ):
            if part not in names:
                raise UserError(f"{prefix}: unknown {noun} `{part}`{nearest(part, names)}: allowed are {listed(names)}")
        runs = {str(run.number): run for run in self.of(*parts[:2])}
        if parts[2] not in runs:
            raise UserError(f"{prefix}: no run `{parts[2]}`: allowed are {listed(runs)}")
        return runs[parts[2]]

    def scheme_title(self, name: str) -> str:
        """Return the title of a scheme, also of a scheme that runs in mixes only; a mix has its label."""
        return self.titles.get(name, name)

    @property
    def mixes(self) -> list[str]:
        """Labels of the mixes among the schemes."""
        return [scheme.name for scheme in self.schemes if "+" in scheme.name or "*" in scheme.name]

    @cached_property
    def groups(self) -> dict[tuple[str, str], Repetitions]:
        """Repetitions by path and scheme."""
        return repetitions(run.content for run in self.runs)

    @cached_property
    def mixes_beside_singles(self) -> dict[str, frozenset[str]]:
        """Mixes by path, for paths that have single schemes too: totals of a mix do not compare with a scheme.

        On a path with single flows, several flows of one scheme count as a mix too.
        """
        mix_labels, several, alone = (defaultdict[str, set[str]](set) for _ in range(3))
        for (path, scheme), group in self.groups.items():
            flows = max(map(len, group.flows), default=0)
            (mix_labels if is_mixed(group) else several if flows > 1 else alone)[path].add(scheme)
        mixes_by_path = {}
        for path in (path.name for path in self.paths):
            single = any(self.groups[path, scheme].good for scheme in alone[path])
            mixes = mix_labels[path] | (several[path] if single else set())
            mixes_by_path[path] = frozenset(mixes if single or (mix_labels[path] and several[path]) else ())
        return mixes_by_path

    @cached_property
    def styles(self) -> dict[str, Style]:
        """Styles by scheme."""
        return styles((scheme.name, scheme.color, scheme.marker) for scheme in self.schemes)

    @cached_property
    def folders_without_section(self) -> frozenset[str]:
        """Folders of the runs without results that have no section, since `MOST_BARE` others come before them."""
        return frozenset([run.folder for run in self.runs if not run.flows][MOST_BARE:])

    @property
    def bad_runs(self) -> list[RunEntry]:
        """Runs that are missing, failed, or too inaccurate to enter means."""
        return [run for run in self.runs if not run.good]


def load(directory: Path, generated_at: datetime | None = None, convention: str | None = None) -> ReportModel:
    """Read a results directory for a report, without findings.

    Metrics follow `convention`, or the experiment's choice if it is None.

    Raises:
        UserError: `directory` has no results.
    """
    return model_of(open_results(directory, convention), generated_at)


def model_of(results: ResultsDirectory, generated_at: datetime | None = None) -> ReportModel:
    """Return the contents of a report, without findings."""
    experiment = results.experiment
    environment = results.shown_environment()
    labels = [*experiment.labels, *experiment.mixes]
    order = {label: place for place, label in enumerate(labels)}
    places = {name: place for place, name in enumerate(experiment.paths)}
    planned_runs = sorted(results.planned(), key=lambda run: (places[run.path], order[run.scheme], run.run))
    counts = {len(experiment.flow_plans(label, path)) for label in labels for path in experiment.paths}
    backend = experiment.backend
    runs: list[RunEntry] = []
    intervals = 0
    for run in planned_runs:
        entry = _run(results, run, intervals)
        intervals += len(entry.transfers.rows) if entry.transfers else 0
        runs.append(entry)
    return ReportModel(
        directory=results.directory,
        name=experiment.name,
        title=experiment.title,
        backend=backend,
        convention=experiment.convention_shown,
        generated_at=f"{generated_at or SYSTEM_CLOCK.utc():%Y-%m-%d %H:%M:%S}",
        duration_s=experiment.duration_s,
        warmup_s=experiment.warmup_s,
        runs_per_scheme=experiment.runs,
        flows=max(counts, default=0),
        interval_s=experiment.starts_apart_s,
        even_flows=not (experiment.flow or experiment.cells) and len(counts) == 1,
        seed=experiment.seed if experiment.capabilities.repeatable else None,
        records=records(environment, __version__),
        command=_REPEAT if experiment.capabilities.executes else _command_line(environment),
        notes=_notes(results.root / NOTES_FILE),
        titles={name: scheme.title for name, scheme in experiment.schemes.items()},
        schemes=tuple(_scheme(label, experiment) for label in labels),
        paths=tuple(_path(path, backend, experiment.cells.get(path.name)) for path in experiment.paths.values()),
        runs=tuple(runs),
        every_s=experiment.every_s,
        published_source=experiment.publication.source,
        published_rows=tuple(beside(experiment, (run.content for run in runs))),
    )


def _command_line(environment: Mapping[str, object]) -> str:
    command = environment.get("command")
    return shlex.join(str(word) for word in command) if isinstance(command, list) else ""


def _notes(file: Entry) -> tuple[str, ...]:
    """Return the lines of `notes.txt`, an optional file of the experimenter."""
    try:
        text = read_text(file, TEXT)
    except FileNotFoundError:
        return ()
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{file}: {one_line(error)}") from None
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return tuple(first_lines("\n".join(lines), MOST_NOTES, NOTES_FILE).splitlines())


def _scheme(label: str, experiment: Experiment) -> SchemeEntry:
    """Return the entry of a scheme or mix. A mix has its label as title, and the kinds of all its schemes."""
    if label in experiment.mixes:
        kinds = dict.fromkeys(WHAT[experiment.schemes[name].kind] for name, _ in parse_mix(label))
        return SchemeEntry(label, label, kind=" and ".join(kinds))
    scheme = experiment.schemes.get(label)
    if scheme is None:
        return SchemeEntry(label, label)
    return SchemeEntry(label, scheme.title, scheme.color, scheme.marker, scheme.source, WHAT[scheme.kind])


def _path(path: PathModel, backend: Backend, cell: Cell | None) -> PathEntry:
    """Return the entry of a path.

    A cell is named after its base and axis values: the title of its path may state a value that the cell changed.
    """
    least, title = None, path.title
    if cell and cell.axis_values:
        title = f"{cell.base}: {axis_phrases(cell.axis_values)}"
        path = replace(path, title=title)
    steady = False
    if backend.capabilities.executes:
        description = describe(path.spec())
        delays = [delay.delay_ms for delay in description.delays if delay.direction == "data"]
        least = sum(delays) if delays else None
        steady = _is_steady(path, description)
    return PathEntry(
        path.name,
        title,
        shortened(path.provenance),
        path_sentence(path, backend),
        least,
        data_path(path, backend),
        steady,
    )


def _is_steady(path: PathModel, description: Description) -> bool:
    """Return True if the path alone fixes its capacity and the capacity never changes."""
    if description.rates_mbps is not None:
        return len(description.rates_mbps[0]) == 1
    links = [path.spec()["data"][link.element] for link in description.links if link.direction == "data"]
    return len(links) == 1 and links[0]["kind"] == "trace" and is_even(links[0]) and not links[0].get("schedule")


def _run(results: ResultsDirectory, run: Run, intervals: int) -> RunEntry:
    """Return the entry of a run; `intervals`: rows of transfers in the runs before it."""
    folder = results.folder(run)
    content = results.readable(run)
    network = content["network"]
    good = content["status"] == _GOOD
    transfers, transfers_problem = _transfers(results.experiment, folder, content, intervals)
    return RunEntry(
        path=run.path,
        scheme=run.scheme,
        number=run.run,
        seed=content["seed"],
        status=content["status"],
        reason="" if good else shortened(str(content.get("reason") or "no reason was recorded")),
        remark=str(network.get("invalid_reason") or "") if good else "",
        folder=results.place(run),
        files=tuple(name for name in RUN_FILES if (folder / name).is_file()),
        command=run_command(run, results.experiment),
        times=_times(content, folder / "log.txt", results.experiment.duration_s),
        content=content,
        notes=tuple(str(note) for note in content.get("notes", ())),
        transfers=transfers,
        transfers_problem=transfers_problem,
    )


def _transfers(
    experiment: Experiment, folder: Entry, content: RunTable, intervals: int
) -> tuple[Transfers | None, str]:
    """Return the transfers of a run if the experiment asks for them, or the reason why they are missing."""
    if experiment.intervals_s is None:
        return None, ""
    if intervals > MOST_INTERVALS:
        return None, f"the runs before it have {intervals} rows of intervals: allowed are at most {MOST_INTERVALS}"
    packets = kept_files(folder).get(PACKETS)
    try:
        return measure_transfers(packets, content, experiment.duration_s, experiment.intervals_s), ""
    except core.Error as error:
        return None, one_line(error).replace(f"{folder}/", "")


_STAMP = re.compile(r"(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)Z ", re.ASCII)


def _times(content: RunTable, log: Entry, duration_s: float) -> RunTimes:
    """Return the times of a run from its statistics, or from the first and last timestamp of its log."""
    times = recorded_times(content, duration_s)
    if times.started or "imported" in content:
        return times
    try:
        text = read_text(log, TEXT)
    except (OSError, UserError, UnicodeDecodeError):
        return times
    stamps = [" ".join(match.groups()) for match in map(_STAMP.match, text.splitlines()) if match]
    if not stamps:
        return times
    virtual = find_backend(str(content["backend"])).capabilities.virtual_time
    return simulated_times(stamps[0], duration_s) if virtual else RunTimes(stamps[0], stamps[-1])
