"""Tests of `dumbbell benchmark` through the real command: a small part, resumed, in a database, its documentation."""

import json
import sqlite3
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from inline_snapshot import snapshot

import dumbbell
from dumbbell import _core, catalog
from dumbbell.catalog.experiment_file import ExperimentFile
from dumbbell.results.benchmark_directory import shortened
from support.commands.command import COMMAND, Dumbbell
from support.told import transcript

PARTS = [plan for plan in catalog.experiments() if plan.membership is not None]
AIMD_CLASS = Path(__file__).parents[2] / "examples/python/aimd.py"
METRICS = {(metric["level"], metric["name"]) for metric in json.loads(_core.metrics())}


TINY = """
name = "tiny"
paths = ["pantheon-4"]
duration_s = 1.0
runs = 2
schemes = ["cubic"]
keep = "numbers"

[benchmark]
group = "Robustness"
text = "Short."
references = ["reno"]
flow_metrics = ["owd_p95_ms"]
figures = []
"""


@pytest.fixture(scope="module")
def names() -> set[str]:
    return {plan.name for plan in PARTS}


def test_a_part_runs_is_recorded_and_resumes(dumbbell: Dumbbell, folder: Path) -> None:
    command = ["benchmark", "--schemes", "vegas", "--quick", "--only", "ack_loss,sweep_rtt", "--out", "out"]
    document = json.loads(dumbbell(*command, "--json").stdout)
    assert (document["failed"], document["finished"]) == (0, 4 + 12)
    assert (folder / "out" / "index.html").is_file()
    with sqlite3.connect(folder / "out" / "benchmark.sqlite") as connection:
        counts = dict(connection.execute("SELECT name, count(*) FROM experiment GROUP BY name"))
    assert counts == {"ack_loss": 4, "sweep_rtt": 12}
    again = dumbbell(*command, "--resume")
    assert "16 of 16 runs are finished already" in again.stderr
    assert "vegas" in dumbbell("show", "out/experiments/ack_loss").stdout
    (folder / "out" / "index.html").unlink()
    assert dumbbell("report", "out").stdout == "out/index.html\n"
    assert (folder / "out" / "index.html").is_file()
    assert "has pages only" in dumbbell("report", "out", "--pdf", expect=2).stderr


def test_an_experiment_that_keeps_numbers_only_is_in_no_database(dumbbell: Dumbbell, folder: Path) -> None:
    (folder / "tiny.toml").write_text(TINY)
    words = ["benchmark", "--schemes", "cubic", "--quick", "--experiment", "tiny.toml", "--only", "tiny", "--out", "b"]
    result = dumbbell(*words, "--json")
    note = "tiny: `keep` = numbers: in no database, but in the tables below b/experiments/tiny/numbers"
    assert result.stderr.count(note) == 1
    assert json.loads(result.stdout)["database"] is None
    assert not (folder / "b/benchmark.sqlite").exists()


def test_pages_of_a_scheme_in_a_file_need_neither_the_file_nor_the_folder(dumbbell: Dumbbell, folder: Path) -> None:
    (folder / "mine").mkdir()
    (folder / "mine" / "aimd.py").write_text(AIMD_CLASS.read_text())
    command = ["benchmark", "--schemes", "./mine/aimd.py,vegas", "--quick", "--only", "ack_loss"]
    dumbbell(*command)
    out = folder / "results" / "benchmark-aimd-vegas-quick"
    assert json.loads((out / "benchmark.json").read_text())["schemes"] == ["aimd", "vegas"]
    assert "5 of 5 runs are finished already" in dumbbell(*command, "--resume", "--out", out).stderr
    page = out / "pages/data/benchmark.json.js"
    content = page.read_bytes()
    (folder / "mine").rename(folder / "gone")
    page.unlink()
    subprocess.run([*COMMAND, "report", out], cwd=folder / "gone", check=True, stdout=subprocess.DEVNULL)
    assert page.read_bytes() == content


def test_schemes_under_test_with_names_of_others_are_refused(dumbbell: Dumbbell, folder: Path) -> None:
    (folder / "mine.toml").write_text('name = "cubic"\ncontroller = "cubic"\nparameters = { beta = 0.6 }\n')
    result = dumbbell("benchmark", "--schemes", "vegas,mine.toml", "--quick", expect=2)
    assert "mine.toml: the name `cubic` is taken by another scheme" in result.stderr


def test_plug_ins_are_not_sent_to_a_cluster(dumbbell: Dumbbell, folder: Path) -> None:
    command = ["benchmark", "--schemes", AIMD_CLASS, "--quick", "--only", "ack_loss", "--out", "out"]
    result = dumbbell(*command, "--cluster", "tcp://127.0.0.1:1", expect=2)
    assert "scheme `aimd`" in result.stderr
    assert "is on this machine only" in result.stderr
    assert not (folder / "out").exists()


