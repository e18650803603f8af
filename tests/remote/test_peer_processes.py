"""Tests of a peer process as a child of this machine, and of the framing of messages."""

import contextlib
import fcntl
import json
import os
import queue
import re
import select
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest

from dumbbell import Error
from dumbbell.base.errors import UserError
from dumbbell.machine.host import Host, read_host
from dumbbell_remote import link, messages, serve
from dumbbell_remote.link import CommandRefused, LinkLost, Peer
from dumbbell_remote.messages import (
    BEAT_S,
    GREETING,
    MAX_PAYLOAD_BYTES,
    MESSAGE_WITHIN_S,
    SILENCE_S,
    Beats,
    Messages,
    Noise,
    Silence,
)
from dumbbell_remote.remote_run import Pair, RunPeer, max_report_bytes
from dumbbell_remote.serve import Command, State
from dumbbell_remote.ssh import SERVE, why_ssh_failed
from support.clock import ManualClock
from support.waiting import TIMEOUT_S, wait_for

SERVING = [sys.executable, "-P", "-m", "dumbbell", "remote", "serve"]


@pytest.fixture(name="pipe")
def _pipe() -> Iterator[tuple[Messages, int]]:
    """Return the reader of one direction, and the descriptor to write to. A message not there yet never comes."""
    source, sink = os.pipe()
    yield Messages(source, sink, ManualClock(turns_in_waits=True)), sink
    for descriptor in (source, sink):
        with contextlib.suppress(OSError):
            os.close(descriptor)


def frame(text: bytes) -> bytes:
    return len(text).to_bytes(4, "big") + text


