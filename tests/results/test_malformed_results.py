"""Tests of damaged or foreign files of results: one line each, and the other runs are still shown."""

import copy
import json
import shutil
import sqlite3
import warnings
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import polars
import pytest

import dumbbell as library
from dumbbell.cli.summary import print_summary
from dumbbell.present.model import drawing
from dumbbell.present.model.content import load
from dumbbell.present.model.drawing import draw
from dumbbell.present.model.words.network import network_rows
from dumbbell.present.report.sheets import sources
from dumbbell.results import open_results
from dumbbell.results.sql.database import Database
from support.commands.command import Dumbbell, show
from support.results.recorded import OF_OTHER_BACKENDS
from support.shelf import Shelf

DAMAGED = "runs/mexico-cellular/cubic/1/stats.json"
DEEP = "[" * 400 + "]" * 400
STRANGE: list[Any] = [None, True, -1, 7, 1e308, -1e-320, 2**64, "x", "\x1b[31m\u202e", [], {}, [[]], [{}], {"": None}]


@pytest.fixture
def results(shelf: Shelf, folder: Path) -> Path:
    """Copy results of four runs to `out`; one run has the keys that any backend writes."""
    return shelf.copy("recorded", folder / "out")


def places(value: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:  # noqa: ANN401 (any JSON)
    """Yield every place in a value that can be replaced."""
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, entry in entries:
        yield (*place, key)
        yield from places(entry, (*place, key))


def with_change(content: Any, place: tuple[Any, ...], to: Any) -> Any:  # noqa: ANN401 (any JSON)
    """Return a copy with another value in one place; `...` leaves the key out."""
    content = copy.deepcopy(content)
    inside = content
    for key in place[:-1]:
        inside = inside[key]
    if to is ...:
        del inside[place[-1]]
    else:
        inside[place[-1]] = to
    return content


def read(directory: Path) -> dict[str, Any]:
    """Run every reader of statistics that draws nothing."""
    opened_results = library.open(directory)
    print_summary(opened_results)
    content = opened_results.as_json()
    json.dumps(content)
    database = Database(directory / "results.sqlite")
    try:
        database.rebuild(open_results(directory), content["runs"])
    finally:
        database.close()
    model = load(directory)
    for run in model.runs:
        assert isinstance(run.negative_delays, str)
    return content


def test_whatever_stands_in_statistics_is_taken_or_one_line(results: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = results / DAMAGED
    document = json.loads(file.read_text())
    for scheme in ("cubic", "vegas"):
        shutil.rmtree(results / f"runs/mexico-cellular/{scheme}/2")
    others_runs = [run for run in read(results)["runs"] if (run["scheme"], run["run"]) != ("cubic", 1)]
    accepted_count = refused_count = 0
    # Each place gets one of the values in turn, and every seventh is left out.
    for number, place in enumerate(places(document)):
        for to in (STRANGE[number % len(STRANGE)], *([...] if number % 7 == 0 else [])):
            file.write_text(json.dumps(with_change(document, place, to)))
            runs = read(results)["runs"]
            assert [run for run in runs if (run["scheme"], run["run"]) != ("cubic", 1)] == others_runs
            (run,) = (run for run in runs if (run["scheme"], run["run"]) == ("cubic", 1))
            if run["status"] == "damaged":
                refused_count += 1
                assert run["reason"].startswith("stats.json: "), (place, to)
                assert run["reason"].isprintable(), (place, to)
            else:
                accepted_count += 1
    assert accepted_count > 50
    assert refused_count > 50
    capsys.readouterr()


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "7", DEEP, '{"status": ' + DEEP + "}", '{"status": "done", "flows": [NaN]}', "\x00", '"\\ud800"'],
)
def test_a_malformed_file_is_one_line_with_its_name_and_the_other_runs_are_shown(
    dumbbell: Dumbbell, results: Path, text: str
) -> None:
    (results / DAMAGED).write_text(text)
    result = dumbbell("show", "out", expect=1)
    (line,) = [line for line in result.stdout.splitlines() if line.startswith("damaged: ")]
    assert "cubic on mexico-cellular, run 1: stats.json" in line
    runs = {(run["scheme"], run["run"]): run["status"] for run in show(dumbbell, "out", expect=1)["runs"]}
    assert runs == {("cubic", 1): "damaged", ("cubic", 2): "done", ("vegas", 1): "done", ("vegas", 2): "done"}