def test_the_library_runs_it_with_schemes_of_its_own(folder: Path) -> None:
    gentle = replace(dumbbell.schemes().find("reno"), name="gentle", parameters={"beta": "0.7"}, aliases=())
    benchmark = dumbbell.run_benchmark([gentle], quick=True, only="ack_loss", out=folder / "out", jobs=1)
    assert benchmark.outcome.finished == 4
    assert benchmark.index.is_file()
    assert "gentle" in {run.scheme for run in benchmark.experiments["ack_loss"].runs}
    assert (benchmark.directory / "pages" / "index.html").is_file()


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (
            ["--schemes", "vegass"],
            snapshot("dumbbell: unknown scheme `vegass` (did you mean `vegas`?): `dumbbell list schemes` shows all"),
        ),
        (
            ["--schemes", "kernel-cubic"],
            snapshot(
                """\
dumbbell: scheme `kernel-cubic` needs real packets: the benchmark takes schemes that can be
  simulated\
"""
            ),
        ),
        (
            ["--schemes", "vegas", "--only", "acks"],
            snapshot(
                """\
dumbbell: unknown part `acks` of the benchmark (did you mean `ack_loss`?): allowed are
  steady_state_rtt_fairness, steady_state_shared_fairness, steady_state_single_flow,
  steady_state_single_flow_60s, steady_state_start_time_fairness, steady_state_synchronous_fairness,
  responsiveness_pulse_wave, responsiveness_step, copa-fairness, copa-fairness-5s, random_walk,
  rate_replay, sweep_bandwidth, sweep_buffer, sweep_buffer_rtt, sweep_loss, sweep_rtt, competition,
  competition_media, competition_unresponsive, parking_lot, aqm, aqm_competition, flow_completion,
  incast, short_flows, short_flows_over_long, ack_loss, blackout, collapse, high_delay, low_rate,
  misbehaving_receiver, reordering, route_change, rfc8867-5.1, rfc8867-5.2, rfc8867-5.3,
  rfc8867-5.4, rfc8867-5.5, rfc8867-5.6, rfc8867-5.7, rfc8867-5.8\
"""
            ),
        ),
        (
            ["--schemes", "vegas", "--quick", "--full"],
            snapshot(
                """\
dumbbell: --full: not with --quick: a benchmark is one of both\
"""
            ),
        ),
        (
            ["--schemes", "vegas", "--resume"],
            snapshot("dumbbell: --resume needs --out DIR: the benchmark to continue"),
        ),
        (["--schemes", "vegas", "--out", "small.toml"], snapshot("dumbbell: small.toml: is a file, not a directory")),
        (
            ["--schemes", "vegas", "--db-path", "small.toml"],
            snapshot("dumbbell: small.toml: is no database (file is not a database)"),
        ),
        (
            [],
            snapshot(
                """\
dumbbell: the following arguments are required: --schemes (`dumbbell benchmark --help` shows what is
  possible)\
"""
            ),
        ),
    ],
)
def test_bad_usage_is_one_line(dumbbell: Dumbbell, folder: Path, arguments: list[str], expected: str) -> None:
    before = sorted(folder.rglob("*"))
    result = dumbbell("benchmark", *arguments, expect=2)
    assert transcript(result.stderr, folder) == expected
    assert result.stderr.count("\n") == 1, result.stderr
    assert sorted(folder.rglob("*")) == before


def test_another_benchmark_in_the_directory_is_refused(dumbbell: Dumbbell, folder: Path) -> None:
    (folder / "out").mkdir()
    (folder / "out" / "benchmark.json").write_text('{"schemes": ["copa"], "quick": true}')
    command = ["benchmark", "--schemes", "vegas", "--quick", "--only", "ack_loss", "--out", "out"]
    assert "add --resume" in dumbbell(*command, expect=2).stderr
    errors = dumbbell(*command, "--resume", expect=2).stderr
    assert "cannot resume: it is the quick benchmark of copa, not the quick benchmark of vegas" in errors
    (folder / "out" / "benchmark.json").write_text('{"schemes": ["co')
    assert "not valid JSON" in dumbbell(*command, "--resume", expect=2).stderr
    (folder / "out" / "benchmark.json").write_text('{"schemes": [1], "quick": 5}')
    assert "out/benchmark.json: `schemes[0]`: allowed is a text" in dumbbell("report", "out", expect=2).stderr


@pytest.mark.parametrize("plan", PARTS, ids=lambda plan: plan.name)
def test_every_part_shows_metrics_that_there_are(plan: ExperimentFile) -> None:
    assert plan.membership is not None
    for level, metrics in (
        ("flow", plan.membership.flow),
        ("link", plan.membership.link),
        ("network", plan.membership.network),
    ):
        for name in metrics:
            assert (level, name) in METRICS, f"{plan.name}: {name}"
    for scheme in plan.membership.references:
        assert not catalog.schemes().find(scheme).real
    assert len(shortened(plan).grid) == len(plan.grid)
    if plan.membership.victims:
        assert plan.membership.victims in [axis.name for axis in plan.grid]


def test_the_parts_are_those_of_the_documentation(names: set[str]) -> None:
    page = (Path(__file__).parents[2] / "docs" / "how-to" / "benchmark.md").read_text()
    listed_names = {
        line.split("`")[1]
        for line in page.splitlines()
        if line.startswith("|") and line.count("|") == 4 and "`" in line
    }
    assert names == listed_names


def test_the_title_of_a_quick_experiment_promises_no_paths_that_it_has_not() -> None:
    eight = catalog.experiments().find("steady_state_single_flow")
    three = shortened(eight)
    assert (len(eight.paths), len(three.paths)) == (8, 3)
    assert three.title == f"{eight.title} (quick: 3 of the 8 paths)"
    experiment = catalog.experiments().find("ack_loss")
    assert shortened(experiment).title == experiment.title
