"""Import of the results of other tools, and export of results for other tools."""

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

    Unreadable files of a directory are failed runs. `RunResults.notes` describes information that a file lacks.

    Returns:
        The results. Their numbers are computed as those of dumbbell's own runs.

    Raises:
        dumbbell.Error: If there is no such kind, it does not take an option, no file is usable, or `out` is in use.
            Then no files are left.
    """
    return import_results_request(request)


def import_results_request(request: ImportRequest) -> Results:
    """Read results of another tool, according to a request."""
    from dumbbell.formats import importers

    return Results(importers.read(request))


def export_pantheon(directory: Place, destination: Place) -> "list[tuple[Run, str]]":
    """Write results as logs and statistics for Pantheon's tools; return the omitted runs with the reasons.

    Raises:
        dumbbell.Error: If there are no results or packet logs, or if `destination` is in use.
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
    """Write the view of each sender as qlogs.

    Return the files, the omitted runs with the reasons, and the runs with incomplete qlogs and what is
    missing: a run without `log = "full"` has no acknowledged packets.

    `run` (`PATH/SCHEME/N`) and `flow` choose one, `from_s` and `to_s` a part of each run, which begins with the state
    of the sender at that time. `to_s` is exclusive. `draft` is `0.3`, which qvis opens, or `quic-13`.

    Raises:
        dumbbell.Error: If results, the run, flow, time or packet logs do not exist, or if `destination` is in use.
    """
    from dumbbell.formats.qlog_export import export_qlog

    return export_qlog(Path(directory), Path(destination), run, flow, draft, (from_s, to_s))


def export_trace(
    path: str | PathModel, file: Place, *, direction: str = "data", seed: int = 1, duration: float = 60.0
) -> Path:
    """Write the delivery opportunities of a path as a trace of mahimahi; return the file.

    The opportunities are those of a run of `duration` s with this seed, in the `direction` `data` or `ack`.

    Raises:
        dumbbell.Error: If there is no such path, it has no opportunities, or the file cannot be written.
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