@pytest.mark.parametrize("text", ["{", DEEP, '{"git": 7}', '{"command": {"a": 1}}', '{"resumed": [1]}'])
def test_a_malformed_environment_does_not_hide_the_runs(dumbbell: Dumbbell, results: Path, text: str) -> None:
    (results / "environment.json").write_text(text)
    result = dumbbell("show", "out", expect=1)
    (line,) = [line for line in result.stdout.splitlines() if line.startswith("damaged: ")]
    assert "environment.json: " in line.replace("environment.json:1: ", "environment.json: ")
    assert [run["status"] for run in show(dumbbell, "out", expect=1)["runs"]] == ["done"] * 4
    model = load(results)
    assert any("damaged: environment.json" in record.text for record in model.records)


def test_a_damaged_campaign_state_does_not_hide_the_runs(dumbbell: Dumbbell, results: Path) -> None:
    (results / "campaign.json").write_text('{"state": 7}')
    output = dumbbell("show", "out", expect=1).stdout
    (line,) = [line for line in output.splitlines() if line.startswith("damaged: ")]
    assert line == "damaged: campaign.json: not the state of a campaign: it is damaged, and can be removed"
    content = show(dumbbell, "out", expect=1)
    assert [run["status"] for run in content["runs"]] == ["done"] * 4
    assert list(content["campaign"]) == ["damaged"]
    dumbbell("report", "out")


def test_intervals_of_a_damaged_log_are_a_failure(dumbbell: Dumbbell, results: Path) -> None:
    log = results / Path(DAMAGED).with_name("packets.parquet")
    log.write_bytes(log.read_bytes()[:500])
    result = dumbbell("show", "out", "--intervals", expect=1)
    assert "packets.parquet: " in result.stderr
    assert "cubic on mexico-cellular, run 2" in result.stdout
    assert "no packet log" not in result.stdout
    content = json.loads(dumbbell("show", "out", "--intervals", "--json", expect=1).stdout)
    assert [run["transfers"] is None for run in content["runs"]] == [True, False, False, False]


@pytest.mark.parametrize(
    ("key", "to"),
    [
        ("links", {}),
        ("flows", [{}]),
        ("imported", {"": None}),
        ("backend", None),
        ("flows", [{"flow": 1, "scheme": "cubic", "start_s": []}]),
        ("flows", [{"flow": 1, "scheme": "cubic", "owd_min_ms": []}]),
        ("links", [{"link": "data/link", "direction": "data", "capacity_mbps": {}}]),
        ("network", {"completions": [{"x": 1}]}),
        ("network", {"completions": [{"bytes": "many", "flows": 1}]}),
    ],
)
def test_what_readers_of_statistics_stumbled_over(results: Path, key: str, to: object) -> None:
    file = results / DAMAGED
    file.write_text(json.dumps(json.loads(file.read_text()) | {key: to}))
    statuses = [run["status"] for run in read(results)["runs"]]
    assert statuses[1:] == ["done"] * 3
    assert statuses[0] == ("done" if key == "imported" else "damaged")


@pytest.mark.parametrize(
    "flow",
    [
        {"flow": 1, "scheme": "cubic"},
        {"flow": 1, "scheme": "cubic", "start_s": None, "stop_s": None, "media": {"media_rate_mbps": 1.0}},
        {"flow": 1, "scheme": "cubic", "start_s": 1e18, "stop_s": 1e18},
    ],
)
def test_figures_of_flows_of_which_little_is_known_are_drawn_or_one_line(results: Path, flow: dict[str, Any]) -> None:
    file = results / DAMAGED
    file.write_text(json.dumps(json.loads(file.read_text()) | {"flows": [flow]}))
    drawn_kinds = []
    for kind in library.figure_kinds():
        opened_results = library.open(results)
        selection = {"scheme": "cubic", "run": 1} if kind["of"] == "run" else {}
        with suppress(library.Error):
            opened_results.figure(kind["kind"], **selection)
            drawn_kinds.append(kind["kind"])
    assert {"throughput", "delay", "window", "staircase", "means"} <= {*drawn_kinds}


