"""Tests of wrappers like Pantheon's, run unchanged over loopback; `test_emulate` has the emulated path."""

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

import dumbbell as library
from dumbbell.api.selection import with_pantheon
from dumbbell.base.errors import UserError
from dumbbell.catalog.experiment_file import ExperimentFile
from dumbbell.catalog.outside.pantheon import Checkout, read_config
from dumbbell.catalog.run_request import RunRequest
from dumbbell.formats.pantheon_shim.__main__ import python_2
from support.commands.command import Dumbbell
from support.inputs.pantheon_checkout import make_checkout
from support.waiting import TIMEOUT_S, wait_for

SHIM = [sys.executable, "-P", "-m", "dumbbell.formats.pantheon_shim"]


@pytest.fixture(name="checkout")
def _checkout(tmp_path: Path) -> Path:
    return make_checkout(tmp_path)


def ask(checkout: Path, name: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    wrapper = checkout / "src" / "wrappers" / f"{name}.py"
    return subprocess.run(
        [*SHIM, str(wrapper), *arguments],
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
        cwd=checkout.parent,
    )


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


class Sides:
    """Starts both ends of wrappers, and ends them all."""

    def __init__(self, checkout: Path) -> None:
        self.checkout = checkout
        self.processes: list[subprocess.Popen[bytes]] = []

    def start(self, name: str, *arguments: object) -> subprocess.Popen[bytes]:
        wrapper = self.checkout / "src" / "wrappers" / f"{name}.py"
        words = [*SHIM, str(wrapper), *map(str, arguments)]
        process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True)
        self.processes.append(process)
        return process


@pytest.fixture(name="sides")
def _sides(checkout: Path) -> Iterator[Sides]:
    sides = Sides(checkout)
    yield sides
    for process in sides.processes:
        process.kill()
        process.communicate()


def connect(port: int, process: "subprocess.Popen[bytes]") -> socket.socket:
    """Return a connection to an end, once it listens."""

    def try_connection() -> socket.socket | None:
        assert process.poll() is None, "the side does not listen"
        try:
            return socket.create_connection(("127.0.0.1", port), TIMEOUT_S)
        except ConnectionRefusedError:
            return None

    connection = wait_for(try_connection)
    assert connection is not None
    return connection


def test_wrappers_say_which_side_starts_first_and_what_they_need(checkout: Path) -> None:
    assert ask(checkout, "plain", "run_first").stdout == "receiver\n"
    assert ask(checkout, "backward", "run_first").stdout == "sender\n"
    assert ask(checkout, "plain", "deps").stdout == "iperf\n"
    result = ask(checkout, "plain", "setup")
    assert (result.returncode, result.stderr) == (0, "$ true\n")
    assert (checkout / "tmp").is_dir()


def test_a_receiver_listens_and_a_sender_connects(sides: Sides) -> None:
    port = free_port()
    receiver = sides.start("plain", "receiver", port)
    connect(port, receiver).close()
    assert receiver.wait(TIMEOUT_S) == 0, "the receiver ends when the connection does"
    with socket.create_server(("127.0.0.1", 0)) as listener:
        sides.start("plain", "sender", "127.0.0.1", listener.getsockname()[1])
        listener.settimeout(TIMEOUT_S)
        peer, _ = listener.accept()
        with peer:
            assert peer.recv(1000) == b"x" * 1000


def test_both_sides_of_a_sender_first_wrapper_meet(sides: Sides) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as listener:
        listener.bind(("127.0.0.1", 0))
        listener.settimeout(TIMEOUT_S)
        sides.start("backward", "receiver", "127.0.0.1", listener.getsockname()[1])
        assert listener.recv(100) == b"hello"
    port = free_port()
    sides.start("backward", "sender", port)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as peer:
        peer.setblocking(False)

        def answer() -> bytes | None:
            """Say hello to the sender, and return its answer; None while it has not bound its port."""
            try:
                peer.sendto(b"hello", ("127.0.0.1", port))
                return peer.recv(2000)
            except (BlockingIOError, ConnectionRefusedError):
                return None

        assert wait_for(answer) == b"x" * 1000


