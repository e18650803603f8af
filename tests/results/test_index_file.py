"""Tests of a foreign `results.sqlite`: it costs little, executes nothing, and `verify` reports its faults."""

import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

import dumbbell
from dumbbell.results.directory import open_results
from dumbbell.results.sql.index_file import made_and_failed
from support.commands.command import Dumbbell
from support.shelf import Shelf


@pytest.fixture(name="results")
def _results(shelf: Shelf, folder: Path) -> Path:
    return shelf.copy("mixes", folder / "results")


def change(results: Path, *statements: str) -> None:
    with closing(sqlite3.connect(results / "results.sqlite")) as connection:
        connection.execute("PRAGMA writable_schema = ON")
        for statement in statements:
            connection.execute(statement)
        connection.commit()


def test_the_index_of_a_run_says_what_the_runs_say(results: Path) -> None:
    assert dumbbell.open(results).index_faults() == []
    assert made_and_failed(open_results(results)) == (10, 0)


def test_results_without_an_index_lack_nothing(results: Path) -> None:
    (results / "results.sqlite").unlink()
    assert dumbbell.open(results).index_faults() == []


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        (
            "UPDATE metric SET value = 9.64 WHERE name = 'goodput_mbps' AND entity_kind = 'network'",
            "`goodput_mbps` of network 0 is 9.64, the run has",
        ),
        ("DELETE FROM metric WHERE name = 'goodput_mbps'", "`goodput_mbps` of network 0 is None, the run has"),
        (
            "INSERT INTO metric SELECT id, 'flow', 9, 'goodput_mbps', 1.0, NULL FROM experiment",
            "`goodput_mbps`, which the run does not have",
        ),
        ("UPDATE experiment SET status = 'failed'", "says `failed`, the run is `done`"),
        ("DELETE FROM experiment", "does not have runs/lab/cubic/1"),
        ("UPDATE experiment SET directory = 'runs/x' WHERE aut = 'bbr' AND run = 2", "does not have runs/lab/bbr/2"),
        (
            "INSERT INTO experiment (aut, path, run, parameters_json, backend, status, results_id, results, directory)"
            " VALUES ('x', 'x', 1, '', 'sim', 'done', '', '.', 'runs/x/x/1')",
            "has runs/x/x/1, which is no run here",
        ),
        ("UPDATE metric SET value = 'abc'", "is abc, the run has"),
        ("UPDATE experiment SET status = x'ff00'", "says `b'\\xff\\x00'`, the run is `done`"),
        ("UPDATE experiment SET directory = CAST(x'ff' AS TEXT) WHERE id = 1", "does not have runs/lab/cubic/1"),
        ("PRAGMA user_version = 1", "is a database, but not one of dumbbell's"),
        ("PRAGMA application_id = 7", "is a database, but not one of dumbbell's"),
    ],
)
def test_verify_tells_an_index_that_says_something_else(
    dumbbell: Dumbbell, results: Path, statement: str, message: str
) -> None:
    change(results, statement)
    lines = dumbbell("verify", "results", expect=1).stdout.splitlines()
    assert lines[0].startswith("wrong: results: results.sqlite: ")
    assert message in lines[0]
    assert lines[0].endswith("remove it; `dumbbell run --resume --out DIR` makes that of executed runs anew")
    assert len(lines) == 2


def computed_column(results: Path) -> None:
    """Write six rows that become gigabytes when they are read."""
    change(
        results,
        "DROP TABLE parameter",
        "CREATE TABLE parameter (experiment_id INTEGER, name TEXT, value TEXT, number REAL,"
        " more BLOB GENERATED ALWAYS AS (zeroblob(1000000000)) VIRTUAL)",
    )


def view_in_the_place_of_a_table(results: Path) -> None:
    change(
        results,
        "DROP TABLE parameter",
        "CREATE VIEW parameter AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"
        " SELECT i AS experiment_id, 'a' AS name, 'b' AS value, 1.0 AS number FROM n",
    )


def trigger(results: Path) -> None:
    change(results, "CREATE TRIGGER t AFTER INSERT ON experiment BEGIN SELECT 1; END")


def schema_that_is_no_text(results: Path) -> None:
    change(results, "UPDATE sqlite_master SET sql = CAST(x'ff' || sql AS TEXT) WHERE name = 'flow'")


def name_that_is_no_text(results: Path) -> None:
    change(results, "UPDATE sqlite_master SET name = CAST(x'ff' AS TEXT) WHERE name = 'flow'")


def large_value(results: Path) -> None:
    change(results, "UPDATE experiment SET directory = CAST(zeroblob(50000000) AS TEXT) WHERE id = 1")


def pipe(results: Path) -> None:
    (results / "results.sqlite").unlink()
    os.mkfifo(results / "results.sqlite")


def device(results: Path) -> None:
    (results / "results.sqlite").unlink()
    (results / "results.sqlite").symlink_to("/dev/zero")


def pipe_beside(results: Path) -> None:
    for end in ("-journal", "-wal"):
        (results / f"results.sqlite{end}").unlink(missing_ok=True)
    os.mkfifo(results / "results.sqlite-journal")


def cut_off(results: Path) -> None:
    os.truncate(results / "results.sqlite", 5000)


HARMS = [
    computed_column,
    view_in_the_place_of_a_table,
    trigger,
    schema_that_is_no_text,
    name_that_is_no_text,
    large_value,
    pipe,
    device,
    pipe_beside,
    cut_off,
]


@pytest.mark.parametrize("harm", HARMS, ids=lambda function: function.__name__)
def test_an_index_made_to_do_harm_is_told_in_a_line(
    dumbbell: Dumbbell, results: Path, harm: Callable[[Path], None]
) -> None:
    harm(results)
    first, last = dumbbell("verify", "results", expect=1).stdout.splitlines()
    assert first.startswith("wrong: results: results.sqlite: ")
    assert last == "10 of 10 finished runs are whole, 1 files damaged or missing"
    assert dumbbell("show", "results").stdout


@pytest.mark.parametrize("harm", HARMS, ids=lambda function: function.__name__)
def test_the_progress_of_results_with_such_an_index_is_none(results: Path, harm: Callable[[Path], None]) -> None:
    harm(results)
    assert made_and_failed(open_results(results)) in ((0, 0), (10, 0))
