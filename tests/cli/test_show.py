"""Tests of printed output: lists, results, differences, the state of the installation."""

import fcntl
import functools
import json
import shutil
from pathlib import Path

import pytest

from dumbbell import _core
from dumbbell.results import files
from dumbbell.results.directory import locked
from support.clock import ManualClock
from support.commands.command import Dumbbell, replace_options, show

RUN = ("run", "--schemes", "reno", "--path", "small.toml", "--duration", "2")


def test_lists_as_json_have_the_promised_names(dumbbell: Dumbbell) -> None:
    schemes = json.loads(dumbbell("list", "schemes", "--json").stdout)
    names = {scheme["name"] for scheme in schemes}
    assert names >= {"bbr", "copa", "copa-gcc2017", "copa-gcc2018", "cubic", "koho", "ledbat", "reno", "vegas"}
    assert {scheme["title"]: (scheme["color"], scheme["marker"]) for scheme in schemes}["TCP Cubic"] == ("black", "*")
    paths = json.loads(dumbbell("list", "paths", "--json").stdout)
    aliases = {alias: path["name"] for path in paths for alias in path["aliases"]}
    assert {f"pantheon-{number}" for number in range(1, 19)} <= aliases.keys()
    assert aliases["pantheon-4"] == "india-aws-india"
    assert aliases["static.india_to_aws_india"] == "ccperf-india"
    experiments = json.loads(dumbbell("list", "experiments", "--json").stdout)
    assert {experiment["name"] for experiment in experiments} >= {"pantheon", "pantheon-3flows", "quick"}
    metrics = json.loads(dumbbell("list", "metrics", "--json").stdout)
    assert {"throughput_mbps", "delay_p95_ms", "loss_rate", "jain_index"} <= {metric["name"] for metric in metrics}
    parameters = json.loads(dumbbell("list", "parameters", "--json").stdout)
    assert all({"controller", "name", "unit", "kind", "default", "help"} <= entry.keys() for entry in parameters)


def test_every_number_that_is_shown_has_a_definition(dumbbell: Dumbbell) -> None:
    run = json.loads(dumbbell(*RUN, "--out", "out", "--json").stdout)["runs"][0]
    metrics = json.loads(dumbbell("list", "metrics", "--json").stdout)
    defined_names = {(metric["level"], metric["name"]) for metric in metrics}
    objects = {name.partition(".")[0] for _, name in defined_names if "." in name}
    labels = {label["name"] for label in json.loads(_core.labels())}
    entities = [("network", run["network"])]
    entities += [("flow", flow) for flow in run["flows"]] + [("link", link) for link in run["links"]]
    for level, table in entities:
        for name, value in table.items():
            if value is None and name in objects:
                continue
            names = [name]
            if isinstance(value, dict | list):
                rows = value if isinstance(value, list) else [value]
                names = [f"{name}.{inner}" for row in rows for inner in row]
            assert all((level, name) in defined_names or name in labels for name in names), (level, name)


def test_lists_as_text(dumbbell: Dumbbell) -> None:
    for kind in ("schemes", "paths", "experiments", "metrics", "parameters"):
        lines = dumbbell("list", kind).stdout.splitlines()
        assert len(lines) > 3
        assert not any(line.endswith(" ") for line in lines)


def test_show_as_text_lists_bad_runs_and_says_so_in_the_exit_status(
    dumbbell: Dumbbell, once: Dumbbell, folder: Path
) -> None:
    once(*RUN, "--runs", "2", "--out", "out")
    text = dumbbell("show", "out").stdout
    assert "small  reno" in text
    assert " to " in text, "two runs have a range"
    (folder / "out/runs/small/reno/2/stats.json").unlink()
    text = dumbbell("show", "out", expect=1).stdout
    assert "1 of 2" in text
    assert "missing: 1 of 2 runs: not run: the experiment was stopped before\n" in text


def test_show_json_has_the_promised_shape(dumbbell: Dumbbell) -> None:
    dumbbell(*RUN, "--out", "out")
    content = show(dumbbell, "out")
    assert content.keys() == {"experiment", "environment", "runs", "findings"}
    keys = {"scheme", "path", "run", "seed", "backend", "status", "reason", "flows", "links", "network", "sim_wall_s"}
    assert keys <= content["runs"][0].keys()
    assert {"dumbbell", "git", "kernel", "cpu", "sysctl", "python", "started_at"} <= content["environment"].keys()


def test_equal_results_do_not_differ(dumbbell: Dumbbell) -> None:
    for out in ("a", "b"):
        dumbbell(*RUN, "--runs", "3", "--out", out)
    rows = json.loads(dumbbell("diff", "a", "b", "--all", "--json").stdout)["rows"]
    assert len(rows) > 20
    for row in rows:
        assert row["difference"] == 0.0, row
        assert row["verdict"] == "equal"


