"""Tests of the database in ccperf's terms: its contents, its writers, and failures to write."""

import json
import re
import shutil
import sqlite3
import subprocess
from collections.abc import Callable
from pathlib import Path

import polars
import pytest

from dumbbell.base.errors import UserError
from dumbbell.results import Database, Gathering, Recording, ResultsDirectory, open_results
from dumbbell.results.sql import database, schema
from support.commands.command import Dumbbell, show
from support.pages.read_tables import sql_rows
from support.waiting import TIMEOUT_S

QUICK = ("--path", "small.toml", "--duration", "2", "--warmup", "0.5")

VERSION_1 = """
CREATE TABLE runs (
    id INTEGER PRIMARY KEY,
    path TEXT NOT NULL, scheme TEXT NOT NULL, run INTEGER NOT NULL, seed INTEGER,
    backend TEXT NOT NULL, status TEXT NOT NULL, reason TEXT, sim_wall_s REAL, directory TEXT NOT NULL,
    UNIQUE (path, scheme, run)
);
CREATE TABLE metrics (
    run_id INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    entity TEXT NOT NULL, number INTEGER NOT NULL, name TEXT NOT NULL, value REAL,
    PRIMARY KEY (run_id, entity, number, name)
) WITHOUT ROWID;
CREATE TABLE definitions (
    entity TEXT NOT NULL, name TEXT NOT NULL, unit TEXT NOT NULL, convention TEXT NOT NULL,
    formula TEXT NOT NULL, source TEXT NOT NULL, PRIMARY KEY (entity, name)
);
CREATE INDEX metrics_by_name ON metrics (name, entity, number);
INSERT INTO runs VALUES (7, 'small', 'reno', 1, 11, 'sim', 'done', NULL, 0.5, 'runs/small/reno/1');
INSERT INTO metrics VALUES (7, 'flow', 1, 'goodput_mbps', 8.5), (7, 'link', 1, 'utilization', 0.9),
    (7, 'network', 0, 'gone', 1.0);
INSERT INTO definitions VALUES ('flow', 'goodput_mbps', 'Mbit/s', 'corrected', 'f', 's'),
    ('link', 'utilization', '', 'counter', 'f', 's');
"""


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """Return a database of the first version."""
    file = tmp_path / "old.sqlite"
    connection = sqlite3.connect(file)
    connection.executescript(VERSION_1)
    connection.close()
    return file


@pytest.fixture
def results(once: Dumbbell, folder: Path) -> ResultsDirectory:
    """Return the results of two runs of two flows."""
    once("run", "--schemes", "reno", *QUICK, "--exact", "--runs", "2", "--flows", "2", "--jobs", "1", "--out", "out")
    return open_results(folder / "out")


def test_experiments_flows_and_links_in_ccperfs_terms(results: ResultsDirectory) -> None:
    file = results.directory / "results.sqlite"
    names = (
        "name",
        "aut",
        "path",
        "run",
        "backend",
        "status",
        "seed",
        "stop_time_s",
        "warmup_s",
        "results",
        "directory",
    )
    first = sql_rows(file, f"SELECT {', '.join(names)} FROM experiment ORDER BY id")[0]
    assert first == ("run", "reno", "small", 1, "sim", "done", 1, 2.0, 0.5, ".", "runs/small/reno/1")
    command, parameters, version = sql_rows(file, "SELECT command, parameters_json, code_version FROM experiment")[0]
    assert command.startswith("dumbbell run --schemes reno --path small.toml")
    assert json.loads(parameters) == {"aut": "reno", "path": "small"}
    assert dict(sql_rows(file, "SELECT name, value FROM parameter WHERE experiment_id = 1")) == json.loads(parameters)
    assert version.startswith("0.")
    columns = "flow_id, src, dst, transport_protocol, cca, cc_recovery_alg, traffic_model"
    columns += ", start_time_s, stop_time_s, base_rtt_s"
    assert sql_rows(file, f"SELECT {columns} FROM flow WHERE experiment_id = 1") == [
        (1, "src_0", "dst_0", "TCP", "reno", "TcpPrrRecovery", "Greedy(bytes=0)", 0.0, 2.0, 0.02),
        (2, "src_1", "dst_1", "TCP", "reno", "TcpPrrRecovery", "Greedy(bytes=0)", 0.0, 2.0, 0.02),
    ]
    columns = "link_id, name, role, bw_bps, delay_s, loss, qlen_pkts, qdisc"
    assert sql_rows(file, f"SELECT {columns} FROM link WHERE experiment_id = 1") == [
        (1, "data/link", "btl_forward", 10e6, 0.01, 0.0, 30, "FifoQueueDisc"),
    ]


