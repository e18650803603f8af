"""Plug-ins that attack the process that runs them: the command ends soon, says what happened, and nothing is left."""

import os
import re
import signal
import subprocess
import sys
import threading
import uuid
from collections.abc import Callable, Iterator
from multiprocessing import Pipe
from pathlib import Path
from types import SimpleNamespace

import pytest
from test_plugins import compiled

import dumbbell as library
import dumbbell.execution.pool as pool_module
from dumbbell.base.inbox import TOKEN_BYTES, Garbled, Inbox
from support.clock import ManualClock
from support.commands.command import Dumbbell, show
from support.waiting import TIMEOUT_S, wait_for

HOSTILE = Path(__file__).with_name("hostile.py")
MARK = "DUMBBELL_ATTACK"
"""In the environment of an attack and of all that it starts."""

ATTACKS = {
    "stop": "its process was ended: it was stopped (SIGSTOP) and did not go on within 5 s; it ran hostile (",
    "stop-all": "its process was ended: it was stopped (SIGSTOP) and did not go on within 5 s; it ran hostile (",
    "garbage": "its process wrote to a descriptor that it does not own; it ran hostile (",
    "fork": "on_ack called fork and returned in the copy of the process",
    "forks": "processes: allowed are 64; it ran hostile (",
    "exec": "its process let go of its connection to dumbbell; it ran hostile (",
    "close": "its process died (exit status 1); it ran hostile (",
    "abort": "on_ack crashed (SIGABRT: it gave up with abort or a failed assertion)",
    "recurse": "on_ack crashed (SIGSEGV: it used memory that is not its own)",
    "leak": "on_ack raised OSError: Too many open files",
    "forge": "its process told: key `links` is missing: not the statistics of a run; it ran hostile (",
}
"""Each with the end that its run has to come to."""
HARMLESS = ("daemon", "clear", "mask", "poison", "print", "flood", "leave", "remove", "fine")
"""Those after which the run may well be good."""


def marked(mark: str) -> list[int]:
    """The living processes with this mark in their environment."""
    found = []
    for place in Path("/proc").iterdir():
        if place.name.isdecimal():
            try:
                if f"{MARK}={mark}".encode() in (place / "environ").read_bytes():
                    found.append(int(place.name))
            except OSError:
                pass  # it has ended, or is somebody else's
    return found


