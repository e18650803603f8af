"""What a report shows, taken from a results directory. Numbers are those of `stats.json` as they stand."""

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
"""Lines of it that a report has."""
MOST_BARE = 100
"""Sections of runs without results: those of the others are left out, for each takes half a megabyte to lay out."""
MOST_INTERVALS = 1_000_000
"""Rows of transfers of all runs: where there are more, those of the runs that follow are left out."""
_GOOD, _LATE = "done", "degraded"
_LONGEST_HEADING = 60
_REPEAT = "dumbbell run experiment.toml --out NEW"


@dataclass(frozen=True)
class SchemeEntry:
    """A scheme or a mix of schemes: its name in results, its name for people, and how figures draw it.

    `kind` says what it is made of, as `a kernel controller`.
    """

    name: str
    title: str
    color: str = ""
    marker: str = ""
    source: str = ""
    kind: str = ""


@dataclass(frozen=True)
class PathEntry:
    """A path of the experiment; `sentence` says what it is made of, `data_path` what data passes in its order.

    `least_delay_ms` is the one-way delay of data on the empty path; None where the path does not tell.
    """

    name: str
    title: str
    provenance: str
    sentence: str
    least_delay_ms: float | None = None
    data_path: str = ""
    """Empty where nobody knows it."""
    steady: bool = False
    """Whether its capacity is the same all the time; not where the path does not tell."""

    @property
    def heading(self) -> str:
        """The title if it is short; those of imported results can be whole commands."""
        return self.title if len(self.title) <= _LONGEST_HEADING else self.name


@dataclass(frozen=True)
class RunEntry:
    """One run. `folder` is relative to the results directory, `files` are those of `RUN_FILES` that exist there.

    `content` is the run as in `dumbbell show --json`; `remark` says why Pantheon's analysis would drop it although it
    counts here, `notes` what is unusual about the files that it was imported from, `untransferred` why its
    transfers are missing.
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
    untransferred: str = ""

    @property
    def name(self) -> str:
        """The run as `--run` takes it."""
        return f"{self.path}/{self.scheme}/{self.number}"

    @property
    def late(self) -> bool:
        """Whether the machine was too busy to keep the path's times: it is shown, and counts in no mean."""
        return self.status == _LATE

    @property
    def good(self) -> bool:
        """Whether its numbers count."""
        return self.status == _GOOD

    @cached_property
    def clocks(self) -> Clocks | None:
        """What is known of the clocks of its ends, if it had two."""
        return clocks_of(self.content)

    def interval(self, level: str, number: int, metric: str) -> Interval | None:
        """Where the true value of a one-way delay lies that two clocks measured; `None` of everything else."""
        if self.clocks is None:
            return None
        entity = self.network if level == "network" else next(flow for flow in self.flows if flow["flow"] == number)
        value = dict(flat(entity)).get(metric)
        return None if value is None else self.clocks.interval(level, number, metric, value)

    @property
    def negative_delays(self) -> str:
        """Why some of its one-way delays are below zero, as far as its clocks tell; empty if none is."""
        delays = (flow.get("owd_min_ms") for flow in self.flows)
        least = min((delay for delay in delays if delay is not None), default=0.0)
        if self.clocks is None or least >= 0.0:
            return ""
        why = " ".join(self.clocks.explained) or "nothing was recorded that would explain them."
        return f"One-way delays below zero (the smallest is {least:.3f} ms): {why}"

    @property
    def flows(self) -> Sequence[FlowStats]:
        """The metrics of its flows."""
        return self.content["flows"]

    @property
    def links(self) -> Sequence[LinkStats]:
        """The metrics of its links; the first is the bottleneck in the data direction."""
        return self.content["links"]

    @property
    def network(self) -> NetworkStats:
        """The metrics over all its flows."""
        return self.content["network"]

    @property
    def emulation(self) -> EmulationReport | None:
        """How faithful the emulator was, if there was one and it got that far."""
        return self.content.get("emulation")