def test_the_views_have_what_show_prints(results: ResultsDirectory, dumbbell: Dumbbell) -> None:
    file = results.directory / "results.sqlite"
    runs = show(dumbbell, "out")["runs"]
    wide = sql_rows(file, 'SELECT run, flow_id, throughput_mbps, "acklink.loss_rate" FROM flow_metrics ORDER BY 1, 2')
    assert wide == [
        (run["run"], flow["flow"], flow["throughput_mbps"], flow["acklink"]["loss_rate"])
        for run in runs
        for flow in run["flows"]
    ]
    assert len(wide) == 4
    assert sql_rows(file, "SELECT run, jain_index FROM network_metrics") == [
        (run["run"], run["network"]["jain_index"]) for run in runs
    ]
    query = "SELECT entity, value, unit, sampling FROM metric_described WHERE name = 'mean_srtt_ms'"
    query += " ORDER BY experiment_id, 1"
    assert sql_rows(file, query)[0] == ("flow_1", runs[0]["flows"][0]["mean_srtt_ms"], "ms", "statistical")
    intervals = (
        "SELECT DISTINCT name, sample_interval_s FROM metric WHERE name IN ('mean_srtt_l4', 'cov_throughput_l4')"
    )
    assert sql_rows(file, intervals + " ORDER BY 1") == [("cov_throughput_l4", 0.1), ("mean_srtt_l4", None)]
    # flow and start_s identify a row: they are no metrics.
    assert not sql_rows(file, "SELECT 1 FROM metric WHERE name IN ('flow', 'start_s')")
    assert not sql_rows(file, "PRAGMA foreign_key_check")


def test_series_lead_to_the_samples(results: ResultsDirectory) -> None:
    file = results.directory / "results.sqlite"
    query = (
        "SELECT file, time_column, entity_column, value_column, filter FROM series WHERE experiment_id = 2 AND name = "
    )
    name, time, entity, value, choice = sql_rows(file, query + "'in_flight'")[0]
    samples = polars.read_parquet(results.directory / name).filter(polars.sql_expr(choice))
    assert samples[time].is_sorted()
    assert set(samples[entity]) == {1, 2}
    assert samples[value].max() > 1448
    assert {row[0] for row in sql_rows(file, "SELECT name FROM series WHERE entity_kind = 'link'")} >= {
        "queue",
        "dropped",
    }
    assert polars.read_parquet(results.directory / sql_rows(file, query + "'packets'")[0][0]).height > 100


def test_a_gathering_file_may_refer_to_the_results_instead_of_copying(results: ResultsDirectory, folder: Path) -> None:
    Recording([results], Gathering(folder / "sub/all.db", copies=False)).close()
    files = {row[0] for row in sql_rows(folder / "sub/all.db", "SELECT file FROM series WHERE experiment_id = 1")}
    names = ("flows.parquet", "links.parquet", "packets.parquet")
    assert files == {f"../out/runs/small/reno/1/{name}" for name in names}
    assert all((folder / "sub" / file).is_file() for file in files)
    assert not (folder / "sub/all.db.series").exists()


def test_runs_of_earlier_versions_are_recorded_with_their_series(results: ResultsDirectory, folder: Path) -> None:
    runs = [{key: value for key, value in run.items() if key != "samples"} for run in results.settled()]
    (folder / "out" / runs[1]["directory"] / "flows.parquet").write_bytes(b"damaged")
    index = Database(folder / "out/results.sqlite")
    index.rebuild(results, runs)
    index.close()
    query = "SELECT count(*) FROM series WHERE entity_kind = 'flow' AND value_column IS NOT NULL AND experiment_id = "
    assert sql_rows(folder / "out/results.sqlite", f"{query} 1")[0][0] >= 4
    assert sql_rows(folder / "out/results.sqlite", f"{query} 2") == [(0,)]
    assert sql_rows(folder / "out/results.sqlite", "SELECT count(*) FROM flow WHERE experiment_id = 2") == [(2,)]


