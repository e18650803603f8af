"""Tests of names, which become directories: one rule for all inputs, one directory per run, all in `--out`."""

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

import dumbbell as library
from dumbbell import Error, core
from dumbbell.backends import find_executor
from dumbbell.base.backend import SIMULATION
from dumbbell.base.names import fitted, is_name
from dumbbell.catalog.experiment_settings import Settings
from dumbbell.catalog.grids.cell import Cell
from dumbbell.execution import cluster, worker
from dumbbell.execution.worker import Task
from dumbbell.experiment import Run
from support.commands.command import Dumbbell, show

LEAST = ("--path", "small.toml", "--duration", "0.5")
UP = "../" * 2
BAD = ("", ".", "..", f"{UP}victim", ".unfinished", "a b", "a/b", "cubic*2", "-x", "x" * 101, "a\x1b[2J", "é", "a\n")
RULE = "allowed are letters, digits"


def quote(name: str) -> str:
    """Return the name as a key or value in TOML."""
    return json.dumps(name)


def experiment(folder: Path, kind: str, name: str) -> None:
    """Write a file `bad.toml` in which an experiment, a scheme, a path or a cell has this name."""
    delay = "[{kind = 'delay', delay_ms = 1}]"
    text = {
        "experiment": f"name = {quote(name)}\nschemes = ['reno']\npaths = ['default']\n",
        "scheme": f"schemes = [{quote(name)}]\npaths = ['default']\n[scheme.{quote(name)}]\ncontroller = 'reno'\n",
        "path": f"schemes = ['reno']\npaths = [{quote(name)}]\n[path.{quote(name)}]\ndata = {delay}\n",
        "cell": f"schemes = ['reno']\npaths = ['p']\n[path.p]\n[cell.{quote(name)}]\npath = 'p'\n",
    }[kind]
    (folder / "bad.toml").write_text(text)


@pytest.mark.parametrize("name", BAD)
def test_the_one_rule(name: str) -> None:
    assert not is_name(name)
    assert is_name(fitted(name, "other"))


def test_a_path_called_dot_dot_replaces_nothing_outside_of_the_results(dumbbell: Dumbbell, folder: Path) -> None:
    victim = folder / "victim/reno/1"
    victim.mkdir(parents=True)
    (victim / "thesis.txt").write_text("four years")
    experiment(folder, "path", f"{UP}victim")
    result = dumbbell("run", "bad.toml", "--duration", "0.5", "--out", "out", expect=2)
    assert f'bad.toml: path "{UP}victim": {RULE}' in result.stderr
    assert (victim / "thesis.txt").read_text() == "four years"
    assert not (folder / "out").exists()


@pytest.mark.parametrize("kind", ["experiment", "scheme", "path", "cell"])
@pytest.mark.parametrize("name", ["..", "a/b", ".unfinished", "a b", "é", "\x1b[31mred"])
def test_experiment_files_are_refused_in_one_line(dumbbell: Dumbbell, folder: Path, kind: str, name: str) -> None:
    experiment(folder, kind, name)
    result = dumbbell("run", "bad.toml", "--duration", "0.5", "--out", "out", expect=2)
    (line,) = result.stderr.splitlines()
    assert "bad.toml: " in line
    assert "\x1b" not in line
    assert not (folder / "out").exists()


def test_files_of_schemes_and_paths_and_their_aliases_are_checked(dumbbell: Dumbbell, folder: Path) -> None:
    (folder / "scheme.toml").write_text("name = 'a/b'\ncontroller = 'reno'\n")
    (folder / "alias.toml").write_text("name = 'fine'\naliases = ['../x']\ncontroller = 'reno'\n")
    (folder / "path.toml").write_text("name = '..'\n")
    for options in (("--schemes", "scheme.toml", *LEAST), ("--schemes", "alias.toml", *LEAST)):
        assert "letters, digits" in dumbbell("run", *options, "--out", "out", expect=2).stderr
    assert "letters, digits" in dumbbell("run", "--schemes", "reno", "--path", "path.toml", expect=2).stderr
    assert not (folder / "out").exists()


