"""Tests of sizes without bounds: refused in one line before anything is written, or stopped by a named budget."""

import json
import math
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from inline_snapshot import snapshot

from support.commands.bounded import BoundedProcess
from support.commands.command import PROGRESS, Dumbbell
from support.inputs.paths import SMALL
from support.inputs.rules import rules_in_each_other
from support.pages.long_form import LongForm
from support.told import transcript

MOST_BYTES = 2 << 30
"""Memory that suffices for the commands here, bytes."""

MOST_CPU_S = 20
"""CPU time that suffices for them, s: a machine that stands still does not count."""


@pytest.fixture(scope="module")
def bounded_process() -> Iterator[BoundedProcess]:
    """Yield a process that runs commands with little memory and little time."""
    process = BoundedProcess(MOST_BYTES, MOST_CPU_S)
    yield process
    process.close()


@pytest.fixture
def refuse(folder: Path, bounded_process: BoundedProcess) -> Callable[..., str]:
    """Return a function that runs a command with little memory and time, and returns its line without progress."""

    def run(*arguments: str) -> str:
        result = bounded_process.run(arguments, folder)
        assert result.returncode == 2, result.stderr
        assert result.stdout == ""
        lines = [line for line in result.stderr.splitlines() if not PROGRESS.search(line)]
        assert len(lines) == 1, result.stderr
        assert not (folder / "out").exists()
        return lines[0].removeprefix("dumbbell: ").rstrip()

    return run


RUN = ("run", "--schemes", "reno", "--duration", "1", "--out", "out", "--path")


@pytest.mark.parametrize(
    ("path", "part"),
    [
        (
            "title = 'nothing'",
            snapshot("reno on bad: path: data, ack: no element, so nothing takes time: needed is a link or a delay"),
        ),
        (
            SMALL + "[[data]]\nkind = 'duplicate'\nprobability = 1.0\n" * 60,
            snapshot(
                """\
bad.toml: path `bad`: data: 60 elements of kind duplicate: allowed are at most 8, for each may
  double what the one before lets pass\
"""
            ),
        ),
        (
            "[[data]]\nkind = 'trace'\neven = { lines = 100000000, period_ms = 1.0 }",
            snapshot(
                """\
bad.toml: path `bad`: data[0] (trace): times_ms, even, opportunity_bytes: 1200000000 Mbit/s on
  average: must be at most 1000000\
"""
            ),
        ),
        (
            "[[data]]\nkind = 'trace'\npoisson = { rate_mbps = 1e6, period_s = 3600.0 }",
            snapshot(
                "bad.toml: path `bad`: data[0] (trace): poisson.rate_mbps = 1000000: too high for so long a trace"
            ),
        ),
    ],
)
def test_paths(refuse: Callable[..., str], folder: Path, path: str, part: str) -> None:
    (folder / "bad.toml").write_text(path)
    assert transcript(refuse(*RUN, "bad.toml"), folder) == part


def test_a_trace_of_a_million_lines_a_millisecond(refuse: Callable[..., str], folder: Path) -> None:
    (folder / "bad.up").write_text("1\n" * 1_000_000)
    assert "12000000 Mbit/s on average: must be at most 1000000" in refuse(*RUN, "bad.up")


@pytest.mark.parametrize(
    ("assignment", "part"),
    [
        (
            "runs=1000000000",
            snapshot(
                """\
`runs` = 1000000000: 1000000000 of 1 schemes or mixes on 1 paths are 1000000000 runs: allowed are at
  most 100000, with --keep numbers 1000000\
"""
            ),
        ),
        (
            "reno.transport.keepalive_ms=1e-9",
            snapshot("--set: scheme `reno`: transport.keepalive_ms = 0.000000001: allowed is 0 (none) or 0.1 to 60000"),
        ),
        (
            "reno.transport.payload_bytes=0",
            snapshot("--set: scheme `reno`: transport.payload_bytes = 0: allowed is 1 to 65000"),
        ),
        ("sample_interval_s=1e-9", snapshot("--set: `sample_interval_s` = 1e-09: allowed is a number, at least 0.001")),
        ("most_packets=0", snapshot("--set: `most_packets` = 0: allowed is a whole number from 1 to 1e+09")),
    ],
)
def test_settings(refuse: Callable[..., str], assignment: str, part: str, tmp_path: Path) -> None:
    assert transcript(refuse(*RUN, "small.toml", "--set", assignment), tmp_path) == part


