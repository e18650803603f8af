"""`dumbbell benchmark` through the real command: a small part of it, resumed, in a database; and its documentation."""

import json
import sqlite3
from pathlib import Path

import pytest

from conftest import Dumbbell
from dumbbell import _core, catalog
from dumbbell.benchmark.selection import shortened
from dumbbell.catalog.plan import Plan

PARTS = [plan for plan in catalog.experiments() if plan.membership is not None]
METRICS = {(metric["level"], metric["name"]) for metric in json.loads(_core.metrics())}


@pytest.fixture(scope="module")
def names() -> set[str]:
    return {plan.name for plan in PARTS}


def test_a_part_runs_is_recorded_and_resumes(dumbbell: Dumbbell, folder: Path) -> None:
    command = ["benchmark", "--schemes", "vegas", "--quick", "--only", "ack_loss,sweep_rtt", "--out", "out"]
    told = json.loads(dumbbell(*command, "--json").stdout)
    assert (told["failed"], told["finished"]) == (0, 4 + 12)
    assert (folder / "out" / "index.html").is_file()
    with sqlite3.connect(folder / "out" / "benchmark.sqlite") as connection:
        found = dict(connection.execute("SELECT name, count(*) FROM experiment GROUP BY name"))
    assert found == {"ack_loss": 4, "sweep_rtt": 12}
    again = dumbbell(*command, "--resume")
    assert "16 of 16 runs are finished already" in again.stderr
    assert "vegas" in dumbbell("show", "out/experiments/ack_loss").stdout
    (folder / "out" / "index.html").unlink()
    assert dumbbell("report", "out").stdout == "out/index.html\n"
    assert (folder / "out" / "index.html").is_file()
    assert "has pages only" in dumbbell("report", "out", "--pdf", expect=2).stderr


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--schemes", "vegass"], "unknown scheme `vegass` (did you mean `vegas`?)"),
        (["--schemes", "kernel-cubic"], "needs real packets"),
        (["--schemes", "vegas", "--only", "acks"], "unknown part `acks`"),
        (["--schemes", "vegas", "--quick", "--full"], "not allowed with argument"),
        (["--schemes", "vegas", "--resume"], "--resume needs --out DIR"),
        (["--schemes", "vegas", "--out", "small.toml"], "small.toml: is neither empty nor"),
        (["--schemes", "vegas", "--db-path", "small.toml"], "small.toml: "),
        ([], "--schemes"),
    ],
)
def test_bad_usage_is_one_line(dumbbell: Dumbbell, folder: Path, arguments: list[str], expected: str) -> None:
    before = sorted(folder.rglob("*"))
    done = dumbbell("benchmark", *arguments, expect=2)
    assert expected in done.stderr
    assert done.stderr.count("\n") == 1, done.stderr
    assert sorted(folder.rglob("*")) == before


def test_another_benchmark_in_the_directory_is_refused(dumbbell: Dumbbell, folder: Path) -> None:
    (folder / "out").mkdir()
    (folder / "out" / "benchmark.json").write_text('{"schemes": ["copa"], "quick": true}')
    command = ["benchmark", "--schemes", "vegas", "--quick", "--only", "ack_loss", "--out", "out"]
    assert "add --resume" in dumbbell(*command, expect=2).stderr
    refused = dumbbell(*command, "--resume", expect=2).stderr
    assert "cannot resume: it is the quick benchmark of copa, not the quick benchmark of vegas" in refused
    (folder / "out" / "benchmark.json").write_text('{"schemes": ["co')
    assert "not valid JSON" in dumbbell(*command, "--resume", expect=2).stderr


@pytest.mark.parametrize("plan", PARTS, ids=lambda plan: plan.name)
def test_every_part_shows_metrics_that_there_are(plan: Plan) -> None:
    assert plan.membership is not None
    for level, shown in (
        ("flow", plan.membership.flow),
        ("link", plan.membership.link),
        ("network", plan.membership.network),
    ):
        for name in shown:
            assert (level, name) in METRICS, f"{plan.name}: {name}"
    for scheme in plan.membership.references:
        assert not catalog.schemes().find(scheme).real
    assert len(shortened(plan).grid) == len(plan.grid)
    if plan.membership.victims:
        assert plan.membership.victims in [axis.name for axis in plan.grid]


def test_the_parts_are_those_of_the_documentation(names: set[str]) -> None:
    page = (Path(__file__).parent.parent / "docs" / "suite.md").read_text()
    listed = {
        line.split("`")[1]
        for line in page.splitlines()
        if line.startswith("|") and line.count("|") == 4 and "`" in line
    }
    assert names == listed