def test_labels_of_a_grid_are_names(dumbbell: Dumbbell, folder: Path) -> None:
    versus = f"{{scheme = 'cubic', label = '{UP}x'}}"
    grid = f"schemes = ['reno']\npaths = ['default']\n[grid]\nversus = [{versus}]\n"
    (folder / "grid.toml").write_text(grid)
    line = dumbbell("run", "grid.toml", "--out", "out", expect=2).stderr
    assert f"grid.toml: `grid`: a combination is called `default.versus-{UP}x`" in line
    assert "label" in line


BAD_OBJECTS: list[Callable[[], object]] = [
    lambda: library.PathModel("../x", "a path"),
    lambda: library.Scheme("a/b", "", "red", "o", "reno"),
    lambda: library.ExperimentFile(name=".."),
    lambda: library.ExperimentFile(name="p", cells={"a b": Cell(library.PathModel("p", ""), ())}),
    lambda: library.ExperimentFile.from_toml("name = '..'"),
    lambda: replace(library.PathModel("p", ""), name=".unfinished"),
]


@pytest.mark.parametrize("make", BAD_OBJECTS)
def test_objects_of_the_library_are_refused(make: Callable[[], object]) -> None:
    with pytest.raises(Error, match="letters, digits"):
        make()


@pytest.mark.parametrize("name", ["", f"{UP}x", "a\x1b[2J", "x" * 200])
def test_run_specifications_are_refused(name: str) -> None:
    specification = library.specification("reno", duration=0.5)
    specification["flows"][0]["scheme"] = name
    with pytest.raises(Error, match=r"flows\[0\]: scheme = .*: allowed are letters, digits") as error:
        library.simulate(specification)
    assert "\x1b" not in str(error.value)


def test_what_imports_name_is_refused_or_made_a_name(dumbbell: Dumbbell, folder: Path) -> None:
    (folder / "up.log").write_text("# base timestamp: 0\n")
    result = dumbbell("import", "mahimahi", "up.log", "--scheme", "../x", "--out", "out", expect=2)
    assert "--scheme `../x`: allowed are letters, digits" in result.stderr
    (folder / "data").mkdir()
    (folder / "data/pantheon_metadata.json").write_text(json.dumps({"cc_schemes": [f"{UP}x"], "uplink_trace": "a"}))
    result = dumbbell("import", "pantheon", "data", "--out", "out", expect=2)
    assert f"`{UP}x` is not the name of a scheme: allowed are letters, digits" in result.stderr
    assert not (folder / "out").exists()


def test_a_mix_and_a_scheme_never_share_a_directory(dumbbell: Dumbbell, once: Dumbbell, folder: Path) -> None:
    (folder / "twice.toml").write_text("name = 'renox2'\ncontroller = 'vegas'\n")
    once("run", "--schemes", "twice.toml", "--mix", "reno*2", *LEAST, "--out", "out")
    alone, runs = show(dumbbell, "out")["runs"]
    assert (alone["directory"], runs["directory"]) == ("runs/small/renox2/1", "runs/small/reno~2/1")
    assert [len(run["flows"]) for run in (alone, runs)] == [1, 2]
    dumbbell("export", "pantheon", "out", "--out", "logs")
    names = {file.name.partition("_datalink")[0] for file in (folder / "logs").glob("*_datalink_*")}
    assert names == {"renox2", "renox2-2"}