def test_what_is_said_of_a_network_may_lack_parts() -> None:
    remote: dict[str, Any] = dict(OF_OTHER_BACKENDS["remote"])  # type: ignore[call-overload]
    odd = remote | {"tunnels": ["none", "own"], "overhead_bytes": [28]}
    rows = dict(network_rows({"remote": odd, "clocks": {"uncertainty_ms": [0.0, 1.0]}}))
    assert rows["network"] == "packets of up to 1500 bytes there and 1500 back"
    assert rows["around packets"] == "28 bytes (a tag, no tunnel)"
    assert dict(network_rows({"remote": remote | {"tunnels": []}, "clocks": {"rtt_ms": 4.0}}))["around packets"] == ""


@pytest.mark.parametrize(
    ("key", "to"),
    [("delay_p95_ms", 1e18), ("delay_p95_ms", -1e18), ("delay_p95_ms", 1e-320), ("throughput_mbps", 1e18)],
)
def test_a_report_draws_whatever_number_is_taken(results: Path, key: str, to: float) -> None:
    for scheme in ("cubic", "vegas"):  # one run of each is enough
        shutil.rmtree(results / f"runs/mexico-cellular/{scheme}/2")
    for file in results.glob("runs/*/*/*/stats.json"):
        content = json.loads(file.read_text())
        content["network"][key] = to
        file.write_text(json.dumps(content))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = load(results)
        layout = sources(model, draw(model, 1))
    assert b"mexico-cellular" in layout["data.json"]


def test_quantities_of_an_unknown_kind_and_quotes_in_their_names(results: Path) -> None:
    content = json.loads((results / DAMAGED).read_text())
    content["samples"] = {"a" * 5000: {"cwnd": "packets"}, "flow": {"x' OR 'a'='a": "packets"}}
    (results / DAMAGED).write_text(json.dumps(content))
    read(results)
    with closing(sqlite3.connect(results / "results.sqlite")) as database:
        filters = [row[0] for row in database.execute("SELECT filter FROM series WHERE name LIKE 'x%'")]
    assert filters == ["field = 'x'' OR ''a''=''a'"]


def test_an_index_with_names_that_are_no_text_is_damaged(dumbbell: Dumbbell, results: Path) -> None:
    file = results / "results.sqlite"
    file.unlink(missing_ok=True)
    with closing(sqlite3.connect(file)) as database:
        database.execute("CREATE TABLE some_table_of_somebody (x)")
    replace = file.read_bytes().replace(b"some_table_of_somebody", b"some_table_of_\xbfomebody")
    for text in (replace, replace.replace(b"CREATE TABLE", b"CREATE TABLX")):  # the second is a message with them
        file.write_bytes(text)
        (line,) = dumbbell("run", "--resume", "--out", str(results), expect=2).stderr.splitlines()[-1:]
        assert line.startswith("dumbbell: ")
        assert "results.sqlite: " in line


