"""Tests of the index of results, which is read column by column, and made anew if it cannot be trusted."""

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

import dumbbell
from dumbbell.results.directory import open_results
from dumbbell.results.sql import runs_cache
from dumbbell.results.sql.index import RunsIndex
from support.shelf import Shelf


@pytest.fixture(name="results")
def _results(shelf: Shelf, tmp_path: Path) -> Path:
    return shelf.copy("mixes", tmp_path / "results")


def goodputs(directory: Path) -> dict[tuple[str, int], float]:
    """Return the goodput of each run by scheme and number, from the index."""
    with closing(RunsIndex(open_results(directory))) as index:
        column = index.metric("goodput_mbps")
        return {(run.scheme, run.run): value for run, value in zip(index.runs, column, strict=True)}


def truth(directory: Path) -> dict[tuple[str, int], float]:
    """Return the goodput of each run from the files of the runs."""
    runs = dumbbell.open(directory).runs
    return {(run.scheme, run.run): float(run.statistics["network"]["goodput_mbps"]) for run in runs}  # type: ignore[arg-type]


def damage_nothing(_: Path) -> None:
    pass


def remove(file: Path) -> None:
    file.unlink()


def make_link(file: Path) -> None:
    other = file.with_name("other.sqlite")
    file.rename(other)
    file.symlink_to(other)


def cut_off(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:5000])


def overwrite(file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[4096:20000] = b"\xff" * (20000 - 4096)
    file.write_bytes(content)


def foreign(file: Path) -> None:
    file.unlink()
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("CREATE TABLE experiment (id INTEGER)")
        connection.commit()


def endless_view(file: Path) -> None:
    """Put an endless view in the place of a table."""
    with closing(sqlite3.connect(file)) as connection:
        connection.executescript(
            "PRAGMA foreign_keys = OFF; DROP TABLE metric; CREATE VIEW metric AS WITH RECURSIVE n(i) AS (SELECT 1 UNION"
            " ALL SELECT i + 1 FROM n) SELECT i AS experiment_id, 'network' AS entity_kind, 0 AS entity_id,"
            " 'goodput_mbps' AS name, 1.0 AS value, NULL AS sample_interval_s FROM n"
        )


@pytest.mark.parametrize(
    "harm",
    [damage_nothing, remove, make_link, cut_off, overwrite, foreign, endless_view],
    ids=lambda function: function.__name__,
)
def test_numbers_are_those_of_the_runs_whatever_became_of_the_index(harm: object, results: Path) -> None:
    expected = truth(results)
    for suffix in ("-wal", "-shm"):
        (results / f"results.sqlite{suffix}").unlink(missing_ok=True)
    assert callable(harm)
    harm(results / "results.sqlite")
    before = {file: file.read_bytes() for file in results.iterdir() if file.is_file()}
    goodputs_read = goodputs(results)
    assert goodputs_read.keys() == expected.keys()
    assert np.allclose([goodputs_read[key] for key in expected], list(expected.values()), rtol=1e-12)
    after = {file: file.read_bytes() for file in results.iterdir() if file.is_file() and file.suffix != ".sqlite-shm"}
    assert {file: content for file, content in after.items() if file in before} == before


def test_axes_of_a_grid_are_columns(shelf: Shelf) -> None:
    results = dumbbell.open(shelf.grid)
    with closing(RunsIndex(open_results(shelf.grid))) as index:
        assert set(index.parameters()) == {"path", "bw_factor", "qlen_bdp"}
        for axis, values in (("bw_factor", 2), ("qlen_bdp", 3)):
            by_path = dict(zip([run.path for run in index.runs], index.parameter(axis), strict=True))
            assert {run.path: str(run.axes[axis]) for run in results.runs} == by_path
            assert len(set(by_path.values())) == values


def test_a_table_that_is_open_stays_as_it_was_while_another_one_is_brought_up_to_date(results: Path) -> None:
    with closing(RunsIndex(open_results(results))) as first:
        before = first.metric("goodput_mbps").tolist()
        file = results / "runs/lab/cubic/1/stats.json"
        content = json.loads(file.read_text())
        content["network"]["goodput_mbps"] = 99.0
        file.write_text(json.dumps(content))
        shutil.rmtree(results / "runs/lab/copa/1")
        assert not first.is_current
        with closing(RunsIndex(open_results(results))) as second:
            values = second.metric("goodput_mbps").tolist()
        assert values.count(99.0) == 1
        assert sum(np.isnan(values)) == 1
        assert first.metric("goodput_mbps").tolist() == before


@pytest.mark.parametrize("content", [b"", b"no database", b"SQLite format 3\0" + bytes(5000)])
def test_a_kept_database_that_is_broken_is_made_anew(
    results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes
) -> None:
    monkeypatch.setenv("DUMBBELL_CACHE", str(tmp_path / "cache"))
    expected = truth(results)
    assert goodputs(results) == expected
    (file,) = (tmp_path / "cache").glob("*.runs")
    for end in ("-wal", "-shm"):
        file.with_name(f"{file.name}{end}").unlink(missing_ok=True)
    file.write_bytes(content)
    assert goodputs(results) == expected


def test_where_nothing_can_be_kept_the_numbers_are_the_same(
    results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "cache").write_text("no folder")
    monkeypatch.setenv("DUMBBELL_CACHE", str(tmp_path / "cache"))
    assert goodputs(results) == truth(results)


def test_a_page_of_the_kept_database_that_is_broken_is_noticed(
    results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DUMBBELL_CACHE", str(tmp_path / "cache"))
    expected = truth(results)
    assert goodputs(results) == expected
    (file,) = (tmp_path / "cache").glob("*.runs")
    for end in ("-wal", "-shm"):
        file.with_name(f"{file.name}{end}").unlink(missing_ok=True)
    content = bytearray(file.read_bytes())
    content[-3 * 4096 :] = b"\xa5" * (3 * 4096)
    file.write_bytes(content)
    assert goodputs(results) == expected


def test_statistics_with_all_the_times_of_others_are_read_anew(results: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another file system in the same place, or one that keeps whole seconds, may show the same times."""
    monkeypatch.setattr(runs_cache, "stamp_of", lambda status: None if status is None else (1, 2, 3, 4))
    assert goodputs(results) == truth(results)
    file = results / "runs/lab/cubic/1/stats.json"
    file.write_text(
        file.read_text().replace('"run": 1', '"run": 1 ', 1).replace('"goodput_mbps": ', '"goodput_mbps": 9', 1)
    )
    assert goodputs(results) == truth(results)
    with closing(RunsIndex(open_results(results))) as index:
        assert not index.is_current, "what was changed just now may change again in the same second"


def test_a_number_that_no_run_can_have_is_none(shelf: Shelf, tmp_path: Path) -> None:
    results = shelf.copy("imported", tmp_path / "results")
    before = goodputs(results).keys()
    (folder,) = {file.parent.parent for file in results.glob("runs/*/cubic/1/stats.json")}
    for name in ("9999999999999999999", "00001", "0", "-1", "1.0"):
        shutil.copytree(folder / "1", folder / name)
    assert goodputs(results).keys() == before
