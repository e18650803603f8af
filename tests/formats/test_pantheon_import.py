"""Tests of Pantheon's data as people have it: of every year, edited, cut, compressed, partly lost."""

import gzip
import json
import lzma
import os
import random
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from inline_snapshot import snapshot

import dumbbell as library
from support.commands.command import Dumbbell, show
from support.inputs.pantheon_folder import ACK_LOG, DATA_LOG, METADATA, STATS
from support.pages.long_form import LongForm
from support.told import transcript

SCHEMES = ["bbr", "copa", "cubic", "vegas"]
MM_LOG = """# queue: droptail [packets=500]
# init timestamp: 1514764800123
# base timestamp: 40
40 # 1504
41 + 1504
71 - 1504 30
72 # 1504
900 + 1504
931 - 1504 31
"""


def write(source: Path, metadata: dict[str, Any], logs: dict[str, str | bytes]) -> None:
    """Write a data directory with these files."""
    source.mkdir(exist_ok=True)
    (source / "pantheon_metadata.json").write_text(json.dumps(metadata))
    for name, content in logs.items():
        (source / name).write_bytes(content if isinstance(content, bytes) else content.encode())


def logs_of(
    scheme: str, data: str | bytes = DATA_LOG, ack: str | bytes = ACK_LOG, stats: str | bytes = STATS
) -> dict[str, Any]:
    """Return the files of a run."""
    return {f"{scheme}_datalink_run1.log": data, f"{scheme}_acklink_run1.log": ack, f"{scheme}_stats_run1.log": stats}


@pytest.fixture
def source(folder: Path) -> Path:
    """Write a data directory with four good runs."""
    logs = {name: log for scheme in SCHEMES for name, log in logs_of(scheme).items()}
    write(folder / "data", METADATA | {"cc_schemes": SCHEMES}, logs)
    return folder / "data"


def text_of_pdf(file: Path) -> str:
    """Return the text of a PDF in one line; skip the test if no program can read it."""
    if shutil.which("pdftotext") is None:
        pytest.skip("needs pdftotext")
    result = subprocess.run(["pdftotext", "-layout", str(file), "-"], capture_output=True, text=True, check=True)
    return " ".join(result.stdout.split())


def by_scheme(dumbbell: Dumbbell, expect: int = 0) -> dict[str, dict[str, Any]]:
    return {run["scheme"]: run for run in show(dumbbell, "out", expect=expect)["runs"]}


def test_one_bad_file_does_not_cost_the_set_and_all_bad_ones_are_named(dumbbell: Dumbbell, source: Path) -> None:
    (source / "bbr_datalink_run1.log").write_text(DATA_LOG[:-15])
    (source / "copa_datalink_run1.log").write_bytes(DATA_LOG.encode().replace(b"31.000 -", b"\0\0\0\0\0\0 -"))
    (source / "copa_acklink_run1.log").write_text(ACK_LOG + "52.0\n")
    (source / "vegas_acklink_run1.log").write_text(ACK_LOG[:-4])
    result = dumbbell("import", "pantheon", source, "--out", "out", expect=1)
    runs = by_scheme(dumbbell, expect=1)
    assert {scheme: run["status"] for scheme, run in runs.items()} == {
        "bbr": "failed",
        "copa": "failed",
        "cubic": "done",
        "vegas": "done",
    }
    assert runs["bbr"]["reason"].startswith("bbr_datalink_run1.log:9: ")
    assert runs["copa"]["reason"].startswith("copa_datalink_run1.log:5: expected a time")
    assert "; copa_acklink_run1.log:4: expected" in runs["copa"]["reason"]
    assert runs["vegas"]["notes"][0].startswith("vegas_acklink_run1.log:3: the log is cut off")
    assert runs["vegas"]["flows"][0]["acklink"] is None
    assert runs["vegas"]["network"]["throughput_mbps"] == runs["cubic"]["network"]["throughput_mbps"]
    assert runs["cubic"]["notes"] == []
    for name in ("bbr_datalink_run1.log:9", "copa_datalink_run1.log:5", "vegas_acklink_run1.log:3"):
        assert name in result.stderr