def test_one_file_gathers_the_experiments_of_many_commands(dumbbell: Dumbbell, folder: Path) -> None:
    for scheme, out in (("reno", "a"), ("cubic", "b")):
        dumbbell("run", "--schemes", scheme, *QUICK, "--runs", "2", "--out", out, "--db-path", "all.db")
    query = "SELECT id, aut, run, status FROM experiment ORDER BY id"
    expected = [(1, "reno", 1, "done"), (2, "reno", 2, "done"), (3, "cubic", 1, "done"), (4, "cubic", 2, "done")]
    assert sorted(row[1:] for row in sql_rows(folder / "all.db", query)) == sorted(row[1:] for row in expected)
    assert [row[0] for row in sql_rows(folder / "all.db", query)] == [1, 2, 3, 4]
    before = sql_rows(folder / "all.db", query)
    # Resuming adds new runs, repeats none and renumbers none.
    dumbbell("run", "--resume", "--out", "a", "--runs", "3", "--db-path", "all.db")
    after = sql_rows(folder / "all.db", query)
    assert after[:4] == before
    assert [row[0] for row in after[4:]] == [5]
    shutil.rmtree(folder / "a")
    shutil.rmtree(folder / "b")
    series = sql_rows(folder / "all.db", "SELECT DISTINCT experiment_id, file FROM series WHERE entity_kind = 'flow'")
    assert len(series) == 5
    for number, file in series:
        assert file == f"all.db.series/{number}/flows.parquet"
        assert polars.read_parquet(folder / file).height > 0
    assert not list(folder.glob("all.db-*"))


PLACES = "SELECT id, aut, results FROM experiment ORDER BY id"


def test_a_directory_that_calls_itself_another_one_changes_nothing_of_that(dumbbell: Dumbbell, folder: Path) -> None:
    gather_options = ("--runs", "1", "--db-path", "all.db")
    dumbbell("run", "--schemes", "cubic,reno", *QUICK, "--out", "mine", *gather_options)
    before, numbers = sql_rows(folder / "all.db", PLACES), sql_rows(folder / "all.db", "SELECT * FROM metric")
    dumbbell("run", "--schemes", "cubic", *QUICK, "--seed", "7", "--runs", "1", "--out", "evil")
    identity = json.loads((folder / "mine/environment.json").read_text())["results_id"]
    environment = json.loads((folder / "evil/environment.json").read_text())
    (folder / "evil/environment.json").write_text(json.dumps(environment | {"results_id": identity}))
    # The result does not depend on whether the imitated directory still exists.
    for number, is_gone in ((3, False), (3, True)):
        if is_gone:
            shutil.rmtree(folder / "mine")
        dumbbell("run", "--resume", "--out", "evil", "--db-path", "all.db")
        assert sql_rows(folder / "all.db", PLACES) == [*before, (number, "cubic", str(folder / "evil"))]
        assert sql_rows(folder / "all.db", "SELECT * FROM metric WHERE experiment_id < 3") == numbers
        assert sorted(entry.name for entry in (folder / "all.db.series").iterdir()) == ["1", "2", "3"]


def test_a_directory_that_was_moved_keeps_its_numbers_and_a_copy_gets_its_own(dumbbell: Dumbbell, folder: Path) -> None:
    dumbbell("run", "--schemes", "reno", *QUICK, "--runs", "1", "--out", "a", "--db-path", "all.db")
    (folder / "a").rename(folder / "b")
    dumbbell("run", "--resume", "--out", "b", "--runs", "2", "--db-path", "all.db")
    moved_rows = [(1, "reno", str(folder / "b")), (2, "reno", str(folder / "b"))]
    assert sql_rows(folder / "all.db", PLACES) == moved_rows
    shutil.copytree(folder / "b", folder / "c")
    dumbbell("run", "--resume", "--out", "c", "--db-path", "all.db")
    assert sql_rows(folder / "all.db", PLACES) == [
        *moved_rows,
        (3, "reno", str(folder / "c")),
        (4, "reno", str(folder / "c")),
    ]


def test_a_grids_parameters_are_those_of_its_cells(dumbbell: Dumbbell, folder: Path) -> None:
    (folder / "grid.toml").write_text(
        'schemes = ["reno"]\npaths = ["small.toml"]\nduration_s = 1.0\n[grid]\nk = [1, 2]\nbw_factor = [0.5, 0.8]\n'
    )
    dumbbell("run", "grid.toml", "--out", "out")
    file = folder / "out/results.sqlite"
    query = """SELECT k.number, bw.number, count(*), link.bw_bps
        FROM parameter k JOIN parameter bw USING (experiment_id)
        JOIN flow USING (experiment_id) JOIN link USING (experiment_id)
        WHERE k.name = 'k' AND bw.name = 'bw_factor' AND role = 'btl_forward' GROUP BY 1, 2 ORDER BY 1, 2"""
    assert sql_rows(file, query) == [(1, 0.5, 1, 5e6), (1, 0.8, 1, 8e6), (2, 0.5, 2, 5e6), (2, 0.8, 2, 8e6)]
    assert {row[0] for row in sql_rows(file, "SELECT value FROM parameter WHERE name = 'path'")} == {"small"}


