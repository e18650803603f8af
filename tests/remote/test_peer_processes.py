"""A peer process as a child of this machine, and how messages are framed."""

import contextlib
import fcntl
import json
import os
import re
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from dumbbell import Error
from dumbbell.machine.host import Host, read_host
from dumbbell.remote import link, messages
from dumbbell.remote.link import LinkLost, Peer, Refused
from dumbbell.remote.messages import GREETING, MAX_PAYLOAD_BYTES, Messages, Noise, Silence
from dumbbell.remote.remote_run import RunPeer, max_report_bytes
from dumbbell.remote.ssh import SERVE, why_ssh_failed

SERVING = [sys.executable, "-P", "-m", "dumbbell", "remote", "serve"]


@pytest.fixture(name="pipe")
def _pipe() -> Iterator[tuple[Messages, int]]:
    """One direction: who reads it, and where to write."""
    source, sink = os.pipe()
    yield Messages(source, sink), sink
    for descriptor in (source, sink):
        with contextlib.suppress(OSError):
            os.close(descriptor)


def framed(text: bytes) -> bytes:
    return len(text).to_bytes(4, "big") + text


def gone(process: int, within_s: float = 10.0) -> bool:
    """Whether a process ends in time."""
    deadline = time.monotonic() + within_s
    while time.monotonic() < deadline:
        try:
            if Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
                return True
        except OSError:
            return True
        time.sleep(0.02)
    return False


def children(process: int) -> list[int]:
    return [int(word) for word in Path(f"/proc/{process}/task/{process}/children").read_text().split()]


def test_messages_arrive_as_they_were_sent(pipe: tuple[Messages, int]) -> None:
    channel, _ = pipe
    payload = os.urandom(3 << 20)  # more than a pipe holds
    writer = threading.Thread(target=lambda: [channel.send({"n": 1}), channel.send({"n": 2}, payload)])
    writer.start()
    assert channel.receive() == ({"n": 1}, b"")
    assert channel.receive() == ({"n": 2}, payload)
    writer.join()


@pytest.mark.parametrize(
    ("text", "part"),
    [
        (framed(b"[1]"), "no message: `[1]`"),
        (framed(b'{"a": '), "no message"),
        (framed(b'{"bytes": -1}'), "`bytes` = -1"),
        (framed(b'{"bytes": true}'), "`bytes` = True"),
        (framed(json.dumps({"bytes": MAX_PAYLOAD_BYTES + 1}).encode()), "allowed are 0 to"),
        (b"\0\0\0\1{", "message of 1 bytes"),
        (b"Last login: yesterday", "allowed are 2 to"),
        (framed(b"\xff\xfe\x1b"), r"no message: `��\x1b`"),
    ],
)
def test_what_is_no_message_is_said(pipe: tuple[Messages, int], text: bytes, part: str) -> None:
    channel, sink = pipe
    os.write(sink, text)
    with pytest.raises(Noise) as refused:
        channel.receive()
    assert part in str(refused.value)


def test_what_a_login_shell_prints_is_skipped_and_no_more(pipe: tuple[Messages, int]) -> None:
    channel, sink = pipe
    os.write(sink, b"Welcome!\n\x1b[0m dumbbell\nno newline" + GREETING + framed(b'{"n":1}'))
    channel.skip_to_greeting(1.0)
    assert channel.receive() == ({"n": 1}, b"")
    os.write(sink, b"dumbbell-remote 999\n")
    with pytest.raises(Noise, match="speaks version 999 of the protocol, this side version 1"):
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
        channel.receive(silence_s=0.5)
    os.close(sink)
    with pytest.raises(EOFError):
        channel.receive(silence_s=0.5)


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
    with pytest.raises(Error) as refused:
        read_host(text)
    assert "[user@]HOST[:PORT]" in str(refused.value)
    assert str(refused.value).isprintable()


