"""Tests of backends: found by their name, asked for their capabilities, added by a description and one file."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from dumbbell import catalog
from dumbbell.backends import Executor, choose_jobs, find_executor
from dumbbell.base.backend import Backend, Capabilities, Wording, backend_forms, find_backend
from dumbbell.base.errors import UserError
from dumbbell.catalog.experiment_settings import Settings
from dumbbell.catalog.path import PathModel
from dumbbell.catalog.run_request import RunRequest
from dumbbell.execution import worker
from dumbbell.execution.check import check
from dumbbell.experiment import resolve
from dumbbell.present.model.words.wording import data_path, figure_title, path_sentence
from support.commands.played_backend import register


@pytest.fixture
def played_executor(tmp_path: Path) -> Iterator[Executor]:
    """Register a backend that consists of a description and one file."""
    backend = Backend("played:WHERE", Capabilities(real_packets=True, max_jobs=2), Wording("play", "Played"))
    with register(backend, tmp_path / "more"):
        yield find_executor(Settings(backend=find_backend("played:globe")))


def test_a_backend_is_a_description_and_one_file(played_executor: Executor, tmp_path: Path) -> None:
    plan = catalog.experiments().find("quick")
    experiment = resolve(plan, RunRequest(schemes=("reno",), settings={"backend": "played:globe", "duration_s": 2.0}))
    check(experiment)
    with pytest.raises(UserError, match="too long a play"):
        check(resolve(plan, RunRequest(schemes=("reno",), settings={"backend": "played:globe", "duration_s": 61.0})))
    run = experiment.all_runs()[0]
    final = tmp_path / "out" / "run"
    specification = experiment.specification(run)
    statistics = worker.execute(
        worker.Task(0, run.label, played_executor, {"run": 1}, specification, (), tmp_path, tmp_path / "run", final)
    )
    assert (statistics["status"], statistics["backend"]) == ("done", "played:globe")
    assert "played at globe" in (final / "log.txt").read_text()
    assert json.loads((final / "stats.json").read_text()) == {"run": 1} | statistics


def test_a_run_whose_statistics_are_none_has_failed_and_is_not_damaged(
    played_executor: Executor, tmp_path: Path
) -> None:
    empty_statistics = {"flows": [], "links": [], "network": {}}
    for answer, message in (
        (empty_statistics | {"events": 10**20}, "what came of it: `events` = 100000000000000000000: allowed is up to"),
        ({"flows": 7}, "what came of it: `flows`: allowed is a list: not the statistics of a run"),
    ):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(type(played_executor), "run_one", lambda *_, given_answer=answer: given_answer)
            places = tmp_path, tmp_path / "run", tmp_path / "out"
            task = worker.Task(0, "run", played_executor, {}, {"path": {"data": [], "ack": []}}, (), *places)
            statistics = worker.make(task).statistics
        assert statistics["status"] == "failed"
        assert statistics["reason"].startswith(message)


def test_its_wording_and_capabilities_reach_reports_and_refusals(played_executor: Executor) -> None:
    path = PathModel("p", "")
    assert path_sentence(path, played_executor.backend).startswith("Played: p: ")
    assert figure_title(played_executor.backend, "p", 1, 30.0, 1, 0.0, True).startswith("play of p\n")
    assert backend_forms(lambda can: can.real_packets) == ["emu", "played:WHERE", "remote:HOST"]
    assert choose_jobs(played_executor.backend, None, 8) == 2
    with pytest.raises(UserError, match="jobs 3: allowed with backend played:globe is 2"):
        choose_jobs(played_executor.backend, 3, 8)
    with pytest.raises(UserError, match="runs with backend emu, played:WHERE, remote:HOST only"):
        check(resolve(catalog.experiments().find("quick"), RunRequest(schemes=("kernel-cubic",))))


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("simm", "unknown backend `simm` (did you mean `sim`?): allowed are emu, remote:HOST, sim"),
        ("", "unknown backend ``: allowed are emu, remote:HOST, sim"),
        ("sim:here", "backend `sim:here`: allowed is sim"),
        ("remote", "backend `remote`: allowed is remote:HOST"),
        (
            "import",
            "backend `import` marks imported results, which cannot be run again: allowed are emu, remote:HOST, sim",
        ),
    ],
)
def test_refusals(text: str, line: str) -> None:
    with pytest.raises(UserError) as refusal:
        find_executor(Settings(backend=find_backend(text)))
    assert str(refusal.value) == line


def test_what_is_imported_is_known_but_not_executed() -> None:
    assert find_backend("import").full_name == "import"
    assert not find_backend("import").capabilities.executes
    assert path_sentence(PathModel("p", "A path"), find_backend("import")) == "Imported results: p, A path."
    assert not data_path(PathModel("p", "A path"), find_backend("import"))


def test_nothing_is_said_of_a_network_that_nobody_knows() -> None:
    path = PathModel("to-host", "this machine and host")
    assert (
        path_sentence(path, find_backend("remote:host")) == "Tested over the network: to-host, this machine and host."
    )
    assert not data_path(path, find_backend("remote:host"))


def test_who_executes_runs_begins_with_one_thread() -> None:
    """A process with several threads cannot make a user namespace, and numpy starts some when it is imported."""
    program = (
        "import sys, threading\nfrom pathlib import Path\nimport dumbbell.execution.worker\n"
        "from dumbbell.base.backend import EMULATION\nfrom dumbbell.backends import find_executor\n"
        "from dumbbell.catalog.experiment_settings import Settings\n"
        "find_executor(Settings(backend=EMULATION))\n"
        "assert 'numpy' not in sys.modules, 'numpy is imported'\n"
        "print(len(list(Path('/proc/self/task').iterdir())))"
    )
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert result.stdout == "1\n"
