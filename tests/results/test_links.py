"""Tests of links, pipes and journals in a directory: none makes dumbbell read, change or remove another file."""

import json
import os
import re
import shutil
import sqlite3
from pathlib import Path

import numpy
import pytest

from dumbbell import _core
from dumbbell.base.entry import Entry
from dumbbell.catalog import trace_files
from dumbbell.results.files import publish
from dumbbell_gym import export_policy
from support.commands.command import Dumbbell


def journal_that_removes(victim: Path, index: Path) -> Path:
    """Write a journal beside a database that makes SQLite remove a file (https://sqlite.org/fileformat.html)."""
    connection = sqlite3.connect(index)
    connection.execute("PRAGMA journal_mode = DELETE")
    connection.execute("CREATE TABLE unwanted (x)")
    connection.close()
    name = str(victim).encode()
    magic = bytes.fromhex("d9d505f920a163d7")
    head = magic + (0).to_bytes(4) + (7).to_bytes(4) + (1).to_bytes(4) + (512).to_bytes(4) + (4096).to_bytes(4)
    end = (0).to_bytes(4) + name + len(name).to_bytes(4) + sum(name).to_bytes(4) + magic
    journal = index.with_name(f"{index.name}-journal")
    journal.write_bytes(head.ljust(512, b"\0") + end)
    return journal


def test_an_index_that_came_with_results_is_not_opened(dumbbell: Dumbbell, once: Dumbbell, folder: Path) -> None:
    once("run", "--schemes", "reno", "--path", "small.toml", "--duration", "1", "--out", "out")
    victim, index = folder / "thesis.txt", folder / "out/results.sqlite"
    victim.write_text("years of work")
    journal = journal_that_removes(victim, index)
    dumbbell("run", "--resume", "--out", "out")
    assert victim.read_text() == "years of work"
    assert not journal.exists()
    assert [
        row[0] for row in sqlite3.connect(index).execute("SELECT name FROM sqlite_master WHERE name = 'unwanted'")
    ] == []


def test_a_journal_beside_a_database_of_many_removes_no_file(dumbbell: Dumbbell, folder: Path) -> None:
    run = ("run", "--schemes", "reno", "--path", "small.toml", "--duration", "1", "--db-path", "all.sqlite", "--out")
    dumbbell(*run, "one")
    victim = folder / "thesis.txt"
    victim.write_text("years of work")
    journal = journal_that_removes(victim, folder / "all.sqlite")
    errors = dumbbell(*run, "two", expect=None).stderr
    assert "all.sqlite-journal: names another file, and is not of dumbbell: remove it" in errors
    assert victim.read_text() == "years of work"
    journal.write_bytes(b"")
    connection = sqlite3.connect(folder / "all.sqlite")
    connection.execute("DROP TABLE unwanted")
    connection.close()
    dumbbell(*run, "three")


@pytest.mark.parametrize("suffix", ["", "-journal", "-wal", "-shm"])
def test_a_database_of_many_is_no_link(dumbbell: Dumbbell, once: Dumbbell, folder: Path, suffix: str) -> None:
    run = ("run", "--schemes", "reno", "--path", "small.toml", "--duration", "1", "--out")
    once(*run, "one", "--db-path", "real.sqlite")
    victim = folder / "thesis.txt"
    victim.write_text("years of work")
    # SQLite finds this journal beside the file that a link leads to.
    journal_that_removes(victim, folder / "real.sqlite")
    target = victim if suffix else folder / "real.sqlite"
    (folder / f"all.sqlite{suffix}").symlink_to(target)
    errors = dumbbell(*run, "two", "--db-path", "all.sqlite", expect=2).stderr
    assert f"all.sqlite{suffix}: is a symbolic link: remove it, or name the file that it leads to" in errors
    assert victim.read_text() == "years of work"


@pytest.mark.parametrize("resume", [(), ("--resume",)])
@pytest.mark.parametrize("content", ["one line\nand half a line", None])
def test_a_link_in_the_place_of_a_calibrations_journal_changes_no_file(
    dumbbell: Dumbbell, once: Dumbbell, folder: Path, content: str | None, resume: tuple[str, ...]
) -> None:
    once("run", "--schemes", "reno,cubic", "--path", "small.toml", "--duration", "2", "--out", "out")
    victim = folder / "thesis.txt"
    if content is not None:
        victim.write_text(content)
    (folder / "x.calibration").mkdir()
    (folder / "x.calibration" / "evaluations.jsonl").symlink_to(victim)
    words = ("calibrate", "out", "--out", "x.toml", "--evaluations", "2", "--folds", "0", *resume)
    errors = dumbbell(*words, expect=2).stderr
    assert "x.calibration/evaluations.jsonl: is a symbolic link: remove it" in errors
    assert (victim.read_text() if victim.exists() else None) == content


