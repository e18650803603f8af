"""Results of other tools read, and results written for them."""

from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from dumbbell import catalog
from dumbbell.api.records.results import Results
from dumbbell.base.errors import UserError, require_text
from dumbbell.base.input_files import check_regular
from dumbbell.base.progress import Progress
from dumbbell.catalog.options.values import MOST_SEED
from dumbbell.catalog.path import PathModel
from dumbbell.catalog.traces import trace_text
from dumbbell.results import write_atomically

if TYPE_CHECKING:
    from dumbbell.experiment import Run

Place = str | PathLike[str]


def import_pantheon(source: Place, out: Place, *, strict: bool = False, command: Sequence[str] = ()) -> Results:
    """Reads a data directory of Pantheon into the new results directory `out`; every run is measured again.

    What Pantheon's own analysis takes is taken, and noted where it is unusual (`RunResults.notes`). A run whose logs
    cannot be used is listed as failed, with file and line. `strict` refuses the directory for any of these.

    Raises:
        dumbbell.Error: it cannot be read, or `out` is in use; nothing is left behind.
    """
    from dumbbell.formats.pantheon_import import import_pantheon

    if not Path(source).is_dir():
        raise UserError(f"{source}: no such directory")
    return Results(import_pantheon(Path(source), Path(out), list(command), strict))


def pantheon_sets(source: Place) -> list[Path]:
    """Return the data directories of Pantheon at or below `source`, at most four levels down, by name."""
    from dumbbell.formats.pantheon_metadata import data_directories

    return data_directories(Path(source))


def import_mahimahi(
    log: Place, out: Place, *, ack: Place | None = None, scheme: str = "imported", command: Sequence[str] = ()
) -> Results:
    """Reads logs of mahimahi's mm-link into the new results directory `out`: one run.

    `ack` is the log of the other direction, `scheme` names what made the traffic.

    Raises:
        dumbbell.Error: a log cannot be used, or `out` is in use; nothing is left behind.
    """
    from dumbbell.formats.mahimahi import LinkLogs, import_mahimahi

    for file in (log, ack):
        if file is not None:
            check_regular(Path(file))
    logs = LinkLogs(Path(log), None if ack is None else Path(ack), scheme)
    return Results(import_mahimahi(logs, Path(out), list(command)))


def import_qlog(source: Place, out: Place, *, command: Sequence[str] = ()) -> Results:
    """Reads qlogs of QUIC stacks, a file or a directory, into the new results directory `out`.

    Files of a directory that cannot be read are runs that failed; `RunResults.notes` says what a trace does not tell.

    Raises:
        dumbbell.Error: none can be used, or `out` is in use; nothing is left behind.
    """
    from dumbbell.formats.qlog_import import import_qlog

    return Results(import_qlog(Path(source), Path(out), list(command)))


def import_pcap(
    source: Place,
    out: Place,
    *,
    receiver: Place | None = None,
    end: str | None = None,
    clocks: str = "auto",
    scheme: str | None = None,
    command: Sequence[str] = (),
) -> Results:
    """Reads packet captures (pcap, pcapng), a file or a directory, into the new results directory `out`.

    `receiver` is the capture of the other end: delays are then one way, as the stamps say or, where their clocks
    disagree, above the smallest (`clocks` is `auto`, `stamps` or `unknown`). Otherwise `end` (`sender`, `receiver`)
    says which end captured, if it is not to be found out. `scheme` names what made the traffic. Files of a directory
    that cannot be read are runs that failed; `RunResults.notes` says what a capture does not tell.

    Raises:
        dumbbell.Error: none can be used, or `out` is in use; nothing is left behind.
    """
    from dumbbell.formats.capture import CLOCKS, ENDS, import_capture

    for name, value, allowed in (("end", end, (None, *ENDS)), ("clocks", clocks, CLOCKS)):
        if value not in allowed:
            raise UserError(f"{name} = {value}: allowed are {', '.join(filter(None, allowed))}")
    if receiver is not None and end is not None:
        raise UserError("end: not with `receiver`: both ends are there")
    other = None if receiver is None else Path(receiver)
    found = import_capture(
        Path(source), Path(out), list(command), receiver=other, end=end, clocks=clocks, scheme=scheme
    )
    return Results(found)


def import_iperf3(source: Place, out: Place, *, command: Sequence[str] = ()) -> Results:
    """Reads iperf3's JSON (`-J`, `--json-stream`), a file or a directory, into the new results directory `out`.

    Raises:
        dumbbell.Error: none can be used, or `out` is in use; nothing is left behind.
    """
    from dumbbell.formats.iperf3 import import_iperf3

    return Results(import_iperf3(Path(source), Path(out), list(command)))


def import_iperf(source: Place, out: Place, *, command: Sequence[str] = ()) -> Results:
    """Read text of iperf2 or iperf3, or CSV of iperf2, a file or a directory, into the new results directory `out`.

    Raises:
        dumbbell.Error: If none can be used, or `out` is in use; nothing is left behind.
    """
    from dumbbell.formats.iperf_text import import_iperf

    return Results(import_iperf(Path(source), Path(out), list(command)))


def import_ss(source: Place, out: Place, *, command: Sequence[str] = ()) -> Results:
    """Reads logs of `ss -tin` with times, a file or a directory, into the new results directory `out`.

    Raises:
        dumbbell.Error: none can be used, or `out` is in use; nothing is left behind.
    """
    from dumbbell.formats.ss_log import import_ss

    return Results(import_ss(Path(source), Path(out), list(command)))


def import_flent(source: Place, out: Place, *, command: Sequence[str] = ()) -> Results:
    """Read results of flent (`.flent`, `.flent.gz`), a file or a directory, into the new results directory `out`.

    Raises:
        dumbbell.Error: If none can be used, or `out` is in use; nothing is left behind.
    """
    from dumbbell.formats.flent import import_flent

    return Results(import_flent(Path(source), Path(out), list(command)))


def import_netlog(source: Place, out: Place, *, command: Sequence[str] = ()) -> Results:
    """Read QUIC sessions of logs of Chrome's network stack, a file or a directory, into the new directory `out`.

    Raises:
        dumbbell.Error: If none can be used, or `out` is in use; nothing is left behind.
    """
    from dumbbell.formats.netlog import import_netlog

    return Results(import_netlog(Path(source), Path(out), list(command)))


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
        raise UserError(f"--seed {seed}: allowed is a whole number from 0 to {MOST_SEED}")
    model = path if isinstance(path, PathModel) else catalog.paths().find(path)
    with Progress() as progress:
        progress.doing(f"opportunities of {model.name}")
        text, file = trace_text(model, direction, seed, duration), Path(file)
    require_text("--out", str(file))
    try:
        if file.exists() and not file.is_file():
            file.write_text(text, encoding="ascii")  # a pipe
        else:
            write_atomically(file, text)
    except OSError as error:
        raise UserError(f"{file}: {error.strerror or error}") from None
    return file
