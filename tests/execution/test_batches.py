"""Tests of runs of which only numbers are kept: equal numbers, whole batches or none, and files of any run again."""

import hashlib
import json
import os
import shutil
import signal
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars
import pytest

import dumbbell as library
from dumbbell.base.entry import Entry
from dumbbell.execution import batches
from dumbbell.results.analysis import number_columns
from dumbbell.results.analysis.number_runs import NumberedRuns
from dumbbell.results.directory import open_results
from dumbbell.results.files import publish
from dumbbell.results.sql.index import RunsIndex
from support.commands.command import Dumbbell
from support.inputs.paths import SMALL

QUICK = ("--path", "small.toml", "--duration", "0.5", "--warmup", "0.1", "--out")
ENDLESS = ("--path", "zero.toml", "--duration", "0.5", "--set", "most_events_per_s=100000", "--out")
"""Runs whose time stands still, which are stopped."""
NUMBERS = ("--keep", "numbers")
WHEN = {"sim_wall_s", "started_at", "ended_at", "files", "samples"}
"""Keys that only runs with files have, and keys that say how fast a run was made."""

ARRIVING = """
name = "arriving"
paths = ["small"]
duration_s = 0.5
warmup_s = 0.1
runs = 2
schemes = ["reno"]

[[flow]]
count = 4
arrivals = { kind = "poisson", per_s = 20.0 }
application = { kind = "fixed", bytes = { kind = "pareto", shape = 1.5, mean = 20000 } }
"""


def numbers(dumbbell: Dumbbell, directory: str) -> list[dict[str, Any]]:
    """Return the runs of `show --json` without the keys that say how they were made."""
    runs = json.loads(dumbbell("show", directory, "--json", expect=None).stdout)["runs"]
    return [{key: value for key, value in run.items() if key not in WHEN} for run in runs]


def files(folder: Path) -> dict[str, str]:
    """Return the digests of the Parquet files in a folder."""
    return {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in folder.glob("*.parquet")}