def test_cells(refuse: Callable[..., str], folder: Path) -> None:
    values = ", ".join(map(str, range(10, 1010)))
    grid = "".join(f"{axis} = [{values}]\n" for axis in ("rtt_ms", "bw_factor", "qlen_bdp"))
    (folder / "grid.toml").write_text(f"schemes = ['reno']\npaths = ['small.toml', 'lossy.toml']\n[grid]\n{grid}")
    line = refuse("run", "grid.toml", "--out", "out")
    assert line == "grid.toml: `grid`: 2000000000 cells on 2 paths: allowed are at most 100000"


@pytest.mark.parametrize(
    ("grid", "message"),
    [
        (
            "pulse = { period_s = 0.001, until_s = 100000.0, lower = 1.0, upper = 2.0, target = 'rate' }",
            "`grid.pulse.period_s` = 0.001: allowed is a number, at least 2, "
            "for at most 100000 changes until `until_s` = 100000",
        ),
        (
            f"k = {[*range(5001, 10001)]}",
            "`grid`: 37517500 flows, path elements and scheduled changes in all cells: allowed are at most 2000000",
        ),
        ("k = 10000\nk_scaled = 10000", "`grid`: a cell of 100000000 flows: allowed are at most 10000"),
        ("k = 10000\nversus = { scheme = 'cubic' }", "`grid`: a cell of 10001 flows: allowed are at most 10000"),
        (f"rtts = [{[10] * 10001}]", "`grid`: a cell of 10001 flows: allowed are at most 10000"),
        (
            f"transport = {{ text = '{'x' * 1000}' }}",
            "`grid.transport`: a value of 1005 characters: allowed are at most 1000",
        ),
        (
            # There is one at each of a thousand delays.
            "pulse = { period_s = 0.01, until_s = 100.0, lower = 1.0, upper = 2.0, target = 'rtt' }",
            "`grid`: 20021003 flows, path elements and scheduled changes in all cells: allowed are at most 2000000",
        ),
    ],
)
def test_cells_that_would_be_large_are_not_made(
    refuse: Callable[..., str], folder: Path, grid: str, message: str
) -> None:
    # A directory of results with a file of 296 bytes took 9.7 GB to be shown.
    small = SMALL + "[[data]]\nkind = 'delay'\ndelay_ms = 1.0\n" * (999 if "rtt'" in grid else 0)
    (folder / "delays.toml").write_text(small)
    (folder / "grid.toml").write_text(f"schemes = ['reno']\npaths = ['delays.toml']\n[grid]\n{grid}\n")
    assert refuse("run", "grid.toml", "--out", "out") == f"grid.toml: {message}"


def test_opportunities_of_a_trace(refuse: Callable[..., str], folder: Path) -> None:
    # They had no bound, and a wrong size in the first one was reported after the last: 3.2 GB in 50 s.
    for keys, message in (
        ("rate_mbps = 1e6\nopportunity_bytes = 1", "opportunities of 1 bytes: must be 1500 in a trace"),
        ("rate_mbps = 1e6", "more than 10000000 opportunities in 0.1"),
    ):
        (folder / "fast.toml").write_text(f"[[data]]\nkind = 'poisson'\n{keys}\n")
        line = refuse("export", "trace", "fast.toml", "--out", "out")
        assert line.startswith(f"path fast: data: {message}")


def test_intervals_of_a_run_that_is_said_to_be_long(
    dumbbell: Dumbbell, folder: Path, bounded_process: BoundedProcess
) -> None:
    # Memory was allocated for the intervals that the file states, whatever the log has: a signal ended the report.
    (folder / "x.toml").write_text(
        "schemes = ['reno']\npaths = ['small.toml']\nduration_s = 1.0\nintervals_s = 0.001\n"
    )
    dumbbell("run", "x.toml", "--out", "out")
    for file, prefix in ((folder / "out/experiment.toml", "duration_s = "), *_stops(folder)):
        file.write_text(file.read_text().replace(f"{prefix}1.0", f"{prefix}1000000.0"))
    message = "packets.parquet: reaches to 1000000 s, which are more than 1048576 intervals of 0.001 s of its 1 flows"
    shown_result = bounded_process.run(("show", "out", "--intervals", "0.001"), folder)
    assert shown_result.returncode == 1
    refusals = [line for line in shown_result.stderr.splitlines() if not PROGRESS.search(line)]
    assert refusals == [f"reno on small, run 1: out/runs/small/reno/1/{message}: choose longer ones"]
    dumbbell("report", "out", "--all-runs")
    assert f"Transfers are missing: {message}" in LongForm.of(folder / "out").text


def _stops(folder: Path) -> list[tuple[Path, str]]:
    return [(file, '"stop_s": ') for file in folder.glob("out/runs/*/*/*/stats.json")]


