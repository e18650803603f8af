"""Interactive pages of results, served by this machine or written as static files."""

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
    """Return a server of results directories for browsers on this machine. The default port is a free one.

    `server.address` is the address to open. `server.start()` answers in a thread until `server.stop()`;
    `server.serve()` answers until Ctrl-C.

    Raises:
        dumbbell.Error: If there are no results, or the port is in use.
    """
    from dumbbell.present.serve.server import Server

    benchmark = _benchmark(directories)
    return Server(_places(directories, benchmark), port, benchmark=benchmark)


def write_site(*directories: str | PathLike[str], out: str | PathLike[str]) -> Path:
    """Write the pages of results directories as files, which open from the disk too, into the new folder `out`.

    Series are thinned: for long runs a page shows some thousand minima and maxima of each series. In a benchmark not
    all runs have series (docs/how-to/benchmark.md).

    Raises:
        dumbbell.Error: If there are no results, or `out` exists.
    """
    from dumbbell.present.serve.benchmark import BenchmarkDocument
    from dumbbell.present.serve.static import write_static

    benchmark = _benchmark(directories)
    places = _places(directories, benchmark)
    with Progress() as progress:
        progress.doing("reading the results")
        document = BenchmarkDocument(benchmark) if benchmark else None
        return write_static(places, Path(out), progress, document, jobs=cpus())


def _benchmark(directories: Iterable[str | PathLike[str]]) -> Benchmark | None:
    """Return the given benchmark; None for other results.

    Raises:
        UserError: If a benchmark is not the only directory.
    """
    places = [Path(directory) for directory in directories]
    benchmarks = [place for place in places if (place / NOTE).is_file()]
    if not benchmarks:
        return None
    if len(places) > 1:
        raise UserError(f"{benchmarks[0]}: is a benchmark: it is shown alone")
    return open_benchmark(places[0])


def _places(directories: Iterable[str | PathLike[str]], benchmark: Benchmark | None) -> "list[Place]":
    """Return results directories with their names in addresses: the last parts of their paths that distinguish them."""
    from dumbbell.present.serve.benchmark import benchmark_places
    from dumbbell.present.serve.runs_table import Place

    if benchmark is not None:
        return benchmark_places(benchmark)
    paths = [Path(directory) for directory in directories]
    if not paths:
        raise UserError("no results directory is given")
    for path in paths:
        require_text("directory", str(path))
    if len({path.resolve() for path in paths}) < len(paths):
        raise UserError("a results directory is given twice")
    labels = _labels([path.resolve() for path in paths])
    return [
        Place(f"d{number}", label, open_results(path))
        for number, (path, label) in enumerate(zip(paths, labels, strict=True), 1)
    ]


def _labels(places: list[Path]) -> list[str]:
    for depth in range(1, max(len(place.parts) for place in places) + 1):
        labels = ["/".join(place.parts[-depth:]) for place in places]
        if len(set(labels)) == len(labels):
            return labels
    return [str(place) for place in places]
