"""Results to look into: served from this machine, or written as static files."""

from collections.abc import Iterable
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from dumbbell.base.errors import UserError, require_text
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

    return Server(_places(directories), port)


def write_site(*directories: str | PathLike[str], out: str | PathLike[str]) -> Path:
    """Write the pages of results directories as files for any web server, into the new folder `out`.

    Series are thinned: of long runs a page shows each series by some thousand minima and maxima.

    Raises:
        dumbbell.Error: no results are there, or `out` exists.
    """
    from dumbbell.present.serve.static import write_static

    return write_static(_places(directories), Path(out))


def _places(directories: Iterable[str | PathLike[str]]) -> "list[Place]":
    """Return results directories with their names in addresses: the last parts of their paths that tell them apart."""
    from dumbbell.present.serve.runs_table import Place

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
