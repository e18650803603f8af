"""Results from directories: opened, compared, reported."""

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
    """The results in `directory`, for reading.

    `convention` says which metrics are the main ones, in tables and figures: `corrected` or `pantheon`
    (docs/reference/metrics.md). Unless given it is that of the experiment.

    Raises:
        dumbbell.Error: it is no results directory, or there is no such convention.
    """
    return Results(open_results(Path(directory), convention))


def compare(
    first: str | PathLike[str] | Results,
    second: str | PathLike[str] | Results,
    metrics: Iterable[str] | None = (),
) -> list[Comparison]:
    """Return two results side by side: one row per path, scheme and metric.

    `metrics` are names; without any they are the main ones, by the convention of the first; all metrics if it is None.

    A scheme that Pantheon measured is compared with the one that simulates it (`Results.counterparts`).

    A row has `path`, `scheme`, `entity` (`network`, `flow`, `link`) and its `number`, `metric`, `a` and `b` (None or
    `runs`, `mean`, `low`, `high` and what those are: `bounds`, as in `Repetitions.estimate`), `difference`,
    `relative`, and where both sides have five runs or more the nominal 95 % interval of the difference `low`, `high`,
    whether runs were `paired` by their seeds, and the probability `p` of such a difference by chance, also
    `p_adjusted` for the number of rows (Holm), `would_show`, the difference that such runs show in 80 of 100 cases,
    and `runs_for_effect`, the runs on either side that show 3 % of A so often. Of fewer runs `apart_by_chance` is the
    probability that ranges without any difference do not overlap. `verdict` is in words.

    Raises:
        dumbbell.Error: one of them is no results directory, or there is no such metric.
    """
    sides = [each if isinstance(each, Results) else open(each) for each in (first, second)]
    wanted = None if metrics is None else tuple(metrics) or sides[0].experiment.convention_shown.keys
    check_metrics(wanted or ())
    one, other = ((side.experiment.labels, side.counterparts) for side in sides)
    before, after = (
        (
            list(side.experiment.paths),
            [run.statistics | {"scheme": names.get(run.scheme, run.scheme)} for run in side.runs],
        )
        for side, names in zip(sides, matched(one, other), strict=True)
    )
    return compare_runs(before, after, wanted)


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
        dumbbell.Error: it is neither, there is no such run, the options exclude each other, or something that the
            report needs is not installed.
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
    for name, given in (("pdf", pdf and html is False), ("all_runs", all_runs), ("run", run is not None)):
        if given:
            raise UserError(
                f"{directory}: {argument(name)}: a benchmark has pages only; its experiments have reports of their own"
            )
    with Progress() as progress:
        progress.doing("starting")
        from dumbbell.present.serve.benchmark_pages import write_benchmark

        progress.doing("reading the results")
        with interruptible():
            return [write_benchmark(open_benchmark(directory), cpus(), progress)]
