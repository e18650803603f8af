"""Opening, comparing and reporting of results directories."""

from collections.abc import Iterable
from os import PathLike
from pathlib import Path

from dumbbell.api.records.metrics import check_metrics
from dumbbell.api.records.results import Results
from dumbbell.base.conventions import PANTHEON
from dumbbell.base.errors import UserError, argument
from dumbbell.base.interrupts import interruptible
from dumbbell.base.progress import Progress
from dumbbell.machine.description import cpus
from dumbbell.results import open_results
from dumbbell.results.analysis.compare import Comparison, compare_runs
from dumbbell.results.analysis.counterparts import matched


def open(directory: str | PathLike[str], convention: str | None = None) -> Results:
    """Return the results in `directory`, for reading.

    `convention` determines the main metrics in tables and figures: `corrected` or `pantheon`
    (docs/reference/metrics.md). The default is the convention of the experiment.

    Raises:
        dumbbell.Error: If the directory has no results, or there is no such convention.
    """
    return Results(open_results(Path(directory), convention))


def compare(
    first: str | PathLike[str] | Results,
    second: str | PathLike[str] | Results,
    metrics: Iterable[str] | None = (),
) -> list[Comparison]:
    """Return a comparison of two results, with a row for each path, scheme and metric.

    `metrics` are names of metrics; empty: the main ones, by the convention of the first results; None: all.

    A scheme that Pantheon measured is compared with the one that simulates it (`Results.counterparts`).

    A row has `path`, `scheme`, `entity` (`network`, `flow`, `link`) and its `number`, `metric`, `a` and `b` (None or
    `runs`, `mean`, `low`, `high` and their kind `bounds`, as in `Repetitions.estimate`), `difference`,
    `relative`, and where both sides have five runs or more the nominal 95 % interval of the difference `low`, `high`,
    `paired` (True if runs were paired by their seeds), and the probability `p` of such a difference by chance, also
    `p_adjusted` for the number of rows (Holm), `would_show`, the difference that such runs show in 80 of 100 cases,
    and `runs_for_effect`, the runs on either side that show 3 % of A so often. Of fewer runs `apart_by_chance` is the
    probability that ranges without any difference do not overlap. `verdict` is in words.

    Raises:
        dumbbell.Error: If an argument is no results directory, or there is no such metric.
    """
    sides = [side if isinstance(side, Results) else open(side) for side in (first, second)]
    metric_names = None if metrics is None else tuple(metrics) or sides[0].experiment.convention_shown.keys
    check_metrics(metric_names or ())
    first_names, second_names = ((side.experiment.labels, side.counterparts) for side in sides)
    before, after = (
        (
            list(side.experiment.paths),
            [run.statistics | {"scheme": names.get(run.scheme, run.scheme)} for run in side.runs],
        )
        for side, names in zip(sides, matched(first_names, second_names), strict=True)
    )
    return compare_runs(before, after, metric_names)


def write_report(
    directory: str | PathLike[str],
    *,
    html: bool | None = None,
    pdf: bool = True,
    all_runs: bool = False,
    run: str | None = None,
    convention: str | None = None,
) -> list[Path]:
    """Write the report of a results directory, or the pages of a benchmark; return the files written.

    `all_runs` and `run` are as in `Results.write_report`, `convention` is as in `dumbbell.open`.

    Raises:
        dumbbell.Error: If the directory has no results, there is no such run, the options exclude each other, or a
            package that the report needs is not installed.
    """
    from dumbbell.results.benchmark_directory import NOTE, open_benchmark

    directory = Path(directory)
    if not (directory / NOTE).is_file():
        if all_runs and convention not in (None, PANTHEON.name):
            raise UserError(
                f"not with {argument('all_runs')}: the long form is by Pantheon's convention",
                argument="convention",
                value=convention,
            )
        return open(directory, convention).write_report(html=html, pdf=pdf, all_runs=all_runs, run=run)
    for name, is_given in (("pdf", pdf and html is False), ("all_runs", all_runs), ("run", run is not None)):
        if is_given:
            raise UserError(
                f"{directory}: {argument(name)}: a benchmark has pages only; its experiments have reports of their own"
            )
    with Progress() as progress:
        progress.doing("starting")
        from dumbbell.present.serve.benchmark_pages import write_benchmark

        progress.doing("reading the results")
        with interruptible():
            return [write_benchmark(open_benchmark(directory), cpus(), progress)]