def test_strictly_read_the_first_bad_file_refuses_the_directory(dumbbell: Dumbbell, source: Path) -> None:
    (source / "bbr_datalink_run1.log").write_text(DATA_LOG[:-15])
    result = dumbbell("import", "pantheon", source, "--out", "out", "--strict", expect=2)
    assert len(result.stderr.splitlines()) == 1
    assert f"{source}/bbr_datalink_run1.log:9: " in result.stderr
    assert not (source.parent / "out").exists()
    with pytest.raises(library.Error, match=r"bbr_datalink_run1\.log:9: "):
        library.import_results("pantheon", source, source.parent / "out", strict=True)


@pytest.mark.parametrize(
    ("change", "note"),
    [
        (
            lambda log: log.replace("31.000 -", "2.300 -"),
            ":5: 1 line earlier than a line before: the clock stepped back",
        ),
        (lambda log: log[:-1], ":9: no newline at the end of the last line, which is whole"),
        (lambda log: log.replace("2.500 +", "2.50021 +"), ":4: 1 line with more than 3 decimals"),
        (lambda log: log.replace("0.000 #", "-0.125 #"), ":2: 1 line before the log's zero, by 0.125 ms"),
        (lambda log: log.replace("2.500 +", "  2.500 +"), ":4: 1 line with blanks at the start"),
        (lambda log: "\ufeff" + log, ":1: a byte order mark at the start"),
    ],
)
def test_what_pantheon_takes_is_taken_and_noted(
    dumbbell: Dumbbell, source: Path, change: Callable[[str], str], note: str
) -> None:
    (source / "bbr_datalink_run1.log").write_text(change(DATA_LOG))
    result = dumbbell("import", "pantheon", source, "--out", "out")
    runs = by_scheme(dumbbell)
    assert runs["bbr"]["status"] == "done"
    assert runs["bbr"]["notes"][0].startswith(f"bbr_datalink_run1.log{note}")
    assert f"note: bbr, run 1: {runs['bbr']['notes'][0]}" in result.stderr
    assert runs["cubic"]["notes"] == []
    assert runs["bbr"]["notes"][0] in (source.parent / "out/runs/data/bbr/1/log.txt").read_text()
    assert library.open(source.parent / "out").run(scheme="bbr").notes == tuple(runs["bbr"]["notes"])
    dumbbell("import", "pantheon", source, "--out", "strictly", "--strict", expect=2)


@pytest.mark.parametrize(
    ("stats", "start", "notes"),
    [
        ("Start at: Mon, 05 Dec 2016 10:10:10 +0000\n", "2016-12-05 10:10:10", []),
        ("Start at: Mon, 05 Dec 2016 10:10:10 +0200\n", "2016-12-05 08:10:10", []),
        ("Start at: 2017-08-01T10:10:10Z\n", "2017-08-01 10:10:10", []),
        ("Start at: Montag frueh\n", None, ["cubic_stats_run1.log:1: `Montag frueh` is left out: expected a time"]),
        ("\nLocal clock offset: nan ms\n", None, ["cubic_stats_run1.log:2: `nan ms` is left out: expected a clock"]),
        (
            b"\nStart at: 2018-01-01 00:00:00\nM\xfcnchen\n",
            "2018-01-01 00:00:00",
            ["cubic_stats_run1.log:3: not UTF-8"],
        ),
    ],
)
def test_stats_of_every_year_and_odd_ones(
    dumbbell: Dumbbell, source: Path, stats: str | bytes, start: str | None, notes: list[str]
) -> None:
    write(source, METADATA, logs_of("cubic", stats=stats))
    dumbbell("import", "pantheon", source, "--out", "out")
    run = by_scheme(dumbbell)["cubic"]
    assert (run["status"], run["imported"]["started"]) == ("done", start)
    assert len(run["notes"]) == len(notes)
    for note, expected in zip(run["notes"], notes, strict=True):
        assert note.startswith(expected)


