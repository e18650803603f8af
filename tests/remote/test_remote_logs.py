"""Tests of the log of a run that fails on the other machine; here ssh leads to this machine."""

import logging
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from dumbbell.base.errors import UserError
from dumbbell_remote import link
from dumbbell_remote.link import Peer
from support.commands.command import COMMAND, TIMEOUT_S

from .test_mute import ssh

HOST = "far.example"
RUN = ("run", "--backend", f"remote:{HOST}", "--schemes", "copa", "--duration", "2", "--out", "out")
FAR = "export DUMBBELL_TEST_CLOCK=\n[ \"$1\" = -G ] && {{ echo 'hostname 127.0.0.1'; exit; }}\nexec {python} -P {does}"
SERVES = "-m dumbbell remote serve"
BROKEN = """
import sys
from dumbbell.cli.main import main
from dumbbell_remote import run_commands
def open_sockets(*_): return 1 // 0
run_commands.open_sockets = open_sockets
sys.exit(main(["remote", "serve"]))
"""
"""Program of the other machine's process with a mistake in it."""
DIES = BROKEN.replace("return 1 // 0", "import os; print('no room left', file=sys.stderr, flush=True); os.abort()")


def run_with(folder: Path, serves: str, *words: str) -> tuple[str, str]:
    """Return the output and the log of a run that fails, with `serves` as the other machine's program."""
    (folder / "far.py").write_text(serves)
    environment = ssh(folder, FAR.format(python=sys.executable, does=folder / "far.py"))
    command = [*COMMAND, *words, *RUN]
    result = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=TIMEOUT_S, check=False
    )
    assert result.returncode == 1, result.stderr
    (file,) = (folder / "out").glob("runs/*/copa/1/log.txt")
    assert f"(log: {file.relative_to(folder)})" in result.stderr
    return result.stderr, file.read_text()


@pytest.mark.real
def test_the_log_tells_of_a_mistake_on_the_other_machine(tmp_path: Path) -> None:
    _, log = run_with(tmp_path, BROKEN)
    assert re.search(rf"info  remote.link: {HOST}: a peer process is started pid=\d+ command=ssh ", log)
    assert re.search(rf"info  remote.describe_commands: \[{HOST}\] peer process pid=\d+ user=\d+ host=", log)
    assert re.search(r"info  datapath.remote.remote_endpoint: \[this machine\] UDP sockets opened ports=", log)
    assert f"error remote.serve: [{HOST}] open failed\n  Traceback (most recent call last):\n" in log
    assert f'  File "{tmp_path}/far.py", line 5, in open_sockets' in log
    assert "\n  ZeroDivisionError: integer division or modulo by zero\n" in log
    assert f"failed: {HOST}: open: ZeroDivisionError: integer" in log.splitlines()[-1]


@pytest.mark.real
def test_the_log_tells_of_a_process_that_dies_on_the_other_machine(tmp_path: Path) -> None:
    output, log = run_with(tmp_path, DIES, "-v")
    assert re.search(rf"info  remote.link: {HOST}: the peer process has ended status=\S+ stderr:\n  no room left", log)
    assert f"warn  remote.link: the link has ended: {HOST}: " in log
    assert f"error execution.worker: failed: {HOST}: " in log.splitlines()[-1]
    # This line was logged during the run.
    assert re.search(rf"info  remote.describe_commands: \[copa on \S+, run 1\] \[{HOST}\] peer process pid=", output)


FLOODS = """
import sys
from dumbbell.cli.main import main
from dumbbell_remote import describe_commands
hello = describe_commands.hello
def flood(state, message, payload):
    answer = hello(state, message, payload)
    for number in range(500):
        state.tell(log=f"12:00:00.000 warn  stranger.x{number}: again \\x1b[31m")
    return answer
describe_commands.hello = flood
sys.exit(main(["remote", "serve"]))
"""


def test_what_another_machine_says_of_its_work_is_bounded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "far.py").write_text(FLOODS)
    caplog.set_level(logging.WARNING, logger="dumbbell")  # a test that makes runs in this process wants more
    for name, value in ssh(tmp_path, FAR.format(python=sys.executable, does=tmp_path / "far.py")).items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(link, "MAX_LOG_LINES", 100)
    with Peer(link.Host(HOST)):
        pass
    messages = [record.getMessage() for record in caplog.records]
    assert messages.count(f"[{HOST}] again \x1b[31m") == 100
    assert messages[-1] == f"{HOST}: its log is longer than 100 lines: the rest is dropped"


def test_levels_that_are_none_are_refused() -> None:
    with Peer() as peer, pytest.raises(UserError, match="levels of logs: `remote=loud`: allowed are error, warn, info"):
        peer.ask("hello", levels=[["remote", "loud"]])


def test_a_peer_process_has_no_log_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DUMBBELL_LOG", "debug")
    with Peer() as peer:
        pass
    assert not "".join(peer._last_words)
    assert os.environ["DUMBBELL_LOG"] == "debug"