def test_the_bottleneck_is_the_slowest_link(dumbbell: Dumbbell, folder: Path) -> None:
    dumbbell("run", "--schemes", "reno", "--path", "ccperf-india", "--duration", "1", "--out", "out")
    query = "SELECT name, role, bw_bps FROM link ORDER BY name"
    assert sql_rows(folder / "out/results.sqlite", query) == [
        ("ack/return", "reverse", 100.42e6),
        ("data/access", "forward", 1e10),
        ("data/bottleneck", "btl_forward", 100.42e6),
    ]


def test_series_that_a_link_leads_elsewhere_are_not_written(dumbbell: Dumbbell, folder: Path) -> None:
    (folder / "precious/1").mkdir(parents=True)
    (folder / "precious/1/stats.json").write_text("{}")
    (folder / "all.db.series").symlink_to(folder / "precious")
    errors = dumbbell("run", "--schemes", "reno", *QUICK, "--out", "a", "--db-path", "all.db", expect=None).stderr
    assert "all.db.series: is a symbolic link: remove it" in errors
    assert [file.name for file in (folder / "precious/1").iterdir()] == ["stats.json"]


def test_the_same_command_again_makes_new_experiments(dumbbell: Dumbbell, folder: Path) -> None:
    for _ in range(2):
        dumbbell("run", "--schemes", "reno", *QUICK, "--out", "a", "--db-path", "all.db")
        shutil.rmtree(folder / "a")
    assert sql_rows(folder / "all.db", "SELECT id, aut FROM experiment") == [(1, "reno"), (2, "reno")]


def test_a_first_version_is_migrated_in_place(old: Path) -> None:
    Database(old).close()
    assert sql_rows(old, "PRAGMA user_version") == [(2,)]
    assert sql_rows(old, "SELECT version FROM migration") == [(2,)]
    assert sql_rows(old, "SELECT id, aut, path, run, run_seed, status FROM experiment") == [
        (7, "reno", "small", 1, 11, "done")
    ]
    query = "SELECT entity_kind, entity_id, name, value FROM metric ORDER BY 1"
    assert sql_rows(old, query) == [
        ("flow", 1, "goodput_mbps", 8.5),
        ("link", 1, "utilization", 0.9),
        ("network", 0, "gone", 1.0),
    ]
    assert sql_rows(old, "SELECT cca, goodput_mbps FROM flow_metrics") == [("reno", 8.5)]
    assert not sql_rows(old, "PRAGMA foreign_key_check")
    assert not sql_rows(old, "SELECT 1 FROM sqlite_master WHERE name IN ('runs', 'metrics', 'definitions')")
    Database(old).close()
    assert sql_rows(old, "SELECT count(*) FROM migration") == [(1,)]


def test_resuming_makes_an_index_anew(dumbbell: Dumbbell, once: Dumbbell, folder: Path, old: Path) -> None:
    once("run", "--schemes", "reno", *QUICK, "--out", "out")
    old.replace(folder / "out/results.sqlite")
    dumbbell("run", "--resume", "--out", "out", "--runs", "2")
    query = "SELECT id, name, run FROM experiment ORDER BY id"
    assert sql_rows(folder / "out/results.sqlite", query) == [(1, "run", 1), (2, "run", 2)]