def test_metadata_in_latin_1_and_with_numbers_as_text(dumbbell: Dumbbell, source: Path) -> None:
    text = json.dumps(METADATA | {"runtime": "1", "local_desc": "M?nchen"}).replace("?", "\xfc")
    (source / "pantheon_metadata.json").write_bytes(text.encode("latin-1"))
    dumbbell("import", "pantheon", source, "--out", "out")
    content = show(dumbbell, "out")
    assert content["experiment"]["duration_s"] == 1.0
    assert content["environment"]["imported"]["metadata"]["local_desc"] == "M\xfcnchen"
    notes = content["environment"]["imported"]["notes"]
    assert notes[0] == "pantheon_metadata.json:1: not UTF-8, read as Latin-1"
    assert notes[1] == "pantheon_metadata.json: `runtime` is the text `1`, taken as a number"
    strictly = dumbbell("import", "pantheon", source, "--out", "new", "--strict", expect=2)
    assert "pantheon_metadata.json:1: not UTF-8" in strictly.stderr


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (
            "[" * 5000,
            snapshot("dumbbell: data/pantheon_metadata.json:1: nested too deeply: allowed are 50 levels"),
        ),
        (
            json.dumps(METADATA)[:-1] + ', "x": ' + "[" * 200 + "]" * 200 + "}",
            snapshot("dumbbell: data/pantheon_metadata.json:1: nested too deeply: allowed are 50 levels"),
        ),
        (
            json.dumps(METADATA)[:-1] + f', "runtime": {"9" * 5000}' + "}",
            snapshot("dumbbell: data/pantheon_metadata.json:1: has a number of 5000 digits"),
        ),
        (
            json.dumps(METADATA | {"local_desc": "a\ud800"}),
            snapshot("dumbbell: data/pantheon_metadata.json:1: has half of a character (a lone surrogate)"),
        ),
        (
            json.dumps(METADATA | {"sender_side": "both"}),
            snapshot("dumbbell: data/pantheon_metadata.json: `sender_side` = both: allowed are local, remote"),
        ),
        (
            json.dumps(METADATA | {"sender_side": ["local"]}),
            snapshot("dumbbell: data/pantheon_metadata.json: `sender_side` = ['local']: allowed are local, remote"),
        ),
        (
            json.dumps(METADATA | {"cc_schemes": ["x" * 101]}),
            snapshot(
                """\
dumbbell: data/pantheon_metadata.json: `cc_schemes`:
  `xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx...` is not the
  name of a scheme: allowed are letters, digits and `._+-`, starting with a letter, a digit or `_`,
  at most 100 characters\
"""
            ),
        ),
        (
            json.dumps(METADATA | {"mixes": {"cubic": "cubic*0"}}),
            snapshot(
                """\
dumbbell: data/pantheon_metadata.json: `mixes.cubic`: mix `cubic*0`: allowed is SCHEME or
  SCHEME*COUNT, joined by +, like `cubic*2+bbr`\
"""
            ),
        ),
        (
            json.dumps(METADATA | {"flows": float("nan")}),
            snapshot("dumbbell: data/pantheon_metadata.json:1: has the number NaN: allowed are finite ones"),
        ),
        (
            json.dumps(METADATA | {"flows": 0.5}),
            snapshot("dumbbell: data/pantheon_metadata.json: `flows` = 0.5: allowed is a whole number, 0 to 10000"),
        ),
        (
            json.dumps(METADATA | {"cc_schemes": [f"s{number}" for number in range(1000)], "run_times": 10_000}),
            snapshot(
                """\
dumbbell: data/pantheon_metadata.json: `run_times`: 10000 of 1004 schemes are 10040000 runs: allowed
  are at most 100000\
"""
            ),
        ),
        (
            " " * (16 << 20) + "{}",
            snapshot("dumbbell: data/pantheon_metadata.json: is longer than 16777216 bytes"),
        ),
    ],
)
def test_impossible_metadata_are_refused_in_one_line(
    dumbbell: Dumbbell, source: Path, text: str, problem: str, tmp_path: Path
) -> None:
    (source / "pantheon_metadata.json").write_text(text)
    result = dumbbell("import", "pantheon", source, "--out", "out", expect=2)
    assert transcript(result.stderr, tmp_path) == problem
    assert len(result.stderr.splitlines()) == 1
    assert not (source.parent / "out").exists()


def test_text_of_the_metadata_is_text_in_every_output(dumbbell: Dumbbell, source: Path) -> None:
    odd = {"local_desc": "a\x1b[31mb\nc", "git_summary": "branch: x\x07\n", "mode": "remote"}
    (source / "pantheon_metadata.json").write_text(json.dumps(METADATA | odd))
    result = dumbbell("import", "pantheon", source, "--out", "out")
    assert not {"\x1b", "\x07"} & set(result.stdout + result.stderr)
    dumbbell("report", "out")