@pytest.fixture
def mark(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A mark, after whose use no process has it."""
    text = uuid.uuid4().hex
    monkeypatch.setenv(MARK, text)
    yield text
    monkeypatch.delenv(MARK)
    try:
        # this process has no mark: what the system shows of it is how it was started
        wait_for(lambda: marked(text) == [])
    finally:
        for process in marked(text):
            os.kill(process, 9)


Attack = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def dumbbell(dumbbell_here: Dumbbell) -> Dumbbell:
    """Runs the command in `folder`, with the mark."""
    return dumbbell_here


def words(mode: str) -> tuple[str, ...]:
    """The arguments of a command with a plug-in that attacks it."""
    plugin = ("--plugin", str(HOSTILE), "--set", f"hostile.mode={mode}")
    return ("run", *plugin, "--path", "small.toml", "--duration", "2", "--warmup", "0.5", "--out", "out")


@pytest.fixture
def attack(dumbbell: Dumbbell, mark: str) -> Attack:
    """Runs the command with a plug-in that attacks it; what it prints is captured, as a script would."""
    assert mark

    def run(mode: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        return dumbbell(*words(mode), *arguments, expect=None)

    return run


@pytest.mark.parametrize("mode", ATTACKS)
def test_an_attack_fails_its_run_and_leaves_nothing(attack: Attack, dumbbell: Dumbbell, mode: str) -> None:
    done = attack(mode)
    assert done.returncode == 1, done.stderr
    assert "Traceback" not in done.stderr
    (run,) = show(dumbbell, "out", 1)["runs"]
    assert run["status"] == "failed"
    reason = run["reason"]
    if mode == "close":  # a module that checks what it does aborts as it closes a file that is closed
        reason = reason.replace("its process died (signal 6);", "its process died (exit status 1);")
    assert ATTACKS[mode] in reason
    assert "\n" not in run["reason"]


@pytest.mark.parametrize("mode", HARMLESS)
def test_an_attack_that_does_not_end_the_run_leaves_nothing_and_stops_no_other(
    attack: Attack, dumbbell: Dumbbell, mode: str
) -> None:
    done = attack(mode, "--schemes", f"reno,{HOSTILE}", "--runs", "2", "--jobs", "1")
    assert "Traceback" not in done.stderr
    runs = show(dumbbell, "out", done.returncode)["runs"]
    assert [run["status"] for run in runs] == ["done"] * 4


def test_a_crash_is_told_once_with_its_backtrace_and_not_repeated_in_each_run(
    attack: Attack, dumbbell: Dumbbell, folder: Path
) -> None:
    done = attack("abort", "--schemes", f"reno,{HOSTILE}", "--runs", "20", "--jobs", "1")
    assert done.returncode == 1
    runs = show(dumbbell, "out", 1)["runs"]
    assert [run["status"] for run in runs if run["scheme"] == "reno"] == ["done"] * 20
    failed = [run for run in runs if run["scheme"] == "hostile"]
    reasons = [run["reason"] for run in failed]
    assert len(failed) == 20
    assert ["crashed (SIGABRT" in reason for reason in reasons] == [True] + [False] * 19
    assert set(reasons[1:]) == {f"not run: hostile ({HOSTILE}) ended the process of hostile on small, run 1"}
    log = (folder / "out" / failed[0]["directory"] / "log.txt").read_text()
    # Python's and the system's
    assert f'plug-in:   File "{HOSTILE}", line ' in log
    assert "abort" in log
    # when it happens, and in the list at the end
    assert done.stderr.count("crashed (SIGABRT") == 2
    assert len([line for line in done.stderr.splitlines() if "not run: " in line]) == 1


FIXED = """
class Fixed:
    def __init__(self, start): pass
    def on_ack(self, ack): pass
    def control(self): return 15000.0
"""


def test_who_runs_beside_a_plug_in_that_ends_the_process_is_not_blamed(
    attack: Attack, dumbbell: Dumbbell, folder: Path
) -> None:
    (folder / "fixed.py").write_text(FIXED)
    schemes = ["--schemes", f"fixed.py,{HOSTILE}", "--mix", f"fixed.py+{HOSTILE}", "--set", "hostile.mode=quit"]
    attack("quit", *schemes, "--runs", "2", "--jobs", "1")
    runs = show(dumbbell, "out", 1)["runs"]
    status = {(run["scheme"], run["run"]): run["status"] for run in runs}
    assert {name: status[name, 1] for name, _ in status} == {
        "fixed": "done",
        "hostile": "failed",
        "fixed+hostile": "failed",
    }
    assert status["fixed", 2] == "done"


def test_the_backtrace_of_a_library_names_it_in_the_log(dumbbell: Dumbbell, folder: Path) -> None:
    plugin = compiled(HOSTILE.parent / "bad.c", folder)
    command = ["run", "--plugin", str(plugin), "--set", "bad.mode=crash", "--path", "small.toml", "--duration", "2"]
    dumbbell(*command, "--warmup", "0.5", "--out", "out", expect=1)
    (run,) = show(dumbbell, "out", 1)["runs"]
    log = (folder / "out" / run["directory"] / "log.txt").read_text()
    assert f"plug-in: scheme bad ({plugin}: bad): on_ack crashed (SIGSEGV: " in log
    assert f"plug-in: {plugin}(+0x" in log


GREEDY = """
import signal, sys
from pathlib import Path
from dumbbell.base.guardian import Bounds, guarded
guarded(0, 0.0, Bounds(Path(sys.argv[1]), memory_bytes=200 * 2**20))
held = []
for _ in range(600):
    held.append(b"x" * 2**20)
signal.pause()
"""


def test_a_process_that_takes_more_memory_than_allowed_is_ended_and_says_so(tmp_path: Path) -> None:
    words = tmp_path / "words"
    command = [sys.executable, "-c", GREEDY, str(words)]
    with subprocess.Popen(command, stdin=subprocess.PIPE) as process:
        assert process.wait(TIMEOUT_S) == -signal.SIGKILL
    assert re.fullmatch(r"its process was ended: it took 0\.\d GiB of memory: allowed are 0\.2\n", words.read_text())


@pytest.mark.parametrize("mode", ["abort", "garbage"])
def test_an_attack_hurts_no_run_of_another_scheme_in_the_same_process(
    attack: Attack, dumbbell: Dumbbell, mode: str
) -> None:
    attack(mode, "--schemes", f"reno,{HOSTILE},cubic", "--runs", "2", "--jobs", "1")
    runs = show(dumbbell, "out", 1)["runs"]
    assert {run["status"] for run in runs if run["scheme"] != "hostile"} == {"done"}
    assert {run["status"] for run in runs if run["scheme"] == "hostile"} == {"failed"}


def test_what_a_plug_in_prints_is_in_the_log_of_its_run(attack: Attack, dumbbell: Dumbbell, folder: Path) -> None:
    done = attack("print", "--runs", "2", "--jobs", "1")
    assert done.returncode == 0
    assert "a flow begins" not in done.stdout + done.stderr
    for run in show(dumbbell, "out")["runs"]:
        log = (folder / "out" / run["directory"] / "log.txt").read_text().splitlines()
        said = [line for line in log if line.startswith("plug-in: ")]
        assert sorted(said) == [
            "plug-in: a flow begins",
            "plug-in: and this is \\x1b[31mred",
            "plug-in: half a second is over",
        ]


def test_the_log_of_a_plug_in_that_prints_without_end_is_short(
    attack: Attack, dumbbell: Dumbbell, folder: Path
) -> None:
    assert attack("flood").returncode == 0
    (run,) = show(dumbbell, "out")["runs"]
    log = folder / "out" / run["directory"] / "log.txt"
    assert log.stat().st_size < 100_000
    assert "the rest was dropped" in log.read_text()


@pytest.mark.usefixtures("mark")
@pytest.mark.parametrize("mode", ["stop", "garbage", "fork", "daemon", "abort"])
def test_an_attack_on_a_simulation_of_the_library_ends_it_in_one_line(mode: str) -> None:
    specification = library.specification(str(HOSTILE), duration=2, settings={"hostile.mode": mode})
    if mode == "daemon":
        assert library.simulate(specification).status == "done"
        return
    with pytest.raises(library.Error) as caught:
        library.simulate(specification)
    assert "\n" not in str(caught.value)


FORGES = """
import gc, json, os, stat, sys
def say(answer):
    for each in range(3, 64):
        try:
            if stat.S_ISFIFO(os.fstat(each).st_mode):
                os.write(each, json.dumps({"answer": answer}).encode() + b"\\n")
        except OSError: pass
def send(message):
    _Out = sys.modules["__main__"]._Out
    for out in gc.get_objects():
        if isinstance(out, _Out): out.say(message)
class Forge:
    def __init__(self, start): self.acks = 0
    def on_ack(self, ack):
        self.acks += 1
        if self.acks == 20: FORGE
    def control(self): return 15000.0
"""
"""A class that writes an answer to every pipe of its process, or with the means of the process itself."""


@pytest.mark.parametrize(
    ("forge", "said"),
    [
        ("say('{}')", "its process wrote to a descriptor that it does not own; it ran forge ("),
        ("send({'answer': 5})", "its process told what is no answer; it ran forge ("),
        ("send({'moment': [0.1, {'1': 5}, {}]})", "its process told what is no answer; it ran forge ("),
        ("send({'moment': 7})", "its process told what is no answer; it ran forge ("),
        ("send({'answer': '[' * 5000})", "told no statistics: nested too deeply"),
        ("send({'answer': '7'})", "told: the file: allowed is a table: not the statistics of a run"),
        ("send({'answer': '{\"flows\": 7}'})", "not the statistics of a run"),
    ],
)
def test_a_forged_answer_of_a_simulation_of_the_library_is_refused(folder: Path, forge: str, said: str) -> None:
    (folder / "forge.py").write_text(FORGES.replace("FORGE", forge))
    specification = library.specification(str(folder / "forge.py"), duration=2)
    with pytest.raises(library.Error) as caught:
        library.simulate(specification)
    assert said in str(caught.value)


def test_a_forged_answer_about_a_file_is_refused(folder: Path, dumbbell: Dumbbell) -> None:
    (folder / "forge.py").write_text(f"{FORGES.replace('FORGE', 'pass')}say(5)\n")
    said = dumbbell("list", "schemes", "--plugin", "forge.py", expect=2).stderr
    assert said.endswith("forge.py: wrote to a descriptor that it does not own\n")


def test_a_message_that_is_nested_deeply_is_garbled() -> None:
    ours, theirs = Pipe()
    token, text = bytes(TOKEN_BYTES), b'{"kind":' + b"[" * 5000 + b"]" * 5000 + b"}"
    os.write(theirs.fileno(), token + len(text).to_bytes(4, "big") + text)
    with pytest.raises(Garbled):
        list(Inbox(ours, token).take())


def test_what_a_run_leaves_counts_for_no_later_run_of_its_process(attack: Attack, dumbbell: Dumbbell) -> None:
    # 40 processes each, half of them dead; 64 are allowed at once
    done = attack("crowd", "--schemes", f"reno,{HOSTILE}", "--runs", "4", "--jobs", "1")
    runs = show(dumbbell, "out", done.returncode)["runs"]
    assert [run["status"] for run in runs] == ["done"] * 8, [run["reason"] for run in runs]


@pytest.mark.usefixtures("mark")
def test_files_of_runs_have_the_modes_that_the_caller_wants(dumbbell_afresh: Dumbbell, folder: Path) -> None:
    before = os.umask(0o027)
    try:
        dumbbell_afresh(*words("mask"), "--schemes", f"reno,{HOSTILE}", "--runs", "10", "--jobs", "1", expect=None)
    finally:
        os.umask(before)
    written = [file for name in ("stats.json", "log.txt") for file in (folder / "out").rglob(name)]
    assert len(written) == 40
    assert {oct(file.stat().st_mode & 0o777) for file in written} == {"0o640"}


INNOCENT = """
import math, random
import numpy as np
from dumbbell.plugins import Control
RUNS = []
class Innocent:
    def __init__(self, start):
        RUNS.append(1)
        self.draws = random.Random(1)
    def on_ack(self, ack):
        pass
    def control(self):
        np.float64(1.0) / np.float64(math.sqrt(2.0) * 0.0)
        return Control(window_bytes=(len(RUNS) + helper.PACKETS) * 1500.0 * math.sqrt(4.0) * self.draws.random())
"""


def test_what_a_plug_in_changes_reaches_no_other_run(attack: Attack, dumbbell: Dumbbell, folder: Path) -> None:
    for name, packets in (("one", 2), ("two", 20)):
        (folder / name).mkdir()
        (folder / name / "innocent.py").write_text(f"import helper\n{INNOCENT}")
        (folder / name / "helper.py").write_text(f"PACKETS = {packets}\n")
    innocent = "one=one/innocent.py,two=two/innocent.py,cubic"
    found = []
    for schemes, jobs in ((f"{HOSTILE},{innocent}", "1"), (innocent, "2")):
        done = attack("poison", "--schemes", schemes, "--runs", "2", "--jobs", jobs)
        runs = show(dumbbell, "out", done.returncode)["runs"]
        assert [run["reason"] for run in runs] == [None] * len(runs)
        found.append(
            {
                (run["scheme"], run["run"]): run["flows"][0]["throughput_mbps"]
                for run in runs
                if run["scheme"] != "hostile"
            }
        )
        (folder / "out").rename(folder / f"before{jobs}")
    assert found[0] == found[1]
    assert found[0]["one", 1] != found[0]["two", 1]


def test_two_plug_ins_of_one_run_have_the_modules_that_stand_beside_each(folder: Path, dumbbell: Dumbbell) -> None:
    for name, packets in (("one", 2), ("two", 20)):
        (folder / name / "helpers").mkdir(parents=True)
        (folder / name / "innocent.py").write_text(f"from helpers import helper\n{INNOCENT}")
        (folder / name / "helpers" / "__init__.py").write_text("")
        (folder / name / "helpers" / "helper.py").write_text(f"PACKETS = {packets}\n")
    words = ("--path", "small.toml", "--duration", "2", "--warmup", "0.5")
    given = ("--schemes", "one=one/innocent.py,two=two/innocent.py", "--mix", "one+two")
    dumbbell("run", *given, *words, "--out", "out")
    (run,) = (run for run in show(dumbbell, "out")["runs"] if len(run["flows"]) == 2)
    one, two = (flow["throughput_mbps"] for flow in run["flows"])
    assert two > 2 * one


def test_a_process_that_is_silent_is_found_among_others_that_speak(clock: ManualClock) -> None:
    pool = pool_module.Pool.__new__(pool_module.Pool)
    pool._has_plugins, pool._clock = True, clock
    ours, theirs = Pipe()
    silent, _held = Pipe()
    workers = {each: SimpleNamespace(connection=each, silent_s=0.0) for each in (ours, silent)}

    def look() -> list[object]:
        """Ask who has something to tell: after a second, as one says something then."""
        waiting = threading.Thread(target=lambda: found.append(pool._ready(workers)))  # type: ignore[arg-type]
        found: list[list[object]] = []
        waiting.start()
        clock.until_waiting()
        clock.turn(pool_module.LOOK_S - 0.001)
        theirs.send(None)
        waiting.join()
        clock.turn(0.001)
        ours.recv()
        return found[0]

    seen = [look() for _ in range(pool_module.SILENCE_S + 2)]
    assert workers[ours].silent_s == 0.0
    late = next(number for number, found in enumerate(seen) if len(found) == 2)
    assert seen[late] == list(workers.values())
    assert seen[late - 1] == [workers[ours]]
    assert late == pytest.approx(pool_module.SILENCE_S, abs=1.0)


GARBAGE = "for each in range(3, 64):\n    try: os.write(each, b'garbage\\n')\n    except OSError: pass"
AT_IMPORT = {
    "os.kill(os.getpid(), signal.SIGSTOP)": "was stopped (SIGSTOP) and did not go on within 5 s",
    GARBAGE: "wrote to a descriptor that it does not own",
    "os.fork()": None,
    "os.fork() or os.setsid() and select.select([], [], [], 3600)": None,
    "[os.fork() or select.select([], [], [], 3600) for _ in range(200)]": "processes: allowed are 64",
    "sys.modules.clear()": None,
}
"""What a file does as it is loaded, and what is said of it; None where the answer may be good."""
COUNTED_NOW_AND_THEN = "[os.fork() or select.select([], [], [], 3600) for _ in range(200)]"
"""What is seen only where it goes on for a moment: a good answer may come first, and all are ended with it."""


@pytest.mark.usefixtures("mark")
@pytest.mark.parametrize("attack", AT_IMPORT)
def test_an_attack_of_a_file_as_it_is_loaded_ends_the_command(dumbbell: Dumbbell, folder: Path, attack: str) -> None:
    (folder / "mine.py").write_text(f"import os, select, signal, sys\n{attack}\n{HOSTILE.read_text()}")
    done = dumbbell("list", "schemes", "--plugin", "mine.py", expect=None)
    said = AT_IMPORT[attack]
    may_be_good = said is None or attack == COUNTED_NOW_AND_THEN
    assert done.returncode in ((0, 2) if may_be_good else (2,)), done.stderr
    assert said is None or done.returncode == 0 or said in done.stderr
