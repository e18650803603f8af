"""Tests of checks of a remote machine over a real sshd, with every reason why it cannot be checked."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from .bed import FAR, SSH_PORT, Bed, eventually

pytestmark = pytest.mark.real

LOOK = """
import sys
from dumbbell import Error
from dumbbell.machine.host import read_host
from dumbbell_remote.link import Peer
try:
    with Peer(read_host(sys.argv[1])) as peer:
        print("up", flush=True)
        while sys.stdin.readline():
            print(len(peer.ask("describe")[0]), flush=True)
except Error as error:
    print(error)
"""
"""Program that holds a link, and sends a request for every line that it reads."""


def checks(bed: Bed, expect: int = 0, host: str | None = None) -> dict[str, dict[str, Any]]:
    result = bed.dumbbell("remote", "check", host or bed.host, "--json", expect=expect)
    return {check["name"]: check for check in json.loads(result.stdout)["checks"]}


def refusal(bed: Bed) -> str:
    """Return the reason why the machine cannot be reached, which a check and a link report alike."""
    ssh = checks(bed, expect=1)["ssh"]
    assert not ssh["good"]
    run = bed.near.run(sys.executable, "-P", "-c", LOOK, bed.host)
    assert run.stderr == ""
    assert run.stdout == f"{bed.host}: {ssh['found']}{': ' if ssh['fix'] else ''}{ssh['fix']}\n"
    return run.stdout


def start_link(bed: Bed, **more: str) -> "subprocess.Popen[str]":
    """Start a process that holds a link to the far machine."""
    process = bed.near.start(sys.executable, "-P", "-c", LOOK, bed.host, stdin=subprocess.PIPE, **more)
    assert process.stdout is not None
    assert process.stdout.readline() == "up\n"
    return process


def both_empty(bed: Bed, within_s: float = 20.0) -> bool:
    return bed.far.empty(within_s) and bed.near.empty(within_s)


def test_a_machine_is_looked_at(bed: Bed) -> None:
    answers = checks(bed)
    assert answers["version"]["good"]
    assert answers["UDP to there"]["found"] == answers["UDP from there"]["found"] == "arrives"
    assert answers["MTU"]["found"] == "1500 bytes towards this machine"
    # ssh does not take the path with its 20 ms, and Python takes its time to start.
    assert 0 < float(re.findall(r"[\d.]+", answers["ssh"]["found"])[0]) < 200
    assert not answers["allow file"]["good"]
    allow = bed.far.folder / "home/.config/dumbbell/allow"
    allow.parent.mkdir(parents=True)
    allow.write_text("iperf3\n/opt/mine MODE  # ours\n")
    text = bed.dumbbell("remote", "check", bed.host).stdout
    assert f"ok   allow file: {allow}: iperf3, /opt/mine\n" in text
    allow.chmod(0o666)
    text = bed.dumbbell("remote", "check", bed.host, expect=1).stdout
    assert f"BAD  allow file: {allow}: can be written by others: `chmod go-w {allow}`\n     fix: mend it" in text
    assert both_empty(bed)


def test_udp_that_does_not_pass_is_found(make_bed: Callable[..., Bed]) -> None:
    bed = make_bed(nat=("near",))
    answers = checks(bed)
    assert answers["UDP to there"]["good"]
    assert answers["UDP from there"]["found"].startswith("nothing arrives at 10.1.0.2")
    assert not answers["UDP from there"]["needed"]
    bed.block_udp()
    answers = checks(bed, expect=1)
    assert answers["UDP to there"]["found"].startswith(f"nothing arrives at {FAR}")
    assert answers["UDP to there"]["needed"]
    assert "firewalls" in answers["UDP to there"]["fix"]


def test_each_way_in_which_ssh_fails_is_said(bed: Bed) -> None:
    configuration = bed.near.folder / "ssh_config"
    text = configuration.read_text()
    configuration.write_text(text.replace("/key\n", "/other_key\n"))
    assert "it accepts no key of this user (it allows publickey): `ssh -p 2222 10.2.0.2` has to work" in refusal(bed)
    configuration.write_text(text)
    known_hosts = bed.near.folder / "known_hosts"
    known_hosts.unlink()
    assert "its host key is not known here: `ssh -p 2222 10.2.0.2` once shows it and asks" in refusal(bed)
    assert not known_hosts.exists()
    bed.know_host("other_host_key")
    line = refusal(bed)
    assert f"its host key is not the one that is known here ({known_hosts}:1)" in line
    assert f"`ssh-keygen -R '[{FAR}]:{SSH_PORT}'`" in line
    bed.know_host()
    (bed.far.folder / "bin" / "dumbbell").unlink()
    assert f"dumbbell is not installed there: `dumbbell remote install {bed.host}`" in refusal(bed)
    bed.stop_sshd()
    assert f"nothing listens on its port {SSH_PORT} (connection refused)" in refusal(bed)
    answers = checks(bed, 1, "no-such-machine.invalid")
    assert answers["ssh"]["found"].startswith("unknown host: ")
    (bed.near.folder / "bin" / "ssh").write_text("#!/bin/sh\nyes\n")
    assert "does not answer as dumbbell does, but with `y\\ny" in refusal(bed)
    assert both_empty(bed)


def test_a_machine_that_cannot_be_reached_is_said_in_time(bed: Bed) -> None:
    bed.far.run("ip", "link", "set", "beside", "down")
    configuration = bed.near.folder / "ssh_config"
    configuration.write_text("Host *\n  ConnectTimeout 2\n" + configuration.read_text())
    ssh = checks(bed, expect=1)["ssh"]
    assert re.fullmatch(f"cannot be reached on port {SSH_PORT}: (Connection timed out|No route to host)", ssh["found"])
    assert ssh["fix"] == ""


def test_another_version_is_refused_with_both_named(bed: Bed) -> None:
    program = bed.far.folder / "bin" / "dumbbell"
    program.unlink()
    older = "import sys; from dumbbell.base import version; version.__version__ = '0.0.9'; "
    older += "from dumbbell.cli.main import main; sys.exit(main())"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -P -c "{older}" "$@"\n')
    program.chmod(0o755)
    answers = checks(bed, expect=1)
    assert answers["ssh"]["good"]
    assert re.match(r"dumbbell 0\.0\.9 .*, this machine has 0\.1\.0", answers["version"]["found"])
    assert answers["version"]["fix"] == f"`dumbbell remote install {bed.host}`"
    line = bed.near.run(sys.executable, "-P", "-c", LOOK, bed.host).stdout
    assert re.match(rf"{bed.host}: has dumbbell 0\.0\.9 .* `dumbbell remote install {bed.host}`\n", line)
    program.write_text("#!/bin/sh\necho 'dumbbell: unknown command `remote`: allowed are run' >&2\nexit 2\n")
    assert "the dumbbell there is another version, without `remote`" in refusal(bed)


def test_what_a_login_shell_prints_does_no_harm(bed: Bed) -> None:
    program = bed.far.folder / "bin" / "dumbbell"
    real = program.readlink()
    program.unlink()
    program.write_text(f'#!/bin/sh\nseq 1000; echo warning >&2\nexec {real} "$@"\n')
    program.chmod(0o755)
    assert checks(bed)["version"]["good"]


LATE = ("guardian", "ssh", "asker", "network")


@pytest.mark.parametrize(
    "victim", ["session", "peer", *(pytest.param(victim, marks=pytest.mark.slow) for victim in LATE)]
)
def test_whoever_is_lost_the_others_say_so_and_end(bed: Bed, victim: str) -> None:
    process = start_link(bed)
    assert process.stdin is not None
    assert process.stdout is not None
    peers = sorted(bed.far.running("remote serve"))
    assert len(peers) >= 2
    match victim:
        case "session":
            for session in bed.sessions():
                os.kill(session, signal.SIGKILL)
        case "peer":
            os.kill(peers[-1], signal.SIGKILL)
        case "guardian":
            os.kill(peers[-2], signal.SIGKILL)
        case "ssh":
            for ssh in bed.near.running("ssh -F"):
                os.kill(ssh, signal.SIGKILL)
        case "asker":
            process.kill()
        case "network":
            bed.far.run("ip", "link", "set", "beside", "down")
    within_s = 45.0 if victim == "network" else 10.0  # 15 s of silence
    assert eventually(lambda: not bed.far.running("remote serve"), within_s)
    if victim != "asker":
        process.stdin.write("\n")
        process.stdin.flush()
        line = process.stdout.readline()
        assert line.startswith(f"{bed.host}: "), line
        patterns = {"network": "connection was lost|not answered for 15 s", "peer": "was killed", "ssh": "by signal 9"}
        assert re.search(patterns.get(victim, "."), line), line
        assert line[:-1].isprintable()
        assert "Traceback" not in line
    process.communicate(timeout=60)
    assert bed.near.empty(15.0)
    if victim == "network":
        for session in bed.sessions():  # sshd knows nothing of it yet
            os.kill(session, signal.SIGKILL)
    assert bed.far.empty(10.0)


def test_many_links_at_a_time(bed: Bed) -> None:
    several = [start_link(bed) for _ in range(4)]
    for process in several:
        assert process.communicate("\n\n", timeout=60)[0] == "2\n2\n"
    assert both_empty(bed)


def test_fixture_has_a_home_of_its_own(bed: Bed) -> None:
    home = bed.far.folder / "home"
    bed.dumbbell("remote", "check", bed.host)
    assert [file for file in home.rglob("*") if file.is_file()] == []
    assert not shutil.which("ssh", path=str(Path(bed.far.folder / "bin")))


def test_a_machine_that_says_nonsense_of_itself_is_no_traceback(bed: Bed) -> None:
    program = bed.far.folder / "bin" / "dumbbell"
    program.unlink()
    nonsense = "from dumbbell_remote import describe_commands; describe_commands._rights = lambda _: 7"
    start = "from dumbbell.cli.main import main; sys.exit(main())"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -P -c "import sys; {nonsense}; {start}" "$@"\n')
    program.chmod(0o755)
    assert checks(bed, expect=1)["ssh"]["found"].startswith("what it answers is not understood: ")
