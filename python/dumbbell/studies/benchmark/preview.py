"""What the benchmark would do, and how long it would take. Nothing is made."""

from inspect import signature
from typing import Any

from dumbbell.api.preview import Preview, preview_of
from dumbbell.api.selection import Schemes
from dumbbell.base.progress import Progress
from dumbbell.execution.perform import examine
from dumbbell.machine.description import cpus
from dumbbell.studies.benchmark.run import benchmark_request, run_benchmark


def preview_benchmark(schemes: Schemes, **arguments: Any) -> Preview:  # noqa: ANN401 (those of run_benchmark)
    """What `dumbbell.run_benchmark` would do with the same arguments; it makes nothing.

    Raises:
        dumbbell.Error: something that cannot be run, in one line.
    """
    given = signature(run_benchmark).bind(schemes, **arguments)
    given.apply_defaults()
    with Progress() as progress:
        progress.doing("reading the experiments")
        benchmark = benchmark_request(given.arguments)
        from dumbbell.present.serve.benchmark_pages import benchmark_pages_s  # slow to import: refusals come first

        experiments = [experiment for _, experiment in benchmark.found]
        jobs = examine(experiments, benchmark.how, progress)
        drawing_jobs = benchmark.how.jobs or cpus()
        return preview_of(experiments, jobs, benchmark_pages_s(experiments, benchmark.quick, drawing_jobs))