@dataclass(frozen=True)
class ReportModel:
    """Everything a report shows except figures."""

    directory: Path
    name: str
    title: str
    backend: Backend
    shown: Convention
    """By which throughput, delay and loss are shown."""
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
    """Of a campaign: the time between its rounds."""
    published_source: str = ""
    published: tuple[Beside, ...] = ()
    findings: tuple[str, ...] = ()
    """What the results show, as sentences; the most important first."""

    @property
    def root(self) -> Entry:
        """The way to all that is in the directory."""
        return Entry.of(self.directory)

    def of(self, path: str, scheme: str | None = None) -> list[RunEntry]:
        """The runs on a path, of one scheme or of all, in order."""
        return [run for run in self.runs if run.path == path and scheme in (None, run.scheme)]

    def run(self, name: str) -> RunEntry:
        """Return the run `PATH/SCHEME/N`.

        Raises:
            UserError: there is no such run.
        """
        given, parts = f"{argument('run')}: `{name}`", name.split("/")
        if len(parts) != 3:
            example = f", for example {self.runs[0].name}" if self.runs else ""
            raise UserError(f"{given}: expected PATH/SCHEME/N{example}")
        schemes = [scheme.name for scheme in self.schemes]
        for what, part, allowed in zip(
            ("path", "scheme"), parts, ([path.name for path in self.paths], schemes), strict=False
        ):
            if part not in allowed:
                raise UserError(
                    f"{given}: unknown {what} `{part}`{nearest(part, allowed)}: allowed are {listed(allowed)}"
                )
        runs = {str(run.number): run for run in self.of(*parts[:2])}
        if parts[2] not in runs:
            raise UserError(f"{given}: no run `{parts[2]}`: allowed are {listed(runs)}")
        return runs[parts[2]]

    def scheme_title(self, name: str) -> str:
        """The title of the scheme, also of one that runs in a mix only; a mix has its label."""
        return self.titles.get(name, name)

    @property
    def mixes(self) -> list[str]:
        """The labels of mixes among the schemes."""
        return [scheme.name for scheme in self.schemes if "+" in scheme.name or "*" in scheme.name]

    @cached_property
    def gathered(self) -> dict[tuple[str, str], Repetitions]:
        """The runs by path and scheme."""
        return repetitions(run.content for run in self.runs)

    @cached_property
    def mixes_beside_singles(self) -> dict[str, frozenset[str]]:
        """The mixes on each path that has runs of single schemes too: what they carry is compared with nobody.

        Where there are single flows, those of one scheme that compete with each other are a mix as well.
        """
        mixed, several, alone = (defaultdict[str, set[str]](set) for _ in range(3))
        for (path, scheme), group in self.gathered.items():
            flows = max(map(len, group.flows), default=0)
            (mixed if is_mixed(group) else several if flows > 1 else alone)[path].add(scheme)
        found = {}
        for path in (path.name for path in self.paths):
            single = any(self.gathered[path, scheme].good for scheme in alone[path])
            mixes = mixed[path] | (several[path] if single else set())
            found[path] = frozenset(mixes if single or (mixed[path] and several[path]) else ())
        return found

    @cached_property
    def styles(self) -> dict[str, Style]:
        """How its schemes look."""
        return styles((scheme.name, scheme.color, scheme.marker) for scheme in self.schemes)

    @cached_property
    def unsectioned(self) -> frozenset[str]:
        """The folders of runs that have no section of their own: they have no results, as many others before them."""
        return frozenset([run.folder for run in self.runs if not run.flows][MOST_BARE:])

    @property
    def bad_runs(self) -> list[RunEntry]:
        """Runs that are missing, failed, or too unfaithful to the path to enter averages."""
        return [run for run in self.runs if not run.good]


def load(directory: Path, generated_at: datetime | None = None, convention: str | None = None) -> ReportModel:
    """Read a results directory, to be shown by `convention` or as the experiment says; without findings.

    Raises:
        UserError: it is none.
    """
    return model_of(open_results(directory, convention), generated_at)