def test_a_stats_file_that_cannot_be_read_costs_its_times_only(dumbbell: Dumbbell, source: Path) -> None:
    (source / "cubic_stats_run1.log").write_text(" " * (1 << 20) + "x")
    (source / "bbr_stats_run1.log").unlink()
    os.mkfifo(source / "bbr_stats_run1.log")
    dumbbell("import", "pantheon", source, "--out", "out")
    runs = by_scheme(dumbbell)
    assert runs["cubic"]["notes"] == ["cubic_stats_run1.log: is longer than 1048576 bytes"]
    assert runs["bbr"]["notes"] == ["bbr_stats_run1.log: is a pipe or a device: allowed is a regular file"]
    assert {run["status"] for run in runs.values()} == {"done"}


def test_a_planned_flow_that_never_started_is_absent_and_the_run_counts(dumbbell: Dumbbell, source: Path) -> None:
    third = "1040.000 + 400 3\n1045.000 - 400 5.000 3\n"
    write(source, METADATA | {"flows": 3}, logs_of("cubic", data=DATA_LOG + third))
    dumbbell("import", "pantheon", source, "--out", "out")
    run = by_scheme(dumbbell)["cubic"]
    assert run["status"] == "done"
    assert run["notes"] == ["flow 2 never started: no packet of it is in the log"]
    assert [flow["flow"] for flow in run["flows"]] == [1, 2, 3]
    assert {value for key, value in run["flows"][1].items() if key not in ("flow", "scheme")} == {None}
    assert run["flows"][2]["packets_sent"] == 1
    dumbbell("report", "out", "--html")
    dumbbell("export", "pantheon", "out", "--out", "back")
    performance = json.loads((source.parent / "back/pantheon_perf.json").read_text())
    assert list(performance["cubic"]["1"]) == ["1", "3", "all"]
    assert "-- Total of 2 flows:" in (source.parent / "back/cubic_stats_run1.log").read_text()


def test_a_test_without_a_tunnel_is_read_from_mahimahis_logs(dumbbell: Dumbbell, source: Path) -> None:
    logs = {"cubic_mm_datalink_run1.log": MM_LOG, "cubic_stats_run1.log": STATS, "bbr_mm_datalink_run1.log": "1 x 3\n"}
    for file in source.iterdir():
        file.unlink()
    write(source, METADATA | {"flows": 0, "cc_schemes": ["bbr", "cubic"]}, logs)
    dumbbell("import", "pantheon", source, "--out", "out", expect=1)
    runs = by_scheme(dumbbell, expect=1)
    run = runs["cubic"]
    # 2 x 1504 B from 71 to 931 ms; delays 30 and 31: index round(0.95) = 1
    assert run["network"]["throughput_mbps"] == 2 * 1504 * 8 / (1000 * (931.0 - 71.0))
    assert (run["network"]["delay_p95_ms"], run["network"]["loss_rate"]) == (31.0, 0.0)
    assert [flow["flow"] for flow in run["flows"]] == [0]
    assert runs["bbr"]["reason"].startswith("bbr_mm_datalink_run1.log:1: expected")


def test_schemes_that_the_metadata_do_not_list_are_imported_and_said(dumbbell: Dumbbell, source: Path) -> None:
    write(source, METADATA | {"cc_schemes": ["cubic"]}, {"cubic_mm_datalink_run1.log": MM_LOG})
    result = dumbbell("import", "pantheon", source, "--out", "out")
    runs = by_scheme(dumbbell)
    assert sorted(runs) == SCHEMES
    assert runs["vegas"]["notes"] == ["pantheon_metadata.json: `vegas` is not in `cc_schemes`"]
    assert runs["cubic"]["notes"] == []
    assert result.stderr.count("is not in `cc_schemes`") == 3


def test_a_stray_run_invents_no_others(dumbbell: Dumbbell, source: Path) -> None:
    write(source, METADATA | {"cc_schemes": ["bbr", "cubic"]}, {"cubic_datalink_run12.log": DATA_LOG})
    for name in ("copa", "vegas"):
        for file in source.glob(f"{name}_*"):
            file.unlink()
    dumbbell("import", "pantheon", source, "--out", "out")
    entries = [(run["scheme"], run["run"], run["status"]) for run in show(dumbbell, "out")["runs"]]
    assert entries == [("bbr", 1, "done"), ("cubic", 1, "done"), ("cubic", 12, "done")]
    dumbbell("report", "out", "--html")
    page = (source.parent / "out/report.html").read_text()
    assert "All 3 runs succeeded" in page
    dumbbell("export", "pantheon", "out", "--out", "back")
    assert (source.parent / "back/cubic_datalink_run12.log").read_text() == DATA_LOG


