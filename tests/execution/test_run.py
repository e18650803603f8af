"""Tests of runs of experiments: written, resumed, repeated and surviving files."""

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import tomllib
from collections.abc import Callable
from pathlib import Path

import polars
import pytest

import dumbbell as library
from dumbbell.results import locked
from support.commands.command import COMMAND, Dumbbell, show
from support.waiting import TIMEOUT_S, wait_for

QUICK = ("--path", "small.toml", "--duration", "2", "--warmup", "0.5")
WITH_PROCESSES = pytest.mark.usefixtures("with_processes")


@WITH_PROCESSES
def test_a_run_leaves_every_file_and_the_shown_numbers(dumbbell: Dumbbell, folder: Path) -> None:
    result = dumbbell("run", "--schemes", "reno", *QUICK, "--out", "out", "--json")
    content = json.loads(result.stdout)
    assert {"experiment", "environment", "runs", "directory"} <= content.keys()
    (run,) = content["runs"]
    assert (run["scheme"], run["path"], run["run"], run["backend"]) == ("reno", "small", 1, "sim")
    assert (run["status"], run["reason"]) == ("done", None)
    assert run["sim_wall_s"] > 0
    # At most 10 Mbit/s; NewReno with 30 packets of buffer (1.8 BDP) fills most of it in 2 s.
    assert 7.0 < run["flows"][0]["throughput_mbps"] <= 10.01
    # 10 ms of propagation + at most 31 packets of 1500 bytes at 10 Mbit/s: 31 * 1.2 ms = 37.2 ms
    assert 10.0 < run["flows"][0]["delay_p95_ms"] < 47.3
    assert run["links"][0]["direction"] == "data"
    assert run["links"][0]["capacity_mbps"] == pytest.approx(10.0)
    files = {entry.name for entry in (folder / "out" / run["directory"]).iterdir()}
    assert files == {"packets.parquet", "flows.parquet", "links.parquet", "stats.json", "log.txt"}
    assert {entry.name for entry in (folder / "out").iterdir()} == {
        *("experiment.toml", "environment.json", "results.sqlite", "runs", ".lock"),
    }
    assert show(dumbbell, "out")["runs"] == content["runs"]


def test_packet_logs_are_read_by_an_independent_reader(dumbbell: Dumbbell, folder: Path) -> None:
    dumbbell("run", "--schemes", "reno", *QUICK, "--out", "out")
    file = folder / "out/runs/small/reno/1/packets.parquet"
    packets = polars.read_parquet(file)
    columns = ["time_ns", "flow", "event", "seq", "size_bytes", "data_bytes", "one_way_delay_ns"]
    assert packets.columns == columns
    assert packets["time_ns"].is_sorted()
    delivered_rows = packets.filter(polars.col("event") == 5)
    statistics = json.loads((file.parent / "stats.json").read_text())
    assert len(delivered_rows) == statistics["flows"][0]["packets_delivered"]
    assert delivered_rows["size_bytes"].sum() == statistics["flows"][0]["bytes_delivered"]


@WITH_PROCESSES
def test_the_database_and_the_statistics_agree(dumbbell: Dumbbell, folder: Path) -> None:
    dumbbell("run", "--schemes", "reno", *QUICK, "--runs", "2", "--flows", "2", "--out", "out")
    connection = sqlite3.connect(folder / "out/results.sqlite")
    query = (
        "SELECT run, entity_id, value FROM experiment JOIN metric ON experiment.id = experiment_id"
        " WHERE entity_kind = 'flow' AND metric.name = 'throughput_mbps' ORDER BY run, entity_id"
    )
    rows = connection.execute(query).fetchall()
    unit = connection.execute("SELECT unit FROM definition WHERE entity_kind = 'flow' AND name = 'throughput_mbps'")
    assert unit.fetchone() == ("Mbit/s",)
    connection.close()
    expected = [
        (run["run"], number, flow["throughput_mbps"])
        for run in show(dumbbell, "out")["runs"]
        for number, flow in enumerate(run["flows"], 1)
    ]
    assert rows == expected
    assert len(rows) == 4