@pytest.mark.parametrize(
    "words",
    [
        ("run", "--schemes", "reno", "--path", "{}", "--out", "out"),
        ("run", "--schemes", "reno", "--path", "small.toml,{}.toml", "--out", "out"),
        ("run", "{}.toml", "--out", "out"),
        ("run", "--schemes", "{}.toml", "--path", "small.toml", "--out", "out"),
        ("run", "--plugin", "{}.py", "--path", "small.toml", "--out", "out"),
        ("run", "--schemes", "{}.so", "--path", "small.toml", "--out", "out"),
        ("benchmark", "--schemes", "reno", "--experiment", "{}.toml", "--out", "out"),
        ("import", "mahimahi", "{}", "--out", "out"),
        ("import", "mahimahi", "small.toml", "--ack", "{}", "--out", "out"),
    ],
)
@pytest.mark.parametrize("kind", ["pipe", "endless"])
def test_files_that_never_end(refuse: Callable[..., str], folder: Path, words: tuple[str, ...], kind: str) -> None:
    for suffix in ("", ".toml", ".py", ".so"):
        if kind == "pipe":
            os.mkfifo(folder / f"pipe{suffix}")
        else:
            (folder / f"endless{suffix}").symlink_to("/dev/zero")
    kind_text = "a named pipe" if kind == "pipe" else "a device"
    line = refuse(*(word.format(kind) for word in words))
    assert f"is {kind_text}: allowed is a regular file" in line


def test_a_run_whose_time_stands_still_is_stopped_by_name(dumbbell: Dumbbell, folder: Path) -> None:
    zero = SMALL.replace("10.0", "0.0").replace("rate_mbps = 0.0", "rate_mbps = 1000000.0")
    (folder / "zero.toml").write_text(zero)
    budget = ("--set", "most_events_per_s=100000")
    result = dumbbell(*RUN, "zero.toml", *budget, expect=1)
    assert "reno on zero, run 1: most_events_per_s = 100000: 1" in result.stderr
    assert "events from 0.000000 s to 0." in result.stderr
    assert not list((folder / "out").rglob("packets.parquet"))
    # The reason is the same on every machine, every time.
    reason = result.stderr.splitlines()[-2]
    again = dumbbell(*RUN, "zero.toml", *budget, "--resume", expect=1)
    assert reason in again.stderr


def test_a_run_that_fills_the_memory_is_stopped_by_name(dumbbell: Dumbbell, folder: Path) -> None:
    slow = SMALL.replace('queue = { kind = "droptail", packets = 30 }', "").replace("= 10.0", "= 0.01", 1)
    (folder / "slow.toml").write_text(slow)
    (folder / "flood.toml").write_text('controller = "unresponsive"\ntransport = { profile = "datagram" }')
    scheme = ("--schemes", "flood.toml", "--set", "most_packets=20000")
    result = dumbbell("run", *scheme, "--path", "slow.toml", "--duration", "9", "--out", "out", expect=1)
    assert "flood on slow, run 1: most_packets = 20000: 2" in result.stderr


@pytest.mark.parametrize("text", [".".join("ab" * 60) + "=1\n", "[a]\n", "a={}\n"])
def test_toml_of_more_names_than_the_memory_holds(refuse: Callable[..., str], folder: Path, text: str) -> None:
    (folder / "names.toml").write_text(text * (15 * 2**20 // len(text)))
    assert refuse("run", "names.toml", "--out", "out") == "names.toml: has too many names: allowed are 1000000"


def test_json_of_more_values_than_the_memory_holds(refuse: Callable[..., str], folder: Path) -> None:
    (folder / "benchmark").mkdir()
    (folder / "benchmark" / "benchmark.json").write_text(f"[{'[],' * (20 * 2**20)}[]]")
    line = refuse("report", "benchmark")
    assert line.startswith("benchmark/benchmark.json:1: has too many values: allowed are 4000000")


def _weights(layers: str, policy: str, shapes: dict[str, list[int]]) -> bytes:
    """Return a file of weights that are all zero."""
    head: dict[str, Any] = {"__metadata__": {"layers": layers, "policy": policy}}
    end = 0
    for name, shape in shapes.items():
        begin, end = end, end + 4 * math.prod(shape)
        head[name] = {"dtype": "F32", "shape": shape, "data_offsets": [begin, end]}
    text = json.dumps(head).encode()
    return len(text).to_bytes(8, "little") + text + bytes(end)


_WIDE = {"0.kernel": [1, 10_000], "0.bias": [10_000]}


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (
            _weights("dense " + "keep " * 100_000 + "dense", "sees=latency_ratio", _WIDE),
            "100002 layers: allowed are 1000",
        ),
        (
            _weights(
                "dense " + "keep " * 998 + "dense",
                "sees=latency_ratio",
                _WIDE | {"999.kernel": [10_000, 1], "999.bias": [1]},
            ),
            "its layers keep up to 998 times 10000 values: allowed are 1048576 in all",
        ),
        (
            _weights("dense", "history=1000 sees=latency_ratio" + ",latency_ratio" * 1_199_999, {}),
            "policy: `sees` has 1200000 names and `history` is 1000: allowed are 65536 numbers in all",
        ),
    ],
    ids=["layers", "aside", "sees"],
)
def test_networks_that_a_small_file_makes_large(
    refuse: Callable[..., str], folder: Path, content: bytes, reason: str
) -> None:
    """A file of 620 kB took 4 GB."""
    (folder / "w.safetensors").write_bytes(content)
    (folder / "mine.toml").write_text('controller = "neural"\nparameters = { weights = "w.safetensors" }\n')
    line = refuse("run", "--schemes", "mine.toml", "--path", "small.toml", "--out", "out")
    assert line.endswith(f"w.safetensors`: {reason}")


