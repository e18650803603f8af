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
        """What became of the runs that were made just now; None of results that were opened."""

    @property
    def directory(self) -> Path:
        """Where everything is."""
        return self._content.directory

    @property
    def experiment(self) -> Experiment:
        """What was run: names looked up, numbers fixed."""
        return self._content.experiment

    @property
    def environment(self) -> Environment:
        """What the numbers depend on besides: versions, kernel, processor, settings."""
        return self._content.shown_environment()

    @property
    def campaign(self) -> dict[str, object] | None:
        """Where a campaign stands, and if it is `alive`; of a damaged file `damaged`; None of what is no campaign."""
        return campaign_state.as_json(self.directory)

    @property
    def running(self) -> bool:
        """Whether a process is making runs of it at this moment."""
        return self._content.is_written

    @property
    def tested(self) -> list[str]:
        """What the files that were imported say about the test and its machines, one `key: value` each."""
        environment = self.environment
        git = first_lines(str((environment.get("imported") or {}).get("git_summary") or ""))
        return [*tested(environment), *(f"git: {line}" for line in git.splitlines() if line.strip())]

    @cached_property
    def counterparts(self) -> dict[str, Counterpart]:
        """The catalog's schemes that simulate those of an imported test by Pantheon, by Pantheon's key.

        Pantheon's keys mean other programs than schemes of the same name here: its `scream` is `scream-pantheon`. Empty
        for all other results.
        """
        return counterparts(self._content)

    @cached_property
    def runs(self) -> tuple[RunResults, ...]:
        """Every run, the missing ones included, in the order in which they are made."""
        return tuple(map(self._result, self._planned))

    def _result(self, run: Run) -> RunResults:
        kept = kept_files(self._content.folder(run))
        specify = partial(self.experiment.specification, run)
        return RunResults(self._content.readable(run), specify, kept, self.experiment.schemes)

    @cached_property
    def _planned(self) -> list[Run]:
        """The runs, without those that `only` left out."""
        planned = self._content.planned()
        return [run for run in planned if self._is_wanted(run.path, run.scheme)]

    def _is_wanted(self, path: str, scheme: str) -> bool:
        return path in (self._paths or (path,)) and scheme in (self._schemes or (scheme,))

    def only(self, path: Names = (), schemes: Names = ()) -> Results:
        """These results with the runs on some paths, or of some schemes and mixes, only: `dumbbell show --path`.

        What is not given leaves nothing out. `figure` and `write_report` choose for themselves.

        Raises:
            dumbbell.Error: the results have no such path or scheme.
        """
        wanted = (self._known("path", path) or self._paths, self._known("scheme", schemes) or self._schemes)
        return Results(self._content, self.outcome, wanted)

    def _known(self, what: str, given: Names) -> tuple[str, ...]:
        """Return the names that are given of paths, or of schemes and mixes.

        Raises:
            UserError: the experiment has none of such a name.
        """
        experiment = self.experiment
        allowed = list(experiment.paths) if what == "path" else [*experiment.labels, *experiment.mixes]
        return tuple(_chosen(what, name, allowed) for name in names_of(given))

    @property
    def good(self) -> bool:
        """Whether every run was made as well as this machine can."""
        return all(status in ACCEPTED for status, count in self.states.items() if count)

    def faults(self) -> Iterator[tuple[RunResults, list[str]]]:
        """Yield every finished run with what is wrong with its files: a line for each that is not as it was recorded.

        Runs that failed, are invalid or were not made are left out: they have to be made again anyway. Where `files` is
        not in the `statistics` of a run (imported ones), its files are only looked at whether they are there and not
        cut off.
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
        """Yield what is wrong with the common tables of runs of which only the numbers were kept: a line per batch."""
        yield from self._content.numbers.faults().values() if self.experiment.keeps_numbers else ()

    @property
    def damaged_batches(self) -> list[str]:
        """A line for each batch of such tables of which one is missing or has another size: its runs are not read."""
        return self._content.numbers.damaged() if self.experiment.keeps_numbers else []

    def index_faults(self) -> list[str]:
        """Return a line if `results.sqlite` says other numbers than the runs: it is old, or somebody has changed it."""
        return list(index_faults(self._content))

    def recompute(self, most: int | None = None) -> Iterator[tuple[RunResults, str | None]]:
        """Yield runs with a line if their packet logs tell other numbers than their statistics; else with None.

        All good runs that dumbbell has executed and whose packets were kept, or `most` of them, drawn at random.
        Numbers that need more than the packets, such as windows and times of completion, are not compared.
        """
        made = (run for run in self.runs if run.status in ACCEPTED)
        possible = [run for run in made if has_all_packets(self._content, run.statistics)]
        if most is not None and most < len(possible):
            drawn = set(random.SystemRandom().sample(range(len(possible)), most))
            possible = [run for number, run in enumerate(possible) if number in drawn]
        for run in possible:
            yield run, wrong_number(self._content, run.statistics)

    def sizes(self) -> dict[str, int]:
        """Return how many bytes the files in the directory take, by kind.

        Kinds are `packet_logs`, `samples`, `statistics`, `reports`, `database` and `other`; each is there. Links are
        not followed, and a database elsewhere (`--db-path`) is not counted.

        Raises:
            dumbbell.Error: a folder cannot be read.
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
        """One run. What is the same for all runs need not be given; without `run` it is the first repetition.

        Raises:
            dumbbell.Error: there is no such run, or there are several.
        """
        experiment = self.experiment
        path = _chosen("path", path, list(experiment.paths))
        scheme = _chosen("scheme", scheme, [*experiment.labels, *experiment.mixes])
        number = 1 if run is None else run
        for found in self._planned:
            if (found.path, found.scheme, found.run) == (path, scheme, number):
                return self._result(found)
        raise UserError(f"no run {run!r} of {scheme} on {path}: allowed are 1 to {experiment.runs}")

    def packets(
        self, path: str | None = None, scheme: str | None = None, run: int | None = None, flow: int | None = None
    ) -> Table:
        """The packet log of a run: `RunResults.packets`; `Results.run` says how to choose one."""
        return self.run(path, scheme, run).packets(flow)

    def samples(
        self,
        path: str | None = None,
        scheme: str | None = None,
        run: int | None = None,
        flow: int | None = None,
        field: str | None = None,
    ) -> Table:
        """What was sampled of a run's senders: `RunResults.samples`; `Results.run` says how to choose one."""
        return self.run(path, scheme, run).samples(flow, field)

    def links(
        self,
        path: str | None = None,
        scheme: str | None = None,
        run: int | None = None,
        link: str | None = None,
        field: str | None = None,
    ) -> Table:
        """What was sampled of a run's links: `RunResults.links`; `Results.run` says how to choose one."""
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
        """A figure: `means` of all schemes on a path, `sweep` over a grid, or of one run (`RunResults.figure`).

        `x`, `y` and `metric` are names of metrics (`share:bbr`: what bbr gets in a mix), of fields that a run sampled,
        or of axes of a grid; `schemes` draws only these, `group_by` is an axis of a grid, `from_s` and `to_s` a part of
        a run, `range` what the colours of `grid` span. Each kind takes some of them: `dumbbell.figure_kinds` says
        which. `normalised` is of all paths, each an experiment, and of those of the results directories `beside`;
        `legacy`: by the denominators of the reproduction of the Copa paper.

        `size` is what it takes on paper: `1col` (3.5 in wide), `2col` (7.16 in), or `80mm` or `80x60mm` in mm, cm or
        in; letters have `font_pt` points then (8 unless given). The `theme` is `light`, `dark`, or `print`: black on
        white, without colours.

        Raises:
            dumbbell.Error: there is no such kind, or nothing to draw.
        """
        from dumbbell.api.records.figures import results_figure, run_figure  # slow to import
        from dumbbell.present.figures import ALL_PATHS, GRID, RUN, check_options, scope
        from dumbbell.present.model.figure_request import FigureOptions
        from dumbbell.present.paper import sheet_of

        of = scope(kind)
        numbers = (from_s, to_s, tuple(map(Path, beside)), legacy, range)
        options = FigureOptions(x, y, metric, names_of(schemes), group_by, *numbers)
        check_options(kind, options.given)
        self._known("scheme", options.schemes)
        sheet = sheet_of(size, font_pt, theme)
        if of == ALL_PATHS and (path, scheme, run) != (None, None, None):
            raise UserError(f"figure `{kind}`: is of all runs: give neither `path` nor `scheme` nor `run`")
        if of == RUN:
            return run_figure(kind, self.run(path, scheme, run), options, sheet)
        if of == GRID:
            if run is not None:
                raise UserError(f"figure `{kind}`: is of all runs in cells of a grid: give no run")
            self._known("path", () if path is None else path)
            self._known("scheme", () if scheme is None else scheme)
        elif of != ALL_PATHS:
            if scheme is not None or run is not None:
                raise UserError(f"figure `{kind}`: is of all schemes and runs on a path: give `path` only")
            path = _chosen("path", path, list(self.experiment.paths))
        return results_figure(kind, self.directory, path, scheme, options, sheet, convention=self.experiment.convention)

    def summary(self, sort: str | None = None) -> list[Repetitions]:
        """All runs of each scheme on each path together: `estimate` of one has its means, and where they lie.

        Where none has been made yet there is nothing to tell: such are left out. With `sort`, a metric, the best scheme
        of each path comes first.

        Raises:
            dumbbell.Error: there is no such metric, or no run has it.
        """
        found = [group for group in self._gathered.values() if group.missing < group.runs]
        return found if sort is None else ordered(found, sort)

    def means(self, metrics: Names = (), sort: str | None = None) -> Table:
        """Means over the runs, one row per path and scheme, and where they lie: `NAME_low`, `NAME_high`, `NAME_bounds`.

        Of the main metrics; of others one row per path, scheme, and whatever has one of them. `dumbbell show --csv` is
        this table.

        Raises:
            dumbbell.Error: there is no such metric.
        """
        names = names_of(metrics)
        check_metrics(names)
        return means(self.summary(sort), self.experiment.convention_shown.keys, names)

    @cached_property
    def _gathered(self) -> dict[tuple[str, str], Repetitions]:
        if self._columns is None:
            return self._judged_groups
        from dumbbell.results.analysis.number_columns import numbered_repetitions  # likewise

        found = numbered_repetitions(self._columns, self._judged_groups)
        return {key: group for key, group in found.items() if self._is_wanted(*key)}

    @cached_property
    def _columns(self) -> NumberColumns | None:
        """The columns of more runs than are read one by one; None of fewer, and of runs that have files."""
        if not self.experiment.keeps_numbers:
            return None
        from dumbbell.results.analysis.number_columns import NumberColumns, read_by_columns  # numpy is slow to import

        return NumberColumns(self._content) if read_by_columns(self.experiment) else None

    @cached_property
    def _judged(self) -> list[RunTable]:
        """Runs by which conduct is judged: the first repetitions where the runs are too many."""
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
        """Sentences on what looks wrong, and at most five on what the results show (docs/reference/findings.md)."""
        runs = [run for run in self._judged if self._is_wanted(run["path"], run["scheme"])]
        if self._columns is None:
            return findings(self.experiment, runs, self._gathered)
        good = [run for run in runs if run["status"] in ACCEPTED]
        bad = [run.statistics for run in self.noteworthy]
        found = findings(self.experiment, [*good, *bad], self._gathered, self.states)
        most = max((run["run"] for run in runs), default=0)
        found.append(
            f"What looks wrong in runs is judged by the first {most} of {self.experiment.runs} repetitions; "
            "the numbers are of all."
        )
        return found

    @property
    def states(self) -> dict[str, int]:
        """The number of runs of each status."""
        if self._columns is None:
            return dict(Counter(run.status for run in self.runs))
        good, missing = (sum(getattr(group, key) for group in self._gathered.values()) for key in ("good", "missing"))
        total = sum(group.runs for group in self._gathered.values())
        lost = DAMAGED if self.damaged_batches else "missing"
        states = {"done": good, lost: missing, "failed": total - good - missing}
        return {status: count for status, count in states.items() if count}

    @property
    def missing(self) -> dict[str, int]:
        """The number of runs that were not made, for each reason."""
        if self._columns is None:
            return dict(Counter(str(run.reason) for run in self.runs if run.status == "missing"))
        count = self.states.get("missing", 0)
        return {self._content.why_missing: count} if count else {}

    @property
    def axes(self) -> dict[str, dict[str, object]]:
        """The values that made each cell of a grid, by the name of its path."""
        cells = self.experiment.cells.items()
        return {name: cell.coordinates for name, cell in cells if name in (self._paths or (name,))}

    @cached_property
    def noteworthy(self) -> Sequence[RunResults]:
        """The runs of which there may be something to say one by one: those that failed, where runs are many."""
        if self._columns is None:
            return self.runs
        failed = [run for run in self._columns.failed() if self._is_wanted(run.path, run.scheme)]
        self._columns.note_places(failed)
        return [self._result(run) for run in failed]

    def published(self) -> list[Beside]:
        """Our means beside those that the experiment says were published."""
        if not self.experiment.publication.rows:
            return []
        rows = beside(self.experiment, [run.statistics for run in self.runs])
        return [row for row in rows if self._is_wanted(row.path, row.scheme)]

    def replications(self) -> list[Replication]:
        """Pantheon's replication error on each path of which something was published (docs/reference/metrics.md)."""
        return replications(self.published())

    def as_json(self) -> dict[str, object]:
        """The object that `dumbbell show --json` prints."""
        runs = [dict(run.statistics) for run in self.runs]
        found: dict[str, object] = {
            "experiment": self.experiment.table(),
            "environment": self.environment,
            "runs": runs,
        }
        found["findings"] = self.findings
        if self.running:
            found["running"] = True
        going = self.campaign
        found |= published_json(self.experiment, self.published())
        return found | ({} if going is None else {"campaign": going})

    def write_report(
        self, *, html: bool | None = None, pdf: bool = True, all_runs: bool = False, run: str | None = None
    ) -> list[Path]:
        """Write `report.html` and `report.pdf` into the directory; return the files written.

        The report is short. With `all_runs` it is Pantheon's long form, with figures and statistics of every run, as
        PDF only.
        `run` (`PATH/SCHEME/N`) writes the page of this run instead: `report-PATH-SCHEME-N.html`.

        Raises:
            dumbbell.Error: there is no such run, the options exclude each other, or a package is not installed.
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
    """The main metrics of each scheme on each path: means over the runs."""
    shown = results.experiment.convention_shown
    rows = []
    for each in results.summary():
        found = [(each.estimate(("network", 0, metric.key)), metric.factor) for metric in shown.metrics]
        rows.append([each.path, each.scheme, each.good, *(mean and mean.mean * factor for mean, factor in found)])
    kinds = {"path": "text", "scheme": "text", "runs": "integer"}
    kinds |= {f"{metric.heading} ({shown.label})": "number" for metric in shown.metrics}
    return Table.of(kinds, rows)


def _chosen(what: str, given: str | None, allowed: list[str]) -> str:
    if given is None:
        if len(allowed) == 1:
            return allowed[0]
        raise UserError(f"there are {len(allowed)} {what}s: choose one of {listed(allowed)}")
    if given not in allowed:
        raise UserError(f"unknown {what} `{given}`{nearest(given, allowed)}: allowed are {listed(allowed)}")
    return given