def test_runs_that_were_appended_are_those_of_the_metadata(dumbbell: Dumbbell, source: Path) -> None:
    metadata = METADATA | {"start_run_id": 4, "run_times": 2}
    write(source, metadata, {"cubic_datalink_run4.log": DATA_LOG, "cubic_datalink_run2.log": DATA_LOG})
    dumbbell("import", "pantheon", source, "--out", "out", expect=1)
    runs = {run["run"]: run for run in show(dumbbell, "out", expect=1)["runs"] if run["scheme"] == "cubic"}
    assert {number: run["status"] for number, run in runs.items()} == {1: "done", 2: "done", 4: "done", 5: "failed"}
    assert runs[5]["reason"] == "cubic_datalink_run5.log is missing"


def test_compressed_logs_are_read_and_cut_ones_cost_their_run(dumbbell: Dumbbell, source: Path) -> None:
    import pyarrow

    def zstd(text: str) -> bytes:
        with pyarrow.BufferOutputStream() as out:
            with pyarrow.CompressedOutputStream(out, "zstd") as stream:
                stream.write(text.encode())
            return bytes(out.getvalue())

    ways = {
        "bbr": (".gz", gzip.compress),
        "copa": (".xz", lzma.compress),
        "cubic": (".zst", None),
        "vegas": (".gz", gzip.compress),
    }
    for scheme, (ending, compress) in ways.items():
        for name, text in logs_of(scheme).items():
            (source / name).unlink()
            (source / f"{name}{ending}").write_bytes(zstd(text) if compress is None else compress(text.encode()))
    cut_file = source / "vegas_datalink_run1.log.gz"
    cut_file.write_bytes(cut_file.read_bytes()[:-20])
    dumbbell("import", "pantheon", source, "--out", "out", expect=1)
    runs = by_scheme(dumbbell, expect=1)
    good = runs["bbr"]
    for scheme in ("copa", "cubic"):
        assert runs[scheme]["network"] == good["network"]
        assert runs[scheme]["imported"]["started"] == "2018-01-01 00:00:00"
    assert good["network"]["throughput_mbps"] > 0
    assert good["flows"][0]["acklink"]["delay_p95_ms"] == 20.0
    assert runs["vegas"]["reason"].startswith("cannot read vegas_datalink_run1.log.gz: ")


def test_the_report_of_an_import_tells_of_the_tested_machine(dumbbell: Dumbbell, source: Path) -> None:
    metadata = METADATA | {
        "local_desc": "Stanford ppp0",
        "sysctl": {"net.core.rmem_max": "33554432"},
        "kernel": "Linux 4.15.0-29",
        "git_summary": "branch: muses @ 4242\nthird_party/bbr @ 77\n M bbr.c",
    }
    write(source, metadata, logs_of("cubic", data=DATA_LOG[:-1]))
    dumbbell("import", "pantheon", source, "--out", "out")
    environment = show(dumbbell, "out")["environment"]
    assert environment["imported"]["metadata"]["kernel"] == "Linux 4.15.0-29"
    assert environment["importing_machine"]["kernel"] != "Linux 4.15.0-29"
    assert not {"kernel", "cpu", "sysctl", "git", "memory_bytes", "started_at"} & environment.keys()
    output = dumbbell("show", "out").stdout
    assert "The tested machine, as the imported files describe it" in output
    assert "  kernel: Linux 4.15.0-29" in output
    assert "  git: branch: muses @ 4242" in output
    dumbbell("report", "out")
    page = re.sub(r"<[^>]+>", "", (source.parent / "out/report.html").read_text())
    print_ = text_of_pdf(source.parent / "out/report.pdf")
    for text in (page, print_):
        assert "recorded when the tests were run" not in text
        tested_text, importing = text.split("The importing machine, on which nothing was tested", 1)
        assert "The tested machine, as the imported files describe it" in tested_text
        assert "kernel: Linux 4.15.0-29" in tested_text
        assert "sysctl.net.core.rmem_max: 33554432" in tested_text
        assert "branch: muses @ 4242" in tested_text
        assert f"cpus: {environment['importing_machine']['cpus']}" in importing
        assert "cubic_datalink_run1.log:9: no newline at the end" in tested_text + importing