@pytest.fixture(name="many")
def _many_runs(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let few runs count as many."""
    monkeypatch.setattr(number_columns, "MOST_JUDGED", 2)
    return iter(())


def test_the_numbers_are_those_of_runs_with_files(dumbbell: Dumbbell) -> None:
    mixed_command = ("run", "--schemes", "reno,copa", "--mix", "reno*2+copa", "--runs", "2", *QUICK)
    dumbbell(*mixed_command, "files")
    dumbbell(*mixed_command, "numbers", *NUMBERS)
    assert json.dumps(numbers(dumbbell, "numbers")) == json.dumps(numbers(dumbbell, "files"))
    assert dumbbell("show", "numbers").stdout == dumbbell("show", "files").stdout


def test_so_are_those_of_flows_that_arrive(dumbbell: Dumbbell, folder: Path) -> None:
    (folder / "arriving.toml").write_text(ARRIVING)
    for out, more in (("files", ()), ("numbers", NUMBERS)):
        dumbbell("run", "arriving.toml", "--path", "small.toml", "--out", out, *more)
    assert json.dumps(numbers(dumbbell, "numbers")) == json.dumps(numbers(dumbbell, "files"))
    assert len({len(run["flows"]) for run in numbers(dumbbell, "numbers")}) >= 1


def test_a_run_is_made_again_with_the_same_bytes(dumbbell: Dumbbell, folder: Path) -> None:
    command = ("run", "--schemes", "reno,copa", "--runs", "2", *QUICK)
    dumbbell(*command, "files")
    dumbbell(*command, "numbers", *NUMBERS)
    assert not (folder / "numbers/runs/small").exists()
    output = dumbbell("rerun", "numbers", "small/copa/2").stdout
    assert output.splitlines() == [
        f"numbers/runs/small/copa/2/{name}.parquet" for name in ("flows", "links", "packets")
    ]
    assert files(folder / "numbers/runs/small/copa/2") == files(folder / "files/runs/small/copa/2")
    assert json.dumps(numbers(dumbbell, "numbers")) == json.dumps(numbers(dumbbell, "files"))
    assert "has the files of this run" in dumbbell("rerun", "numbers", "small/copa/2", expect=2).stderr
    assert "allowed are small/copa/1" in dumbbell("rerun", "numbers", "small/copa/3", expect=2).stderr
    assert dumbbell("verify", "--deep", "numbers").stdout.startswith("4 of 4 finished runs are whole, 0 files")


def test_a_run_that_comes_out_with_other_numbers_is_refused(dumbbell: Dumbbell, folder: Path) -> None:
    dumbbell("run", "--schemes", "reno", *QUICK, "numbers", *NUMBERS)
    kept_file = folder / "numbers/experiment.toml"
    kept_file.write_text(kept_file.read_text().replace("packets = 30", "packets = 9"))
    errors = dumbbell("rerun", "numbers", "small/reno/1", expect=2).stderr
    assert "reno on small, run 1: comes out with another `flows` than was kept" in errors
    assert not (folder / "numbers/runs/small").exists()


def test_results_go_on_with_more_runs(dumbbell: Dumbbell, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    command = ("run", "--schemes", "reno,copa", *QUICK)
    monkeypatch.setattr(batches, "FIRST_RUNS", 3)
    monkeypatch.setattr(batches, "MOST_RUNS", 3)
    dumbbell(*command, "whole", "--runs", "5", *NUMBERS)
    dumbbell(*command, "numbers", "--runs", "2", *NUMBERS)
    assert sorted(entry.name for entry in (folder / "numbers/numbers").iterdir()) == ["1", "2"]
    first = files(folder / "numbers/numbers/1")
    # A killed process leaves such a file.
    left = folder / "numbers/runs/.unfinished/numbers"
    left.mkdir(parents=True)
    (left / "runs.parquet.tmp").write_bytes(b"PAR1")
    errors = dumbbell(*command, "numbers", "--runs", "5", "--resume", *NUMBERS).stderr
    assert "4 of 10 runs are finished already" in errors
    assert files(folder / "numbers/numbers/1") == first
    assert not left.exists()
    assert json.dumps(numbers(dumbbell, "numbers")) == json.dumps(numbers(dumbbell, "whole"))


def test_a_batch_ends_when_its_time_is_up(dumbbell: Dumbbell, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batches, "BATCH_S", 0.0)  # each takes at least the run that it begins with
    dumbbell("run", "--schemes", "reno", "--runs", "3", *QUICK, "numbers", *NUMBERS)
    assert len(list((folder / "numbers/numbers").iterdir())) == 3
    assert {run["status"] for run in numbers(dumbbell, "numbers")} == {"done"}


@pytest.fixture(name="zero")
def _zero(folder: Path) -> None:
    zero = SMALL.replace("10.0", "0.0").replace("rate_mbps = 0.0", "rate_mbps = 1000000.0")
    (folder / "zero.toml").write_text(zero)


@pytest.mark.usefixtures("zero")
def test_runs_that_fail_say_why_and_are_made_again(dumbbell: Dumbbell, folder: Path) -> None:
    options = ("--schemes", "reno,copa", "--runs", "2", *ENDLESS)
    dumbbell("run", *options, "files", expect=1)
    errors = dumbbell("run", *options, "numbers", *NUMBERS, expect=1).stderr
    assert "most_events_per_s = 100000: " in errors
    assert json.dumps(numbers(dumbbell, "numbers")) == json.dumps(numbers(dumbbell, "files"))
    dumbbell("run", *options, "numbers", "--resume", *NUMBERS, expect=1)
    assert sorted(entry.name for entry in (folder / "numbers/numbers").iterdir()) == ["1", "2"]
    assert json.dumps(numbers(dumbbell, "numbers")) == json.dumps(numbers(dumbbell, "files"))


def test_what_needs_files_or_processes_is_refused(dumbbell: Dumbbell, folder: Path) -> None:
    for words, expected in [
        (["--backend", "emu"], "allowed with --backend sim only, not emu"),
        (["--db-path", "all.sqlite"], "not with --db-path"),
        (["--disk-quota", "10GB"], "not with `disk_quota_bytes`"),
        (["--every", "1h", "--for", "2h"], "not with `every_s`"),
    ]:
        errors = dumbbell("run", "--schemes", "reno", *QUICK, "refused", *NUMBERS, *words, expect=2).stderr
        assert errors.startswith("dumbbell: --keep numbers: "), errors
        assert expected in errors
        assert not (folder / "refused").exists()


def test_more_runs_are_allowed_than_with_files(dumbbell: Dumbbell, folder: Path) -> None:
    for words, hint in [
        (["--runs", "100001"], "allowed are at most 100000, with --keep numbers 1000000"),
        (["--runs", "500001", "--mix", "copa", *NUMBERS], "allowed are at most 1000000"),
        (["--runs", "100001", *NUMBERS, "--shards", "x"], "--shards x: allowed with --cluster"),
    ]:
        errors = dumbbell("run", "--schemes", "reno", *QUICK, "refused", *words, expect=2).stderr
        assert errors.count("\n") == 1, errors
        assert hint in errors
        assert not (folder / "refused").exists()


def test_the_tables_are_for_everybody(dumbbell: Dumbbell, folder: Path) -> None:
    dumbbell("run", "--schemes", "reno,copa", "--mix", "reno+copa", "--runs", "2", *QUICK, "numbers", *NUMBERS)
    query = "SELECT path, scheme, run, seed, goodput_mbps FROM '{}/numbers/*/runs.parquet' ORDER BY run, scheme"
    rows = duckdb.sql(query.format(folder / "numbers")).fetchall()
    runs = sorted(numbers(dumbbell, "numbers"), key=lambda run: (run["run"], run["scheme"]))
    assert rows == [
        (run["path"], run["scheme"], run["run"], run["seed"], run["network"]["goodput_mbps"]) for run in runs
    ]
    flows = duckdb.sql(f"SELECT * FROM '{folder}/numbers/numbers/*/flows.parquet' WHERE run_scheme = 'reno+copa'")
    assert flows.aggregate("count(*), count(DISTINCT scheme), max(flow)").fetchall() == [(4, 2, 2)]


@pytest.mark.usefixtures("many")
def test_many_runs_are_shown_from_columns(dumbbell: Dumbbell, folder: Path) -> None:
    command = ("run", "--schemes", "reno,copa", "--runs", "6", *QUICK)
    dumbbell(*command, "files")
    dumbbell(*command, "numbers", *NUMBERS)
    output = dumbbell("show", "numbers").stdout
    sentence = "What looks wrong in runs is judged by the first 3 of 6 repetitions; the numbers are of all.\n"
    assert sentence in output
    tables = [text.partition("\n\n")[2] for text in (output, dumbbell("show", "files").stdout)]
    assert tables[0] == tables[1]
    for words in (["--metrics", "goodput_mbps,packets_sent"], ["--csv"], ["--csv", "--metrics", "mean_cwnd_l4"]):
        assert dumbbell("show", "numbers", *words).stdout == dumbbell("show", "files", *words).stdout
    shutil.rmtree(folder / "numbers/numbers/1")
    assert "missing: 12 of 12 runs" in dumbbell("show", "numbers", expect=1).stdout


@pytest.mark.usefixtures("many", "zero")
def test_many_runs_that_failed_are_counted(dumbbell: Dumbbell) -> None:
    options = ("--schemes", "reno", "--runs", "6", *ENDLESS)
    dumbbell("run", *options, "numbers", *NUMBERS, expect=1)
    output = dumbbell("show", "numbers", expect=1).stdout
    assert output.startswith("Of 6 runs 6 failed, and count in no number")
    assert output.count("failed: reno on zero, run ") == 6


def test_the_explorer_has_the_same_columns(dumbbell: Dumbbell, folder: Path) -> None:
    command = ("run", "--schemes", "reno", "--mix", "reno+copa", "--runs", "2", *QUICK)
    dumbbell(*command, "files", "--set", "random_order=true")
    dumbbell(*command, "numbers", *NUMBERS, "--set", "random_order=true")
    with closing(RunsIndex(open_results(folder / "files"))) as file_columns:
        columns = NumberedRuns(open_results(folder / "numbers"))
        assert columns.metrics == file_columns.metrics
        assert columns.planned == file_columns.planned
        assert columns.competing == file_columns.competing == ["copa", "reno"]
        for name in file_columns.metrics:
            np.testing.assert_array_equal(columns.metric(name), file_columns.metric(name), name)
        for scheme in ("reno", "copa"):
            np.testing.assert_array_equal(columns.share(scheme), file_columns.share(scheme))
        assert [(run.status, run.reason, run.seed) for run in columns.runs] == [
            (run.status, run.reason, run.seed) for run in file_columns.runs
        ]
    assert columns.is_current
    shutil.rmtree(folder / "numbers/numbers/1")
    assert not columns.is_current


@pytest.fixture(name="two")
def _two(dumbbell: Dumbbell, folder: Path) -> Path:
    """Make results of two batches, of two runs each."""
    command = ("run", "--schemes", "reno,copa", *QUICK, "two", *NUMBERS)
    dumbbell(*command, "--runs", "1")
    dumbbell(*command, "--runs", "2", "--resume")
    return folder / "two/numbers"


def cut_off(batch: Path) -> None:
    table = batch / "flows.parquet"
    table.write_bytes(table.read_bytes()[:-40])


def remove(batch: Path) -> None:
    (batch / "runs.parquet").unlink()


def forget(batch: Path) -> None:
    (batch / "files.json").unlink()


def empty(batch: Path) -> None:
    shutil.rmtree(batch)
    batch.mkdir()


@pytest.mark.parametrize(
    ("harm", "message"),
    [
        (cut_off, "flows.parquet has "),
        (remove, "runs.parquet is missing"),
        (forget, "files.json is missing"),
        (empty, "files.json is missing"),
    ],
)
@pytest.mark.parametrize("limit", [2, 1000])
def test_a_damaged_batch_is_told_and_made_again(
    dumbbell: Dumbbell,
    two: Path,
    harm: Callable[[Path], None],
    message: str,
    limit: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(number_columns, "MOST_JUDGED", limit)
    before = json.dumps(numbers(dumbbell, "two"))
    harm(two / "2")
    output = dumbbell("show", "two", expect=1).stdout
    assert f"damaged: two/numbers/2: {message}" in output
    assert library.open(two.parent).states == {"done": 2, "damaged": 2}
    assert f"damaged: two: two/numbers/2: {message}" in dumbbell("verify", "two", expect=1).stdout
    errors = dumbbell("run", "--resume", "--out", "two").stderr
    assert f"damaged, made again: two/numbers/2: {message}" in errors
    assert "2 of 4 runs are finished already" in errors
    assert json.dumps(numbers(dumbbell, "two")) == before
    assert dumbbell("verify", "two").stdout.startswith("4 of 4 finished runs are whole, 0 files")


def test_a_changed_table_is_found_by_its_digest(dumbbell: Dumbbell, two: Path) -> None:
    table = two / "1/links.parquet"
    content = table.read_bytes()
    table.write_bytes(content[:99] + bytes([content[99] ^ 1]) + content[100:])
    output = dumbbell("verify", "two", expect=1).stdout
    assert "damaged: two: two/numbers/1: links.parquet is not what was recorded: its SHA-256 differs" in output
    assert "damaged, made again" in dumbbell("run", "--resume", "--out", "two").stderr


def test_tables_without_values_are_refused_in_one_line(dumbbell: Dumbbell, two: Path) -> None:
    table = two / "1/runs.parquet"
    with_columns = polars.read_parquet(table).with_columns(status=polars.lit(None, dtype=polars.String))
    with_columns.write_parquet(table, metadata={"dumbbell.format": "numbers 1"})
    facts = json.loads((two / "1/files.json").read_text())
    facts["runs.parquet"] = {"bytes": table.stat().st_size, "sha256": hashlib.sha256(table.read_bytes()).hexdigest()}
    (two / "1/files.json").write_text(json.dumps(facts))
    assert "column `status`: allowed is a text in each row" in dumbbell("show", "two", expect=1).stdout


def test_no_folder_in_the_place_of_the_batches_is_told(dumbbell: Dumbbell, two: Path) -> None:
    two.rename(two.with_name("elsewhere"))
    two.symlink_to("elsewhere")
    assert dumbbell("show", "two", expect=1).stdout.count("two/numbers: is no folder") >= 1


def test_an_interrupt_while_a_batch_becomes_durable_loses_nothing(
    dumbbell: Dumbbell, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(temporary: Entry, final: Entry) -> None:
        os.kill(os.getpid(), signal.SIGINT)
        publish(temporary, final)

    monkeypatch.setattr(batches, "FIRST_RUNS", 2)
    monkeypatch.setattr(batches, "MOST_RUNS", 2)
    monkeypatch.setattr(batches, "publish", interrupt)
    command = ("run", "--schemes", "reno", "--runs", "6", *QUICK, "numbers", *NUMBERS)
    errors = dumbbell(*command, expect=1).stderr
    assert "interrupted: numbers has what was finished, 2 runs of this time" in errors
    assert not (folder / "numbers/runs/.unfinished").exists()
    monkeypatch.undo()
    assert "2 of 6 runs are finished already" in dumbbell(*command, "--resume").stderr


def test_a_run_that_was_not_made_is_no_run_to_make_again(dumbbell: Dumbbell, two: Path) -> None:
    shutil.rmtree(two / "2")
    errors = dumbbell("rerun", "two", "small/reno/2", expect=2).stderr
    assert "reno on small, run 2: was not made yet: --resume makes it" in errors


def test_damaged_files_of_a_run_are_made_again(dumbbell: Dumbbell, folder: Path, two: Path) -> None:
    dumbbell("rerun", "two", "small/reno/1")
    run_folder = folder / "two/runs/small/reno/1"
    before = files(run_folder)
    (run_folder / "packets.parquet").write_bytes(b"PAR1")
    dumbbell("rerun", "two", "small/reno/1")
    assert files(run_folder) == before


def test_what_failed_once_and_was_made_again_has_no_reason_any_more(two: Path, folder: Path) -> None:
    rows = polars.read_parquet(two / "1/runs.parquet")
    assert "reason" not in rows.columns
    assert [run.reason for run in NumberedRuns(open_results(folder / "two")).runs] == [None] * 4


def test_the_library_makes_a_run_again(folder: Path) -> None:
    result = library.run(
        schemes="reno", path=folder / "small.toml", duration=0.5, keep="numbers", out=folder / "numbers"
    )
    assert result.states == {"done": 1}
    with pytest.raises(library.Error, match="has no packet log"):
        result.packets()
    again = library.rerun(folder / "numbers", "small/reno/1", log="full")
    assert again.statistics["flows"] == result.runs[0].statistics["flows"]
    assert len(again.packets().where("event", "enqueue")) > 0
