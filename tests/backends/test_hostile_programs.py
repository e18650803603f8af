"""Tests of programs of schemes that try to outlive their run, or to hold resources that the caller waits for."""

import errno
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.commands.command import COMMAND, Dumbbell, replace_options
from support.commands.sleepers import SECONDS, sleepers
from support.punctual import Punctual, Run, runs_of
from support.waiting import TIMEOUT_S, wait_for

pytestmark = [pytest.mark.real, pytest.mark.usefixtures("real_packets")]

ESCAPES = f"""
import os, socket, subprocess, sys, time
subprocess.Popen(["setsid", "env", "-i", "sleep", "{SECONDS}"])
if os.fork() == 0:  # a daemon: without its parent, session, environment, input and output
    os.setsid()
    if os.fork() == 0:
        os.closerange(0, 256)
        os.execve("/bin/sleep", ["sleep", "{SECONDS}"], {{}})
    os._exit(0)
os.wait()
print(sorted(os.listdir("/proc/self/fd")), os.path.isdir(f"/proc/{{os.getpid()}}"), flush=True)
for mode in (os.O_RDONLY, os.O_WRONLY, os.O_RDWR):  # what the first process of the namespace waits at
    try:
        os.set_inheritable(os.open("/proc/1/fd/0", mode | os.O_NONBLOCK), True)
    except OSError as error:
        print(error.errno, flush=True)
sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
while True:
    sender.sendto(bytes(1000), (sys.argv[1], int(sys.argv[2])))
    time.sleep(0.005)
"""
RECEIVER = """
import socket, sys
receiver = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
receiver.bind(("", int(sys.argv[1])))
while True:
    receiver.recv(2000)
"""
SCHEME = """
title = "escapes"
kind = "program"
[program]
sender = ["{python}", "{folder}/escapes.py", "{{ip}}", "{{port}}"]
receiver = ["{python}", "{folder}/receiver.py", "{{port}}"]
first = "receiver"
"""


@pytest.fixture(autouse=True)
def _escape_check(folder: Path) -> Iterator[None]:
    """Write the scheme `escapes.toml`; afterwards check that no process of it is left."""
    (folder / "escapes.py").write_text(ESCAPES)
    (folder / "receiver.py").write_text(RECEIVER)
    (folder / "escapes.toml").write_text(SCHEME.format(python="python3", folder=folder))
    yield
    left = sleepers()
    for process in left:
        os.kill(process, 9)
    assert left == []


RUN = (
    "run",
    "--schemes",
    "escapes.toml",
    "--path",
    "small.toml",
    "--backend",
    "emu",
    "--duration",
    "3",
    "--warmup",
    "0",
)


def test_a_caller_that_captures_all_output_gets_its_end_and_nothing_is_left(
    folder: Path, dumbbell: Dumbbell, punctual: Punctual[list[Run]]
) -> None:
    command = [*COMMAND, *RUN, "--out", "out"]

    def make() -> list[Run]:
        # The caller's shell left this descriptor open.
        inherited_pipe = os.dup(2)
        os.set_inheritable(inherited_pipe, True)
        subprocess.run(
            command,
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            check=False,
            pass_fds=[inherited_pipe],
        )
        os.close(inherited_pipe)
        assert sleepers() == []
        return runs_of(dumbbell, "out")

    (run,) = punctual(make)
    assert run["status"] == "done", run["reason"]
    (sender,) = (program for program in run["emulation"]["programs"] if program["side"] == "sender")
    # The fourth descriptor is the listed directory; `/proc` knows its number.
    assert sender["output"] == ["['0', '1', '2', '3'] True", *[str(errno.ENXIO)] * 3]


@pytest.mark.parametrize("user", ["caller", "another"])
def test_nothing_escapes_a_run_whose_command_is_killed(folder: Path, user: str) -> None:
    command = [*COMMAND, *replace_options(RUN, "--duration", "60"), "--out", "out"]
    if user == "another":  # without any right that root has
        command = ["unshare", "--user", "--map-user=1000", "--map-group=1000", *command]
    environment = os.environ | {"XDG_RUNTIME_DIR": str(folder)}
    with (
        (folder / "said").open("w") as output,
        subprocess.Popen(
            command, cwd=folder, stdout=output, stderr=output, start_new_session=True, env=environment
        ) as process,
    ):
        wait_for(lambda: len(sleepers()) == 2 or process.poll() is not None)
        exit_status = process.poll()
        process.kill()
    wait_for(lambda: not sleepers())
    assert exit_status is None, (folder / "said").read_text()