def test_runs_that_would_have_one_name_are_refused(dumbbell: Dumbbell, folder: Path) -> None:
    (folder / "plus.toml").write_text("name = 'reno+cubic'\ncontroller = 'vegas'\n")
    result = dumbbell("run", "--schemes", "plus.toml", "--mix", "reno+cubic", *LEAST, "--out", "out", expect=2)
    assert "mix `reno+cubic`" in result.stderr
    result = dumbbell("run", "--mix", "plus.toml*2", *LEAST, "--out", "out", expect=2)
    assert "a scheme in a mix has no `+` in its name" in result.stderr
    (folder / "other.toml").write_text("name = 'small'\ndata = [{kind = 'delay', delay_ms = 3}]\n")
    result = dumbbell("run", "--schemes", "reno", "--path", "small.toml,other.toml", "--out", "out", expect=2)
    assert "two paths are called `small`: `small.toml` and `other.toml`" in result.stderr
    result = dumbbell("run", "--mix", "+".join([*["reno"] * 60, "cubic"]), *LEAST, "--out", "out", expect=2)
    assert "characters: allowed are 200" in result.stderr
    assert not (folder / "out").exists()


def test_results_with_the_former_names_are_read_and_continued(dumbbell: Dumbbell, folder: Path) -> None:
    arguments = ("run", "--mix", "reno*2+cubic", *LEAST, "--out", "out")
    dumbbell(*arguments)
    runs = folder / "out/runs/small"
    (runs / "reno~2+cubic").rename(runs / "renox2+cubic")
    (run,) = show(dumbbell, "out")["runs"]
    assert (run["status"], run["directory"]) == ("done", "runs/small/renox2+cubic/1")
    assert "1 of 1 runs are finished already" in dumbbell(*arguments, "--resume").stderr
    dumbbell("report", "out", "--html")
    assert 'href="runs/small/renox2%2Bcubic/1/stats.json"' in (folder / "out/report.html").read_text()


def test_numbers_of_another_scheme_are_not_shown_as_ones_own(dumbbell: Dumbbell, once: Dumbbell, folder: Path) -> None:
    (folder / "twice.toml").write_text("name = 'renox2'\ncontroller = 'vegas'\n")
    once("run", "--schemes", "twice.toml", "--mix", "reno*2", *LEAST, "--out", "out")
    runs = folder / "out/runs/small"
    shutil.rmtree(runs / "renox2")
    (runs / "reno~2").rename(runs / "renox2")  # as it was left where the mix was last
    (reason,) = [run["reason"] for run in show(dumbbell, "out", expect=1)["runs"] if run["status"] == "damaged"]
    assert reason.startswith("stats.json: is of scheme `reno*2`")


def test_a_link_in_a_foreign_directory_is_not_followed(dumbbell: Dumbbell, once: Dumbbell, folder: Path) -> None:
    arguments = ("run", "--schemes", "reno", *LEAST, "--out", "out")
    once(*arguments)
    victim = folder / "victim"
    (victim / ".unfinished").mkdir(parents=True)
    (victim / ".unfinished/thesis.txt").write_text("four years")
    shutil.rmtree(folder / "out/runs")
    (folder / "out/runs").symlink_to(victim)
    result = dumbbell(*arguments, "--resume", expect=2)
    assert "leads out of out: out/runs" in result.stderr
    assert [file.name for file in victim.rglob("*")] == [".unfinished", "thesis.txt"]


def test_a_lock_that_is_a_link_is_not_followed(dumbbell: Dumbbell, folder: Path) -> None:
    (folder / "out").mkdir()
    (folder / "thesis.txt").write_text("four years")
    (folder / "out/.lock").symlink_to("../thesis.txt")
    result = dumbbell("run", "--schemes", "reno", *LEAST, "--out", "out", expect=2)
    assert "out/.lock: is a symbolic link" in result.stderr
    assert (folder / "thesis.txt").read_text() == "four years"


