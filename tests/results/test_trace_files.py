"""Tests of trace files in a path's TOML: copied with their SHA-256, found again, and not repeated in every log."""

import hashlib
import json
import shutil
import tomllib
from pathlib import Path

import pytest
from inline_snapshot import snapshot

import dumbbell as package
from support.commands.command import Dumbbell
from support.told import transcript

TIMES = "".join(f"{ms}\n" for ms in range(1, 2001))
PATH = """\
name = "radio"
{more}
[[data]]
kind = "trace"
file = "{file}"
{sha256}
[[data]]
kind = "delay"
delay_ms = 20
[[ack]]
kind = "delay"
delay_ms = 20
"""
RUN = ("run", "--schemes", "reno", "--duration", "2", "--runs", "2")


def _write(place: Path, *, file: str = "5g.trace", sha256: str = "", more: str = "", times: str = TIMES) -> Path:
    """Write a path and its trace file below `place`; return the file of the path."""
    place.mkdir(exist_ok=True)
    (place / "5g.trace").write_text(times)
    digest_line = f'sha256 = "{sha256}"' if sha256 else ""
    (place / "radio.toml").write_text(PATH.format(file=file, sha256=digest_line, more=more))
    return place / "radio.toml"


def _refusal(dumbbell: Dumbbell, *words: object) -> str:
    """Run a command that has to be refused; return its one line."""
    (line,) = dumbbell(*words, expect=2).stderr.splitlines()
    return line


def test_results_have_the_file_once_and_logs_its_digest_alone(dumbbell: Dumbbell, folder: Path) -> None:
    _write(folder / "paths")
    dumbbell(*RUN, "--path", "paths/radio.toml", "--out", "out")
    hexdigest = hashlib.sha256(TIMES.encode()).hexdigest()
    kept_name = f"traces/5g-{hexdigest[:8]}.trace"
    assert (folder / "out" / kept_name).read_text() == TIMES
    element = tomllib.loads((folder / "out/experiment.toml").read_text())["path"]["radio"]["data"][0]
    assert element == {"kind": "trace", "file": kept_name, "sha256": hexdigest}
    for log in sorted((folder / "out/runs/radio/reno").glob("*/log.txt")):
        line = next(line for line in log.read_text().splitlines() if line.startswith("specification: "))
        logged_element = json.loads(line.removeprefix("specification: "))["path"]["data"][0]
        assert logged_element == {"kind": "trace", "file": str(folder / "paths/5g.trace"), "sha256": hexdigest}


def test_results_that_were_moved_are_continued_and_repeated_without_the_first_file(
    dumbbell: Dumbbell, folder: Path
) -> None:
    _write(folder / "paths")
    dumbbell(*RUN, "--path", "paths/radio.toml", "--out", "out")
    shutil.rmtree(folder / "paths")
    (folder / "out").rename(folder / "moved")
    dumbbell("run", "--resume", "--runs", "3", "--out", "moved")
    dumbbell("run", "moved/experiment.toml", "--out", "again")
    runs = [json.loads((folder / out / "runs/radio/reno/3/stats.json").read_text()) for out in ("moved", "again")]
    assert runs[0]["flows"] == runs[1]["flows"]
    assert [file.name for file in (folder / "again/traces").iterdir()] == [
        file.name for file in (folder / "moved/traces").iterdir()
    ]
    dumbbell("report", "moved")
    assert "12 Mbit/s" in (folder / "moved/report.html").read_text()


def test_a_file_and_its_times_in_the_path_are_the_same_path(dumbbell: Dumbbell, folder: Path) -> None:
    _write(folder / "paths")
    listed_path = PATH.replace('file = "{file}"', f"times_ms = [{','.join(TIMES.split())}]")
    (folder / "listed.toml").write_text(listed_path.format(sha256="", more=""))
    flows_found = []
    for out, path in (("file", "paths/radio.toml"), ("list", "listed.toml")):
        dumbbell(*RUN, "--path", path, "--out", out)
        flows_found.append(json.loads((folder / out / "runs/radio/reno/1/stats.json").read_text())["flows"])
    assert flows_found[0] == flows_found[1]


def test_a_file_that_has_changed_is_refused(dumbbell: Dumbbell, folder: Path) -> None:
    _write(folder / "paths")
    dumbbell(*RUN, "--path", "paths/radio.toml", "--out", "out")
    (folder / "paths/5g.trace").write_text("1\n")
    refusal = _refusal(dumbbell, *RUN, "--path", "paths/radio.toml", "--out", "out", "--resume")
    assert "another experiment" in refusal
    assert "sha256" in refusal
    kept_file = next((folder / "out/traces").iterdir())
    kept_file.write_text("1\n")
    refusal = _refusal(dumbbell, "run", "out/experiment.toml", "--out", "again")
    assert f"{kept_file}: has changed: its SHA-256 is " in refusal


@pytest.mark.parametrize(
    ("path_fields", "message"),
    [
        (
            {"file": "4g.trace"},
            snapshot(
                "dumbbell: paths/radio.toml: `data[0].file` = 4g.trace: paths/4g.trace: No such file or directory"
            ),
        ),
        (
            {"file": "."},
            snapshot(
                "dumbbell: paths/radio.toml: `data[0].file` = .: paths: is a directory: allowed is a regular file"
            ),
        ),
        (
            {"times": "one\n"},
            snapshot("dumbbell: paths/5g.trace: line 1: `one`: allowed is a whole number of ms"),
        ),
        (
            {"times": "2\n1\n"},
            snapshot("dumbbell: paths/5g.trace: line 2: 1 ms come after 2 ms: times must not decrease"),
        ),
        (
            {"times": ""},
            snapshot("dumbbell: paths/5g.trace: no line: a trace has at least one"),
        ),
        (
            {"times": "\x00\xff"},
            snapshot("dumbbell: paths/5g.trace: no trace: allowed is one whole number of ms a line"),
        ),
        (
            {"sha256": "abc"},
            snapshot(
                """\
dumbbell: paths/radio.toml: path `radio`: paths/5g.trace: has changed: its SHA-256 is
  6251e5743b6fd6a7d606130bdf7c15077ce85ebd3a0fdee284d15a46df199e38, that of the path's trace is abc\
"""
            ),
        ),
        (
            {"file": '5g.trace"\nsha256 = 3 #'},
            snapshot("dumbbell: paths/radio.toml: `data[0].sha256` = 3: allowed is a text"),
        ),
    ],
)
def test_what_is_no_trace_is_refused_in_one_line(
    path_fields: dict[str, str], message: str, dumbbell: Dumbbell, folder: Path
) -> None:
    _write(folder / "paths", **path_fields)
    assert transcript(_refusal(dumbbell, *RUN, "--path", "paths/radio.toml", "--out", "out"), folder) == message
    assert not (folder / "out").exists()


def test_times_beside_a_file_are_refused(dumbbell: Dumbbell, folder: Path) -> None:
    path = _write(folder / "paths")
    path.write_text(path.read_text().replace("file =", "times_ms = [1]\nfile ="))
    refusal = _refusal(dumbbell, *RUN, "--path", "paths/radio.toml", "--out", "out")
    assert "paths/radio.toml: `data[0].times_ms`: not beside `file`, which has the times" in refusal


def test_a_path_made_in_python_needs_the_digest() -> None:
    with pytest.raises(package.Error, match=r"path `radio`: trace `file` = 5g\.trace: has no `sha256`: "):
        package.PathModel(name="radio", title="", data=[{"kind": "trace", "file": "5g.trace"}])