def test_the_resolved_experiment_can_be_run_again_elsewhere(dumbbell: Dumbbell, folder: Path) -> None:
    dumbbell("run", "--schemes", "reno", *QUICK, "--set", "reno.transport.ack_every=1", "--out", "first")
    (folder / "small.toml").unlink()
    dumbbell("run", "first/experiment.toml", "--out", "second")
    packets = [folder / out / "runs/small/reno/1/packets.parquet" for out in ("first", "second")]
    assert packets[0].read_bytes() == packets[1].read_bytes()
    table = tomllib.loads((folder / "second/experiment.toml").read_text())
    assert table["scheme"]["reno"]["transport"]["ack_every"] == 1
    assert table["path"]["small"]["data"][0]["rate_mbps"] == 10.0


def test_packet_logs_are_the_same_bytes_for_any_number_of_jobs(dumbbell: Dumbbell, folder: Path) -> None:
    arguments = ("--schemes", "reno", "--path", "small.toml,lossy.toml", "--duration", "2", "--runs", "2")
    dumbbell("run", *arguments, "--jobs", "1", "--out", "one")
    dumbbell("run", *arguments, "--jobs", "2", "--out", "two")
    logs = sorted(path.relative_to(folder / "one") for path in (folder / "one").rglob("*.parquet"))
    assert len(logs) == 2 * 2 * 3
    for log in logs:
        assert (folder / "one" / log).read_bytes() == (folder / "two" / log).read_bytes(), log


def test_another_seed_gives_other_losses(dumbbell: Dumbbell, folder: Path) -> None:
    logs = []
    for seed in ("1", "2"):
        arguments = ("--path", "lossy.toml", "--duration", "2", "--seed", seed)
        dumbbell("run", "--schemes", "reno", *arguments, "--out", seed)
        logs.append((folder / seed / "runs/lossy/reno/1/packets.parquet").read_bytes())
    assert logs[0] != logs[1]


def test_more_schemes_and_runs_do_not_change_a_runs_seed(dumbbell: Dumbbell) -> None:
    document = json.loads(dumbbell("run", "--schemes", "reno", *QUICK, "--out", "few", "--json").stdout)
    arguments = ("--schemes", "cubic,reno", *QUICK, "--runs", "2")
    data = json.loads(dumbbell("run", *arguments, "--out", "many", "--json").stdout)
    seeds = {(run["scheme"], run["run"]): run["seed"] for run in data["runs"]}
    assert seeds["reno", 1] == document["runs"][0]["seed"]
    # Every scheme has the same random draws.
    assert [seeds["cubic", run] for run in (1, 2)] == [seeds["reno", run] for run in (1, 2)]
    assert len(set(seeds.values())) == 2


@WITH_PROCESSES
def test_resume_adds_runs_and_repeats_none(dumbbell: Dumbbell, folder: Path) -> None:
    dumbbell("run", "--schemes", "reno", *QUICK, "--runs", "2", "--out", "out")
    finished_runs = {path: path.stat().st_mtime_ns for path in (folder / "out/runs").rglob("stats.json")}
    dumbbell("run", "--resume", "--out", "out", "--runs", "3")
    assert len(finished_runs) == 2
    assert all(path.stat().st_mtime_ns == change_ns for path, change_ns in finished_runs.items())
    assert [run["status"] for run in show(dumbbell, "out")["runs"]] == ["done"] * 3
    assert len(json.loads((folder / "out/environment.json").read_text())["resumed"]) == 1


@WITH_PROCESSES
def test_a_damaged_run_is_repeated_by_resume(dumbbell: Dumbbell, folder: Path) -> None:
    dumbbell("run", "--schemes", "reno", *QUICK, "--out", "out")
    statistics = folder / "out/runs/small/reno/1/stats.json"
    document = json.loads(statistics.read_text())
    statistics.write_text(statistics.read_text()[:100])
    dumbbell("run", "--resume", "--out", "out")
    assert json.loads(statistics.read_text())["flows"] == document["flows"]


@pytest.mark.parametrize(("status", "is_repeated"), [("failed", True), ("invalid", True), ("degraded", False)])
def test_resume_repeats_what_failed_and_what_does_not_count_as_measured(
    dumbbell: Dumbbell, folder: Path, status: str, is_repeated: bool
) -> None:
    dumbbell("run", "--schemes", "reno", *QUICK, "--out", "out")
    statistics = folder / "out/runs/small/reno/1/stats.json"
    content = json.loads(statistics.read_text())
    statistics.write_text(json.dumps(content | {"status": status, "reason": "the machine was late"}))
    dumbbell("run", "--resume", "--out", "out")
    now = json.loads(statistics.read_text())
    assert now["status"] == ("done" if is_repeated else status)
    assert now["flows"] == content["flows"]


