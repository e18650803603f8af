"""Tests of `dumbbell size` against the bytes of the files."""

import json
from pathlib import Path

import pytest

import dumbbell as library
from support.commands.command import Dumbbell

RUN = ("run", "--schemes", "reno,cubic", "--path", "small.toml", "--duration", "0.5", "--out")
KINDS = ["packet_logs", "samples", "statistics", "reports", "database", "other"]


def lying(folder: Path, *names: str) -> int:
    """Return the bytes of the files of these names below a folder; of all files without names."""
    files = [file for file in folder.rglob("*") if file.is_file() and not file.is_symlink()]
    return sum(file.stat().st_size for file in files if not names or file.name in names)


def test_size_counts_each_file_once_by_its_kind(dumbbell: Dumbbell, folder: Path) -> None:
    dumbbell(*RUN, "out")
    out = folder / "out"
    (out / "report.html").write_text("x" * 1000)
    (out / "report.pdf").write_text("x" * 500)
    sizes = library.open(out).sizes()
    assert list(sizes) == KINDS
    assert sizes["packet_logs"] == lying(out, "packets.parquet") > 0
    assert sizes["samples"] == lying(out, "flows.parquet", "links.parquet") > 0
    assert sizes["statistics"] == lying(out, "stats.json") > 0
    assert sizes["reports"] == 1500
    assert sizes["database"] == lying(out, "results.sqlite") > 0
    assert sizes["other"] == lying(out, "experiment.toml", "environment.json", "log.txt") > 0
    assert sum(sizes.values()) == lying(out)


def test_size_prints_each_directory_and_all_of_them(dumbbell: Dumbbell, folder: Path) -> None:
    dumbbell(*RUN, "one")
    dumbbell(*RUN, "two", "--log", "none")
    totals = {name: lying(folder / name) for name in ("one", "two")}
    head, single_line = dumbbell("size", "one").stdout.splitlines()
    assert " ".join(head.split()) == "bytes in packet logs samples statistics reports database other total"
    assert (single_line.split()[0], single_line.split()[-1]) == ("one", str(totals["one"]))
    rows = [line.split() for line in dumbbell("size", "one", "two").stdout.splitlines()[1:]]
    assert [(row[0], int(row[-1])) for row in rows] == [*totals.items(), ("all", sum(totals.values()))]
    assert int(rows[1][1]) == 0

    document = json.loads(dumbbell("size", "one", "two", "--json").stdout)
    assert [(directory["directory"], directory["total_bytes"]) for directory in document["directories"]] == [
        *totals.items()
    ]
    assert document["directories"][0]["bytes"] == library.open(folder / "one").sizes()
    assert document["total_bytes"] == sum(document["bytes"].values()) == sum(totals.values())


def test_size_does_not_follow_links_and_reads_no_file(dumbbell: Dumbbell, folder: Path) -> None:
    dumbbell(*RUN, "out")
    before = dumbbell("size", "out").stdout
    (folder / "elsewhere").mkdir()
    (folder / "elsewhere/large").write_text("x" * 100_000)
    (folder / "out/linked").symlink_to(folder / "elsewhere")
    (folder / "out/report.html").symlink_to(folder / "elsewhere/large")
    assert dumbbell("size", "out").stdout == before
    statistics = folder / "out/runs/small/reno/1/stats.json"
    statistics.write_text("{" * statistics.stat().st_size)
    assert dumbbell("size", "out").stdout == before


@pytest.mark.parametrize(
    ("name", "reason"),
    [("absent", "no such directory"), ("empty", "not a results directory: there is no experiment.toml")],
)
def test_size_refuses_what_is_no_results_directory(dumbbell: Dumbbell, folder: Path, name: str, reason: str) -> None:
    dumbbell(*RUN, "out")
    (folder / "empty").mkdir()
    result = dumbbell("size", "out", name, expect=2)
    assert result.stdout == ""
    assert result.stderr.count("\n") == 1
    assert result.stderr.startswith(f"dumbbell: {name}: {reason}")
