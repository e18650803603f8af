"""The results of an experiment: its runs and all their numbers, from a results directory."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property, partial
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from dumbbell.api.records.means import means, ordered
from dumbbell.api.records.metrics import check_metrics, metrics_table
from dumbbell.api.records.one_run import RunResults
from dumbbell.base.errors import UserError, listed, nearest
from dumbbell.base.progress import Progress
from dumbbell.catalog.outside.pantheon_names import Counterpart
from dumbbell.catalog.run_request import Names, names_of
from dumbbell.results import ACCEPTED, ResultsDirectory, campaign_state
from dumbbell.results.analysis.counterparts import counterparts
from dumbbell.results.analysis.findings import findings
from dumbbell.results.analysis.published import Beside, Replication, beside, published_json, replications
from dumbbell.results.analysis.summary import Repetitions, repetitions
from dumbbell.results.directory import DAMAGED, STATISTICS
from dumbbell.results.import_metadata import first_lines, tested
from dumbbell.results.integrity import faults
from dumbbell.results.recompute import has_all_packets, wrong_number
from dumbbell.results.series.run_files import kept_files
from dumbbell.results.series.table import Table
from dumbbell.results.sizes import sizes
from dumbbell.results.sql.index_file import index_faults

if TYPE_CHECKING:
    from dumbbell.api.records.figures import Figure
    from dumbbell.contract.environment import Environment
    from dumbbell.contract.run import RunTable
    from dumbbell.execution.pool import Outcome
    from dumbbell.experiment import Experiment, Run
    from dumbbell.results.analysis.number_columns import NumberColumns


class Results:
    """A results directory: `dumbbell.run` makes one, `dumbbell.open` reads one."""

    def __init__(
        self, content: ResultsDirectory, outcome: Outcome | None = None, only: tuple[Names, Names] = ((), ())
    ) -> None:
        self._content = content
        self._paths, self._schemes = only
        self.outcome = outcome
        """Outcome of the runs that were just made; None if the results were opened."""

    @property
    def directory(self) -> Path:
        """The results directory."""
        return self._content.directory

    @property
    def experiment(self) -> Experiment:
        """The resolved experiment."""
        return self._content.experiment

    @property
    def environment(self) -> Environment:
        """Circumstances on which the numbers depend: versions, kernel, CPU, settings."""
        return self._content.shown_environment()

    @property
    def campaign(self) -> dict[str, object] | None:
        """State of a campaign, with `alive`, or `damaged` for a damaged file; None without a campaign."""
        return campaign_state.as_json(self.directory)

    @property
    def running(self) -> bool:
        """True if a process is making runs of the results now."""
        return self._content.is_written

    @property
    def tested(self) -> list[str]:
        """Description of the test and its machines in imported files, one `key: value` each."""
        environment = self.environment
        git = first_lines(str((environment.get("imported") or {}).get("git_summary") or ""))
        return [*tested(environment), *(f"git: {line}" for line in git.splitlines() if line.strip())]

    @cached_property
    def counterparts(self) -> dict[str, Counterpart]:
        """Schemes of the catalog that simulate those of an imported test by Pantheon, by Pantheon's key.

        A key of Pantheon may mean another program than dumbbell's scheme of that name: `scream` is `scream-pantheon`.
        Empty for all other results.
        """
        return counterparts(self._content)

    @cached_property
    def runs(self) -> tuple[RunResults, ...]:
        """All runs, with missing ones, in the order of execution."""
        return tuple(map(self._result, self._planned))

    def _result(self, run: Run) -> RunResults:
        files = kept_files(self._content.folder(run))
        specify = partial(self.experiment.specification, run)
        return RunResults(self._content.readable(run), specify, files, self.experiment.schemes)

    @cached_property
    def _planned(self) -> list[Run]:
        """The runs, without those that `only` excluded."""
        all_runs = self._content.planned()
        return [run for run in all_runs if self._is_wanted(run.path, run.scheme)]

    def _is_wanted(self, path: str, scheme: str) -> bool:
        return path in (self._paths or (path,)) and scheme in (self._schemes or (scheme,))

    def only(self, path: Names = (), schemes: Names = ()) -> Results:
        """Return these results with only the runs on some paths, or of some schemes and mixes: `dumbbell show --path`.

        An empty argument excludes nothing. `figure` and `write_report` ignore the choice.

        Raises:
            dumbbell.Error: If the results have no such path or scheme.
        """
        chosen_names = (
            self._check_names("path", path) or self._paths,
            self._check_names("scheme", schemes) or self._schemes,
        )
        return Results(self._content, self.outcome, chosen_names)

    def _check_names(self, kind: str, names: Names) -> tuple[str, ...]:
        """Return the given names of paths, or of schemes and mixes.

        Raises:
            UserError: If the experiment has no such name.
        """
        experiment = self.experiment
        known_names = list(experiment.paths) if kind == "path" else [*experiment.labels, *experiment.mixes]
        return tuple(_chosen(kind, name, known_names) for name in names_of(names))

    @property
    def good(self) -> bool:
        """True if every run is done or degraded."""
        return all(status in ACCEPTED for status, count in self.states.items() if count)

    def faults(self) -> Iterator[tuple[RunResults, list[str]]]:
        """Yield every finished run with a line for each of its files that differs from its record.

        Failed, invalid and missing runs are omitted, because they must be made again anyway. If `files` is
        not in the `statistics` of a run (imported ones), its files are only checked for existence and for
        truncation.
        """
        for run in self.runs:
            if run.status == DAMAGED:
                yield run, [str(run.reason)]
            elif self.experiment.keeps_numbers and not run.kept and run.status in ACCEPTED:
                yield run, []
            elif run.status in ACCEPTED:
                folder = self._content.root / run.statistics["directory"]
                yield run, list(faults(folder, run.statistics, self.experiment.log))
            elif run.status == "missing" and run.kept:  # a run's directory is complete or absent
                yield run, [f"{STATISTICS} is missing"]

    def batch_faults(self) -> Iterator[str]:
        """Yield a line for each damaged batch of tables of runs that keep only their numbers."""
        yield from self._content.numbers.faults().values() if self.experiment.keeps_numbers else ()

    @property
    def damaged_batches(self) -> list[str]:
        """A line for each batch of such tables with a missing or truncated table.

        The runs of the batch are not read.
        """
        return self._content.numbers.damaged() if self.experiment.keeps_numbers else []

    def index_faults(self) -> list[str]:
        """Return a line if `results.sqlite` differs from the numbers of the runs: it is old, or was changed."""
        return list(index_faults(self._content))

    def recompute(self, most: int | None = None) -> Iterator[tuple[RunResults, str | None]]:
        """Yield runs with a line if their packet logs give other numbers than their statistics; else with None.

        The runs are all good ones that dumbbell executed and whose packets were kept, or a random sample of `most`
        runs. Numbers that need more than the packets, such as windows and times of completion, are not compared.
        """
        good_runs = (run for run in self.runs if run.status in ACCEPTED)
        possible = [run for run in good_runs if has_all_packets(self._content, run.statistics)]
        if most is not None and most < len(possible):
            sample = set(random.SystemRandom().sample(range(len(possible)), most))
            possible = [run for number, run in enumerate(possible) if number in sample]
        for run in possible:
            yield run, wrong_number(self._content, run.statistics)

    def sizes(self) -> dict[str, int]:
        """Return the size of the files in the directory by kind, bytes.

        Kinds are `packet_logs`, `samples`, `statistics`, `reports`, `database` and `other`. All are present. Links are
        not followed, and a database elsewhere (`--db-path`) is not counted.

        Raises:
            dumbbell.Error: If a folder cannot be read.
        """
        return sizes(self.directory)

    @cached_property
    def metrics(self) -> Table:
        """Every number of every run, one per row; `dumbbell.metrics()` and docs/reference/metrics.md define them.

        Columns: `path`, `scheme`, `run`, `status` (only numbers of `done` runs count), `level` (`network`, `flow`,
        `link`), `number` (of the flow or link, from 1; 0 of the network), `of` (the flow's scheme, the link's name),
        `metric`, `unit`, `value`.
        """
        return metrics_table(run.statistics for run in self.runs)

    def run(self, path: str | None = None, scheme: str | None = None, run: int | None = None) -> RunResults:
        """Return a run. Arguments with a single possible value are optional. The default of `run` is 1.

        Raises:
            dumbbell.Error: If there is no such run, or there are several.
        """
        experiment = self.experiment
        path = _chosen("path", path, list(experiment.paths))
        scheme = _chosen("scheme", scheme, [*experiment.labels, *experiment.mixes])
        number = 1 if run is None else run
        for candidate in self._planned:
            if (candidate.path, candidate.scheme, candidate.run) == (path, scheme, number):
                return self._result(candidate)
        raise UserError(f"no run {run!r} of {scheme} on {path}: allowed are 1 to {experiment.runs}")

    def packets(
        self, path: str | None = None, scheme: str | None = None, run: int | None = None, flow: int | None = None
    ) -> Table:
        """Return the packet log of a run, as `RunResults.packets`; `Results.run` describes the choice of the run."""
        return self.run(path, scheme, run).packets(flow)

    def samples(
        self,
        path: str | None = None,
        scheme: str | None = None,
        run: int | None = None,
        flow: int | None = None,
        field: str | None = None,
    ) -> Table:
        """Return the samples of a run's senders, as `RunResults.samples`; `Results.run` describes the choice."""
        return self.run(path, scheme, run).samples(flow, field)

    def links(
        self,
        path: str | None = None,
        scheme: str | None = None,
        run: int | None = None,
        link: str | None = None,
        field: str | None = None,
    ) -> Table:
        """Return the samples of a run's links, as `RunResults.links`; `Results.run` describes the choice of the run."""
        return self.run(path, scheme, run).links(link, field)

    def figure(
        self,
        kind: str,
        path: str | None = None,
        scheme: str | None = None,
        run: int | None = None,
        *,
        x: str | None = None,
        y: str | None = None,
        metric: str | None = None,
        schemes: Names = (),
        group_by: str | None = None,
        from_s: float | None = None,
        to_s: float | None = None,
        beside: Sequence[str | PathLike[str]] = (),
        legacy: bool = False,
        range: tuple[float, float] | None = None,
        size: str | None = None,
        font_pt: float | None = None,
        theme: str = "light",
    ) -> Figure:
        """Return a figure: `means` of all schemes on a path, `sweep` over a grid, or of one run (`RunResults.figure`).

        `x`, `y` and `metric` are names of metrics (`share:bbr`: the share of bbr in a mix), of sampled fields of a run,
        or of axes of a grid. `schemes` are the only schemes drawn, `group_by` is an axis of a grid, `from_s` and `to_s`
        a part of a run, `range` the range of the colours of `grid`. Each kind takes some of them:
        `dumbbell.figure_kinds` lists them. `normalised` shows all paths, each an experiment, also those of the results
        directories `beside`; `legacy` selects the denominators of the reproduction of the Copa paper.

        `size` is the size on paper: `1col` (3.5 in wide), `2col` (7.16 in), or `80mm` or `80x60mm` in mm, cm or
        in. Letters then have `font_pt` points (default: 8). The `theme` is `light`, `dark`, or `print`: black on
        white, without colours.

        Raises:
            dumbbell.Error: If there is no such kind, or nothing to draw.
        """
        from dumbbell.api.records.figures import results_figure, run_figure  # slow to import
        from dumbbell.present.figures import ALL_PATHS, GRID, RUN, check_options, scope
        from dumbbell.present.model.figure_request import FigureOptions
        from dumbbell.present.paper import sheet_of

        subject = scope(kind)
        numbers = (from_s, to_s, tuple(map(Path, beside)), legacy, range)
        options = FigureOptions(x, y, metric, names_of(schemes), group_by, *numbers)
        check_options(kind, options.given)
        self._check_names("scheme", options.schemes)
        sheet = sheet_of(size, font_pt, theme)
        if subject == ALL_PATHS and (path, scheme, run) != (None, None, None):
            raise UserError(f"figure `{kind}`: is of all runs: give neither `path` nor `scheme` nor `run`")
        if subject == RUN:
            return run_figure(kind, self.run(path, scheme, run), options, sheet)
        if subject == GRID:
            if run is not None:
                raise UserError(f"figure `{kind}`: is of all runs in cells of a grid: give no run")
            self._check_names("path", () if path is None else path)
            self._check_names("scheme", () if scheme is None else scheme)
        elif subject != ALL_PATHS:
            if scheme is not None or run is not None:
                raise UserError(f"figure `{kind}`: is of all schemes and runs on a path: give `path` only")
            path = _chosen("path", path, list(self.experiment.paths))
        return results_figure(kind, self.directory, path, scheme, options, sheet, convention=self.experiment.convention)

    def summary(self, sort: str | None = None) -> list[Repetitions]:
        """Return the runs of each scheme on each path as groups; `estimate` of a group gives its means with bounds.

        Groups without any finished run are omitted. With `sort`, a metric, the best scheme
        of each path comes first.

        Raises:
            dumbbell.Error: If there is no such metric, or no run has it.
        """
        groups = [group for group in self._groups.values() if group.missing < group.runs]
        return groups if sort is None else ordered(groups, sort)

    def means(self, metrics: Names = (), sort: str | None = None) -> Table:
        """Return means over the runs, a row for each path and scheme, with `NAME_low`, `NAME_high`, `NAME_bounds`.

        Default: the main metrics. Other `metrics` have a row for each path, scheme and entity. `dumbbell show --csv`
            prints this table.

        Raises:
            dumbbell.Error: If there is no such metric.
        """
        names = names_of(metrics)
        check_metrics(names)
        return means(self.summary(sort), self.experiment.convention_shown.keys, names)

    @cached_property
    def _groups(self) -> dict[tuple[str, str], Repetitions]:
        if self._columns is None:
            return self._judged_groups
        from dumbbell.results.analysis.number_columns import numbered_repetitions  # likewise

        groups = numbered_repetitions(self._columns, self._judged_groups)
        return {key: group for key, group in groups.items() if self._is_wanted(*key)}

    @cached_property
    def _columns(self) -> NumberColumns | None:
        """Columns of runs that are too many to be read one by one; None for fewer runs, and for runs with files."""
        if not self.experiment.keeps_numbers:
            return None
        from dumbbell.results.analysis.number_columns import NumberColumns, read_by_columns  # numpy is slow to import

        return NumberColumns(self._content) if read_by_columns(self.experiment) else None

    @cached_property
    def _judged(self) -> list[RunTable]:
        """Runs by which conduct is judged. If there are too many runs, only the first repetitions are judged."""
        if self._columns is None:
            return [run.statistics for run in self.runs]
        from dumbbell.results.analysis.number_columns import judged_runs  # likewise

        runs = list(judged_runs(self.experiment))
        self._columns.note_places(runs)
        return [self._content.readable(run) for run in runs]

    @cached_property
    def _judged_groups(self) -> dict[tuple[str, str], Repetitions]:
        return repetitions(self._judged)

    @cached_property
    def findings(self) -> list[str]:
        """Sentences on suspicious behaviour, and at most five on the results (docs/reference/findings.md)."""
        runs = [run for run in self._judged if self._is_wanted(run["path"], run["scheme"])]
        if self._columns is None:
            return findings(self.experiment, runs, self._groups)
        good = [run for run in runs if run["status"] in ACCEPTED]
        bad = [run.statistics for run in self.noteworthy]
        sentences = findings(self.experiment, [*good, *bad], self._groups, self.states)
        last_repetition = max((run["run"] for run in runs), default=0)
        sentences.append(
            f"What looks wrong in runs is judged by the first {last_repetition} of {self.experiment.runs} repetitions; "
            "the numbers are of all."
        )
        return sentences

    @property
    def states(self) -> dict[str, int]:
        """Number of runs of each status."""
        if self._columns is None:
            return dict(Counter(run.status for run in self.runs))
        good, missing = (sum(getattr(group, key) for group in self._groups.values()) for key in ("good", "missing"))
        total = sum(group.runs for group in self._groups.values())
        missing_status = DAMAGED if self.damaged_batches else "missing"
        states = {"done": good, missing_status: missing, "failed": total - good - missing}
        return {status: count for status, count in states.items() if count}

    @property
    def missing(self) -> dict[str, int]:
        """Number of missing runs for each reason."""
        if self._columns is None:
            return dict(Counter(str(run.reason) for run in self.runs if run.status == "missing"))
        count = self.states.get("missing", 0)
        return {self._content.why_missing: count} if count else {}

    @property
    def axes(self) -> dict[str, dict[str, object]]:
        """Values of the axes of each cell of a grid, by the name of its path."""
        cells = self.experiment.cells.items()
        return {name: cell.coordinates for name, cell in cells if name in (self._paths or (name,))}

    @cached_property
    def noteworthy(self) -> Sequence[RunResults]:
        """Runs that may need a note of their own: if there are many runs, only the failed ones."""
        if self._columns is None:
            return self.runs
        failed_runs = [run for run in self._columns.failed() if self._is_wanted(run.path, run.scheme)]
        self._columns.note_places(failed_runs)
        return [self._result(run) for run in failed_runs]

    def published(self) -> list[Beside]:
        """Return the simulated means beside the published ones of the experiment."""
        if not self.experiment.publication.rows:
            return []
        rows = beside(self.experiment, [run.statistics for run in self.runs])
        return [row for row in rows if self._is_wanted(row.path, row.scheme)]

    def replications(self) -> list[Replication]:
        """Return Pantheon's replication error for each path with published numbers (docs/reference/metrics.md)."""
        return replications(self.published())

    def as_json(self) -> dict[str, object]:
        """Return the object that `dumbbell show --json` prints."""
        runs = [dict(run.statistics) for run in self.runs]
        content: dict[str, object] = {
            "experiment": self.experiment.table(),
            "environment": self.environment,
            "runs": runs,
        }
        content["findings"] = self.findings
        if self.running:
            content["running"] = True
        going = self.campaign
        content |= published_json(self.experiment, self.published())
        return content | ({} if going is None else {"campaign": going})

    def write_report(
        self, *, html: bool | None = None, pdf: bool = True, all_runs: bool = False, run: str | None = None
    ) -> list[Path]:
        """Write `report.html` and `report.pdf` into the directory; return the files written.

        The report is short. With `all_runs` it is Pantheon's long form, with figures and statistics of every run, as
        PDF only.
        `run` (`PATH/SCHEME/N`) writes the page of this run instead: `report-PATH-SCHEME-N.html`.

        Raises:
            dumbbell.Error: If there is no such run, the options exclude each other, or a package is not installed.
        """
        with Progress() as progress:
            progress.doing("starting")
            try:
                from dumbbell.present.reports import write_report
            except ModuleNotFoundError as error:
                raise UserError(f"the report needs the package `{error.name}`, which is not installed") from None
            return write_report(
                self.directory,
                html,
                pdf,
                all_runs=all_runs,
                run=run,
                convention=self.experiment.convention,
                progress=progress,
            )

    def __repr__(self) -> str:
        return f"<dumbbell.Results: {self.experiment.name}, {len(self._planned)} runs in {self.directory}>"

    def _repr_html_(self) -> str:
        return summary_table(self)._repr_html_()


def summary_table(results: Results) -> Table:
    """Return a table of the main metrics of each scheme on each path: means over the runs."""
    convention = results.experiment.convention_shown
    rows = []
    for group in results.summary():
        scaled_means = [(group.estimate(("network", 0, metric.key)), metric.factor) for metric in convention.metrics]
        rows.append(
            [group.path, group.scheme, group.good, *(mean and mean.mean * factor for mean, factor in scaled_means)]
        )
    kinds = {"path": "text", "scheme": "text", "runs": "integer"}
    kinds |= {f"{metric.heading} ({convention.label})": "number" for metric in convention.metrics}
    return Table.of(kinds, rows)


def _chosen(kind: str, name: str | None, choices: list[str]) -> str:
    if name is None:
        if len(choices) == 1:
            return choices[0]
        raise UserError(f"there are {len(choices)} {kind}s: choose one of {listed(choices)}")
    if name not in choices:
        raise UserError(f"unknown {kind} `{name}`{nearest(name, choices)}: allowed are {listed(choices)}")
    return name