def test_rules_that_lie_in_each_other(refuse: Callable[..., str], folder: Path) -> None:
    """Ten thousand nested rules took a quarter of an hour."""
    (folder / "deep.json").write_text(rules_in_each_other(10_000))
    (folder / "mine.toml").write_text('controller = "remy"\nparameters = { table = "deep.json" }\n')
    line = refuse("run", "--schemes", "mine.toml", "--path", "small.toml", "--out", "out")
    assert "deep.json`: its rules lie too deep in each other: a tree of them takes more than 4000000 looks" in line


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (
            ("run", "{}.toml", "--out", "out"),
            snapshot("huge.toml: has 3072.0 MiB: allowed for a TOML file are at most 16 MiB"),
        ),
        ((*RUN, "{}.toml"), snapshot("huge.toml: has 3072.0 MiB: allowed for a TOML file are at most 16 MiB")),
        (
            (*RUN, "{}.up"),
            snapshot(": `file` = huge.up: huge.up: has 3072.0 MiB: allowed for a text file are at most 256 MiB"),
        ),
        (
            ("run", "--plugin", "{}.py", "--path", "small.toml", "--out", "out"),
            snapshot("huge.py: has 3072.0 MiB: allowed for a file with classes in Python are at most 4 MiB"),
        ),
        (
            ("run", "--plugin", "{}.so", "--path", "small.toml", "--out", "out"),
            snapshot("huge.so: has 3072.0 MiB: allowed for a library are at most 1024 MiB"),
        ),
        (
            ("run", "class.toml", "--trust", "--out", "out"),
            snapshot("huge.py: has 3072.0 MiB: allowed for a file with classes in Python are at most 4 MiB"),
        ),
        (
            ("run", "--schemes", "learned.toml", "--path", "small.toml", "--out", "out"),
            snapshot("huge.dna: has 3072.0 MiB: allowed for a file that a parameter names are at most 256 MiB"),
        ),
        (
            ("train", "remy", "--out", "{}.dna", "--resume"),
            snapshot("huge.dna: has 3072.0 MiB: allowed for the file of a training are at most 256 MiB"),
        ),
        (
            ("calibrate", "{}.csv", "--out", "out.toml"),
            snapshot("huge.csv: has 3072.0 MiB: allowed for a table are at most 64 MiB"),
        ),
        (
            ("import", "iperf3", "{}.log", "--out", "out"),
            snapshot("huge.log: has 3072.0 MiB: allowed for a log are at most 256 MiB"),
        ),
    ],
)
def test_files_that_are_larger_than_their_kind_may_be(
    refuse: Callable[..., str], bounded_process: BoundedProcess, folder: Path, words: tuple[str, ...], part: str
) -> None:
    """Sparse files of 3 GiB would exhaust the memory of a reader."""
    for suffix in ("toml", "up", "py", "so", "dna", "csv", "log"):
        with (folder / f"huge.{suffix}").open("wb") as file:
            file.truncate(3 << 30)
    (folder / "learned.toml").write_text('controller = "remy"\nparameters = { table = "huge.dna" }\n')
    (folder / "class.toml").write_text(
        "schemes = ['mine']\npaths = ['small.toml']\nduration_s = 1\n"
        "[scheme.mine]\nkind = 'python'\nfile = 'huge.py'\nclass = 'Mine'\n"
    )
    before = bounded_process.read_bytes()
    line = refuse(*(word.format("huge") for word in words))
    assert "has 3072.0 MiB: " in line
    assert transcript(line, folder) == part
    assert bounded_process.read_bytes() - before < 1 << 28, "it was read, or hashed"