def test_a_database_that_is_a_link_is_not_followed(dumbbell: Dumbbell, once: Dumbbell, folder: Path) -> None:
    arguments = ("run", "--schemes", "reno", *LEAST, "--out", "out")
    once(*arguments)
    (folder / "out/results.sqlite").rename(folder / "mine.sqlite")
    (folder / "out/results.sqlite").symlink_to("../mine.sqlite")
    before = (folder / "mine.sqlite").read_bytes()
    result = dumbbell(*arguments, "--resume", expect=2)
    assert "out/results.sqlite: is a symbolic link" in result.stderr
    assert (folder / "mine.sqlite").read_bytes() == before


def test_a_part_of_a_benchmark_that_is_a_link_is_not_followed(dumbbell: Dumbbell, folder: Path) -> None:
    (folder / "victim").mkdir()
    (folder / "out").mkdir()
    (folder / "out/benchmark.json").write_text('{"schemes": ["reno"], "quick": true}')
    (folder / "out/experiments").symlink_to("../victim")
    command = ("benchmark", "--schemes", "reno", "--quick", "--only", "steady_state_single_flow")
    result = dumbbell(*command, "--resume", "--out", "out", expect=2)
    assert "leads out of out: out/experiments" in result.stderr
    assert list((folder / "victim").iterdir()) == []


@pytest.mark.parametrize("name", [f"{UP}x", "/tmp/x", "sub/stats.json", "other"])
def test_what_a_worker_of_a_cluster_sends_stays_in_its_directory(tmp_path: Path, name: str) -> None:
    task = make_task(tmp_path)
    statistics = cluster._publish_parcel(
        task, cluster.Parcel(0, {"status": "done"}, 1.0, {"stats.json": b"{}", name: b"evil"})
    )
    assert statistics["status"] == "failed"
    assert name in statistics["reason"]
    written_names = {file.name for file in tmp_path.rglob("*") if file.is_file()}
    assert written_names == {"stats.json", "log.txt"}
    assert json.loads((task.final / "stats.json").read_text())["status"] == "failed"


def test_what_a_worker_sends_is_not_written_through_a_link(tmp_path: Path) -> None:
    task = make_task(tmp_path / "out")
    (tmp_path / "victim").mkdir()
    (tmp_path / "out").mkdir()
    (tmp_path / "out/runs").symlink_to(tmp_path / "victim")
    statistics = cluster._publish_parcel(task, cluster.Parcel(0, {"status": "done"}, 1.0, {"stats.json": b"{}"}))
    assert "leads out of" in statistics["reason"]
    assert list((tmp_path / "victim").iterdir()) == []


def test_a_process_that_executes_runs_writes_nothing_through_a_link(tmp_path: Path) -> None:
    specification = library.specification("reno", duration=0.5)
    task = replace(make_task(tmp_path / "out"), specification=specification)
    (tmp_path / "victim").mkdir()
    (tmp_path / "out").mkdir()
    (tmp_path / "out/runs").symlink_to(tmp_path / "victim")
    statistics = worker.execute(task)
    assert statistics["status"] == "failed"
    assert "leads out of" in statistics["reason"]
    assert list((tmp_path / "victim").iterdir()) == []
    (tmp_path / "out/runs").unlink()
    assert worker.execute(task)["status"] == "done"
    assert worker.execute(replace(task, final=tmp_path / "out/../victim/1"))["status"] == "failed"
    assert list((tmp_path / "victim").iterdir()) == []


def make_task(out: Path) -> Task:
    """Return a task for the cluster."""
    run = Run("p", "reno", 1, 7)
    return Task(
        number=0,
        label=run.label,
        executor=find_executor(Settings(backend=SIMULATION)),
        identity={"scheme": "reno", "path": "p", "run": 1, "seed": 7},
        specification=library.specification("reno", duration=0.5),
        outside=(),
        out=out,
        temporary=out / "runs/.unfinished/0",
        final=out / run.directory,
    )


def test_python_and_the_core_have_one_rule() -> None:
    assert [core.is_name(name) for name in ("ledbat++", "_own", "static.default", "..", "a/b")] == [True] * 3 + [
        False
    ] * 2