def _wait_for_runs(directory: Path, count: int) -> list[Path]:
    def finished_runs() -> list[Path]:
        return list(directory.glob("runs/[!.]*/*/*/stats.json"))  # not below .unfinished, which comes and goes

    wait_for(lambda: len(finished_runs()) >= count)
    return finished_runs()


LONG = ("--schemes", "reno", "--path", "small.toml", "--duration", "60", "--runs", "30", "--jobs", "2")


def test_a_killed_experiment_loses_nothing_that_was_finished(
    dumbbell: Dumbbell, start: Callable[..., subprocess.Popen[str]], folder: Path
) -> None:
    process = start("run", *LONG, "--out", "out")
    _wait_for_runs(folder / "out", 3)
    process.kill()
    process.communicate()
    finished_runs = {path: path.read_bytes() for path in _wait_for_runs(folder / "out", 3)}
    assert len(finished_runs) < 30, "the experiment was over before it could be killed: make it longer"
    dumbbell("run", "--resume", "--out", "out")
    assert all(path.read_bytes() == content for path, content in finished_runs.items())
    assert [run["status"] for run in show(dumbbell, "out")["runs"]] == ["done"] * 30
    connection = sqlite3.connect(folder / "out/results.sqlite")
    assert connection.execute("SELECT count(*) FROM experiment WHERE status = 'done'").fetchone() == (30,)
    connection.close()
    assert not (folder / "out/runs/.unfinished").exists()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_keeps_finished_runs_and_says_how_to_go_on(
    dumbbell: Dumbbell, start: Callable[..., subprocess.Popen[str]], folder: Path, number: signal.Signals
) -> None:
    process = start("run", *LONG, "--out", "out")
    _wait_for_runs(folder / "out", 2)
    os.killpg(process.pid, number) if number == signal.SIGINT else process.send_signal(number)
    _, errors = process.communicate(timeout=TIMEOUT_S)
    assert process.returncode == 1
    assert "Traceback" not in errors
    assert "--resume" in errors
    runs = show(dumbbell, "out", expect=1)["runs"]
    statuses = [run["status"] for run in runs]
    assert statuses.count("done") >= 2
    assert statuses.count("done") + statuses.count("missing") == 30
    assert not (folder / "out/runs/.unfinished").exists()


def test_mixed_flows_share_one_run(dumbbell: Dumbbell) -> None:
    arguments = ("--mix", "reno*2 + cubic", *QUICK, "--interval", "0.25", "--exact")
    (run,) = json.loads(dumbbell("run", *arguments, "--out", "out", "--json").stdout)["runs"]
    assert run["scheme"] == "reno*2+cubic"
    assert run["directory"] == "runs/small/reno~2+cubic/1"
    assert [flow["scheme"] for flow in run["flows"]] == ["reno", "reno", "cubic"]
    assert [flow["start_s"] for flow in run["flows"]] == [0.0, 0.25, 0.5]
    assert sum(flow["goodput_mbps"] for flow in run["flows"]) < 10.0


def test_flows_that_are_listed_in_the_experiment(dumbbell: Dumbbell, folder: Path) -> None:
    (folder / "rtt.toml").write_text(
        'schemes = ["reno"]\npaths = ["small.toml"]\nduration_s = 2.0\n'
        "[[flow]]\n[[flow]]\nscheme = 'cubic'\nrtt_ms = 80.0\nstart_s = 0.5\nstop_s = 1.5\n"
        "[[flow]]\napplication = { kind = 'fixed', bytes = 100000 }\n"
    )
    (run,) = json.loads(dumbbell("run", "rtt.toml", "--out", "out", "--json").stdout)["runs"]
    assert [flow["scheme"] for flow in run["flows"]] == ["reno", "cubic", "reno"]
    assert run["flows"][1]["owd_min_ms"] >= 40.0
    assert run["flows"][2]["data_bytes_delivered"] == 100_000