def test_links_in_results_bring_no_file_of_elsewhere(dumbbell: Dumbbell, once: Dumbbell, folder: Path) -> None:
    run = ("run", "--schemes", "reno,cubic", "--path", "small.toml", "--duration", "1", "--out", "out")
    once(*run)
    (folder / "secret.txt").write_text("secret")
    runs = folder / "out/runs/small"
    content = json.loads((runs / "reno/1/stats.json").read_text())
    (runs / "reno/1/stats.json").write_text(json.dumps(content | {"files": {}}))
    (runs / "reno/1/links.parquet").unlink()
    (runs / "reno/1/links.parquet").symlink_to(folder / "secret.txt")
    (runs / "cubic").rename(folder / "elsewhere")
    (runs / "cubic").symlink_to(folder / "elsewhere")
    output = dumbbell("show", "out", expect=1).stdout
    assert "cubic on small, run 1: stats.json: leads out of out: out/runs/small/cubic" in output
    printed_text = dumbbell("verify", "out", expect=1).stdout
    assert "packets.parquet is not among what was recorded" in printed_text
    dumbbell(*run, "--resume", "--db-path", "all.sqlite", expect=None)
    assert not any(file.read_bytes() == b"secret" for file in (folder / "all.sqlite.series").rglob("*.parquet"))
    assert (folder / "secret.txt").read_text() == "secret"


def test_a_pipe_in_the_place_of_a_journal_is_removed(dumbbell: Dumbbell, once: Dumbbell, folder: Path) -> None:
    once("run", "--schemes", "reno", "--path", "small.toml", "--duration", "1", "--out", "out")
    for suffix in ("-journal", "-wal"):
        (folder / f"out/results.sqlite{suffix}").unlink(missing_ok=True)
        os.mkfifo(folder / f"out/results.sqlite{suffix}")
    dumbbell("run", "--resume", "--out", "out")


TINY = """
schemes = ["reno"]
paths = ["small.toml"]
duration_s = 1.0
runs = 1
warmup_s = 0.0
[benchmark]
group = "Steady state"
text = "x"
figures = ["operating-point"]
"""
BENCHMARK = ("benchmark", "--schemes", "reno", "--quick", "--experiment", "tiny.toml", "--only", "tiny", "--out", "b")


@pytest.mark.parametrize("name", ["experiments", "pages"])
def test_pages_of_a_benchmark_do_not_follow_links(dumbbell: Dumbbell, once: Dumbbell, folder: Path, name: str) -> None:
    (folder / "tiny.toml").write_text(TINY)
    once(*BENCHMARK)
    elsewhere = folder / "elsewhere"
    (folder / "b" / name).rename(elsewhere)
    for file in ("one.svg", "style.css", "reno.html"):
        (elsewhere / file).write_text("mine")
    (folder / "b" / name).symlink_to(elsewhere)
    for again in ((*BENCHMARK, "--resume"), ("report", "b")):
        assert f"leads out of b: b/{name}" in dumbbell(*again, expect=2).stderr
    assert {
        file.read_text() for file in elsewhere.glob("*.*") if file.name in ("one.svg", "style.css", "reno.html")
    } == {"mine"}


def test_a_page_of_a_benchmark_is_not_written_through_a_link(dumbbell: Dumbbell, once: Dumbbell, folder: Path) -> None:
    (folder / "tiny.toml").write_text(TINY)
    once(*BENCHMARK)
    victim = folder / "victim"
    victim.mkdir()
    (folder / "b/notes.txt").symlink_to(victim)
    page = folder / "b/index.html"
    page.unlink()
    page.symlink_to(folder / "mine.html")
    (folder / "mine.html").write_text("mine")
    dumbbell("report", "b")
    assert (folder / "mine.html").read_text() == "mine"
    assert not page.is_symlink()


