"""Tests of foreign results: reading them executes nothing, and continuing or repeating them asks first."""

import contextlib
import hashlib
import importlib.util
import os
import pty
import py_compile
import select
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

import dumbbell as library
from dumbbell import catalog
from dumbbell.base.backend import EMULATION
from dumbbell.base.errors import UserError
from dumbbell.base.input_files import digest
from dumbbell.catalog.experiment_file import ExperimentFile
from dumbbell.catalog.toml_tables import to_toml
from dumbbell.execution.trust import Untrusted, require_trust
from dumbbell.experiment import resolve
from dumbbell.plugins.isolated import describe
from support.commands.command import COMMAND, Dumbbell, show
from support.commands.forks import Forks
from support.commands.in_process import run_in_process
from support.shared import made_once, shared_folder
from support.waiting import TIMEOUT_S

EVIL = """
from dumbbell.plugins import Control

open({mark!r}, "w").close()


class Evil:
    def __init__(self, start):
        pass

    def on_ack(self, ack):
        pass

    def on_loss(self, loss):
        pass

    def control(self):
        return Control(20000.0)
"""


@pytest.fixture
def dumbbell(dumbbell_here: Dumbbell) -> Dumbbell:
    """Return a function that runs the command in `folder`; tests change the place of the agreements."""
    return dumbbell_here


THEIR_RUN = ("run", "--plugin", "evil.py", "--path", "small.toml", "--duration", "1", "--out", "out")


@pytest.fixture
def evil(folder: Path) -> Path:
    """Write a file with a Python class, which leaves `executed` beside itself when it is loaded."""
    file = folder / "evil.py"
    file.write_text(EVIL.replace("{mark!r}", '__file__.replace("evil.py", "executed")'))
    return file