def test_each_way_in_which_ssh_fails_is_one_line() -> None:
    host = read_host("me@lab:2222")
    changed = (
        "@ WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED! @\r\nOffending ED25519 key in /home/me/known:3\r\n"
        "Host key verification failed.\r\n"
    )
    assert "(/home/me/known:3)" in why_ssh_failed(host, 255, changed)
    assert "`ssh-keygen -R '[lab]:2222'`" in why_ssh_failed(host, 255, changed)
    for said, part in (
        ("Host key verification failed.\r\n", "not known here: `ssh -p 2222 me@lab` once"),
        ("me@lab: Permission denied (publickey,password).\r\n", "(it allows publickey,password)"),
        ("ssh: Could not resolve hostname lab: Name or service not known\r\n", "unknown host: Name or"),
        ("ssh: connect to host lab port 2222: Connection refused\r\n", "nothing listens on its port 2222"),
        ("ssh: connect to host lab port 2222: No route to host\r\n", "cannot be reached on port 2222: No route"),
        ("kex_exchange_identification: read: Connection reset by peer\r\n", "no ssh server"),
        ("something\nnobody has \x1b seen\n", r"ssh failed: nobody has \x1b seen"),
        ("", "its peer process was killed, or ssh failed without a word"),
    ):
        line = why_ssh_failed(host, 255, said)
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
        with pytest.raises(Refused, match=r"unknown command `helo` \(did you mean `hello`\?\): allowed are hello"):
            peer.ask("helo")
        answers = [peer.begin("hello") for _ in range(5)]
        assert {str(answer.result(60)[0]["version"]) for answer in answers} == {peer.hello["version"]}
        (process,) = children(peer._process.pid)
    assert gone(process)
    with pytest.raises(LinkLost, match="the link was closed"):
        peer.ask("hello")


@pytest.mark.parametrize("who", ["guardian", "peer"])
def test_a_peer_process_that_is_killed_is_gone_and_said_to_be(who: str) -> None:
    with Peer() as peer:
        guardian = peer._process.pid
        (process,) = children(guardian)
        os.kill(process if who == "peer" else guardian, signal.SIGKILL)
        assert gone(process)
        with pytest.raises(LinkLost, match="this machine: its peer process ended"):
            peer.ask("hello")
        assert peer.lost
    assert gone(guardian)