@WITH_PROCESSES
def test_a_failing_run_is_listed_with_its_reason_and_the_others_go_on(dumbbell: Dumbbell, folder: Path) -> None:
    dumbbell("run", "--schemes", "reno,cubic", *QUICK, "--out", "out")
    # A directory that cannot be replaced makes exactly one run fail.
    for scheme in ("reno", "cubic"):
        for file in (folder / f"out/runs/small/{scheme}/1").iterdir():
            file.unlink()
        (folder / f"out/runs/small/{scheme}/1").rmdir()
    (folder / "out/runs/small/reno").rmdir()
    (folder / "out/runs/small/reno").write_text("in the way")
    result = dumbbell("run", "--resume", "--out", "out", expect=1)
    assert "1 runs failed" in result.stderr
    assert "reno on small, run 1" in result.stderr
    statuses = {run["scheme"]: run["status"] for run in show(dumbbell, "out", expect=1)["runs"]}
    assert statuses == {"reno": "missing", "cubic": "done"}


def test_no_packet_log_on_request(dumbbell: Dumbbell, folder: Path) -> None:
    dumbbell("run", "--schemes", "reno", *QUICK, "--log", "none", "--out", "out")
    assert not (folder / "out/runs/small/reno/1/packets.parquet").exists()
    assert show(dumbbell, "out")["runs"][0]["flows"][0]["throughput_mbps"] > 7.0


def test_progress_is_plain_lines_and_stdout_is_only_json(dumbbell: Dumbbell) -> None:
    result = dumbbell("run", "--schemes", "reno", *QUICK, "--out", "out", "--json")
    json.loads(result.stdout)
    assert "\r" not in result.stderr
    assert "\x1b" not in result.stderr


def test_two_runs_in_one_second_have_a_directory_each(dumbbell: Dumbbell, folder: Path) -> None:
    for _ in range(4):
        dumbbell("run", "--schemes", "reno", "--path", "small.toml", "--duration", "0.1")
    assert len(list((folder / "results").iterdir())) == 4


def test_a_refused_second_writer_changes_nothing(dumbbell: Dumbbell, folder: Path) -> None:
    with locked(folder / "out"):
        second = dumbbell("run", "--schemes", "cubic", *QUICK, "--out", "out", expect=2)
        assert second.stderr == "dumbbell: out: another dumbbell is writing there\n"
        assert [entry.name for entry in (folder / "out").iterdir()] == [".lock"]
    dumbbell("run", "--schemes", "reno", *QUICK, "--out", "out")
    content = (folder / "out/experiment.toml").read_bytes()
    with locked(folder / "out"):
        dumbbell("run", "--resume", "--out", "out", "--runs", "3", expect=2)
    assert (folder / "out/experiment.toml").read_bytes() == content


def test_of_many_writers_at_once_one_wins_and_keeps_its_directory(folder: Path) -> None:
    command = [*COMMAND, "run", *QUICK, "--out", "deep/out", "--schemes"]
    schemes = ("reno", "cubic", "copa", "vegas")
    for _ in range(2):
        writers = {
            scheme: subprocess.Popen([*command, scheme], cwd=folder, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL)
            for scheme in schemes
        }
        outputs = {scheme: process.communicate()[1].decode() for scheme, process in writers.items()}
        won_schemes = [scheme for scheme, process in writers.items() if process.returncode == 0]
        assert len(won_schemes) == 1, outputs
        assert {run["scheme"] for run in library.open(folder / "deep/out").as_json()["runs"]} == set(won_schemes)
        assert all(
            "another dumbbell is writing there" in outputs[scheme] or "has results already" in outputs[scheme]
            for scheme in schemes
            if scheme not in won_schemes
        )
        shutil.rmtree(folder / "deep")


def test_a_refused_directory_is_left_as_it_was(dumbbell: Dumbbell, folder: Path) -> None:
    (folder / "mine").mkdir()
    (folder / "mine/letter.txt").write_text("dear")
    line = dumbbell("run", "--schemes", "reno", *QUICK, "--out", "mine", expect=2).stderr
    assert "mine: is neither empty nor a results directory" in line
    assert [entry.name for entry in (folder / "mine").iterdir()] == ["letter.txt"]


def test_results_whose_directory_is_removed_are_not_made_anew(dumbbell: Dumbbell, folder: Path) -> None:
    out = folder / "out"
    code = f"import shutil\n\nclass Gone:\n    def __init__(self, start):\n        shutil.rmtree({str(out)!r})\n"
    code += "    def on_ack(self, ack): ...\n    def control(self):\n        return 20000.0\n"
    (folder / "gone.py").write_text(code)
    result = dumbbell("run", "--schemes", "gone.py,reno", *QUICK, "--jobs", "1", "--trust", "--out", "out", expect=1)
    assert "reno on small, run 1: out/" in result.stderr
    assert not out.exists()