def test_a_migration_that_fails_changes_nothing(old: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = sql_rows(old, "SELECT * FROM metrics")
    monkeypatch.setattr(schema, "FROM_VERSION_1", (*schema.FROM_VERSION_1, "INSERT INTO nowhere VALUES (1)"))
    with pytest.raises(UserError, match=r"old.sqlite: no such table: nowhere"):
        Database(old)
    assert sql_rows(old, "SELECT * FROM metrics") == before
    assert sql_rows(old, "PRAGMA user_version") == [(0,)]


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ("CREATE INDEX slow ON metric (length(replace(hex(zeroblob(9)), '0', name)))", "slow"),
        ("CREATE TABLE more (experiment_id INTEGER REFERENCES experiment (id) ON DELETE CASCADE)", "more"),
        ("ALTER TABLE experiment ADD COLUMN twice TEXT AS (replace(aut, 'a', aut))", "experiment"),
        ("ALTER TABLE metric ADD COLUMN checked REAL CHECK (length(hex(zeroblob(9))) > 0)", "metric"),
    ],
)
def test_what_others_added_to_a_database_is_not_executed(tmp_path: Path, change: str, name: str) -> None:
    file = tmp_path / "all.db"
    Database(file).close()
    sql_rows(file, change)
    before = file.read_bytes()
    with pytest.raises(UserError, match=rf"all\.db: has `{name}`, which is not as dumbbell makes it"):
        Database(file)
    assert file.read_bytes() == before


def test_a_view_of_ones_own_and_statistics_of_sqlite_are_kept(tmp_path: Path) -> None:
    file = tmp_path / "all.db"
    Database(file).close()
    sql_rows(file, "CREATE VIEW mine AS SELECT 1")
    sql_rows(file, "ANALYZE")
    Database(file).close()
    assert sql_rows(file, "SELECT * FROM mine") == [(1,)]


def newer(file: Path) -> None:
    Database(file).close()
    connection = sqlite3.connect(file)
    connection.execute("PRAGMA user_version = 3")
    connection.close()


def foreign(file: Path) -> None:
    connection = sqlite3.connect(file)
    connection.execute("CREATE TABLE songs (title TEXT)")
    connection.close()


@pytest.mark.parametrize(
    ("make", "part"),
    [
        (newer, "is of schema version 3, this dumbbell knows versions up to 2"),
        (foreign, "is a database, but not one of dumbbell's"),
        (lambda file: file.write_text("no database at all\n" * 100), "is no database"),
        (lambda file: file.mkdir(), "cannot be opened"),
    ],
)
def test_what_is_no_database_of_ours_is_left_alone(
    dumbbell: Dumbbell, folder: Path, make: Callable[[Path], object], part: str
) -> None:
    make(folder / "given.db")
    before = (folder / "given.db").is_dir() or (folder / "given.db").read_bytes()
    result = dumbbell("run", "--schemes", "reno", *QUICK, "--out", "out", "--db-path", "given.db", expect=2)
    assert re.fullmatch(rf"dumbbell: given\.db: .*{re.escape(part)}.*\n", result.stderr)
    assert not (folder / "out").exists()
    assert before == ((folder / "given.db").is_dir() or (folder / "given.db").read_bytes())