def test_a_peer_process_ends_when_nobody_is_heard(monkeypatch: pytest.MonkeyPatch) -> None:
    code = "from dumbbell.remote import messages, serve; serve.serve()"
    faster = code.replace("serve.serve", "messages.Messages.receive.__defaults__ = (1.0, None, None); serve.serve")
    with subprocess.Popen(
        [sys.executable, "-c", faster], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() == GREETING
        assert process.wait(20) == 1
        assert b"the other side has sent nothing for" in process.stderr.read()


@pytest.mark.parametrize("how", ["SIGTERM", "SIGHUP", "SIGINT", "end of input"])
def test_a_peer_process_ends_by_signals_and_with_its_input(how: str) -> None:
    with subprocess.Popen(SERVING, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stdout.readline() == GREETING
        (peer,) = children(process.pid)
        if how == "end of input":
            process.stdin.close()
        else:
            process.send_signal(getattr(signal, how))
        assert process.wait(20) == 0
        assert not Path(f"/proc/{peer}").exists()


def test_a_link_is_given_up_when_the_peer_process_falls_silent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(messages.Messages.receive, "__defaults__", (1.5, None, None))
    monkeypatch.setattr(link, "GONE_WITHIN_S", 1.0)
    with Peer() as peer:
        (process,) = children(peer._process.pid)
        os.kill(process, signal.SIGSTOP)
        with pytest.raises(LinkLost, match="has sent nothing for"):
            peer.ask("hello")
    assert gone(process)
    assert gone(peer._process.pid)


def test_beats_come_without_being_asked_for() -> None:
    with subprocess.Popen(SERVING, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        channel = Messages(process.stdout.fileno(), process.stdin.fileno())
        channel.skip_to_greeting(30)
        assert channel.receive() == ({"beat": True}, b"")
        assert not select.select([process.stdout], [], [], 0)[0]


MADE_UP = """
import os, subprocess, sys, types
from pathlib import Path
from dumbbell.remote import serve

def wait(state, message, payload):
    state.tell(waits=True)
    stopped = state.stopping.wait(message["seconds"])
    return {"stopped": stopped, "after": payload.decode()}, payload[::-1]

def fail(state, message, payload):
    return {"x": 1 / message["by"]}, b""

def panic(state, message, payload):
    raise BaseException("a panic of the core")

def talk(state, message, payload):
    from dumbbell.remote import messages
    messages.MAX_OBJECT_BYTES = 2000
    return {"x": "much" * 1000}, b""

def hold(state, message, payload):
    state.held.callback(Path(message["file"]).write_text, "let go")
    return {}, b""

def leave(state, message, payload):
    left = subprocess.Popen(["sleep", "1000"], env={}, start_new_session=True)
    return {"process": left.pid}, b""

made_up = sys.modules["dumbbell.remote.made_up"] = types.ModuleType("made_up")
for function in (wait, fail, panic, talk, hold, leave):
    setattr(made_up, function.__name__, function)
    serve.COMMANDS[function.__name__] = f"made_up.{function.__name__}"
serve.serve()
"""
"""A peer process with commands that take their time, fail, hold something and leave something behind."""


@pytest.fixture(name="made_up")
def _made_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(link, "_LOCAL", [sys.executable, "-P", "-c", MADE_UP])


@pytest.mark.usefixtures("made_up")
def test_a_command_that_takes_its_time_can_be_stopped_and_nothing_else_is() -> None:
    told: list[object] = []
    with Peer(told=told.append) as peer:
        began = time.monotonic()
        first = peer.begin("wait", b"abc", max_payload_bytes=3, seconds=60)
        while not told:
            time.sleep(0.01)
        peer.stop()
        assert first.result(60) == ({"stopped": True, "after": "abc"}, b"cba")
        assert time.monotonic() - began < 20
        assert peer.ask("wait", seconds=0.01)[0] == {"stopped": False, "after": ""}
        assert told == [{"waits": True}] * 2
        several = [peer.begin("wait", seconds=60), peer.begin("wait", seconds=60)]
        peer.stop()
        assert [each.result(60)[0]["stopped"] for each in several] == [True, True]
        assert peer.ask("wait", seconds=0.01)[0]["stopped"] is False


@pytest.mark.usefixtures("made_up")
def test_a_mistake_in_a_command_is_one_line_and_the_peer_process_goes_on() -> None:
    with Peer() as peer:
        with pytest.raises(Refused, match="this machine: fail: ZeroDivisionError: division by zero"):
            peer.ask("fail", by=0)
        with pytest.raises(Refused, match="fail: KeyError: 'by'"):
            peer.ask("fail")
        assert peer.ask("fail", by=2)[0] == {"x": 0.5}
        # or who asks would wait for ever
        with pytest.raises(Refused, match="panic: BaseException: a panic of the core"):
            peer.begin("panic").result(10)
        with pytest.raises(Refused, match=r"a message of 40[0-9]{2} and 0 bytes is longer than allowed"):
            peer.begin("talk").result(10)
        assert peer.ask("fail", by=2)[0] == {"x": 0.5}


NONSENSE = """
import json, sys
from dumbbell.remote.messages import Messages
messages = Messages(0, 1)
messages.greet()
for answer in json.loads(sys.argv[1]):
    while messages.receive()[0]["do"] == "beat":
        pass
    messages.send(answer)
sys.stdin.buffer.read()
"""
"""A peer process that answers whatever it was told to."""


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
    with Peer(any_version=True) as peer, pytest.raises((Refused, LinkLost)) as raised:
        peer.begin("describe").result(10)
    assert part in str(raised.value)
    assert "\n" not in str(raised.value)


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
            with pytest.raises(Refused) as raised:
                pytest.fail(f"{do}: {peer.begin(do, **arguments).result(60)}")
            assert "\n" not in str(raised.value), do
        # nothing that was refused keeps descriptors, and each `open` lets go what the one before had
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
        assert gone(left)


@pytest.mark.usefixtures("made_up")
def test_one_that_asks_and_is_stuck_in_writing_is_let_go() -> None:
    with Peer() as peer:
        (process,) = children(peer._process.pid)
        os.kill(process, signal.SIGSTOP)
        writer = threading.Thread(target=lambda: peer.begin("wait", bytes(1 << 22), seconds=0), daemon=True)
        writer.start()
        time.sleep(0.2)
        began = time.monotonic()
    writer.join(5.0)
    assert not writer.is_alive()
    assert time.monotonic() - began < 10.0
    assert gone(process)


MISBEHAVING = """
import sys, threading, time
from dumbbell.remote.messages import GREETING, Beats, Messages, framed
messages = Messages(0, 1)
messages.greet()
while messages.receive()[0]["do"] == "beat":
    pass
messages.send({"ok": {"version": 3, "commit": []}})
Beats(messages, {"beat": True})
exec(sys.argv[1])
sys.stdin.buffer.read()
"""
"""A peer process that says hello, beats, and then does what it was told to."""

HEAD = "import os; head = len(text).to_bytes(4, 'big') + text; "


@pytest.mark.parametrize(
    ("deed", "part"),
    [
        ("pass", "has not answered `describe` in time"),  # beats, and is mute
        (
            "text = b'{' + b' ' * 999; " + HEAD + "[(os.write(1, bytes([each])), time.sleep(0.2)) for each in head]",
            "slow",
        ),
        ("[messages.send({'tell': {'n': 1}}) for _ in range(10_000)]", "tells more than 64 things"),
        ("messages.send({'tell': {'n': 'x' * 20_000}})", "at once: at most 16384"),
        ("messages.send({'tell': 5})", "tells what is no object"),
        ("messages.send({'ok': {}}, b'unasked')", "`bytes` = 7: allowed are 0 to 0"),
        ("messages.send({'beat': True, 'bytes': 1 << 30})", "`bytes` = 1073741824: allowed are 0 to 0"),
        ("os = __import__('os'); os.write(1, (60 << 20).to_bytes(4, 'big'))", "a message of 62914560 bytes"),
    ],
)
def test_a_peer_process_that_is_mute_slow_or_says_too_much_is_ended(
    monkeypatch: pytest.MonkeyPatch, deed: str, part: str
) -> None:
    monkeypatch.setattr(link, "_LOCAL", [sys.executable, "-P", "-c", MISBEHAVING, deed])
    monkeypatch.setattr(messages, "MESSAGE_WITHIN_S", 2.0)
    monkeypatch.setattr(link, "GONE_WITHIN_S", 1.0)
    kept: list[object] = []

    def keep(told: dict[str, object]) -> None:
        kept.append(told)
        if len(kept) > 64:
            raise Error("tells more than 64 things")

    began = time.monotonic()
    with Peer(told=keep, any_version=True) as peer:
        with pytest.raises(LinkLost, match=re.escape(part)):
            peer.begin("describe", within_s=3.0).result(30)
        assert gone(peer._process.pid)
    assert time.monotonic() - began < 25


def test_a_peer_process_that_does_not_listen_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    deaf = "import threading; threading.Event().wait()"
    monkeypatch.setattr(link, "_LOCAL", [sys.executable, "-P", "-c", MISBEHAVING, deaf])
    monkeypatch.setattr(messages, "SILENCE_S", 2.0)
    monkeypatch.setattr(link, "GONE_WITHIN_S", 1.0)
    with Peer(any_version=True) as peer, pytest.raises(LinkLost, match="has taken nothing of what is said"):
        peer.begin("describe", bytes(1 << 20)).result(30)


def test_what_is_told_to_a_run_is_kept_up_to_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    deed = "[messages.send({'tell': {'n': 1}}) for _ in range(10_000)]"
    monkeypatch.setattr(link, "_LOCAL", [sys.executable, "-P", "-c", MISBEHAVING, deed])
    monkeypatch.setattr(Peer, "_other_version", lambda _: None)
    side = RunPeer.of(None)
    try:
        with pytest.raises(LinkLost, match="tells more than 64 things that nobody asked for"):
            side.peer.begin("describe").result(30)
        assert side.told.qsize() == 64
    finally:
        side.peer.close()


def test_a_report_may_be_as_long_as_the_bandwidth_cap_explains() -> None:
    assert max_report_bytes(30.0, 100.0) == 64 * 2**20 + 375_000_000
    assert max_report_bytes(30.0, None) == max_report_bytes(1e6, 1e4) == 8 * 2**30