def model_of(results: ResultsDirectory, generated_at: datetime | None = None) -> ReportModel:
    """Return what a report shows of results; without findings."""
    experiment = results.experiment
    environment = results.shown_environment()
    labels = [*experiment.labels, *experiment.mixes]
    order = {label: place for place, label in enumerate(labels)}
    places = {name: place for place, name in enumerate(experiment.paths)}
    planned = sorted(results.planned(), key=lambda run: (places[run.path], order[run.scheme], run.run))
    counts = {len(experiment.flow_plans(label, path)) for label in labels for path in experiment.paths}
    backend = experiment.backend
    runs: list[RunEntry] = []
    intervals = 0
    for run in planned:
        entry = _run(results, run, intervals)
        intervals += len(entry.transfers.rows) if entry.transfers else 0
        runs.append(entry)
    return ReportModel(
        directory=results.directory,
        name=experiment.name,
        title=experiment.title,
        backend=backend,
        shown=experiment.shown,
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
        published_source=experiment.published.source,
        published=tuple(beside(experiment, (run.content for run in runs))),
    )


def _command_line(environment: Mapping[str, object]) -> str:
    command = environment.get("command")
    return shlex.join(str(word) for word in command) if isinstance(command, list) else ""


def _notes(file: Entry) -> tuple[str, ...]:
    """The lines of `notes.txt`, which whoever made the results may put there."""
    try:
        text = read_text(file, TEXT)
    except FileNotFoundError:
        return ()
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{file}: {one_line(error)}") from None
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return tuple(first_lines("\n".join(lines), MOST_NOTES, NOTES_FILE).splitlines())


def _scheme(label: str, experiment: Experiment) -> SchemeEntry:
    """A mix has no entry of its own: its label is its title, and it is made of all that its schemes are."""
    if label in experiment.mixes:
        kinds = dict.fromkeys(WHAT[experiment.schemes[name].kind] for name, _ in parse_mix(label))
        return SchemeEntry(label, label, kind=" and ".join(kinds))
    scheme = experiment.schemes.get(label)
    if scheme is None:
        return SchemeEntry(label, label)
    return SchemeEntry(label, scheme.title, scheme.color, scheme.marker, scheme.source, WHAT[scheme.kind])


def _path(path: PathModel, backend: Backend, cell: Cell | None) -> PathEntry:
    """Return the entry of a path. A cell is called by what made it: the title of its path may say what it changed."""
    least, title = None, path.title
    if cell and cell.axis_values:
        title = f"{cell.base}: {axis_phrases(cell.axis_values)}"
        path = replace(path, title=title)
    steady = False
    if backend.capabilities.executes:
        described = describe(path.spec())
        delays = [delay.delay_ms for delay in described.delays if delay.direction == "data"]
        least = sum(delays) if delays else None
        steady = _is_steady(path, described)
    return PathEntry(
        path.name,
        title,
        shortened(path.provenance),
        path_sentence(path, backend),
        least,
        data_path(path, backend),
        steady,
    )


def _is_steady(path: PathModel, described: Description) -> bool:
    """Return whether the capacity of the path follows from it alone, and is the same all the time."""
    if described.rates_mbps is not None:
        return len(described.rates_mbps[0]) == 1
    links = [path.spec()["data"][link.element] for link in described.links if link.direction == "data"]
    return len(links) == 1 and links[0]["kind"] == "trace" and is_even(links[0]) and not links[0].get("schedule")


def _run(results: ResultsDirectory, planned: Run, intervals: int) -> RunEntry:
    """A run; the runs before it have so many rows of intervals."""
    folder = results.folder(planned)
    content = results.readable(planned)
    network = content["network"]
    good = content["status"] == _GOOD
    transfers, untransferred = _transfers(results.experiment, folder, content, intervals)
    return RunEntry(
        path=planned.path,
        scheme=planned.scheme,
        number=planned.run,
        seed=content["seed"],
        status=content["status"],
        reason="" if good else shortened(str(content.get("reason") or "no reason was recorded")),
        remark=str(network.get("invalid_reason") or "") if good else "",
        folder=results.place(planned),
        files=tuple(name for name in RUN_FILES if (folder / name).is_file()),
        command=run_command(planned, results.experiment),
        times=_times(content, folder / "log.txt", results.experiment.duration_s),
        content=content,
        notes=tuple(str(note) for note in content.get("notes", ())),
        transfers=transfers,
        untransferred=untransferred,
    )


def _transfers(
    experiment: Experiment, folder: Entry, content: RunTable, intervals: int
) -> tuple[Transfers | None, str]:
    """The transfers of a run, if the experiment asks for them, and why there are none although it does."""
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
    """Return the times of a run, of its statistics, else of the first and last stamp of its log."""
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
