"""Tests of the memory of commands, which must not depend on the length of a log."""

import subprocess
import sys
from pathlib import Path

import numpy
import pyarrow
import pyarrow.parquet
import pytest

from dumbbell import core
from support.commands.command import COMMAND, Dumbbell
from support.inputs.paths import path_text

APART = """
import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""
"""Program of a small process in between: the memory of the forking process counts for its child."""


def most_mib(folder: Path, *arguments: str) -> float:
    """Return the peak memory of a command, MiB; the command itself draws a single run."""
    command = [sys.executable, "-c", APART, *COMMAND, *arguments]
    result = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True)
    return int(result.stdout) / 1024


@pytest.mark.slow
def test_the_report_of_a_long_run_takes_no_more_memory_than_that_of_a_short_one(
    dumbbell: Dumbbell, folder: Path
) -> None:
    # An hour at 100 Mbit/s took 1.95 GB, 0.5 MB more for each second: every packet was in memory, several times.
    (folder / "fast.toml").write_text(path_text(100.0, 20.0, 'queue = { kind = "droptail", packets = 300 }'))
    peaks = {}
    for seconds in (15, 150):
        out = f"out{seconds}"
        dumbbell("run", "--schemes", "cubic", "--path", "fast.toml", "--duration", seconds, "--out", out)
        peaks[seconds] = most_mib(folder, "report", out)
    assert peaks[150] < peaks[15] + 30.0, peaks
    assert peaks[150] < 300.0, peaks


def test_a_small_file_of_many_samples_is_drawn_in_bounded_memory(folder: Path) -> None:
    # 50 million equal samples in 474 kB took 3.6 GB
    rows, limit = 4_300_000, 1 << 22
    kinds = {"time_ns": pyarrow.uint64(), "flow": pyarrow.uint32(), "field": pyarrow.string()}
    kinds |= {"unit": pyarrow.string(), "value": pyarrow.float64()}
    schema = pyarrow.schema([pyarrow.field(name, kind, nullable=False) for name, kind in kinds.items()])
    count = numpy.arange(rows)
    texts = [pyarrow.repeat(text, rows) for text in ("cwnd", "packets")]
    columns = [pyarrow.array(count, pyarrow.uint64()), pyarrow.repeat(pyarrow.scalar(1, pyarrow.uint32()), rows)]
    columns += [*texts, pyarrow.array(count, pyarrow.float64())]
    file = folder / "flows.parquet"
    with pyarrow.parquet.ParquetWriter(file, schema, compression="zstd", store_schema=False) as writer:
        writer.write_table(pyarrow.Table.from_arrays(columns, schema=schema), row_group_size=1 << 20)
        writer.add_key_value_metadata({"dumbbell.format": "flows 1"})
    ((key, field, unit, times, values),) = core.samples(str(file))
    assert (key, field, unit) == ("1", "cwnd", "packets")
    assert limit // 4 <= len(times) // 8 <= limit
    frombuffer = numpy.frombuffer(values)
    assert (frombuffer[0], frombuffer[-1]) == (0.0, rows - 1.0)
