"""Tests of detection by content: compressed files of other tools, in unusual formats and under unusual names."""

import bz2
import gzip
import json
import lzma
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

from dumbbell.formats.contents import kind_of, stem_of, suffix_of
from dumbbell_reproduce.log_sets import log_sets
from support.commands.command import Dumbbell, show
from support.inputs.captures import RAW, transfer, write_pcap
from support.inputs.json_sequences import write_sequence
from support.inputs.transfer_logs import REPORT, SS_LOG, events


def zstd(content: bytes) -> bytes:
    compressed_bytes: bytes = pa.compress(content, codec="zstd", asbytes=True)
    return compressed_bytes


PACKERS: dict[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".zst": zstd,
}
REPORTED = json.dumps(REPORT).encode()


def qlog(file: Path) -> bytes:
    """Write a qlog of a packet that is sent, and acknowledged after 40 ms; return its content."""
    sent_event = {"time": 0, "name": "transport:packet_sent", "data": {"header": {"packet_number": 1}}}
    frames = [{"frame_type": "ack", "acked_ranges": [[1, 1]]}]
    acked_event = {"time": 40, "name": "transport:packet_received", "data": {"frames": frames}}
    write_sequence(file, [{"qlog_version": "0.3", "trace": {}}, sent_event, acked_event])
    return file.read_bytes()


@pytest.mark.parametrize("ending", PACKERS)
@pytest.mark.parametrize("is_named", [True, False])
def test_a_compressed_file_is_told_by_its_content(
    dumbbell: Dumbbell, folder: Path, ending: str, is_named: bool
) -> None:
    pack = PACKERS[ending]
    for kind, content, suffix in (
        ("iperf3", REPORTED, ".json"),
        ("qlog", qlog(folder / "made"), ".sqlog"),
        ("ss", SS_LOG.encode(), ".log"),
    ):
        name = f"t{suffix}{ending if is_named else ''}"
        (folder / name).write_bytes(pack(content))
        dumbbell("import", kind, name, "--out", f"out-{kind}")
        (run,) = show(dumbbell, f"out-{kind}")["runs"]
        assert run["status"] == "done"


def test_archives_and_what_is_packed_twice_are_refused_in_a_line(dumbbell: Dumbbell, folder: Path) -> None:
    with zipfile.ZipFile(folder / "a.zip", "w") as archive:
        archive.writestr("t.json", REPORTED)
    with tarfile.open(folder / "a.tgz", "w:gz") as tar_file:
        (folder / "t.json").write_bytes(REPORTED)
        tar_file.add(folder / "t.json", "t.json")
    (folder / "a.json.gz").write_bytes(gzip.compress(gzip.compress(REPORTED)))
    (folder / "cut.json.gz").write_bytes(gzip.compress(REPORTED)[:-20])
    rule = "unpack it first; allowed is one file, plain or compressed once by gzip, bzip2, xz or zstd"
    for name, problem in (
        ("a.zip", f"a.zip: is a zip archive: {rule}"),
        ("a.tgz", f"a.tgz: has a tar archive in it: {rule}"),
        ("a.json.gz", f"a.json.gz: is compressed twice: {rule}"),
        ("cut.json.gz", "cannot read cut.json.gz: it ends in the middle of its compressed data"),
    ):
        assert dumbbell("import", "iperf3", name, "--out", "out", expect=2).stderr == f"dumbbell: {problem}\n"


def test_a_directory_is_read_by_content_and_lists_what_is_not_imported(dumbbell: Dumbbell, folder: Path) -> None:
    logs = folder / "logs"
    logs.mkdir()
    (logs / "cubic.JSON").write_bytes(REPORTED)
    (logs / "bbr.res").write_text(events())
    (logs / "reno.json.xz").write_bytes(lzma.compress(REPORTED))
    (logs / "trace.json").write_bytes(qlog(folder / "made"))
    (logs / "README").write_text("how it was made\n")
    (logs / ".hidden").write_text("")
    (logs / "sub").mkdir()
    result = dumbbell("import", "iperf3", "logs", "--out", "out")
    assert [run["scheme"] for run in show(dumbbell, "out")["runs"]] == ["bbr", "cubic", "reno"]
    assert "note: bbr, run 1: not imported from the directory: README, sub/, trace.json\n" in result.stderr
    assert log_sets(logs) == [(logs, "iperf3"), (logs, "qlog")]
    for number in range(12):
        (logs / f"text{number}").write_text("")
    result = dumbbell("import", "qlog", "logs", "--out", "qlogs")
    assert "text10, text11, text2 and 7 more\n" in result.stderr


def test_kinds_are_told_by_the_first_bytes(tmp_path: Path) -> None:
    def detected_kind(content: bytes) -> str | None:
        file = tmp_path / "file"
        file.write_bytes(content)
        return kind_of(file)

    assert (
        detected_kind(REPORTED)
        == detected_kind(events().encode())
        == detected_kind(REPORTED.decode().encode("utf-16"))
        == "iperf3"
    )
    assert detected_kind(b"a warning\n" + json.dumps(REPORT, indent=1).encode()) == "iperf3"
    assert detected_kind(SS_LOG.encode()) == "ss"
    assert detected_kind(qlog(tmp_path / "made")) == detected_kind(b'{"title": "t",\n "qlog_version": "0.3"}') == "qlog"
    assert detected_kind(write_pcap(tmp_path / "made", transfer(0), RAW).read_bytes()) == "capture"
    assert (
        detected_kind(b"")
        is detected_kind(b"\0" * 100)
        is detected_kind(b"PK\3\4")
        is detected_kind(b'{"a": 1}')
        is None
    )
    assert kind_of(tmp_path) is None


def test_the_suffix_of_compression_is_none_of_a_log() -> None:
    assert [stem_of(Path(name)) for name in ("a.b.json.GZ", "a.json", "a.gz", "a")] == ["a.b", "a", "a", "a"]
    assert [suffix_of(Path(name)) for name in ("a.b.JSON.gz", "a.PCAP", "a.gz", "a")] == [".json", ".pcap", "", ""]