@pytest.fixture
def stranger(
    forks: Forks, evil: Path, folder: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Path:
    """Return foreign results whose experiment has this class, and none of its runs.

    They are made once per session, elsewhere: the experiment then names the class as if it had been made here.
    """

    def make(place: Path) -> None:
        for file in (evil, folder / "small.toml"):
            shutil.copy(file, place)
        state = {"XDG_STATE_HOME": str(place / "their-state")}
        result = forks.run([*THEIR_RUN], place, TIMEOUT_S, environment=os.environ | state)
        assert result.returncode == 0, result.stderr
        assert (place / "executed").exists()
        shutil.rmtree(place / "out/runs")
        experiment = place / "out/experiment.toml"
        text = experiment.read_text()
        assert str(place) in text
        experiment.write_text(text.replace(str(place), "THERE"))

    place = made_once(shared_folder(tmp_path_factory, "stranger") / "made", make)
    shutil.copytree(place / "out", folder / "out")
    experiment = folder / "out/experiment.toml"
    experiment.write_text(experiment.read_text().replace("THERE", str(folder)))
    monkeypatch.setenv("XDG_STATE_HOME", str(folder / "my-state"))
    return folder / "out"


def agree(folder: Path, *words: object) -> None:
    """Agree to the code of a command, without making its runs: the code is loaded, and its digest is stored."""
    result = run_in_process(["run", *map(str, words), "--dry-run", "--trust"], folder)
    assert result.returncode == 0, result.stderr


def test_continuing_and_repeating_is_refused_without_a_terminal(
    dumbbell: Dumbbell, stranger: Path, folder: Path
) -> None:
    for words in (("--resume", "--out", "out"), ("out/experiment.toml", "--out", "again")):
        result = dumbbell("run", *words, expect=2)
        (line,) = result.stderr.splitlines()
        assert "out/experiment.toml: would execute on this machine what you have not run before: scheme `" in line
        assert str(folder / "evil.py") in line
        assert line.endswith(": --trust runs it")
    assert not (folder / "executed").exists()
    assert not (folder / "again").exists()
    assert not list(stranger.rglob("stats.json"))


def test_a_dry_run_of_somebody_elses_results_executes_nothing(dumbbell: Dumbbell, stranger: Path, folder: Path) -> None:
    for words in (("--resume", "--out", "out"), ("out/experiment.toml",)):
        result = dumbbell("run", *words, "--dry-run", expect=2)
        assert "out/experiment.toml: would execute on this machine what you have not run before" in result.stderr
    assert not (folder / "executed").exists()
    agree(folder, "out/experiment.toml")
    assert (folder / "executed").exists()


def test_results_that_name_files_execute_nothing(dumbbell: Dumbbell, stranger: Path, folder: Path) -> None:
    experiment = stranger / "experiment.toml"
    text = experiment.read_text()
    (name,) = library.open(stranger).experiment.schemes
    experiment.write_text(text.replace(f'"{name}"', f'"{folder}/evil.py"', 1))
    line = dumbbell("run", "out/experiment.toml", "--out", "again", expect=2).stderr
    assert "what you have not run before: plug-in" in line
    assert "evil.py: --trust runs it" in line
    (folder / "evil.toml").write_text(
        'kind = "program"\n[program]\nsender = ["touch", "executed"]\nreceiver = ["true"]\n'
    )
    experiment.write_text(text.replace(f'"{name}"', f'"{folder}/evil.toml"', 1))
    line = dumbbell("run", "out/experiment.toml", "--backend", "emu", "--out", "again", expect=2).stderr
    assert "would execute on this machine what you have not run before: scheme `evil`" in line
    line = dumbbell("benchmark", "--schemes", "reno", "--experiment", "out/experiment.toml", expect=2).stderr
    assert "has no [benchmark] table" in line
    assert not (folder / "executed").exists()


PROGRAM = """
name = "theirs"
schemes = ["evil"]
paths = ["small.toml"]
duration_s = 1.0
backend = "emu"

[scheme.evil]
kind = "program"
[scheme.evil.program]
sender = ["touch", "executed"]
receiver = ["true"]
"""

CLASS = """
name = "theirs"
schemes = ["evil"]
paths = ["small.toml"]
duration_s = 1.0

[scheme.evil]
kind = "python"
controller = "Evil"
code = {code!r}

[benchmark]
group = "simple"
"""


@pytest.mark.parametrize("experiment", [PROGRAM, CLASS], ids=["program", "class"])
@pytest.mark.parametrize("way", ["resume", "dry", "named", "link", "linked-directory", "benchmark", "library"])
def test_a_directory_with_only_an_experiment_executes_nothing(
    dumbbell: Dumbbell, folder: Path, monkeypatch: pytest.MonkeyPatch, experiment: str, way: str
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(folder / "my-state"))
    (folder / "evil.py").write_text(EVIL.format(mark=str(folder / "executed")))
    their_folder = folder / "theirs"
    their_folder.mkdir()
    (their_folder / "experiment.toml").write_text(experiment.replace("{code!r}", f'"{folder}/evil.py"'))
    (their_folder / "small.toml").write_text((folder / "small.toml").read_text())
    (folder / "link.toml").symlink_to(their_folder / "experiment.toml")
    (folder / "beside").symlink_to(their_folder, target_is_directory=True)
    ways = {
        "resume": ("run", "--resume", "--out", "theirs"),
        "dry": ("run", "theirs/experiment.toml", "--dry-run"),
        "named": ("run", "theirs/experiment.toml", "--schemes", "evil", "--out", "again"),
        "link": ("run", "link.toml", "--out", "again"),
        "linked-directory": ("run", "--resume", "--out", "beside"),
        "benchmark": ("benchmark", "--schemes", "reno", "--experiment", "theirs/experiment.toml", "--out", "again"),
    }
    if way == "library":
        with pytest.raises(library.Error):
            library.run(their_folder / "experiment.toml", out=folder / "again")
    else:
        line = dumbbell(*ways[way], expect=2).stderr
        assert len(line.splitlines()) == 1
    assert not (folder / "executed").exists()
    assert not (folder / "again").exists()
    assert {entry.name for entry in their_folder.iterdir()} == {"experiment.toml", "small.toml"}


def test_an_experiment_file_of_ones_own_asks_once_for_each_content(
    dumbbell: Dumbbell, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(folder / "my-state"))
    (folder / "mine.py").write_text(EVIL.format(mark=str(folder / "executed")))
    (folder / "mine.toml").write_text(
        'name = "mine"\nschemes = ["mine.py"]\npaths = ["small.toml"]\nduration_s = 1.0\n'
    )
    line = dumbbell("run", "mine.toml", "--out", "first", expect=2).stderr
    assert f"plug-in {folder}/mine.py: --trust runs it" in line
    dumbbell("run", "mine.toml", "--out", "first", "--trust")
    dumbbell("run", "mine.toml", "--out", "second")
    (folder / "mine.py").write_text((folder / "mine.py").read_text() + "# changed\n")
    dumbbell("run", "mine.toml", "--out", "third", expect=2)
    dumbbell("run", "mine.toml", "--schemes", "mine.py", "--out", "third")  # typed, so meant


def test_a_plug_in_beside_a_schemes_file_is_asked_about_with_it(
    dumbbell: Dumbbell, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The message was that a file had changed, which had not.
    monkeypatch.setenv("XDG_STATE_HOME", str(folder / "my-state"))
    for name in ("mine.py", "other.py"):
        (folder / name).write_text(EVIL.format(mark=str(folder / "executed")))
    (folder / "other.toml").write_text('kind = "python"\nfile = "other.py"\nclass = "Evil"\n')
    schemes = f'["{folder}/mine.py", "{folder}/other.toml"]'
    (folder / "mine.toml").write_text(f'name = "mine"\nschemes = {schemes}\npaths = ["small.toml"]\nduration_s = 1.0\n')
    line = dumbbell("run", "mine.toml", "--out", "out", expect=2).stderr
    assert f"plug-in {folder}/mine.py" in line
    assert f"{folder}/other.py" in line
    assert "--trust runs" in line


GOOD = EVIL.replace("open({mark!r}", "open({mark!r} + '-good'")


@pytest.mark.parametrize("way", ["name", "scheme"])
@pytest.mark.parametrize("looks", range(1, 5))
def test_a_plug_in_that_is_exchanged_after_any_look_at_it_is_not_loaded(
    folder: Path, monkeypatch: pytest.MonkeyPatch, way: str, looks: int
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(folder / "my-state"))
    monkeypatch.chdir(folder)
    own_plugin, mark = folder / "mine.py", str(folder / "executed")
    own_plugin.write_text(GOOD.format(mark=mark))
    scheme_lines = {"name": '"mine.py"', "scheme": '"a"\n'}[way]
    text = f'schemes = [{scheme_lines}]\npaths = ["small.toml"]\nduration_s = 1.0\nruns = 1\nwarmup_s = 0.0\n'
    scheme_table = '[scheme.a]\nkind = "python"\nclass = "Evil"\nfile = "mine.py"\n'
    (folder / "mine.toml").write_text(text + scheme_table * (way == "scheme"))
    library.run(folder / "mine.toml", out=folder / "first", trust=True)
    assert Path(f"{mark}-good").exists()
    look_count = 0

    def exchange(file: Path, kind: object = None) -> str:
        nonlocal look_count
        digest_found = digest(file, kind)  # type: ignore[arg-type]
        if file.name == "mine.py" and (look_count := look_count + 1) == looks:
            own_plugin.write_text(EVIL.format(mark=mark))
        return digest_found

    for module in ("dumbbell.catalog.outside.plugin_schemes", "dumbbell.experiment.pin"):
        monkeypatch.setattr(sys.modules[module], "digest", exchange)
    with contextlib.suppress(library.Error):  # where nobody looks so often, it runs
        runs = library.run(folder / "mine.toml", out=folder / "again").runs
        assert look_count < looks or "has changed: its SHA-256 is" in runs[0].reason
    assert look_count
    assert not Path(mark).exists()


def test_only_the_code_that_was_digested_is_loaded(folder: Path) -> None:
    own_plugin, mark = folder / "mine.py", folder / "executed"
    own_plugin.write_text(EVIL.format(mark=str(mark)))
    with pytest.raises(
        UserError, match=r"mine.py: has changed: its SHA-256 is \w{64}, that of the code to load is ab$"
    ):
        describe(str(own_plugin), "ab")
    assert not mark.exists()


def test_compiled_code_beside_a_class_is_not_executed(folder: Path) -> None:
    own_plugin, mark = folder / "mine.py", folder / "executed"
    own_plugin.write_text(EVIL.format(mark=str(mark)))
    compiled_file = Path(importlib.util.cache_from_source(str(own_plugin)))
    py_compile.compile(str(own_plugin), str(compiled_file))
    compiled_at = own_plugin.stat()
    own_plugin.write_text(GOOD.format(mark=str(mark)))
    content = compiled_file.read_bytes()  # with the source's time and size in its bytes 8 to 15
    compiled_file.write_bytes(content[:12] + own_plugin.stat().st_size.to_bytes(4, "little") + content[16:])
    os.utime(own_plugin, ns=(compiled_at.st_atime_ns, compiled_at.st_mtime_ns))
    assert [item["name"] for item in describe(str(own_plugin), digest(own_plugin))] == ["Evil"]
    assert Path(f"{mark}-good").exists()
    assert not mark.exists()


def test_trust_runs_it_and_is_remembered(dumbbell: Dumbbell, stranger: Path, folder: Path) -> None:
    dumbbell("run", "--resume", "--out", "out", "--trust")
    assert (folder / "executed").exists()
    assert [run["status"] for run in show(dumbbell, "out")["runs"]] == ["done"]
    shutil.rmtree(stranger / "runs")
    dumbbell("run", "--resume", "--out", "out")
    # Another content is another program, which these results do not have.
    (folder / "evil.py").write_text((folder / "evil.py").read_text() + "\n# and more\n")
    assert "evil.py has changed: its SHA-256 is not" in dumbbell("run", "--resume", "--out", "out", expect=2).stderr
    assert (folder / "my-state/dumbbell/trusted").stat().st_mode & 0o777 == 0o600


def test_what_a_user_has_run_is_continued_without_a_question(
    dumbbell: Dumbbell, evil: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert evil.exists()
    monkeypatch.setenv("XDG_STATE_HOME", str(folder / "my-state"))
    dumbbell(*THEIR_RUN)
    (folder / "executed").unlink()
    shutil.rmtree(folder / "out/runs")
    dumbbell("run", "--resume", "--out", "out")
    assert (folder / "executed").exists()


def test_to_read_results_loads_nothing_that_they_name(dumbbell: Dumbbell, stranger: Path, folder: Path) -> None:
    dumbbell("show", "out", expect=1)
    dumbbell("report", "out", "--html")
    experiment = stranger / "experiment.toml"
    text = experiment.read_text()
    (name,) = library.open(stranger).experiment.schemes
    experiment.write_text(text.replace(f'"{name}"', f'"{folder}/evil.py"', 1))
    for words in (
        ("show", "out"),
        ("report", "out"),
        ("diff", "out", "out"),
        ("verify", "out"),
        ("size", "out"),
        ("check", "out", "--against", "out"),
        ("export", "pantheon", "out", "--out", "p"),
        ("serve", "out"),
        ("site", "out", "--out", "web"),
    ):
        line = dumbbell(*words, expect=2).stderr
        assert "out/experiment.toml: `" in line, words
        assert "results bring all that they name" in line, words
    experiment.write_text(text.replace('paths = [\n    "small",', 'paths = [\n    "small.toml",'))
    assert "there is no `path.small.toml`" in dumbbell("show", "out", expect=2).stderr
    assert not (folder / "executed").exists()


def _ask(folder: Path, answer: str, *words: str, meanwhile: Callable[[], object] | None = None) -> tuple[int, str]:
    """Run --resume, or `words`, at a terminal, and type the answer to its first question.

    Return the exit status, or -1 if another question came, and all that was shown. `meanwhile` happens while it waits.
    """
    own_end, other_end = pty.openpty()
    words = words or ("--resume", "--out", "out")
    process = subprocess.Popen(
        [*COMMAND, "run", *words], cwd=folder, stdin=other_end, stdout=other_end, stderr=other_end
    )
    os.close(other_end)
    shown_text, has_answered = "", False
    while select.select([own_end], [], [], TIMEOUT_S)[0]:
        try:
            more = os.read(own_end, 65536)
        except OSError:  # nobody is at the other end any more
            break
        shown_text += more.decode()
        if shown_text.count("[y/N] ") == 1 and not has_answered:
            if meanwhile:
                meanwhile()
            has_answered = bool(os.write(own_end, answer.encode()))
        elif shown_text.count("[y/N] ") > 1:
            process.kill()
            process.wait()
            os.close(own_end)
            return -1, shown_text
    os.close(own_end)
    status = process.wait()
    assert has_answered, shown_text
    return status, shown_text


def test_whoever_sits_at_a_terminal_is_asked(stranger: Path, folder: Path) -> None:
    status, shown_text = _ask(folder, "\n")
    assert status == 2
    assert f": {folder}/evil.py" in shown_text
    assert not (folder / "executed").exists()
    status, shown_text = _ask(folder, "y\n")
    assert status == 0, shown_text
    assert (folder / "executed").exists()


PROGRAM = """
schemes = ["a"]
paths = ["default"]
backend = "emu"
duration_s = 1.0
runs = 1
[[flow]]
FLOW
[scheme.a]
kind = "program"
[scheme.a.parameters]
script = "/their/script"
[scheme.a.program]
sender = SENDER
receiver = ["true"]
requires = []
environment = ENVIRONMENT
"""


def _program(sender: str, flow: str = "", environment: str = "{}") -> str:
    return PROGRAM.replace("SENDER", sender).replace("FLOW", flow).replace("ENVIRONMENT", environment)


def test_who_agrees_to_one_piece_of_code_has_been_shown_all_of_it(
    stranger: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert stranger.exists()
    monkeypatch.chdir(folder)
    (folder / "both.toml").write_text(_program('["touch", "executed"]', 'scheme = "./evil.py"\n[[flow]]'))
    status, shown_text = _ask(folder, "n\n", "both.toml", "--out", "again")
    assert status == 2
    question = shown_text.partition("[y/N]")[0]
    assert f"plug-in {folder}/evil.py" in question
    assert "`touch executed` and `true`" in question
    with pytest.raises(Untrusted, match=r"plug-in .*evil.py.*touch executed"):
        library.run("both.toml", out=folder / "again")
    assert not (folder / "executed").exists()


def test_agreement_is_to_what_was_shown_not_to_what_the_file_says_by_then(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(folder / "my-state"))
    file = folder / "swapped.toml"
    file.write_text(_program('["true"]'))
    status, shown_text = _ask(
        folder,
        "y\n",
        "swapped.toml",
        "--out",
        "again",
        meanwhile=lambda: file.write_text(_program('["touch", "executed"]')),
    )
    assert status == -1, shown_text
    assert "`touch executed`" in shown_text
    assert not (folder / "again").exists()


def test_what_is_agreed_to_is_shown_with_variables_and_parameters_and_cannot_hide(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(folder / "my-state"))
    sender = r'["run", "{script}", "\u001b[2K\u001b[1A\u202e", "' + "x" * 1000 + '${{IFS}}evil"]'
    (folder / "hidden.toml").write_text(_program(sender, environment='{ LD_PRELOAD = "/their/evil.so" }'))
    status, shown_text = _ask(folder, "n\n", "hidden.toml", "--out", "again")
    assert status == 2
    question = shown_text.partition("[y/N]")[0]
    assert "\x1b" not in question
    assert "\u202e" not in question
    assert "/their/script" in question
    assert "${IFS}evil" in question
    assert "LD_PRELOAD=/their/evil.so" in question


def test_agreement_holds_where_no_record_can_be_kept(stranger: Path, folder: Path) -> None:
    (folder / "my-state").write_text("")
    assert stranger.exists()
    status, shown_text = _ask(folder, "y\n")
    assert status == 0, shown_text
    assert (folder / "executed").exists()


def test_programs_are_named_with_their_words(dumbbell: Dumbbell, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(folder / "my-state"))
    (folder / "out/runs").mkdir(parents=True)
    program = 'sender = ["sh", "-c", "touch executed"]\nreceiver = ["true"]\n'
    (folder / "out/experiment.toml").write_text(
        'schemes = ["iperf3"]\npaths = ["p"]\nbackend = "emu"\n[scheme.iperf3]\nkind = "program"\n'
        f"[scheme.iperf3.program]\n{program}"
        + (folder / "small.toml").read_text().replace("[[", "[[path.p.").replace("title", "#")
    )
    line = dumbbell("run", "out/experiment.toml", "--out", "again", expect=2).stderr
    assert "scheme `iperf3`, a real program: `sh -c 'touch executed'` and `true`: --trust runs it" in line
    assert not (folder / "executed").exists()


def test_the_question_names_parameters_and_variables(
    dumbbell: Dumbbell, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(folder / "my-state"))
    (folder / "theirs.toml").write_text(
        'schemes = ["mine"]\npaths = ["p"]\nbackend = "emu"\n[scheme.mine]\nkind = "program"\n'
        '[scheme.mine.parameters]\nscript = "touch {executed}"\n'
        '[scheme.mine.program]\nsender = ["sh", "-c", "{script}"]\nreceiver = ["true", "{port}"]\n'
        'environment = { LD_PRELOAD = "./evil.so" }\n'
        + (folder / "small.toml").read_text().replace("[[", "[[path.p.").replace("title", "#")
    )
    line = dumbbell("run", "theirs.toml", "--out", "again", expect=2).stderr
    assert "`sh -c 'touch {executed}'` and `true '{port}'` with `LD_PRELOAD=./evil.so`: --trust runs it" in line


@pytest.mark.parametrize("obstacle", ["pipe", "device", "large"])
def test_a_record_that_cannot_be_read_is_no_record(
    dumbbell: Dumbbell, stranger: Path, folder: Path, monkeypatch: pytest.MonkeyPatch, obstacle: str
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(folder / "my-state"))
    record = folder / "my-state/dumbbell/trusted"
    record.parent.mkdir(parents=True)
    if obstacle == "pipe":
        os.mkfifo(record)  # who opens it waits for ever
    elif obstacle == "device":
        record.symlink_to("/dev/zero")
    else:
        record.touch()
        os.truncate(record, 3 << 30)
    result = dumbbell("run", "--resume", "--out", str(stranger), expect=2)
    assert "what you have not run before" in result.stderr
    agree(folder, "--resume", "--out", stranger)


def test_listed_programs_are_no_question(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    plan = ExperimentFile(name="kept", schemes=["iperf3"], paths=["default"], backend=EMULATION)
    experiment = resolve(plan)
    (tmp_path / "runs").mkdir()
    kept_file = replace(
        ExperimentFile.from_toml(to_toml(experiment.table())), file=str(tmp_path / "experiment.toml"), is_resolved=True
    )
    require_trust(kept_file, resolve(kept_file), False)
    scheme = kept_file.own_schemes["iperf3"]
    assert scheme.program == catalog.schemes().find("iperf3").program
    other = replace(scheme, parameters=scheme.parameters | {"congestion": "cubic; touch x"})
    changed_file = replace(kept_file, own_schemes={"iperf3": other})
    with pytest.raises(Untrusted):
        require_trust(changed_file, resolve(changed_file), False)


MARKING = """
import os, sys

with open({mark!r}, "a") as file:
    print(__name__, sys.argv, file=file)
raise ImportError("somebody else's module")
"""


def lay_about(folder: Path, names: tuple[str, ...]) -> Path:
    """Put modules of these names into `folder`; each leaves a line in the returned file."""
    mark = folder / "imported"
    for name in names:
        (folder / f"{name}.py").write_text(MARKING.format(mark=str(mark)))
    return mark


MODULES = ("multiprocessing", "json", "numpy", "struct", "selectors", "dumbbell", "matplotlib", "tempfile", "pickle")


def test_modules_that_lie_in_the_working_directory_are_not_imported(folder: Path) -> None:
    (folder / "mine").mkdir()
    (folder / "mine/mine.py").write_text(EVIL.format(mark=str(folder / "loaded")))
    mark = lay_about(folder, MODULES)
    command = [str(Path(sys.executable).with_name("dumbbell"))]  # `python -m` itself looks into the working directory
    for words in (
        ("run", "--schemes", "reno,cubic", "--path", "small.toml", "--duration", "1", "--jobs", "2", "--out", "out"),
        ("run", "--plugin", "mine/mine.py", "--path", "small.toml", "--duration", "1", "--out", "other"),
        ("report", "--html", "out"),
        ("list", "schemes", "--plugin", "mine/mine.py"),
    ):
        result = subprocess.run([*command, *words], cwd=folder, capture_output=True, text=True, check=False)
        assert not mark.exists(), (words, mark.read_text())
        assert result.returncode == 0, (words, result.stderr)
    assert (folder / "loaded").exists()


def test_what_a_run_starts_looks_for_modules_as_it_always_does(folder: Path) -> None:
    (folder / "mine.py").write_text(
        EVIL.format(mark=str(folder / "loaded"))
        + f"import os\nprint(os.environ, file=open({str(folder / 'saw')!r}, 'w'))\n"
    )
    words = ("run", "--plugin", "mine.py", "--path", "small.toml", "--duration", "1", "--out", "out")
    result = subprocess.run([*COMMAND, *words], cwd=folder, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    assert "PYTHONSAFEPATH" not in (folder / "saw").read_text()


def test_settings_of_matplotlib_that_lie_in_the_working_directory_are_not_read(
    dumbbell: Dumbbell, folder: Path
) -> None:
    dumbbell("run", "--schemes", "reno", "--path", "small.toml", "--duration", "1", "--out", "out")
    figure = ("figure", "out", "means", "--out", "f.svg")
    dumbbell(*figure)
    content = (folder / "f.svg").read_bytes()
    (folder / "matplotlibrc").write_text("text.usetex: True\naxes.facecolor: red\nbackend: module://evil\n")
    subprocess.run([*COMMAND, *figure], cwd=folder, check=True, timeout=TIMEOUT_S)
    assert (folder / "f.svg").read_bytes() == content
    (folder / "matplotlibrc").unlink()
    os.mkfifo(folder / "matplotlibrc")  # to read it takes for ever
    subprocess.run([*COMMAND, "report", "--html", "out"], cwd=folder, check=True, timeout=TIMEOUT_S)


def test_figures_of_the_library_do_not_follow_the_settings_of_its_program(dumbbell: Dumbbell, folder: Path) -> None:
    program = (
        "import sys, matplotlib\n"
        "matplotlib.rcParams['text.usetex'] = matplotlib.rcParams['axes.grid'] = sys.argv[1] == 'other'\n"
        "import dumbbell\n"
        "results = dumbbell.open('out')\n"
        "results.figure('means').save(sys.argv[1] + '.svg')\n"
        "assert matplotlib.rcParams['text.usetex'] == (sys.argv[1] == 'other')\n"
    )
    (folder / "program.py").write_text(program)
    dumbbell("run", "--schemes", "reno", "--path", "small.toml", "--duration", "1", "--out", "out")
    for name in ("own", "other"):
        subprocess.run([sys.executable, "program.py", name], cwd=folder, check=True)
    assert (folder / "own.svg").read_bytes() == (folder / "other.svg").read_bytes()


@pytest.fixture
def their_results(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Write a foreign experiment that names a scheme file beside it, which leaves `executed` when it is loaded."""
    monkeypatch.setenv("XDG_STATE_HOME", str(folder / "my-state"))
    (folder / "evil.py").write_text(EVIL.format(mark=str(folder / "executed")))
    (folder / "scheme.toml").write_text('name = "mine"\nkind = "python"\nclass = "Evil"\nfile = "evil.py"\n')
    experiment = folder / "theirs.toml"
    experiment.write_text('schemes = ["scheme.toml"]\npaths = ["small.toml"]\nduration_s = 1.0\nwarmup_s = 0.0\n')
    return experiment


@pytest.mark.parametrize("more", [[], ["--set", "mine.transport.ack_every=1"], ["--set", "duration_s=2", "--dry-run"]])
def test_an_option_that_changes_a_scheme_does_not_make_it_ones_own(
    dumbbell: Dumbbell, their_results: Path, folder: Path, more: list[str]
) -> None:
    line = dumbbell("run", their_results, *more, "--out", "again", expect=2).stderr
    assert "what you have not run before: scheme `mine`, a controller in Python" in line
    assert not (folder / "executed").exists()


def test_what_is_asked_for_its_version_is_named(
    dumbbell: Dumbbell, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(folder / "my-state"))
    (folder / "theirs.toml").write_text(
        'schemes = ["mine"]\npaths = ["p"]\nbackend = "emu"\n[scheme.mine]\nkind = "program"\n'
        '[scheme.mine.program]\nsender = ["true"]\nreceiver = ["true"]\nrequires = ["true", "./helper"]\n'
        + (folder / "small.toml").read_text().replace("[[", "[[path.p.").replace("title", "#")
    )
    line = dumbbell("run", "theirs.toml", "--out", "again", expect=2).stderr
    assert "`true` and `true`, `./helper --version`: --trust runs it" in line


def test_a_target_of_calibration_loads_no_plug_in(dumbbell: Dumbbell, their_results: Path, folder: Path) -> None:
    published_row = "throughput_mbps = 5.0\ndelay_p95_ms = 50.0\n"
    evil = (str(folder / "evil.py"), f"{folder / 'evil.py'}:Evil", "evil.dylib", "a=evil.py")
    their_results.write_text(
        'name = "pub"\nschemes = ["reno", "cubic"]\npaths = ["small.toml"]\nduration_s = 1.0\nwarmup_s = 0.0\n'
        f'published_source = "x"\n[[flow]]\n[[flow]]\nscheme = "{folder / "evil.py"}"\n'
        + "".join(f'[[published]]\nscheme = "{scheme}"\n{published_row}' for scheme in ("reno", "cubic", *evil))
    )
    words = ("--out", "p.toml", "--evaluations", "3", "--folds", "0")
    dumbbell("calibrate", their_results, *words, expect=None)
    assert not (folder / "executed").exists()


def test_agreement_to_a_plug_in_that_was_not_there_is_none(
    dumbbell: Dumbbell, their_results: Path, folder: Path
) -> None:
    content = (folder / "evil.py").read_bytes()
    (folder / "evil.py").unlink()
    errors = dumbbell("run", their_results, "--trust", "--out", "again", expect=2).stderr
    assert "evil.py" in errors
    assert not (folder / "my-state/dumbbell/trusted").exists()
    (folder / "evil.py").write_bytes(content)
    dumbbell("run", their_results, "--out", "again", expect=2)
    assert not (folder / "executed").exists()


@pytest.mark.parametrize("weakness", ["link", "writable"])
def test_a_record_that_somebody_else_may_write_is_no_record(
    dumbbell: Dumbbell, their_results: Path, folder: Path, weakness: str
) -> None:
    agree(folder, their_results, "--out", "first")
    (folder / "executed").unlink()
    record = folder / "my-state/dumbbell/trusted"
    assert "\n" in record.read_text()
    if weakness == "link":
        record.rename(folder / "elsewhere")
        record.symlink_to(folder / "elsewhere")
    else:
        record.chmod(0o666)
    dumbbell("run", their_results, "--out", "again", expect=2)
    assert not (folder / "executed").exists()


def test_a_specification_of_somebody_elses_run_is_not_simulated(
    stranger: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(folder / "my-state"))
    (folder / "executed").unlink(missing_ok=True)
    run = library.open(stranger).runs[0]
    with pytest.raises(Untrusted, match=r"the specification: would execute .*evil\.py"):
        library.simulate(run.specification)
    with pytest.raises(Untrusted):
        library.simulate(dict(run.specification) | {"flows": tuple(run.specification["flows"])})
    assert not (folder / "executed").exists()
    library.simulate(run.specification, trust=True)
    assert (folder / "executed").exists()


def test_a_machine_that_a_file_names_is_asked_about(
    forks: Forks, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(folder), prepend=os.pathsep)
    monkeypatch.setenv("XDG_STATE_HOME", str(folder / "my-state"))
    (folder / "ssh").write_text(f"#!/bin/sh\ntouch {folder}/executed\nexit 1\n")
    (folder / "ssh").chmod(0o755)
    plan = 'schemes = ["cubic"]\npaths = ["remote"]\nbackend = "remote:lab.example"\nduration_s = 1\n'
    (folder / "theirs.toml").write_text(plan)

    def message_of(*more: str) -> str:
        words = ["run", "theirs.toml", "--out", "out", *more]
        run = forks.run(words, folder, TIMEOUT_S, environment=dict(os.environ))
        assert run.returncode == 2, run
        return run.stderr

    message = message_of()
    assert "not run before: `ssh lab.example`, to make runs with that machine: --trust runs it" in message
    assert not (folder / "executed").exists()
    assert "lab.example: " in message_of("--backend", "remote:lab.example")  # whoever says it means it
    assert (folder / "executed").exists()
    assert "--trust" not in message_of()


def test_a_grid_and_a_text_of_somebody_else_are_asked_about(
    their_results: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    gym = pytest.importorskip("dumbbell_gym")
    with pytest.raises(Untrusted):
        gym.CongestionEnv(grid=str(their_results), policy="indigo")
    text = their_results.read_text().replace('"scheme.toml"', f'"{folder / "evil.py"}"')
    with pytest.raises(Untrusted):
        library.run(library.ExperimentFile.from_toml(f'name = "x"\n{text}'), out=folder / "again")
    assert not (folder / "executed").exists()


def test_agreement_is_to_what_is_there_and_not_to_what_a_file_says(
    dumbbell: Dumbbell, their_results: Path, folder: Path
) -> None:
    text = (folder / "evil.py").read_text()
    forged_digest = hashlib.sha256(f"{text}# and more".encode()).hexdigest()
    scheme = folder / "scheme.toml"
    scheme.write_text(f'{scheme.read_text()}files = {{ "{folder / "evil.py"}" = "{forged_digest}" }}\n')
    errors = dumbbell("run", their_results, "--trust", "--out", "again", expect=2).stderr
    assert "has changed: its SHA-256 is not the one under `files`" in errors
    assert not (folder / "my-state/dumbbell/trusted").exists()
    (folder / "evil.py").write_text(f"{text}# and more")
    dumbbell("run", their_results, "--out", "again", expect=2)
    assert not (folder / "executed").exists()


def test_spaces_hide_nothing_from_who_is_asked(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(folder / "my-state"))
    (folder / "theirs.toml").write_text(_program('["touch", "executed #' + " " * 4000 + 'iperf3"]'))
    _, shown_text = _ask(folder, "n\n", "theirs.toml", "--out", "again")
    assert "executed #<4000 spaces>iperf3" in shown_text
    assert "Execute it? [y/N]" in shown_text
    assert not (folder / "executed").exists()


def test_what_does_not_stay_on_a_screen_is_not_asked_about(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(folder / "my-state"))
    (folder / "theirs.toml").write_text(_program('["sh", "-c", "touch executed; ' + "true; " * 400 + '"]'))
    with pytest.raises(AssertionError, match="--trust runs it"):  # no question came
        _ask(folder, "y\n", "theirs.toml", "--out", "again")
    assert not (folder / "executed").exists()