def test_nothing_is_written_through_a_link_beside_what_was_named(
    dumbbell: Dumbbell, folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    mktemp = tmp_path_factory.mktemp("mine")
    names = (".path.toml.part", "w.safetensors.part", "x.parquet.tmp")
    for name in names:
        (mktemp / name).write_text("mine")
        (folder / name).symlink_to(mktemp / name)
    export_policy(folder / "w.safetensors", "dense", {"0.kernel": numpy.zeros((2, 1)), "0.bias": numpy.zeros(1)})
    _core.import_mahimahi(str(_mahimahi_log(folder)), None, str(folder / "x.parquet"), strict=True)
    assert (folder / "x.parquet").read_bytes()[:4] == b"PAR1"
    assert [(mktemp / name).read_text() for name in names] == ["mine"] * 3


def test_a_calibrations_folder_is_no_link(dumbbell: Dumbbell, once: Dumbbell, folder: Path) -> None:
    once("run", "--schemes", "reno,cubic", "--path", "small.toml", "--duration", "2", "--out", "out")
    (folder / "mine").mkdir()
    (folder / "mine/README.md").write_text("mine")
    (folder / "x.calibration").symlink_to(folder / "mine")
    words = ("calibrate", "out", "--out", "x.toml", "--evaluations", "2", "--folds", "0")
    assert "x.calibration: is a symbolic link: remove it" in dumbbell(*words, expect=2).stderr
    assert [file.name for file in (folder / "mine").iterdir()] == ["README.md"]
    assert (folder / "mine/README.md").read_text() == "mine"


def test_notes_that_are_a_link_are_not_shown(dumbbell: Dumbbell, once: Dumbbell, folder: Path) -> None:
    once("run", "--schemes", "reno", "--path", "small.toml", "--duration", "1", "--out", "out")
    (folder / "secret.txt").write_text("nobody may know")
    (folder / "out/notes.txt").symlink_to(folder / "secret.txt")
    assert "notes.txt: leads out of out" in dumbbell("report", "out", "--html", expect=2).stderr


def _mahimahi_log(folder: Path) -> Path:
    log = folder / "up.log"
    log.write_text(
        "# mahimahi mm-link (up) [x] > y\n# command line: x\n# queue: droptail\n# init timestamp: 0\n"
        "# base timestamp: 0\n0 # 1504\n0 + 1504\n1 - 1504 1\n"
    )
    return log


@pytest.mark.parametrize("name", ["/etc/passwd", "../secret.txt", "traces/link.txt"])
@pytest.mark.parametrize("command", [("show",), ("report", "--html"), ("verify",)])
def test_a_trace_file_elsewhere_is_not_read(
    dumbbell: Dumbbell, once: Dumbbell, folder: Path, name: str, command: tuple[str, ...]
) -> None:
    once("run", "--schemes", "reno", "--path", "small.toml", "--duration", "1", "--out", "out")
    (folder / "secret.txt").write_text("nobody may know")
    (folder / "out/traces").mkdir()
    (folder / "out/traces/link.txt").symlink_to(folder / "secret.txt")
    file = folder / "out/experiment.toml"
    text, kind = file.read_text(), '{ kind = "link", '
    assert kind in text
    file.write_text(text.replace(kind, f'{{ kind = "trace", file = "{name}", ', 1))
    errors = dumbbell(*command, "out", expect=2).stderr
    assert f"out/experiment.toml: trace `file` = {name}: " in errors
    assert "leads out of out" in errors
    assert "nobody may know" not in errors


@pytest.mark.parametrize("place", ["runs/.unfinished", "runs/small/reno/1", "runs/small/reno"])
def test_a_pipe_in_the_place_of_a_folder_is_waited_for_by_nobody(
    dumbbell: Dumbbell, once: Dumbbell, folder: Path, place: str
) -> None:
    run = ("run", "--schemes", "reno", "--path", "small.toml", "--duration", "1", "--out", "out")
    once(*run)
    shutil.rmtree(folder / "out" / place, ignore_errors=True)
    os.mkfifo(folder / "out" / place)
    result = dumbbell("run", "--resume", "--out", "out", expect=None)
    assert result.returncode == (1 if place.endswith("reno") else 0)
    assert (folder / "out/runs/small/reno/1/stats.json").is_file() == (result.returncode == 0)


def test_a_folder_that_is_exchanged_for_a_link_loses_nothing_elsewhere(tmp_path: Path) -> None:
    """An attacker with write access puts a link into the directory after it was checked."""
    (tmp_path / "mine/1").mkdir(parents=True)
    (tmp_path / "mine/1/thesis.txt").write_text("four years")
    (tmp_path / "out/runs/.unfinished/0").mkdir(parents=True)
    (tmp_path / "out/runs/.unfinished/0/stats.json").write_text("{}")
    (tmp_path / "out/runs/reno").symlink_to(tmp_path / "mine")
    root = Entry.of(tmp_path / "out")
    with pytest.raises(OSError, match="leads out of"):
        publish(root / "runs/.unfinished/0", root / "runs/reno/1")
    with pytest.raises(OSError, match="leads out of"):
        (root / "runs/reno/1").clear()
    with pytest.raises(OSError, match="leads out of"):
        (root / "runs/reno/1/stats.json").create()
    assert [file.name for file in (tmp_path / "mine").rglob("*")] == ["1", "thesis.txt"]


def test_a_trace_file_that_is_exchanged_for_a_link_is_not_read(
    dumbbell: Dumbbell, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "lte.trace").write_text("".join(f"{ms}\n" for ms in range(1, 2000)))
    dumbbell("run", "--schemes", "reno", "--trace", "lte.trace", "--duration", "1", "--out", "out")
    (iterdir,) = (folder / "out/traces").iterdir()
    (folder / "secret.txt").write_text("nobody may know")
    real = Entry.require_beneath

    def exchange(entry: Entry) -> None:
        real(entry)
        if entry.path == iterdir and not iterdir.is_symlink():
            iterdir.unlink()
            iterdir.symlink_to(folder / "secret.txt")

    monkeypatch.setattr(Entry, "require_beneath", exchange)
    monkeypatch.setattr(trace_files, "_times", trace_files._times.__wrapped__)
    file = folder / "out/experiment.toml"
    file.write_text(re.sub(r', sha256 = "[0-9a-f]{64}"|^sha256 = .*$', "", file.read_text(), flags=re.MULTILINE))
    result = dumbbell("show", "out", expect=2)
    assert "missing: results have that of each trace file" in result.stderr
    assert "nobody may know" not in result.stderr + result.stdout
