"""Tests of dumbbell's logs: on stderr at the requested levels, and of each run."""

import io
import json
import logging
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import dumbbell as package
from dumbbell.backends import find_executor
from dumbbell.base.errors import UserError
from dumbbell.base.logs import ForeignLog, Levels, asked_for, levels, read_words
from dumbbell.base.progress import Progress, print_line
from dumbbell.catalog.experiment_settings import Settings
from dumbbell.execution import worker
from support.commands.command import COMMAND, TIMEOUT_S, Dumbbell, replace_options
from support.waiting import wait_for

LINE = re.compile(r"\d\d:\d\d:\d\d\.\d{3} (error|warn |info |debug) [a-z_]+(\.[a-z0-9_]+)*: \S")
"""A record."""
RUN = ("run", "--schemes", "reno", "--path", "small.toml", "--duration", "2", "--warmup", "0.5")


def records(output: str) -> list[str]:
    return [line for line in output.splitlines() if LINE.match(line)]


def log_of(folder: Path) -> str:
    """Return the log of the only run below a directory."""
    (file,) = folder.glob("runs/*/*/*/log.txt")
    return file.read_text()


def levels_of(output: str) -> set[str]:
    return {record.split()[1] for record in records(output)}


def test_without_being_asked_nothing_is_said(dumbbell: Dumbbell) -> None:
    assert dumbbell(*RUN, "--out", "out").stderr == "results: out\n"


@pytest.mark.parametrize(
    ("before", "after", "variable", "expected"),
    [
        (("-v",), (), "", {"info"}),
        ((), ("-v",), "", {"info"}),
        (("-v",), ("--verbose",), "", {"info", "debug"}),
        ((), ("-vv",), "", {"info", "debug"}),
        ((), (), "debug", {"info", "debug"}),
        (("-vv",), (), "error", set()),
        ((), (), "error,dumbbell.execution.worker=debug", {"info", "debug"}),
        ((), (), "debug,dumbbell.execution=error", set()),
    ],
)
def test_what_is_asked_for_is_on_stderr(
    dumbbell: Dumbbell,
    monkeypatch: pytest.MonkeyPatch,
    before: tuple[str, ...],
    after: tuple[str, ...],
    variable: str,
    expected: set[str],
) -> None:
    monkeypatch.setenv("DUMBBELL_LOG", variable)
    result = dumbbell(*before, *RUN, *after, "--out", "out", "--json")
    assert levels_of(result.stderr) == expected
    assert [run["status"] for run in json.loads(result.stdout)["runs"]] == ["done"]
    assert result.stderr.splitlines()[-1] == "results: out"
    if variable.startswith("error,"):
        assert {record.split()[2] for record in records(result.stderr)} == {"execution.worker:"}


def test_commands_of_commands_have_it_too(dumbbell: Dumbbell) -> None:
    assert "--verbose" in dumbbell("plugin", "include", "--help").stdout
    assert "--verbose" in dumbbell("run", "--help").stdout
    assert dumbbell("-v", "plugin", "include", "-v").stdout


@pytest.mark.parametrize(
    ("variable", "message"),
    [
        ("loud", "DUMBBELL_LOG=loud: level `loud`: allowed are error, warn, info, debug"),
        ("inf", "level `inf` (did you mean `info`?)"),
        (
            "info,dumbbell.remot=debug",
            "logger `dumbbell.remot` (did you mean `dumbbell.remote`?): allowed are dumbbell",
        ),
        ("numpy=debug", "logger `numpy`: allowed are dumbbell, "),
        ("=debug", "logger ``: allowed are dumbbell, "),
        ("info,", "level ``: allowed are"),
    ],
)
def test_a_slip_in_the_variable_is_one_line(
    dumbbell: Dumbbell, monkeypatch: pytest.MonkeyPatch, variable: str, message: str
) -> None:
    monkeypatch.setenv("DUMBBELL_LOG", variable)
    result = dumbbell("list", "paths", expect=2)
    assert result.stdout == ""
    assert result.stderr.count("\n") == 1
    assert message in result.stderr


def test_a_run_has_a_log_and_its_bytes_are_the_same_whatever_is_logged(dumbbell: Dumbbell, folder: Path) -> None:
    dumbbell(*RUN, "--out", "few")
    dumbbell(*RUN, "-vv", "--out", "many")
    for file in (folder / "few").rglob("*.parquet"):
        assert file.read_bytes() == (folder / "many" / file.relative_to(folder / "few")).read_bytes()

    def stats(out: str) -> dict[str, Any]:
        (file,) = (folder / out).rglob("stats.json")
        document = json.loads(file.read_text())
        return {key: value for key, value in document.items() if key not in ("sim_wall_s", "started_at", "ended_at")}

    assert stats("few") == stats("many")
    short_log, long_log = log_of(folder / "few"), log_of(folder / "many")
    assert levels_of(short_log) == {"info"}
    assert levels_of(long_log) == {"info", "debug"}
    assert re.search(r"info  execution.worker: begins backend=sim seed=\d+ host=\S+ pid=\d+ python=3", short_log)
    assert "specification: {" in short_log