def test_logs_of_few_bytes_that_claim_many_rows_are_one_line_and_the_other_runs_are_shown(
    dumbbell: Dumbbell, folder: Path
) -> None:
    options = ("--path", "small.toml", "--duration", "1", "--log", "full", "--out", "out")
    dumbbell("run", "--schemes", "reno,vegas", *options)
    (damaged_folder,) = (folder / "out").glob("runs/*/reno/1")
    zeros = polars.repeat(0, 2**23 + 1, dtype=polars.UInt8, eager=True).to_frame("time_ns")
    zeros.write_parquet(damaged_folder / "packets.parquet", row_group_size=2**24)
    shutil.copy(damaged_folder / "packets.parquet", damaged_folder / "flows.parquet")
    assert (damaged_folder / "packets.parquet").stat().st_size < 10_000
    problem = "has 8388609 rows in one row group: at most 8388608"
    result = dumbbell("show", "out", "--intervals", expect=1)
    (line,) = result.stderr.splitlines()
    assert line.endswith(f"packets.parquet: {problem}")
    assert "Client: vegas" in result.stdout
    run = library.open(folder / "out").runs[0]
    for read in (run.packets, run.samples):
        with pytest.raises(library.Error, match=problem):
            read()


def test_triggers_of_somebody_elses_index_are_not_executed(dumbbell: Dumbbell, results: Path) -> None:
    read(results)
    with closing(sqlite3.connect(results / "results.sqlite", isolation_level=None)) as database:
        database.execute(
            "CREATE TRIGGER endless AFTER INSERT ON metric BEGIN"
            " INSERT INTO migration WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"
            " SELECT max(i), '', '' FROM n; END"
        )
    result = dumbbell("run", "--resume", "--out", str(results), expect=2)
    assert "results.sqlite: has triggers, which may do anything" in result.stderr


def test_json_on_a_terminal_has_no_control_characters(dumbbell: Dumbbell, results: Path) -> None:
    content = json.loads((results / DAMAGED).read_text())
    content["notes"] = ["\x9b31m \u202e \x7f \x1b[31m \u00fc"]
    (results / DAMAGED).write_text(json.dumps(content, ensure_ascii=False))
    output = dumbbell("show", "--json", str(results)).stdout
    assert "\\u009b31m \\u202e \\u007f \\u001b[31m \u00fc" in output


@pytest.mark.parametrize("time", ["</script>", "9999-12-31T23:59:59Z", "0001-01-01", ""])
def test_an_export_of_results_without_a_time_is_one_line(dumbbell: Dumbbell, results: Path, time: str) -> None:
    file = results / "environment.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"started_at": time}))
    (line,) = dumbbell("export", "pantheon", str(results), "--out", "exported", expect=2).stderr.splitlines()
    assert line.startswith(f"dumbbell: {file}: `started_at` = ")


def test_an_export_of_imported_results_without_runs_is_one_line(
    dumbbell: Dumbbell, once: Dumbbell, folder: Path
) -> None:
    once("run", "--schemes", "reno", "--path", "small.toml", "--duration", "1", "--log", "packets", "--out", "out")
    dumbbell("export", "pantheon", "out", "--out", "exported")
    dumbbell("import", "pantheon", "exported", "--out", "imported")
    shutil.rmtree(folder / "imported/runs")
    (line,) = dumbbell("export", "pantheon", "imported", "--out", "again", expect=2).stderr.splitlines()
    assert line == "dumbbell: imported: nothing to export: it has no runs"


def test_an_export_of_a_run_before_or_after_all_times_is_one_line(
    dumbbell: Dumbbell, once: Dumbbell, folder: Path
) -> None:
    once("run", "--schemes", "reno", "--path", "small.toml", "--duration", "1", "--log", "packets", "--out", "out")
    (file,) = (folder / "out").rglob("stats.json")
    for time in (-1, 1e18, 2**62):
        file.write_text(json.dumps(json.loads(file.read_text()) | {"init_us": time}))
        (line,) = dumbbell("export", "pantheon", "out", "--out", "exported", expect=2).stderr.splitlines()
        assert "stats.json: `init_us` = " in line


def test_what_cannot_be_drawn_costs_the_figures_of_its_run_only(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> str:
        raise ValueError("Axis limits cannot be NaN or Inf")

    monkeypatch.setitem(drawing._DRAW, "window", refuse)
    draw_run = drawing.draw_run(drawing.draw_job("x", load(shelf.recorded).runs[0].content, {}, str))
    assert draw_run.problem == "what it kept cannot be drawn: Axis limits cannot be NaN or Inf"