def test_a_python_2_wrapper_runs_under_python_2_or_says_what_is_missing(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installations = sorted(Path.home().glob(".pyenv/versions/2.7.*/bin"))
    if installations:
        monkeypatch.setenv("PATH", os.pathsep.join([str(installations[-1]), os.environ["PATH"]]))
    result = ask(checkout, "old", "deps")
    if python_2() is None:
        assert result.returncode == 1
        assert result.stderr.splitlines() == [
            f"{checkout}/src/wrappers/old.py: is not valid Python 3, and no Python 2.7 is found: install python2.7"
        ]
    else:
        assert result.stdout == f"iperf {checkout}/third_party\n"
        assert ask(checkout, "old", "run_first").stdout == "receiver\n"


def test_without_python_2_the_message_names_the_wrapper(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(UserError, match=r"old\.py: .*not valid Python 3, and no Python 2\.7 is found") as error:
        Checkout(checkout).scheme("pantheon-old")
    assert "\n" not in str(error.value)


def test_nothing_is_left_in_the_checkout(checkout: Path) -> None:
    before = {path for path in checkout.rglob("*") if path.is_file()}
    ask(checkout, "plain", "run_first")
    assert {path for path in checkout.rglob("*") if path.is_file()} == before


def test_schemes_look_as_the_checkout_says(checkout: Path) -> None:
    python_checkout = Checkout(checkout)
    assert python_checkout.names() == [
        f"pantheon-{key}" for key in ("plain", "backward", "chatty", "stuck", "broken", "old")
    ]
    plain = python_checkout.scheme("pantheon-plain")
    assert (plain.title, plain.color, plain.marker, plain.kind) == ("Plain TCP", "crimson", "*", "program")
    assert plain.program is not None
    assert plain.program.first == "receiver"
    assert plain.program.spec({})["sender"][4:] == [
        str(checkout / "src/wrappers/plain.py").replace("{", "{{").replace("}", "}}"),
        *("sender", "{ip}", "{port}"),
    ]
    backward = python_checkout.scheme("pantheon-backward")
    assert backward.color == "#00CD00"
    assert backward.program is not None
    assert backward.program.sender[-2:] == ("sender", "{port}")
    assert backward.program.receiver[-3:] == ("receiver", "{ip}", "{port}")


def test_a_checkout_without_configuration_offers_every_wrapper(checkout: Path) -> None:
    (checkout / "src/config.yml").unlink()
    python_checkout = Checkout(checkout)
    assert python_checkout.names() == [
        f"pantheon-{key}" for key in ("backward", "broken", "chatty", "old", "plain", "stuck")
    ]
    assert python_checkout.scheme("pantheon-plain").title == "plain"


def test_configurations_of_the_first_years(tmp_path: Path) -> None:
    file = tmp_path / "config.yml"
    file.write_text(
        "default_tcp:\n  friendly_name: TCP Cubic\n  color: black\n  marker: 'd'\n- odd\nvegas:\n\tcolor: x\n"
    )
    assert read_config(file) == {"default_tcp": {"friendly_name": "TCP Cubic", "color": "black", "marker": "d"}}


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (("--pantheon-dir", ".", "--schemes", "reno"), ["--pantheon-dir .", "is no Pantheon checkout", "src/wrappers"]),
        (("--schemes", "pantheon-plan"), ["unknown scheme `pantheon-plan`", "`pantheon-plain`", "pantheon-backward"]),
        (("--schemes", "pantheon-plain"), ["`pantheon-plain` is a real program", "--backend emu, remote:HOST only"]),
        (("--mix", "reno+pantheon-plain"), ["`pantheon-plain` is a real program", "--backend emu, remote:HOST only"]),
    ],
)
def test_bad_names(dumbbell: Dumbbell, checkout: Path, arguments: tuple[str, ...], parts: list[str]) -> None:
    checkout_options = () if "--pantheon-dir" in arguments else ("--pantheon-dir", checkout)
    result = dumbbell("run", "--path", "small.toml", *checkout_options, *arguments, "--out", "out", expect=2)
    assert len(result.stderr.splitlines()) == 1
    for part in parts:
        assert part in result.stderr


def test_a_path_of_a_few_words_has_the_tunnel_of_pantheon(checkout: Path) -> None:
    """Wrapped schemes' packets were 36 bytes shorter over `--trace UP --delay 20ms` than over the catalog's paths."""
    path = library.make_path(rate="12mbit", delay="20ms", queue="40p")
    plan = ExperimentFile(name="run", schemes=["pantheon-plain"], paths=[path.name], own_paths={path.name: path})
    with_tunnel = with_pantheon(plan, RunRequest(), checkout)
    assert with_tunnel.own_paths[path.name].overhead_bytes == 36
    assert "Pantheon's tunnel" in with_tunnel.own_paths[path.name].title
    without_tunnel = with_pantheon(replace(plan, schemes=["cubic"]), RunRequest(), checkout)
    assert without_tunnel.own_paths[path.name] == path
