"""Results to look into: served from this machine, or written as static files."""

from collections.abc import Iterable
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from dumbbell.base.errors import UserError, require_text
from dumbbell.base.progress import Progress
from dumbbell.machine.description import cpus
from dumbbell.results.benchmark_directory import NOTE, open_benchmark
from dumbbell.results.benchmark_results import Benchmark
from dumbbell.results.directory import open_results

if TYPE_CHECKING:
    from dumbbell.present.serve.runs_table import Place
    from dumbbell.present.serve.server import Server


def serve(*directories: str | PathLike[str], port: int = 0) -> "Server":
    """Return a server of results directories for the browser of this machine, on a free port unless one is given.

    `server.address` is what to open, `server.start()` answers in a thread until `server.stop()`, and `server.serve()`
    answers until Ctrl-C.

    Raises:
        dumbbell.Error: no results are there, or the port is taken.
    """
    from dumbbell.present.serve.server import Server

    benchmark = _benchmark(directories)
    return Server(_places(directories, benchmark), port, benchmark=benchmark)


def write_site(*directories: str | PathLike[str], out: str | PathLike[str]) -> Path:
    """Write the pages of results directories as files, which open from the disk too, into the new folder `out`.

    Series are thinned: of long runs a page shows each series by some thousand minima and maxima. Of a benchmark not all
    runs have series (docs/how-to/benchmark.md).

    Raises:
        dumbbell.Error: no results are there, or `out` exists.
    """
    from dumbbell.present.serve.benchmark import BenchmarkDocument
    from dumbbell.present.serve.static import write_static

    benchmark = _benchmark(directories)
    places = _places(directories, benchmark)
    with Progress() as progress:
        progress.doing("reading the results")
        judged = BenchmarkDocument(benchmark) if benchmark else None
        return write_static(places, Path(out), progress, judged, jobs=cpus())


def _benchmark(directories: Iterable[str | PathLike[str]]) -> Benchmark | None:
    """Return the benchmark that is given; None of other results.

    Raises:
        UserError: it is not the only one.
    """
    found = [Path(each) for each in directories]
    benchmarks = [each for each in found if (each / NOTE).is_file()]
    if not benchmarks:
        return None
    if len(found) > 1:
        raise UserError(f"{benchmarks[0]}: is a benchmark: it is shown alone")
    return open_benchmark(found[0])


def _places(directories: Iterable[str | PathLike[str]], benchmark: Benchmark | None) -> "list[Place]":
    """Return results directories with their names in addresses: the last parts of their paths that tell them apart."""
    from dumbbell.present.serve.benchmark import benchmark_places
    from dumbbell.present.serve.runs_table import Place

    if benchmark is not None:
        return benchmark_places(benchmark)
    found = [Path(each) for each in directories]
    if not found:
        raise UserError("no results directory is given")
    for each in found:
        require_text("directory", str(each))
    if len({each.resolve() for each in found}) < len(found):
        raise UserError("a results directory is given twice")
    labels = _labels([each.resolve() for each in found])
    return [
        Place(f"d{number}", label, open_results(each))
        for number, (each, label) in enumerate(zip(found, labels, strict=True), 1)
    ]


def _labels(places: list[Path]) -> list[str]:
    for depth in range(1, max(len(place.parts) for place in places) + 1):
        labels = ["/".join(place.parts[-depth:]) for place in places]
        if len(set(labels)) == len(labels):
            return labels
    return [str(place) for place in places]