def test_a_locked_database_is_waited_for_and_then_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "busy.db"
    Database(file).close()
    monkeypatch.setattr(database, "BUSY_TIMEOUT_S", 0.2)
    other = sqlite3.connect(file, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(UserError, match=r"busy.db: another program has held the database for more than 0.2 s"):
        Database(file)
    other.execute("ROLLBACK")
    other.close()
    Database(file).close()


def test_a_database_that_may_not_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "shut.db"
    Database(file).close()
    connect = sqlite3.connect
    monkeypatch.setattr(
        sqlite3, "connect", lambda name, **options: connect(f"file:{name}?mode=ro", uri=True, **options)
    )
    with pytest.raises(UserError, match=r"shut.db: cannot be written \(attempt to write a readonly database\)"):
        Database(file)


def test_a_full_disk_loses_no_run(results: ResultsDirectory, tmp_path: Path) -> None:
    file = tmp_path / "small.db"
    runs = list(results.settled())
    recording = Recording([results], Gathering(file))
    gathering = recording._gathering
    assert gathering is not None
    pages = gathering.connection.execute("PRAGMA page_count").fetchone()[0]
    gathering.connection.execute(f"PRAGMA max_page_count = {pages}")
    for number in range(3, 40):
        recording.record(results, runs[0] | {"run": number, "directory": f"runs/small/reno/{number}"})
    recording.close()
    assert len(recording.failures) == 1
    assert "small.db: its disk is full" in recording.failures[0]
    kept_runs = sql_rows(file, "SELECT count(*) FROM experiment")[0][0]
    assert 2 <= kept_runs < 39
    # The other command goes on, and nothing is written by half.
    assert sql_rows(results.directory / "results.sqlite", "SELECT count(*) FROM experiment") == [(39,)]
    assert sql_rows(file, "PRAGMA integrity_check") == [("ok",)]
    assert sql_rows(file, "SELECT count(DISTINCT experiment_id) FROM metric") == [(kept_runs,)]
    Recording([results], Gathering(file)).close()
    assert sql_rows(file, "SELECT run FROM experiment ORDER BY run") == [(1,), (2,)]


def test_several_writers_at_once(start: Callable[..., subprocess.Popen[str]], folder: Path) -> None:
    options = (
        "--path",
        "small.toml",
        "--duration",
        "0.2",
        "--warmup",
        "0",
        "--log",
        "none",
        "--runs",
        "8",
        "--jobs",
        "1",
    )
    writers = [
        start("run", "--schemes", "reno", *options, "--seed", seed, "--out", f"out-{seed}", "--db-path", "all.db")
        for seed in range(3)
    ]
    for writer in writers:
        _, errors = writer.communicate(timeout=TIMEOUT_S)
        assert writer.returncode == 0, errors
    rows = sql_rows(folder / "all.db", "SELECT id, seed, run FROM experiment ORDER BY id")
    assert [row[0] for row in rows] == list(range(1, 25))
    assert {row[1:] for row in rows} == {(seed, run) for seed in range(3) for run in range(1, 9)}
    assert sql_rows(folder / "all.db", "PRAGMA integrity_check") == [("ok",)]
    assert not sql_rows(folder / "all.db", "PRAGMA foreign_key_check")
    assert len(list((folder / "all.db.series").iterdir())) == 24
    for number, goodput in sql_rows(folder / "all.db", "SELECT experiment_id, goodput_mbps FROM flow_metrics"):
        assert goodput > 0, number


def documented_queries(language: str) -> list[str]:
    page = (Path(__file__).parents[2] / "docs/reference/database.md").read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```", page, re.MULTILINE | re.DOTALL)


@pytest.fixture
def benchmark(once: Dumbbell, folder: Path) -> Path:
    """Make the database of the page's command, with a shorter run."""
    options = ("--path", "default", "--duration", "1", "--out", "out", "--db-path", "benchmark.db")
    once("run", "--schemes", "reno,cubic", "--jobs", "1", *options)
    return folder / "benchmark.db"


def test_documented_queries_find_something(benchmark: Path) -> None:
    queries = documented_queries("sql")
    assert len(queries) >= 5
    for query in queries:
        assert sql_rows(benchmark, query), query
        frame = polars.read_database(query, sqlite3.connect(benchmark))
        assert frame.height > 0


def test_documented_tables_and_columns_are_those_of_the_schema(benchmark: Path) -> None:
    page = (Path(__file__).parents[2] / "docs/reference/database.md").read_text(encoding="utf-8")
    descriptions = dict(re.findall(r"^\| `(\w+)` \| (.*)$", page, re.MULTILINE))
    tables = {row[0] for row in sql_rows(benchmark, "SELECT name FROM sqlite_master WHERE type = 'table'")}
    assert tables - {"sqlite_sequence"} == descriptions.keys()
    for table in descriptions:
        for column in (row[1] for row in sql_rows(benchmark, f"PRAGMA table_info({table})")):
            if table != "migration":
                assert f"`{column}`" in descriptions[table], f"{table}.{column}"
    for view in (row[0] for row in sql_rows(benchmark, "SELECT name FROM sqlite_master WHERE type = 'view'")):
        assert f"`{view}`" in page


def test_pandas_reads_it(benchmark: Path) -> None:
    pandas = pytest.importorskip("pandas", reason="pandas is not installed: `make test` does it")
    connection = sqlite3.connect(benchmark)
    frame = pandas.read_sql("SELECT * FROM flow_metrics", connection)
    connection.close()
    assert list(frame["aut"]) == ["reno", "cubic"]
    assert frame["goodput_mbps"].dtype == float


def test_duckdb_reads_it(benchmark: Path) -> None:
    duckdb = pytest.importorskip("duckdb", reason="DuckDB is not installed: `make test` does it")
    connection = duckdb.connect()
    try:
        connection.execute(f"LOAD sqlite; ATTACH '{benchmark}' AS b (TYPE sqlite)")
    except duckdb.Error:
        pytest.skip("DuckDB's extension sqlite is not installed")
    (row,) = connection.execute("SELECT avg(goodput_mbps), count(*) FROM b.flow_metrics").fetchall()
    assert row == (pytest.approx(sql_rows(benchmark, "SELECT avg(goodput_mbps) FROM flow_metrics")[0][0]), 2)
