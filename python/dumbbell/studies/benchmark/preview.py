"""Preview of the benchmark: its runs, and the time that they would take. Nothing is made."""

from dumbbell.api.preview import Preview, preview_of
from dumbbell.base.progress import Progress
from dumbbell.base.request_fields import with_fields_of
from dumbbell.execution.perform import examine
from dumbbell.machine.description import cpus
from dumbbell.studies.benchmark.request import BenchmarkRequest
from dumbbell.studies.benchmark.run import planned_benchmark


def preview_benchmark_request(request: BenchmarkRequest) -> Preview:
    """Return the preview of a request, as `preview_benchmark` does with the fields of the request as arguments."""
    with Progress() as progress:
        progress.doing("reading the experiments")
        plan = planned_benchmark(request)
        from dumbbell.present.serve.benchmark_pages import benchmark_pages_s  # slow to import: refusals come first

        experiments = [experiment for _, experiment in plan.members]
        jobs = examine(experiments, plan.execution, progress)
        drawing_jobs = plan.execution.jobs or cpus()
        return preview_of(experiments, jobs, benchmark_pages_s(experiments, request.quick, drawing_jobs))


@with_fields_of(BenchmarkRequest)
def preview_benchmark(request: BenchmarkRequest) -> Preview:
    """Return a preview of `dumbbell.run_benchmark` with the same arguments; nothing is made.

    Returns:
        The cells, the number of runs, and the time that they would take.

    Raises:
        dumbbell.Error: Something cannot be run; one line names it.
    """
    return preview_benchmark_request(request)
