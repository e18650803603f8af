"""What the benchmark would do, and how long it would take. Nothing is made."""

from dumbbell.api.preview import Preview, preview_of
from dumbbell.base.progress import Progress
from dumbbell.base.request_fields import with_fields_of
from dumbbell.execution.perform import examine
from dumbbell.machine.description import cpus
from dumbbell.studies.benchmark.request import BenchmarkRequest
from dumbbell.studies.benchmark.run import planned_benchmark


def preview_benchmark_request(request: BenchmarkRequest) -> Preview:
    """Tell what a request would do as `preview_benchmark` does, whose arguments are its fields."""
    with Progress() as progress:
        progress.doing("reading the experiments")
        planned = planned_benchmark(request)
        from dumbbell.present.serve.benchmark_pages import benchmark_pages_s  # slow to import: refusals come first

        experiments = [experiment for _, experiment in planned.found]
        jobs = examine(experiments, planned.how, progress)
        drawing_jobs = planned.how.jobs or cpus()
        return preview_of(experiments, jobs, benchmark_pages_s(experiments, request.quick, drawing_jobs))


@with_fields_of(BenchmarkRequest)
def preview_benchmark(request: BenchmarkRequest) -> Preview:
    """Tell what `dumbbell.run_benchmark` would do with the same arguments; it makes nothing.

    Returns:
        The cells, the number of runs, and the time that they would take.

    Raises:
        dumbbell.Error: something that cannot be run, in one line.
    """
    return preview_benchmark_request(request)
