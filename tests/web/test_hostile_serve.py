"""Tests of hostile results and requests: each is refused in one line, and nothing else happens."""

import json
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path

import pytest

import dumbbell
from dumbbell.present.serve import one_run
from dumbbell.present.serve.runs_table import Place
from dumbbell.results.directory import open_results
from support.pages.written import handed_over
from support.shelf import Shelf
from web.conftest import Serve
from web.test_serve import Client

RUN = "/data/run/d1/lab/cubic/1"
OF_RUN = (
    "facts.json",
    "reading.json",
    "window.bin?from=0&to=1000000000&columns=100",
    "packets.bin?from=0&to=1000000000&flow=0&most=100",
    "life.json?flow=1&seq=5",
    "qlog?flow=1",
    "files/stats.json",
)
OF_TABLE = ("/data/runs.json", "/data/columns/goodput_mbps.bin", "/data/moved.json?base=d1&other=d1")


@pytest.fixture(name="results")
def _results(shelf: Shelf, tmp_path: Path) -> Path:
    return shelf.copy("mixes", tmp_path / "results")


def files(directory: Path) -> dict[str, tuple[int, int]]:
    """Return the times and sizes of a directory's files, which show any change."""
    entries = ((file, file.lstat()) for file in directory.rglob("*") if file.is_symlink() or not file.is_dir())
    return {str(file.relative_to(directory)): (status.st_mtime_ns, status.st_size) for file, status in entries}


def ask_all(client: Client, capfd: pytest.CaptureFixture[str]) -> dict[str, int]:
    """Ask for everything: each refusal is one line, and stderr stays empty."""
    statuses = {}
    for path in (*OF_TABLE, *(f"{RUN}/{name}" for name in OF_RUN)):
        statuses[path], _, body = client.ask(path)
        assert statuses[path] == 200 or (statuses[path] < 500 and len(body.splitlines()) == 1), (path, body)
    assert capfd.readouterr().err == ""
    return statuses


def all_told(client: Client, capfd: pytest.CaptureFixture[str]) -> bool:
    """Return whether everything is answered."""
    refusals = {path: status for path, status in ask_all(client, capfd).items() if status != 200}
    assert not refusals
    return not refusals


