"""Pages of a benchmark: the explorer's as files in its directory `pages`, and `index.html`, which opens them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dumbbell.base.entry import Entry
from dumbbell.base.json_text import to_json
from dumbbell.base.progress import Progress
from dumbbell.present.serve.benchmark import BenchmarkDocument, benchmark_places
from dumbbell.present.serve.static import MAX_RUNS, expect_pages, write_static
from dumbbell.results.benchmark_results import PAGES, VERDICTS, require_own_folders
from dumbbell.results.files import write_atomically

if TYPE_CHECKING:
    from pathlib import Path

    from dumbbell.experiment import Experiment
    from dumbbell.results.benchmark_results import Benchmark

INDEX = "index.html"
_OPENS_PAGES = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="refresh" content="0; url=pages/index.html">
<title>dumbbell benchmark</title>
</head>
<body><p><a href="pages/index.html">The pages of this benchmark</a></p></body>
</html>
"""


def expect_benchmark(progress: Progress, experiments: Sequence[Experiment], quick: bool, jobs: int) -> None:
    """Announce the work for the pages of these experiments."""
    cells = sum(len(experiment.paths) * len(experiment.labels) for experiment in experiments)
    expect_pages(progress, [""] * min(cells, MAX_RUNS[quick]), jobs)


def benchmark_pages_s(experiments: Sequence[Experiment], quick: bool, jobs: int) -> float:
    """Return the estimated time for the pages of these experiments, s."""
    progress = Progress()
    expect_benchmark(progress, experiments, quick, jobs)
    return progress.left_s()


def write_benchmark(benchmark: Benchmark, jobs: int, progress: Progress) -> Path:
    """Write verdicts and pages into the benchmark's directory, on `jobs` processes; return the first page.

    Runs that are missing or failed are listed with their reasons.

    Raises:
        UserError: The results are of another version, or the pages were not built.
        OSError: The disk cannot be written, or a directory is a link.
    """
    require_own_folders(benchmark.directory)
    progress.doing("judging the results")
    document = BenchmarkDocument(benchmark)
    root = Entry.of(benchmark.directory)
    write_atomically(root / VERDICTS, to_json([verdict.as_json() for verdict in document.verdicts]))
    (root / PAGES).clear(ignore_errors=True)
    pages = (root / PAGES).path
    write_static(benchmark_places(benchmark), pages, progress, document, jobs=jobs, beside="../experiments")
    write_atomically(root / INDEX, _OPENS_PAGES)
    return (root / INDEX).path