def has_ended(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


def wait_until_gone(process: int) -> None:
    wait_for(lambda: has_ended(process), f"process {process} goes on")


def turned_until_over(clock: ManualClock, answer: "Future[Any]") -> None:
    """Let time pass, second by second, until there is an answer or an error."""

    def turn() -> bool:
        clock.turn(1.0)
        return answer.done()

    wait_for(turn)


def children(process: int) -> list[int]:
    return [int(word) for word in Path(f"/proc/{process}/task/{process}/children").read_text().split()]


def test_messages_arrive_as_they_were_sent(pipe: tuple[Messages, int], clock: ManualClock) -> None:
    channel, _ = pipe
    channel.clock = clock  # however long a busy machine takes
    payload = os.urandom(3 << 20)  # more than a pipe holds
    writer = threading.Thread(target=lambda: [channel.send({"n": 1}), channel.send({"n": 2}, payload)])
    writer.start()
    assert channel.receive() == ({"n": 1}, b"")
    assert channel.receive() == ({"n": 2}, payload)
    writer.join()


@pytest.mark.parametrize(
    ("text", "part"),
    [
        (frame(b"[1]"), "no message: `[1]`"),
        (frame(b'{"a": '), "no message"),
        (frame(b'{"bytes": -1}'), "`bytes` = -1"),
        (frame(b'{"bytes": true}'), "`bytes` = True"),
        (frame(json.dumps({"bytes": MAX_PAYLOAD_BYTES + 1}).encode()), "allowed are 0 to"),
        (b"\0\0\0\1{", "message of 1 bytes"),
        (b"Last login: yesterday", "allowed are 2 to"),
        (frame(b"\xff\xfe\x1b"), r"no message: `��\x1b`"),
    ],
)
def test_what_is_no_message_is_said(pipe: tuple[Messages, int], text: bytes, part: str) -> None:
    channel, sink = pipe
    os.write(sink, text)
    with pytest.raises(Noise) as error:
        channel.receive()
    assert part in str(error.value)


def test_what_a_login_shell_prints_is_skipped_and_no_more(pipe: tuple[Messages, int]) -> None:
    channel, sink = pipe
    os.write(sink, b"Welcome!\n\x1b[0m dumbbell\nno newline" + GREETING + frame(b'{"n":1}'))
    channel.skip_to_greeting(1.0)
    assert channel.receive() == ({"n": 1}, b"")
    os.write(sink, b"dumbbell-remote 999\n")
    with pytest.raises(Noise, match="speaks version 999 of the protocol, this side version 2"):
        channel.skip_to_greeting(1.0)
    with pytest.raises(Silence):
        channel.skip_to_greeting(0.05)
    fcntl.fcntl(sink, fcntl.F_SETPIPE_SZ, 1 << 17)
    os.write(sink, b"y\n" * 40_000)
    with pytest.raises(Noise, match=r"but with `y\\ny"):
        channel.skip_to_greeting(5.0)


def test_silence_and_the_end_are_told_apart(pipe: tuple[Messages, int]) -> None:
    channel, sink = pipe
    os.write(sink, b"\0\0\0\2{")
    with pytest.raises(Silence):
        channel.receive()
    os.close(sink)
    with pytest.raises(EOFError):
        channel.receive()


def test_a_message_may_be_slow_but_not_without_end(pipe: tuple[Messages, int], clock: ManualClock) -> None:
    channel, sink = pipe
    channel.clock, channel.heard_s = clock, clock.monotonic()
    refusals: list[Silence] = []

    def receive() -> None:
        with pytest.raises(Silence, match=r"has sent [0-9]+ of 1000 bytes of a message, and too slowly") as error:
            channel.receive()
        refusals.append(error.value)

    began_s = clock.monotonic()
    os.write(sink, (1000).to_bytes(4, "big"))
    reading = threading.Thread(target=receive)
    reading.start()
    while not refusals and clock.monotonic() - began_s < 10 * MESSAGE_WITHIN_S:
        os.write(sink, b" ")
        wait_for(lambda: not select.select([channel._source], [], [], 0)[0] or not reading.is_alive())
        wait_for(lambda: clock.is_waited_by() or not reading.is_alive())
        clock.turn(5.0)  # less than what counts as silence
    reading.join()
    assert len(refusals) == 1
    assert MESSAGE_WITHIN_S < clock.monotonic() - began_s <= MESSAGE_WITHIN_S + 10.0


def test_a_peer_process_gives_up_who_is_silent_for_long() -> None:
    source, sink = os.pipe()
    clock = ManualClock(turns_in_waits=True)
    state = State(tell=lambda **_: None, clock=clock)
    began_s = clock.monotonic()
    with pytest.raises(Silence, match="has sent nothing for 15 s"):
        serve._read(Messages(source, -1, clock), state, queue.SimpleQueue())
    assert SILENCE_S < clock.monotonic() - began_s < SILENCE_S + 3.0
    for descriptor in (source, sink):
        os.close(descriptor)


def test_beats_come_every_two_seconds_until_they_are_stopped(clock: ManualClock) -> None:
    source, sink = os.pipe()
    receiver = Messages(source, -1, clock)
    beats = Beats(Messages(-1, sink, clock), {"beat": True})
    for _ in range(3):
        clock.until_waiting()
        assert not select.select([source], [], [], 0)[0]
        clock.turn(BEAT_S)
        assert receiver.receive() == ({"beat": True}, b"")
    beats.stop()
    beats._thread.join()
    clock.turn(10 * BEAT_S)
    assert not select.select([source], [], [], 0)[0]
    for descriptor in (source, sink):
        os.close(descriptor)


def test_a_command_waits_for_what_is_said_to_it_for_a_while() -> None:
    clock = ManualClock(turns_in_waits=True)
    command = Command({}, b"")
    state = State(tell=lambda **_: None, commands=[command], clock=clock)
    command.messages.put({"do": "say", "in_s": 1.0})
    assert state.hear(60.0) == {"do": "say", "in_s": 1.0}
    began_s = clock.monotonic()
    with pytest.raises(UserError, match="nothing was said for 60 s about when to begin"):
        state.hear(60.0)
    assert clock.monotonic() - began_s == pytest.approx(60.0, abs=0.2)
    command.stopping.set()
    with pytest.raises(UserError, match="stopped"):
        state.hear(60.0)


class NamedPeer:
    """A stand-in for a `Peer`: an end of a run asks only for its name."""

    name = "far"


def side_of(clock: ManualClock, *reports: dict[str, Any]) -> RunPeer:
    side = RunPeer(NamedPeer(), clock=clock)  # type: ignore[arg-type]  # what is used of it
    for report in reports:
        side.reports.put(report)
    return side


def test_a_side_that_is_not_ready_in_time_is_named() -> None:
    clock, work = ManualClock(turns_in_waits=True), Future[Any]()
    assert side_of(clock, {"waits": 1}, {"ready": 2}).hear("ready", 30.0, work) == 2
    began_s = clock.monotonic()
    with pytest.raises(UserError, match="far: was not ready within 30 s"):
        side_of(clock, {"waits": 1}).hear("ready", 30.0, work)
    assert clock.monotonic() - began_s == pytest.approx(30.0, abs=0.2)
    work.set_result(({}, b""))
    with pytest.raises(UserError, match="far: has ended before it began"):
        side_of(clock).hear("ready", 30.0, work)


def test_sides_that_do_not_end_in_time_are_given_up() -> None:
    clock, works = ManualClock(), [Future[Any](), Future[Any]()]
    pair = Pair.__new__(Pair)
    pair._clock = clock
    works[0].set_result(({}, b""))
    began_s = clock.monotonic()
    with pytest.raises(UserError, match="the sides did not end within 90 s"):
        pair._wait(list(works), 90.0)
    assert clock.monotonic() - began_s == pytest.approx(90.0, abs=0.1)
    works[1].set_exception(UserError("far: the disk is full"))
    with pytest.raises(UserError, match="the disk is full"):
        pair._wait(list(works), 90.0)


@pytest.mark.parametrize(
    ("text", "host"),
    [
        ("lab", Host("lab")),
        ("me@lab.example.org:2222", Host("lab.example.org", "me", 2222)),
        ("me@corp.example@10.0.0.7", Host("10.0.0.7", "me@corp.example")),
        ("[2001:db8::1]", Host("2001:db8::1")),
        ("me@[fe80::1%eth0]:65535", Host("fe80::1%eth0", "me", 65535)),
    ],
)
def test_hosts_are_read(text: str, host: Host) -> None:
    assert read_host(text) == host
    assert str(host) == text
    assert host.ssh_words()[-2:] == ["--", host.name]


@pytest.mark.parametrize(
    "text",
    [
        *("", "@", "me@", "@lab", "-oProxyCommand=x", "me@-lab", "-l@lab", "la b", "lab\n", "lab\t", "lab;id", "$(id)"),
        *(
            "`id`",
            "lab:",
            "lab:0",
            "lab:65536",
            "lab:22x",
            "lab:+22",
            "fe80::1",
            "[fe80::1",
            "[lab]",
            "[::1]x",
            "[]:22",
        ),
        *("m e@lab", "lab:22:22", "%h", "lab'", "lab\0", "\u202elab", "me:secret@lab"),
    ],
)
def test_what_is_no_host_is_refused(text: str) -> None:
    with pytest.raises(Error) as error:
        read_host(text)
    assert "[user@]HOST[:PORT]" in str(error.value)
    assert str(error.value).isprintable()


def test_each_way_in_which_ssh_fails_is_one_line() -> None:
    host = read_host("me@lab:2222")
    changed_key = (
        "@ WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED! @\r\nOffending ED25519 key in /home/me/known:3\r\n"
        "Host key verification failed.\r\n"
    )
    assert "(/home/me/known:3)" in why_ssh_failed(host, 255, changed_key)
    assert "`ssh-keygen -R '[lab]:2222'`" in why_ssh_failed(host, 255, changed_key)
    for message, part in (
        ("Host key verification failed.\r\n", "not known here: `ssh -p 2222 me@lab` once"),
        ("me@lab: Permission denied (publickey,password).\r\n", "(it allows publickey,password)"),
        ("ssh: Could not resolve hostname lab: Name or service not known\r\n", "unknown host: Name or"),
        ("ssh: connect to host lab port 2222: Connection refused\r\n", "nothing listens on its port 2222"),
        ("ssh: connect to host lab port 2222: No route to host\r\n", "cannot be reached on port 2222: No route"),
        ("kex_exchange_identification: read: Connection reset by peer\r\n", "no ssh server"),
        ("something\nnobody has \x1b seen\n", r"ssh failed: nobody has \x1b seen"),
        ("", "its peer process was killed, or ssh failed without a word"),
    ):
        line = why_ssh_failed(host, 255, message)
        assert part in line
        assert line.isprintable()
    assert why_ssh_failed(host, 127, "sh: 1: exec: dumbbell: not found") == (
        "dumbbell is not installed there: `dumbbell remote install me@lab:2222`"
    )
    assert "another version" in why_ssh_failed(host, 2, "dumbbell: unknown command `remote`: allowed are run")
    assert why_ssh_failed(host, 1, "x\nlast\n") == "its peer process ended with status 1: last"


def test_the_command_for_the_other_machine_is_one_line_for_any_shell() -> None:
    assert SERVE.isprintable()
    inside = SERVE.removeprefix("exec sh -c '").removesuffix("'")
    assert "'" not in inside  # one word in single quotes: fish and csh read it as sh does
    assert subprocess.run(["sh", "-n", "-c", inside], check=True)


def test_a_peer_process_answers_refuses_and_ends() -> None:
    with Peer() as peer:
        assert peer.hello["version"]
        assert peer.hello["clock"]
        assert peer.ask("describe")[0]["machine"]["cpus"] >= 1
        with pytest.raises(
            CommandRefused, match=r"unknown command `helo` \(did you mean `hello`\?\): allowed are hello"
        ):
            peer.ask("helo")
        answers = [peer.begin("hello") for _ in range(5)]
        assert {str(answer.result(TIMEOUT_S)[0]["version"]) for answer in answers} == {peer.hello["version"]}
        (process,) = children(peer._process.pid)
    wait_until_gone(process)
    with pytest.raises(LinkLost, match="the link was closed"):
        peer.ask("hello")


@pytest.mark.parametrize("victim", ["guardian", "peer"])
def test_a_peer_process_that_is_killed_is_gone_and_said_to_be(victim: str) -> None:
    with Peer() as peer:
        guardian = peer._process.pid
        (process,) = children(guardian)
        os.kill(process if victim == "peer" else guardian, signal.SIGKILL)
        wait_until_gone(process)
        with pytest.raises(LinkLost, match="this machine: its peer process ended"):
            peer.ask("hello")
        assert peer.lost
    wait_until_gone(guardian)


@pytest.mark.real
def test_a_peer_process_ends_when_nobody_is_heard() -> None:
    code = "from dumbbell_remote import messages, serve; serve.serve()"
    faster = code.replace("serve.serve", "messages.Messages.receive.__defaults__ = (1.0, None, None); serve.serve")
    with subprocess.Popen(
        [sys.executable, "-c", faster], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() == GREETING
        assert process.wait(TIMEOUT_S) == 1
        assert b"the other side has sent nothing for" in process.stderr.read()


@pytest.mark.parametrize("ending", ["SIGTERM", "SIGHUP", "SIGINT", "end of input"])
def test_a_peer_process_ends_by_signals_and_with_its_input(ending: str) -> None:
    with subprocess.Popen(SERVING, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stdout.readline() == GREETING
        (peer,) = children(process.pid)
        if ending == "end of input":
            process.stdin.close()
        else:
            process.send_signal(getattr(signal, ending))
        assert process.wait(TIMEOUT_S) == 0
        assert not Path(f"/proc/{peer}").exists()


def test_a_link_is_given_up_when_the_peer_process_falls_silent(
    monkeypatch: pytest.MonkeyPatch, clock: ManualClock
) -> None:
    monkeypatch.setattr(link, "GONE_WITHIN_S", 1.0)
    with Peer(clock=clock) as peer:
        (process,) = children(peer._process.pid)
        os.kill(process, signal.SIGSTOP)
        answer = peer.begin("hello")
        turned_until_over(clock, answer)
        with pytest.raises(LinkLost, match="has sent nothing for 15 s: the connection was lost"):
            answer.result()
    wait_until_gone(process)
    wait_until_gone(peer._process.pid)


def test_beats_come_without_being_asked_for(clock: ManualClock) -> None:
    with subprocess.Popen(SERVING, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        channel = Messages(process.stdout.fileno(), process.stdin.fileno(), clock)
        channel.skip_to_greeting(TIMEOUT_S)
        assert channel.receive() == ({"beat": True}, b"")
        assert not select.select([process.stdout], [], [], 0)[0]


MADE_UP = """
import os, subprocess, sys, types
from pathlib import Path
from dumbbell_remote import serve

def wait(state, message, payload):
    state.tell(waits=True)
    stopped = state.stopping.wait(message["seconds"])
    return {"stopped": stopped, "after": payload.decode()}, payload[::-1]

def fail(state, message, payload):
    return {"x": 1 / message["by"]}, b""

def panic(state, message, payload):
    raise BaseException("a panic of the core")

def talk(state, message, payload):
    from dumbbell_remote import messages
    messages.MAX_OBJECT_BYTES = 2000
    return {"x": "much" * 1000}, b""

def hold(state, message, payload):
    state.resources.callback(Path(message["file"]).write_text, "let go")
    return {}, b""

def leave(state, message, payload):
    left = subprocess.Popen(["sleep", "1000"], env={}, start_new_session=True)
    return {"process": left.pid}, b""

made_up = sys.modules["dumbbell_remote.made_up"] = types.ModuleType("made_up")
for function in (wait, fail, panic, talk, hold, leave):
    setattr(made_up, function.__name__, function)
    serve.COMMANDS[function.__name__] = f"made_up.{function.__name__}"
serve.serve()
"""
"""Program of a peer process whose commands take long, fail, hold something or leave something behind."""


@pytest.fixture(name="made_up")
def _made_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(link, "_LOCAL", [sys.executable, "-P", "-c", MADE_UP])


@pytest.mark.usefixtures("made_up")
def test_a_command_that_takes_its_time_can_be_stopped_and_nothing_else_is() -> None:
    reports: list[object] = []
    with Peer(on_report=reports.append) as peer:
        first = peer.begin("wait", b"abc", max_payload_bytes=3, seconds=600)
        wait_for(lambda: reports)
        peer.stop()
        assert first.result(TIMEOUT_S) == ({"stopped": True, "after": "abc"}, b"cba")
        assert peer.ask("wait", seconds=0.01)[0] == {"stopped": False, "after": ""}
        assert reports == [{"waits": True}] * 2
        several = [peer.begin("wait", seconds=600), peer.begin("wait", seconds=600)]
        peer.stop()
        assert [answer.result(TIMEOUT_S)[0]["stopped"] for answer in several] == [True, True]
        assert peer.ask("wait", seconds=0.01)[0]["stopped"] is False


@pytest.mark.usefixtures("made_up")
def test_a_mistake_in_a_command_is_one_line_and_the_peer_process_goes_on() -> None:
    with Peer() as peer:
        with pytest.raises(CommandRefused, match="this machine: fail: ZeroDivisionError: division by zero"):
            peer.ask("fail", by=0)
        with pytest.raises(CommandRefused, match="fail: KeyError: 'by'"):
            peer.ask("fail")
        assert peer.ask("fail", by=2)[0] == {"x": 0.5}
        # Without this, the waiting command would never end.
        with pytest.raises(CommandRefused, match="panic: BaseException: a panic of the core"):
            peer.begin("panic").result(TIMEOUT_S)
        with pytest.raises(CommandRefused, match=r"a message of 40[0-9]{2} and 0 bytes is longer than allowed"):
            peer.begin("talk").result(TIMEOUT_S)
        assert peer.ask("fail", by=2)[0] == {"x": 0.5}


NONSENSE = """
import json, sys
from dumbbell_remote.messages import Messages
messages = Messages(0, 1)
messages.greet()
for answer in json.loads(sys.argv[1]):
    while messages.receive()[0]["do"] == "beat":
        pass
    messages.send(answer)
sys.stdin.buffer.read()
"""
"""Program of a peer process that gives any answer it is told to."""


@pytest.mark.parametrize(
    ("answer", "part"),
    [
        ({"error": 5}, "this machine: 5"),
        ({"error": None}, "this machine: None"),
        ({"error": ["two\nlines"]}, "this machine: "),
        ({"ok": 5}, "its answer is no object"),
    ],
)
def test_answers_that_make_no_sense_are_one_line(
    monkeypatch: pytest.MonkeyPatch, answer: dict[str, object], part: str
) -> None:
    answers = json.dumps([{"ok": {"version": 3, "commit": []}}, answer])
    monkeypatch.setattr(link, "_LOCAL", [sys.executable, "-P", "-c", NONSENSE, answers])
    with Peer(any_version=True) as peer, pytest.raises((CommandRefused, LinkLost)) as error:
        peer.begin("describe").result(TIMEOUT_S)
    assert part in str(error.value)
    assert "\n" not in str(error.value)


def test_requests_that_make_no_sense_are_refused_in_one_line_and_the_peer_process_goes_on() -> None:
    requests: list[tuple[str, dict[str, object]]] = [
        ("open", {}),
        ("open", {"request": 5}),
        ("open", {"request": {"flows": -1}}),
        ("open", {"request": {"flows": 100_000}}),
        ("open", {"request": {"flows": 1, "ports": [9]}}),
        ("open", {"request": {"flows": 1, "other": 3}}),
        ("meet", {"request": {}}),
        ("ask", {"seconds": "x", "per_s": 1}),
        ("ask", {"seconds": 1}),
        ("probe", {"request": {"bursts": [], "seconds": 1e300}}),
        ("run", {}),
        ("run", {"specification": {"flows": [5]}, "plan": {"sends": True}}),
        ("run", {"specification": [], "plan": 5}),
        ("finish", {}),
        ("speak", {"address": 5, "port": -1}),
        ("", {}),
    ]
    with Peer() as peer:
        for do, arguments in requests:
            with pytest.raises(CommandRefused) as error:
                pytest.fail(f"{do}: {peer.begin(do, **arguments).result(TIMEOUT_S)}")
            assert "\n" not in str(error.value), do
        # A refused request keeps no descriptors, and each `open` closes those of the previous one.
        for _ in range(30):
            assert len(peer.ask("open", request={"flows": 50})[0]["ports"]) == 51
        descriptors = len(list(Path(f"/proc/{children(peer._process.pid)[0]}/fd").iterdir()))
        assert descriptors < 120, descriptors


@pytest.mark.usefixtures("made_up")
def test_what_a_peer_process_holds_is_let_go_when_it_ends_while_it_works(tmp_path: Path) -> None:
    with Peer() as peer:
        peer.ask("hold", file=str(tmp_path / "file"))
        waiting = peer.begin("wait", seconds=60)
    with pytest.raises(LinkLost):
        waiting.result()
    assert (tmp_path / "file").read_text() == "let go"


@pytest.mark.usefixtures("made_up")
def test_what_a_killed_peer_process_has_left_is_ended() -> None:
    with Peer() as peer:
        (process,) = children(peer._process.pid)
        left = peer.ask("leave")[0]["process"]
        assert Path(f"/proc/{left}").exists()
        os.kill(process, signal.SIGKILL)
        wait_until_gone(left)


@pytest.mark.usefixtures("made_up")
def test_one_that_asks_and_is_stuck_in_writing_is_let_go() -> None:
    with Peer() as peer:
        (process,) = children(peer._process.pid)
        os.kill(process, signal.SIGSTOP)
        writer = threading.Thread(target=lambda: peer.begin("wait", bytes(1 << 22), seconds=0), daemon=True)
        writer.start()
        wait_for(peer._messages._writing.locked)
    writer.join(TIMEOUT_S)
    assert not writer.is_alive()
    wait_until_gone(process)


MISBEHAVING = """
import sys, threading, time
from dumbbell_remote.messages import GREETING, Beats, Messages, framed
messages = Messages(0, 1)
messages.greet()
while messages.receive()[0]["do"] == "beat":
    pass
messages.send({"ok": {"version": 3, "commit": []}})
Beats(messages, {"beat": True})
exec(sys.argv[1])
sys.stdin.buffer.read()
"""
"""Program of a peer process that sends a greeting and heartbeats, and then executes its instructions."""

HEAD = "import os; head = len(text).to_bytes(4, 'big') + text; "


@pytest.mark.parametrize(
    ("deed", "part"),
    [
        ("[messages.send({'tell': {'n': 1}}) for _ in range(10_000)]", "tells more than 64 things"),
        ("messages.send({'tell': {'n': 'x' * 20_000}})", "at once: at most 16384"),
        ("messages.send({'tell': 5})", "tells what is no object"),
        ("messages.send({'ok': {}}, b'unasked')", "`bytes` = 7: allowed are 0 to 0"),
        ("messages.send({'beat': True, 'bytes': 1 << 30})", "`bytes` = 1073741824: allowed are 0 to 0"),
        ("os = __import__('os'); os.write(1, (60 << 20).to_bytes(4, 'big'))", "a message of 62914560 bytes"),
    ],
)
def test_a_peer_process_that_says_too_much_is_ended(monkeypatch: pytest.MonkeyPatch, deed: str, part: str) -> None:
    monkeypatch.setattr(link, "_LOCAL", [sys.executable, "-P", "-c", MISBEHAVING, deed])
    monkeypatch.setattr(link, "GONE_WITHIN_S", 1.0)
    reports: list[object] = []

    def keep(report: dict[str, object]) -> None:
        reports.append(report)
        if len(reports) > 64:
            raise Error("tells more than 64 things")

    with Peer(on_report=keep, any_version=True) as peer:
        with pytest.raises(LinkLost, match=re.escape(part)):
            peer.begin("describe").result(TIMEOUT_S)
        wait_until_gone(peer._process.pid)


def test_a_peer_process_that_beats_and_is_mute_is_ended(monkeypatch: pytest.MonkeyPatch, clock: ManualClock) -> None:
    monkeypatch.setattr(link, "_LOCAL", [sys.executable, "-P", "-c", MISBEHAVING, "pass"])
    monkeypatch.setattr(link, "GONE_WITHIN_S", 1.0)
    with Peer(any_version=True, clock=clock) as peer:
        began_s = clock.monotonic()
        answer = peer.begin("describe", within_s=10.0)  # silence counts after 15 s
        turned_until_over(clock, answer)
        with pytest.raises(LinkLost, match="has not answered `describe` in time"):
            answer.result()
        assert clock.monotonic() - began_s > 10.0
        wait_until_gone(peer._process.pid)


@pytest.mark.real
def test_a_peer_process_that_sends_a_message_slowly_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    deed = "text = b'{' + b' ' * 999; " + HEAD + "[(os.write(1, bytes([each])), time.sleep(0.2)) for each in head]"
    monkeypatch.setattr(link, "_LOCAL", [sys.executable, "-P", "-c", MISBEHAVING, deed])
    monkeypatch.setattr(messages, "MESSAGE_WITHIN_S", 2.0)
    monkeypatch.setattr(link, "GONE_WITHIN_S", 1.0)
    with Peer(any_version=True) as peer:
        with pytest.raises(LinkLost, match="slow"):
            peer.begin("describe").result(TIMEOUT_S)
        wait_until_gone(peer._process.pid)


def test_a_peer_process_that_does_not_listen_is_given_up(monkeypatch: pytest.MonkeyPatch, clock: ManualClock) -> None:
    deaf = "import threading; threading.Event().wait()"
    monkeypatch.setattr(link, "_LOCAL", [sys.executable, "-P", "-c", MISBEHAVING, deaf])
    monkeypatch.setattr(link, "GONE_WITHIN_S", 1.0)

    def turn() -> None:
        clock.until_waiting(least_s=SILENCE_S - 1.0)  # who writes does
        clock.turn(SILENCE_S)

    with Peer(any_version=True, clock=clock) as peer:
        turning = threading.Thread(target=turn)
        turning.start()
        with pytest.raises(LinkLost, match="has taken nothing of what is said to it for 15 s"):
            peer.begin("describe", bytes(1 << 20)).result(TIMEOUT_S)
        turning.join()


def test_what_is_told_to_a_run_is_kept_up_to_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    deed = "[messages.send({'tell': {'n': 1}}) for _ in range(10_000)]"
    monkeypatch.setattr(link, "_LOCAL", [sys.executable, "-P", "-c", MISBEHAVING, deed])
    monkeypatch.setattr(Peer, "_other_version", lambda _: None)
    side = RunPeer.of(None)
    try:
        with pytest.raises(LinkLost, match="tells more than 64 things that nobody asked for"):
            side.peer.begin("describe").result(TIMEOUT_S)
        assert side.reports.qsize() == 64
    finally:
        side.peer.close()


def test_a_report_may_be_as_long_as_the_bandwidth_cap_explains() -> None:
    assert max_report_bytes(30.0, 100.0) == 64 * 2**20 + 375_000_000
    assert max_report_bytes(30.0, None) == max_report_bytes(1e6, 1e4) == 8 * 2**30
