"""The first packets of a baseline's runs, in a file beside the baseline. They locate the first packet that differs."""

from __future__ import annotations

import hashlib
import io
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy
from numpy.typing import NDArray

from dumbbell.base.errors import UserError, argument
from dumbbell.base.input_files import PACKETS, read_bytes
from dumbbell.results.files import write_named
from dumbbell_check.first_difference import SentLog

MOST_PACKETS = 2000
"""Number of stored packets of each cell: the start and the first losses, where versions of a controller diverge."""
_FIELDS = ("cwnd", "ssthresh", "window", "in_flight", "pacing", "srtt")
"""Stored fields of the sender's state."""
_INTEGERS = ("time_ns", "flow", "seq", "size_bytes")
_MOST_BYTES = 256 * 2**20


def how_to_update() -> str:
    """Return the instruction that writes a baseline: the command's option, or the library's function."""
    return argument("update_baseline")


def file_of(baseline: Path) -> Path:
    """Return the packets file of a baseline file: `cubic.baseline.npz`."""
    return baseline.with_suffix(".npz")


def write_packets(baseline: Path, logs: Mapping[str, SentLog]) -> str:
    """Write the first packets of each cell to the packets file; return its SHA-256.

    Raises:
        UserError: If the file cannot be written.
    """
    arrays: dict[str, NDArray[Any]] = {}
    for cell, log in logs.items():
        first = log.first(MOST_PACKETS)
        for name in _INTEGERS:
            column = first.columns[name].astype(numpy.int64)
            arrays[f"{cell}/{name}"] = numpy.diff(column, prepend=0)  # small numbers compress well
        end_s = float(first.columns["time_ns"][-1]) / 1e9 if len(first) else 0.0
        for name in _FIELDS:
            if name in first.samples:
                time_s, values, unit = first.samples[name]
                inside = time_s <= end_s
                arrays[f"{cell}/field/{name}/{unit}"] = numpy.stack([time_s[inside], values[inside]])
    buffer = io.BytesIO()
    numpy.savez_compressed(buffer, **arrays)  # type: ignore[arg-type]  # names of arrays, not of its arguments
    content = buffer.getvalue()
    write_named(file_of(baseline), content)
    return hashlib.sha256(content).hexdigest()


def read_packets(baseline: Path, digest: str) -> dict[str, SentLog] | str:
    """Return the packets of a baseline file by cell, or the reason why there are none.

    Raises:
        UserError: If the file is damaged.
    """
    file = file_of(baseline)
    if not file.is_file():
        return f"{file} is not there: {how_to_update()} writes it"
    content = read_bytes(file, PACKETS)
    if hashlib.sha256(content).hexdigest() != digest:
        return f"{file} is not the one that was written with {baseline.name}: write both again with {how_to_update()}"
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            if sum(member.file_size for member in archive.infolist()) > _MOST_BYTES:
                raise UserError(
                    f"{file}: holds more than {_MOST_BYTES // 2**20} MiB: allowed is what {how_to_update()} writes"
                )
        with numpy.load(io.BytesIO(content), allow_pickle=False) as arrays:
            return _logs(arrays)
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
        raise UserError(f"{file}: is damaged ({error}): write it again with {how_to_update()}") from None


def _logs(arrays: Mapping[str, NDArray[Any]]) -> dict[str, SentLog]:
    logs = {}
    for cell in dict.fromkeys(name.partition("/")[0] for name in arrays):
        columns: dict[str, NDArray[Any]] = {name: numpy.cumsum(arrays[f"{cell}/{name}"]) for name in _INTEGERS}
        columns["event"] = numpy.full(len(columns["time_ns"]), "send", dtype=object)
        samples = {}
        for name in arrays:
            cell_name, is_field, rest = name.partition("/field/")
            if cell_name == cell and is_field:
                field, _, unit = rest.partition("/")
                time_s, values = arrays[name]
                samples[field] = (time_s, values, unit)
        logs[cell] = SentLog(columns, samples)
    return logs