def test_a_log_does_not_grow_with_packets(dumbbell: Dumbbell, folder: Path) -> None:
    for seconds in (2, 40):
        dumbbell(*replace_options(RUN, "--duration", seconds), "-vv", "--out", str(seconds))
    assert len(log_of(folder / "2").splitlines()) == len(log_of(folder / "40").splitlines()) < 10


def test_resume_takes_no_log_for_a_difference(dumbbell: Dumbbell, folder: Path) -> None:
    dumbbell(*RUN, "--out", "out")
    (file,) = (folder / "out").glob("runs/*/*/*/log.txt")
    file.write_text("gone\n")
    dumbbell("run", "--resume", "--out", "out", "-vv")
    assert file.read_text() == "gone\n"
    dumbbell("verify", "out")


USE = """
import logging, sys
import dumbbell
found = dumbbell.run(schemes="reno", path="small.toml", duration=2, warmup=0.5, out="out")
assert [run.status for run in found.runs] == ["done"]
package, root = logging.getLogger("dumbbell"), logging.getLogger()
assert [type(each) for each in package.handlers] == [logging.NullHandler], package.handlers
assert (package.level, root.level, root.handlers) == (logging.NOTSET, logging.WARNING, [])
logging.getLogger("dumbbell.execution.pool").warning("a warning that nobody asked for")
logging.basicConfig(format="mine: %(name)s %(levelname)s", stream=sys.stdout)
logging.getLogger("dumbbell").setLevel(logging.INFO)
dumbbell.run(schemes="reno", path="small.toml", duration=2, warmup=0.5, out="more")
"""


def test_a_program_that_uses_the_library_says_what_is_logged(folder: Path) -> None:
    environment = os.environ | {"DUMBBELL_LOG": "debug"}
    result = subprocess.run(
        [sys.executable, "-c", USE], cwd=folder, env=environment, capture_output=True, text=True, timeout=TIMEOUT_S
    )
    assert result.returncode == 0, result.stderr
    assert records(result.stderr) == []
    assert "nobody asked" not in result.stderr
    assert "mine: dumbbell.execution.worker INFO" in result.stdout.splitlines()
    assert levels_of(log_of(folder / "more")) == {"info"}


def test_lines_do_not_tear_those_of_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    with Progress() as going:
        going.doing("working")
        wait_for(lambda: "working: " in screen.getvalue())
        assert screen.getvalue().rpartition("\r\x1b[J")[2].startswith("working: ")
        print_line("12:00:00.000 info  cli: said")
        assert "\r\x1b[J12:00:00.000 info  cli: said\n" in screen.getvalue()
    print_line("after it")
    assert screen.getvalue().endswith("after it\n")


def test_levels_count_for_what_is_below() -> None:
    asked_levels = asked_for(0, "warn,dumbbell.remote=debug,dumbbell.remote.link=error")
    assert asked_levels.wants("dumbbell.remote.serve", logging.DEBUG)
    assert not asked_levels.wants("dumbbell.remotely", logging.INFO)
    assert not asked_levels.wants("dumbbell.remote.link", logging.WARNING)
    assert asked_levels.of_runs().wants("dumbbell.backends", logging.INFO)
    assert read_words(asked_levels.words()) == asked_levels
    with pytest.raises(UserError, match="levels of logs"):
        read_words([("remote", "loud")])