def test_an_import_of_before_names_no_machine_as_the_tested_one(dumbbell: Dumbbell, source: Path) -> None:
    dumbbell("import", "pantheon", source, "--out", "out")
    file = source.parent / "out/environment.json"
    environment = json.loads(file.read_text())
    file.write_text(json.dumps(environment | environment.pop("importing_machine")))
    dumbbell("report", "out", "--html")
    page = (source.parent / "out/report.html").read_text()
    tested_text = page[page.index("The tested machine") : page.index("The importing machine")]
    assert "cpus" not in tested_text
    assert "cpus" in page[page.index("The importing machine") :]


BYTES = [
    b"\0",
    b"\xff",
    b"\n",
    b" ",
    b"-",
    b"#",
    b"9" * 30,
    b"1e400",
    b"\x1b[31m",
    b"nan",
    b"{",
    b'"',
    b"\\ud800",
    b"[" * 3000,
]


def mutate(content: bytes, chance: random.Random) -> bytes:
    """Return the content with a few bytes cut, doubled, replaced or inserted."""
    for _ in range(chance.randint(1, 4)):
        at = chance.randrange(len(content) + 1)
        to = min(len(content), at + chance.randrange(40))
        insertion = chance.choice([b"", b"", content[at:to] * 2, chance.choice(BYTES), chance.randbytes(3)])
        content = content[:at] + insertion + content[chance.choice([at, to]) :]
    return content[: chance.randrange(len(content) + 1)] if chance.random() < 0.2 else content


@pytest.mark.parametrize("seed", range(20))
def test_mutated_files_leave_results_or_nothing(dumbbell: Dumbbell, folder: Path, seed: int) -> None:
    chance = random.Random(seed)
    source = folder / "data"
    mm = {"cubic_mm_datalink_run1.log": MM_LOG}
    write(
        source,
        METADATA | {"flows": chance.choice([0, 1, 2]), "cc_schemes": ["cubic", "bbr"]},
        logs_of("cubic") | mm | logs_of("bbr"),
    )
    files = sorted(source.iterdir())
    for file in chance.sample(files, chance.randint(1, 3)):
        file.write_bytes(mutate(file.read_bytes(), chance))
    before = {entry.name for entry in folder.iterdir()}
    strict = ["--strict"] if seed % 4 == 0 else []
    arguments = ["import", "pantheon", "data", "--out", "out", *strict]
    result = dumbbell(*arguments, expect=None)
    assert result.returncode in (0, 1, 2), result.stderr
    assert "Traceback" not in result.stderr
    assert "\x1b" not in result.stdout + result.stderr
    after = {entry.name for entry in folder.iterdir()}
    if result.returncode == 2:
        assert len(result.stderr.splitlines()) == 1
        assert after == before
    else:
        assert after == before | {"out"}
        assert not list((folder / "out").rglob("*unfinished*"))
        assert show(dumbbell, "out", expect=result.returncode)["runs"]
        if seed % 8 == 1:
            dumbbell("report", "out")


NUMBERS = {"tput": 11.5, "delay": 60.25, "loss": 0.01}
PERFORMANCE = {
    "cubic": {"1": {"1": NUMBERS, "all": NUMBERS}},
    "bbr": {},
    "own": {"1": {"all": {"tput": 3.5, "delay": None, "loss": 0.0}}},
}


def test_numbers_without_logs_are_read_and_marked(dumbbell: Dumbbell, folder: Path) -> None:
    """Half of the public data directories have `pantheon_perf.json` and no logs."""
    write(folder / "data", METADATA | {"cc_schemes": ["cubic", "bbr"]}, {"cubic_stats_run1.log": STATS})
    (folder / "data/pantheon_perf.json").write_text(json.dumps(PERFORMANCE))
    result = dumbbell("import", "pantheon", "data", "--out", "out", expect=1)
    assert "cubic, run 1: its logs are not there: the numbers are those that Pantheon wrote" in result.stderr
    runs = by_scheme(dumbbell, expect=1)
    assert {scheme: run["status"] for scheme, run in runs.items()} == {"bbr": "failed", "cubic": "done", "own": "done"}
    assert runs["bbr"]["reason"] == "bbr_datalink_run1.log is missing"
    network, (flow,) = runs["cubic"]["network"], runs["cubic"]["flows"]
    for metrics in (network, flow):
        assert (metrics["throughput_mbps"], metrics["delay_p95_ms"], metrics["loss_rate"]) == (11.5, 60.25, 0.01)
        assert metrics["goodput_mbps"] is None
    assert runs["own"]["network"]["delay_p95_ms"] is None
    assert runs["cubic"]["imported"]["started"] is not None
    dumbbell("report", "out", "--all-runs")
    page = LongForm.of(folder / "out").text
    assert "the numbers are those that Pantheon wrote into pantheon_perf.json" in page
    assert "Average throughput: 11.50 Mbit/s" in page


