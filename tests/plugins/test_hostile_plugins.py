"""Tests of plug-ins that attack their process: the command ends soon, reports the attack, and leaves no process."""

import os
import re
import signal
import subprocess
import sys
import threading
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from multiprocessing import Pipe
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import dumbbell as library
import dumbbell.execution.pool as pool_module
from dumbbell.base.inbox import TOKEN_BYTES, GarbledMessage, Inbox
from dumbbell.base.starting import PYTHON
from dumbbell.plugins import isolated
from support.clock import ManualClock
from support.commands.command import COMMAND
from support.commands.forks import Forks
from support.commands.in_process import run_in_process
from support.commands.shared_run import SharedRun, shared_run
from support.waiting import TIMEOUT_S, wait_for

HOSTILE = Path(__file__).with_name("hostile.py")
MARK = "DUMBBELL_ATTACK"
"""Variable in the environment of an attack and of all its processes."""

ATTACKS = {
    "stop": "its process was ended: it was stopped (SIGSTOP) and did not go on within 5 s; it ran {} (",
    "stop-all": "its process was ended: it was stopped (SIGSTOP) and did not go on within 5 s; it ran {} (",
    "garbage": "its process wrote to a descriptor that it does not own; it ran {} (",
    "fork": "on_ack called fork and returned in the copy of the process",
    "forks": "processes: allowed are 64; it ran {} (",
    "exec": "its process let go of its connection to dumbbell; it ran {} (",
    "close": "its process died (exit status 1); it ran {} (",
    "abort": "on_ack crashed (SIGABRT: it gave up with abort or a failed assertion)",
    "recurse": "on_ack crashed (SIGSEGV: it used memory that is not its own)",
    "leak": "on_ack raised OSError: Too many open files",
    "forge": "its process told: `status`: allowed is a text: not the statistics of a run; it ran {} (",
}
"""Attacks with the required reason of their run; `{}` is the name of its scheme, which is its own."""
WAITED_FOR = ("stop", "stop-all", "exec")
"""Attacks that the watchdog ends after 5 s. Each begins first in a process of its own: the waits overlap."""
HARMLESS = ("daemon", "clear", "mask", "poison", "print", "flood", "leave", "fine")
"""Attacks that do not fail their run, in the order in which one process makes the runs."""


def marked_processes(mark: str) -> list[int]:
    """Return the live processes with this mark in their environment."""
    processes = []
    for place in Path("/proc").iterdir():
        if place.name.isdecimal():
            try:
                if f"{MARK}={mark}".encode() in (place / "environ").read_bytes():
                    processes.append(int(place.name))
            except OSError:
                pass  # it has ended, or is somebody else's
    return processes


def require_nothing_left(mark: str) -> None:
    """Wait until no process has the mark; if one stays, end it."""
    try:
        # This process has no mark: the system shows its initial environment.
        wait_for(lambda: marked_processes(mark) == [])
    finally:
        for process in marked_processes(mark):
            os.kill(process, 9)