def test_different_results_differ(dumbbell: Dumbbell, folder: Path) -> None:
    dumbbell(*RUN, "--runs", "4", "--out", "a")
    slower = (folder / "small.toml").read_text().replace("rate_mbps = 10.0", "rate_mbps = 5.0")
    (folder / "small.toml").write_text(slower)
    dumbbell(*RUN, "--runs", "4", "--out", "b")
    rows = json.loads(dumbbell("diff", "a", "b", "--json").stdout)["rows"]
    (row,) = [row for row in rows if (row["entity"], row["metric"]) == ("network", "goodput_mbps")]
    assert -6.0 < row["difference"] < -3.5
    assert row["a"]["runs"] == row["b"]["runs"] == 4
    assert row["verdict"] == "ranges apart"
    assert "apart by chance in 3 of 100 rows" in dumbbell("diff", "a", "b").stdout


def test_schemes_that_only_one_side_has_are_shown(dumbbell: Dumbbell) -> None:
    dumbbell(*RUN, "--out", "a")
    dumbbell(*replace_options(RUN, "--schemes", "reno,cubic"), "--out", "b")
    rows = json.loads(dumbbell("diff", "a", "b", "--json").stdout)["rows"]
    cubic = [row for row in rows if row["scheme"] == "cubic"]
    assert cubic
    assert all(row["a"] is None and row["difference"] is None for row in cubic)
    assert "only in B" in dumbbell("diff", "a", "b").stdout


def test_doctor(dumbbell: Dumbbell) -> None:
    checks = json.loads(dumbbell("doctor", "--json").stdout)["checks"]
    assert {check["name"] for check in checks} >= {"python", "core module", "catalog", "disk", "figures", "pdf"}
    assert all(check["good"] for check in checks if check["needed"])
    assert {"processors", "kernel controllers"} <= {check["name"] for check in checks if not check["needed"]}


def test_help_and_version(dumbbell: Dumbbell) -> None:
    assert dumbbell("--version").stdout.startswith("dumbbell ")
    for command in ("run", "report", "show", "list", "import", "export", "diff", "doctor"):
        assert command in dumbbell("--help").stdout
        assert f"dumbbell {command}" in dumbbell(command, "--help").stdout


def test_chosen_metrics_are_shown_with_units_and_unknown_ones_refused(dumbbell: Dumbbell, once: Dumbbell) -> None:
    once("run", "--schemes", "reno", "--path", "small.toml", "--duration", "2", "--runs", "2", "--out", "out")
    lines = dumbbell("show", "out", "--metrics", "owd_p99_ms,packets_sent").stdout.splitlines()
    assert "owd_p99_ms (ms)" in lines[0]
    assert [line.split()[2] for line in lines[1:-1]] == ["flow", "network"]
    assert "range of the 2 runs" in lines[-1]
    result = dumbbell("show", "out", "--metrics", "owd_p98_ms", expect=2)
    assert "unknown metric `owd_p98_ms` (did you mean `owd_p" in result.stderr
    assert result.stderr.count("\n") == 1
    # The words of the table's heads had no hint.
    for word, suggestion in (("delay", "delay_p95_ms"), ("throughput", "throughput_mbps"), ("Loss", "loss_rate")):
        assert f"`{word}` (did you mean `{suggestion}`?)" in dumbbell("show", "out", "--sort", word, expect=2).stderr
    assert "no run has `fct_mean_s`" in dumbbell("show", "out", "--metrics", "fct_mean_s").stderr
    for other in ("--json", "--intervals"):
        errors = dumbbell("show", "out", "--metrics", "owd_p99_ms", other, expect=2).stderr
        assert f"--metrics: not with {other}" in errors


def test_show_says_that_an_experiment_is_running(dumbbell: Dumbbell, once: Dumbbell, folder: Path) -> None:
    """Runs that were not made yet were called stopped, while the experiment went on."""
    once("run", "--schemes", "reno,cubic", "--path", "small.toml", "--duration", "1", "--out", "out")
    shutil.rmtree(folder / "out/runs/small/cubic")
    output = dumbbell("show", "out", expect=1).stdout
    assert "running" not in output
    with locked(folder / "out"):
        running = dumbbell("show", "out", expect=1).stdout
        content = show(dumbbell, "out", expect=1)
    assert running.startswith("running: 1 of 2 runs are made\n")
    assert "missing: 1 of 2 runs: not run yet: the experiment is running\n" in running
    assert content["running"] is True
    assert "running" not in show(dumbbell, "out", expect=1)


def test_who_looks_whether_an_experiment_is_running_keeps_no_writer_out(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with locked(folder / "out"):
        (folder / "out/experiment.toml").touch()
    with (folder / "out/.lock").open() as file:
        fcntl.flock(file, fcntl.LOCK_SH)

        class Meanwhile(ManualClock):
            """While the writer waits, who looks has seen enough."""

            def sleep(self, seconds: float) -> None:
                fcntl.flock(file, fcntl.LOCK_UN)
                super().sleep(seconds)

        clock = Meanwhile()
        monkeypatch.setattr(files, "taken", functools.partial(files.taken, clock=clock))
        with locked(folder / "out"):
            assert len(clock.slept_s) == 1
