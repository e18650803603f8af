"""qlogs of real QUIC stacks as a results directory: a scheme for each trace, one run each.

A trace knows when a packet was acknowledged, not when it arrived: that counts as its delivery.
"""

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

from dumbbell import _core
from dumbbell.catalog.path import PathModel
from dumbbell.errors import UserError
from dumbbell.experiment import Experiment
from dumbbell.interchange.pantheon_import import measure
from dumbbell.interchange.staging import (
    add_run,
    begin,
    finish,
    imported_experiment,
    refuse_used,
    staging,
)
from dumbbell.names import fitted, unlike
from dumbbell.results import ResultsDirectory

NOTES = """\
Imported from qlogs: what the senders saw. A packet counts as delivered when its acknowledgement arrived.
Every delay is a round-trip time, throughput is what was acknowledged. packet_loss_rate counts the packets that the
sender declared lost and that were not acknowledged later or, where it declared none, those without acknowledgement.
Means of window, bytes in flight and RTT are over time, of what the file states: null where it states nothing.
"""
SUFFIXES = (".qlog", ".sqlog")


def import_qlog(source: Path, out: Path, command: list[str]) -> ResultsDirectory:
    """Imports a qlog file, or every one in a directory, into the new directory `out`, completely or not at all.

    Raises:
        UserError: there is none, one is damaged or foreign (file and line), or `out` is in use.
    """
    files = _files(source)
    refuse_used(out)
    with staging(out) as directory:
        parts = directory / "parts"
        traces: dict[str, tuple[Path, Path, dict[str, Any]]] = {}
        for index, file in enumerate(files):
            found = json.loads(_core.import_qlog(str(file), str(parts / str(index))))
            for number, held in enumerate(found, 1):
                label = _label(file, number if len(found) > 1 else None, traces)
                traces[label] = (file, parts / str(index) / str(number), held)
        last_s = max(held["last_s"] for _, _, held in traces.values())
        results = begin(directory, _experiment(source, list(traces), last_s), source, command)
        for run in results.experiment.all_runs():
            file, folder, held = traces[run.scheme]
            packets, samples = folder / "packets.parquet", folder / "flows.parquet"
            statistics = measure(packets, replace(results.experiment, duration_s=held["last_s"]), run, samples)
            statistics |= {"events": held["events"], "init_us": None, "qlog": held}
            if held["acked"]:
                # A trace has no planned length that it could fall short of, as Pantheon's runs can.
                statistics["network"] |= {"valid": True, "invalid_reason": None}
            add_run(results, run, [packets, samples], statistics, file.name)
        shutil.rmtree(parts)
        (directory / "notes.txt").write_text(NOTES, encoding="utf-8")
        finish(results)
    return ResultsDirectory(out, results.experiment)


def _files(source: Path) -> list[Path]:
    if source.is_file():
        return [source]
    if not source.is_dir():
        raise UserError(f"{source}: no such file or directory")
    files = sorted(file for file in source.iterdir() if file.suffix in SUFFIXES and file.is_file())
    if not files:
        raise UserError(f"{source}: there is no file in it that ends in {' or '.join(SUFFIXES)}")
    return files


def _label(file: Path, number: int | None, used: dict[str, Any]) -> str:
    """A name for a trace: the file's, made fit for a directory and unlike the others."""
    name = fitted(file.name.removesuffix(file.suffix), "qlog")
    if number is not None:
        name = f"{name}-{number}"
    return unlike(name, used)


def _experiment(source: Path, labels: list[str], last_s: float) -> Experiment:
    name = fitted(source.stem, "qlog")
    path = PathModel(name=name, title=f"qlog: {source.name}", provenance="unknown: as the qlogs' senders saw it")
    return imported_experiment(path, labels, last_s)