def test_logs_count_where_they_are_there_beside_the_numbers(dumbbell: Dumbbell, source: Path) -> None:
    (source / "pantheon_perf.json").write_text(json.dumps(PERFORMANCE))
    (source / "vegas_datalink_run1.log").unlink()
    dumbbell("import", "pantheon", source, "--out", "out", expect=1)
    runs = by_scheme(dumbbell, expect=1)
    assert runs["cubic"]["network"]["throughput_mbps"] != 11.5
    assert runs["cubic"]["network"]["duration_s"] is not None
    assert runs["vegas"]["reason"] == "vegas_datalink_run1.log is missing"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{", "pantheon_perf.json:1: not valid JSON"),
        ("[]", "pantheon_perf.json: the file: allowed is a table"),
        ('{"cubic": {"1": {"all": {"tput": "fast"}}}}', "`cubic.1.all.tput`: allowed is a number"),
        ('{"cubic": {"1": {"all": {"tput": NaN}}}}', "perf.json:1: has the number NaN: allowed are finite ones"),
    ],
)
def test_numbers_that_are_none_are_left_out_in_one_line(
    dumbbell: Dumbbell, source: Path, text: str, reason: str
) -> None:
    (source / "pantheon_perf.json").write_text(text)
    result = dumbbell("import", "pantheon", source, "--out", "strict", "--strict", expect=2)
    assert reason in result.stderr
    assert result.stderr.count("\n") == 1
    dumbbell("import", "pantheon", source, "--out", "out")
    (note,) = show(dumbbell, "out")["environment"]["imported"]["notes"]
    assert reason in note


def test_a_summary_of_git_of_two_megabytes_is_read(dumbbell: Dumbbell, source: Path) -> None:
    lines = "".join(f" M third_party/verus/file-{number}\n" for number in range(60_000))
    write(source, METADATA | {"cc_schemes": SCHEMES, "git_summary": f"branch: master @ 0123\n{lines}"}, {})
    result = dumbbell("import", "pantheon", source, "--out", "out")
    assert len(result.stdout.splitlines()) < 150
    assert "... and 59941 lines more, in environment.json" in result.stdout


def test_a_set_of_mahimahis_logs_alone_says_how_to_read_them(dumbbell: Dumbbell, folder: Path) -> None:
    logs = {"cubic_mm_datalink_run1.log": MM_LOG, "cubic_mm_acklink_run1.log": MM_LOG}
    write(folder / "data", METADATA | {"cc_schemes": ["cubic"]}, logs)
    dumbbell("import", "pantheon", "data", "--out", "out", expect=1)
    (run,) = by_scheme(dumbbell, expect=1).values()
    command = "import mahimahi cubic_mm_datalink_run1.log --ack cubic_mm_acklink_run1.log --scheme cubic --out "
    assert f"cubic_datalink_run1.log is missing; of the link alone: dumbbell {command}DIR" in run["reason"]
    words = [str(folder / "data" / word) if word.endswith(".log") else word for word in command.split()]
    dumbbell(*words, "link")


def test_every_set_below_a_directory_is_imported(dumbbell: Dumbbell, folder: Path) -> None:
    (folder / "sets/deep").mkdir(parents=True)
    for name in ("sets/one", "sets/deep/two"):
        write(folder / name, METADATA | {"cc_schemes": ["cubic"]}, logs_of("cubic"))
    write(folder / "sets/three", METADATA | {"cc_schemes": []}, {})
    result = dumbbell("import", "pantheon", "sets", "--out", "out", expect=1)
    assert "`cc_schemes`: needed is a list of schemes" in result.stderr
    for name in ("one", "deep/two"):
        assert (folder / "out" / name / "experiment.toml").is_file()
    assert not (folder / "out/three").exists()
    assert [run["status"] for run in show(dumbbell, "out/deep/two")["runs"]] == ["done"]