def test_numbers_of_runs_are_short(serve_pages: Serve, results: Path, capfd: pytest.CaptureFixture[str]) -> None:
    client = Client(serve_pages(results))
    for number in ("9" * 5000, "9" * 18, "0" * 19 + "1", "", "1e3", "+1", "%D9%A1"):
        assert client.ask(f"/data/run/d1/lab/cubic/{number}/facts.json")[0] == 404
    client.ask("/data/live", Upgrade="websocket", Connection="Upgrade, close", Cookie="")
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("leave", ["nothing", "an empty log"])
def test_looking_writes_nothing(
    leave: str, serve_pages: Serve, results: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    for end in ("-wal", "-shm"):
        file = results / f"results.sqlite{end}"
        file.unlink(missing_ok=True)
        if leave == "an empty log" and end == "-wal":
            file.touch()
    before = files(results)
    assert all_told(Client(serve_pages(results)), capfd)
    dumbbell.write_site(results, out=tmp_path / "site")
    assert files(results) == before


def test_an_index_with_a_log_that_nobody_closed_is_not_touched(
    serve_pages: Serve, results: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (results / "results.sqlite-wal").write_bytes(b"left by a process that was killed")
    before = files(results)
    assert all_told(Client(serve_pages(results)), capfd)
    assert files(results) == before


@pytest.mark.parametrize("count", [-5, 1.5, 2**60, True])
def test_retransmissions_that_are_no_number_of_packets(
    count: float, serve_pages: Serve, results: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    file = results / "runs/lab/cubic/1/stats.json"
    content = json.loads(file.read_text())
    content["flows"][0]["retransmissions"] = count
    file.write_text(json.dumps(content))
    ask_all(Client(serve_pages(results)), capfd)
    dumbbell.write_site(results, out=tmp_path / "site")


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE experiment SET started_at = x'ff'",
        "UPDATE experiment SET path = x'ff00'",
        "UPDATE experiment SET run = 'x'",
        "UPDATE experiment SET run_seed = 'x', sim_wall_s = x'00'",
        "UPDATE experiment SET reason = CAST(x'ff' AS TEXT)",
        "UPDATE metric SET value = 'abc'",
        "UPDATE metric SET value = x'00'",
        "UPDATE flow SET cca = x'ff'",
        "INSERT INTO parameter (experiment_id, name, value) SELECT id, 'x', x'ff' FROM experiment",
    ],
)
def test_values_of_another_kind_in_the_index(
    statement: str, serve_pages: Serve, results: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with closing(sqlite3.connect(results / "results.sqlite")) as connection:
        connection.execute(statement)
        connection.commit()
    ask_all(Client(serve_pages(results)), capfd)
    with suppress(dumbbell.Error):
        dumbbell.write_site(results, out=tmp_path / "site")


def remove_run(results: Path) -> None:
    shutil.rmtree(results / "runs/lab/cubic/1")


def cut_log(results: Path) -> None:
    file = results / "runs/lab/cubic/1/packets.parquet"
    file.write_bytes(file.read_bytes()[:5000])


@pytest.mark.parametrize("change", [remove_run, cut_log, shutil.rmtree])
def test_what_vanishes_while_it_is_served(
    change: Callable[[Path], None], serve_pages: Serve, results: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    client = Client(serve_pages(results))
    assert all_told(client, capfd)
    change(results)
    statuses = ask_all(client, capfd)
    assert statuses[f"{RUN}/{OF_RUN[2]}"] >= 400


def test_a_run_that_was_made_anew_is_read_anew(serve_pages: Serve, results: Path) -> None:
    client = Client(serve_pages(results))
    assert client.json(f"{RUN}/facts.json")["status"] == "done"
    file = results / "runs/lab/cubic/1/stats.json"
    content = json.loads(file.read_text()) | {"status": "failed", "reason": "made anew, and it failed"}
    file.write_text(json.dumps(content))
    facts = client.json(f"{RUN}/facts.json")
    assert (facts["status"], facts["reason"]) == ("failed", "made anew, and it failed")


SECRET = "-----BEGIN OPENSSH PRIVATE KEY-----"


@pytest.fixture(name="elsewhere")
def _elsewhere(tmp_path: Path) -> Path:
    """Make a folder of the reader of the results, with a key in it."""
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    (folder / "id_rsa").write_text(SECRET)
    return folder


def log_is_a_link(results: Path, elsewhere: Path) -> None:
    (results / "runs/lab/cubic/1/log.txt").unlink()
    (results / "runs/lab/cubic/1/log.txt").symlink_to(elsewhere / "id_rsa")


def other_file_is_a_link(results: Path, elsewhere: Path) -> None:
    (results / "runs/lab/cubic/1/more.txt").symlink_to(elsewhere / "id_rsa")


def run_is_a_link(results: Path, elsewhere: Path) -> None:
    (results / "runs/lab/cubic/1").rename(elsewhere / "1")
    (elsewhere / "1/log.txt").write_text(SECRET)
    (results / "runs/lab/cubic/1").symlink_to(elsewhere / "1")


def scheme_is_a_link(results: Path, elsewhere: Path) -> None:
    (results / "runs/lab/cubic").rename(elsewhere / "cubic")
    (elsewhere / "cubic/1/log.txt").write_text(SECRET)
    (results / "runs/lab/cubic").symlink_to(elsewhere / "cubic")


def table_is_a_link(results: Path, elsewhere: Path) -> None:
    (results / "runs/lab/cubic/1/packets.parquet").rename(elsewhere / "packets.parquet")
    (results / "runs/lab/cubic/1/packets.parquet").symlink_to(elsewhere / "packets.parquet")


@pytest.mark.parametrize(
    "change",
    [log_is_a_link, other_file_is_a_link, run_is_a_link, scheme_is_a_link, table_is_a_link],
    ids=lambda function: function.__name__,
)
def test_links_below_a_runs_folder_show_nothing_and_nothing_is_written_through_them(
    change: Callable[[Path, Path], None],
    serve_pages: Serve,
    results: Path,
    elsewhere: Path,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    change(results, elsewhere)
    before = files(elsewhere)
    client = Client(serve_pages(results))
    ask_all(client, capfd)
    contents = [client.ask(f"{RUN}/{name}")[2] for name in (*OF_RUN, "files/log.txt", "files/more.txt")]
    dumbbell.write_site(results, out=tmp_path / "site")
    contents += [content_of(file) for file in (tmp_path / "site").rglob("*") if file.is_file()]
    assert not [content for content in contents if SECRET.encode() in content]
    assert files(elsewhere) == before, "the look at a run has written there"


def content_of(file: Path) -> bytes:
    """Return the content of a file of a site, or the answer in its script."""
    content = file.read_bytes()
    return handed_over(file) if content.startswith(b"dumbbell.take(") else content


def forge(results: Path) -> None:
    with closing(sqlite3.connect(results / "results.sqlite")) as connection:
        connection.execute("UPDATE metric SET value = 9.64 WHERE name = 'goodput_mbps'")
        connection.commit()


def older_index(results: Path) -> None:
    """Copy statistics over others, as `rsync` does: the index belongs to the old ones."""
    for file in (results / "runs").rglob("stats.json"):
        content = json.loads(file.read_text())
        content["network"]["goodput_mbps"] /= 2
        file.write_text(json.dumps(content))


@pytest.mark.parametrize("change", [forge, older_index], ids=lambda function: function.__name__)
def test_numbers_are_those_of_the_runs_whatever_the_index_says(
    change: Callable[[Path], None], serve_pages: Serve, results: Path, tmp_path: Path
) -> None:
    change(results)
    client = Client(serve_pages(results))
    _, columns = client.columns("/data/columns/goodput_mbps.bin")
    values = [float(run.statistics["network"]["goodput_mbps"]) for run in dumbbell.open(results).runs]  # type: ignore[arg-type]
    assert list(columns["values"]) == values
    dumbbell.write_site(results, out=tmp_path / "site")
    column = handed_over(tmp_path / "site/data/columns/goodput_mbps.bin.js")
    assert column == client.ask("/data/columns/goodput_mbps.bin")[2]


def test_statistics_that_change_while_they_are_served_are_seen(serve_pages: Serve, results: Path) -> None:
    client = Client(serve_pages(results))
    client.json("/data/runs.json")
    older_index(results)
    client.json("/data/runs.json")
    _, columns = client.columns("/data/columns/goodput_mbps.bin")
    values = [float(run.statistics["network"]["goodput_mbps"]) for run in dumbbell.open(results).runs]  # type: ignore[arg-type]
    assert list(columns["values"]) == values


def test_a_log_with_all_the_times_of_another_is_read_anew(
    results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another file system in the same place, or one that keeps whole seconds, may show the same times."""
    monkeypatch.setattr(one_run, "stamp", lambda _: (1, 2, 3, 4))
    monkeypatch.setenv("DUMBBELL_CACHE", str(tmp_path / "cache"))

    def kept_logs() -> int:
        opened_results = open_results(results)
        run = next(run for run in opened_results.planned() if (run.scheme, run.run) == ("cubic", 1))
        assert one_run.OneRun(Place("d1", "results", opened_results), run).view.end_ns > 0
        return len(list((tmp_path / "cache").glob("*.pyramid")))

    assert (kept_logs(), kept_logs()) == (1, 1)
    shutil.copyfile(results / "runs/lab/bbr/1/packets.parquet", results / "runs/lab/cubic/1/packets.parquet")
    assert kept_logs() == 2