def test_lines_of_others_make_no_loggers_and_are_one_line(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(logging.getLogger("dumbbell"), "level", logging.INFO)
    before = set(logging.getLogger().manager.loggerDict)
    other_loggers = ForeignLog("there")
    other_loggers.take("12:00:00.000 info  stranger.a: red \x1b[31m\n  more of it")
    other_loggers.take("12:00:00.000 debug stranger.b: not wanted\n  nor this")
    other_loggers.take("what is no record")
    assert [record.getMessage() for record in caplog.records] == ["[there] red \x1b[31m", "more of it"]
    assert set(logging.getLogger().manager.loggerDict) == before
    assert levels() == Levels(((("dumbbell"), logging.INFO),))


def test_the_log_tells_of_a_worker_that_was_killed(folder: Path) -> None:
    words = ["-v", *replace_options(RUN, "--duration", 100000), "--out", "out"]
    lines_logged = []
    with subprocess.Popen(
        [*COMMAND, *words], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr is not None
        for line in process.stderr:
            lines_logged.append(line)
            match = re.search(r"begins backend=sim .* pid=(\d+)", line)
            if match:
                os.kill(int(match[1]), signal.SIGKILL)
    assert process.returncode == 1
    log = log_of(folder / "out")
    assert re.search(r" begins backend=sim .* pid=\d+", log)
    assert log.splitlines()[-1].endswith("error execution.worker: failed: its process died (signal 9)")
    lines = [
        line for line in lines_logged if "its process died (signal 9) (log: out/runs/small/reno/1/log.txt)" in line
    ]
    assert len(lines) == 2, lines_logged


LAZY = """
class Lazy:
    def __init__(self, start): self.acks = 0
    def on_ack(self, ack):
        self.acks += 1
        if self.acks == 20: self.learn()
    def learn(self):
        import no_such_library
    def control(self): return 15000.0
"""


def test_the_log_tells_of_a_library_that_a_plug_in_misses(dumbbell: Dumbbell, folder: Path) -> None:
    (folder / "lazy.py").write_text(LAZY)
    result = dumbbell(*replace_options(RUN, "--schemes", "./lazy.py"), "--out", "out", expect=1)
    assert result.stderr.count("(log: out/runs/small/lazy/1/log.txt)") == 2
    log = log_of(folder / "out")
    assert f"plug-ins=lazy ({folder}/lazy.py)" in log
    assert f"info  plugin: class loaded file={folder}/lazy.py class=Lazy" in log
    assert f'error plugin: Traceback (most recent call last):\n    File "{folder}/lazy.py", line 6, in on_ack' in log
    assert f'File "{folder}/lazy.py", line 8, in learn' in log
    assert "error execution.worker: failed: scheme lazy (" in log.splitlines()[-1]
    assert "No module named 'no_such_library'" in log.splitlines()[-1]


def test_the_log_tells_of_a_plug_in_that_aborts(dumbbell_afresh: Dumbbell, folder: Path) -> None:
    (folder / "abrupt.py").write_text(
        LAZY.replace("Lazy", "Abrupt").replace("import no_such_library", "import os; os.abort()")
    )
    dumbbell_afresh(*replace_options(RUN, "--schemes", "./abrupt.py"), "--out", "out", expect=1)
    log = log_of(folder / "out")
    assert "info  plugin: class loaded" in log
    assert f'plug-in:   File "{folder}/abrupt.py", line 8 in learn' in log
    assert "failed: scheme abrupt (" in log.splitlines()[-1]
    assert "crashed (SIGABRT" in log.splitlines()[-1]


def test_the_log_tells_of_a_mistake_of_ours_where_it_is(dumbbell: Dumbbell, folder: Path) -> None:
    broken_program = (
        "import dumbbell.backends.sim as sim\n"
        "def run_one(*_): raise LookupError('a mistake') from OSError('its cause')\n"
        "sim.Simulator.run_one = run_one\n"
        "from dumbbell.execution import worker\n"
        "from pathlib import Path\n"
        "from dumbbell.backends import find_executor\n"
        "from dumbbell.catalog.experiment_settings import Settings\n"
        "out = Path('out').resolve()\n"
        "out.mkdir()\n"
        "places = (out, out / 'run', out / 'runs/a/b/1')\n"
        "specification = {'path': {'data': [], 'ack': []}}\n"
        "executor = find_executor(Settings())\n"
        "task = worker.Task(0, 'label', executor, {'run': 1}, specification, (), *places)\n"
        "print(worker.execute(task)['reason'])\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", broken_program], cwd=folder, capture_output=True, text=True, timeout=TIMEOUT_S
    )
    assert result.stdout == "a mistake\n", result.stderr
    log = log_of(folder / "out")
    assert "OSError: its cause" in log
    assert "  LookupError: a mistake" in log.splitlines()
    assert ", in run_one" in log


def test_processes_that_make_the_folder_of_logs_at_once_do_not_fail(tmp_path: Path) -> None:
    """Another process has just made the folder."""
    specification = package.specification("reno", "default", duration=0.1, log="none")
    (tmp_path / "out").mkdir()
    places = (tmp_path / "out", tmp_path / "out/runs/.unfinished/1", tmp_path / "out/runs/p/reno/1")
    task = worker.Task(0, "a run", find_executor(Settings()), {"run": 1}, specification, (), *places)
    task.log.parent.mkdir(parents=True)
    assert not worker.make(task).is_failure
