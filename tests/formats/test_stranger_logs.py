"""Small logs of strangers that would become hours of work, or more than a disk holds."""

import gzip
import json
import resource
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from dumbbell import _core
from support.commands.command import COMMAND, TIMEOUT_S, Dumbbell, check
from support.inputs.captures import START_NS, Packet, Tcp, tcp, write_pcap
from support.inputs.transfer_logs import REPORT
from support.interrupts import interrupt_after

HEADER = b"# init timestamp: 1000\n"
LINES = 3_000_000
"""Number of lines of a log that takes some tenths of a second to read: more than between two checks of the signals."""


MOMENT_S = 0.02
"""CPU time before Ctrl-C, s. A reader that misses the signal goes on to the end of its work, and writes its file."""


def compress(file: Path, line: bytes, count: int, header: bytes = HEADER) -> Path:
    """Write a log of `count` equal lines, in gzip members that are compressed once."""
    part = 1_000
    file.write_bytes(gzip.compress(header) + gzip.compress(line * part) * (count // part))
    return file


@pytest.fixture(scope="module")
def packets(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a packet log of millions of records, in a few bytes."""
    folder = tmp_path_factory.mktemp("packets")
    log = compress(folder / "a.log.gz", b"1.000 + 1500 1\n", LINES)
    _core.import_merged_log(str(log), None, str(folder / "packets.parquet"), strict=True)
    return folder / "packets.parquet"


@pytest.mark.parametrize("line", [b"1 + 1504\n", b"1 d 1 1\n1 + 1504\n"])
def test_a_log_of_mahimahi_is_read_until_ctrl_c(tmp_path: Path, line: bytes) -> None:
    log, out = compress(tmp_path / "a.log.gz", line, LINES), tmp_path / "packets.parquet"
    with interrupt_after(MOMENT_S):
        _core.import_mahimahi(str(log), None, str(out), strict=False)
    assert list(tmp_path.iterdir()) == [log]


@pytest.mark.parametrize("ack", [False, True])
def test_a_log_of_pantheon_is_read_until_ctrl_c(tmp_path: Path, ack: bool) -> None:
    log, out = compress(tmp_path / "a.log.gz", b"1.000 + 1500 1\n", LINES), tmp_path / "packets.parquet"
    with interrupt_after(MOMENT_S):
        _core.import_merged_log(str(log), str(log) if ack else None, str(out), strict=False)
    assert list(tmp_path.iterdir()) == [log]


def test_raw_logs_of_pantheon_are_read_until_ctrl_c(tmp_path: Path) -> None:
    egress = compress(tmp_path / "a.log.gz", b"1.000 - 1 - 1500\n", 0, b"# egress: 1000\n1.000 - 1 - 1500\n")
    ingress = compress(tmp_path / "b.log.gz", b"1.000 - 1 - 1500\n", LINES, b"# ingress: 1000\n")
    out = tmp_path / "packets.parquet"
    with interrupt_after(MOMENT_S):
        _core.import_raw_logs([(str(egress), str(ingress))], [], (0.0, 0.0), str(out), strict=False)
    assert sorted(tmp_path.iterdir()) == [egress, ingress]


def offload_packets(mss: int, segments: int, payload: int = 60_000) -> Iterator[Packet]:
    """Yield a connection whose receiver announced segments of `mss` bytes, with its sender's offloaded segments."""
    yield START_NS, tcp(Tcp(True, 0, syn=True, mss=1460))
    yield START_NS + 1, tcp(Tcp(False, 0, 1, syn=True, mss=mss))
    for number in range(segments):
        yield START_NS + 2 + number, tcp(Tcp(True, 1 + number * payload, 1, payload))


@pytest.mark.parametrize("has_both", [False, True])
def test_a_capture_is_read_until_ctrl_c(tmp_path: Path, has_both: bool) -> None:
    capture = str(write_pcap(tmp_path / "a.pcap", offload_packets(64, 1_500), snaplen=64))
    with interrupt_after(MOMENT_S):
        _core.import_capture(capture, capture if has_both else None, None, "auto", str(tmp_path / "out"))
    assert not list(tmp_path.glob("out/*/*"))


def test_exports_go_on_until_ctrl_c(packets: Path, tmp_path: Path) -> None:
    data, ack = tmp_path / "data.log", tmp_path / "ack.log"
    with interrupt_after(MOMENT_S):
        _core.export_pantheon(str(packets), str(data), str(ack), 0)
    assert not list(tmp_path.iterdir())
    trace = '{"title": "", "description": "", "name": ""}'
    with interrupt_after(MOMENT_S):
        _core.export_qlog(str(packets), None, str(tmp_path / "1.sqlog"), 1, "0.3", trace)
    assert not list(tmp_path.iterdir())


def test_a_log_that_becomes_thousands_of_times_as_long_is_refused(dumbbell: Dumbbell, folder: Path) -> None:
    log = compress(folder / "bomb.log.gz", b"#" + b" " * 9_998 + b"\n", 30_000)
    size = log.stat().st_size
    result = dumbbell("import", "mahimahi", "bomb.log.gz", "--out", "out", expect=2)
    assert result.stderr == (
        f"dumbbell: cannot read bomb.log.gz: its {size} bytes become more than 268435456 when they are decompressed: "
        "allowed are 200 times as many, at least 268435456 and at most 8589934592\n"
    )
    assert not (folder / "out").exists()
    assert not list(folder.glob(".out*"))


@pytest.mark.parametrize(
    ("kind", "name"), [("iperf3", "bomb.json.gz"), ("ss", "bomb.log.gz"), ("qlog", "bomb.qlog.gz")]
)
def test_a_small_file_that_becomes_a_large_one_is_refused(
    dumbbell: Dumbbell, folder: Path, kind: str, name: str
) -> None:
    compress(folder / name, b" " * 9_999 + b"\n", 30_000, b"{")
    result = dumbbell("import", kind, name, "--out", "out", expect=2)
    assert result.stderr.count("\n") == 1
    assert name in result.stderr
    assert "268435456" in result.stderr or "256 MiB" in result.stderr
    assert not (folder / "out").exists()


def test_a_capture_of_segments_that_become_millions_of_packets_is_refused(dumbbell: Dumbbell, folder: Path) -> None:
    # 11 MB with an announced segment of one byte made 6,500,000,000 packets.
    write_pcap(folder / "tiny.pcap", offload_packets(1, 900), snaplen=64)
    result = dumbbell("import", "pcap", "tiny.pcap", "--out", "out", expect=2)
    assert result.stderr == (
        "dumbbell: tiny.pcap: its first 841 packets become 1048750, those of this connection with 48 bytes of payload "
        "each: allowed are 1024 times as many, at least 1048576 and at most 4294967296\n"
    )
    assert not (folder / "out").exists()


def full_disk(folder: Path, most_bytes: int, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the command where no file may be larger than `most_bytes`."""
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (most_bytes, most_bytes))  # noqa: E731
    command = [*COMMAND, *arguments]
    return subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=TIMEOUT_S, check=False, preexec_fn=limit
    )


@pytest.fixture
def made_results(once: Dumbbell, folder: Path) -> Path:
    """Return the results of a run."""
    once("run", "--schemes", "cubic", "--path", "small.toml", "--duration", "5", "--log", "full", "--out", "made")
    return folder / "made"


@pytest.mark.parametrize("name", ["pantheon", "qlog"])
@pytest.mark.usefixtures("made_results")
def test_an_export_that_finds_the_disk_full_names_its_output(folder: Path, name: str) -> None:
    result = check(full_disk(folder, 10_000, "export", name, "made", "--out", "out"), 2)
    file = "cubic_datalink_run1.log" if name == "pantheon" else "small_cubic_1_flow1.sqlog"
    assert result.stderr == f"dumbbell: cannot write out/{file}: File too large (os error 27)\n"
    assert not list(folder.glob("*out*"))


@pytest.mark.parametrize(
    ("words", "file"),
    [
        (("iperf3", "a.json"), "parts/0/1/flows.parquet"),
        (("iperf3", "all"), "parts/0/1/flows.parquet"),
        (("pcap", "a.pcap"), "parts/0/tcp-sent/packets.parquet"),
        (("mahimahi", "a.log"), "packets.parquet"),
    ],
)
def test_an_import_that_finds_the_disk_full_does_not_blame_the_log(
    folder: Path, words: tuple[str, str], file: str
) -> None:
    (folder / "all").mkdir()
    for name in ("a.json", "all/a.json", "all/b.json"):
        (folder / name).write_text(json.dumps(REPORT))
    (folder / "a.log").write_text("1 + 1504\n")
    write_pcap(folder / "a.pcap", offload_packets(1460, 2))
    result = check(full_disk(folder, 500, "import", *words, "--out", "out"), 2)
    assert result.stderr.startswith((f"dumbbell: cannot write out/{file}: ", f"dumbbell: out/{file}: cannot write: "))
    assert "File too large" in result.stderr
    assert result.stderr.count("\n") == 1
    assert not list(folder.glob("*out*"))
