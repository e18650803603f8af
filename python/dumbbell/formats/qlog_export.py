"""Export of flows as qlog files, one for each flow, for qvis and other tools that read logs of QUIC stacks."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from dumbbell import core
from dumbbell.base.backend import find_backend
from dumbbell.base.entry import Entry
from dumbbell.base.errors import UserError, argument, one_line
from dumbbell.base.names import foreign_name, unlike
from dumbbell.base.progress import Piece, Progress
from dumbbell.contract.packet_logs import QlogHead
from dumbbell.core import logs
from dumbbell.experiment import Experiment, Run
from dumbbell.formats.staging import refuse_used, staging
from dumbbell.results import ACCEPTED, ResultsDirectory, open_results

if TYPE_CHECKING:
    from dumbbell.contract.run import RunTable

DRAFTS = ("0.3", "quic-13")
"""Versions of qlog: the first opens in qvis, the second is the newest draft."""

During = tuple[float, float | None]
"""Time interval of a run, s; its end is exclusive, None is the end of the run."""

WHOLE: During = (0.0, None)
"""The whole run."""


def export_qlog(
    directory: Path,
    destination: Path,
    label: str | None,
    flow: int | None,
    draft: str,
    during: During = WHOLE,
) -> tuple[list[Path], list[tuple[Run, str]], list[tuple[Run, str]]]:
    """Write the flows of every usable run of `directory`, or those of the run `label` (PATH/SCHEME/N).

    Only events in the interval `during` are written.

    Return the files, the omitted runs with the reasons, and the runs whose qlogs are incomplete.

    Raises:
        UserError: If results, the run, flow, time or packet logs do not exist, or if `destination` is in use.
    """
    results = open_results(directory)
    runs = results.planned() if label is None else [results.named(label)]
    _check_time(during, results.experiment.duration_s)
    refuse_used(destination)
    names: list[str] = []
    left_out: list[tuple[Run, str]] = []
    incomplete: list[tuple[Run, str]] = []
    with staging(destination) as folder, Progress() as progress:
        stage = progress.expect("exports of runs", [Piece(run.label, 1.0) for run in runs])
        for run in stage.iterate(runs):
            statistics = results.readable(run)
            reason = None if statistics["status"] in ACCEPTED else statistics["reason"]
            if reason is None and not (results.folder(run) / "packets.parquet").is_file():
                reason = "its packets were not logged"
            if reason is not None:
                left_out.append((run, reason))
                continue
            count = len(statistics["flows"])
            if flow is not None and not 1 <= flow <= count:
                problem = f"{run.label} has {count} flow{'s' if count > 1 else ''}"
                raise UserError(problem, argument="flow", value=flow)
            numbers = range(1, count + 1) if flow is None else [flow]
            try:
                new_names, lacking = _write_run(results, run, statistics, numbers, folder, names, (draft, during))
            except core.DamagedLog as error:
                left_out.append((run, one_line(error)))
            else:
                names += new_names
                incomplete += [(run, text) for text in lacking]
        if not names:
            raise UserError(f"{directory}: nothing to export: {left_out[0][1]}")
    return [destination / f"{name}.sqlog" for name in names], left_out, incomplete


def _write_run(
    results: ResultsDirectory,
    run: Run,
    statistics: RunTable,
    numbers: Sequence[int],
    folder: Path,
    used: Sequence[str],
    options: tuple[str, During],
) -> tuple[list[str], list[str]]:
    """Write the flows `numbers` of a run into `folder`, under names that are not in `used`.

    Return their names, and descriptions of missing content.

    Raises:
        DamagedLog: If a log is damaged. Then `folder` contains no file of the run.
        Error: If `folder` cannot be written.
    """
    names: list[str] = []
    lacking = []
    try:
        for number in numbers:
            parts = (run.path, foreign_name(run.scheme), str(run.run), f"flow{number}")
            names.append(unlike("_".join(parts), [*used, *names]))
            scheme = statistics["flows"][number - 1].get("scheme") or run.scheme
            lacking.append(_lacking(results.experiment, scheme, statistics["backend"]))
            description = _description(scheme, statistics["backend"], lacking[-1])
            file = folder / f"{names[-1]}.sqlog"
            write_flow(results.folder(run), number, scheme, f"{run.label}, flow {number}", file, description, *options)
    except core.DamagedLog:
        for name in names:
            (folder / f"{name}.sqlog").unlink(missing_ok=True)
        raise
    return names, [text for text in dict.fromkeys(lacking) if text]


def _check_time(during: During, duration_s: float) -> None:
    """Raise an error for an empty time interval.

    Raises:
        UserError: If the interval is empty, or outside of the run.
    """
    from_s, to_s = during
    if not 0.0 <= from_s < duration_s:
        raise UserError(
            f"allowed are 0 to less than {duration_s:g} s, which the runs take", argument="from_s", value=f"{from_s:g}"
        )
    if to_s is not None and not to_s > from_s:
        raise UserError(argument="to_s", value=f"{to_s:g}", allowed=f"a time after {argument('from_s')} {from_s:g}")


def write_flow(
    folder: Entry,
    number: int,
    scheme: str,
    title: str,
    file: Path,
    description: str,
    draft: str = DRAFTS[0],
    during: During = WHOLE,
) -> None:
    """Write flow `number` of the run with its files in `folder`."""
    samples = folder / "flows.parquet"
    trace: QlogHead = {"title": title, "description": description, "name": scheme}
    state = samples if samples.is_file() else None
    from_ns, to_ns = (None if bound is None else round(bound * 1e9) for bound in during)
    packets = folder / "packets.parquet"
    logs.export_qlog(packets, state, str(file), number, draft, trace, from_ns or 0, to_ns)


def _lacking(experiment: Experiment, scheme: str, backend: str) -> str:
    """Return a description of content that a flow's trace lacks, because the flow does not report it; else empty."""
    scheme_ = experiment.schemes.get(scheme)
    kind = scheme_.kind if scheme_ is not None else "core"
    interval = f"{experiment.sample_interval_s:g} s"
    untold = "does not tell which packets it takes for acknowledged or lost, so there are no such events, and"
    if not find_backend(backend).capabilities.executes:
        return "no more than the imported log told"
    if kind in ("kernel", "bpf"):
        return f"the kernel's TCP {untold} its state is what TCP_INFO said every {interval}"
    if kind == "program":
        return f"a program {untold} there is no more of its state than it wrote itself"
    if experiment.log != "full":
        return f'acknowledged packets were not logged, the state is a sample every {interval}: log = "full" has both'
    return ""


def _description(scheme: str, backend: str, lacking: str) -> str:
    """Return a description of a flow's trace, with its missing content."""
    if not find_backend(backend).capabilities.executes:
        return f"{scheme}, imported by dumbbell: {lacking}"
    origin = f"{scheme}, measured by dumbbell ({backend})"
    return f"{origin}; {lacking}" if lacking else origin
