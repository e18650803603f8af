"""Tests of `dumbbell emulate --internet`: the machine's network through a path, in namespaces that the test makes."""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from support.commands.command import Dumbbell
from support.internet import MACHINE, MACHINE6, NAME, ROUTER, SERVER6, Internet, why_not
from support.waiting import wait_for

pytestmark = [pytest.mark.real, pytest.mark.usefixtures("real_packets")]

PATH = ("--rate", "20mbit", "--rtt", "60ms", "--internet", "--quiet")
FETCH = f"""
import time, urllib.request
start = time.monotonic()
page = urllib.request.urlopen("http://{NAME}/").read().decode()
print(time.monotonic() - start, "arrived" in page)
"""


@pytest.fixture(autouse=True)
def _needs() -> None:
    if os.geteuid() != 0:
        pytest.skip("forwarding needs root")
    if reason := why_not():
        pytest.skip(reason)


@pytest.mark.parametrize("name_server", [ROUTER, "127.0.0.53"])
def test_a_page_comes_by_name_through_the_path(folder: Path, name_server: str) -> None:
    with Internet(folder, name_server) as internet:
        emulate = internet.emulate(*PATH, "--", sys.executable, "-c", FETCH)
        seconds, is_there = emulate.stdout.split()
        assert is_there == "True"
        # The time is that of a lookup, a handshake, and a request with its answer.
        assert float(seconds) >= 0.180
        assert internet.visitors() == [MACHINE]
        assert internet.left_behind() == ""


def test_ipv6_is_forwarded_where_the_machine_forwards_it(folder: Path) -> None:
    fetch = FETCH.replace(NAME, f"[{SERVER6}]")
    with Internet(folder, forwards_ipv6=True) as internet:
        emulate = internet.emulate(*PATH, "--", sys.executable, "-c", fetch)
        assert float(emulate.stdout.split()[0]) >= 0.120
        assert internet.visitors() == [MACHINE6]
        assert internet.left_behind() == ""
        # A router announces its groups; the path's devices are no routers.
        errors = internet.emulate(*PATH[:-1], "--", "sleep", "2").stderr
        assert errors.splitlines()[-1] == "dumbbell: no packet has passed"
    with Internet(folder) as internet:
        emulate = internet.emulate(*PATH, "--", sys.executable, "-c", fetch, expect=1)
        assert "Network is unreachable" in emulate.stderr


@pytest.mark.browser
def test_a_browser_loads_a_page_through_the_path(folder: Path) -> None:
    program = shutil.which("chromium-headless-shell")
    if program is None:
        pytest.skip("there is no chromium-headless-shell")
    options = ("--no-sandbox", "--disable-gpu", "--disable-background-networking", f"--user-data-dir={folder}/profile")
    with Internet(folder) as internet:
        page = internet.emulate(*PATH, "--", program, *options, "--dump-dom", f"http://{NAME}/").stdout
        assert '<p id="p">arrived</p>' in page
        assert set(internet.visitors()) == {MACHINE}


def test_paths_nest(folder: Path) -> None:
    with Internet(folder) as internet:
        inner = (sys.executable, "-P", "-m", "dumbbell", "emulate", *PATH, "--", sys.executable, "-c", FETCH)
        seconds, _ = internet.emulate(*PATH, "--", *inner).stdout.split()
        assert float(seconds) >= 0.360
        assert internet.visitors() == [MACHINE]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_nothing_is_left_in_the_machine_however_dumbbell_ends(folder: Path, number: signal.Signals) -> None:
    with Internet(folder) as internet:
        script = f"touch {folder}/begun; exec sleep 1000"
        words = internet.words(sys.executable, "-P", "-m", "dumbbell", "emulate", *PATH, "--", "sh", "-c", script)
        process = subprocess.Popen(words, stderr=subprocess.DEVNULL)
        wait_for(lambda: (folder / "begun").exists())
        assert "masquerade" in internet.left_behind()
        process.send_signal(number)
        process.wait()
        wait_for(lambda: internet.left_behind() == "")


def test_a_machine_that_does_not_forward_is_refused_with_the_fix(folder: Path) -> None:
    with Internet(folder, forwards=False) as internet:
        emulate = internet.emulate(*PATH, "--", "true", expect=2)
        assert emulate.stderr == (
            "dumbbell: internet: this machine forwards no packets (net.ipv4.ip_forward is 0): "
            "allow it with `sysctl -w net.ipv4.ip_forward=1`\n"
        )
        assert internet.left_behind() == ""


def test_the_internet_is_not_behind_a_server(dumbbell: Dumbbell) -> None:
    result = dumbbell("emulate", "--rate", "1mbit", "--rtt", "1ms", "--internet", "--server", "x", "true", expect=2)
    assert result.stderr.splitlines()[-1] == "dumbbell: emulate --internet: not with --server"
