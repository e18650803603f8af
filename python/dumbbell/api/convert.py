"""Results of other tools read, and results written for them."""

from pathlib import Path
from typing import TYPE_CHECKING

from dumbbell import catalog
from dumbbell.api.records.results import Results
from dumbbell.base.errors import UserError, require_text
from dumbbell.base.progress import Progress
from dumbbell.base.request_fields import with_fields_of
from dumbbell.catalog.options.values import MOST_SEED
from dumbbell.catalog.path import PathModel
from dumbbell.catalog.traces import trace_text
from dumbbell.formats.import_request import ImportRequest, Place
from dumbbell.results import write_atomically

if TYPE_CHECKING:
    from dumbbell.experiment import Run


@with_fields_of(ImportRequest)
def import_results(request: ImportRequest) -> Results:
    """Read results of another tool into the new results directory `out`.

    Files of a directory that cannot be read are runs that failed; `RunResults.notes` says what a file does not tell.

    Returns:
        The results, whose numbers are computed as those of dumbbell's own runs.

    Raises:
        dumbbell.Error: If there is no such kind, it does not take an option, nothing can be used, or `out` is in use;
            nothing is left behind.
    """
    return import_results_request(request)


def import_results_request(request: ImportRequest) -> Results:
    """Read results of another tool, as a request asks for."""
    from dumbbell.formats import importers

    return Results(importers.read(request))


def export_pantheon(directory: Place, destination: Place) -> "list[tuple[Run, str]]":
    """Writes results as logs and statistics for Pantheon's tools; returns the runs that were left out, and why.

    Raises:
        dumbbell.Error: no results, no packet logs, or `destination` is in use.
    """
    from dumbbell.formats.pantheon_export import export_pantheon

    return export_pantheon(Path(directory), Path(destination))


def export_qlog(
    directory: Place,
    destination: Place,
    *,
    run: str | None = None,
    flow: int | None = None,
    from_s: float = 0.0,
    to_s: float | None = None,
    draft: str = "0.3",
) -> "tuple[list[Path], list[tuple[Run, str]], list[tuple[Run, str]]]":
    """Writes what each sender saw as qlogs.

    Returns the files, the runs that were left out, and why, and those whose qlogs lack something, and what: a run
    without `log = "full"` has no acknowledged packets.

    `run` (`PATH/SCHEME/N`) and `flow` choose one, `from_s` and `to_s` a part of each run, which begins with the state
    of the sender at that time and whose end is not in it; `draft` is `0.3`, which qvis opens, or `quic-13`.

    Raises:
        dumbbell.Error: no results, no such run, flow or time, no packet logs, or `destination` is in use.
    """
    from dumbbell.formats.qlog_export import export_qlog

    return export_qlog(Path(directory), Path(destination), run, flow, draft, (from_s, to_s))


def export_trace(
    path: str | PathModel, file: Place, *, direction: str = "data", seed: int = 1, duration: float = 60.0
) -> Path:
    """Writes the delivery opportunities of a path as a trace of mahimahi; the file.

    They are those of a run of `duration` s with this seed, in the `direction` `data` or `ack`.

    Raises:
        dumbbell.Error: no such path, it offers no opportunities, or the file cannot be written.
    """
    if not 0 <= seed <= MOST_SEED:
        raise UserError(argument="seed", value=seed, allowed=f"a whole number from 0 to {MOST_SEED}")
    model = path if isinstance(path, PathModel) else catalog.paths().find(path)
    with Progress() as progress:
        progress.doing(f"opportunities of {model.name}")
        text, file = trace_text(model, direction, seed, duration), Path(file)
    require_text("file", str(file))
    try:
        if file.exists() and not file.is_file():
            file.write_text(text, encoding="ascii")  # a pipe
        else:
            write_atomically(file, text)
    except OSError as error:
        raise UserError(f"{file}: {error.strerror or error}") from None
    return file