@pytest.fixture
def mark(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Return a mark; afterwards check that no process has it."""
    text = uuid.uuid4().hex
    monkeypatch.setenv(MARK, text)
    yield text
    monkeypatch.delenv(MARK)
    require_nothing_left(text)


SHORT = ("--path", "small.toml", "--duration", "2", "--warmup", "0.5", "--out", "out")


def schemes(modes: Iterable[str]) -> list[str]:
    """Return the value of `--schemes`, with a hostile scheme of the name of each mode, and the `--set` options."""
    scheme_list = ",".join(f"{mode}={HOSTILE}" for mode in modes)
    return [scheme_list, *(word for mode in modes for word in ("--set", f"{mode}.mode={mode}"))]


FIXED = """
class Fixed:
    def __init__(self, start): pass
    def on_ack(self, ack): pass
    def control(self): return 15000.0
"""
INNOCENT = """
import helper as beside
from helpers import helper
assert beside.PACKETS == helper.PACKETS
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
INNOCENTS = "one=one/innocent.py,two=two/innocent.py,cubic"


def lay_innocents(folder: Path) -> None:
    """Put two classes into `folder`: their helper modules have equal names and different content."""
    for name, packets in (("one", 2), ("two", 20)):
        (folder / name / "helpers").mkdir(parents=True)
        (folder / name / "innocent.py").write_text(INNOCENT)
        (folder / name / "helpers" / "__init__.py").write_text("")
        for place in (".", "helpers"):
            (folder / name / place / "helper.py").write_text(f"PACKETS = {packets}\n")


UMASK = 0o027
"""Umask of a command that has a Python of its own."""

Command = Callable[[Sequence[str], Path, dict[str, str]], subprocess.CompletedProcess[str]]


def afresh(words: Sequence[str], folder: Path, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """Run the command in a Python of its own, which has another umask."""
    return subprocess.run(
        [*COMMAND, *words],
        cwd=folder,
        env=environment,
        umask=UMASK,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )


@pytest.fixture
def forked_command(forks: Forks) -> Command:
    """Return a function that runs the command in a fork."""
    return lambda words, folder, environment: forks.run([*words], folder, TIMEOUT_S, environment=environment)


def run_attacked(factory: pytest.TempPathFactory, command: Command, name: str, *words: str) -> SharedRun:
    """Return the result of `dumbbell run WORDS`, which is executed once per session; it leaves no process behind."""

    def execute(place: Path) -> subprocess.CompletedProcess[str]:
        (place / "fixed.py").write_text(FIXED)
        lay_innocents(place)
        mark = uuid.uuid4().hex
        try:
            return command(("run", *words, *SHORT), place, os.environ | {MARK: mark})
        finally:
            require_nothing_left(mark)

    return shared_run(factory, name, execute)


ROUNDS = 6
"""Number of runs of each scheme where attacks end processes."""


@pytest.fixture
def attacks(tmp_path_factory: pytest.TempPathFactory, forked_command: Command) -> SharedRun:
    """Make all attacks that fail their runs, side by side, except for the one that needs all memory of a process."""
    scheme_list, *settings = schemes([*WAITED_FOR, *(mode for mode in ATTACKS if mode not in (*WAITED_FOR, "forks"))])
    return run_attacked(
        tmp_path_factory, forked_command, "attacks", "--schemes", scheme_list, *settings, "--jobs", str(len(WAITED_FOR))
    )


@pytest.fixture
def harmless(tmp_path_factory: pytest.TempPathFactory) -> SharedRun:
    """Make all attacks that fail no run, with other schemes, in one process: later runs see traces of earlier ones."""
    scheme_list, *settings = schemes(HARMLESS)
    beside = f"reno,{scheme_list},{INNOCENTS}"
    return run_attacked(
        tmp_path_factory, afresh, "harmless", "--schemes", beside, *settings, "--runs", "2", "--jobs", "1"
    )


@pytest.fixture
def endings(tmp_path_factory: pytest.TempPathFactory, forked_command: Command) -> SharedRun:
    """Make attacks that end the process repeatedly, with other schemes, in one process after another."""
    scheme_list, *settings = schemes(("abort", "garbage", "quit", "forks"))
    beside = ("--schemes", f"reno,fixed.py,{scheme_list},cubic", "--mix", f"fixed.py+quit={HOSTILE}")
    return run_attacked(
        tmp_path_factory, forked_command, "endings", *beside, *settings, "--runs", str(ROUNDS), "--jobs", "1"
    )


@pytest.mark.parametrize("mode", ATTACKS)
def test_an_attack_fails_its_run_and_leaves_nothing(attacks: SharedRun, endings: SharedRun, mode: str) -> None:
    command = endings if mode == "forks" else attacks
    assert command.returncode == 1, command.stderr
    assert "Traceback" not in command.stderr
    run = command.runs_of(mode)[0]
    assert run["status"] == "failed"
    reason = run["reason"]
    if mode == "close":  # a module that checks what it does aborts as it closes a file that is closed
        reason = reason.replace("its process died (signal 6);", "its process died (exit status 1);")
    assert ATTACKS[mode].format(mode) in reason
    assert "\n" not in run["reason"]


@pytest.mark.parametrize("mode", [*HARMLESS, "reno"])
def test_an_attack_that_does_not_end_the_run_leaves_nothing_and_stops_no_other(harmless: SharedRun, mode: str) -> None:
    assert harmless.returncode == 0
    assert "Traceback" not in harmless.stderr
    assert [run["status"] for run in harmless.runs_of(mode)] == ["done"] * 2


def test_a_crash_is_told_once_with_its_backtrace_and_not_repeated_in_each_run(endings: SharedRun) -> None:
    assert endings.returncode == 1
    failed_runs = endings.runs_of("abort")
    reasons = [run["reason"] for run in failed_runs]
    assert len(failed_runs) == ROUNDS
    assert ["crashed (SIGABRT" in reason for reason in reasons] == [True] + [False] * (ROUNDS - 1)
    assert set(reasons[1:]) == {f"not run: abort ({HOSTILE}) ended the process of abort on small, run 1"}
    log = (endings.folder / "out" / failed_runs[0]["directory"] / "log.txt").read_text()
    # Python's and the system's
    assert f'plug-in:   File "{HOSTILE}", line ' in log
    assert "abort" in log
    # The crash is reported when it happens, and in the list at the end.
    assert endings.stderr.count("crashed (SIGABRT") == 2
    assert len([line for line in endings.stderr.splitlines() if "not run: abort (" in line]) == 1


def test_who_runs_beside_a_plug_in_that_ends_the_process_is_not_blamed(endings: SharedRun) -> None:
    assert [run["status"] for run in endings.runs_of("fixed")] == ["done"] * ROUNDS
    assert [run["status"] for name in ("quit", "fixed+quit") for run in endings.runs_of(name)] == [
        "failed"
    ] * 2 * ROUNDS


@pytest.mark.parametrize("mode", ["abort", "garbage"])
def test_an_attack_hurts_no_run_of_another_scheme_in_the_same_process(endings: SharedRun, mode: str) -> None:
    assert [run["status"] for run in endings.runs_of(mode)] == ["failed"] * ROUNDS
    assert [run["status"] for name in ("reno", "cubic") for run in endings.runs_of(name)] == ["done"] * 2 * ROUNDS


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


def test_what_a_plug_in_prints_is_in_the_log_of_its_run(harmless: SharedRun) -> None:
    assert "a flow begins" not in harmless.stdout + harmless.stderr
    for run in harmless.runs_of("print"):
        log = (harmless.folder / "out" / run["directory"] / "log.txt").read_text().splitlines()
        lines = [line for line in log if line.startswith("plug-in: ")]
        assert sorted(lines) == [
            "plug-in: a flow begins",
            "plug-in: and this is \\x1b[31mred",
            "plug-in: half a second is over",
        ]


def test_the_log_of_a_plug_in_that_prints_without_end_is_short(harmless: SharedRun) -> None:
    for run in harmless.runs_of("flood"):
        log = harmless.folder / "out" / run["directory"] / "log.txt"
        assert log.stat().st_size < 100_000
        assert "the rest was dropped" in log.read_text()


IMPATIENT = """
import functools, runpy
from dumbbell.base import guardian
guardian.Bounds = functools.partial(guardian.Bounds, stopped_s=0.5)
runpy.run_module("dumbbell.plugins.isolated", run_name="__main__")
"""
"""Program of the process that loads a plug-in; it may stand still for half a second instead of five."""


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """End processes for questions about plug-ins soon after they stand still."""
    monkeypatch.setattr(isolated, "_COMMAND", [*PYTHON, "-c", IMPATIENT])


@pytest.mark.usefixtures("mark", "impatient")
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
"""A class that writes an answer to every pipe of its process, or calls the process's own functions."""
FORGED = {"flows": [], "links": [], "network": {"throughput_mbps": 1e19}, "events": 1, "sim_wall_s": 1.0}
"""Statistics that no run has."""


@pytest.mark.parametrize(
    ("forge", "message"),
    [
        ("say('{}')", "its process wrote to a descriptor that it does not own; it ran forge ("),
        ("send({'answer': 5})", "its process told what is no answer; it ran forge ("),
        ("send({'moment': [0.1, {'1': 5}, {}]})", "its process told what is no answer; it ran forge ("),
        ("send({'moment': 7})", "its process told what is no answer; it ran forge ("),
        ("send({'answer': '[' * 5000})", "its process told what is no answer; it ran forge ("),
        ("send({'answer': {'flows': 7}})", "its process told what is no answer; it ran forge ("),
        ("send({'answer': FORGED})", "`network.throughput_mbps` = 1e+19: allowed is up to 1e+18"),
    ],
)
def test_a_forged_answer_of_a_simulation_of_the_library_is_refused(folder: Path, forge: str, message: str) -> None:
    (folder / "forge.py").write_text(FORGES.replace("FORGE", forge.replace("FORGED", repr(FORGED))))
    specification = library.specification(str(folder / "forge.py"), duration=2)
    with pytest.raises(library.Error) as caught:
        library.simulate(specification)
    assert message in str(caught.value)


def test_a_forged_answer_about_a_file_is_refused(folder: Path) -> None:
    (folder / "forge.py").write_text(f"{FORGES.replace('FORGE', 'pass')}say(5)\n")
    result = run_in_process(["list", "schemes", "--plugin", "forge.py"], folder)
    assert result.returncode == 2
    errors = result.stderr
    assert errors.endswith("forge.py: wrote to a descriptor that it does not own\n")


def test_a_message_that_is_nested_deeply_is_garbled() -> None:
    pipe, other_end = Pipe()
    token, text = bytes(TOKEN_BYTES), b'{"kind":' + b"[" * 5000 + b"]" * 5000 + b"}"
    os.write(other_end.fileno(), token + len(text).to_bytes(4, "big") + text)
    with pytest.raises(GarbledMessage):
        list(Inbox(pipe, token).take())


@pytest.fixture
def leaving(tmp_path_factory: pytest.TempPathFactory, forked_command: Command) -> SharedRun:
    """Make runs that leave processes, and runs that remove the printed text, in one process."""
    scheme_list, *settings = schemes(("crowd", "remove"))
    words = ("--schemes", f"reno,{scheme_list}", *settings, "--runs", "4", "--jobs", "1")
    return run_attacked(tmp_path_factory, forked_command, "leaving", *words)


@pytest.mark.parametrize("mode", ["crowd", "remove", "reno"])
def test_what_a_run_leaves_counts_for_no_later_run_of_its_process(leaving: SharedRun, mode: str) -> None:
    # Each run leaves 40 processes, half of them dead; 64 are allowed at once.
    assert "Traceback" not in leaving.stderr
    runs = leaving.runs_of(mode)
    assert [run["status"] for run in runs] == ["done"] * 4, [run["reason"] for run in runs]


def test_files_of_runs_have_the_modes_that_the_caller_wants(harmless: SharedRun) -> None:
    written_files = [file for name in ("stats.json", "log.txt") for file in (harmless.folder / "out").rglob(name)]
    assert len(written_files) == 2 * len(harmless.runs)
    assert {oct(file.stat().st_mode & 0o777) for file in written_files} == {oct(0o666 & ~UMASK)}


def throughputs(runs: list[dict[str, Any]]) -> dict[tuple[str, int], float]:
    """Return the throughput of each run of a scheme that attacks nothing."""
    return {
        (run["scheme"], run["run"]): run["flows"][0]["throughput_mbps"]
        for run in runs
        if run["scheme"] in ("one", "two", "cubic")
    }


@pytest.fixture
def undisturbed_run(tmp_path_factory: pytest.TempPathFactory, forked_command: Command) -> SharedRun:
    """Run classes that attack nothing, each by itself and two in one run."""
    words = ("--schemes", INNOCENTS, "--mix", "one+two", "--runs", "2", "--jobs", "2")
    return run_attacked(tmp_path_factory, forked_command, "undisturbed", *words)


def test_what_a_plug_in_changes_reaches_no_other_run(harmless: SharedRun, undisturbed_run: SharedRun) -> None:
    for one_shared in (harmless, undisturbed_run):
        assert [run["reason"] for run in one_shared.runs] == [None] * len(one_shared.runs)
    rates = throughputs(harmless.runs)
    assert rates == throughputs(undisturbed_run.runs)
    assert len(rates) == 6
    assert rates["one", 1] != rates["two", 1]


def test_two_plug_ins_of_one_run_have_the_modules_that_stand_beside_each(undisturbed_run: SharedRun) -> None:
    for run in undisturbed_run.runs_of("one+two"):
        first, two = (flow["throughput_mbps"] for flow in run["flows"])
        assert two > 2 * first


def test_a_process_that_is_silent_is_found_among_others_that_speak(clock: ManualClock) -> None:
    pool = pool_module.Pool.__new__(pool_module.Pool)
    pool._has_plugins, pool._clock = True, clock
    own_end, other_end = Pipe()
    silent, _held_end = Pipe()
    workers = {end: SimpleNamespace(connection=end, silent_s=0.0) for end in (own_end, silent)}

    def look() -> list[object]:
        """Ask which workers have a message, one second after one of them sends a message."""
        waiting = threading.Thread(target=lambda: results.append(pool._ready(workers)))  # type: ignore[arg-type]
        results: list[list[object]] = []
        waiting.start()
        clock.until_waiting()
        clock.turn(pool_module.LOOK_S - 0.001)
        other_end.send(None)
        waiting.join()
        clock.turn(0.001)
        own_end.recv()
        return results[0]

    looks = [look() for _ in range(pool_module.SILENCE_S + 2)]
    assert workers[own_end].silent_s == 0.0
    late = next(number for number, ready in enumerate(looks) if len(ready) == 2)
    assert looks[late] == list(workers.values())
    assert looks[late - 1] == [workers[own_end]]
    assert late == pytest.approx(pool_module.SILENCE_S, abs=1.0)


GARBAGE = "for each in range(3, 64):\n    try: os.write(each, b'garbage\\n')\n    except OSError: pass"
AT_IMPORT = {
    "os.kill(os.getpid(), signal.SIGSTOP)": "was stopped (SIGSTOP) and did not go on within 0.5 s",
    GARBAGE: "wrote to a descriptor that it does not own",
    "os.fork()": None,
    "os.fork() or os.setsid() and select.select([], [], [], 3600)": None,
    "[os.fork() or select.select([], [], [], 3600) for _ in range(200)]": "processes: allowed are 64",
    "sys.modules.clear()": None,
}
"""Attack of a file as it is loaded, and the reported reason; None if the answer may be good."""
COUNTED_NOW_AND_THEN = "[os.fork() or select.select([], [], [], 3600) for _ in range(200)]"
"""Attack that is detected only if it lasts a moment: a good answer may come first, and all processes are ended."""


@pytest.mark.usefixtures("mark", "impatient")
@pytest.mark.parametrize("attack", AT_IMPORT)
def test_an_attack_of_a_file_as_it_is_loaded_ends_the_command(folder: Path, attack: str) -> None:
    (folder / "mine.py").write_text(f"import os, select, signal, sys\n{attack}\n{HOSTILE.read_text()}")
    result = run_in_process(["list", "schemes", "--plugin", "mine.py"], folder)
    assert "Traceback" not in result.stderr
    message = AT_IMPORT[attack]
    may_be_good = message is None or attack == COUNTED_NOW_AND_THEN
    assert result.returncode in ((0, 2) if may_be_good else (2,)), result.stderr
    assert message is None or result.returncode == 0 or message in result.stderr
